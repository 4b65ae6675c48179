"""What the simulating commands print: means over seeds, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

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


def is_executed(point: LoadPoint) -> bool:
    """Tell whether the streams were executed at true costs, with failures."""
    from dlopt.simulation import ExecutedOutcome

    return isinstance(point.outcomes[0], ExecutedOutcome)


def is_mixed(point: LoadPoint) -> bool:
    """Tell whether a method decided on reservations, too."""
    from dlopt.simulation import MixedOutcome

    return isinstance(point.outcomes[0], MixedOutcome)


def table(what: str, points: Sequence[LoadPoint]) -> Table:
    """Return a row a method and load."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    seeds = len(points[0].outcomes)
    title = f"{escape(what)}, {seeds} seed{'s' * (seeds > 1)}"
    table = Table(box=box.SIMPLE_HEAD, title=title, padding=(0, 1, 0, 0))
    mixed = any(map(is_mixed, points))
    heads = ["nominal\nload", "method", "reject ratio"]
    heads += ["reservation\nreject ratio", "total\nreject ratio"] * mixed
    heads += ["utilization", "deadline\nmisses", "queue\nmean"]
    heads += ["queue\nmax", "drain\ntime", "decisions\nper s", "realised\nload"]
    for head in heads:
        left = head == "method"
        table.add_column(head, justify="left" if left else "right", no_wrap=True)
    before = points[0].system_load
    for point in points:
        if point.system_load != before:
            table.add_section()
        before = point.system_load
        table.add_row(
            "-" if before is None else f"{before:g}",
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
    return table


def executed_table(points: Sequence[LoadPoint]) -> Table:
    """Return what became of promises and time, a row a method and load."""
    from rich import box
    from rich.table import Table

    from dlopt.simulation import ExecutedOutcome

    title = "executed at true costs, with failures"
    table = Table(box=box.SIMPLE_HEAD, title=title, padding=(0, 1, 0, 0))
    heads = ["nominal\nload", "method", "accepted", "promises broken\nby failures"]
    heads += ["promises broken\nby late ends", "node time\nlost", "load\ndropped"]
    heads += ["node time\nfreed early", "of it\nused"]
    for head in heads:
        table.add_column(head, justify="left" if head == "method" else "right", no_wrap=True)
    for point in points:
        outcomes = [one for one in point.outcomes if isinstance(one, ExecutedOutcome)]
        table.add_row(
            "-" if point.system_load is None else f"{point.system_load:g}",
            point.method,
            str(sum(one.accepted for one in outcomes)),
            str(sum(one.broken_by_failures for one in outcomes)),
            str(sum(one.broken_by_overruns for one in outcomes)),
            *(_mean(point, name, ".3g") for name in _EXECUTED[2:]),
        )
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
    special = _MIXED if is_mixed(point) else _EXECUTED if is_executed(point) else ()
    for measure in (*_ESTIMATES, *special):
        found = point.estimate(measure)
        data[measure] = found and {"mean": found.mean, "ci95": found.half_width}
    return data | {"outcomes": [asdict(outcome) for outcome in point.outcomes]}
