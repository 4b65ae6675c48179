"""The exact timeline of a trace of a grid of LANs, so that what is allowed does not add up.

With a tolerance every instant may be off by a little. On a machine that runs one task after the
other, and along tasks that need each other's data, this would add up: many runs that each overlap
the next a little gain the time of another run. So each thing happens at its stated instant, or
later if what it waits for is not there in exact numbers. What this comes to is a trace that can
have happened, and a stated one must be a rounding of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from dlopt.arithmetic import ROUNDING, Number, exact
from dlopt.problems.dag.checker_times import last_tasks
from dlopt.problems.dag.trace import Outage, Run
from dlopt.problems.dag.trace_checker.facts import TraceFacts, group_by_machine, name
from dlopt.result import Violation

_ROUNDING_PER_STEP = ROUNDING / 16
"""What a step may add to the rounding of those right after it: four units in the last place."""


class ExactInstant(NamedTuple):
    """When something happens in exact numbers, and after how many steps without a pause."""

    at: Fraction
    steps: int

    def and_then(self, time: Fraction) -> ExactInstant:
        """Return the instant a while after this one."""
        return ExactInstant(self.at + time, self.steps)


_StatedInstant = tuple[Number, ExactInstant]
"""An instant as it is stated, and in exact numbers."""


def timeline_violations(facts: TraceFacts) -> Iterator[Violation]:
    """Yield what is stated to happen before it can in exact numbers; see `violations_executed`.

    No other rule is broken. Complexity: O(n log n) in runs and edges, times the failures of a
    machine.
    """
    yield from _ExactTimeline(facts).violations()


class _ExactTimeline:
    """What happens in exact numbers, in the stated order."""

    def __init__(self, facts: TraceFacts) -> None:
        self.facts = facts
        self.down = group_by_machine(facts.trace.down)
        self.free: dict[int, ExactInstant] = {}
        self.known: dict[tuple[int, int], ExactInstant] = {}
        self.received: dict[int, ExactInstant] = {}

    def violations(self) -> Iterator[Violation]:
        facts = self.facts
        for at, course in facts.courses.items():
            if course.received is not None:
                graph = facts.instance.graphs[at]
                known = graph.arrival if course.decided is None else course.decided
                decided = _not_before(known, ExactInstant(exact(graph.arrival), 0))
                over = facts.times.over_wan(graph.input, graph.lan, course.lan)
                self.received[at] = _not_before(course.received, decided.and_then(over))
                yield from self._too_early(f"graph {at}", (course.received, self.received[at]))
        for run in self._runs_in_stated_order():
            yield from self._too_early(name(run), *self._run(run))
        for at, course in facts.courses.items():
            if course.returned is not None:
                graph = facts.instance.graphs[at]
                back = facts.times.over_wan(graph.output, course.lan, graph.lan)
                results = [self.known[at, task].and_then(back) for task in last_tasks(graph)]
                returned = _not_before(course.returned, *results)
                yield from self._too_early(f"graph {at}", (course.returned, returned))

    def _runs_in_stated_order(self) -> Iterator[Run]:
        """Yield what ran in the stated order, none before those that it needs.

        The stated order is that of the midpoints of the intervals in which runs occupy their
        machines, see `dlopt.problems.transmission_sequence`: a rounded start may be a little before
        that of a short run which was done before.
        """
        facts = self.facts
        runs = [run for run in facts.runs if run.start is not None]
        # What did not run holds no machine, and nobody waits for it.
        waiting = [len(facts.needs[run.graph, run.task]) for run in runs]
        needed: dict[tuple[int, int], list[int]] = defaultdict(list)
        for index, run in enumerate(runs):
            for source, _ in facts.needs[run.graph, run.task]:
                needed[run.graph, source].append(index)
        spans = [(exact(run.start or 0), self._stated_stop(run)) for run in runs]
        keys = [(start + stop, start) for start, stop in spans]
        heap = [(*keys[index], index) for index, many in enumerate(waiting) if not many]
        heapify(heap)
        while heap:
            *_, index = heappop(heap)
            run = runs[index]
            yield run
            if facts.done.get((run.graph, run.task)) is run:
                for other in needed[run.graph, run.task]:
                    waiting[other] -= 1
                    if not waiting[other]:
                        heappush(heap, (*keys[other], other))

    def _cost(self, run: Run) -> Fraction:
        """Return how long a run is estimated to take."""
        cost = self.facts.times.duration(run.graph, run.task, run.machine)
        assert cost is not None  # nothing runs where it cannot
        return cost

    def _stated_stop(self, run: Run) -> Fraction:
        """Return when a run that has begun ends; of one that is under way, when it must."""
        if run.end is not None:
            return exact(run.end)
        return exact(run.start or 0) + self._cost(run) * self.facts.most

    def _run(self, run: Run) -> Iterator[_StatedInstant]:
        """Yield the instants of a run, as it holds its machine and its result comes in."""
        facts, machine = self.facts, run.machine
        assert run.start is not None  # else it is not in order
        needs = [self.known[run.graph, source] for source, _ in facts.needs[run.graph, run.task]]
        arrival = ExactInstant(exact(facts.instance.graphs[run.graph].arrival), 0)
        sent = _not_before(run.sent, self.received.get(run.graph, arrival), *needs)
        yield run.sent, sent
        cost, whole = self._cost(run), run.fate in ("done", "ignored")
        least, most = cost * facts.least if whole else Fraction(0), cost * facts.most
        stop = self._stated_stop(run)
        causes = [sent.and_then(facts.arrival(run) - exact(run.sent))]
        causes += [
            ExactInstant(exact(one.until or 0), 0) for one in self._outages(run, before=True)
        ]
        holds = stop > exact(run.start) or least > 0
        if holds and machine in self.free:
            causes.append(self.free[machine])
        start = _not_before(run.start, *causes)
        yield run.start, start
        end = _not_before(min(stop, start.at + most), start.and_then(least))
        if holds:
            self.free[machine] = end
        yield stop, end
        for outage in self._outages(run, before=False):
            yield outage.begin, ExactInstant(max(end.at, exact(outage.begin)), end.steps)
        if run.known is not None:
            known = _not_before(run.known, end.and_then(facts.delivery(run, stop) - stop))
            yield run.known, known
            if facts.done.get((run.graph, run.task)) is run:
                self.known[run.graph, run.task] = known

    def _outages(self, run: Run, before: bool) -> Iterator[Outage]:
        """Yield the outages that a run comes after, or (`before` is false) those it precedes."""
        start = exact(run.start or 0)
        stop = None if run.end is None else exact(run.end)
        for outage in self.down[run.machine]:
            begin = exact(outage.begin)
            precedes = start < begin or start == begin == stop
            if precedes is not before:
                yield outage

    def _too_early(self, text: str, *instants: _StatedInstant) -> Iterator[Violation]:
        """Yield the first of some instants that is stated to be too early."""
        for stated, (at, steps) in instants:
            if (
                at - exact(stated)
                > self.facts.resolution(at) + abs(at) * steps * _ROUNDING_PER_STEP
            ):
                amount = at - exact(stated)
                yield Violation("earlier-than-possible", text, stated, at, amount)
                return


def _not_before(stated: Number, *causes: ExactInstant) -> ExactInstant:
    """Return when something happens that is stated for an instant and waits for its causes."""
    last = max(causes)
    if last.at > exact(stated):
        return ExactInstant(last.at, last.steps + 1)
    return ExactInstant(exact(stated), 0)
