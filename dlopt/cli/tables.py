"""Results as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from dlopt import io
from dlopt.api import Comparison, RefutedAnswerError, Row
from dlopt.arithmetic import shown
from dlopt.generation import Family
from dlopt.referee import values_of
from dlopt.registry import Method, Option, problem
from dlopt.result import Result, Status, Value, Violation

MOST_ROWS = 16
"""Longer plans are cut in the middle."""

MOST_VIOLATIONS = 20
"""Longer lists of violations are cut; JSON has them all."""

Named = Sequence[tuple[str, Comparison]]
"""Comparisons, each with what its instance is called."""

_SIGNS = {"min": ">=", "max": "<="}


def amount(value: Value | None) -> str:
    """Return a value as text; an exact fraction with its decimals."""
    if isinstance(value, tuple):
        return "(" + ", ".join(amount(level) for level in value) + ")"
    text = shown(value)
    return f"{text} ({float(value):.6g})" if value is not None and "/" in text else text


def headline(result: Result[Any], sense: str) -> str:
    """Return one line that says how a method ended."""
    colour = {Status.OPTIMAL: "green", Status.FEASIBLE: "cyan", Status.BOUND: "cyan"}
    parts = [f"[bold {colour.get(result.status, 'red')}]{result.status}[/]"]
    if result.value is not None:
        parts.append(f"{result.objective} = {amount(result.value)}")
    if result.bound is not None:
        parts.append(f"{_SIGNS[sense]} {amount(result.bound)}")
    gap = result.gap
    if gap is not None and not isinstance(gap, tuple):
        parts.append(f"gap {float(gap):.3%}")
    if result.solution is not None and not result.violations:
        parts.append(f"checked {_to(result.tolerance)}")
    solver = f" ({result.solver} {result.solver_version or ''})".replace(" )", ")")
    parts.append(f"{result.method}{solver if result.solver else ''}, {seconds(result.runtime_s)}")
    return "  ".join(parts)


def plan(solution: Any) -> Iterator[Table]:
    """Yield a table for each kind of entry in a plan, an entry a row."""
    for item in fields(solution):
        entries = getattr(solution, item.name)
        if entries:
            yield _entries(entries)


def _entries(entries: Sequence[Any]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    names = [item.name for item in fields(entries[0])]
    names = [name for name in names if any(getattr(e, name) is not None for e in entries)]
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    half = MOST_ROWS // 2
    cut = len(entries) > MOST_ROWS
    for index, entry in enumerate(entries):
        if cut and index == half:
            table.add_row(f"... {len(entries) - MOST_ROWS} more", *[""] * (len(names) - 1))
        if not cut or index < half or index >= len(entries) - half:
            table.add_row(*(_cell(getattr(entry, name)) for name in names))
    return table


def violations(found: Sequence[Violation]) -> Iterator[Text]:
    """Yield a line for each violation, and one that counts those beyond the first 20."""
    for violation in found[:MOST_VIOLATIONS]:
        yield Text(str(violation), "red")
    if len(found) > MOST_VIOLATIONS:
        yield Text(f"... {len(found) - MOST_VIOLATIONS} more")


def checked(found: Sequence[Violation], tolerance: float, worth: Mapping[str, Value]) -> str:
    """Return one line that says what a check found: how it was done, what the plan is worth."""
    if found:
        count = f"{len(found)} violation{'s' * (len(found) > 1)}"
        return f"[bold red]{count}[/], checked {_to(tolerance)}:"
    if not worth:
        return "[green]valid[/green]: there is no plan to check"
    values = ", ".join(f"{name} = {amount(value)}" for name, value in worth.items())
    return f"[green]valid[/green], checked {_to(tolerance)}: {values}"


def comparison(named: Named) -> Table:
    """Return all methods on all instances as one table."""
    first = named[0][1]
    goals = problem(first.instance.problem).module.OBJECTIVES
    others = [name for name in goals if name != first.objective and goals[name].telling]
    table = Table(box=box.SIMPLE_HEAD, title=f"{first.instance.problem}: {first.objective}")
    table.add_column("method", min_width=max(len(m.name) for m in _all_methods(named)))
    for name in (first.objective, *others, "behind", "bound", "time"):
        table.add_column(name.replace("-", "\n"), justify="right", no_wrap=True)
    table.add_column("checked", min_width=12)
    for name, compared in named:
        table.add_row(Text(name, "bold", overflow="fold", no_wrap=False))
        for row in compared.rows:
            table.add_row(*_cells(compared, row, others))
        table.add_section()
    return table


def _all_methods(named: Named) -> list[Method]:
    return [row.method for _, compared in named for row in compared.rows]


def notes(named: Named) -> Iterator[str]:
    """Yield what stands below the table: how to read it, reasons, and what was left out."""
    measures = {compared.measured_from for _, compared in named}
    if "optimum" in measures:
        yield "behind: the gap to the optimum in %, (value - optimum) / optimum"
    if "bound" in measures:
        yield "behind bound (*): no optimum is proven, (value - bound) / bound"
    for name, compared in named:
        told = (
            (row.method.name, f"{row.result.status}: {row.result.reason}")
            for row in compared.rows
            if row.result is not None and row.result.reason is not None and _asks_why(row)
        )
        for who, why in _grouped(told):
            yield f"{who} on {name}: {why}"
        for who, why in _grouped(compared.left_out):
            yield f"left out: {who} on {name}: {why}"


def _asks_why(row: Row) -> bool:
    """Tell whether a row leaves a question open: no plan, or an exact method without a proof."""
    if row.result is None or row.method.kind == "bound":
        return False
    feasible = row.result.status is Status.FEASIBLE
    return row.result.solution is None or (feasible and row.method.kind == "exact")


def _grouped(told: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield each reason once, with all whom it concerns."""
    groups: dict[str, list[str]] = {}
    for who, why in told:
        groups.setdefault(why, []).append(who)
    for why, names in groups.items():
        yield ", ".join(names), why


