"""Gantt chart of one divisible load: the channel, then the nodes by ready time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from matplotlib.figure import Figure

from dlopt.arithmetic import Number, shown
from dlopt.errors import NothingToDrawError
from dlopt.plotting.bar_labels import bar_names, named_bar
from dlopt.plotting.gantt import Gantt
from dlopt.plotting.pages import Page
from dlopt.plotting.style import (
    ALARM,
    BLUE,
    BUSY,
    MANY_NODES,
    ORANGE,
    VIOLATION,
    Bar,
    BarStyle,
    ChartRow,
    TimeMark,
    brief,
    clean,
    node_labels,
    subtitle,
)
from dlopt.problems.iit import Chunk, Instance, Solution, objective
from dlopt.result import Violation

BUSY_UNUSED = BarStyle("busy-unused", BUSY.label, ("#F6F6F6",), "#DCDCDC", "/////", outline=0)
UNUSED = BarStyle("unused", "unused node", ("#FBFBFB",), "#CFCFCF", outline=0.5)
SUMMARY = BarStyle("summary", "", UNUSED.faces, UNUSED.edge, outline=0.5)
IDLE = BarStyle("idle", "inserted idle time", ("#FBF2A6",))
SENDING = BarStyle("transmission", "transmission", (ORANGE, "#F4C86A"))
RECEIVING = BarStyle("receive", "transmission", SENDING.faces)
SETUP_CM = BarStyle("setup-transmission", "transmission set-up", ("#8F5A00",))
COMPUTING = BarStyle("computation", "computation", (BLUE,))
COMPUTING_LOADS = replace(COMPUTING, label="computation, with its load")
SETUP_CP = BarStyle("setup-computation", "computation set-up", ("#00304D",))
DONE = BarStyle("done", "done", ("#E3EEF6",))


@dataclass(frozen=True, slots=True)
class _Times:
    """A chunk in floats: exact numbers end here, where they become places on paper."""

    node: int
    load: Number
    sent: float
    received: float
    begun: float
    done: float
    turn: int

    @classmethod
    def of(cls, chunk: Chunk, turn: int) -> _Times:
        return cls(
            chunk.node,
            chunk.load,
            float(chunk.transmission_start),
            float(chunk.transmission_end),
            float(chunk.computation_start),
            float(chunk.computation_end),
            turn,
        )


class DivisibleLoadChart:
    """The Gantt chart of one solution."""

    def __init__(
        self, instance: Instance, solution: Solution, page: Page, violations: Sequence[Violation]
    ) -> None:
        if not solution.chunks:
            raise NothingToDrawError("no schedule to draw: it has no chunk")
        self.instance, self.solution, self.violations = instance, solution, violations
        turns = sorted(solution.chunks, key=lambda c: (c.transmission_start, c.transmission_end))
        self.chunks = [_Times.of(chunk, turn) for turn, chunk in enumerate(turns)]
        self.ready = [float(time) for time in instance.ready_times]
        self.completion = max(chunk.done for chunk in self.chunks)
        self.by_node: dict[int, list[_Times]] = defaultdict(list)
        for chunk in self.chunks:
            self.by_node[chunk.node].append(chunk)
        self.nodes, self.left_out = self._nodes()
        self.names = dict(enumerate(bar_names(instance.cluster.node_names or ())))
        self.row = {node: row for row, node in enumerate(self.nodes, start=1)}
        self.left, self.right = self._span()
        # Rounding errors of floats and solvers are no idle time.
        self.instant = 1e-6 * (self.right - self.left)
        self.chart = Gantt(self._rows(), (self.left, self.right), self._axis(), page)

    def draw(self, note: str) -> Figure:
        """Draw the bars, kind by kind, and finish the chart."""
        chart, cluster = self.chart, self.instance.cluster
        chart.rule(0)
        chart.bars(BUSY, self._busy(used=True))
        chart.bars(BUSY_UNUSED, self._busy(used=False))
        chart.bars(IDLE, self._idle())
        chart.bars(SENDING, self._sending())
        chart.bars(RECEIVING, self._receiving())
        chart.bars(SETUP_CM, self._sending_setups(float(cluster.theta_cm)))
        chart.bars(COMPUTING if chart.thin else COMPUTING_LOADS, self._computing())
        chart.bars(SETUP_CP, self._computing_setups(float(cluster.theta_cp)))
        chart.bars(DONE, self._done())
        chart.bars(UNUSED, self._unused())
        chart.bars(SUMMARY, self._summary())
        chart.bars(VIOLATION, self._violation_bars())
        for mark in self._marks():
            chart.mark(mark)
        title = clean(self.instance.name) or "One divisible load"
        text, unit = self._subtitle(note), self.instance.units.time
        return chart.finish(title, text, unit)

    def _nodes(self) -> tuple[list[int], int]:
        """Return the nodes with a row of their own, by ready time, and the number of the others.

        Nodes that the cluster does not have, in an infeasible schedule, come last.
        """
        total = self.instance.cluster.nodes
        order = sorted(range(total), key=self.instance.ready_times.__getitem__)
        if total > MANY_NODES:
            order = [node for node in order if node in self.by_node]
        unknown = sorted(node for node in self.by_node if not 0 <= node < total)
        left_out = total - len(order)
        return order + unknown, left_out

    def _rows(self) -> list[ChartRow]:
        labels = node_labels(self.instance.cluster.node_names, self.nodes)
        rows = [ChartRow("channel", firm=True)]
        rows += [
            ChartRow(label, faint=node not in self.by_node)
            for node, label in zip(self.nodes, labels, strict=True)
        ]
        if self.left_out:
            rows.append(ChartRow("unused", firm=True, faint=True))
        return rows

    def _axis(self) -> str:
        return "nodes, in the order of their ready times" if len(self.nodes) > MANY_NODES else ""

    def _span(self) -> tuple[float, float]:
        """Return the range of the time axis, from 0 unless the chart would be mostly empty."""
        first = min(*self.ready, *(chunk.sent for chunk in self.chunks), self.completion)
        length = self.completion - first
        left = min(first, 0.0) if first <= length else first - length / 20
        last, deadline = self.completion, self.instance.absolute_deadline
        if deadline is not None and float(deadline) <= left + 2 * (last - left):
            last = max(last, float(deadline))
        return left, last + (last - left or 1.0) / 40

    def _ready(self, node: int) -> float:
        return self.ready[node] if 0 <= node < len(self.ready) else self.left

    def _busy(self, used: bool) -> Iterator[Bar]:
        for node, row in self.row.items():
            until = min(self._ready(node), self.completion)
            if until > self.left and used == (node in self.by_node):
                yield Bar(row, self.left, until)

    def _unused(self) -> Iterator[Bar]:
        for node, row in self.row.items():
            if node not in self.by_node and self._ready(node) < self.completion:
                yield Bar(row, self._ready(node), self.completion)

    def _summary(self) -> Iterator[Bar]:
        """Yield the bar of all nodes without a row of their own."""
        if self.left_out:
            text = f"{self.left_out:,} node{'s' * (self.left_out > 1)} unused"
            yield Bar(len(self.nodes) + 1, self.left, self.completion, text)

    def _idle(self) -> Iterator[Bar]:
        """Yield the inserted idle times of nodes: before their data, or before computing it."""
        for node, chunks in self.by_node.items():
            free = self._ready(node)
            for chunk in chunks:
                if chunk.sent - free > self.instant:
                    yield Bar(self.row[node], free, chunk.sent)
                if chunk.begun - chunk.received > self.instant:
                    yield Bar(self.row[node], chunk.received, chunk.begun)
                free = max(free, chunk.done)

    def _done(self) -> Iterator[Bar]:
        for node, chunks in self.by_node.items():
            end = max(chunk.done for chunk in chunks)
            if self.completion - end > self.instant:
                yield Bar(self.row[node], end, self.completion)

    def _sending(self) -> Iterator[Bar]:
        for chunk in self.chunks:
            bar = Bar(0, chunk.sent, chunk.received, str(chunk.node), chunk.turn)
            yield named_bar(bar, self.names[chunk.node]) if chunk.node in self.names else bar

    def _receiving(self) -> Iterator[Bar]:
        for chunk in self.chunks:
            yield Bar(self.row[chunk.node], chunk.sent, chunk.received, shade=chunk.turn)

    def _computing(self) -> Iterator[Bar]:
        for chunk in self.chunks:
            yield Bar(self.row[chunk.node], chunk.begun, chunk.done, brief(chunk.load))

    def _sending_setups(self, length: float) -> Iterator[Bar]:
        for chunk in self.chunks if length else ():
            end = min(chunk.sent + length, chunk.received)
            yield Bar(0, chunk.sent, end)
            yield Bar(self.row[chunk.node], chunk.sent, end)

    def _computing_setups(self, length: float) -> Iterator[Bar]:
        for chunk in self.chunks if length else ():
            yield Bar(self.row[chunk.node], chunk.begun, min(chunk.begun + length, chunk.done))

    def _violation_bars(self) -> Iterator[Bar]:
        """Yield the violations that have a place on the chart: a resource and an interval."""
        rows = {"channel": 0} | {f"node {node}": row for node, row in self.row.items()}
        for broken in self.violations:
            if broken.resource in rows and broken.start is not None and broken.end is not None:
                yield Bar(rows[broken.resource], float(broken.start), float(broken.end))

    def _marks(self) -> Iterator[TimeMark]:
        yield TimeMark(self.completion, f"completion {self.chart.instant(self.completion)}")
        deadline = self.instance.absolute_deadline
        if deadline is not None:
            beyond = " \N{RIGHTWARDS ARROW}" if float(deadline) > self.right else ""
            text = f"deadline {self.chart.instant(float(deadline))}{beyond}"
            yield TimeMark(float(deadline), text, ALARM, dashed=True)

    def _subtitle(self, note: str) -> str:
        """Return the value of every objective, exactly where that is short."""
        instance = self.instance
        used, total = objective(instance, self.solution, "nodes"), instance.cluster.nodes
        completion = objective(instance, self.solution, "completion")
        chunks = len(self.chunks)
        parts = [
            f"completion {shown(completion if instance.exact else float(completion))}",
            f"{used:,} of {total:,} nodes",
            f"load {shown(instance.load)} {clean(instance.units.load, 12)}".rstrip()
            + (f" in {chunks:,} chunks" if chunks > used else ""),
        ]
        return subtitle(parts, self.violations, note)
