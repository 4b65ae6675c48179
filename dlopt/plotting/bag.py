"""Gantt chart of independent tasks: windows of tasks, then machines by site."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from matplotlib.figure import Figure

from dlopt.arithmetic import shown
from dlopt.plotting.bar_labels import bar_names, named_bar
from dlopt.plotting.grouped_gantt import (
    GroupedGantt,
    MachineGroup,
    time_span,
)
from dlopt.plotting.pages import Page
from dlopt.plotting.style import (
    BUSY,
    REJECTED,
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
from dlopt.plotting.utilization import Usage, draw_utilization, occupied
from dlopt.problems.bag import Instance, Solution, objective, transfer_times
from dlopt.problems.bag.data import PRIORITIES
from dlopt.result import Violation

MAX_TASK_ROWS = 24
"""With more tasks than this, they have no rows of their own."""
MAX_NAMED = 200
"""With more tasks than this, bars have no names."""

WINDOW = BarStyle("window", "from release to deadline", ("#E6E6E6",), "#FFFFFF", outline=0.5)
DROPPED = replace(REJECTED, name="dropped", label="dropped")
PLAIN = BarStyle("task", "task", ("#7DB8DC",), "#FFFFFF", outline=0.5)
CLASSES = (
    BarStyle("critical", "critical", ("#F2B84B",), "#FFFFFF", outline=0.5),
    BarStyle("firm", "firm", ("#7DB8DC",), "#FFFFFF", outline=0.5),
    BarStyle("soft", "soft", ("#C6D67E",), "#FFFFFF", outline=0.5),
)
"""In the order of `PRIORITIES`."""
LATE = BarStyle("late", "late", ("none",), "#5A5A5A", "//", outline=1.0)
_SENT = "#7A7A7A"


class PlacedTask(NamedTuple):
    """A placement in floats; `task` is an index."""

    task: int
    machine: int
    start: float
    end: float
    late: bool


class BagChart:
    """The Gantt chart of one solution."""

    def __init__(
        self, instance: Instance, solution: Solution, page: Page, violations: Sequence[Violation]
    ) -> None:
        self.instance, self.solution, self.page = instance, solution, page
        self.violations = violations
        self.tasks, self.machines = instance.all_tasks, instance.all_machines
        number = {task.id: index for index, task in enumerate(self.tasks)}
        self.runs = [
            PlacedTask(number[one.task], one.machine, float(one.start), float(one.end), one.late)
            for one in solution.placements
            if one.task in number and 0 <= one.machine < len(self.machines)
        ]
        self.of: dict[int, list[PlacedTask]] = defaultdict(list)
        for run in self.runs:
            self.of[run.task].append(run)
        self.due = [
            None if task.absolute_deadline is None else float(task.absolute_deadline)
            for task in self.tasks
        ]
        self.absent = [index for index in range(len(self.tasks)) if index not in self.of]
        released = {float(task.release) for task in self.tasks}
        telling = bool(instance.deadlines) or len(released) > 1
        self.windows = self.tasks if telling and len(self.tasks) <= MAX_TASK_ROWS else ()
        self.sent = {run: self._input_arrival(run) for run in self.runs}
        instants = [instant for run in self.runs for instant in (run.start, run.end)]
        instants += [*released, *(float(machine.ready) for machine in self.machines)]
        if len(set(instants)) == 1:  # nothing runs
            instants += [due for due in self.due if due is not None]
        self.span = time_span(instants, (due for due in self.due if due is not None))
        names = short_names([task.id for task in self.windows], 15)
        heads = [
            ChartRow(f"task {name}", faint=index not in self.of) for index, name in enumerate(names)
        ]
        tails = (
            [] if self.windows or not self.absent else [ChartRow("dropped", firm=True, faint=True)]
        )
        names = [machine.id for machine in self.machines]
        groups = list(_sites(instance))
        self.chart = GroupedGantt(heads, names, groups, self.span, tails, page=page)

    def draw(self, note: str) -> Figure:
        """Draw the bars, kind by kind, and finish the chart."""
        chart, unit = self.chart, self.instance.units.time
        title = clean(self.instance.name) or "Independent tasks"
        text = subtitle(self._statistics(), self.violations, note)
        if chart.is_crowded(len(self.runs)):
            return draw_utilization(self.page, self.usage(), self.span, title, text, unit)
        window = WINDOW if self.instance.deadlines else replace(WINDOW, label="from release on")
        chart.bars(window, self._windows(run=True))
        chart.bars(DROPPED, self._windows(run=False))
        chart.bars(BUSY, self._busy())
        several = len({task.priority for task in self.tasks}) > 1
        for look, priority in zip(CLASSES, PRIORITIES, strict=True) if several else ():
            chart.bars(look, self._tasks(priority))
        if not several:
            chart.bars(PLAIN, self._tasks(self.tasks[0].priority))
        self._places()
        chart.bars(LATE, self._late())
        chart.bars(VIOLATION, self._violation_bars())
        chart.threads("input", "input transfer", self._inputs(), _SENT)
        deadlines = [
            Bar(row, due, due)
            for row, due in enumerate(self.due[: len(self.windows)])
            if due is not None
        ]
        chart.ticks("deadline", "deadline", deadlines, VERMILLION)
        if not self.windows:
            self._list_dropped()
        makespan = self._makespan()
        if makespan is not None:
            chart.mark(TimeMark(makespan, f"makespan {chart.instant(makespan)}"))
        return chart.finish(title, text, unit)

    def usage(self) -> Usage:
        """Return what occupies the machines over time."""
        machines, windows = float(len(self.machines)), defaultdict(list)
        for run in self.runs:
            windows[self.tasks[run.task].priority].append((run.start, run.end))
        several = len(windows) > 1
        return Usage(
            {
                f"machines, {priority} tasks" if several else "machines": occupied(
                    windows[priority], machines
                )
                for priority in PRIORITIES
                if priority in windows
            }
        )

    def _makespan(self) -> float | None:
        """Return the makespan, if there are no deadlines."""
        ends = [run.end for run in self.runs if self.instance.without_deadlines]
        return max(ends, default=None)

    def _input_arrival(self, run: PlacedTask) -> float:
        """Return when the input of a task arrives at the site where it runs."""
        task, site = self.tasks[run.task], self.machines[run.machine].site
        if site == task.site:
            return float(task.release)
        return float(task.release) + float(
            transfer_times(self.instance, task.site, task.input)[site]
        )

    def _windows(self, run: bool) -> Iterator[Bar]:
        for row, task in enumerate(self.windows):
            if (row in self.of) is run:
                due, end = self.due[row], self.chart.span[1]
                end = end if due is None else min(due, end)
                yield Bar(row, float(task.release), end, "" if run else "dropped")

    def _busy(self) -> Iterator[Bar]:
        first = self.chart.span[0]
        for index, machine in enumerate(self.machines):
            if machine.ready > first:
                yield Bar(self.chart.row[index], first, float(machine.ready))

    def _tasks(self, priority: str) -> Iterator[Bar]:
        """Yield the tasks of a priority class on their machines, and in their own rows."""
        named = len(self.runs) <= MAX_NAMED
        names = bar_names([task.id for task in self.tasks])
        for run in self.runs:
            if self.tasks[run.task].priority == priority:
                bar = Bar(self.chart.row[run.machine], run.start, run.end)
                yield named_bar(bar, names[run.task]) if named else bar
                if self.windows:
                    yield Bar(run.task, run.start, run.end)

    def _places(self) -> None:
        """Write the machines of tasks into their rows."""
        last = self._makespan()
        names = short_names([machine.id for machine in self.machines], 12)
        for run in self.runs if self.windows and len(self.machines) > 1 else ():
            if len(self.of[run.task]) == 1:
                lines = [line for line in (self.due[run.task], last) if line is not None]
                name = names[run.machine]
                self.chart.caption(Bar(run.task, run.start, run.end, name), lines)

    def _late(self) -> Iterator[Bar]:
        for run in self.runs:
            if run.late:
                yield Bar(self.chart.row[run.machine], run.start, run.end)
                if self.windows:
                    yield Bar(run.task, run.start, run.end)

    def _inputs(self) -> Iterator[Bar]:
        """Yield the transfers of the input of tasks that run at another site."""
        for run, there in self.sent.items():
            release = float(self.tasks[run.task].release)
            if there > release:
                yield Bar(self.chart.row[run.machine], release, there)
                if self.windows:
                    yield Bar(run.task, release, there)

    def _list_dropped(self) -> None:
        """Write the names of dropped tasks, as many as fit."""
        if self.absent:
            names = short_names([task.id for task in self.tasks], 12)
            dropped = [names[index] for index in self.absent]
            self.chart.listing(len(self.chart.rows) - 1, dropped)

    def _violation_bars(self) -> Iterator[Bar]:
        """Yield the violations that have a place: an interval on a machine, or a task that runs."""
        number = {f"task {task.id}": index for index, task in enumerate(self.tasks)}
        rows = {
            f"machine {machine.id}": self.chart.row[index]
            for index, machine in enumerate(self.machines)
        }
        seen = set()
        for broken in self.violations:
            if broken.resource in rows and broken.start is not None and broken.end is not None:
                seen.add(Bar(rows[broken.resource], float(broken.start), float(broken.end)))
            for run in self.of.get(number.get(broken.resource, -1), ()):
                seen.add(Bar(self.chart.row[run.machine], run.start, run.end))
        yield from sorted(seen)

    def _statistics(self) -> Iterator[str]:
        instance, total = self.instance, len(self.tasks)
        met = {run.task for run in self.runs if not run.late}
        if not instance.deadlines:
            yield f"{len(self.of):,} of {total:,} tasks" if self.absent else f"{total:,} tasks"
            yield f"flowtime {shown(_flowtime(instance, self.solution), 6)}"
            return
        yield f"{len(met):,} of {total:,} in time"
        if len({task.priority for task in self.tasks}) > 1:
            for priority in PRIORITIES:
                wanted = [at for at, task in enumerate(self.tasks) if task.priority == priority]
                if wanted:
                    yield f"{len(met.intersection(wanted)):,} of {len(wanted):,} {priority}"
        late = {run.task for run in self.runs if run.late}
        if late:
            yield f"{len(late):,} late"
        if self.absent:
            yield f"{len(self.absent):,} dropped"


def _flowtime(instance: Instance, solution: Solution) -> float:
    return float(objective(instance, solution, "flowtime"))  # type: ignore[arg-type]


def _sites(instance: Instance) -> Iterator[MachineGroup]:
    """Yield the machines site by site; the only site has no name."""
    machines = instance.all_machines
    several = len({machine.site for machine in machines}) > 1 or len(instance.sites) > 1
    for index, site in enumerate(instance.sites):
        here = [at for at, machine in enumerate(machines) if machine.site == index]
        yield MachineGroup(f"site {site.id}" if several else "", here)
