"""Comparisons as a table, with notes below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rich.text import Text

from dlopt.api import Comparison, ComparisonRow, InvalidResultError
from dlopt.certificate_files import NOT_CERTIFIED
from dlopt.cli.tables import TerminalTable
from dlopt.errors import printable
from dlopt.presentation.comparisons import (
    CERTIFIED_NOTE,
    GAP,
    class_notes,
    gap_note,
    gap_text,
    stated_notes,
)
from dlopt.presentation.wording import (
    fraction_text,
    objective_text,
    precision,
    seconds,
    status_text,
)
from dlopt.problems.validated_record import Header
from dlopt.query import origin_of
from dlopt.registry import problem
from dlopt.result import Objective, Result, Status, Value, levels_of
from dlopt.result_checker import values_of

_PROOFS = {
    "exact": "proven in exact arithmetic",
    "certificate": "proven in exact arithmetic, can be written as a VIPR file",
    "solver": "reported by the solver in floating point, not certified",
    "floats": "closed form, up to rounding",
}

Named = Sequence[tuple[str, Comparison]]
"""Comparisons, each with what its instance is called."""


def print_table(named: Named, *, fractions: bool = False) -> None:
    """Print all methods on all instances as one table.

    Parameters
    ----------
    named : sequence of (str, Comparison)
        Of one problem and objective.
    fractions : bool, default False
        Print values exactly instead of in decimals.
    """
    first = named[0][1]
    goals = problem(first.instance.problem).module.OBJECTIVES
    instances = [compared.instance for _, compared in named]
    others = [
        name
        for name, goal in goals.items()
        if name != first.objective and _is_shown(goal, instances)
    ]
    comparison = TerminalTable(
        ("method", *_headings(first.objective, *others), GAP, "bound", "time", "proof", "verified"),
        title=f"{first.instance.problem}: {first.objective}",
        left={"method", "proof", "verified"},
        droppable=("proof", *reversed(_headings(*others)), "bound"),
    )
    for name, compared in named:
        comparison.add(name)
        for row in compared.rows:
            comparison.add(_cells(compared, row, others, fractions=fractions))
    comparison.print()


def _is_shown(goal: Objective, instances: Iterable[Header]) -> bool:
    """Tell whether the value by an objective says something of the schedules of any instance."""
    if goal.shown_with is None:
        return goal.shown_in_comparison
    name = goal.shown_with
    return goal.shown_in_comparison and any(getattr(one, name) is not None for one in instances)


def _headings(*objectives: str) -> list[str]:
    return [name.replace("-", " ") for name in objectives]


def notes(named: Named, *, fractions: bool = False) -> Iterator[str]:
    """Yield the lines below the table: how to read it, reasons, and skipped methods."""
    gaps = dict.fromkeys(gap_note(compared) for _, compared in named)
    yield from filter(None, gaps)
    if any(compared.certified for _, compared in named):
        yield CERTIFIED_NOTE
    if not fractions and any(_is_rounded(compared) for _, compared in named):
        yield "values are in decimals; --fractions prints them exactly"
    found = {row.result.proof for _, compared in named for row in compared.rows if row.result}
    known = [f"{proof} ({what})" for proof, what in _PROOFS.items() if proof in found]
    if known:
        yield "proof of the bound: " + ", ".join(known)
    for name, compared in ((printable(name), compared) for name, compared in named):
        reasons = (
            (row.method.name, f"{row.result.status}: {row.result.reason}")
            for row in compared.rows
            if row.result is not None and row.result.reason is not None and _asks_why(row)
        )
        for who, why in _grouped(reasons):
            yield f"{who} on {name}: {printable(why)}"
        yield from (f"{note} ({name})" for note in stated_notes(compared))
        yield from (f"{note} ({name})" for note in class_notes(compared))
        for who, why in _grouped(compared.skipped):
            yield f"skipped: {who} on {name}: {printable(why)}"
        for wrong in compared.contradictions:
            yield f"{name}: {printable(str(wrong))}"


def _is_rounded(compared: Comparison) -> bool:
    """Tell whether a value or bound of a comparison is a fraction."""
    return any(
        isinstance(level, Fraction) and level.denominator > 1
        for row in compared.rows
        if row.result is not None
        for value in (row.result.value, row.result.bound)
        if value is not None
        for level in levels_of(value)
    )


def _asks_why(row: ComparisonRow) -> bool:
    """Tell whether a row leaves a question open: no plan, or an exact method without a proof.

    Another one is what becomes of a claim without a certificate, where these are asked for.
    """
    if row.result is None:
        return False
    if NOT_CERTIFIED in (row.result.reason or ""):
        return True
    if row.method.kind == "bound":
        return False
    feasible = row.result.status is Status.FEASIBLE
    return row.result.solution is None or (feasible and row.method.kind == "exact")


def _grouped(reasons: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield each reason once, with all methods that it concerns."""
    groups: dict[str, list[str]] = {}
    for who, why in reasons:
        groups.setdefault(why, []).append(who)
    for why, names in groups.items():
        yield ", ".join(names), why


def _cells(
    compared: Comparison,
    row: ComparisonRow,
    others: Sequence[str],
    *,
    fractions: bool,
) -> dict[str, str | Text]:
    """Return the cells of a method; those of other objectives are of its plan."""
    result = row.result
    if result is None:
        return {"method": row.method.name, "verified": Text(_failed(row), "red")}
    values: Mapping[str, Value] = {}
    if result.solution is not None:
        values = values_of(compared.instance, result.solution)
    goals = {compared.objective: result.value, **{name: values.get(name) for name in others}}
    module = problem(compared.instance.problem).module

    def text_of(value: Value | None, name: str) -> str:
        if fractions:
            return fraction_text(value)
        return objective_text(value, origin_of(module, compared.instance, name))

    return {
        "method": row.method.name,
        **{name.replace("-", " "): text_of(value, name) for name, value in goals.items()},
        GAP: gap_text(compared, row),
        "bound": text_of(result.bound, compared.objective),
        "time": seconds(result.runtime_s),
        "proof": result.proof or "-",
        "verified": _checked(result),
    }


def _failed(row: ComparisonRow) -> str:
    """Return in few words why there is no result; standard error has it in full."""
    if isinstance(row.error, InvalidResultError):
        return f"INVALID: {_kinds(row.error.result) or 'its claim'}"
    cause = None if row.error is None else row.error.__cause__
    return f"failed: {type(cause or row.error).__name__}"


def _kinds(result: Result[Any]) -> str:
    return ", ".join(sorted({violation.kind for violation in result.violations}))


def _checked(result: Result[Any]) -> Text:
    if result.status is Status.UNSOUND:
        return Text(f"UNSOUND: {_kinds(result) or 'value'}", "red")
    if result.solution is None:
        return Text(str(result.status), "yellow")
    text = Text(precision(result.tolerance), "green")
    if result.status is not Status.OPTIMAL:
        return text
    is_proven = result.proof in ("exact", "certificate")  # the column before says which it is
    status = str(result.status) if is_proven else status_text(result)
    return text.append(f", {status}", "default")
