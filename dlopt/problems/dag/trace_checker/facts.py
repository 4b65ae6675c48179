"""A trace of a grid of LANs and its instance, in exact numbers: the data of all its checks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction

from dlopt.arithmetic import ROUNDING, Number, exact
from dlopt.problems.dag.checker_times import CheckerTimes, last_tasks
from dlopt.problems.dag.data import Instance
from dlopt.problems.dag.trace import Course, Outage, Run, Trace
from dlopt.result import Violation


class TraceFacts:
    """The valid entries of a trace, and the data that they are compared with.

    Parameters
    ----------
    instance : Instance
    trace : Trace
    slowdown : (Number, Number)
    tolerance : float

    Attributes
    ----------
    strange : list of Violation
        Where the trace names what does not exist, or a graph twice.
    courses : dict of int to Course
        By graph.
    runs : list of Run
    done : dict of (int, int) to Run
        The first run by graph and task whose result counts.
    needs : dict of (int, int) to list of (int, Fraction)
        Predecessors of a task, and the data that it needs of them.
    gives : dict of (int, int) to Fraction
        The largest of the data that a task has for others, or for home.
    """

    def __init__(
        self,
        instance: Instance,
        trace: Trace,
        slowdown: tuple[Number, Number],
        tolerance: float,
    ) -> None:
        self.instance, self.trace, self.times = instance, trace, CheckerTimes(instance)
        self.least, self.most = (exact(factor) for factor in slowdown)
        self._tolerance = exact(tolerance)
        self._free_at_home = instance.network.same_machine == "zero"
        self.strange: list[Violation] = []
        self.runs = [run for run in trace.runs if self._known(run)]
        self.courses: dict[int, Course] = {}
        for course in trace.courses:
            self._note(course)
        self.done: dict[tuple[int, int], Run] = {}
        for run in self.runs:
            if run.fate == "done":
                self.done.setdefault((run.graph, run.task), run)
        self.needs: dict[tuple[int, int], list[tuple[int, Fraction]]] = defaultdict(list)
        self.gives: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for at, graph in enumerate(instance.graphs):
            for edge in graph.edges:
                data = exact(edge.data)
                self.needs[at, edge.target].append((edge.source, data))
                self.gives[at, edge.source] = max(self.gives[at, edge.source], data)
            for task in last_tasks(graph):
                self.gives[at, task] = exact(graph.output)

    def arrival(self, run: Run) -> Fraction:
        """Return when the data of a run is at its machine: the largest, side by side."""
        needs = self.needs[run.graph, run.task]
        if not needs:
            return exact(run.sent) + self._leg(run, self.instance.graphs[run.graph].input)
        if self._free_at_home:
            needs = [need for need in needs if not self._at_home(run, need[0])]
            if not needs:
                return exact(run.sent)
        return exact(run.sent) + self._leg(run, max(data for _, data in needs))

    def delivery(self, run: Run, end: Number) -> Fraction:
        """Return when the result of a run that ends then is known to its scheduler."""
        return exact(end) + self._leg(run, self.gives[run.graph, run.task])

    def before(self, early: Number, late: Number) -> bool:
        """Tell whether an instant lies before another, by more than may be."""
        return exact(late) - exact(early) > self.resolution(late)

    def resolution(self, instant: Number) -> Fraction:
        """Return by how much an instant may be off."""
        if not self._tolerance:
            return Fraction(0)
        return abs(exact(instant)) * max(self._tolerance, ROUNDING)

    def possibly_lost(self, run: Run, outages: Iterable[Outage]) -> bool:
        """Tell whether an outage of its machine may have lost a run before anybody knew."""
        return any(
            outage.until is None or not self.before(outage.until, run.sent) for outage in outages
        )

    def _leg(self, run: Run, data: Number) -> Fraction:
        """Return how long data takes between the machine of a run and its scheduler."""
        return self.times.scheduler_leg(data, run.machine)

    def _at_home(self, run: Run, source: int) -> bool:
        before = self.done.get((run.graph, source))
        return before is not None and before.machine == run.machine

    def _known(self, run: Run) -> bool:
        """Tell whether a run names what exists; note where it does not."""
        graphs = self.instance.graphs
        if run.graph >= len(graphs):
            self.strange.append(Violation("unknown-graph", f"graph {run.graph}"))
        elif run.task >= len(graphs[run.graph].tasks):
            self.strange.append(Violation("unknown-task", name(run)))
        elif run.machine >= len(self.instance.machines):
            self.strange.append(Violation("unknown-machine", f"machine {run.machine}"))
        else:
            return True
        return False

    def _note(self, course: Course) -> None:
        graph = f"graph {course.graph}"
        if course.graph >= len(self.instance.graphs):
            self.strange.append(Violation("unknown-graph", graph))
        elif course.lan is not None and course.lan >= len(self.instance.network.lans):
            self.strange.append(Violation("unknown-lan", f"LAN {course.lan} of {graph}"))
        elif course.graph in self.courses:
            self.strange.append(Violation("duplicate-graph-record", graph))
        else:
            self.courses[course.graph] = course


def is_coherent(run: Run) -> bool:
    """Tell whether a run has the instants that its fate asks for, in their order."""
    times = [exact(at) for at in (run.sent, run.start, run.end, run.known) if at is not None]
    begun, ended = run.start is not None, run.end is not None
    ordered = times == sorted(times) and (run.freed is None or exact(run.freed) >= exact(run.sent))
    wanted = {
        "done": run.known is not None and run.freed is not None,
        "ignored": run.known is not None and run.freed is not None,
        "lost": run.known is None and (not begun or ended) and run.freed is not None,
        "pulled-back": not begun and run.freed is not None,
        "withdrawn": run.known is None and (not begun or ended) and run.freed is not None,
        "unfinished": run.known is None,
    }
    reached = (ended or run.known is None) and (begun or not ended)
    return ordered and reached and wanted[run.fate]


def group_by_machine(outages: Iterable[Outage]) -> dict[int, list[Outage]]:
    """Return outages machine by machine."""
    found: dict[int, list[Outage]] = defaultdict(list)
    for outage in outages:
        found[outage.machine].append(outage)
    return found


def name(run: Run) -> str:
    """Return the name of a run in violations."""
    return f"task {run.task} of graph {run.graph}"
