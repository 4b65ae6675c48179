"""The Gantt chart of a stream of divisible loads: windows of tasks, the channel, the nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from matplotlib.figure import Figure

from dlopt.arithmetic import FLOATING, Number, exact, shown
from dlopt.errors import NotApplicableError
from dlopt.plotting.gantt import Gantt
from dlopt.plotting.style import (
    BLUE,
    BROKEN,
    FAINT,
    INK,
    ORANGE,
    VERMILLION,
    Bar,
    Look,
    Mark,
    Row,
    clean,
)
from dlopt.problems.admission import Chunk, Instance, Solution, objective
from dlopt.result import Violation

MOST_WINDOWS = 24
"""With more tasks than this, they have no row of their own."""

_DARK = (BLUE, "#009E73", "#CC79A7", "#56B4E9", "#7A5C00", "#5D3A9B")
_LIGHT = ("#BFDDF0", "#B8E5D7", "#F0D6E4", "#D3EBF9", "#E3D6AE", "#D9CCEB")

MOST_LANES = 8
"""As many rows the channel has at most, of a plan that sends several chunks at once."""

BUSY = Look("busy", "not yet ready", ("#E9E9E9",), "#B4B4B4", "/////", outline=0)
WINDOW = Look("window", "arrival to deadline, accepted", _LIGHT)
REJECTED = Look("rejected", "rejected", ("#FFFFFF",), "#C9A8A0", "/////", ink=FAINT, outline=0.5)
SENDING = Look("transmission", "transmission", (ORANGE, "#F4C86A"))
BESIDE = Look(
    "overlap", "transmission during another", (ORANGE, "#F4C86A"), VERMILLION, "////", outline=0.5
)
COMPUTING = Look("computation", "computation, one colour a task", _DARK, ink="#FFFFFF")


def draw(
    instance: Instance,
    solution: object,
    *,
    title: str | None = None,
    note: str = "",
    violations: Sequence[Violation] = (),
) -> Figure:
    """Draw the plan of a stream of tasks.

    Parameters
    ----------
    instance : Instance
    solution : Solution
        It need not be valid.
    title : str, optional
        Instead of the name of the instance.
    note : str, optional
        What made the plan; it stands under the title.
    violations : sequence of Violation
        To be outlined.

    Raises
    ------
    NotApplicableError
        If `solution` is no plan for this problem.
    """
    if not isinstance(solution, Solution):
        raise NotApplicableError(f"a {type(solution).__name__} is no plan of {instance.problem}")
    return Drawing(instance, solution).draw(title, note, violations)


class Drawing:
    """One plan on its way to a chart.

    Parameters
    ----------
    instance, solution
        Of `admission`, or of a problem that has tasks and chunks like its own.
    """

    def __init__(self, instance: Any, solution: Any) -> None:
        self.instance, self.solution = instance, solution
        self.shade = {task.id: number for number, task in enumerate(instance.tasks)}
        self.accepted = {d.task for d in solution.decisions if d.accepted}
        self.windows = instance.tasks if len(instance.tasks) <= MOST_WINDOWS else ()
        more = self.more_rows()
        self.channel = len(self.windows) + len(more)
        self.span = self._span()
        self.sent = sorted(solution.chunks, key=lambda chunk: chunk.transmission_start)
        # What ends as the next one begins may overlap it by rounding.
        self.apart = (self.span[1] - self.span[0]) * FLOATING
        self.lane = lanes([_sending(chunk) for chunk in self.sent], self.apart, MOST_LANES)
        self.lanes = max(self.lane, default=0) + 1
        self.free = [float(instant) for instant in instance.free_times]
        strange = {c.node for c in solution.chunks} - set(range(instance.cluster.nodes))
        nodes = [*range(instance.cluster.nodes), *sorted(strange)]
        first = self.channel + self.lanes
        self.row = {node: first + index for index, node in enumerate(nodes)}
        word = "" if len(nodes) > 40 else "node "
        rows = [
            Row(clean(f"task {t.id}", 16), faint=t.id not in self.accepted) for t in self.windows
        ]
        rows += more
        rows.append(Row("channel", firm=True))
        rows += [Row("at once", firm=True, faint=True)] * (self.lanes - 1)
        rows += [Row(f"{word}{node}") for node in nodes]
        self.chart = Gantt(rows, self.span, "nodes" if len(nodes) > 40 else "")

    def draw(self, title: str | None, note: str, violations: Sequence[Violation]) -> Figure:
        """Fill the chart, kind by kind, and finish it."""
        chart = self.chart
        if self.channel:
            chart.rule(self.channel - 1)
        chart.rule(self.channel + self.lanes - 1)
        chart.bars(WINDOW, self._windows(violations, accepted=True))
        chart.bars(REJECTED, self._windows(violations, accepted=False))
        chart.bars(BUSY, self._busy())
        self.draw_more(chart)
        chart.bars(SENDING, self._sending())
        chart.bars(BESIDE, self._beside())
        chart.bars(COMPUTING, self._computing())
        chart.bars(BROKEN, self._broken(violations))
        if float(self.instance.now) > self.span[0]:
            now = float(self.instance.now)
            chart.mark(Mark(now, f"now {chart.instant(now)}", INK, dashed=True))
        if title is None:
            title = self.instance.name or "A stream of divisible loads"
        units = clean(self.instance.units, 40)
        axis = f"time ({units})" if units else "time"
        return chart.finish(clean(title), self._subtitle(note, len(violations)), axis)

    def more_rows(self) -> list[Row]:
        """Return rows between those of the tasks and the channel."""
        return []

    def more_instants(self) -> list[float]:
        """Return what else the axis must reach."""
        return []

    def draw_more(self, chart: Gantt) -> None:
        """Draw what else holds nodes and channel, under the chunks."""

    def more_words(self) -> list[str]:
        """Return what else stands under the title."""
        return []

    def worth(self, name: str) -> Number:
        """Return what the plan is worth."""
        return objective(self.instance, self.solution, name)

    def _span(self) -> tuple[float, float]:
        tasks, chunks = self.instance.tasks, self.solution.chunks
        instants = [float(task.arrival) for task in tasks] + self.more_instants()
        instants += [
            float(time) for c in chunks for time in (c.transmission_start, c.computation_end)
        ]
        ends = [float(t.absolute_deadline) for t in self.windows] or [max(instants)]
        first, last = min(instants), max(*instants, *ends)
        return first, last + (last - first or 1.0) / 40

    def _windows(self, violations: Iterable[Violation], accepted: bool) -> Iterator[Bar]:
        missing = {v.resource: v.amount for v in violations if v.kind == "load-not-conserved"}
        for row, task in enumerate(self.windows):
            if (task.id in self.accepted) is accepted:
                start, end = float(task.arrival), float(task.absolute_deadline)
                text, left = f"load {shown(task.load, 4)}", missing.get(f"task {task.id}")
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
                yield Bar(self.channel, *_sending(chunk), clean(chunk.task, 8), turn)
            yield Bar(self.row[chunk.node], *_sending(chunk), shade=turn)

    def _beside(self) -> Iterator[Bar]:
        """Yield what is sent while the channel is in use, in rows of its own."""
        until: dict[int, float] = {}
        for turn, (chunk, lane) in enumerate(zip(self.sent, self.lane, strict=True)):
            if lane > 0:
                start, end = _sending(chunk)
                # Two names on one place could be read by nobody.
                name = clean(chunk.task, 8) if until.get(lane, start) <= start + self.apart else ""
                until[lane] = max(end, until.get(lane, end))
                yield Bar(self.channel + lane, start, end, name, turn)

    def _computing(self) -> Iterator[Bar]:
        for chunk in self.sent:
            start, end = float(chunk.computation_start), float(chunk.computation_end)
            shade = self.shade.get(chunk.task, 0)
            yield Bar(self.row[chunk.node], start, end, clean(chunk.task, 8), shade)

    def _broken(self, violations: Iterable[Violation]) -> Iterator[Bar]:
        """Yield the violations that have a place on the chart: a resource and an interval.

        Those of a task without one have its window. Those that overlap are one: the sides of many
        would cross out what is written there.
        """
        rows = {"channel": self.channel}
        rows |= {f"node {node}": row for node, row in self.row.items()}
        rows |= {f"task {task.id}": row for row, task in enumerate(self.windows)}
        windows = {
            f"task {task.id}": (task.arrival, task.absolute_deadline) for task in self.windows
        }
        bars = []
        for broken in violations:
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

    def _subtitle(self, note: str, broken: int) -> str:
        utilization = float(self.worth("utilization"))
        parts = [
            f"{len(self.accepted):,} of {len(self.instance.tasks):,} tasks accepted",
            *self.more_words(),
            f"load {shown(self.worth('accepted-load'))}",
            f"utilization {utilization:.1%}",
        ]
        if broken:
            parts.append(f"{broken:,} broken rule{'s' * (broken > 1)}")
        return " \N{MIDDLE DOT} ".join([*parts, *([clean(note, 40)] if note else [])])


def lanes(intervals: Iterable[tuple[float, float]], apart: float, most: int) -> list[int]:
    """Return a row for each interval, so that none overlap as long as `most` rows are enough.

    Parameters
    ----------
    intervals : iterable of (float, float)
        By ascending start.
    apart : float
        Shorter overlaps are none.
    most : int
        What finds no row goes to the last one.

    Examples
    --------
    >>> lanes([(0, 4), (1, 2), (2, 5), (4, 6)], 0.0, 9)
    [0, 1, 1, 0]
    """
    ends: list[float] = []
    found = []
    for start, end in intervals:
        free = (row for row, taken in enumerate(ends) if taken <= start + apart)
        row = next(free, min(len(ends), most - 1))
        ends[row : row + 1] = [max([end, *ends[row : row + 1]])]
        found.append(row)
    return found


def _sending(chunk: Chunk) -> tuple[float, float]:
    return float(chunk.transmission_start), float(chunk.transmission_end)
