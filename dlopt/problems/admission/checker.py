"""The rules: every way in which decisions and chunks can break them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dlopt.arithmetic import ROUNDING, exact
from dlopt.problems.admission.checker_times import (
    channel_free_time,
    loads_to_plan,
    node_free_times,
    promised_before,
)
from dlopt.problems.admission.data import Chunk, Decision, Instance, Solution, Task
from dlopt.problems.admission.timeline import exact_ends
from dlopt.problems.intervals import overlaps
from dlopt.result import Violation

KINDS = (
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

_A_CHUNK = Fraction(1, 16)
"""What a chunk may add to the rounding of the instants after it: four units in the last place."""


def violations(
    instance: Instance, solution: Solution, tolerance: float = 0
) -> tuple[Violation, ...]:
    """Return every way in which a plan breaks the rules, decided in rational arithmetic.

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
        Empty if the plan is valid. Kinds: see `KINDS`.

    Notes
    -----
    A task is decided at its arrival, or before `now` if it arrived before. A node holds one chunk
    at a time, from the start of its transmission to the end of its computation. Only promised
    deadlines are held against the plan.

    With a tolerance, and if nothing else is broken, the chunks are also done in their order in
    exact numbers, as early as can be (`dlopt.problems.admission.timeline`). There a task whose
    deadline is promised, or met as stated, must end by its deadline and one allowance: the
    tolerance times its relative deadline, and 64 units in the last place of that end. And no task
    may be stated to end before it ends there by more than that and 4 units for each chunk sent
    before. Else it is stated to end ``earlier-than-possible``. So every plan that passes is the
    rounding of an exact one whose only liberty is one allowance against each deadline.

    Complexity: O(n log n) in tasks and chunks.
    """
    rules = _Rules(instance, solution, tolerance)
    found = tuple(rules.broken())
    return found if found or not tolerance else tuple(rules.impossible())


@dataclass(frozen=True)
class _Rules:
    """The rules of one instance against one plan, as exact numbers."""

    instance: Instance
    solution: Solution
    tolerance: float

    def broken(self) -> Iterator[Violation]:
        tasks = {task.id: task for task in self.instance.tasks}
        yield from self._decisions(tasks)
        chunks = []
        for chunk in self.solution.chunks:
            if chunk.task not in tasks:
                yield Violation("unknown-task", f"task {chunk.task}", amount=exact(chunk.load))
            elif not 0 <= chunk.node < self.instance.cluster.nodes:
                yield Violation("unknown-node", f"node {chunk.node}", amount=exact(chunk.load))
            else:
                chunks.append(chunk)
        yield from self._channel(chunks)
        yield from self._nodes(chunks)
        said = {decision.task: decision for decision in self.solution.decisions}
        parts: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in chunks:
            parts[chunk.task].append(chunk)
            yield from self._chunk(tasks[chunk.task], chunk)
        remaining = loads_to_plan(self.instance)
        for task in self.instance.tasks:
            if task.id in said:
                left = remaining[task.id]
                yield from self._served(task, said[task.id], parts[task.id], left)

    def _decisions(self, tasks: dict[str, Task]) -> Iterator[Violation]:
        """Yield where a task is not decided once, at its arrival; a promise is not taken back."""
        counts = Counter(decision.task for decision in self.solution.decisions)
        for name in tasks:
            if counts[name] == 0:
                yield Violation("undecided", f"task {name}")
            elif counts[name] > 1:
                yield Violation("decided-twice", f"task {name}", amount=counts[name])
        promised = promised_before(self.instance)
        for decision in self.solution.decisions:
            task = tasks.get(decision.task)
            if task is None:
                yield Violation("unknown-task", f"task {decision.task}")
                continue
            if decision.task in promised and not (decision.accepted and decision.promised):
                yield Violation("promise-broken", f"task {decision.task}")
            at, arrival = exact(decision.at), exact(task.arrival)
            off = at - arrival
            early_enough = decision.task in promised and at <= exact(self.instance.now)
            late = exact(self.tolerance) * exact(task.deadline) + self._resolution(at)
            if off < -late or (off > late and not early_enough):
                yield Violation("decision-time", f"task {decision.task}", at, amount=off)

    def _channel(self, chunks: list[Chunk]) -> Iterator[Violation]:
        free = channel_free_time(self.instance)
        sends = [(exact(c.transmission_start), exact(c.transmission_end)) for c in chunks]
        first = min(sends, default=None)
        if first is not None and free - first[0] > self._late(first[0]):
            yield Violation("channel-not-ready", "channel", first[0], free, free - first[0])
        yield from self._overlaps("channel", sends)

    def _nodes(self, chunks: list[Chunk]) -> Iterator[Violation]:
        """Yield where a node has two chunks at once, counting from reception to result."""
        busy: dict[int, list[tuple[Fraction, Fraction]]] = defaultdict(list)
        for chunk in chunks:
            held = exact(chunk.transmission_start), exact(chunk.computation_end)
            busy[chunk.node].append(held)
        free = node_free_times(self.instance)
        for node, intervals in busy.items():
            start, ready = min(intervals)[0], free[node]
            if ready - start > self._late(start):
                yield Violation("not-ready", f"node {node}", start, ready, ready - start)
            yield from self._overlaps(f"node {node}", intervals)

    def _overlaps(
        self, resource: str, intervals: Iterable[tuple[Fraction, Fraction]]
    ) -> Iterator[Violation]:
        kind = "channel-overlap" if resource == "channel" else "node-overlap"
        for shared in overlaps(intervals):
            if shared.amount > self._late(exact(shared.end)):
                yield Violation(kind, resource, *shared)

    def _chunk(self, task: Task, chunk: Chunk) -> Iterator[Violation]:
        cluster = self.instance.cluster
        resource = f"task {task.id} on node {chunk.node}"
        load = exact(chunk.load)
        sent, received = exact(chunk.transmission_start), exact(chunk.transmission_end)
        begun, done = exact(chunk.computation_start), exact(chunk.computation_end)
        send = exact(cluster.theta_cm) + load * exact(cluster.tau_of(chunk.node))
        compute = exact(cluster.theta_cp) + load * exact(cluster.chi_of(chunk.node))
        late = exact(self.tolerance) * exact(task.deadline) + self._resolution(done)
        arrival = exact(task.arrival)
        if load < -exact(self.tolerance) * exact(task.load):
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

    def _served(
        self, task: Task, decision: Decision, chunks: list[Chunk], remaining: Fraction
    ) -> Iterator[Violation]:
        """Yield where an accepted task is not computed whole, and in time if that was promised."""
        resource = f"task {task.id}"
        if not decision.accepted:
            if chunks:
                yield Violation("rejected-task-served", resource, amount=len(chunks))
            return
        missing = remaining - sum((exact(chunk.load) for chunk in chunks), Fraction(0))
        if abs(missing) > exact(self.tolerance) * exact(task.load):
            yield Violation("load-not-conserved", resource, amount=missing)
        deadline = exact(task.arrival) + exact(task.deadline)
        done = max((exact(chunk.computation_end) for chunk in chunks), default=deadline)
        late = exact(self.tolerance) * exact(task.deadline) + self._resolution(done)
        if decision.promised and done - deadline > late:
            yield Violation("deadline", resource, deadline, done, done - deadline)

    def impossible(self) -> Iterator[Violation]:
        """Yield where a task is stated to end, or to be in time, and in exact numbers cannot.

        The plan breaks no other rule.
        """
        promised = {said.task: said.promised for said in self.solution.decisions if said.accepted}
        tolerance, needs = exact(self.tolerance), loads_to_plan(self.instance)
        for task in self.instance.tasks:
            if needs[task.id] <= tolerance * exact(task.load):
                needs[task.id] = Fraction(0)  # it may be left out
        stated: dict[str, Fraction] = {}
        for chunk in self.solution.chunks:
            end = exact(chunk.computation_end)
            stated[chunk.task] = max(end, stated.get(chunk.task, end))
        ends = exact_ends(self.instance, self.solution.chunks, needs)
        for task in self.instance.tasks:
            if task.id not in ends:
                continue
            (end, chunks), done = ends[task.id], stated[task.id]
            deadline = exact(task.arrival) + exact(task.deadline)
            span, resolution = tolerance * exact(task.deadline), self._resolution(end)
            in_time = promised[task.id] or done <= deadline
            late = in_time and end - deadline > span + resolution
            if late or end - done > span + resolution * (1 + chunks * _A_CHUNK):
                yield Violation("earlier-than-possible", f"task {task.id}", done, end, end - done)

    def _late(self, instant: Fraction) -> Fraction:
        """Return by how much two tasks may come too close at an instant."""
        if not self.tolerance:
            return Fraction(0)
        return exact(self.tolerance) * self._shortest + self._resolution(instant)

    @cached_property
    def _shortest(self) -> Fraction:
        """The shortest deadline of a task that is accepted: what is rejected is in nobody's way."""
        accepted = {decision.task for decision in self.solution.decisions if decision.accepted}
        spans = [exact(task.deadline) for task in self.instance.tasks if task.id in accepted]
        return min(spans, default=Fraction(0))

    def _resolution(self, instant: Fraction) -> Fraction:
        """Return how much an instant may be off for being a float."""
        return abs(instant) * ROUNDING if self.tolerance else Fraction(0)
