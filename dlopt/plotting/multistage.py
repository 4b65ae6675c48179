"""Gantt chart of divisible loads around reservations.

Reservations occupy nodes and channel: their I/O is distinguished from the rest, and a line marks
the instant when the channel is free again, which is the end of a stage. The panel below shows how
much of a task could be completed by each instant, and how much is required by its deadline.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from matplotlib.lines import Line2D

from dlopt.arithmetic import Number, shown
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.models.multistage.single_task_capacity import capacity_by_deadline
from dlopt.plotting.admission import (
    COMPUTING,
    MAX_TASK_ROWS,
    ExecutedChart,
    StreamChart,
)
from dlopt.plotting.axis_labels import with_unit
from dlopt.plotting.bar_labels import bar_names, named_bar
from dlopt.plotting.gantt import Gantt
from dlopt.plotting.pages import Page
from dlopt.plotting.style import (
    FAINT,
    REJECTED,
    Bar,
    BarStyle,
    ChartRow,
    TimeMark,
    short_names,
)
from dlopt.plotting.utilization import Usage, occupied
from dlopt.problems.multistage import (
    Failure,
    Grant,
    Instance,
    Reservation,
    Solution,
    Task,
    Trace,
    objective,
)
from dlopt.problems.multistage.trace import occupancy
from dlopt.result import Violation

IO = BarStyle("reserved-io", "reserved, with the channel", ("#8C8C8C",), "#5A5A5A", outline=0.5)
HELD = BarStyle("reserved", "reserved", ("#C9C9C9",), "#9A9A9A", outline=0.5)
REFUSED = replace(REJECTED, name="refused")
MOST_STAGES = 12
"""With more reservations than this, no lines are drawn at the ends of stages."""
HEADING = "load that a task could do alone by then; dot: its load (ring: rejected)"
MOST_CURVES = len(COMPUTING.faces)
"""Largest number of tasks with a curve: one for each colour."""


class MixedStreamChart(StreamChart):
    """The Gantt chart of one solution with its reservations."""

    def __init__(
        self,
        instance: Instance,
        solution: Solution,
        page: Page,
        violations: Sequence[Violation] = (),
    ) -> None:
        granted = {grant.reservation: grant for grant in solution.grants if grant.accepted}
        self.wanted = instance.reservations
        self.rows = self.wanted if len(self.wanted) <= MAX_TASK_ROWS else ()
        self.held = [(one, granted[one.id].nodes) for one in self.wanted if one.id in granted]
        self.granted = set(granted)
        super().__init__(instance, solution, page, violations)

    def extra_rows(self) -> list[ChartRow]:
        """Return a row per reservation."""
        names = short_names([one.id for one in self.rows], 14)
        return [
            ChartRow(f"reservation {name}", faint=one.id not in self.granted)
            for one, name in zip(self.rows, names, strict=True)
        ]

    def extra_instants(self) -> list[float]:
        """Return the ends of reservations."""
        return [float(instant) for one in self.wanted for instant in (one.start, one.end)]

    def extra_statistics(self) -> list[str]:
        """Return the number of accepted reservations."""
        wanted = len(self.wanted)
        return [f"{len(self.held):,} of {wanted:,} reservation{'s' * (wanted != 1)}"] * bool(wanted)

    def objective_value(self, name: str) -> Number:
        """Return an objective value of the solution."""
        return objective(self.instance, self.solution, name)

    def draw_extra(self, chart: Gantt) -> None:
        """Draw the reservations, and the ends of stages."""
        chart.bars(REFUSED, self._windows_of(granted=False))
        chart.bars(IO, self._blocks(io=True))
        chart.bars(HELD, self._blocks(io=False))
        ends = sorted({float(one.channel_end) for one, _ in self.held})
        for end in ends if len(ends) <= MOST_STAGES else ():
            chart.mark(TimeMark(end, "", FAINT, dashed=True, under=True, legend="end of a stage"))
        tasks = self._tasks_with_curve()
        # The later ones are thinner: where curves fall together, all of them are seen.
        widths = [1.4 + 0.5 * later for later in reversed(range(len(tasks)))]
        looks = zip(tasks, COMPUTING.faces, widths, strict=False)
        curves = [line for look in looks for line in self._capacity(*look)]
        if curves:
            chart.curves(HEADING, curves, with_unit("load", self.instance.units.load))

    def usage(self) -> Usage:
        """Return what the base class returns, and the reserved nodes."""
        usage = super().usage()
        windows = [(float(one.start), float(one.end)) for one, nodes in self.held for _ in nodes]
        reserved = {"nodes reserved": occupied(windows, float(self.instance.cluster.nodes))}
        return usage._replace(shares={**usage.shares, **reserved})

    def _tasks_with_curve(self) -> Sequence[Task]:
        """Return the tasks with a curve: all if they are few, else the first rejected ones."""
        if len(self.windows) <= MOST_CURVES:
            tasks: Sequence[Task] = self.windows
            return tasks
        return [task for task in self.windows if task.id not in self.accepted][:MOST_CURVES]

    def _capacity(self, task: Task, colour: str, width: float) -> Iterator[Line2D]:
        """Yield the curve of a task, unless the reservations are infeasible."""
        try:
            corners = capacity_by_deadline(self.instance, task.id, self.solution.grants)
        except (InvalidInstanceError, NotApplicableError):
            return
        stream = self.instance.stream
        assert stream is not None  # there is a task
        wanted, (end, most) = stream.remaining[task.id], corners[-1]
        ring = (float(task.absolute_deadline), float(wanted))
        name, by = self.names[task.id].full, self.chart.instant(float(end))
        yield Line2D(
            [*(float(instant) for instant, _ in corners), math.nan, ring[0]],
            [*(float(load) for _, load in corners), math.nan, ring[1]],
            color=colour,
            linewidth=width,
            marker="o",
            markevery=[len(corners) + 1],
            markersize=6,
            markerfacecolor=colour if task.id in self.accepted else "#FFFFFF",
            clip_on=False,
            zorder=2,
            gid=f"capacity-{name}",
            label=f"task {name}: up to {shown(most, 4)} by {by}, load {shown(wanted, 4)}",
        )

    def _windows_of(self, granted: bool) -> Iterator[Bar]:
        first = len(self.windows)
        for row, one in enumerate(self.rows, start=first):
            if (one.id in self.granted) is granted:
                words = f"{one.count} node{'s' * (one.count > 1)}"
                yield Bar(row, float(one.start), float(one.end), words)

    def _blocks(self, io: bool) -> Iterator[Bar]:
        """Yield the part of each reservation with the channel, or the part without."""
        row_of = {one.id: row for row, one in enumerate(self.rows, start=len(self.windows))}
        ids = [one.id for one in self.wanted]
        names = dict(zip(ids, bar_names(ids), strict=True))
        for one, nodes in self.held:
            start, free, end = map(float, (one.start, one.channel_end, one.end))
            begin, stop = (start, free) if io else (free, end)
            if begin >= stop:
                continue
            rows = [self.row[node] for node in nodes if node in self.row]
            rows += [row_of[one.id]] if one.id in row_of else []
            rows += [self.channel] * io
            for row in rows:
                yield named_bar(Bar(row, begin, stop), names[one.id])


class ExecutedMixedChart(ExecutedChart, MixedStreamChart):
    """The Gantt chart of an executed trace with reservations, and of what was planned.

    Parameters
    ----------
    instance : Instance
    trace : Trace
    page : Page
    planned : Solution
    failures : sequence of Failure
    """

    def __init__(
        self,
        instance: Instance,
        trace: Trace,
        page: Page,
        planned: Solution,
        failures: Sequence[Failure],
    ) -> None:
        self.promised = {one.id: one for one in instance.reservations}
        wanted, grants = executed_reservations(instance, trace)
        executed = replace(occupancy(trace), grants=grants)
        shown_instance = replace(instance, reservations=wanted)
        super().__init__(shown_instance, executed, page, planned, trace, failures)
        self.mixed_trace, self.mixed_plan = trace, planned

    def broken_count(self) -> int:
        """Return how many promises to tasks and reservations were broken."""
        return len(self.mixed_trace.broken) + len(self.mixed_trace.broken_reservations)

    def lost_bars(self) -> Iterator[Bar]:
        """Yield what was lost or given up, reservations among it."""
        yield from super().lost_bars()
        names = {one.reservation for one in self.mixed_trace.broken_reservations}
        for row, wanted in enumerate(self.rows, start=len(self.windows)):
            if wanted.id in names:
                yield Bar(row, float(wanted.start), float(wanted.end))
        for one in self.mixed_trace.reservations:
            if one.lost is not None and one.start < one.lost:
                yield from self._node_bars(one.nodes, one.start, one.lost)

    def planned_bars(self) -> Iterator[Bar]:
        """Yield the plan, with the reservations as they were promised first."""
        yield from super().planned_bars()
        for grant in self.mixed_plan.grants:
            one = self.promised.get(grant.reservation)
            if one is not None and grant.accepted:
                yield from self._node_bars(grant.nodes, one.start, one.end)

    def _node_bars(self, nodes: Iterable[int], start: Number, end: Number) -> Iterator[Bar]:
        """Yield a bar on each node that has a row."""
        for node in nodes:
            if node in self.row:
                yield Bar(self.row[node], float(start), float(end))

    def _tasks_with_curve(self) -> Sequence[Task]:
        """Return none: what a task could do is known of plans."""
        return ()


def executed_reservations(
    instance: Instance, trace: Trace
) -> tuple[tuple[Reservation, ...], tuple[Grant, ...]]:
    """Return reservations as they were executed, and the decisions on those that were.

    Of those that were not, the windows are those that were asked for.
    """
    executed = {one.reservation: one for one in trace.reservations}
    wanted, grants = [], []
    for one in instance.reservations:
        used = executed.get(one.id)
        end = None if used is None else used.end if used.lost is None else used.lost
        if used is None or end is None or end <= used.start:
            wanted.append(one)
            continue
        io_end = min(used.io_end, end)
        times = replace(one, start=used.start, end=end, io_end=io_end, io_ratio=None)
        wanted.append(times)
        grants.append(Grant(one.id, True, one.arrival, used.nodes))
    return tuple(wanted), tuple(grants)
