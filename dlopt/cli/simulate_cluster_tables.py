"""What the simulating commands print: means over seeds, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dlopt.presentation.wording import counted

if TYPE_CHECKING:
    from dlopt.cli.tables import TerminalTable
    from dlopt.simulation import LoadPoint

_ESTIMATES = ("reject_ratio", "utilization", "miss_ratio", "mean_queue", "drain", "realised_load")
_MIXED = ("reservation_reject_ratio", "total_reject_ratio")


_EXECUTED = (
    "broken_by_failures",
    "broken_by_overruns",
    "lost_time",
    "dropped_load",
    "freed_time",
    "reclaimed_time",
)


_EXECUTED_MIXED = (
    "reservations_broken_by_failures",
    "reservations_broken_by_overruns",
    "moved",
)


def is_executed(point: LoadPoint) -> bool:
    """Tell whether the streams were executed at true costs, with failures."""
    from dlopt.simulation import ExecutedOutcome

    return isinstance(point.outcomes[0], ExecutedOutcome)


def is_mixed(point: LoadPoint) -> bool:
    """Tell whether a method decided on reservations, too."""
    from dlopt.simulation import ExecutedMixedOutcome, MixedOutcome

    return isinstance(point.outcomes[0], MixedOutcome | ExecutedMixedOutcome)


def print_points(what: str, points: Sequence[LoadPoint], sample: str | None) -> None:
    """Print a row a method and load; `sample` says what intervals are over, if there are any."""
    _table(what, points, sample).print()
    if any(map(is_executed, points)):
        _executed_table(points).print()
        if any(map(is_mixed, points)):
            _executed_reservations_table(points).print()


def _table(what: str, points: Sequence[LoadPoint], sample: str | None) -> TerminalTable:
    from dlopt.cli.tables import TerminalTable

    mixed = any(map(is_mixed, points))
    heads = ["nominal load", "method", "reject ratio"]
    heads += ["reservation reject ratio", "total reject ratio"] * mixed
    heads += ["utilization", "deadline misses", "queue mean"]
    heads += ["queue max", "drain time", "decisions per s", "realised load"]
    table = TerminalTable(
        heads,
        title=what if sample is None else f"{what}, {counted(len(points[0].outcomes), sample)}",
        left={"method"},
        droppable=("drain time", "realised load", "queue max", "decisions per s", "queue mean"),
    )
    for point in points:
        cells = (
            "-" if point.system_load is None else f"{point.system_load:g}",
            point.method,
            _spread(point, "reject_ratio"),
            *(_spread(point, name) if is_mixed(point) else "-" for name in _MIXED * mixed),
            _spread(point, "utilization"),
            str(sum(outcome.misses for outcome in point.outcomes)),
            _mean(point, "mean_queue", ".3g"),
            str(max(outcome.longest_queue for outcome in point.outcomes)),
            _mean(point, "drain", ".3g"),
            _mean(point, "decisions_per_second", ",.0f"),
            _mean(point, "realised_load", ".3f"),
        )
        table.add(dict(zip(heads, cells, strict=True)))
    return table


def _executed_table(points: Sequence[LoadPoint]) -> TerminalTable:
    """Return what became of promises and time, a row a method and load."""
    from dlopt.cli.tables import TerminalTable
    from dlopt.simulation import ExecutedOutcome

    heads = ["nominal load", "method", "accepted", "promises broken by failures"]
    heads += ["promises broken by late ends", "node time lost", "load dropped"]
    heads += ["node time freed early", "of it used"]
    table = TerminalTable(heads, title="executed at true costs, with failures", left={"method"})
    for point in points:
        outcomes = [one for one in point.outcomes if isinstance(one, ExecutedOutcome)]
        cells = (
            "-" if point.system_load is None else f"{point.system_load:g}",
            point.method,
            str(sum(one.accepted for one in outcomes)),
            str(sum(one.broken_by_failures for one in outcomes)),
            str(sum(one.broken_by_overruns for one in outcomes)),
            *(_mean(point, name, ".3g") for name in _EXECUTED[2:]),
        )
        table.add(dict(zip(heads, cells, strict=True)))
    return table


def _executed_reservations_table(points: Sequence[LoadPoint]) -> TerminalTable:
    """Return what became of reservations, a row a method and load."""
    from dlopt.cli.tables import TerminalTable
    from dlopt.simulation import ExecutedMixedOutcome

    heads = ["nominal load", "method", "granted", "broken by failures", "broken by late ends"]
    heads += ["moved to other nodes"]
    table = TerminalTable(heads, title="reservations as they were executed", left={"method"})
    for point in points:
        outcomes = [one for one in point.outcomes if isinstance(one, ExecutedMixedOutcome)]
        if outcomes:
            names = ("granted", *_EXECUTED_MIXED)
            cells = (
                "-" if point.system_load is None else f"{point.system_load:g}",
                point.method,
                *(str(sum(getattr(one, name) for one in outcomes)) for name in names),
            )
            table.add(dict(zip(heads, cells, strict=True)))
    return table


def _spread(point: LoadPoint, measure: str) -> str:
    found = point.estimate(measure)
    if found is None:
        return "-"
    width = "" if found.half_width is None else f" ± {found.half_width:.3f}"
    return f"{found.mean:.3f}{width}"


def _mean(point: LoadPoint, measure: str, form: str) -> str:
    found = point.estimate(measure)
    return "-" if found is None else format(found.mean, form)


def to_data(point: LoadPoint) -> dict[str, Any]:
    """Return a point for JSON."""
    data: dict[str, Any] = {"system_load": point.system_load, "method": point.method}
    mixed, executed = is_mixed(point), is_executed(point)
    special = _MIXED * mixed + _EXECUTED * executed + _EXECUTED_MIXED * (mixed and executed)
    for measure in (*_ESTIMATES, *special):
        found = point.estimate(measure)
        data[measure] = found and {"mean": found.mean, "ci95": found.half_width}
    return data | {"outcomes": [asdict(outcome) for outcome in point.outcomes]}
