"""Whether what became of task graphs on a grid of LANs can have happened so.

Nothing here knows how a trace was made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from dlopt.arithmetic import ROUNDING, Number, exact
from dlopt.problems.dag.data import Instance
from dlopt.problems.dag.trace import Course, Outage, Run, Trace
from dlopt.problems.intervals import overlaps
from dlopt.result import Violation

EXECUTED_KINDS = (
    "unknown-graph",
    "unknown-task",
    "unknown-machine",
    "unknown-lan",
    "no-course",
    "two-courses",
    "unexplained",
    "decided-before-arrival",
    "received-before-input",
    "returned-before-results",
    "task-missing",
    "completed-twice",
    "incoherent-run",
    "cannot-run",
    "wrong-lan",
    "sent-before-ready",
    "sent-twice",
    "starts-before-data",
    "duration",
    "known-before-result",
    "machine-overlap",
    "not-first-in-first-out",
    "queue-overflow",
    "node-down",
    "failure-survived",
    "failure-ignored",
    "lost-without-failure",
    "presumed-without-cause",
    "sent-to-presumed-dead",
    "starts-on-presumed-dead",
)
"""The kinds of violation that `violations_executed` tells apart."""


def violations_executed(
    instance: Instance,
    trace: Trace,
    *,
    queue_size: int | None = None,
    failures: Sequence[Outage] = (),
    slowdown: tuple[Number, Number] = (1, 1),
    tolerance: float = 0,
) -> tuple[Violation, ...]:
    """Return every way in which a trace contradicts the grid, its failures or the rules.

    Parameters
    ----------
    instance : Instance
        Its machines stand in LANs, its data goes through their schedulers, and its graphs have
        homes; whatever `one_lan` says, the tasks of a graph must stay in one.
    trace : Trace
    queue_size : int, optional
        How many tasks a machine may hold, with the one that runs.
    failures : sequence of Outage, optional
        When machines must have been down, at least.
    slowdown : (Number, Number), default (1, 1)
        A run takes at least and at most so many times its estimate.
    tolerance : float, default 0
        Relative: if it is not 0, instants may be off by `tolerance` times themselves.

    Returns
    -------
    tuple of Violation
        Empty if it can have happened so. Kinds: see `EXECUTED_KINDS`.

    Notes
    -----
    A graph goes to one LAN, over the WAN with its input. Its scheduler sends a task once it knows
    the results of all its predecessors; the task starts once the largest of its data has come to
    the machine, in the order in which tasks were sent there. The result comes back with the
    largest of the data that it has for others. A machine that fails loses what it holds; a run
    that ends just as its machine fails may be done or lost. Nothing is sent to, and nothing
    starts on, a machine that its scheduler presumes dead. Each task of a graph that came home was
    done once.

    Complexity: O(n log n) in runs and edges, times the failures of a machine.
    """
    facts = _Facts(instance, trace, slowdown, tolerance)
    return (*facts.of_graphs(), *facts.of_runs(), *facts.of_machines(queue_size, failures))


class _Facts:
    """A trace against an instance, as exact numbers."""

    def __init__(
        self,
        instance: Instance,
        trace: Trace,
        slowdown: tuple[Number, Number],
        tolerance: float,
    ) -> None:
        self.instance, self.trace, self.paths = instance, trace, instance.paths
        self.least, self.most = (exact(factor) for factor in slowdown)
        self.tolerance = exact(tolerance)
        links = instance.network.wan_links
        self.links = {(link.target, link.source): link for link in links}
        self.links |= {(link.source, link.target): link for link in links}
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
            for task in graph.exits:
                self.gives[at, task] = exact(graph.output)

    # graphs -------------------------------------------------------------------------------------

    def of_graphs(self) -> Iterator[Violation]:
        yield from self.strange
        finished: dict[int, set[int]] = defaultdict(set)
        for run in self.runs:
            if run.fate == "done":
                if run.task in finished[run.graph]:
                    yield Violation("completed-twice", _name(run), run.start, run.end)
                finished[run.graph].add(run.task)
        for at, graph in enumerate(self.instance.graphs):
            name = f"graph {at}"
            course = self.courses.get(at)
            if course is None:
                yield Violation("no-course", name)
                continue
            yield from self._journey(name, exact(graph.arrival), course)
            if course.returned is None:
                if not course.reason:
                    yield Violation("unexplained", name)
                continue
            for task in range(len(graph.tasks)):
                if task not in finished[at]:
                    yield Violation("task-missing", f"task {task} of {name}")
            yield from self._return(name, course, graph.exits)

    def _note(self, course: Course) -> None:
        name = f"graph {course.graph}"
        if course.graph >= len(self.instance.graphs):
            self.strange.append(Violation("unknown-graph", name))
        elif course.lan is not None and course.lan >= len(self.instance.network.lans):
            self.strange.append(Violation("unknown-lan", f"LAN {course.lan} of {name}"))
        elif course.graph in self.courses:
            self.strange.append(Violation("two-courses", name))
        else:
            self.courses[course.graph] = course

    def _journey(self, name: str, arrival: Fraction, course: Course) -> Iterator[Violation]:
        """Yield where a graph is decided on or received too early."""
        if course.decided is not None and self._before(course.decided, arrival):
            yield Violation("decided-before-arrival", name, course.decided, arrival)
        if course.received is not None:
            graph = self.instance.graphs[course.graph]
            ready = exact(arrival if course.decided is None else course.decided)
            ready += self._wan(graph.lan, course.lan, exact(graph.input))
            if self._before(course.received, ready):
                yield Violation("received-before-input", name, course.received, ready)

    def _return(self, name: str, course: Course, exits: Iterable[int]) -> Iterator[Violation]:
        assert course.returned is not None
        graph = self.instance.graphs[course.graph]
        back = self._wan(course.lan, graph.lan, exact(graph.output))
        runs = [self.done.get((course.graph, task)) for task in exits]
        known = [exact(run.known) for run in runs if run is not None and run.known is not None]
        ready = max(known, default=exact(graph.arrival)) + back
        if self._before(course.returned, ready):
            yield Violation("returned-before-results", name, course.returned, ready)

    # runs ---------------------------------------------------------------------------------------

    def of_runs(self) -> Iterator[Violation]:
        for run in self.runs:
            if not _coherent(run):
                yield Violation("incoherent-run", _name(run), run.sent)
                continue
            yield from self._place(run)
            yield from self._ready(run)
            if run.start is not None:
                yield from self._data(run, exact(run.start))
            if run.known is not None:
                yield from self._result(run, exact(run.known))
        yield from self._held()

    def _place(self, run: Run) -> Iterator[Violation]:
        lan, course = self.instance.machines[run.machine].lan, self.courses.get(run.graph)
        if course is not None and course.lan != lan:
            yield Violation("wrong-lan", _name(run), run.sent)
        cost = self.instance.cost(run.graph, run.task, run.machine)
        if cost is None:
            yield Violation("cannot-run", _name(run), run.sent)
        elif run.start is not None and run.end is not None:
            took, resolution = exact(run.end) - exact(run.start), self._resolution(run.end)
            whole = run.fate in ("done", "ignored")
            off = max(took - cost * self.most, cost * self.least - took if whole else 0)
            if off > resolution:
                yield Violation("duration", _name(run), run.start, run.end, off)

    def _ready(self, run: Run) -> Iterator[Violation]:
        """Yield where a task is sent before its graph, or the result of a predecessor, is there."""
        course = self.courses.get(run.graph)
        if course is not None and (
            course.received is None or self._before(run.sent, course.received)
        ):
            yield Violation("sent-before-ready", _name(run), run.sent, course.received)
        for source, _ in self.needs[run.graph, run.task]:
            before = self.done.get((run.graph, source))
            if before is None or before.known is None or self._before(run.sent, before.known):
                known = None if before is None else before.known
                yield Violation("sent-before-ready", _name(run), run.sent, known)

    def _data(self, run: Run, start: Fraction) -> Iterator[Violation]:
        latency, unit = self.paths.leg(run.machine)
        needs = self.needs[run.graph, run.task]
        if self.paths.free_at_home:
            needs = [need for need in needs if not self._at_home(run, need[0])]
            if not needs and self.needs[run.graph, run.task]:
                latency = Fraction(0)
        data = max((data for _, data in needs), default=Fraction(0))
        if not self.needs[run.graph, run.task]:
            data = exact(self.instance.graphs[run.graph].input)
        ready = exact(run.sent) + latency + data * unit
        if self._before(start, ready):
            yield Violation("starts-before-data", _name(run), start, ready, ready - start)

    def _at_home(self, run: Run, source: int) -> bool:
        before = self.done.get((run.graph, source))
        return before is not None and before.machine == run.machine

    def _result(self, run: Run, known: Fraction) -> Iterator[Violation]:
        assert run.end is not None
        latency, unit = self.paths.leg(run.machine)
        ready = exact(run.end) + latency + self.gives[run.graph, run.task] * unit
        if self._before(known, ready):
            yield Violation("known-before-result", _name(run), known, ready, ready - known)

    def _held(self) -> Iterator[Violation]:
        """Yield where a scheduler has sent a task twice, without having it back between."""
        held: dict[tuple[int, int], list[Run]] = defaultdict(list)
        for run in self.runs:
            held[run.graph, run.task].append(run)
        for runs in held.values():
            for before, after in pairwise(sorted(runs, key=lambda run: exact(run.sent))):
                if before.freed is None or self._before(after.sent, before.freed):
                    yield Violation("sent-twice", _name(after), after.sent, before.freed)

    # machines -----------------------------------------------------------------------------------

    def of_machines(
        self, queue_size: int | None, failures: Sequence[Outage]
    ) -> Iterator[Violation]:
        runs: dict[int, list[Run]] = defaultdict(list)
        for run in self.runs:
            if _coherent(run):
                runs[run.machine].append(run)
        down, presumed = _by_machine(self.trace.down), _by_machine(self.trace.presumed)
        for machine in sorted({*runs, *down, *presumed}):
            name = f"machine {machine}"
            yield from self._one_at_a_time(name, runs[machine])
            if queue_size is not None:
                yield from self._queue(name, runs[machine], queue_size)
            for run in runs[machine]:
                yield from self._failing(run, down[machine])
                yield from self._presumed(run, presumed[machine])
            for outage in presumed[machine]:
                at = exact(outage.begin)
                if not any(
                    run.freed is not None and exact(run.freed) == at and exact(run.sent) <= at
                    for run in runs[machine]
                ):
                    yield Violation("presumed-without-cause", name, outage.begin)
        for failure in failures:
            if not any(_covers(outage, failure) for outage in down[failure.machine]):
                name = f"machine {failure.machine}"
                yield Violation("failure-ignored", name, failure.begin, failure.until)

    def _one_at_a_time(self, name: str, runs: list[Run]) -> Iterator[Violation]:
        ran = [
            (exact(run.start), exact(run.end))
            for run in runs
            if run.start is not None and run.end is not None
        ]
        for shared in overlaps(ran):
            if shared.amount > self._resolution(shared.end):
                yield Violation("machine-overlap", name, *shared)
        begun = sorted((run for run in runs if run.start is not None), key=lambda r: exact(r.sent))
        for one, other in pairwise(begun):
            assert one.start is not None and other.start is not None
            if self._before(other.start, exact(one.start)):
                yield Violation("not-first-in-first-out", name, other.start, one.start)

    def _queue(self, name: str, runs: list[Run], size: int) -> Iterator[Violation]:
        """Yield where a machine holds more tasks than it may; a place is free the instant it is."""
        changes = [(exact(run.sent), 1) for run in runs]
        changes += [(exact(run.freed), -1) for run in runs if run.freed is not None]
        held = 0
        for at, change in sorted(changes):
            held += change
            if held > size and change > 0:
                yield Violation("queue-overflow", name, at, amount=held - size)

    def _failing(self, run: Run, down: list[Outage]) -> Iterator[Violation]:
        name = f"{_name(run)} on machine {run.machine}"
        stop = None if run.end is None else exact(run.end)
        for outage in down:
            begin = exact(outage.begin)
            until = None if outage.until is None else exact(outage.until)
            if run.start is None:
                continue
            start = exact(run.start)
            at_once = start == begin == stop  # it ended as it began, and its machine failed
            if begin <= start and (until is None or self._before(start, until)) and not at_once:
                yield Violation("node-down", name, start, until)
            elif start < begin and (stop is None or self._before(begin, stop)):
                yield Violation("failure-survived", name, begin, stop)
        if run.fate == "lost" and not any(self._took(outage, run) for outage in down):
            yield Violation("lost-without-failure", name, run.sent)

    def _took(self, outage: Outage, run: Run) -> bool:
        """Tell whether an outage can have lost a run: it began, or was, while the run was held."""
        begin = exact(outage.begin)
        if run.end is not None:
            return begin == exact(run.end)
        gone = outage.until is not None and exact(outage.until) < exact(run.sent)
        return not gone and (run.freed is None or begin <= exact(run.freed))

    def _presumed(self, run: Run, presumed: list[Outage]) -> Iterator[Violation]:
        for outage in presumed:
            for kind, at in (("sent-to", run.sent), ("starts-on", run.start)):
                if (
                    at is not None
                    and self._before(outage.begin, exact(at))
                    and (outage.until is None or self._before(at, exact(outage.until)))
                ):
                    name = f"{_name(run)} on machine {run.machine}"
                    yield Violation(f"{kind}-presumed-dead", name, at, outage.until)

    # what all need ------------------------------------------------------------------------------

    def _known(self, run: Run) -> bool:
        """Tell whether a run names what exists; note where it does not."""
        graphs = self.instance.graphs
        if run.graph >= len(graphs):
            self.strange.append(Violation("unknown-graph", f"graph {run.graph}"))
        elif run.task >= len(graphs[run.graph].tasks):
            self.strange.append(Violation("unknown-task", _name(run)))
        elif run.machine >= len(self.instance.machines):
            self.strange.append(Violation("unknown-machine", f"machine {run.machine}"))
        else:
            return True
        return False

    def _wan(self, source: int | None, target: int | None, data: Fraction) -> Fraction:
        """Return how long data takes from one LAN to another, by what the network says."""
        if source is None or target is None or source == target:
            return Fraction(0)
        of = self.links.get((source, target), self.instance.network)
        return exact(of.latency) + data / exact(of.bandwidth)

    def _before(self, early: Number, late: Number) -> bool:
        """Tell whether an instant lies before another, by more than may be."""
        return exact(late) - exact(early) > self._resolution(late)

    def _resolution(self, instant: Number) -> Fraction:
        if not self.tolerance:
            return Fraction(0)
        return abs(exact(instant)) * max(self.tolerance, ROUNDING)


def _coherent(run: Run) -> bool:
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


def _covers(outage: Outage, failure: Outage) -> bool:
    if exact(outage.begin) > exact(failure.begin):
        return False
    if outage.until is None:
        return True
    return failure.until is not None and exact(failure.until) <= exact(outage.until)


def _by_machine(outages: Iterable[Outage]) -> dict[int, list[Outage]]:
    found: dict[int, list[Outage]] = defaultdict(list)
    for outage in outages:
        found[outage.machine].append(outage)
    return found


def _name(run: Run) -> str:
    return f"task {run.task} of graph {run.graph}"
