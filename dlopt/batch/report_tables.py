"""Tables and numbers of the report, as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from dlopt.arithmetic import shown
from dlopt.errors import printable
from dlopt.result import Value

_SCIENTIFIC_FROM = 1e6
"""From here on a share is shown by its size alone."""


def escape(text: str) -> str:
    """Return a text as HTML; characters that a page would obey, and not show, are spelled."""
    return html.escape(printable(text))


def table(
    heads: Sequence[str], body: Sequence[Sequence[str]], numbers: Iterable[int] | None = None
) -> str:
    """Return a table of cells that are HTML already; by default all but the first are numbers."""
    right = set(range(1, len(heads)) if numbers is None else numbers)

    def cell(tag: str, index: int, text: str) -> str:
        return f"<{tag}{' class=n' * (index in right)}>{text}</{tag}>"

    head = "".join(cell("th", index, text) for index, text in enumerate(heads))
    lines = (
        "<tr>" + "".join(cell("td", index, text) for index, text in enumerate(line)) + "</tr>"
        for line in body
    )
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def amount(value: Value | None) -> str:
    """Return a value as text."""
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))})"
    return shown(value)


def percent(share: float | None) -> str:
    """Return a share in percent, or a dash."""
    if share is None:
        return "-"
    return f"{share:.2%}" if share < _SCIENTIFIC_FROM else f"{share * 100:.3g}%"


def seconds(time: float | None) -> str:
    """Return a duration with a unit."""
    if time is None:
        return "-"
    return f"{time:.3g} s" if time >= 1 else f"{time * 1e3:.3g} ms"


def tick_percent(value: float) -> str:
    """Return a share as a mark on an axis."""
    return f"{value * 100:g} %"


def tick_plainly(value: float) -> str:
    """Return a number as a mark on an axis."""
    return f"{value:g}"
