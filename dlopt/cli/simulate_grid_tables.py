"""Text of `dlopt simulate grid`: one simulation in full, several as a table of means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from dlopt import aliases
from dlopt.arithmetic import shown
from dlopt.cli.console import out
from dlopt.cli.tables import TerminalTable
from dlopt.errors import printable
from dlopt.presentation.wording import counted
from dlopt.problems.validated_record import plain

if TYPE_CHECKING:
    from dlopt.simulation.grid import GridOutcome
    from dlopt.simulation.grid.offline_optimum import OptimalityComparison
    from dlopt.simulation.grid.sweep import SweepRow

SWEPT_PARAMETERS = ("variant", "tasks", "interval", "failure_rate", "queue_size")
"""Parameters that take lists of values."""
_MEASURES = ("met_ratio", "response", "external", "internal", "utilization", "resent")
HEADINGS = {"met_ratio": "deadline hit ratio", "resent": "resubmissions"}
"""What measures are called in tables and figures, where not by their own names."""
_MAX_UNFINISHED = 20
"""Lines: of more unfinished tasks than that, the number is printed."""


def print_outcome(outcome: GridOutcome, standing: OptimalityComparison | None) -> None:
    """Print the outcome of one simulation."""
    lines = [
        f"{outcome.returned} of {outcome.tasks} tasks completed, {outcome.met} by their deadlines",
        f"mean response time {_number(outcome.response)}, {outcome.remote} ran in another LAN",
        f"traffic between LANs {outcome.external:.6g}, within {outcome.internal:.6g}",
        f"utilization {_number(outcome.utilization)}, {counted(outcome.sent, 'submission')}, "
        f"{counted(outcome.resent, 'resubmission')}",
        f"{counted(outcome.failures, 'failure')}, "
        f"{counted(outcome.traps, 'node')} suspected failed, "
        f"{counted(outcome.false_alarms, 'false failure detection')}",
        f"{outcome.events} events in {outcome.seconds:.3g} s",
    ]
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
    if standing is not None:
        text = f"{standing.objective}: simulated {_value(standing.simulated)}"
        text += f", {standing.method} {_value(standing.value)}, bound {_value(standing.bound)}"
        out.print(f"{text} ({standing.status})", markup=False, soft_wrap=True)
    stuck = [fate for fate in outcome.job_outcomes if fate.reason]
    for fate in stuck[:_MAX_UNFINISHED]:
        out.print(
            printable(f"{fate.id} not completed: {fate.reason}"), markup=False, soft_wrap=True
        )
    if len(stuck) > _MAX_UNFINISHED:
        out.print(f"and {len(stuck) - _MAX_UNFINISHED} more", markup=False)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _value(value: Any) -> str:
    parts = value if isinstance(value, tuple) else (value,)
    return ", ".join(shown(part) for part in parts)


def _to_data(outcome: GridOutcome) -> dict[str, Any]:
    """Return one simulation as plain data; what is 0 in a LAN in a period is left out."""
    data = asdict(replace(outcome, lans=(), periods=(), cells=()))
    data["lans"] = [tally.to_data() for tally in outcome.lans]
    data["periods"] = [{"begin": at, **tally.to_data()} for at, tally in outcome.periods]
    data["cells"] = [
        {"lan": lan, "begin": at * outcome.period}
        | {name: value for name, value in tally.to_data().items() if value}
        for lan, at, tally in outcome.cells
    ]
    return aliases.with_former_keys(data)


def report_data(
    outcome: GridOutcome, standing: OptimalityComparison | None, broken: Sequence[Any] | None
) -> dict[str, Any]:
    """Return one simulation as plain data, with what it was compared with and its violations."""
    data = _to_data(outcome)
    if broken is not None:
        data["violations"] = _to_plain(broken)
    if standing is not None:
        (data["optimum"],) = _to_plain([standing])
    return data


def _to_plain(items: Sequence[Any]) -> list[Any]:
    """Return dataclasses as plain data that JSON can hold."""
    return [{key: plain(value) for key, value in _fields(item).items()} for item in items]


def _fields(item: Any) -> dict[str, Any]:
    return {one.name: getattr(item, one.name) for one in fields(item)}


def groups(rows: Sequence[SweepRow]) -> dict[tuple[Any, ...], list[SweepRow]]:
    """Return the rows of each combination, one a seed."""
    found: dict[tuple[Any, ...], list[SweepRow]] = {}
    for row in rows:
        found.setdefault(tuple(getattr(row.case, name) for name in SWEPT_PARAMETERS), []).append(
            row
        )
    return found


def mean(rows: Sequence[SweepRow], measure: str) -> tuple[float, float | None] | None:
    """Return the mean of a measure and half the width of its interval; None if nothing has it."""
    from dlopt.simulation.replications import estimate

    values = [getattr(row, measure) for row in rows]
    known = [float(value) for value in values if value is not None]
    return estimate(known) if known else None


def print_means(rows: Sequence[SweepRow]) -> None:
    """Print means, a row a combination of parameters."""
    _table(rows).print()


def _table(rows: Sequence[SweepRow]) -> TerminalTable:
    """Return one row for each combination of varying parameters; the title has the others."""
    grouped = groups(rows)
    varying = [
        name for name in SWEPT_PARAMETERS if len({getattr(row.case, name) for row in rows}) > 1
    ]
    fixed = [
        f"{name} {getattr(rows[0].case, name)}" for name in SWEPT_PARAMETERS if name not in varying
    ]
    title = ", ".join([*fixed, counted(len({row.case.seed for row in rows}), "seed")])
    heads = [HEADINGS.get(name, name.replace("_", " ")) for name in (*varying, *_MEASURES)]
    table = TerminalTable(
        heads,
        title=title.replace("_", " "),
        left={"variant"},
        droppable=("resubmissions", "internal", "external"),
    )
    for group in grouped.values():
        values = [str(getattr(group[0].case, name)) for name in varying]
        cells = (*values, *(_cell(mean(group, measure)) for measure in _MEASURES))
        table.add(dict(zip(heads, cells, strict=True)))
    return table


def _cell(found: tuple[float, float | None] | None) -> str:
    if found is None:
        return "-"
    mean, half = found
    return f"{mean:.4g}" if half is None else f"{mean:.4g} ± {half:.2g}"