def comparison_to_data(compared: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data; what a failed method would have said is None."""
    rows = []
    for row in compared.rows:
        found = row.result or Result(Status.UNKNOWN)
        data = io.result_to_data(compared.instance, found) | {"solution": None}
        if row.result is None:
            known = ("problem", "instance", "hash", "dlopt")
            data = {key: value if key in known else None for key, value in data.items()}
            broken = (
                row.error.result.violations if isinstance(row.error, RefutedAnswerError) else ()
            )
            data["method"] = row.method.name
            data["violations"] = [io.violation_to_data(violation) for violation in broken]
        for measure in ("optimum", "bound"):
            data[f"behind_{measure}"] = row.behind if compared.measured_from == measure else None
        rows.append(data | {"failure": row.failure})
    return {
        "problem": compared.instance.problem,
        "instance": compared.instance.name,
        "hash": io.instance_hash(compared.instance),
        "objective": compared.objective,
        "rows": rows,
        "left_out": [{"method": name, "reason": why} for name, why in compared.left_out],
    }


def families(stem: str, found: Sequence[Family]) -> Iterator[str]:
    """Yield the families of a problem with their parameters, and what these mean, as lines."""
    meanings: dict[str, dict[str, list[str]]] = {}
    for family in found:
        yield f"{stem} --family {family.name}: {family.summary}"
        given = (f"{p.name}={'-' if p.default is None else p.default}" for p in family.parameters)
        yield f"  --set {' '.join(given)}"
        for p in family.parameters:
            meanings.setdefault(p.name, {}).setdefault(p.help, []).append(family.name)
    yield ""
    for name, told in meanings.items():
        common = max(told.values(), key=len)
        for meaning, where in told.items():
            if meaning:
                only = "" if where is common else f" ({', '.join(where)})"
                yield f"{name}{only}: {meaning}"


def methods(entries: Sequence[Method]) -> list[RenderableType]:
    """Return the registry as one table a problem, with the options below it."""
    tables: list[RenderableType] = []
    for stem in dict.fromkeys(entry.stem for entry in entries):
        title = f"{stem}: {problem(stem).summary}"
        table = Table(box=box.SIMPLE_HEAD, title=title, padding=(0, 1))
        for name in ("method", "kind", "claim", "plans"):
            table.add_column(name, no_wrap=True)
        table.add_column("objectives", no_wrap=True)
        table.add_column("what, and source", ratio=1)
        options = []
        for entry in entries:
            if entry.stem == stem:
                what = f"{entry.summary} [dim]({entry.source})[/dim]"
                goals = "\n".join(entry.objectives)
                row = (entry.name, entry.kind, entry.claim, entry.plan_class, goals, what)
                table.add_row(*row)
                options += [f"  {entry.name} --set {_option(option)}" for option in entry.options]
        tables += [table, *options]
    return tables


def seconds(time: float | None) -> str:
    """Return a duration with a unit that fits."""
    if time is None:
        return "-"
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if time * factor >= 1:
            return f"{time * factor:.3g} {unit}"
    return f"{time * 1e6:.0f} us"


def _cells(compared: Comparison, row: Row, others: Sequence[str]) -> tuple[str, ...]:
    result = row.result
    if result is None:
        return (row.method.name, *["-"] * (len(others) + 4), f"[red]{_failed(row)}[/red]")
    worth: Mapping[str, Value] = {}
    if result.solution is not None:
        worth = values_of(compared.instance, result.solution)
    mark = "*" if compared.measured_from == "bound" else ""
    return (
        row.method.name,
        _shown(result.value),
        *(_shown(worth.get(name)) for name in others),
        "-" if row.behind is None else f"{row.behind:.2%}{mark}",
        _shown(result.bound),
        seconds(result.runtime_s),
        _checked(result),
    )


def _shown(value: Value | None) -> str:
    return "-" if isinstance(value, tuple) else shown(value)


def _failed(row: Row) -> str:
    """Return in few words why there is no result; standard error has it in full."""
    if isinstance(row.error, RefutedAnswerError):
        return f"REFUTED: {_kinds(row.error.result) or 'its claim'}"
    cause = None if row.error is None else row.error.__cause__
    return f"failed: {type(cause or row.error).__name__}"


def _kinds(result: Result[Any]) -> str:
    return ", ".join(sorted({violation.kind for violation in result.violations}))


def _to(tolerance: float) -> str:
    return "exactly" if tolerance == 0 else f"to {tolerance:g}"


def _checked(result: Result[Any]) -> str:
    if result.status is Status.UNSOUND:
        return f"[red]UNSOUND: {_kinds(result) or 'value'}[/red]"
    if result.solution is None:
        return f"[yellow]{result.status}[/yellow]"
    return f"[green]{_to(result.tolerance)}[/green]" + (
        ", optimal" if result.status is Status.OPTIMAL else ""
    )


def _option(option: Option) -> str:
    return f"{option.name}={'|'.join(option.choices) or option.default}  {option.help}"


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return escape(value)
    number: Any = value
    return shown(number) if not isinstance(number, tuple) else str(number)
