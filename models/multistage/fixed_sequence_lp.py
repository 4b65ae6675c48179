"""The linear program of a fixed sequence of chunks around reservations, and its schedule.

The starts of reservations divide the window of a task into gaps. A chunk ``a = (task i, node j,
gap)`` starts in its gap ``[b, e]``: after reservations that start by `b`, before the others. T is
the maximum lateness:

minimise    T
subject to  e >= s_a >= max(release_i, free_j, b, ends of the reservations before)
            s_a + theta_cm + tau_j x_a <= start of the next reservation's I/O
            s_a + theta + w_j x_a <= start of the node's next reservation     (w = tau + chi)
            T >= s_a + theta + w_j x_a - due_i
            s_b >= s_a + theta_cm + tau_a x_a                  b is next on the port
            s_b >= s_a + theta + w_a x_a                       b is next on the node
            sum_a x_a = load_i                                 every accepted task
            x >= 0

The sequence is feasible if ``T <= 0``. Then its chunks are scheduled as early as the sequence
allows, in fractions: only a schedule that meets the deadlines in exact arithmetic counts.

Source: ours; `dlopt.models.admission.fixed_sequence_lp` with reservations.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple, Self

from dlopt.arithmetic import Number
from dlopt.backends.pulp import Term, linear
from dlopt.models.admission.fixed_sequence_lp import FixedSequenceLp as TaskSequenceLp
from dlopt.models.admission.fixed_sequence_lp import uses_port
from dlopt.models.multistage.rounding_feasibility import (
    as_early_as_possible,
    is_feasible_when_rounded,
)
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.problems.admission.data import Chunk, Decision
from dlopt.problems.multistage.data import Grant, Solution
from dlopt.result import Limits

Grants = Mapping[int, tuple[int, ...]]
"""Accepted reservations, by their indices in the scaled instance, and the nodes that they get."""


class UnsizedChunk(NamedTuple):
    """A chunk without its load: the task and its gap, by their indices, and the node."""

    task: int
    node: int
    gap: int


class ChunkWindow(NamedTuple):
    """When a chunk may start, and when it must be sent and computed, its deadline aside."""

    earliest_start: Fraction
    latest_start: Fraction
    send_by: Fraction | None
    compute_by: Fraction | None


def task_gaps(scaled: ScaledInstance, i: int) -> list[tuple[Fraction, Fraction]]:
    """Return the gaps of a task."""
    task = scaled.tasks[i]
    inside = [start for start in scaled.reservation_starts if task.release < start < task.due]
    return list(pairwise([task.release, *inside, task.due]))


def chunk_at(scaled: ScaledInstance, task: int, node: int, start: Fraction) -> UnsizedChunk:
    """Return a chunk that is sent at an instant, with its gap."""
    begins = [begin for begin, _ in task_gaps(scaled, task)]
    return UnsizedChunk(task, node, max(bisect_right(begins, start) - 1, 0))


def chunk_window(scaled: ScaledInstance, chunk: UnsizedChunk, grants: Grants) -> ChunkWindow:
    """Return when a chunk may be sent between the reservations that are accepted."""
    begin, end = task_gaps(scaled, chunk.task)[chunk.gap]
    start = max(begin, scaled.tasks_only.free[chunk.node])
    send_by: Fraction | None = None
    compute_by: Fraction | None = None
    on_port = uses_port(scaled.tasks_only, chunk.node)
    for r, nodes in grants.items():
        reservation, on_node = scaled.reservations[r], chunk.node in nodes
        on_channel = on_port and reservation.io_end > reservation.start
        if reservation.start <= begin:
            start = max(
                start,
                reservation.io_end if on_channel else start,
                reservation.end if on_node else start,
            )
            continue
        if on_channel:
            send_by = reservation.start if send_by is None else min(send_by, reservation.start)
        if on_node:
            compute_by = (
                reservation.start if compute_by is None else min(compute_by, reservation.start)
            )
    return ChunkWindow(start, end, send_by, compute_by)


def _chunk_windows(
    scaled: ScaledInstance,
    sequence: Sequence[UnsizedChunk],
    grants: Grants,
    earliest_starts: Sequence[Fraction],
) -> list[ChunkWindow]:
    """Return the window of each chunk, from its earliest start on if these are given."""
    windows = [chunk_window(scaled, chunk, grants) for chunk in sequence]
    if not earliest_starts:
        return windows
    return [
        window._replace(earliest_start=max(window.earliest_start, start))
        for window, start in zip(windows, earliest_starts, strict=True)
    ]


class FixedSequenceLp(TaskSequenceLp):
    """The program above.

    Parameters
    ----------
    scaled : ScaledInstance
    sequence : sequence of UnsizedChunk
        In the order of their transmissions.
    grants : Grants
    earliest_starts : sequence of Fraction
        If they are given, no chunk is sent before.
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        sequence: Sequence[UnsizedChunk],
        grants: Grants,
        earliest_starts: Sequence[Fraction] = (),
    ) -> None:
        self.windows = _chunk_windows(scaled, sequence, grants, earliest_starts)
        starts = [window.earliest_start for window in self.windows]
        super().__init__(scaled.tasks_only, sequence, starts)
        self.proven = scaled.instance.exact  # whether the optimum is to be exact

    def minimise_lateness(self) -> Self:
        """State the program above."""
        super().minimise_lateness()
        self.add_windows()
        return self

    def add_windows(self) -> None:
        """Start a chunk in its gap, and end it before the reservations that follow."""
        for p, window in enumerate(self.windows):
            node = self.sequence[p].node
            start: Term = (1, self.start[p])
            self.problem += linear([start]) <= window.latest_start
            if window.send_by is not None:
                terms = [start, (self.scaled.tau[node], self.load[p])]
                self.problem += linear(terms) <= window.send_by - self.scaled.theta_cm
            if window.compute_by is not None:
                terms = [start, (self.scaled.unit_time(node), self.load[p])]
                self.problem += linear(terms) <= window.compute_by - self.scaled.overhead


