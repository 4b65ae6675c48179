"""The rules: every way in which decisions, grants and chunks can break them.

What tasks must keep among themselves is the rule of `admission`; this adds reservations.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dlopt.arithmetic import ROUNDING, exact
from dlopt.problems.admission import checker as of_tasks
from dlopt.problems.admission.checker_times import (
    channel_free_time,
    loads_to_plan,
    node_free_times,
)
from dlopt.problems.admission.data import Instance as Stream
from dlopt.problems.admission.data import Solution as PlanOfTasks
from dlopt.problems.intervals import Overlap, crossings, overlaps
from dlopt.problems.multistage.data import Grant, Instance, Reservation, Solution
from dlopt.problems.multistage.timeline import crossings_in_exact_numbers
from dlopt.result import Violation

KINDS = (
    *of_tasks.KINDS,
    "unknown-reservation",
    "reservation-undecided",
    "reservation-decided-twice",
    "reservation-decision-time",
    "reservation-broken",
    "reservation-nodes",
    "reservation-on-channel",
    "reservation-on-node",
)
"""The kinds of violation that `violations` tells apart."""


def violations(
    instance: Instance, solution: Solution, tolerance: float = 0
) -> tuple[Violation, ...]:
    """Return every way in which a plan breaks the rules, decided in rational arithmetic.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    tolerance : float, default 0
        As for `admission`; a reservation and a chunk, or two reservations, may overlap by
        `tolerance` times the shortest relative deadline or reservation, and by 64 units in the
        last place. What is allowed does not add up: in the exact timeline of the plan
        (`dlopt.problems.multistage.timeline`) no chunk may reach further than that into a
        reservation which it is stated to precede, else it is ``earlier-than-possible``.

    Returns
    -------
    tuple of Violation
        Empty if the plan is valid. Kinds: see `KINDS`.

    Notes
    -----
    An accepted reservation holds its nodes from its start to its end, and the channel from its
    start to the end of its I/O, exactly as promised. From `now` on, what is committed and what is
    not ready may not reach into either; what was before is not looked at.
    Complexity: O(n log n) in tasks, reservations, chunks and reserved nodes.
    """
    rules = _Rules(instance, solution, tolerance)
    found = (*_of_tasks(instance, solution, tolerance), *rules.broken())
    return found if found or not tolerance else tuple(rules.impossible())


def _of_tasks(instance: Instance, solution: Solution, tolerance: float) -> Iterator[Violation]:
    stream = _stream(instance)
    if stream is not None:
        plan = PlanOfTasks(solution.decisions, solution.chunks)
        yield from of_tasks.violations(stream, plan, tolerance)
        return
    for decision in solution.decisions:
        yield Violation("unknown-task", f"task {decision.task}")
    for chunk in solution.chunks:
        yield Violation("unknown-task", f"task {chunk.task}", amount=exact(chunk.load))


def _stream(instance: Instance) -> Stream | None:
    """Return the tasks, and the cluster as it stands, without reservations; None if no task is."""
    if not instance.tasks:
        return None
    return Stream(
        cluster=instance.cluster,
        tasks=instance.tasks,
        now=instance.now,
        ready_times=instance.ready_times,
        channel_ready=instance.channel_ready,
        committed=instance.committed,
    )


def _channel_end(one: Reservation) -> Fraction:
    """Return when the channel is free of a reservation."""
    start = exact(one.start)
    if one.io_end is not None:
        return exact(one.io_end)
    return start + exact(one.io_ratio or 0) * (exact(one.end) - start)


@dataclass(frozen=True)
class _Rules:
    """The rules of reservations against one plan, as exact numbers."""

    instance: Instance
    solution: Solution
    tolerance: float

    def broken(self) -> Iterator[Violation]:
        wanted = {one.id: one for one in self.instance.reservations}
        counts = Counter(grant.reservation for grant in self.solution.grants)
        for name in wanted:
            if counts[name] == 0:
                yield Violation("reservation-undecided", f"reservation {name}")
            elif counts[name] > 1:
                amount = counts[name]
                yield Violation("reservation-decided-twice", f"reservation {name}", amount=amount)
        held: list[tuple[Reservation, tuple[int, ...]]] = []
        for grant in self.solution.grants:
            one = wanted.get(grant.reservation)
            if one is None:
                yield Violation("unknown-reservation", f"reservation {grant.reservation}")
                continue
            yield from self._decided(one, grant)
            if grant.accepted:
                yield from self._placed(one, grant)
                held.append((one, grant.nodes))
        yield from self._channel([one for one, _ in held])
        yield from self._nodes(held)

    def _decided(self, one: Reservation, grant: Grant) -> Iterator[Violation]:
        """Yield where a reservation is not decided at its arrival, or a promise is taken back."""
        resource, at, arrival = f"reservation {one.id}", exact(grant.at), exact(one.arrival)
        promised = exact(one.arrival) < exact(self.instance.now)
        if not grant.accepted and (promised or one.mandatory):
            yield Violation("reservation-broken", resource)
        early_enough = promised and at <= exact(self.instance.now)
        off, late = at - arrival, self._late(at)
        if off < -late or (off > late and not early_enough):
            yield Violation("reservation-decision-time", resource, at, amount=off)

    def _placed(self, one: Reservation, grant: Grant) -> Iterator[Violation]:
        """Yield where a reservation has not the nodes that it wants."""
        resource, nodes = f"reservation {one.id}", set(grant.nodes)
        strange = [node for node in nodes if not 0 <= node < self.instance.cluster.nodes]
        named = isinstance(one.nodes, tuple)
        missing = len(set(one.nodes) - nodes) if isinstance(one.nodes, tuple) else 0
        wanted = len(one.nodes) if isinstance(one.nodes, tuple) else one.nodes
        off = abs(len(grant.nodes) - wanted) + len(strange) + len(grant.nodes) - len(nodes)
        if off or (named and missing):
            yield Violation("reservation-nodes", resource, amount=max(off, missing))

    def _channel(self, held: list[Reservation]) -> Iterator[Violation]:
        """Yield where the I/O of a reservation meets that of another, or a transmission."""
        windows = [(exact(one.start), _channel_end(one)) for one in held]
        sends = [
            (exact(chunk.transmission_start), exact(chunk.transmission_end))
            for chunk in self.solution.chunks
        ]
        busy = [(exact(self.instance.now), channel_free_time(self.instance))]
        shared = (*overlaps(windows), *crossings(windows, sends), *crossings(windows, busy))
        yield from self._told("reservation-on-channel", "channel", shared)

    def _nodes(self, held: list[tuple[Reservation, tuple[int, ...]]]) -> Iterator[Violation]:
        """Yield where a reserved node has another reservation, a chunk, or is not ready."""
        reserved: dict[int, list[tuple[Fraction, Fraction]]] = defaultdict(list)
        for one, nodes in held:
            for node in set(nodes):
                reserved[node].append((exact(one.start), exact(one.end)))
        used: dict[int, list[tuple[Fraction, Fraction]]] = defaultdict(list)
        for chunk in self.solution.chunks:
            interval = exact(chunk.transmission_start), exact(chunk.computation_end)
            used[chunk.node].append(interval)
        for node, instant in enumerate(node_free_times(self.instance)):
            if node in reserved:
                used[node].append((exact(self.instance.now), instant))
        for node, windows in reserved.items():
            shared = (*overlaps(windows), *crossings(windows, used[node]))
            yield from self._told("reservation-on-node", f"node {node}", shared)

    def impossible(self) -> Iterator[Violation]:
        """Yield where chunks cannot be done before a reservation that they are stated to precede.

        The plan breaks no other rule.
        """
        stream = _stream(self.instance)
        if stream is None or not self.solution.chunks:
            return
        wanted = {one.id: one for one in self.instance.reservations}
        on_channel: list[tuple[Fraction, Fraction]] = []
        on_nodes: dict[int, list[tuple[Fraction, Fraction]]] = defaultdict(list)
        for grant in self.solution.grants:
            if grant.accepted:
                one = wanted[grant.reservation]
                if exact(one.start) < _channel_end(one):
                    on_channel.append((exact(one.start), _channel_end(one)))
                for node in grant.nodes:
                    on_nodes[node].append((exact(one.start), exact(one.end)))
        needs = loads_to_plan(stream)
        for task in stream.tasks:
            if needs[task.id] <= exact(self.tolerance) * exact(task.load):
                needs[task.id] = Fraction(0)  # it may be left out
        chunks = self.solution.chunks
        for resource, start, end in crossings_in_exact_numbers(
            stream, chunks, needs, on_channel, on_nodes
        ):
            if end - start > self._late(end):
                yield Violation("earlier-than-possible", resource, start, end, end - start)

    def _told(self, kind: str, resource: str, shared: Iterable[Overlap]) -> Iterator[Violation]:
        for overlap in shared:
            if overlap.amount > self._late(exact(overlap.end)):
                yield Violation(kind, resource, *overlap)

    def _late(self, instant: Fraction) -> Fraction:
        """Return by how much two things may come too close at an instant."""
        if not self.tolerance:
            return Fraction(0)
        return exact(self.tolerance) * self._shortest + abs(instant) * ROUNDING

    @cached_property
    def _shortest(self) -> Fraction:
        spans = [exact(task.deadline) for task in self.instance.tasks]
        spans += [exact(one.end) - exact(one.start) for one in self.instance.reservations]
        return min(spans)
