"""Results as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from dlopt.api import Comparison, Row
from dlopt.arithmetic import shown
from dlopt.registry import Method, Option, problem
from dlopt.result import Result, Status, Value

MOST_ROWS = 16
"""Longer plans are cut in the middle."""

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
        parts.append(
            "checked exactly" if result.tolerance == 0 else f"checked to {result.tolerance:g}"
        )
    solver = f" ({result.solver} {result.solver_version or ''})".replace(" )", ")")
    parts.append(f"{result.method}{solver if result.solver else ''}, {seconds(result.runtime_s)}")
    return "  ".join(parts)


def plan(solution: Any) -> Table:
    """Return the entries of a plan, one a row."""
    entries = getattr(solution, next(iter(type(solution).__dataclass_fields__)))
    table = Table(box=box.SIMPLE_HEAD)
    names = list(type(entries[0]).__dataclass_fields__)
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


def comparison(comparisons: Sequence[Comparison]) -> Table:
    """Return all methods on all instances as one table."""
    first = comparisons[0]
    goals = problem(first.instance.problem).module.OBJECTIVES
    others = [name for name in goals if name != first.objective]
    table = Table(box=box.SIMPLE_HEAD, title=f"{first.instance.problem}: {first.objective}")
    table.add_column("method", no_wrap=True)
    for name in (first.objective, *others, "gap", "bound", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("checked", no_wrap=True)
    for compared in comparisons:
        table.add_row(f"[bold]{escape(compared.instance.name or 'instance')}[/bold]")
        for row in compared.rows:
            table.add_row(*_cells(compared, row, others))
        table.add_section()
    return table


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
    worth = []
    for name in others:
        value = None
        if result.solution is not None:
            module = problem(compared.instance.problem).module
            value = module.objective(compared.instance, result.solution, name)
        worth.append(shown(value))
    bound = None if isinstance(result.bound, tuple) else result.bound
    value = None if isinstance(result.value, tuple) else result.value
    return (
        row.method.name,
        shown(value),
        *worth,
        "-" if row.gap is None else f"{row.gap:.2%}",
        shown(bound),
        seconds(result.runtime_s),
        _checked(result),
    )


def _checked(result: Result[Any]) -> str:
    if result.status is Status.UNSOUND:
        kinds = sorted({violation.kind for violation in result.violations})
        return f"[red]UNSOUND: {', '.join(kinds) or 'value'}[/red]"
    if result.solution is None:
        return f"[yellow]{result.status}[/yellow]"
    how = "exactly" if result.tolerance == 0 else f"to {result.tolerance:g}"
    return f"[green]{how}[/green]" + (", optimal" if result.status is Status.OPTIMAL else "")


def _option(option: Option) -> str:
    return f"{option.name}={'|'.join(option.choices) or option.default}  {option.help}"


def _cell(value: object) -> str:
    if isinstance(value, bool | str) or value is None:
        return str(value)
    number: Any = value
    return shown(number) if not isinstance(number, tuple) else str(number)
