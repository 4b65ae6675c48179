"""Local search over sequences of chunks, in which chunks of different tasks alternate.

For a set of requests and a sequence of chunks, a linear program finds the loads. Chunk
``a = (task i, node j)`` has a start ``s_a`` in its window and a load ``x_a``, and ``u_i`` of task
`i` remains unfinished:

minimise    sum_i u_i
subject to  earliest start <= s_a <= latest start
            s_b >= s_a + theta_cm + tau_j x_a                b is next on the port
            s_b >= s_a + theta_cm + theta_cp + w_j x_a       b is next on the node (w = tau + chi)
            s_a + theta_cm + tau_j x_a <= instant by which it must be sent
            s_a + theta_cm + theta_cp + w_j x_a <= instant by which it must be computed
            u_i + sum_a x_a >= load_i                        every task of the set
            x, u >= 0

Simulated annealing changes the sequence, and exchanges a request of the set for others, until
nothing remains unfinished. The program is solved in floats: only the program of the sequence in
fractions decides whether what is found is feasible.

Source: ours; annealing is that of Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated
annealing", Science 220 (1983) 671-680.
"""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from math import exp, inf
from typing import Generic

from dlopt.backends.highs import FloatSolver
from dlopt.models.common.chunk_sequences import (
    NO_LOAD,
    ChunkT,
    Costs,
    PossibleChunks,
    SizedSequence,
    Window,
)
from dlopt.models.common.request_sets import TARGETS, RelaxationTest, RequestSets
from dlopt.result import Limits

EFFORT = 12_000
"""Linear programs without a limit: some seconds with thirty chunks. Chosen by hand."""
CYCLE = 2_000
"""Linear programs of one annealing: of 1,500 to 6,000, the best for 8 tasks on 4 nodes."""
TEMPERATURE = 0.07
"""Initial temperature, in mean loads of a task. Chosen by hand."""
FINISHED = 1e-6
"""Unfinished load, in units of the model, up to which all is finished: the solver's tolerance."""
EMPTY_CHUNKS_KEPT = 0.7
"""Share of the chunks without load that a move leaves in the sequence. Chosen by hand."""
MOVES = (0.06, 0.45, 0.65, 0.85)
"""Cumulated shares of the moves: exchange a request, swap neighbours, insert a chunk, shift one;
the others exchange nodes. Chosen by hand."""
SHIFTS = (-6, -5, -4, -3, -2, 2, 3, 4, 5, 6)
"""Positions by which a chunk is shifted. Chosen by hand."""
NODE_EXCHANGE = (-4, -3, -2, -1, 1, 2, 3, 4)
"""Distances of two chunks that exchange their nodes. Chosen by hand."""


