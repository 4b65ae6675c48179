"""Labelled lines and tables, as plain text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence

from dlopt.errors import printable

Row = Mapping[str, object]
"""An entry of a table: what stands in each column, by its name."""

MAX_ROWS = 16
"""Rows: longer tables are cut in the middle, so that a table fits on a screen."""


def labelled_lines(fields: Iterable[tuple[str, str]]) -> str:
    """Return a line for each field, the labels aligned.

    Examples
    --------
    >>> print(labelled_lines([("status", "optimal"), ("gap", "0%")]))
    status: optimal
       gap: 0%
    """
    printed = [(printable(label), printable(text)) for label, text in fields]
    widest = max((len(label) for label, _ in printed), default=0)
    return "\n".join(f"{label:>{widest}}: {text}" for label, text in printed)


def text_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an aligned table; the first column to the left, all others to the right.

    Examples
    --------
    >>> print(text_table(["method", "value"], [["opr", "32/5"], ["exact", "5"]]))
    method  value
    opr      32/5
    exact       5
    """
    lines = [list(map(printable, row)) for row in (headings, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def html_fields(fields: Iterable[tuple[str, str]]) -> str:
    """Return labelled lines as an HTML table without headings."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{_escaped(label)}</th>"
        f"<td style='text-align:left'>{_escaped(text)}</td></tr>"
        for label, text in fields
    )
    return f"<table>{cells}</table>"


def html_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table; one with more than `MAX_ROWS` rows is cut in the middle.

    Examples
    --------
    >>> html_table(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    half = MAX_ROWS // 2
    if len(rows) > MAX_ROWS:
        cut = f"... {len(rows) - MAX_ROWS} more"
        gap = [cut, *[""] * (len(headings) - 1)]
        rows = [*rows[:half], gap, *rows[-half:]]
    head = "".join(f"<th>{_escaped(heading)}</th>" for heading in headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{_escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _escaped(text: str) -> str:
    return html.escape(printable(text))
