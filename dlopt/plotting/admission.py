"""Gantt chart of a stream of divisible loads: windows of tasks, the channel, the nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from matplotlib.figure import Figure

from dlopt.arithmetic import FLOATING, Number, exact, shown
from dlopt.plotting.bar_labels import bar_names, named_bar
from dlopt.plotting.gantt import Gantt
from dlopt.plotting.pages import Page
from dlopt.plotting.style import (
    BLUE,
    BUSY,
    INK,
    MANY_NODES,
    ORANGE,
    REJECTED,
    VERMILLION,
    VIOLATION,
    Bar,
    BarStyle,
    ChartRow,
    TimeMark,
    clean,
    node_labels,
    short_names,
    subtitle,
)
from dlopt.plotting.utilization import Usage, draw_utilization, occupied
from dlopt.problems import multistage
from dlopt.problems.admission import Chunk, Failure, Instance, Solution, Trace, objective
from dlopt.result import Violation

MAX_TASK_ROWS = 24
"""With more tasks than this, they have no rows of their own."""

_DARK = (BLUE, "#009E73", "#CC79A7", "#56B4E9", "#7A5C00", "#5D3A9B")
_LIGHT = ("#BFDDF0", "#B8E5D7", "#F0D6E4", "#D3EBF9", "#E3D6AE", "#D9CCEB")

MOST_LANES = 8
"""Largest number of rows of the channel, for schedules with overlapping transmissions."""

WINDOW = BarStyle("window", "arrival to deadline, accepted", _LIGHT)
SENDING = BarStyle("transmission", "transmission", (ORANGE, "#F4C86A"))
OVERLAP = BarStyle(
    "overlap", "overlapping transmission", (ORANGE, "#F4C86A"), VERMILLION, "////", outline=0.5
)
COMPUTING = BarStyle("computation", "computation, one colour a task", _DARK)
DOWN = BarStyle("down", "node down", ("#BBBBBB",), "#6E6E6E", "xxxx")
LOST = BarStyle("lost", "lost or given up", ("none",), VERMILLION, "xxxx", outline=0.8)
PLANNED = BarStyle("planned", "planned", ("none",), INK, outline=1.1)


class StreamChart:
    """The Gantt chart of one solution.

    Parameters
    ----------
    instance, solution
        Of `admission`, or of a problem that has tasks and chunks like its own.
    page : Page
    violations : sequence of Violation
        Of the solution.
    """

    def __init__(
        self, instance: Any, solution: Any, page: Page, violations: Sequence[Violation] = ()
    ) -> None:
        self.instance, self.solution, self.page = instance, solution, page
        self.violations = violations
        self.shade = {task.id: number for number, task in enumerate(instance.tasks)}
        ids = [task.id for task in instance.tasks]
        self.names = dict(zip(ids, bar_names(ids), strict=True))
        rows_of = dict(zip(ids, short_names(ids, 14), strict=True))
        self.accepted = {d.task for d in solution.decisions if d.accepted}
        self.windows = instance.tasks if len(instance.tasks) <= MAX_TASK_ROWS else ()
        more = self.extra_rows()
        self.channel = len(self.windows) + len(more)
        self.span = self._span()
        self.sent = sorted(solution.chunks, key=lambda chunk: chunk.transmission_start)
        # What ends as the next one begins may overlap it by rounding.
        self.tolerance = (self.span[1] - self.span[0]) * FLOATING
        self.lane = assign_lanes(map(_sending, self.sent), self.tolerance, MOST_LANES)
        self.lanes = max(self.lane, default=0) + 1
        self.free = [float(instant) for instant in instance.free_times]
        strange = {c.node for c in solution.chunks} - set(range(instance.cluster.nodes))
        nodes = [*range(instance.cluster.nodes), *sorted(strange)]
        first = self.channel + self.lanes
        self.row = {node: first + index for index, node in enumerate(nodes)}
        rows = [
            ChartRow(f"task {rows_of[t.id]}", faint=t.id not in self.accepted) for t in self.windows
        ]
        rows += more
        rows.append(ChartRow("channel", firm=True))
        rows += [ChartRow("at once", firm=True, faint=True)] * (self.lanes - 1)
        rows += map(ChartRow, node_labels(instance.cluster.node_names, nodes))
        self.chart = Gantt(rows, self.span, "nodes" if len(nodes) > MANY_NODES else "", page)

    def draw(self, note: str) -> Figure:
        """Draw the bars, kind by kind, and finish the chart."""
        chart = self.chart
        title = clean(self.instance.name) or "A stream of divisible loads"
        text, unit = self._subtitle(note), self.instance.units.time
        if chart.is_crowded(len(self.solution.chunks)):
            return draw_utilization(self.page, self.usage(), self.span, title, text, unit)
        if self.channel:
            chart.rule(self.channel - 1)
        chart.rule(self.channel + self.lanes - 1)
        chart.bars(WINDOW, self._windows(accepted=True))
        chart.bars(REJECTED, self._windows(accepted=False))
        chart.bars(BUSY, self._busy())
        self.draw_extra(chart)
        chart.bars(SENDING, self._sending())
        chart.bars(OVERLAP, self._overlapping())
        chart.bars(COMPUTING, self._computing())
        self.draw_over(chart)
        chart.bars(VIOLATION, self._violation_bars())
        if float(self.instance.now) > self.span[0]:
            now = float(self.instance.now)
            chart.mark(TimeMark(now, f"now {chart.instant(now)}", INK, dashed=True))
        return chart.finish(title, text, unit)

    def usage(self) -> Usage:
        """Return what occupies the nodes and the channel over time, and when tasks are rejected."""
        nodes, sent = float(self.instance.cluster.nodes), [_sending(one) for one in self.sent]
        computed = [(float(c.computation_start), float(c.computation_end)) for c in self.sent]
        shares = {
            "nodes computing": occupied(computed, nodes),
            "nodes receiving": occupied(sent, nodes),
            "channel sending": occupied(sent),
        }
        rejected = [float(d.at) for d in self.solution.decisions if not d.accepted]
        return Usage(shares, {"tasks rejected": rejected})

    def extra_rows(self) -> list[ChartRow]:
        """Return rows between those of the tasks and the channel."""
        return []

    def extra_instants(self) -> list[float]:
        """Return further instants in the range of the time axis."""
        return []

    def draw_extra(self, chart: Gantt) -> None:
        """Draw further bars on nodes and channel, under the chunks."""

    def draw_over(self, chart: Gantt) -> None:
        """Draw further bars over the chunks."""

    def extra_statistics(self) -> list[str]:
        """Return further statistics for the subtitle."""
        return []

    def objective_value(self, name: str) -> Number:
        """Return an objective value of the solution."""
        return objective(self.instance, self.solution, name)

    def _span(self) -> tuple[float, float]:
        tasks, chunks = self.instance.tasks, self.solution.chunks
        instants = [float(task.arrival) for task in tasks] + self.extra_instants()
        instants += [
            float(time) for c in chunks for time in (c.transmission_start, c.computation_end)
        ]
        ends = [float(t.absolute_deadline) for t in self.windows] or [max(instants)]
        first, last = min(instants), max(*instants, *ends)
        return first, last + (last - first or 1.0) / 40

    def _windows(self, accepted: bool) -> Iterator[Bar]:
        missing = {
            broken.resource: broken.amount
            for broken in self.violations
            if broken.kind == "load-not-conserved"
        }
        unit = clean(self.instance.units.load, 12)
        for row, task in enumerate(self.windows):
            if (task.id in self.accepted) is accepted:
                start, end = float(task.arrival), float(task.absolute_deadline)
                text, left = f"load {shown(task.load, 4)}", missing.get(f"task {task.id}")
                text += f" {unit}" if unit else ""
                if self.instance.weights is not None:
                    text += f", weight {shown(task.weight, 4)}"
                if left is not None:
                    text += (
                        f", {shown(abs(exact(left)), 4)} {'missing' if left > 0 else 'too much'}"
                    )
                yield Bar(row, start, end, text, self.shade[task.id])

    def _busy(self) -> Iterator[Bar]:
        until = {self.row[node]: free for node, free in enumerate(self.free)}
        until[self.channel] = float(self.instance.channel_free)
        for row, instant in until.items():
            if instant > self.span[0]:
                yield Bar(row, self.span[0], min(instant, self.span[1]))

    def _sending(self) -> Iterator[Bar]:
        for turn, (chunk, lane) in enumerate(zip(self.sent, self.lane, strict=True)):
            if lane == 0:
                yield self._named(chunk, Bar(self.channel, *_sending(chunk), shade=turn))
            yield Bar(self.row[chunk.node], *_sending(chunk), shade=turn)

    def _overlapping(self) -> Iterator[Bar]:
        """Yield transmissions that overlap others, in rows of their own."""
        for turn, (chunk, lane) in enumerate(zip(self.sent, self.lane, strict=True)):
            if lane > 0:
                yield self._named(chunk, Bar(self.channel + lane, *_sending(chunk), shade=turn))

    def _computing(self) -> Iterator[Bar]:
        for chunk in self.sent:
            start, end = float(chunk.computation_start), float(chunk.computation_end)
            shade = self.shade.get(chunk.task, 0)
            yield self._named(chunk, Bar(self.row[chunk.node], start, end, shade=shade))

    def _named(self, chunk: Chunk, bar: Bar) -> Bar:
        return named_bar(bar, self.names.get(chunk.task) or bar_names([chunk.task])[0])

    def _violation_bars(self) -> Iterator[Bar]:
        """Yield the violations that have a place on the chart: a resource and an interval.

        Those of a task without an interval have its window. Overlapping ones are merged, so that
        their outlines do not cross out texts.
        """
        rows = {"channel": self.channel}
        rows |= {f"node {node}": row for node, row in self.row.items()}
        rows |= {f"task {task.id}": row for row, task in enumerate(self.windows)}
        windows = {
            f"task {task.id}": (task.arrival, task.absolute_deadline) for task in self.windows
        }
        bars = []
        for broken in self.violations:
            start, end = broken.start, broken.end
            if start is None and end is None:
                start, end = windows.get(broken.resource, (None, None))
            if broken.resource in rows and start is not None and end is not None:
                bars.append(Bar(rows[broken.resource], float(start), float(end)))
        bars.sort()
        joined: list[Bar] = []
        for bar in bars:
            last = joined[-1] if joined else None
            if last is not None and last.row == bar.row and bar.start <= last.end:
                joined[-1] = last._replace(end=max(last.end, bar.end))
            else:
                joined.append(bar)
        yield from joined

    def _misses(self) -> int:
        """Return how many tasks were accepted without a promise, and end late."""
        if not isinstance(self.instance, Instance):
            return 0
        return int(objective(self.instance, self.solution, "misses"))

    def _weight(self) -> Iterator[str]:
        """Yield the weight of accepted tasks, if weights differ."""
        if self.instance.weights is not None:
            yield f"weight {shown(self.objective_value('accepted-weight'))}"

    def _subtitle(self, note: str) -> str:
        utilization = float(self.objective_value("utilization"))
        parts = [
            f"{len(self.accepted):,} of {len(self.instance.tasks):,} tasks accepted",
            *([f"{misses:,} late"] if (misses := self._misses()) else []),
            *self.extra_statistics(),
            f"load {shown(self.objective_value('accepted-load'))}",
            *self._weight(),
            f"utilization {utilization:.1%}",
        ]
        return subtitle(parts, self.violations, note)


class ExecutedChart(StreamChart):
    """The Gantt chart of an executed trace, with what was planned.

    Parameters
    ----------
    instance, executed
        As of a `StreamChart`: when the executed chunks occupied channel and nodes.
    page : Page
    planned : Solution
    trace : Trace
    failures : sequence of Failure
    """

    def __init__(
        self,
        instance: Instance | multistage.Instance,
        executed: Solution | multistage.Solution,
        page: Page,
        planned: Solution | multistage.Solution,
        trace: Trace,
        failures: Sequence[Failure],
    ) -> None:
        self.planned, self.trace, self.failures = planned, trace, failures
        super().__init__(instance, executed, page)

    def extra_instants(self) -> list[float]:
        """Return when the plan ends."""
        ends = [float(chunk.computation_end) for chunk in self.planned.chunks]
        return [*super().extra_instants(), *ends]

    def extra_statistics(self) -> list[str]:
        """Return how many promises were broken."""
        count = self.broken_count()
        broken = [f"{count:,} promise{'s' * (count > 1)} broken"] * bool(count)
        return [*super().extra_statistics(), *broken]

    def broken_count(self) -> int:
        """Return how many promises were broken."""
        return len(self.trace.broken)

    def draw_extra(self, chart: Gantt) -> None:
        """Draw when nodes were down."""
        super().draw_extra(chart)
        last = self.span[1]
        chart.bars(
            DOWN,
            (
                Bar(self.row[one.node], float(one.begin), min(last, float(one.until or last)))
                for one in self.failures
                if one.begin < last and one.node in self.row
            ),
        )

    def draw_over(self, chart: Gantt) -> None:
        """Draw what was lost, and the plan."""
        chart.bars(LOST, self.lost_bars())
        chart.bars(PLANNED, self.planned_bars())

    def lost_bars(self) -> Iterator[Bar]:
        """Yield what was lost or given up."""
        for one in self.trace.chunks:
            end = one.broken_off if one.lost is None else one.lost
            if end is not None and end > one.transmission_start:
                yield Bar(self.row[one.node], float(one.transmission_start), float(end))

    def planned_bars(self) -> Iterator[Bar]:
        """Yield the plan."""
        for chunk in self.planned.chunks:
            yield Bar(self.channel, *_sending(chunk))
            if chunk.node in self.row:
                start, end = float(chunk.transmission_start), float(chunk.computation_end)
                yield Bar(self.row[chunk.node], start, end)


def assign_lanes(
    intervals: Iterable[tuple[float, float]], tolerance: float, most: int
) -> list[int]:
    """Return a row for each interval, so that none overlap as long as `most` rows suffice.

    Parameters
    ----------
    intervals : iterable of (float, float)
        By ascending start.
    tolerance : float
        Shorter overlaps are ignored.
    most : int
        Number of rows; intervals without a free row are put into the last one.

    Examples
    --------
    >>> assign_lanes([(0, 4), (1, 2), (2, 5), (4, 6)], 0.0, 9)
    [0, 1, 1, 0]
    """
    ends: list[float] = []
    found = []
    for start, end in intervals:
        free = (row for row, taken in enumerate(ends) if taken <= start + tolerance)
        row = next(free, min(len(ends), most - 1))
        ends[row : row + 1] = [max([end, *ends[row : row + 1]])]
        found.append(row)
    return found


def _sending(chunk: Chunk) -> tuple[float, float]:
    return float(chunk.transmission_start), float(chunk.transmission_end)
