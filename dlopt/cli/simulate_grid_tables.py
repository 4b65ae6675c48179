"""What `dlopt simulate grid` says: of one simulation all, of many a table of means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from dlopt.arithmetic import shown
from dlopt.cli.console import out, print_table
from dlopt.errors import printable
from dlopt.problems.validated_record import plain

if TYPE_CHECKING:
    from dlopt.simulation.grid import GridOutcome
    from dlopt.simulation.grid.clairvoyant import OptimalityComparison
    from dlopt.simulation.grid.sweep import SweepRow

SWEPT = ("variant", "tasks", "interval", "failure_rate", "queue_size")
"""Parameters that take lists of values."""
_MEASURES = ("met_ratio", "response", "external", "internal", "utilization", "resent")
_MOST_TOLD = 20


def tell(outcome: GridOutcome, standing: OptimalityComparison | None) -> None:
    """Print what became of the tasks of one simulation."""
    lines = [
        f"{outcome.returned} of {outcome.tasks} tasks came home, {outcome.met} by their deadlines",
        f"mean response {_number(outcome.response)}, {outcome.remote} ran in another LAN",
        f"traffic between LANs {outcome.external:.6g}, within {outcome.internal:.6g}",
        f"utilization {_number(outcome.utilization)}, {outcome.sent} subtasks sent, "
        f"{outcome.resent} of them again",
        f"{outcome.failures} failures, {outcome.traps} nodes presumed dead, "
        f"{outcome.false_alarms} of them up",
        f"{outcome.events} events in {outcome.seconds:.3g} s",
    ]
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
    if standing is not None:
        text = f"{standing.objective}: simulated {_value(standing.simulated)}"
        text += f", {standing.method} {_value(standing.value)}, bound {_value(standing.bound)}"
        out.print(f"{text} ({standing.status})", markup=False, soft_wrap=True)
    stuck = [fate for fate in outcome.fates if fate.reason]
    for fate in stuck[:_MOST_TOLD]:
        out.print(
            printable(f"{fate.id} never came home: {fate.reason}"), markup=False, soft_wrap=True
        )
    if len(stuck) > _MOST_TOLD:
        out.print(f"and {len(stuck) - _MOST_TOLD} more", markup=False)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _value(value: Any) -> str:
    parts = value if isinstance(value, tuple) else (value,)
    return ", ".join(shown(part) for part in parts)


def data_of(outcome: GridOutcome) -> dict[str, Any]:
    """Return one simulation as plain data; what is 0 in a LAN in a period is left out."""
    data = asdict(replace(outcome, lans=(), periods=(), cells=()))
    data["lans"] = [tally.to_data() for tally in outcome.lans]
    data["periods"] = [{"begin": at, **tally.to_data()} for at, tally in outcome.periods]
    data["cells"] = [
        {"lan": lan, "begin": at * outcome.period}
        | {name: value for name, value in tally.to_data().items() if value}
        for lan, at, tally in outcome.cells
    ]
    return data


def plain_all(items: Sequence[Any]) -> list[Any]:
    """Return dataclasses as plain data that JSON can hold."""
    return [{key: plain(value) for key, value in _fields(item).items()} for item in items]


def _fields(item: Any) -> dict[str, Any]:
    return {one.name: getattr(item, one.name) for one in fields(item)}


def groups(rows: Sequence[SweepRow]) -> dict[tuple[Any, ...], list[SweepRow]]:
    """Return the rows of each combination, one a seed."""
    found: dict[tuple[Any, ...], list[SweepRow]] = {}
    for row in rows:
        found.setdefault(tuple(getattr(row.case, name) for name in SWEPT), []).append(row)
    return found


def mean(rows: Sequence[SweepRow], measure: str) -> tuple[float, float | None] | None:
    """Return the mean of a measure and half the width of its interval; None if nothing has it."""
    from dlopt.simulation.replications import estimate

    values = [getattr(row, measure) for row in rows]
    known = [float(value) for value in values if value is not None]
    return estimate(known) if known else None


def print_means(rows: Sequence[SweepRow]) -> None:
    """Print means, a row a combination of parameters."""
    print_table(_table(rows))


def _table(rows: Sequence[SweepRow]) -> Table:
    """Return a row a combination; what is the same in all stands in the title."""
    found = groups(rows)
    differ = [at for at, _ in enumerate(SWEPT) if len({key[at] for key in found}) > 1]
    first = next(iter(found))
    told = [f"{SWEPT[at]} {first[at]}" for at in range(len(SWEPT)) if at not in differ]
    seeds = len({row.case.seed for row in rows})
    told.append(f"{seeds} seed{'s' * (seeds > 1)}")
    title = ", ".join(told).replace("_", " ")
    table = Table(box=box.SIMPLE_HEAD, title=title, padding=(0, 1, 0, 0))
    for name in (*(SWEPT[at] for at in differ), *_MEASURES):
        left = name == "variant"
        head = name.replace("_", " ")
        table.add_column(head, justify="left" if left else "right", no_wrap=True)
    for key, group in found.items():
        cells = [_cell(mean(group, measure)) for measure in _MEASURES]
        table.add_row(*(str(key[at]) for at in differ), *cells)
    return table


def _cell(found: tuple[float, float | None] | None) -> str:
    if found is None:
        return "-"
    mean, half = found
    return f"{mean:.4g}" if half is None else f"{mean:.4g} ± {half:.2g}"
