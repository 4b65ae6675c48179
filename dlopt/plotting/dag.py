"""Gantt chart of task graphs with the critical path; small graphs are drawn below it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from dlopt.arithmetic import SOLVER, shown
from dlopt.errors import NothingToDrawError
from dlopt.plotting.bar_labels import bar_names, named_bar
from dlopt.plotting.critical_path import (
    NOTHING_RUNS,
    CriticalPath,
    PlacedTask,
    critical_path,
    placed_tasks,
)
from dlopt.plotting.grouped_gantt import (
    GroupedGantt,
    MachineGroup,
    time_span,
)
from dlopt.plotting.pages import Page
from dlopt.plotting.style import (
    ALARM,
    INK,
    MANY_COLOURS,
    VERMILLION,
    VIOLATION,
    Bar,
    BarStyle,
    ChartRow,
    TimeMark,
    clean,
    short_names,
    subtitle,
)
from dlopt.plotting.task_graph import CRITICAL, GraphPanel
from dlopt.plotting.utilization import Usage, draw_utilization, occupied
from dlopt.problems.dag import Instance, Paths, Solution, completions
from dlopt.result import Violation

MOST_GRAPHS = 12
"""With more graphs than this, they have no rows of their own."""
MAX_NAMED = 200
"""With more tasks than this, bars have no names."""
MOST_ARROWS = 40
"""With more transfers than this, only those of the critical path are drawn."""

TASK = BarStyle("task", "task", MANY_COLOURS, "#FFFFFF", outline=0.5)
TASKS = replace(TASK, label="task, one colour a graph")
NO_TIME = BarStyle("no-time", "task that takes no time", (INK,), INK, outline=1.0)
GRAPH = BarStyle("graph", "graph from arrival to completion", MANY_COLOURS, "#FFFFFF", outline=0.5)
CHAIN = BarStyle("critical", "critical path", ("none",), CRITICAL, outline=1.4)
_SENT = "#7A7A7A"
_HEAD = 0.01
"""Part of an arrow that gives its head the direction."""

_RESOURCE = re.compile(r"(?:(?:task|edge \d+ ->) (\d+) of )?graph (\d+)|machine (\d+)")


class TaskGraphChart:
    """The Gantt chart of one solution."""

    def __init__(
        self, instance: Instance, solution: Solution, page: Page, violations: Sequence[Violation]
    ) -> None:
        self.instance, self.solution, self.page = instance, solution, page
        self.violations = violations
        self.runs = runs = placed_tasks(instance, solution)
        if not runs:
            raise NothingToDrawError("no schedule to draw: it places no task")
        self.paths = Paths(instance.network, instance.machines, float)
        self.known: dict[tuple[int, int], list[PlacedTask]] = defaultdict(list)
        for run in runs:
            self.known[run.graph, run.task].append(run)
        self.done = [float(instant) for instant in completions(instance, solution)]
        self.makespan = max(self.done)
        # What waits for what is known of valid schedules only.
        self.chain = NOTHING_RUNS if violations else critical_path(instance, runs)
        graphs = instance.graphs
        self.due = [
            None if graph.absolute_deadline is None else float(graph.absolute_deadline)
            for graph in graphs
        ]
        self.rows = graphs if 1 < len(graphs) <= MOST_GRAPHS else ()
        instants = [instant for run in runs for instant in (run.start, run.end)]
        instants += [float(graph.arrival) for graph in graphs] + self.done
        self.span = time_span(instants, (due for due in self.due if due is not None))
        names = short_names([graph.id for graph in self.rows], 14)
        heads = [ChartRow(f"graph {name}") for name in names]
        names = [machine.id for machine in instance.machines]
        groups = list(_lans(instance))
        self.chart = GroupedGantt(heads, names, groups, self.span, page=page)
        self.transfers = list(self._transfers())
        critical = self.chain.edges
        self.bold = [
            (source, target, there)
            for source, target, there in self.transfers
            if (source.graph, source.task, target.task) in critical
        ]

    def draw(self, note: str) -> Figure:
        """Draw the bars, kind by kind, and finish the chart with small graphs below."""
        chart, unit = self.chart, self.instance.units.time
        title = clean(self.instance.name) or "Task graphs"
        text = subtitle(self._statistics(), self.violations, note)
        if chart.is_crowded(len(self.runs)):
            machines = float(len(self.instance.machines))
            windows = [(run.start, run.end) for run in self.runs]
            usage = Usage({"machines": occupied(windows, machines)})
            return draw_utilization(self.page, usage, self.span, title, text, unit)
        faces = TASK.faces[: len(self.instance.graphs)]
        graphs = list(self._graphs())
        chart.bars(replace(GRAPH, faces=faces), (bar._replace(text="") for bar in graphs))
        for bar in graphs:
            due = self.due[bar.row]
            chart.caption(bar, [self.makespan] if due is None else [self.makespan, due])
        tasks = TASKS if len(self.instance.graphs) > 1 else TASK
        chart.bars(replace(tasks, faces=faces), self._tasks())
        chart.bars(NO_TIME, (self._bar(run) for run in self.runs if run.end == run.start))
        # Strong outlines of many short bars would leave nothing to see of them.
        outline = CHAIN.outline if len(self.runs) <= MAX_NAMED else 0.6
        chain = replace(CHAIN, outline=outline)
        chart.bars(chain, (self._bar(run) for run in self.chain.runs))
        chart.bars(VIOLATION, self._violation_bars())
        self._arrows()
        chart.threads("gateway", "transfer of input or output", self._home_transfers(), _SENT)
        deadlines = [
            Bar(row, due, due)
            for row, due in enumerate(self.due[: len(self.rows)])
            if due is not None
        ]
        chart.ticks("deadline", "deadline", deadlines, VERMILLION)
        for mark in self._marks():
            chart.mark(mark)
        figure = chart.finish(title, text, unit)
        critical = {(run.graph, run.task) for run in self.chain.runs}
        edges, faces, width = self.chain.edges, TASK.faces, self.page.width
        panel = GraphPanel(self.instance, edges, critical, faces, width)
        if panel.fits and self.page.ax is None:
            panel.below(figure, chart.left, chart.foot)
        return figure

    def _bar(self, run: PlacedTask) -> Bar:
        return Bar(self.chart.row[run.machine], run.start, run.end, shade=run.graph)

    def _tasks(self) -> Iterator[Bar]:
        named = len(self.runs) <= MAX_NAMED
        names = [bar_names([task.id for task in g.tasks]) for g in self.instance.graphs]
        for run in self.runs:
            if run.end > run.start:
                bar = self._bar(run)
                yield named_bar(bar, names[run.graph][run.task]) if named else bar

    def _graphs(self) -> Iterator[Bar]:
        for at, graph in enumerate(self.rows):
            text = f"complete {self.chart.instant(self.done[at])}"
            due = self.due[at]
            if due is not None and self.done[at] > due:
                text += f", {self.chart.instant(self.done[at] - due)} late"
            yield Bar(at, float(graph.arrival), self.done[at], text, at)

    def _transfers(self) -> Iterator[tuple[PlacedTask, PlacedTask, float]]:
        """Yield the transfers between machines: source, target, arrival."""
        for at, graph in enumerate(self.instance.graphs):
            for edge in graph.edges:
                sources, targets = self.known[at, edge.source], self.known[at, edge.target]
                if sources and targets:
                    source, target = sources[0], targets[0]
                    sent = self.paths.transfer(edge.data, source.machine, target.machine)
                    if source.machine != target.machine or sent > 0:
                        yield source, target, source.end + float(sent)

    def _arrows(self) -> None:
        """Draw the transfers if they are few, else those of the critical path."""
        few = len(self.transfers) <= MOST_ARROWS
        for source, target, there in self.transfers if few else self.bold:
            self._arrow(source, target, there, (source, target, there) in self.bold)
        others = len(self.transfers) - len(self.bold)
        if few and others:
            self.chart.explain("transfer", _SENT, 0.7)
        if self.bold:
            omitted = "" if few or not others else f"; {others:,} others not drawn"
            self.chart.explain(f"transfer on the critical path{omitted}", CRITICAL, 1.3)

    def _arrow(self, source: PlacedTask, target: PlacedTask, there: float, bold: bool) -> None:
        """Draw an arrow from the bar of one task to the row of another."""
        chart = self.chart
        one, other = chart.row[source.machine], chart.row[target.machine]
        if one == other:
            low = float(chart.bottoms[one] - chart.gaps[one] / 4)
            ends = (source.end, low), (there, low)
        else:
            first = chart.bottoms[one] - chart.gaps[one] / 2
            last = chart.tops[other] + chart.gaps[other] / 2
            if other < one:
                first = chart.tops[one] + chart.gaps[one] / 2
                last = chart.bottoms[other] - chart.gaps[other] / 2
            ends = (source.end, float(first)), (there, float(last))
        strong = bold and len(self.runs) <= MAX_NAMED
        # A line that matters is over the bars, others under them: they would cross them out. Heads
        # are over what they point at.
        name, order = ("critical-transfer", 1.7) if bold else ("transfer", 0.9)
        (left, low), (right, high) = ends
        near = right - _HEAD * (right - left), high - _HEAD * (high - low)
        for begin, style, gid, zorder in (
            (ends[0], "-", name, order),
            (near, "-|>", f"{name}-head", max(order, 1.65)),
        ):
            chart.axes.add_patch(
                FancyArrowPatch(
                    begin,
                    ends[1],
                    arrowstyle=style,
                    mutation_scale=7 if strong else 5,
                    shrinkA=0,
                    shrinkB=0,
                    color=CRITICAL if bold else _SENT,
                    linewidth=1.3 if strong else 0.7,
                    zorder=zorder,
                    gid=gid,
                )
            )

    def _home_transfers(self) -> Iterator[Bar]:
        """Yield the transfers of input and output of graphs with a home."""
        row = self.chart.row
        for at, graph in enumerate(self.instance.graphs):
            if graph.lan is None:
                continue
            for tasks, inward in ((graph.entries, True), (graph.exits, False)):
                for run in (run for task in tasks for run in self.known[at, task][:1]):
                    way = self.paths.inbound if inward else self.paths.outbound
                    latency, unit = (
                        way(graph.lan, run.machine) if inward else way(run.machine, graph.lan)
                    )
                    start = float(graph.arrival) if inward else run.end
                    size = graph.input if inward else graph.output
                    end = start + float(latency + float(size) * unit)
                    if end > start:
                        yield Bar(row[run.machine], start, end)

    def _marks(self) -> Iterator[TimeMark]:
        yield TimeMark(self.makespan, f"makespan {self.chart.instant(self.makespan)}")
        if len(self.due) == 1 and self.due[0] is not None:
            due = self.due[0]
            beyond = " \N{RIGHTWARDS ARROW}" if due > self.chart.span[1] else ""
            text = f"deadline {self.chart.instant(due)}{beyond}"
            yield TimeMark(due, text, ALARM, dashed=True)

    def _violation_bars(self) -> Iterator[Bar]:
        """Yield the violations that have a place: an interval on a machine, a task, or a graph.

        Those of tasks are outlined with the task, and with the time by which it starts too early.
        """
        seen = set()
        for broken in self.violations:
            found = _RESOURCE.fullmatch(broken.resource)
            if found is None:
                continue
            task, graph, machine = (None if part is None else int(part) for part in found.groups())
            start, end = broken.start, broken.end
            if machine in self.chart.row and start is not None and end is not None:
                assert machine is not None
                seen.add(Bar(self.chart.row[machine], float(start), float(end)))
            elif graph is not None and task is None and graph < len(self.rows):
                seen.add(Bar(graph, float(self.rows[graph].arrival), self.done[graph]))
            elif task is not None and graph is not None:
                for run in self.known[graph, task]:
                    last = run.end if end is None else max(run.end, float(end))
                    seen.add(Bar(self.chart.row[run.machine], run.start, last))
        yield from sorted(seen)

    def _statistics(self) -> Iterator[str]:
        instance = self.instance
        total = sum(len(graph.tasks) for graph in instance.graphs)
        if len(self.known_tasks()) < total:
            yield f"{len(self.known_tasks()):,} of {total:,} tasks"
        else:
            yield f"{total:,} task{'s' * (total > 1)}"
        late = sum(
            due is not None and end > due for due, end in zip(self.due, self.done, strict=True)
        )
        if instance.absolute_deadlines is not None:
            yield (
                f"{late:,} of {len(self.due):,} graphs late"
                if len(self.due) > 1
                else ("late" if late else "in time")
            )
        if self.chain.runs:
            yield self._critical_path_text(self.chain)
        if len(self.transfers) > MOST_ARROWS and not self.bold:
            yield f"{len(self.transfers):,} transfers not drawn"

    def _critical_path_text(self, chain: CriticalPath) -> str:
        spent = [(chain.running, "running"), (chain.sending, "sending"), (chain.idle, "idle")]
        parts = [
            f"{shown(time, 4)} {word}" for time, word in spent if time > SOLVER * self.makespan
        ]
        begin = chain.runs[0].start if not chain.constraints else chain.constraints[0].left
        if begin > SOLVER * self.makespan:
            parts.insert(0, f"from {self.chart.instant(begin)} on")
        return "critical path: " + ", ".join(parts or ["takes no time"])

    def known_tasks(self) -> list[tuple[int, int]]:
        """Return the tasks that run."""
        return [task for task, runs in self.known.items() if runs]


def _lans(instance: Instance) -> Iterator[MachineGroup]:
    """Yield the machines LAN by LAN."""
    lans: dict[int | None, list[int]] = defaultdict(list)
    for index, machine in enumerate(instance.machines):
        lans[machine.lan].append(index)
    for lan, machines in sorted(lans.items(), key=lambda item: -1 if item[0] is None else item[0]):
        name = "" if lan is None else instance.network.lans[lan].id or str(lan)
        yield MachineGroup(f"LAN {name}" if name else "", machines)