def schedule_sequence(
    scaled: ScaledInstance,
    sequence: Sequence[UnsizedChunk],
    accepted: Collection[int],
    grants: Grants,
    limits: Limits,
    seed: int,
) -> Solution | None:
    """Return a schedule that sends chunks in a given order; None if it misses a deadline.

    In floats also None if the schedule, once its instants are rounded, overlaps a reservation or
    misses a deadline by more than the tolerance. The windows that the instance states are tried
    first: a schedule that uses all of the wider ones of the models may exceed what is tolerated.

    Parameters
    ----------
    scaled : ScaledInstance
    sequence : sequence of UnsizedChunk
        In the order of their transmissions.
    accepted : collection of int
        The tasks that are accepted, by their indices: all of them have chunks.
    grants : Grants
    limits : Limits
    seed : int

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> wanted = (Reservation("r", 0, 2, 4, io_end=4),)
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 6),), wanted)
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> sequence = [UnsizedChunk(0, 0, 0), UnsizedChunk(0, 0, 1)]
    >>> schedule = schedule_sequence(scaled, sequence, [0], {0: (0,)}, Limits(), 0)
    >>> [(str(chunk.load), str(chunk.computation_end)) for chunk in schedule.chunks]
    [('1', '2'), ('1', '6')]
    """
    if not scaled.instance.exact and sequence:
        stated, arrivals = scaled.with_stated_reservations(), map(scaled.stated_arrival, accepted)
        arrival_of = dict(zip(accepted, arrivals, strict=True))
        starts = [arrival_of[chunk.task] for chunk in sequence]
        schedule = _schedule_within(stated, sequence, accepted, grants, starts, limits, seed)
        if schedule is not None:
            return schedule
    return _schedule_within(scaled, sequence, accepted, grants, (), limits, seed)


def _schedule_within(
    scaled: ScaledInstance,
    sequence: Sequence[UnsizedChunk],
    accepted: Collection[int],
    grants: Grants,
    earliest_starts: Sequence[Fraction],
    limits: Limits,
    seed: int,
) -> Solution | None:
    """Return a schedule within the windows of a scaled instance, if it is one of the instance."""
    loads: tuple[Fraction, ...] = ()
    if sequence:
        program = FixedSequenceLp(scaled, sequence, grants, earliest_starts)
        result = program.minimise_lateness().solve(limits, seed)
        if result is None:
            return None
        loads = result.loads
    return schedule_loads(scaled, sequence, loads, accepted, grants, earliest_starts)


