"""The checker of executed traces: whether a stream of tasks can have run as recorded.

Nothing here knows how a trace was made. The solution checker (`dlopt.problems.admission.checker`)
compares a schedule with the estimated costs; this one compares an execution with the true costs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property

from dlopt.arithmetic import Number, exact
from dlopt.problems.admission.checker_times import (
    channel_free_time,
    loads_to_plan,
    node_free_times,
    promised_before,
)
from dlopt.problems.admission.data import Instance, Task
from dlopt.problems.admission.scenario import Failure, Scenario, check_fits
from dlopt.problems.admission.trace import Executed, Trace, missed
from dlopt.problems.admission.trace_timeline import exact_trace
from dlopt.problems.checking import Checker
from dlopt.problems.intervals import overlaps
from dlopt.result import Violation

EXECUTED_KINDS = (
    "unknown-task",
    "unknown-node",
    "undecided",
    "decided-twice",
    "decision-time",
    "promise-broken",
    "rejected-task-served",
    "channel-overlap",
    "channel-not-ready",
    "node-overlap",
    "not-ready",
    "node-down",
    "failure-survived",
    "lost-without-failure",
    "starts-before-arrival",
    "dropped-before-arrival",
    "computes-before-received",
    "transmission-duration",
    "computation-duration",
    "negative-load",
    "load-not-conserved",
    "deadline",
    "earlier-than-possible",
)
"""The kinds of violation that `violations_executed` tells apart; the last only with a tolerance."""

_ROUNDING_PER_CHUNK = Fraction(1, 16)
"""What a chunk adds to the allowed rounding of those right after it, as a share of
`dlopt.arithmetic.ROUNDING`: four of its 64 units in the last place."""


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
    is checked only where it was promised; `missed` counts the other late tasks.
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
    >>> from dlopt.problems.admission import Decision
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 1, 4),))
    >>> scenario = Scenario.from_data({"factors": [{"task": "a", "chi": 2}]})
    >>> trace = Trace((Decision("a", True, 0),), (Executed("a", 0, 1, 0, 1, 1, 2),))
    >>> print(*violations_executed(instance, scenario, trace))
    computation-duration on task a on node 0 in [1, 2] by 1
    """
    check_fits(instance, scenario)
    checker = _TraceChecker(instance, scenario, trace, tolerance)
    found = tuple(checker.violations())
    return found if found or not tolerance else tuple(checker.timeline_violations())


