"""The chunks that may be sent around reservations, their windows, and pairs that may conflict."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import NamedTuple

from dlopt.backends.size_limits import too_large
from dlopt.models.admission.fixed_sequence_lp import uses_port
from dlopt.models.admission.sequencing_milp import DUE_DATE_MARGIN, MAX_PAIRS
from dlopt.models.multistage.fixed_sequence_lp import task_gaps
from dlopt.models.multistage.scaled_instance import ScaledInstance

MAX_CANDIDATES = 1_000
"""Candidate chunks of a sequencing MILP. Chosen by hand: a larger model would hardly fit into
memory, and far smaller ones are not solved to optimality."""


class CandidateChunk(NamedTuple):
    """A chunk that may be sent: task, node, gap, and its number among the chunks of all three."""

    task: int
    node: int
    gap: int
    number: int


class ChunkLimits(NamedTuple):
    """The earliest start of a chunk, and the latest ends of its transmission and computation."""

    earliest_start: Fraction
    send_by: Fraction
    compute_by: Fraction


class ReleaseStage(NamedTuple):
    """Chunks that start before an instant, and chunks that start after it; all end by `end`."""

    instant: Fraction
    end: Fraction
    before: list[CandidateChunk]
    after: list[CandidateChunk]


class CandidateChunks:
    """The candidate chunks of an instance, with their windows.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node in a gap.
    max_lateness : Fraction, optional
        By how much deadlines may be missed, if all tasks are accepted.

    Attributes
    ----------
    chunks : list of CandidateChunk
        By earliest start and end of the gap.
    pairs : list of (CandidateChunk, CandidateChunk)
        Those that may conflict, the first one in an earlier gap or the same.
    too_large : str or None
        Why a model of these chunks is too large to be built, if it is.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> wanted = (Reservation("r", 0, 2, 4, io_end=4),)
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 6),), wanted)
    >>> candidates = CandidateChunks(ScaledInstance.from_instance(instance), installments=1)
    >>> [chunk.gap for chunk in candidates.chunks], len(candidates.pairs)
    ([0, 1], 1)
    """

    def __init__(
        self, scaled: ScaledInstance, installments: int, max_lateness: Fraction | None = None
    ) -> None:
        self.scaled, self.tasks_only, self.installments = scaled, scaled.tasks_only, installments
        self.accept_all = max_lateness is not None
        self.max_lateness = max_lateness or Fraction(0)
        self.due = [task.due + self.max_lateness + DUE_DATE_MARGIN for task in scaled.tasks]
        self.gaps = [task_gaps(scaled, i) for i in range(len(scaled.tasks))]
        chunks = [
            CandidateChunk(i, j, g, number)
            for i in range(len(scaled.tasks))
            for j in self.tasks_only.nodes
            for g in range(len(self.gaps[i]))
            for number in range(installments)
        ]
        self.limits = {a[:3]: self._chunk_limits(a) for a in chunks}
        chunks = [a for a in chunks if self._is_possible(a)]
        self.chunks = sorted(chunks, key=lambda a: (self.earliest_start(a), self.gap_end(a), a))
        self.pairs: list[tuple[CandidateChunk, CandidateChunk]] = []
        self.too_large = self._find_conflicting_pairs()

    def earliest_start(self, a: CandidateChunk) -> Fraction:
        """Return the earliest start of a chunk."""
        return self.limits[a.task, a.node, a.gap].earliest_start

    def gap_end(self, a: CandidateChunk) -> Fraction:
        """Return when the gap of a chunk ends: its latest start."""
        return self.gaps[a.task][a.gap][1]

    def must_end(self, a: CandidateChunk, port: bool) -> Fraction:
        """Return when a chunk must be sent, or computed, whatever else is accepted."""
        limits = self.limits[a.task, a.node, a.gap]
        return limits.send_by if port else limits.compute_by

    def energy_windows(
        self, chunks: list[CandidateChunk], port: bool
    ) -> Iterator[tuple[Fraction, Fraction, list[CandidateChunk]]]:
        """Yield the intervals that may be too short for all chunks whose windows lie inside."""
        for start in sorted({self.earliest_start(a) for a in chunks}):
            later = [a for a in chunks if self.earliest_start(a) >= start]
            for end in sorted({self.must_end(a, port) for a in later}):
                inside = [a for a in later if self.must_end(a, port) <= end]
                costs = [(self.setup_and_unit_time(a, port), self.max_load(a)) for a in inside]
                has_reservations = bool(self.scaled.reservations)
                max_time = sum(setup + unit * load for (setup, unit), load in costs)
                if has_reservations or max_time > end - start:
                    yield start, end, inside

    def release_stages(self, chunks: list[CandidateChunk], port: bool) -> Iterator[ReleaseStage]:
        """Yield the chunks before and after each start of a reservation."""
        for instant in self.scaled.reservation_starts:
            earlier = [a for a in chunks if self.gap_end(a) <= instant]
            later = [a for a in chunks if self.earliest_start(a) >= instant]
            for end in sorted({self.must_end(a, port) for a in later}):
                before, after = (
                    [a for a in side if self.must_end(a, port) <= end] for side in (earlier, later)
                )
                if before:
                    yield ReleaseStage(instant, end, before, after)

    def latest_end(self, a: CandidateChunk, port: bool) -> Fraction:
        """Return the latest end of a chunk, present or not: an absent one ends when it starts.

        The later it starts the later it can end, though it may have to be smaller; but what must
        be sent by an instant is computed the later the earlier it starts, for it can be larger.
        """
        start, (setup, unit_time) = self.gap_end(a), self.setup_and_unit_time(a, port)
        load = self.scaled.tasks[a.task].load
        ends = [self.must_end(a, port), start + setup + unit_time * load]
        ends.append(start + setup + unit_time * self._max_load_from(a, start, False))
        if port:
            ends.append(start + setup + unit_time * self._max_load_from(a, start, True))
        else:
            first = self.earliest_start(a)
            ends.append(first + setup + unit_time * self._max_load_from(a, first, True))
        return max(start, min(ends))

    def max_load(self, a: CandidateChunk) -> Fraction:
        """Return the largest load of a chunk."""
        start = self.earliest_start(a)
        return min(self._max_load_from(a, start, port) for port in (True, False))

    def setup_and_unit_time(self, a: CandidateChunk, port: bool) -> tuple[Fraction, Fraction]:
        """Return the set-up time of a chunk, and its time for each unit of load."""
        if port:
            return self.tasks_only.theta_cm, self.tasks_only.tau[a.node]
        return self.tasks_only.overhead, self.tasks_only.unit_time(a.node)

    def _find_conflicting_pairs(self) -> str | None:
        """Find the pairs of chunks that may compete for port or node; say if they are too many."""
        reason = too_large("sequencing MILP", len(self.chunks), MAX_CANDIDATES, "chunks")
        if reason is not None:
            return reason
        for count, (first, second) in enumerate(combinations(self.chunks, 2), 1):
            in_order = self.gap_end(second) > self.earliest_start(first)
            a, b = (first, second) if in_order else (second, first)
            port = a.node != b.node
            if port and not all(uses_port(self.tasks_only, chunk.node) for chunk in (a, b)):
                continue
            is_free = self.gap_end(a) > self.earliest_start(b)
            if self.latest_end(a, port) > self.earliest_start(b) and (
                not is_free or self.latest_end(b, port) > self.earliest_start(a)
            ):
                self.pairs.append((a, b))
            if len(self.pairs) > MAX_PAIRS:
                # Extrapolated from the pairs that were looked at.
                pairs = len(self.pairs) * comb(len(self.chunks), 2) / count
                return too_large("sequencing MILP", pairs, MAX_PAIRS, "pairs of chunks")
        return None

    def _is_possible(self, a: CandidateChunk) -> bool:
        """Tell whether some load can be sent, without the margin that the solver is given."""
        start = self.earliest_start(a)
        is_late = any(
            start + DUE_DATE_MARGIN >= self.must_end(a, port) - setup
            for port in (True, False)
            for setup, unit_time in [self.setup_and_unit_time(a, port)]
            if unit_time
        )
        return start <= self.gap_end(a) and not is_late

    def _max_load_from(self, a: CandidateChunk, start: Fraction, port: bool) -> Fraction:
        """Return the largest load that is sent, or computed, in time if a chunk starts then."""
        load = self.scaled.tasks[a.task].load
        setup, unit_time = self.setup_and_unit_time(a, port)
        if not unit_time:
            return load
        return min(load, (self.must_end(a, port) - start - setup) / unit_time)

    def _chunk_limits(self, a: CandidateChunk) -> ChunkLimits:
        """Return when a chunk may be sent between the mandatory reservations."""
        begin, compute_by = self.gaps[a.task][a.gap][0], self.due[a.task]
        earliest = max(begin, self.tasks_only.free[a.node])
        send_by = compute_by - self.tasks_only.theta_cp
        on_port = uses_port(self.tasks_only, a.node)
        for reservation in self.scaled.reservations:
            if not (reservation.mandatory or self.accept_all):
                continue
            on_node = reservation.names_nodes and a.node in reservation.eligible
            on_channel = on_port and reservation.io_end > reservation.start
            if reservation.start <= begin:
                earliest = max(earliest, reservation.io_end) if on_channel else earliest
                earliest = max(earliest, reservation.end) if on_node else earliest
                continue
            latest = reservation.start + DUE_DATE_MARGIN
            send_by = min(send_by, latest) if on_channel else send_by
            compute_by = min(compute_by, latest) if on_node else compute_by
        send_by = min(send_by, compute_by - self.tasks_only.theta_cp)
        return ChunkLimits(earliest, send_by, compute_by)
