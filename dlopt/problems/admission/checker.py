"""The solution checker: decisions and chunks against every constraint of the problem."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property

from dlopt.arithmetic import exact
from dlopt.problems.admission.checker_times import (
    channel_free_time,
    loads_to_plan,
    node_free_times,
    promised_before,
    without_negligible_loads,
)
from dlopt.problems.admission.data import Chunk, Decision, Instance, Solution, Task
from dlopt.problems.admission.timeline import exact_ends
from dlopt.problems.admission.trace import Executed
from dlopt.problems.checking import Checker
from dlopt.problems.intervals import Interval, overlaps
from dlopt.result import Violation

KINDS = (
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
    "starts-before-arrival",
    "computes-before-received",
    "transmission-duration",
    "computation-duration",
    "negative-load",
    "load-not-conserved",
    "deadline",
    "earlier-than-possible",
)
"""The kinds of violation that `violations` tells apart; the last one only with a tolerance."""

_ROUNDING_PER_CHUNK = Fraction(1, 16)
"""What a chunk adds to the allowed rounding of the instants after it, as a share of
`dlopt.arithmetic.ROUNDING`: four of its 64 units in the last place."""


def violations(
    instance: Instance, solution: Solution, tolerance: float = 0
) -> tuple[Violation, ...]:
    """Return every constraint that a schedule violates, decided in rational arithmetic.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    tolerance : float, default 0
        Relative: a task's load may be off by `tolerance` times that load, its times by
        `tolerance` times its relative deadline, and two tasks may overlap by `tolerance` times
        the shortest relative deadline of accepted tasks. If it is not 0, times may also be off by
        64 units in the last place; and what is allowed does not add up, see Notes.

    Returns
    -------
    tuple of Violation
        Empty if the schedule is feasible. Kinds: see `KINDS`.

    Notes
    -----
    A task is decided at its arrival, or before `now` if it arrived before. A node holds one chunk
    at a time, from the start of its transmission to the end of its computation. Only promised
    deadlines are checked.

    With a tolerance, and if nothing else is broken, the chunks are also done in their order in
    exact numbers, as early as can be (`dlopt.problems.admission.timeline`). There a task whose
    deadline is promised, or met as stated, must end by its deadline and one allowance: the
    tolerance times its relative deadline, and 64 units in the last place of that end. And no task
    may be stated to end before it ends there by more than that and 4 units for each chunk sent
    before. Else it is stated to end ``earlier-than-possible``. So every plan that passes is the
    rounding of an exact one whose only liberty is one allowance against each deadline.

    Complexity: O(n log n) in tasks and chunks.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 1, 4),))
    >>> chunk = Chunk("a", 0, 1, 3, 4, 4, 5)
    >>> solution = Solution((Decision("a", True, 0),), (chunk,))
    >>> print(*violations(instance, solution))
    deadline on task a in [4, 5] by 1
    """
    checker = _Checker(instance, solution, tolerance)
    found = tuple(checker.violations())
    return found if found or not tolerance else tuple(checker.timeline_violations())


class StreamChecker(Checker):
    """What the checkers of schedules and of executed traces have in common, in exact numbers.

    Parameters
    ----------
    instance : Instance
    decisions : tuple of Decision
    tolerance : float
    """

    def __init__(
        self, instance: Instance, decisions: tuple[Decision, ...], tolerance: float
    ) -> None:
        super().__init__(tolerance)
        self.instance, self.decisions = instance, decisions
        self.tasks = {task.id: task for task in instance.tasks}

    def decision_violations(self) -> Iterator[Violation]:
        """Yield where a task is not decided once, at its arrival; a promise is not taken back."""
        counts = Counter(decision.task for decision in self.decisions)
        for name in self.tasks:
            if counts[name] == 0:
                yield Violation("undecided", f"task {name}")
            elif counts[name] > 1:
                yield Violation("duplicate-decision", f"task {name}", amount=counts[name])
        promised = promised_before(self.instance)
        for decision in self.decisions:
            task = self.tasks.get(decision.task)
            if task is None:
                yield Violation("unknown-task", f"task {decision.task}")
                continue
            if decision.task in promised and not (decision.accepted and decision.promised):
                yield Violation("promised-task-rejected", f"task {decision.task}")
            at, arrival = exact(decision.at), exact(task.arrival)
            off = at - arrival
            early_enough = decision.task in promised and at <= exact(self.instance.now)
            late = self.task_time_tolerance(task, at)
            if off < -late or (off > late and not early_enough):
                yield Violation("wrong-decision-time", f"task {decision.task}", at, amount=off)

    def is_known(self, chunk: Chunk | Executed) -> bool:
        """Tell whether the task and the node of a chunk exist."""
        return chunk.task in self.tasks and 0 <= chunk.node < self.instance.cluster.nodes

    def unknown_violations(self, chunks: Iterable[Chunk | Executed]) -> Iterator[Violation]:
        """Yield the chunks whose task or node does not exist."""
        for chunk in chunks:
            if chunk.task not in self.tasks:
                yield Violation("unknown-task", f"task {chunk.task}", amount=exact(chunk.load))
            elif not self.is_known(chunk):
                yield Violation("unknown-node", f"node {chunk.node}", amount=exact(chunk.load))

    def channel_violations(self, sends: Sequence[Interval]) -> Iterator[Violation]:
        """Yield where two transmissions overlap, or the first is before the channel is free."""
        free = channel_free_time(self.instance)
        first = min(sends, default=None)
        if first is not None and free - first[0] > self.time_tolerance(first[0]):
            yield Violation("channel-not-ready", "channel", first[0], free, free - first[0])
        yield from self.overlap_violations("channel-overlap", "channel", overlaps(sends))

    def node_violations(self, node: int, busy: Sequence[Interval]) -> Iterator[Violation]:
        """Yield where a node has two chunks at once, or the first before it is ready.

        Each counts from the start of its transmission to the end of its computation.
        """
        start, ready = min(busy)[0], self._node_free_times[node]
        if ready - start > self.time_tolerance(start):
            yield Violation("node-not-ready", f"node {node}", start, ready, ready - start)
        yield from self.overlap_violations("node-overlap", f"node {node}", overlaps(busy))

    @cached_property
    def _node_free_times(self) -> list[Fraction]:
        return node_free_times(self.instance)

    def chunk_violations(
        self, chunk: Chunk | Executed, tau_factor: Fraction, chi_factor: Fraction
    ) -> Iterator[Violation]:
        """Yield where a chunk alone violates a constraint.

        Parameters
        ----------
        chunk : Chunk or Executed
        tau_factor, chi_factor : Fraction
            What the costs of its task are multiplied by.
        """
        cluster, task = self.instance.cluster, self.tasks[chunk.task]
        resource = f"task {task.id} on node {chunk.node}"
        load = exact(chunk.load)
        sent, received = exact(chunk.transmission_start), exact(chunk.transmission_end)
        begun, done = exact(chunk.computation_start), exact(chunk.computation_end)
        send = exact(cluster.theta_cm) + load * exact(cluster.tau_of(chunk.node)) * tau_factor
        compute = exact(cluster.theta_cp) + load * exact(cluster.chi_of(chunk.node)) * chi_factor
        late = self.task_time_tolerance(task, done)
        arrival = exact(task.arrival)
        if load < -self.tolerance * exact(task.load):
            yield Violation("negative-load", resource, sent, received, -load)
        if arrival - sent > late:
            yield Violation("starts-before-arrival", resource, sent, arrival, arrival - sent)
        if received - begun > late:
            yield Violation("computes-before-received", resource, begun, received, received - begun)
        for kind, start, end, needed in (
            ("transmission-duration", sent, received, send),
            ("computation-duration", begun, done, compute),
        ):
            if abs(end - start - needed) > late:
                yield Violation(kind, resource, start, end, abs(end - start - needed))

    def accumulated_resolution(self, instant: Fraction, chunks: int) -> Fraction:
        """Return by how much the end of a row of chunks may be off because instants are floats."""
        return self.float_resolution(instant) * (1 + chunks * _ROUNDING_PER_CHUNK)

    def task_time_tolerance(self, task: Task, instant: Fraction) -> Fraction:
        """Return by how much an instant of a task may be off."""
        return self.tolerance * exact(task.deadline) + self.float_resolution(instant)

    @cached_property
    def time_scale(self) -> Fraction:
        """The shortest relative deadline of the accepted tasks; rejected ones use no resource."""
        accepted = {decision.task for decision in self.decisions if decision.accepted}
        spans = [exact(task.deadline) for task in self.instance.tasks if task.id in accepted]
        return min(spans, default=Fraction(0))


class _Checker(StreamChecker):
    """The checker of one schedule."""

    def __init__(self, instance: Instance, solution: Solution, tolerance: float) -> None:
        super().__init__(instance, tuple(solution.decisions), tolerance)
        self.solution = solution

    def violations(self) -> Iterator[Violation]:
        yield from self.decision_violations()
        yield from self.unknown_violations(self.solution.chunks)
        chunks = [chunk for chunk in self.solution.chunks if self.is_known(chunk)]
        sends = [(exact(c.transmission_start), exact(c.transmission_end)) for c in chunks]
        yield from self.channel_violations(sends)
        busy: dict[int, list[Interval]] = defaultdict(list)
        parts: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in chunks:
            occupied = exact(chunk.transmission_start), exact(chunk.computation_end)
            busy[chunk.node].append(occupied)
            parts[chunk.task].append(chunk)
        for node, intervals in busy.items():
            yield from self.node_violations(node, intervals)
        for chunk in chunks:
            yield from self.chunk_violations(chunk, Fraction(1), Fraction(1))
        decisions = {decision.task: decision for decision in self.decisions}
        remaining = loads_to_plan(self.instance)
        for task in self.instance.tasks:
            if task.id in decisions:
                left = remaining[task.id]
                yield from self._task_violations(task, decisions[task.id], parts[task.id], left)

    def _task_violations(
        self, task: Task, decision: Decision, chunks: list[Chunk], remaining: Fraction
    ) -> Iterator[Violation]:
        """Yield where an accepted task is not computed whole, and in time if that was promised."""
        resource = f"task {task.id}"
        if not decision.accepted:
            if chunks:
                yield Violation("rejected-task-served", resource, amount=len(chunks))
            return
        missing = remaining - sum((exact(chunk.load) for chunk in chunks), Fraction(0))
        if abs(missing) > self.tolerance * exact(task.load):
            yield Violation("load-not-conserved", resource, amount=missing)
        deadline = exact(task.arrival) + exact(task.deadline)
        done = max((exact(chunk.computation_end) for chunk in chunks), default=deadline)
        late = self.task_time_tolerance(task, done)
        if decision.promised and done - deadline > late:
            yield Violation("deadline", resource, deadline, done, done - deadline)

    def timeline_violations(self) -> Iterator[Violation]:
        """Yield where a task is stated to end, or to be in time, and in exact numbers cannot.

        The plan breaks no other rule.
        """
        promised = {
            decision.task: decision.promised for decision in self.decisions if decision.accepted
        }
        required_loads = without_negligible_loads(
            self.instance.tasks, loads_to_plan(self.instance), self.tolerance
        )
        stated: dict[str, Fraction] = {}
        for chunk in self.solution.chunks:
            end = exact(chunk.computation_end)
            stated[chunk.task] = max(end, stated.get(chunk.task, end))
        ends = exact_ends(self.instance, self.solution.chunks, required_loads)
        for task in self.instance.tasks:
            if task.id not in ends:
                continue
            (end, chunks), done = ends[task.id], stated[task.id]
            deadline = exact(task.arrival) + exact(task.deadline)
            span = self.tolerance * exact(task.deadline)
            in_time = promised[task.id] or done <= deadline
            late = in_time and end - deadline > span + self.float_resolution(end)
            if late or end - done > span + self.accumulated_resolution(end, chunks):
                yield Violation("earlier-than-possible", f"task {task.id}", done, end, end - done)
