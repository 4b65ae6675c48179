"""The solution checker: decisions, grants and chunks against every constraint.

The constraints among tasks are those of `admission`; this module adds those of reservations.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

from dlopt.arithmetic import exact
from dlopt.problems.admission import checker as admission_checker
from dlopt.problems.admission.checker_times import (
    channel_free_time,
    loads_to_plan,
    node_free_times,
    without_negligible_loads,
)
from dlopt.problems.admission.data import Instance as Stream
from dlopt.problems.admission.data import Solution as TaskSolution
from dlopt.problems.checking import Checker
from dlopt.problems.intervals import crossings, overlaps
from dlopt.problems.multistage.data import Grant, Instance, Reservation, Solution
from dlopt.problems.multistage.timeline import crossings_in_exact_numbers
from dlopt.result import Violation

KINDS = (
    *admission_checker.KINDS,
    "unknown-reservation",
    "reservation-undecided",
    "duplicate-reservation-decision",
    "wrong-reservation-decision-time",
    "guaranteed-reservation-rejected",
    "wrong-reservation-nodes",
    "reservation-channel-overlap",
    "reservation-node-overlap",
)
"""The kinds of violation that `violations` tells apart."""


def violations(
    instance: Instance, solution: Solution, tolerance: float = 0
) -> tuple[Violation, ...]:
    """Return every constraint that a schedule violates, decided in rational arithmetic.

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
        Empty if the schedule is feasible. Kinds: see `KINDS`.

    Notes
    -----
    An accepted reservation holds its nodes from its start to its end, and the channel from its
    start to the end of its I/O, exactly as promised. From `now` on, what is committed and what is
    not ready may not reach into either; what was before is not checked.
    Complexity: O(n log n) in tasks, reservations, chunks and reserved nodes.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> wanted = tuple(Reservation(name, 0, 1, 3) for name in "rs")
    >>> instance = Instance(Cluster(1, 1, 1), reservations=wanted)
    >>> grants = tuple(Grant(name, True, 0, (0,)) for name in "rs")
    >>> print(*violations(instance, Solution((), grants, ())))
    reservation-node-overlap on node 0 in [1, 3] by 2
    """
    checker = _Checker(instance, solution, tolerance)
    found = (*_task_violations(instance, solution, tolerance), *checker.violations())
    return found if found or not tolerance else tuple(checker.timeline_violations())


def _task_violations(
    instance: Instance, solution: Solution, tolerance: float
) -> Iterator[Violation]:
    stream = _stream(instance)
    if stream is not None:
        plan = TaskSolution(solution.decisions, solution.chunks)
        yield from admission_checker.violations(stream, plan, tolerance)
        return
    for decision in solution.decisions:
        yield Violation("unknown-task", f"task {decision.task}")
    for chunk in solution.chunks:
        yield Violation("unknown-task", f"task {chunk.task}", amount=exact(chunk.load))


def _stream(instance: Instance) -> Stream | None:
    """Return the instance without reservations; None if there is no task."""
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


def _channel_end(reservation: Reservation) -> Fraction:
    """Return when the channel is free of a reservation."""
    start = exact(reservation.start)
    if reservation.io_end is not None:
        return exact(reservation.io_end)
    return start + exact(reservation.io_ratio or 0) * (exact(reservation.end) - start)


class _Checker(Checker):
    """The checker of the reservations of one schedule, in exact numbers."""

    def __init__(self, instance: Instance, solution: Solution, tolerance: float) -> None:
        super().__init__(tolerance)
        self.instance, self.solution = instance, solution

    def violations(self) -> Iterator[Violation]:
        reservations = {reservation.id: reservation for reservation in self.instance.reservations}
        counts = Counter(grant.reservation for grant in self.solution.grants)
        for name in reservations:
            if counts[name] == 0:
                yield Violation("reservation-undecided", f"reservation {name}")
            elif counts[name] > 1:
                amount = counts[name]
                yield Violation(
                    "duplicate-reservation-decision", f"reservation {name}", amount=amount
                )
        accepted: list[tuple[Reservation, tuple[int, ...]]] = []
        for grant in self.solution.grants:
            reservation = reservations.get(grant.reservation)
            if reservation is None:
                yield Violation("unknown-reservation", f"reservation {grant.reservation}")
                continue
            yield from self._decision_violations(reservation, grant)
            if grant.accepted:
                yield from self._node_choice_violations(reservation, grant)
                accepted.append((reservation, grant.nodes))
        yield from self._channel_violations([reservation for reservation, _ in accepted])
        yield from self._node_violations(accepted)

    def _decision_violations(self, reservation: Reservation, grant: Grant) -> Iterator[Violation]:
        """Yield where a reservation is not decided at its arrival, or a promise is taken back."""
        resource, at, arrival = (
            f"reservation {reservation.id}",
            exact(grant.at),
            exact(reservation.arrival),
        )
        promised = exact(reservation.arrival) < exact(self.instance.now)
        if not grant.accepted and (promised or reservation.mandatory):
            yield Violation("guaranteed-reservation-rejected", resource)
        early_enough = promised and at <= exact(self.instance.now)
        off, late = at - arrival, self.time_tolerance(at)
        if off < -late or (off > late and not early_enough):
            yield Violation("wrong-reservation-decision-time", resource, at, amount=off)

    def _node_choice_violations(
        self, reservation: Reservation, grant: Grant
    ) -> Iterator[Violation]:
        """Yield where a reservation does not have the requested nodes."""
        resource, nodes = f"reservation {reservation.id}", set(grant.nodes)
        strange = [node for node in nodes if not 0 <= node < self.instance.cluster.nodes]
        named = not isinstance(reservation.nodes, int)
        missing = 0 if isinstance(reservation.nodes, int) else len(set(reservation.nodes) - nodes)
        requested = (
            reservation.nodes if isinstance(reservation.nodes, int) else len(reservation.nodes)
        )
        off = abs(len(grant.nodes) - requested) + len(strange) + len(grant.nodes) - len(nodes)
        if off or (named and missing):
            yield Violation("wrong-reservation-nodes", resource, amount=max(off, missing))

    def _channel_violations(self, accepted: list[Reservation]) -> Iterator[Violation]:
        """Yield where the I/O of a reservation meets that of another, or a transmission."""
        windows = [
            (exact(reservation.start), _channel_end(reservation)) for reservation in accepted
        ]
        sends = [
            (exact(chunk.transmission_start), exact(chunk.transmission_end))
            for chunk in self.solution.chunks
        ]
        busy = [(exact(self.instance.now), channel_free_time(self.instance))]
        shared = (*overlaps(windows), *crossings(windows, sends), *crossings(windows, busy))
        yield from self.overlap_violations("reservation-channel-overlap", "channel", shared)

    def _node_violations(
        self, accepted: list[tuple[Reservation, tuple[int, ...]]]
    ) -> Iterator[Violation]:
        """Yield where a reserved node has another reservation, a chunk, or is not ready."""
        reserved: dict[int, list[tuple[Fraction, Fraction]]] = defaultdict(list)
        for reservation, nodes in accepted:
            for node in set(nodes):
                reserved[node].append((exact(reservation.start), exact(reservation.end)))
        used: dict[int, list[tuple[Fraction, Fraction]]] = defaultdict(list)
        for chunk in self.solution.chunks:
            interval = exact(chunk.transmission_start), exact(chunk.computation_end)
            used[chunk.node].append(interval)
        for node, instant in enumerate(node_free_times(self.instance)):
            if node in reserved:
                used[node].append((exact(self.instance.now), instant))
        for node, windows in reserved.items():
            shared = (*overlaps(windows), *crossings(windows, used[node]))
            yield from self.overlap_violations("reservation-node-overlap", f"node {node}", shared)

    def timeline_violations(self) -> Iterator[Violation]:
        """Yield where chunks cannot be done before a reservation that they are stated to precede.

        The plan breaks no other rule.
        """
        stream = _stream(self.instance)
        if stream is None or not self.solution.chunks:
            return
        reservations = {reservation.id: reservation for reservation in self.instance.reservations}
        on_channel: list[tuple[Fraction, Fraction]] = []
        on_nodes: dict[int, list[tuple[Fraction, Fraction]]] = defaultdict(list)
        for grant in self.solution.grants:
            if grant.accepted:
                reservation = reservations[grant.reservation]
                if exact(reservation.start) < _channel_end(reservation):
                    on_channel.append((exact(reservation.start), _channel_end(reservation)))
                for node in grant.nodes:
                    on_nodes[node].append((exact(reservation.start), exact(reservation.end)))
        required_loads = without_negligible_loads(
            stream.tasks, loads_to_plan(stream), self.tolerance
        )
        chunks = self.solution.chunks
        for resource, start, end in crossings_in_exact_numbers(
            stream, chunks, required_loads, on_channel, on_nodes
        ):
            if end - start > self.time_tolerance(end):
                yield Violation("earlier-than-possible", resource, start, end, end - start)

    @cached_property
    def time_scale(self) -> Fraction:
        """The shortest relative deadline or reservation."""
        spans = [exact(task.deadline) for task in self.instance.tasks]
        spans += [
            exact(reservation.end) - exact(reservation.start)
            for reservation in self.instance.reservations
        ]
        return min(spans)