def schedule_loads(
    scaled: ScaledInstance,
    sequence: Sequence[UnsizedChunk],
    loads: Sequence[Fraction],
    accepted: Collection[int],
    grants: Grants,
    earliest_starts: Sequence[Fraction] = (),
) -> Solution | None:
    """Return the schedule that sends chunks of given loads in a given order, as early as possible.

    None if a chunk is late, or in floats if it is once rounded; see `schedule_sequence`. The loads
    are in the units of the scaled instance, and add up to those of each accepted task. Where
    `earliest_starts` are given, in the same units, no chunk is sent before.
    """
    windows = _chunk_windows(scaled, sequence, grants, earliest_starts)
    chunks = _earliest_chunks(scaled, sequence, windows, loads)
    if chunks is None:
        return None
    reserved = {scaled.reservations[r].index: nodes for r, nodes in grants.items()}
    # Rounded to dates, a schedule within the wider windows of a model in floats may be late.
    if not scaled.instance.exact and not is_feasible_when_rounded(scaled, chunks, reserved):
        chunks = as_early_as_possible(scaled, chunks, reserved)
        if not is_feasible_when_rounded(scaled, chunks, reserved):
            return None
    accepted_originals = scaled.tasks_only.finished | {scaled.tasks[i].index for i in accepted}
    decisions = (
        Decision(task.id, index in accepted_originals, task.arrival)
        for index, task in enumerate(scaled.instance.tasks)
    )
    reservation_decisions = (
        Grant(reservation.id, index in reserved, reservation.arrival, reserved.get(index, ()))
        for index, reservation in enumerate(scaled.instance.reservations)
    )
    return Solution(tuple(decisions), tuple(reservation_decisions), tuple(chunks))


def sequence_by_deadline(
    scaled: ScaledInstance, tasks: Collection[int], grants: Grants
) -> list[UnsizedChunk]:
    """Return a sequence that is often feasible: by gap, then deadline, then free time of the node.

    Chunks that are not needed get no load; but where there are set-up costs, a task has the fewest
    chunks that it may need.
    """
    tasks_only = scaled.tasks_only
    ranked: list[tuple[Fraction, Fraction, Fraction, int, UnsizedChunk]] = []
    for i in tasks:
        task, candidates = scaled.tasks[i], []
        for g, (begin, end) in enumerate(task_gaps(scaled, i)):
            for node in tasks_only.nodes:
                chunk = UnsizedChunk(i, node, g)
                start, latest_start, send_by, compute_by = chunk_window(scaled, chunk, grants)
                done = task.due if compute_by is None else min(compute_by, task.due)
                fits = start <= latest_start and start + tasks_only.overhead < done
                if fits and (send_by is None or start + tasks_only.theta_cm < send_by):
                    candidates.append((begin, end, start, node, chunk))
        candidates.sort()
        limited = tasks_only.overhead
        ranked += candidates[: tasks_only.min_chunks(task)] if limited else candidates
    ranked.sort(key=lambda entry: (entry[0], scaled.tasks[entry[4].task].due, entry[2:]))
    return [chunk for *_, chunk in ranked]


def _earliest_chunks(
    scaled: ScaledInstance,
    sequence: Sequence[UnsizedChunk],
    windows: Sequence[ChunkWindow],
    loads: Sequence[Fraction],
) -> list[Chunk] | None:
    """Return the chunks with load as early as the sequence allows; None if one is late."""
    tasks_only, originals = scaled.tasks_only, scaled.instance.tasks
    slack = scaled.float_slack
    port: Fraction | None = None
    free: dict[int, Fraction] = {}
    chunks = []
    for chunk, window, load in zip(sequence, windows, loads, strict=True):
        if not load:
            continue
        node, task = chunk.node, scaled.tasks[chunk.task]
        on_port = uses_port(tasks_only, node)
        start = max(window.earliest_start, free.get(node, window.earliest_start))
        if on_port and port is not None:
            start = max(start, port)
        transmission_end = start + tasks_only.theta_cm + load * tasks_only.tau[node]
        computation_end = transmission_end + tasks_only.theta_cp + load * tasks_only.chi[node]
        free[node], port = computation_end, transmission_end if on_port else port
        limits = (
            (start, window.latest_start),
            (transmission_end, window.send_by),
            (computation_end, window.compute_by),
            (computation_end, task.due - slack),
        )
        if any(limit is not None and instant > limit + slack for instant, limit in limits):
            return None
        instants = (start, transmission_end, transmission_end, computation_end)
        numbers: list[Number] = [load * tasks_only.load_unit]
        numbers += [tasks_only.unscale_instant(instant) for instant in instants]
        if not scaled.instance.exact:
            numbers = [float(number) for number in numbers]
        chunks.append(Chunk(originals[task.index].id, node, *numbers))
    return chunks
