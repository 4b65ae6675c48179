"""Results, families and methods as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dlopt.cli.tables import TerminalTable
from dlopt.errors import printable
from dlopt.generation import Family
from dlopt.presentation.layout import MAX_ROWS, Row
from dlopt.presentation.results import cell_text
from dlopt.presentation.schedule_rows import ADDED_NAMES, schedule_rows
from dlopt.presentation.violation_texts import check_texts
from dlopt.presentation.wording import (
    amount,
    bound_proof_text,
    class_text,
    counted,
    decimals,
    fraction_text,
    method_text,
    precision,
    seconds,
    signed_bound,
    status_text,
)
from dlopt.problems.validated_record import Header
from dlopt.registry import Method, Option, problem
from dlopt.result import Result, Status, Value, Violation

MAX_VIOLATIONS = 20
"""Lines: longer lists of violations are cut, so that they fit on a screen; JSON has them all."""


def headline(result: Result[Any], sense: str, senses: Sequence[str] = ()) -> str:
    """Return one line: status, value, bound, gap; `senses` are those of levels that differ."""
    colour = {Status.OPTIMAL: "green", Status.FEASIBLE: "cyan", Status.BOUND: "cyan"}
    parts = [f"[bold {colour.get(result.status, 'red')}]{status_text(result)}[/]"]
    if result.value is not None:
        parts.append(f"{result.objective} = {amount(result.value)}")
    if result.bound is not None:
        plans = "" if class_text(result) is None else f" (class {result.plan_class})"
        parts.append(f"bound {signed_bound(result.bound, sense, senses)}{plans}")
    gap = result.gap
    if gap is not None and not isinstance(gap, tuple):
        parts.append(f"gap {float(gap):.3%}")
    proof = bound_proof_text(result)
    if proof is not None:
        parts.append(proof)
    if result.solution is not None and not result.violations:
        parts.append(f"verified: {precision(result.tolerance)}")
    parts.append(f"{method_text(result)}, {seconds(result.runtime_s)}")
    return "  ".join(parts)


MIN_TABLE_WIDTH = 110
"""Characters: on a narrower terminal the table of the methods would be all broken lines."""

HEADINGS: Mapping[str, str] = {
    "at": "decided at",
    "missed": "task that\nwould be late",
    "by": "late by",
    "of": "by: time,\nload or price",
}
"""Headings of fields whose names say too little outside of their record."""


def plan(instance: Header, solution: object, *, fractions: bool = False) -> Iterator[TerminalTable]:
    """Yield a table for each kind of entry in a plan, an entry a row, in the order of the file.

    What has a name is shown by its name, not by its index.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    fractions : bool, default False
        Show numbers exactly instead of in decimals.
    """
    for rows in schedule_rows(instance, solution).values():
        if rows:
            yield _entries(rows, fractions, left_out=_without_meaning(instance, rows))


def _without_meaning(instance: Header, rows: Sequence[Row]) -> Collection[str]:
    """Return the fields that say nothing: whether tasks are late, where none has a deadline."""
    late = any(row.get("late") for row in rows)
    return () if late or getattr(instance, "deadlines", True) else ("late",)


def _entries(
    rows: Sequence[Row], fractions: bool, *, left_out: Collection[str] = ()
) -> TerminalTable:
    names = list(dict.fromkeys(name for row in rows for name in row if name not in left_out))
    names = [name for name in names if any(row.get(name) is not None for row in rows)]
    names = [name for name in names if ADDED_NAMES.get(name) not in names]
    if "missed" in names:  # the same in fewer words
        names.remove("reason")
    headings = {name: _heading(name) for name in names}
    table = TerminalTable(tuple(headings.values()), wrapped={"reason"})
    half = MAX_ROWS // 2
    cut = len(rows) > MAX_ROWS
    for index, row in enumerate(rows):
        if cut and index == half:
            table.add({headings[names[0]]: f"... {len(rows) - MAX_ROWS} more"})
        if not cut or index < half or index >= len(rows) - half:
            table.add({head: _cell(row.get(name), fractions) for name, head in headings.items()})
    return table


def _heading(name: str) -> str:
    heading = name.removesuffix("_id") if name in ADDED_NAMES.values() else name
    return HEADINGS.get(name, heading.replace("_", " "))


def _cell(value: object, fractions: bool) -> Text:
    if isinstance(value, Fraction):
        return Text(fraction_text(value) if fractions else decimals(value))
    return Text(printable(cell_text(value)))


def violations(instance: Header, plan: object, found: Sequence[Violation]) -> Iterator[Text]:
    """Yield a line for each violation, and one that counts those beyond the first 20.

    Parameters
    ----------
    instance : Instance
    plan : Solution or Result
        What was checked.
    found : sequence of Violation
    """
    for text in check_texts(instance, plan, found[:MAX_VIOLATIONS]):
        yield Text(printable(text), "red")
    if len(found) > MAX_VIOLATIONS:
        yield Text(f"... {len(found) - MAX_VIOLATIONS} more")


def verification(found: Sequence[Violation], tolerance: float, values: Mapping[str, Value]) -> str:
    """Return one line: the number of violations, or the objective values of a valid plan."""
    if found:
        return f"[bold red]{counted(len(found), 'violation')}[/] ({precision(tolerance)}):"
    if not values:
        return "[green]valid[/green]: there is no plan to check"
    texts = ", ".join(f"{name} = {amount(value)}" for name, value in values.items())
    return f"[green]valid[/green], verified: {precision(tolerance)}; {texts}"


def unverified_claims(result: Result[Any]) -> Iterator[str]:
    """Yield what a result claims beyond its plan, which only a proof can show.

    Examples
    --------
    >>> print(*unverified_claims(Result(Status.OPTIMAL, value=73, bound=73)))
    that no plan has a better value than 73
    """
    if result.status is Status.INFEASIBLE:
        yield "that there is no plan"
    elif result.bound is not None:
        yield f"that no plan has a better value than {amount(result.bound)}"


def families(stem: str, found: Sequence[Family]) -> Iterator[str]:
    """Yield the families of a problem with their parameters, and what these mean, as lines."""
    meanings: dict[str, dict[str, list[str]]] = {}
    for family in found:
        yield f"{stem} --family {family.name}: {family.summary}"
        given = (f"{p.name}={'-' if p.default is None else p.default}" for p in family.parameters)
        if family.notes:
            yield f"  {family.notes}"
        yield f"  --set {' '.join(given)}"
        for p in family.parameters:
            meanings.setdefault(p.name, {}).setdefault(p.help, []).append(family.name)
    yield ""
    lines: dict[tuple[str, str], list[str]] = {}
    for name, texts in meanings.items():
        common = max(texts.values(), key=len)
        for meaning, where in texts.items():
            only = "" if where is common else f" ({', '.join(where)})"
            lines.setdefault((meaning, only), []).append(name)
    for (meaning, only), names in lines.items():
        if meaning:
            yield f"{', '.join(names)}{only}: {meaning}"


def methods(entries: Sequence[Method], width: int) -> list[RenderableType]:
    """Return the registry as one table a problem, with objectives and options below it.

    Parameters
    ----------
    entries : sequence of Method
    width : int
        Characters of a line; below `MIN_TABLE_WIDTH` the methods are a list and no table.
    """
    tables: list[RenderableType] = []
    for stem in dict.fromkeys(entry.stem for entry in entries):
        own = [entry for entry in entries if entry.stem == stem]
        usual = Counter(entry.objectives for entry in own).most_common(1)[0][0]
        title = f"{stem}: {problem(stem).summary}"
        lines = [_described(entry, usual) for entry in own]
        tables += (
            [_method_table(title, lines)] if width >= MIN_TABLE_WIDTH else [title, *_listed(lines)]
        )
        options: dict[str, list[str]] = {}
        for entry in own:
            for option in entry.options:
                options.setdefault(_option(option), []).append(entry.name)
        tables.append(f"  objectives: {', '.join(usual)}")
        tables += [f"  {', '.join(names)}\n    --set {text}" for text, names in options.items()]
    return tables


def _described(entry: Method, usual: Sequence[str]) -> tuple[str, str, str, str, str]:
    text = f"{entry.summary} [dim]({entry.source})[/dim]"
    if entry.objectives != usual:
        text += f" [dim]objectives: {', '.join(entry.objectives)}[/dim]"
    return entry.name, entry.kind, entry.claim, entry.plan_class, text


def _method_table(title: str, lines: Sequence[Sequence[str]]) -> Table:
    # The description makes it wide: in the middle of a file or a pipe, nobody would see the title.
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", padding=(0, 1))
    for name in ("method", "kind", "claim", "plan class"):
        table.add_column(name, no_wrap=True)
    table.add_column("description (source)")
    for line in lines:
        table.add_row(*line)
    return table


def _listed(lines: Sequence[Sequence[str]]) -> Iterator[RenderableType]:
    """Yield the methods as a list: what each is called and claims, and below it what it does."""
    for name, *claims, text in lines:
        yield f"[bold]{name}[/bold]  {', '.join(claims)}"
        yield Padding(text, (0, 0, 0, 4))


def _option(option: Option) -> str:
    default = str(option.default).lower() if option.type == "bool" else str(option.default)
    values = "|".join(option.choices) or ("true|false" if option.type == "bool" else option.type)
    return escape(f"{option.name}={values}  {option.help} [default: {default}]")
