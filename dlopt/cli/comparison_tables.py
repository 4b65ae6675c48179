"""Comparisons as a table, with notes below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from dlopt.api import Comparison, ComparisonRow, InvalidResultError
from dlopt.errors import printable
from dlopt.presentation.wording import precision, seconds
from dlopt.registry import Method, problem
from dlopt.result import Result, Status, Value, shown_value
from dlopt.result_checker import values_of

_PROOFS = {
    "exact": "certified in exact arithmetic",
    "certificate": "certified in exact arithmetic, can be written as a VIPR file",
    "solver": "reported by the solver in floating point, not certified",
    "floats": "closed form, up to rounding",
}

Named = Sequence[tuple[str, Comparison]]
"""Comparisons, each with what its instance is called."""


def table(named: Named) -> Table:
    """Return all methods on all instances as one table."""
    first = named[0][1]
    goals = problem(first.instance.problem).module.OBJECTIVES
    others = [name for name in goals if name != first.objective and goals[name].shown_in_comparison]
    comparison = Table(box=box.SIMPLE_HEAD, title=f"{first.instance.problem}: {first.objective}")
    widest = max((len(m.name) for m in _all_methods(named)), default=0)
    comparison.add_column("method", min_width=widest)
    for name in (first.objective, *others, "gap to opt.", "bound", "time"):
        comparison.add_column(name.replace("-", "\n"), justify="right", no_wrap=True)
    proofs = (row.result.proof or "" for _, one in named for row in one.rows if row.result)
    comparison.add_column("proof", min_width=max(map(len, proofs), default=0))
    comparison.add_column("verified", min_width=12)
    for name, compared in named:
        comparison.add_row(Text(printable(name), "bold", overflow="fold", no_wrap=False))
        for row in compared.rows:
            comparison.add_row(*_cells(compared, row, others))
        comparison.add_section()
    return comparison


def _all_methods(named: Named) -> list[Method]:
    return [row.method for _, compared in named for row in compared.rows]


def notes(named: Named) -> Iterator[str]:
    """Yield the lines below the table: how to read it, reasons, and skipped methods."""
    measures = {compared.gap_reference for _, compared in named}
    if "optimum" in measures:
        yield "gap to opt.: |value - optimum| / |optimum|"
    if "bound" in measures:
        yield "*: gap to the bound, |value - bound| / |bound|; no optimum is proven"
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
        for who, why in _grouped(compared.skipped):
            yield f"skipped: {who} on {name}: {printable(why)}"
        for wrong in compared.contradictions:
            yield f"{name}: {printable(str(wrong))}"


def _asks_why(row: ComparisonRow) -> bool:
    """Tell whether a row leaves a question open: no plan, or an exact method without a proof."""
    if row.result is None or row.method.kind == "bound":
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


def _cells(compared: Comparison, row: ComparisonRow, others: Sequence[str]) -> tuple[str, ...]:
    result = row.result
    if result is None:
        return (row.method.name, *["-"] * (len(others) + 5), f"[red]{_failed(row)}[/red]")
    values: Mapping[str, Value] = {}
    if result.solution is not None:
        values = values_of(compared.instance, result.solution)
    mark = "*" if compared.gap_reference == "bound" else ""
    return (
        row.method.name,
        shown_value(result.value),
        *(shown_value(values.get(name)) for name in others),
        "-" if row.gap_to_best is None else f"{row.gap_to_best:.2%}{mark}",
        shown_value(result.bound),
        seconds(result.runtime_s),
        result.proof or "-",
        _checked(result),
    )


def _failed(row: ComparisonRow) -> str:
    """Return in few words why there is no result; standard error has it in full."""
    if isinstance(row.error, InvalidResultError):
        return f"INVALID: {_kinds(row.error.result) or 'its claim'}"
    cause = None if row.error is None else row.error.__cause__
    return f"failed: {type(cause or row.error).__name__}"


def _kinds(result: Result[Any]) -> str:
    return ", ".join(sorted({violation.kind for violation in result.violations}))


def _checked(result: Result[Any]) -> str:
    if result.status is Status.UNSOUND:
        return f"[red]UNSOUND: {_kinds(result) or 'value'}[/red]"
    if result.solution is None:
        return f"[yellow]{result.status}[/yellow]"
    return f"[green]{precision(result.tolerance)}[/green]" + (
        ", optimal" if result.status is Status.OPTIMAL else ""
    )