class SequenceAnnealing(ABC, Generic[ChunkT]):
    """Searches for sequences of chunks that finish sets of tasks.

    Parameters
    ----------
    costs : Costs
    load : sequence of float
        Of each task. The requests with these indices are tasks, others have no chunks.
    installments : int
        How often a chunk may be sent.
    limits : Limits
        `work` counts linear programs, and sets of requests that are drawn in vain.
    effort : int, optional
        So many linear programs are solved at the most.
    seed : int
    """

    def __init__(
        self,
        costs: Costs,
        load: Sequence[float],
        installments: int,
        limits: Limits,
        effort: int | None,
        seed: int,
    ) -> None:
        self.costs, self.load, self.installments = costs, load, installments
        self.stop = inf if limits.time_s is None else time.monotonic() + limits.time_s
        self.left = min((n for n in (effort, limits.work) if n is not None), default=inf)
        self.random, self.seed, self.solver = random.Random(seed), seed, FloatSolver(seed)

    @abstractmethod
    def possible_chunks(self, requests: Collection[int]) -> PossibleChunks[ChunkT]:
        """Return the chunks of all tasks that can be sent if some requests are accepted."""

    @abstractmethod
    def alternatives(self, chunk: ChunkT) -> Iterable[ChunkT]:
        """Return a chunk, and the later ones of its task and node that can take its place."""

    @abstractmethod
    def moved_to(self, chunk: ChunkT, neighbour: ChunkT) -> ChunkT:
        """Return the chunk of the same task and node at the time of another one."""

    @abstractmethod
    def state_relaxation(self) -> RelaxationTest:
        """Return the test whether requests fit in a relaxation."""

    @abstractmethod
    def state_sets(self) -> RequestSets:
        """Return the sets of requests to draw from."""

    @cached_property
    def relaxation(self) -> RelaxationTest:
        """The test whether requests fit in a relaxation."""
        return self.state_relaxation()

    @cached_property
    def sets(self) -> RequestSets:
        """The sets of requests to draw from."""
        return self.state_sets()

    def allows(self, requests: frozenset[int]) -> bool:
        """Tell whether requests fit in the relaxation; a question is a linear program."""
        self.left -= requests not in self.relaxation.known
        return self.relaxation.allows(requests)

    def is_over(self) -> bool:
        """Tell whether a limit is reached."""
        return self.left <= 0 or time.monotonic() > self.stop

    def improve(
        self, sequence: Sequence[ChunkT], accepted: Collection[int]
    ) -> SizedSequence[ChunkT] | None:
        """Return a sequence for requests of a larger value; None if none is found.

        Parameters
        ----------
        sequence : sequence of chunks
            Finishes the tasks of `accepted`.
        accepted : collection of int
        """
        begun = self.sized(sequence, frozenset(accepted))
        while not self.is_over():
            target = self.sets.larger(begun.requests)
            if target is None:
                self.left -= TARGETS  # or it would not end where none of a larger value fit
                continue
            found = self._anneal(self._with_requests(begun, target), may_exchange=True)
            if found.unfinished_load <= FINISHED:
                return found
        return None

    def finish(
        self, sequence: Sequence[ChunkT], requests: Collection[int]
    ) -> SizedSequence[ChunkT] | None:
        """Return a sequence that finishes all of some tasks; None if none is found.

        Parameters
        ----------
        sequence : sequence of chunks
            The first one of the search; tasks without chunks get some.
        requests : collection of int
        """
        wanted = frozenset(requests)
        there = {chunk.task for chunk in sequence}
        begun = self.sized(
            sequence, frozenset(i for i in wanted if i in there or i >= len(self.load))
        )
        while not self.is_over():
            found = self._anneal(self._with_requests(begun, wanted), may_exchange=False)
            if found.unfinished_load <= FINISHED:
                return found
        return None

    def sized(self, sequence: Iterable[ChunkT], requests: frozenset[int]) -> SizedSequence[ChunkT]:
        """Return what can be sent of a sequence, with the solution of its linear program."""
        self.left -= 1
        possible = self.possible_chunks(requests).windows
        kept = self._without_late(sequence, possible)
        tau, unit_time, on_port, setup, overhead = self.costs
        count, last, port = len(kept), dict[int, int](), -1
        rows: list[tuple[Sequence[int], Sequence[float]]] = []
        sides: list[float] = []
        own: dict[int, list[int]] = {i: [] for i in sorted(requests) if i < len(self.load)}
        for q, chunk in enumerate(kept):
            j, window = chunk.node, possible[chunk]
            rows.append(((count + q, q), (-1.0, -unit_time[j])))
            sides.append(overhead - window.compute_by)
            if window.send_by < inf:
                rows.append(((count + q, q), (-1.0, -tau[j])))
                sides.append(setup - window.send_by)
            if window.latest_start < inf:
                rows.append(((count + q,), (-1.0,)))
                sides.append(-window.latest_start)
            if on_port[j]:
                if port >= 0:
                    rows.append(((count + q, count + port, port), (1, -1, -tau[kept[port].node])))
                    sides.append(setup)
                port = q
            if j in last:
                p = last[j]
                rows.append(((count + q, count + p, p), (1.0, -1.0, -unit_time[j])))
                sides.append(overhead)
            last[j] = q
            own[chunk.task].append(q)
        for number, (i, places) in enumerate(own.items()):
            rows.append(((*places, 2 * count + number), (1.0,) * (len(places) + 1)))
            sides.append(self.load[i])
        starts = [possible[chunk].earliest_start for chunk in kept]
        lower = [0.0] * count + starts + [0.0] * len(own)
        costs = [0.0] * (2 * count) + [1.0] * len(own)
        point = self.solver.minimise(costs, lower, rows, sides)
        # A task with less load than the solver's tolerance needs a chunk, too.
        least = inf if not point else 0.0 if all(own.values()) else 2 * FINISHED
        point = point or lower
        rest = dict(zip(own, point[2 * count :], strict=True))
        unfinished = frozenset(i for i, load in rest.items() if load > FINISHED or not own[i])
        left, starts = max(sum(rest.values()), least), list(point[count : 2 * count])
        return SizedSequence(requests, kept, left, point[:count], starts, unfinished)

    def _without_late(
        self, sequence: Iterable[ChunkT], possible: Mapping[ChunkT, Window]
    ) -> list[ChunkT]:
        """Return a sequence without what makes its linear program infeasible, or is too often."""
        kept: list[ChunkT] = []
        counts, port, free = Counter[ChunkT](), 0.0, defaultdict[int, float](float)
        setup, overhead, on_port = self.costs.setup, self.costs.overhead, self.costs.on_port
        for chunk in sequence:
            for one in self.alternatives(chunk):
                window, j = possible.get(one), one.node
                if window is None or counts[one] >= self.installments:
                    continue
                start = max(window.earliest_start, free[j], port if on_port[j] else 0.0)
                is_late = start + overhead >= window.compute_by or start > window.latest_start
                if not is_late and start + setup < window.send_by:
                    kept.append(one)
                    counts[one] += 1
                    free[j] = start + overhead
                    port = start + setup if on_port[j] else port
                    break
        return kept

    def _anneal(
        self, current: SizedSequence[ChunkT], *, may_exchange: bool
    ) -> SizedSequence[ChunkT]:
        """Return the last sequence of one annealing: the first that finishes all, if there is."""
        initial = TEMPERATURE * sum(self.load) / len(self.load)
        for done in range(CYCLE):
            if current.unfinished_load <= FINISHED or self.is_over():
                break
            found = self._neighbour(current, may_exchange)
            rise = found.unfinished_load - current.unfinished_load
            temperature = initial * (1 - done / CYCLE)
            if rise <= 0 or self.random.random() < exp(-rise / temperature):
                current = found
        return current

    def _neighbour(
        self, current: SizedSequence[ChunkT], may_exchange: bool
    ) -> SizedSequence[ChunkT]:
        """Return a sequence with a random change."""
        draw = self.random
        kept = [
            (chunk, start)
            for chunk, load, start in zip(
                current.sequence, current.loads, current.starts, strict=True
            )
            if load > NO_LOAD or draw.random() < EMPTY_CHUNKS_KEPT
        ]
        sequence, starts = [chunk for chunk, _ in kept], [start for _, start in kept]
        kind = bisect_left(MOVES, draw.random())
        if kind == 0 and may_exchange:
            target = self.sets.exchanged(current.requests, current.unfinished)
            if target is not None:
                return self._with_requests(current, target)
        if kind == 2 or len(sequence) < 2:
            self._insert_chunk(sequence, starts, current)
        elif kind <= 1:
            k = draw.randrange(len(sequence) - 1)
            a, b = sequence[k : k + 2]
            sequence[k : k + 2] = self.moved_to(b, a), self.moved_to(a, b)
        elif kind == 3:
            self._shift_chunk(sequence)
        else:
            self._exchange_nodes(sequence)
        return self.sized(sequence, current.requests)

    def _shift_chunk(self, sequence: list[ChunkT]) -> None:
        """Move a chunk to another place, and to the time of the chunk there."""
        k = self.random.randrange(len(sequence))
        chunk = sequence.pop(k)
        place = min(max(0, k + self.random.choice(SHIFTS)), len(sequence))
        neighbour = sequence[place] if place < k else sequence[place - 1]
        sequence.insert(place, self.moved_to(chunk, neighbour))

    def _insert_chunk(
        self,
        sequence: list[ChunkT],
        starts: Sequence[float],
        current: SizedSequence[ChunkT],
    ) -> None:
        """Insert a chunk that is not in a sequence, while its task can be sent."""
        draw, there = self.random, Counter(sequence)
        possible = self.possible_chunks(current.requests)
        absent = [
            chunk
            for i in sorted(current.requests)
            for chunk in possible.of_task.get(i, ())[:: self.installments]
            if there[chunk] < self.installments
        ]
        wanted = [chunk for chunk in absent if chunk.task in current.unfinished]
        if not absent:
            if sequence:
                sequence.pop(draw.randrange(len(sequence)))
            return
        chunk = draw.choice(wanted if wanted and draw.random() < 0.5 else absent)
        window = possible.windows[chunk]
        first = max(0, bisect_left(starts, window.earliest_start) - 1)
        last = bisect_left(starts, _latest_start(window))
        sequence.insert(draw.randint(first, max(first, last)), chunk)

    def _exchange_nodes(self, sequence: list[ChunkT]) -> None:
        """Exchange the nodes of two chunks, or two nodes from the first of these chunks on."""
        k = self.random.randrange(len(sequence))
        other = min(len(sequence) - 1, max(0, k + self.random.choice(NODE_EXCHANGE)))
        a, b = sequence[k], sequence[other]
        pair = a._replace(node=b.node), b._replace(node=a.node)
        if a.task != b.task and a.node != b.node and not set(pair) & set(sequence):
            sequence[k], sequence[other] = pair
            return
        swapped = {a.node: b.node, b.node: a.node}
        for p in range(min(k, other), len(sequence)):
            chunk = sequence[p]
            sequence[p] = chunk._replace(node=swapped.get(chunk.node, chunk.node))

    def _with_requests(
        self, current: SizedSequence[ChunkT], requests: frozenset[int]
    ) -> SizedSequence[ChunkT]:
        """Return a sequence for other requests: chunks of new ones are sent at random times."""
        draw, possible = self.random, self.possible_chunks(requests)
        kept = [
            (start, chunk)
            for chunk, start in zip(current.sequence, current.starts, strict=True)
            if chunk.task in requests
        ]
        for i in sorted(requests - current.requests):
            chunks = possible.of_task.get(i, [])
            for chunk in draw.sample(chunks, len(chunks)):
                window = possible.windows[chunk]
                start = draw.uniform(window.earliest_start, _latest_start(window))
                place = bisect_left(kept, start, key=lambda one: one[0])
                kept.insert(place, (start, chunk))
        return self.sized((chunk for _, chunk in kept), requests)


def _latest_start(window: Window) -> float:
    """Return until when a chunk can be sent."""
    return min(window[1:])
