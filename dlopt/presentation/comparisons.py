"""How a comparison looks: the methods as a table."""

from __future__ import annotations

from collections.abc import Iterator

from dlopt.api import Comparison, ComparisonRow
from dlopt.errors import printable
from dlopt.presentation.layout import Row, html_fields, html_table, text_table
from dlopt.presentation.results import cell_text
from dlopt.presentation.wording import amount, counted, percentage, seconds
from dlopt.result import Status

GAP = "gap to optimum"
"""What the gap to the proven optimum is called; ``gap`` is that to the bound of a result."""
COLUMNS = ("method", "status", "value", "bound", GAP, "proof", "time")
"""The headings of the table."""


def text_of(comparison: Comparison) -> str:
    """Return the table of the methods, with a line before it that says what is compared."""
    lines = [_title(comparison)]
    if comparison.rows:
        lines.append(text_table(COLUMNS, (_cells(comparison, row) for row in comparison.rows)))
    return "\n".join([*lines, *_notes(comparison)])


def html_of(comparison: Comparison) -> str:
    """Return the same as HTML."""
    table = html_table(COLUMNS, [_cells(comparison, row) for row in comparison.rows])
    notes = [("note", note) for note in _notes(comparison)]
    return html_fields([("comparison", _title(comparison))]) + table + html_fields(notes)


def tables_of(comparison: Comparison) -> dict[str, list[Row]]:
    """Return the methods, and those that were skipped, as rows."""
    return {
        "methods": [_row(comparison, row) for row in comparison.rows],
        "skipped": [{"method": name, "reason": why} for name, why in comparison.skipped],
    }


def _title(comparison: Comparison) -> str:
    instance = comparison.instance
    title = f"{instance.name or instance.problem}: {comparison.objective}"
    reference = comparison.reference
    if reference is None:
        return title
    if comparison.gap_reference == "optimum":
        return f"{title}, optimum {amount(reference.value)}"
    if comparison.gap_reference == "bound":
        return f"{title}, bound {amount(reference.bound)}"
    return title


CERTIFIED_NOTE = "certified: bounds and optima count only with a certificate that is accepted"
"""What is printed below a table whose methods were asked for certificates."""


def gap_note(comparison: Comparison) -> str | None:
    """Return how the gaps of a comparison are computed; None if it has none."""
    if all(row.gap_to_best is None for row in comparison.rows):
        return None
    if comparison.gap_reference == "bound":
        return f"*: {GAP} is at most |value - bound| / |bound|; no optimum is proven"
    return f"{GAP}: |value - optimum| / |optimum|"


def stated_notes(comparison: Comparison) -> Iterator[str]:
    """Yield which references of the gaps are claims of the instance, and by which method."""
    for one in comparison.stated:
        what = "optimum" if one.status is Status.OPTIMAL else "bound"
        source = f", by {printable(one.method)}" if one.method else ""
        number = amount(one.bound)
        yield f"{what} {number}: best known value of the instance{source}, not proven here"


def class_notes(comparison: Comparison) -> Iterator[str]:
    """Yield which methods have no gap, as nothing is proven of the class of their plans."""
    classes: dict[str, list[str]] = {}
    for row in comparison.incomparable:
        if row.result is not None:
            chunks = row.result.installments
            name = str(row.result.plan_class)
            name += "" if chunks is None else f" with {counted(chunks, 'chunk')} for each node"
            classes.setdefault(name, []).append(row.method.name)
    for name, methods in classes.items():
        yield f"no gap: {', '.join(methods)}: no optimum is proven for plans of class {name}"


def gap_text(comparison: Comparison, row: ComparisonRow) -> str:
    """Return the gap of a row, marked with ``*`` where no optimum is proven."""
    mark = "*" if comparison.gap_reference == "bound" and row.gap_to_best is not None else ""
    return percentage(row.gap_to_best, 2) + mark


def _notes(comparison: Comparison) -> Iterator[str]:
    note = gap_note(comparison)
    if note is not None:
        yield note
    if comparison.certified:
        yield CERTIFIED_NOTE
    yield from stated_notes(comparison)
    yield from class_notes(comparison)
    for row in comparison.rows:
        if row.failure is not None:
            yield f"{row.method.name}: {row.failure}"
    if comparison.skipped:
        yield f"skipped: {', '.join(name for name, _ in comparison.skipped)}"
    yield from (printable(str(one)) for one in comparison.contradictions)


def _cells(comparison: Comparison, row: ComparisonRow) -> list[str]:
    result = row.result
    if result is None:
        status = "invalid" if row.invalid else "failed" if row.error is not None else "-"
        return [row.method.name, status, *["-"] * (len(COLUMNS) - 2)]
    return [
        row.method.name,
        str(result.status),
        amount(result.value),
        amount(result.bound),
        gap_text(comparison, row),
        cell_text(result.proof),
        seconds(result.runtime_s),
    ]


def _row(comparison: Comparison, row: ComparisonRow) -> Row:
    result = row.result
    return {
        "instance": comparison.instance.name,
        "problem": comparison.instance.problem,
        "objective": comparison.objective,
        "method": row.method.name,
        "kind": row.method.kind,
        "claim": row.method.claim,
        "status": None if result is None else str(result.status),
        "value": None if result is None else result.value,
        "bound": None if result is None else result.bound,
        "gap": None if result is None else result.gap,
        "gap_to_optimum": row.gap_to_best if comparison.gap_reference == "optimum" else None,
        "gap_to_bound": row.gap_to_best if comparison.gap_reference == "bound" else None,
        "plan_class": None if result is None else result.plan_class,
        "proof": None if result is None else result.proof,
        "tolerance": None if result is None else result.tolerance,
        "violations": 0 if result is None else len(result.violations),
        "runtime_s": None if result is None else result.runtime_s,
        "reason": None if result is None else result.reason,
        "failure": row.failure,
    }
