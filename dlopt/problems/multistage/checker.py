"""The solution checker: decisions, grants and chunks against every constraint.

The constraints among tasks are those of `admission`; this module adds those of reservations.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from dlopt.problems.admission.trace_timeline import ReservedTimes
from dlopt.problems.checking import Checker
from dlopt.problems.intervals import Interval, crossings, overlaps
from dlopt.problems.multistage.checker_times import channel_end
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
    stream = stream_of(instance)
    if stream is not None:
        plan = TaskSolution(solution.decisions, solution.chunks)
        yield from admission_checker.violations(stream, plan, tolerance)
        return
    for decision in solution.decisions:
        yield Violation("unknown-task", f"task {decision.task}")
    for chunk in solution.chunks:
        yield Violation("unknown-task", f"task {chunk.task}", amount=exact(chunk.load))


def stream_of(instance: Instance) -> Stream | None:
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


def reserved_times(
    uses: Iterable[tuple[Iterable[int], Fraction, Fraction, Fraction]],
) -> ReservedTimes:
    """Return when channel and nodes are reserved.

    Parameters
    ----------
    uses : iterable of (iterable of int, Fraction, Fraction, Fraction)
        The nodes of each reservation, its start, the end of its I/O, and its end.
    """
    channel: list[Interval] = []
    on_nodes: dict[int, list[Interval]] = defaultdict(list)
    for nodes, start, io_end, end in uses:
        if start < io_end:
            channel.append((start, io_end))
        for node in set(nodes):
            on_nodes[node].append((start, end))
    return ReservedTimes(tuple(channel), on_nodes)


class ReservationChecker(Checker):
    """What the checkers of reservations in schedules and in executed traces have in common.

    Parameters
    ----------
    instance : Instance
    grants : iterable of Grant
    tolerance : float
    """

    def __init__(self, instance: Instance, grants: Iterable[Grant], tolerance: float) -> None:
        super().__init__(tolerance)
        self.instance, self.grants = instance, tuple(grants)
        self.reservations = {one.id: one for one in instance.reservations}

    def decision_violations(self) -> Iterator[Violation]:
        """Yield where a reservation is not decided once, at its arrival, on nodes as requested."""
        counts = Counter(grant.reservation for grant in self.grants)
        for name in self.reservations:
            if counts[name] == 0:
                yield Violation("reservation-undecided", f"reservation {name}")
            elif counts[name] > 1:
                amount = counts[name]
                yield Violation(
                    "duplicate-reservation-decision", f"reservation {name}", amount=amount
                )
        for grant in self.grants:
            reservation = self.reservations.get(grant.reservation)
            if reservation is None:
                yield Violation("unknown-reservation", f"reservation {grant.reservation}")
                continue
            yield from self._decision_violations(reservation, grant)
            if grant.accepted:
                yield from self.node_choice_violations(reservation, grant.nodes)

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

    def node_choice_violations(
        self, reservation: Reservation, nodes: Sequence[int]
    ) -> Iterator[Violation]:
        """Yield where a reservation does not have the requested nodes."""
        resource, asked = f"reservation {reservation.id}", reservation.nodes
        distinct = set(nodes)
        strange = [node for node in distinct if not 0 <= node < self.instance.cluster.nodes]
        named = not isinstance(asked, int)
        missing = 0 if isinstance(asked, int) else len(set(asked) - distinct)
        requested = asked if isinstance(asked, int) else len(asked)
        off = abs(len(nodes) - requested) + len(strange) + len(nodes) - len(distinct)
        if off or (named and missing):
            yield Violation("wrong-reservation-nodes", resource, amount=max(off, missing))

    def channel_violations(
        self, windows: Sequence[Interval], sends: Iterable[Interval]
    ) -> Iterator[Violation]:
        """Yield where the I/O of a reservation overlaps that of another, or a transmission.

        Parameters
        ----------
        windows : sequence of (Fraction, Fraction)
            When reservations use the channel.
        sends : iterable of (Fraction, Fraction)
        """
        busy = [(exact(self.instance.now), channel_free_time(self.instance))]
        shared = (*overlaps(windows), *crossings(windows, sends), *crossings(windows, busy))
        yield from self.overlap_violations("reservation-channel-overlap", "channel", shared)

    def node_violations(
        self, reserved: Mapping[int, Sequence[Interval]], used: Mapping[int, Sequence[Interval]]
    ) -> Iterator[Violation]:
        """Yield where a reserved node has another reservation, a chunk, or is not ready.

        Parameters
        ----------
        reserved, used : mapping of int to sequence of (Fraction, Fraction)
            When reservations and chunks use each node.
        """
        free_times = node_free_times(self.instance)
        for node, windows in reserved.items():
            busy = list(used.get(node, ()))
            if 0 <= node < len(free_times):
                busy.append((exact(self.instance.now), free_times[node]))
            shared = (*overlaps(windows), *crossings(windows, busy))
            yield from self.overlap_violations("reservation-node-overlap", f"node {node}", shared)

    @cached_property
    def time_scale(self) -> Fraction:
        """The shortest relative deadline or reservation."""
        spans = [exact(task.deadline) for task in self.instance.tasks]
        spans += [exact(one.end) - exact(one.start) for one in self.instance.reservations]
        return min(spans)


class _Checker(ReservationChecker):
    """The checker of the reservations of one schedule, in exact numbers."""

    def __init__(self, instance: Instance, solution: Solution, tolerance: float) -> None:
        super().__init__(instance, solution.grants, tolerance)
        self.solution = solution

    def violations(self) -> Iterator[Violation]:
        yield from self.decision_violations()
        chunks = self.solution.chunks
        sends = [(exact(c.transmission_start), exact(c.transmission_end)) for c in chunks]
        yield from self.channel_violations(self._reserved.channel, sends)
        used: dict[int, list[Interval]] = defaultdict(list)
        for chunk in chunks:
            interval = exact(chunk.transmission_start), exact(chunk.computation_end)
            used[chunk.node].append(interval)
        yield from self.node_violations(self._reserved.nodes, used)

    def timeline_violations(self) -> Iterator[Violation]:
        """Yield where chunks cannot be done before a reservation that they are stated to precede.

        The plan breaks no other rule.
        """
        stream = stream_of(self.instance)
        if stream is None or not self.solution.chunks:
            return
        required_loads = without_negligible_loads(
            stream.tasks, loads_to_plan(stream), self.tolerance
        )
        chunks = self.solution.chunks
        for resource, start, end in crossings_in_exact_numbers(
            stream, chunks, required_loads, *self._reserved
        ):
            if end - start > self.time_tolerance(end):
                yield Violation("earlier-than-possible", resource, start, end, end - start)

    @cached_property
    def _reserved(self) -> ReservedTimes:
        """When channel and nodes are reserved by what is accepted."""
        accepted = [
            (self.reservations[grant.reservation], grant.nodes)
            for grant in self.grants
            if grant.accepted and grant.reservation in self.reservations
        ]
        return reserved_times(
            (nodes, exact(one.start), channel_end(one), exact(one.end)) for one, nodes in accepted
        )