class _TraceChecker(Checker):
    """The checker of one trace against an instance and a scenario, in exact numbers."""

    def __init__(
        self, instance: Instance, scenario: Scenario, trace: Trace, tolerance: float
    ) -> None:
        super().__init__(tolerance)
        self.instance, self.scenario, self.trace = instance, scenario, trace

    def violations(self) -> Iterator[Violation]:
        tasks = {task.id: task for task in self.instance.tasks}
        yield from self._decision_violations(tasks)
        chunks = []
        for chunk in self.trace.chunks:
            if chunk.task not in tasks:
                yield Violation("unknown-task", f"task {chunk.task}", amount=exact(chunk.load))
            elif not 0 <= chunk.node < self.instance.cluster.nodes:
                yield Violation("unknown-node", f"node {chunk.node}", amount=exact(chunk.load))
            else:
                chunks.append(chunk)
        yield from self._channel_violations(chunks)
        yield from self._node_violations(chunks)
        for chunk in chunks:
            yield from self._chunk_violations(tasks[chunk.task], chunk)
        yield from self._dropped_violations(tasks)
        yield from self._task_violations(chunks)

    def _decision_violations(self, tasks: dict[str, Task]) -> Iterator[Violation]:
        """Yield where a task is not decided once, at its arrival; a promise is not taken back."""
        counts = Counter(decision.task for decision in self.trace.decisions)
        for name in tasks:
            if counts[name] == 0:
                yield Violation("undecided", f"task {name}")
            elif counts[name] > 1:
                yield Violation("decided-twice", f"task {name}", amount=counts[name])
        promised = promised_before(self.instance)
        for decision in self.trace.decisions:
            if decision.task not in tasks:
                yield Violation("unknown-task", f"task {decision.task}")
                continue
            task, at = tasks[decision.task], exact(decision.at)
            if decision.task in promised and not (decision.accepted and decision.promised):
                yield Violation("promise-broken", f"task {decision.task}")
            off, late = at - exact(task.arrival), self._task_time_tolerance(task, at)
            before = decision.task in promised and at <= exact(self.instance.now)
            if off < -late or (off > late and not before):
                yield Violation("decision-time", f"task {decision.task}", at, amount=off)

    def _channel_violations(self, chunks: list[Executed]) -> Iterator[Violation]:
        free = channel_free_time(self.instance)
        sends = [
            (exact(c.transmission_start), self._released(c, c.transmission_end)) for c in chunks
        ]
        first = min(sends, default=None)
        if first is not None and free - first[0] > self.time_tolerance(first[0]):
            yield Violation("channel-not-ready", "channel", first[0], free, free - first[0])
        yield from self.overlap_violations("channel-overlap", "channel", overlaps(sends))

    def _node_violations(self, chunks: list[Executed]) -> Iterator[Violation]:
        """Yield where a node has two chunks at once, or one while it is not there."""
        chunks_of: dict[int, list[Executed]] = defaultdict(list)
        for chunk in chunks:
            chunks_of[chunk.node].append(chunk)
        failures: dict[int, list[Failure]] = defaultdict(list)
        for failure in self.scenario.failures:
            failures[failure.node].append(failure)
        free = node_free_times(self.instance)
        for node, parts in chunks_of.items():
            busy = [
                (exact(part.transmission_start), self._released(part, part.computation_end))
                for part in parts
            ]
            start, ready = min(busy)[0], free[node]
            if ready - start > self.time_tolerance(start):
                yield Violation("not-ready", f"node {node}", start, ready, ready - start)
            yield from self.overlap_violations("node-overlap", f"node {node}", overlaps(busy))
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
                kind = "node-down" if start >= begin else "failure-survived"
                yield Violation(kind, resource, max(start, begin), back, within)
            if lost is not None and start <= begin < end:
                lost = None if abs(lost - begin) <= self.time_tolerance(begin) else lost
        if lost is not None:
            yield Violation("lost-without-failure", resource, lost)

    def _chunk_violations(self, task: Task, chunk: Executed) -> Iterator[Violation]:
        cluster, load = self.instance.cluster, exact(chunk.load)
        resource = f"task {task.id} on node {chunk.node}"
        sent, received = exact(chunk.transmission_start), exact(chunk.transmission_end)
        begun, done = exact(chunk.computation_start), exact(chunk.computation_end)
        tau, chi = self._factors.get(task.id, (Fraction(1), Fraction(1)))
        send = exact(cluster.theta_cm) + load * exact(cluster.tau_of(chunk.node)) * tau
        compute = exact(cluster.theta_cp) + load * exact(cluster.chi_of(chunk.node)) * chi
        late, arrival = self._task_time_tolerance(task, done), exact(task.arrival)
        if load < -self.tolerance * exact(task.load):
            yield Violation("negative-load", resource, sent, received, -load)
        if arrival - sent > late:
            yield Violation("starts-before-arrival", resource, sent, arrival, arrival - sent)
        if received - begun > late:
            yield Violation("computes-before-received", resource, begun, received, received - begun)
        if abs(received - sent - send) > late:
            off = abs(received - sent - send)
            yield Violation("transmission-duration", resource, sent, received, off)
        if abs(done - begun - compute) > late:
            off = abs(done - begun - compute)
            yield Violation("computation-duration", resource, begun, done, off)

    def _dropped_violations(self, tasks: dict[str, Task]) -> Iterator[Violation]:
        for part in self.trace.dropped:
            task, load, at = tasks.get(part.task), exact(part.load), exact(part.at)
            if task is None:
                yield Violation("unknown-task", f"task {part.task}", amount=load)
                continue
            early = exact(task.arrival) - at
            if load < -self.tolerance * exact(task.load):
                yield Violation("negative-load", f"task {part.task}", at, amount=-load)
            if early > self._task_time_tolerance(task, at):
                yield Violation("dropped-before-arrival", f"task {part.task}", at, amount=early)

    def _task_violations(self, chunks: list[Executed]) -> Iterator[Violation]:
        """Yield where an accepted load is not accounted for, and where promises were not kept."""
        done: dict[str, Fraction] = defaultdict(Fraction)
        served: Counter[str] = Counter()
        ends: dict[str, Fraction] = {}
        for chunk in chunks:
            served[chunk.task] += 1
            if chunk.lost is None:
                done[chunk.task] += exact(chunk.load)
                end = exact(chunk.computation_end)
                ends[chunk.task] = max(end, ends.get(chunk.task, end))
        for part in self.trace.dropped:
            served[part.task] += 1
            done[part.task] += exact(part.load)
        late = missed(self.instance, self.trace, self.tolerance)
        remaining = loads_to_plan(self.instance)
        decisions = {decision.task: decision for decision in self.trace.decisions}
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
            if decision.promised and task.id in late:
                due = exact(task.arrival) + exact(task.deadline)
                end = ends.get(task.id, due)
                yield Violation("deadline", resource, due, end, max(end - due, Fraction(0)))

    def timeline_violations(self) -> Iterator[Violation]:
        """Yield where a chunk is stated to be done before it can be in exact numbers.

        The trace breaks no other rule.
        """
        tasks = {task.id: task for task in self.instance.tasks}
        promised = {decision.task for decision in self.trace.decisions if decision.promised}
        required_loads = loads_to_plan(self.instance)
        for name, done in self._done_of_dropped_tasks().items():
            # what was dropped makes up for the difference
            required_loads[name] = min(required_loads[name], done)
        for task in self.instance.tasks:
            if required_loads[task.id] <= self.tolerance * exact(task.load):
                required_loads[task.id] = Fraction(0)  # it may be left out
        for exact_chunk in exact_trace(self.instance, self.scenario, self.trace, required_loads):
            chunk, task = exact_chunk.chunk, tasks[exact_chunk.chunk.task]
            resource, due = f"task {task.id} on node {chunk.node}", exact(task.deadline)
            rounding = self.float_resolution(exact_chunk.end) * (
                1 + exact_chunk.chunks * _ROUNDING_PER_CHUNK
            )
            late = self.tolerance * due + rounding
            start, end = exact(chunk.transmission_start), exact(chunk.computation_end)
            early = max(exact_chunk.start - start, exact_chunk.end - end)
            if chunk.lost is None and task.id in promised:
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
            if chunk.task in done and chunk.lost is None:
                done[chunk.task] += max(exact(chunk.load), Fraction(0))
        return done

    @staticmethod
    def _released(chunk: Executed, end: Number) -> Fraction:
        """Return when a chunk lets go of what it holds."""
        return exact(end) if chunk.lost is None else min(exact(end), exact(chunk.lost))

    @cached_property
    def _factors(self) -> dict[str, tuple[Fraction, Fraction]]:
        return {f.task: (exact(f.tau), exact(f.chi)) for f in self.scenario.factors}

    @cached_property
    def time_scale(self) -> Fraction:
        """The shortest relative deadline of the accepted tasks; rejected ones use no resource."""
        accepted = {decision.task for decision in self.trace.decisions if decision.accepted}
        spans = [exact(task.deadline) for task in self.instance.tasks if task.id in accepted]
        return min(spans, default=Fraction(0))

    def _task_time_tolerance(self, task: Task, instant: Fraction) -> Fraction:
        """Return by how much an instant of a task may be off."""
        return self.tolerance * exact(task.deadline) + self.float_resolution(instant)
