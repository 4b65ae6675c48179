"""The checker of executed traces: whether a stream of tasks can have run as recorded.

Nothing here knows how a trace was made. The solution checker (`dlopt.problems.admission.checker`)
compares a schedule with the estimated costs; this one compares an execution with the true costs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property

from dlopt.arithmetic import Number, exact
from dlopt.problems.admission.checker import StreamChecker
from dlopt.problems.admission.checker_times import loads_to_plan, without_negligible_loads
from dlopt.problems.admission.data import Instance
from dlopt.problems.admission.scenario import Failure, Scenario, check_fits
from dlopt.problems.admission.trace import BreakCause, Executed, Trace, missed
from dlopt.problems.admission.trace_causes import (
    causes_of_broken_promises,
    is_among,
    is_under_way,
)
from dlopt.problems.admission.trace_timeline import (
    NOTHING_RESERVED,
    ReservedTimes,
    cut_short_at,
    exact_trace,
)
from dlopt.result import Violation

EXECUTED_KINDS = (
    "unknown-task",
    "unknown-node",
    "undecided",
    "duplicate-decision",
    "wrong-decision-time",
    "promised-task-rejected",
    "rejected-task-served",
    "channel-overlap",
    "channel-not-ready",
    "node-overlap",
    "node-not-ready",
    "starts-during-failure",
    "continues-through-failure",
    "lost-without-failure",
    "broken-off-without-cause",
    "starts-before-arrival",
    "dropped-before-arrival",
    "computes-before-received",
    "transmission-duration",
    "computation-duration",
    "negative-load",
    "load-not-conserved",
    "deadline",
    "broken-without-promise",
    "broken-without-cause",
    "earlier-than-possible",
)
"""The kinds of violation that `violations_executed` tells apart; the last only with a tolerance."""


def violations_executed(
    instance: Instance, scenario: Scenario, trace: Trace, tolerance: float = 0
) -> tuple[Violation, ...]:
    """Return every contradiction of a trace to true costs, failures or constraints.

    Parameters
    ----------
    instance : Instance
    scenario : Scenario
    trace : Trace
    tolerance : float, default 0
        As for `dlopt.problems.admission.violations`.

    Returns
    -------
    tuple of Violation
        Empty if it can have happened so. Kinds: see `EXECUTED_KINDS`.

    Raises
    ------
    InvalidInstanceError
        If the scenario speaks of tasks or nodes that the instance does not have.

    Notes
    -----
    A chunk takes ``theta_cm + load tau F_tau`` and then ``theta_cp + load chi F_chi``, with the
    factors of its task. Nothing starts on a node that is down, and a node that fails loses what
    it holds. A chunk that ends just as its node fails is done, and cannot be lost by that. Of an
    accepted task, what is done and what is dropped make up what remained of its load. A deadline
    is checked only where it was promised; `missed` counts the other late tasks. It may be missed if
    the trace says by then that the promise is broken: when a node fails, or something exceeds its
    estimate, and not all of the task was sent before to end as estimated.
    What arrived before `now` was promised, and stays so.

    With a tolerance, and if nothing else is wrong, the chunks are also sent at their stated
    instants in exact numbers, each after what holds its channel and its node until then
    (`dlopt.problems.admission.trace_timeline`). If some load of a task was dropped, its chunks did
    what they are stated to, and the dropped load makes up for the rest. None may be stated to
    start or end before it does there by more than one allowance: the tolerance times the relative
    deadline of its task, and 64 units in the last place, and 4 more for each chunk since channel
    or node last paused. By no more may it reach into a failure or, if it was promised, beyond its
    deadline. Else it is ``earlier-than-possible``. So what is allowed does not add up on a channel
    or a node.

    Complexity: O(n log n) in tasks and chunks, times the failures of a node.

    Examples
    --------
    >>> from dlopt.problems.admission import Decision, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 1, 4),))
    >>> scenario = Scenario.from_data({"factors": [{"task": "a", "chi": 2}]})
    >>> trace = Trace((Decision("a", True, 0),), (Executed("a", 0, 1, 0, 1, 1, 2),))
    >>> print(*violations_executed(instance, scenario, trace))
    computation-duration on task a on node 0 in [1, 2] by 1
    """
    check_fits(instance, scenario)
    checker = TraceChecker(instance, scenario, trace, tolerance)
    found = tuple(checker.violations())
    return found if found or not tolerance else tuple(checker.timeline_violations())


class TraceChecker(StreamChecker):
    """The checker of one trace against an instance and a scenario.

    Parameters
    ----------
    instance : Instance
    scenario : Scenario
    trace : Trace
    tolerance : float
    late_ends : iterable of Fraction
        When else than by the chunks of tasks it became known that something takes longer.
    reserved : ReservedTimes
        When channel and nodes serve no task, for the exact timeline.
    """

    def __init__(
        self,
        instance: Instance,
        scenario: Scenario,
        trace: Trace,
        tolerance: float,
        late_ends: Iterable[Fraction] = (),
        reserved: ReservedTimes = NOTHING_RESERVED,
    ) -> None:
        super().__init__(instance, trace.decisions, tolerance)
        self.scenario, self.trace = scenario, trace
        self._late_ends, self._reserved = tuple(late_ends), reserved

    def violations(self) -> Iterator[Violation]:
        """Yield every contradiction but those of the exact timeline."""
        yield from self.decision_violations()
        yield from self.unknown_violations(self.trace.chunks)
        chunks = [chunk for chunk in self.trace.chunks if self.is_known(chunk)]
        sends = [
            (exact(c.transmission_start), self._released(c, c.transmission_end)) for c in chunks
        ]
        yield from self.channel_violations(sends)
        yield from self._execution_violations(chunks)
        for chunk in chunks:
            factors = self._factors.get(chunk.task, (Fraction(1), Fraction(1)))
            yield from self.chunk_violations(chunk, *factors)
        yield from self._dropped_violations()
        yield from self._broken_off_violations(chunks)
        yield from self._promise_violations(chunks)
        yield from self._task_violations(chunks)

    def _execution_violations(self, chunks: list[Executed]) -> Iterator[Violation]:
        """Yield where a node has two chunks at once, or one while it is not there."""
        chunks_of: dict[int, list[Executed]] = defaultdict(list)
        for chunk in chunks:
            chunks_of[chunk.node].append(chunk)
        failures: dict[int, list[Failure]] = defaultdict(list)
        for failure in self.scenario.failures:
            failures[failure.node].append(failure)
        for node, parts in chunks_of.items():
            busy = [
                (exact(part.transmission_start), self._released(part, part.computation_end))
                for part in parts
            ]
            yield from self.node_violations(node, busy)
            for part in parts:
                yield from self._failure_violations(part, failures[node])

    def _failure_violations(
        self, chunk: Executed, failures: Iterable[Failure]
    ) -> Iterator[Violation]:
        """Yield where a chunk does not fare as the failures of its node say."""
        resource = f"task {chunk.task} on node {chunk.node}"
        start, end = exact(chunk.transmission_start), exact(chunk.computation_end)
        stop = self._released(chunk, end)
        lost = None if chunk.lost is None else exact(chunk.lost)
        for failure in failures:
            begin = exact(failure.begin)
            back = stop if failure.until is None else min(stop, exact(failure.until))
            within = back - max(start, begin)
            if within > self.time_tolerance(back):
                kind = "starts-during-failure" if start >= begin else "continues-through-failure"
                yield Violation(kind, resource, max(start, begin), back, within)
            if lost is not None and start <= begin < end:
                lost = None if abs(lost - begin) <= self.time_tolerance(begin) else lost
        if lost is not None:
            yield Violation("lost-without-failure", resource, lost)

    def _dropped_violations(self) -> Iterator[Violation]:
        for part in self.trace.dropped:
            task, load, at = self.tasks.get(part.task), exact(part.load), exact(part.at)
            if task is None:
                yield Violation("unknown-task", f"task {part.task}", amount=load)
                continue
            early = exact(task.arrival) - at
            if load < -self.tolerance * exact(task.load):
                yield Violation("negative-load", f"task {part.task}", at, amount=-load)
            if early > self.task_time_tolerance(task, at):
                yield Violation("dropped-before-arrival", f"task {part.task}", at, amount=early)

    def _broken_off_violations(self, chunks: list[Executed]) -> Iterator[Violation]:
        """Yield the chunks that are broken off though they do not run, or are not given up."""
        given_up: dict[str, list[tuple[Fraction, Fraction]]] = defaultdict(list)
        for part in self.trace.dropped:
            given_up[part.task].append((exact(part.at), exact(part.load)))
        claimed: dict[tuple[str, Fraction], Fraction] = defaultdict(Fraction)
        for chunk in chunks:
            if chunk.broken_off is None:
                continue
            at, task = exact(chunk.broken_off), self.tasks[chunk.task]
            claimed[chunk.task, at] += exact(chunk.load)
            allowed = self.task_time_tolerance(task, at)
            dropped = sum(
                (load for when, load in given_up[task.id] if abs(when - at) <= allowed),
                Fraction(0),
            )
            missing = claimed[chunk.task, at] - dropped
            early = exact(chunk.transmission_start) - at
            late = at - exact(chunk.computation_end)
            runs = chunk.lost is None and max(early, late) <= allowed
            if not runs or missing > self.tolerance * exact(task.load):
                resource = f"task {task.id} on node {chunk.node}"
                yield Violation("broken-off-without-cause", resource, at, amount=chunk.load)

    def _promise_violations(self, chunks: list[Executed]) -> Iterator[Violation]:
        """Yield where a promise is said to be broken that was not made, or without a cause."""
        promised = {one.task for one in self.decisions if one.accepted and one.promised}
        promised &= self.tasks.keys()
        chunks_of: dict[str, list[Executed]] = defaultdict(list)
        for chunk in chunks:
            chunks_of[chunk.task].append(chunk)
        # Of these nothing is given up, and their own chunks do not overrun.
        as_planned = self.tasks.keys() - {part.task for part in self.trace.dropped if part.load > 0}
        as_planned -= {name for name, factors in self._factors.items() if max(factors) > 1}
        seen: Counter[str] = Counter()
        for one in self.trace.broken:
            seen[one.task] += 1
            resource, at = f"task {one.task}", exact(one.at)
            made = one.task in promised and at >= exact(self.tasks[one.task].arrival)
            if not made or seen[one.task] > 1:
                yield Violation("broken-without-promise", resource, at)
            elif not is_among(self.causes[one.cause], at, self.time_tolerance) or (
                one.task in as_planned
                and is_under_way(at, chunks_of[one.task], self.time_tolerance)
            ):
                yield Violation("broken-without-cause", resource, at)

    @cached_property
    def causes(self) -> Mapping[BreakCause, list[Fraction]]:
        """The instants at which a promise may be broken, ascending, by the cause."""
        known = [chunk for chunk in self.trace.chunks if self.is_known(chunk)]
        causes = causes_of_broken_promises(self.instance, self.scenario, known, self.time_tolerance)
        return {**causes, "overrun": sorted((*causes["overrun"], *self._late_ends))}

    def _task_violations(self, chunks: list[Executed]) -> Iterator[Violation]:
        """Yield where an accepted load is not accounted for, and where promises were not kept."""
        done: dict[str, Fraction] = defaultdict(Fraction)
        served: Counter[str] = Counter()
        ends: dict[str, Fraction] = {}
        for chunk in chunks:
            served[chunk.task] += 1
            if cut_short_at(chunk) is None:
                done[chunk.task] += exact(chunk.load)
                end = exact(chunk.computation_end)
                ends[chunk.task] = max(end, ends.get(chunk.task, end))
        for part in self.trace.dropped:
            served[part.task] += 1
            done[part.task] += exact(part.load)
        late = missed(self.instance, self.trace, self.tolerance)
        remaining = loads_to_plan(self.instance)
        decisions = {decision.task: decision for decision in self.decisions}
        for task in self.instance.tasks:
            decision, resource = decisions.get(task.id), f"task {task.id}"
            if decision is None:
                continue
            if not decision.accepted:
                if served[task.id]:
                    yield Violation("rejected-task-served", resource, amount=served[task.id])
                continue
            missing = remaining[task.id] - done[task.id]
            if abs(missing) > self.tolerance * exact(task.load):
                yield Violation("load-not-conserved", resource, amount=missing)
            if decision.promised and task.id in late and task.id not in self._broken_in_time:
                due = exact(task.arrival) + exact(task.deadline)
                end = ends.get(task.id, due)
                yield Violation("deadline", resource, due, end, max(end - due, Fraction(0)))

    def timeline_violations(self) -> Iterator[Violation]:
        """Yield where a chunk is stated to be done before it can be in exact numbers.

        The trace breaks no other rule.
        """
        promised = {decision.task for decision in self.decisions if decision.promised}
        promised -= self._broken_in_time
        required_loads = loads_to_plan(self.instance)
        for name, done in self._done_of_dropped_tasks().items():
            # what was dropped makes up for the difference
            required_loads[name] = min(required_loads[name], done)
        required_loads = without_negligible_loads(
            self.instance.tasks, required_loads, self.tolerance
        )
        executed = exact_trace(
            self.instance, self.scenario, self.trace, required_loads, self._reserved
        )
        for exact_chunk in executed:
            chunk, task = exact_chunk.chunk, self.tasks[exact_chunk.chunk.task]
            resource, due = f"task {task.id} on node {chunk.node}", exact(task.deadline)
            rounding = self.accumulated_resolution(exact_chunk.end, exact_chunk.chunks)
            late = self.tolerance * due + rounding
            start, end = exact(chunk.transmission_start), exact(chunk.computation_end)
            early = max(exact_chunk.start - start, exact_chunk.end - end)
            if cut_short_at(chunk) is None and task.id in promised:
                early = max(early, exact_chunk.end - exact(task.arrival) - due)
            if early > late:
                yield Violation("earlier-than-possible", resource, end, exact_chunk.end, early)
            elif exact_chunk.into is not None and exact_chunk.until - exact_chunk.into > late:
                reached = exact_chunk.until - exact_chunk.into
                yield Violation(
                    "earlier-than-possible", resource, exact_chunk.into, exact_chunk.until, reached
                )

    def _done_of_dropped_tasks(self) -> dict[str, Fraction]:
        """Return what was done of the tasks of which some load was given up, as it is stated."""
        done = {part.task: Fraction(0) for part in self.trace.dropped if part.load > 0}
        for chunk in self.trace.chunks:
            if chunk.task in done and cut_short_at(chunk) is None:
                done[chunk.task] += max(exact(chunk.load), Fraction(0))
        return done

    @staticmethod
    def _released(chunk: Executed, end: Number) -> Fraction:
        """Return when a chunk lets go of what it holds."""
        cut = cut_short_at(chunk)
        return exact(end) if cut is None else min(exact(end), exact(cut))

    @cached_property
    def _broken_in_time(self) -> frozenset[str]:
        """The tasks of which the trace says, by their deadlines, that they will not be done."""
        found = set()
        for one in self.trace.broken:
            task = self.tasks.get(one.task)
            if task is not None:
                due = exact(task.arrival) + exact(task.deadline)
                if exact(one.at) - due <= self.task_time_tolerance(task, due):
                    found.add(one.task)
        return frozenset(found)

    @cached_property
    def _factors(self) -> dict[str, tuple[Fraction, Fraction]]:
        return {f.task: (exact(f.tau), exact(f.chi)) for f in self.scenario.factors}
