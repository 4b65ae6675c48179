"""How a result looks: a summary, its tables, and its chart."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction

from dlopt import registry
from dlopt.arithmetic import shown
from dlopt.errors import MissingExtraError, NotApplicableError
from dlopt.plotting import svg_of
from dlopt.presentation.layout import Row, html_fields, html_table, labelled_lines
from dlopt.presentation.schedule_remarks import schedule_remarks
from dlopt.presentation.schedule_rows import schedule_rows
from dlopt.presentation.violation_texts import violation_texts
from dlopt.presentation.wording import (
    amount,
    bound_proof_text,
    class_text,
    counted,
    method_text,
    percentage,
    precision,
    seconds,
    signed_bound,
    status_text,
)
from dlopt.problems.validated_record import Header
from dlopt.result import Result, Violation

MAX_DRAWN = 2_000
"""Entries of a plan that a notebook draws: the picture of more has several megabytes."""

MAIN_TABLES = ("chunks", "shares", "placements")
"""The tables of plans that say where and when something runs; they come first."""

MAX_VIOLATIONS = 3
"""Violations that a summary names; `Result.violations` has them all."""


def text_of(result: Result[object]) -> str:
    """Return the summary of a result.

    Examples
    --------
    >>> from dlopt.result import Status
    >>> print(text_of(Result(Status.FEASIBLE, value=4, bound=3, method="opr")))
    status: feasible
     value: 4
     bound: 3
       gap: 25.000%
    method: opr
    """
    return labelled_lines(summary_fields(result))


def summary_fields(result: Result[object]) -> Iterator[tuple[str, str]]:
    """Yield the lines of the summary: what is absent is left out."""
    instance = _instance_of(result)
    if instance is not None and instance.name:
        yield "instance", instance.name
    yield "status", status_text(result)
    if result.value is not None:
        yield result.objective or "value", amount(result.value)
    if result.bound is not None:
        yield "bound", _bound_text(result)
    if result.gap is not None:
        yield "gap", percentage(result.gap)
    proof = bound_proof_text(result)
    if proof is not None:
        yield "proof", proof
    plans = class_text(result)
    if plans is not None:
        yield "bound holds for", plans
    if result.solution is not None:
        yield "plan", plan_text(result.solution)
        if not result.violations:
            yield "verified", precision(result.tolerance)
        for remark in schedule_remarks(instance, result):
            yield "remark", remark
    if result.violations:
        yield "violations", _violations_text(instance, result.violations)
    if result.reason is not None:
        yield "reason", result.reason
    if result.stopped_by is not None:
        yield "stopped by", result.stopped_by
    if result.method:
        yield "method", method_text(result)
    if result.runtime_s is not None:
        yield "time", seconds(result.runtime_s)


def plan_text(solution: object) -> str:
    """Return how many tasks a plan accepts, and how many entries it has of each kind.

    Examples
    --------
    >>> from dlopt.problems.admission import Decision, Solution
    >>> plan_text(Solution((Decision("a", True, 0), Decision("b", False, 1)), ()))
    '1 of 2 tasks accepted, 0 chunks'
    """
    if not is_dataclass(solution):  # a user's own kind of plan
        return type(solution).__name__
    parts = []
    for item in fields(solution):
        entries = getattr(solution, item.name)
        if entries and hasattr(entries[0], "accepted"):
            noun = fields(entries[0])[0].name
            accepted = sum(entry.accepted for entry in entries)
            parts.append(f"{accepted:,} of {counted(len(entries), noun)} accepted")
        elif entries or item.name == "chunks":
            parts.append(counted(len(entries), item.name.removesuffix("s")))
    return ", ".join(parts) or "nothing"


def tables_of(result: Result[object]) -> dict[str, list[Row]]:
    """Return the tables of the plan, the schedule first; none if there is no plan."""
    if result.solution is None:
        return {}
    tables = schedule_rows(_instance_of(result), result.solution)
    return dict(sorted(tables.items(), key=lambda named: named[0] not in MAIN_TABLES))


def html_of(result: Result[object]) -> str:
    """Return the summary, the tables of the plan, and its chart where matplotlib is installed."""
    parts = [html_fields(summary_fields(result))]
    for name, rows in tables_of(result).items():
        if rows:
            parts.append(f"<p>{name}</p>{html_table(list(rows[0]), _cells(rows))}")
    return "".join(parts) + _chart_html(result)


def _cells(rows: Sequence[Row]) -> list[list[str]]:
    return [[cell_text(value) for value in row.values()] for row in rows]


def cell_text(value: object) -> str:
    """Return what stands in a cell of a table.

    Examples
    --------
    >>> from fractions import Fraction
    >>> [cell_text(value) for value in (None, True, "a", Fraction(1, 3), (0, 2))]
    ['-', 'yes', 'a', '1/3', '0, 2']
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(cell_text, value))
    return shown(value) if isinstance(value, int | float | Fraction) else str(value)


def _instance_of(result: Result[object]) -> Header | None:
    return result.instance if isinstance(result.instance, Header) else None


def _bound_text(result: Result[object]) -> str:
    """Return the bound; with its sign if the objective is known."""
    instance = _instance_of(result)
    goals = {} if instance is None else registry.problem_of(instance).module.OBJECTIVES
    goal = goals.get(result.objective)
    if goal is None or result.bound is None:
        return amount(result.bound)
    return signed_bound(result.bound, goal.sense, goal.senses)


def _violations_text(instance: Header | None, found: Sequence[Violation]) -> str:
    named = "; ".join(violation_texts(instance, found[:MAX_VIOLATIONS]))
    more = f"; {len(found) - MAX_VIOLATIONS} more" if len(found) > MAX_VIOLATIONS else ""
    return f"{len(found):,} ({named}{more})"


def _chart_html(result: Result[object]) -> str:
    """Return the chart as an image, or nothing where there is none to draw."""
    instance = _instance_of(result)
    if instance is None or result.solution is None:
        return ""
    if sum(map(len, tables_of(result).values())) > MAX_DRAWN:
        return ""
    try:
        picture = svg_of(instance, result)
    except (MissingExtraError, NotApplicableError):
        return ""
    data = base64.b64encode(picture).decode()
    return f'<img alt="the plan of {result.method}" src="data:image/svg+xml;base64,{data}">'
