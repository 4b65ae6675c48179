"""Local search over sequences of chunks, in which chunks of different tasks alternate.

For a set of tasks and a sequence of chunks, a linear program finds the loads. Chunk ``a = (task i,
node j)`` has a start ``s_a`` and a load ``x_a``, and ``u_i`` of task `i` remains unfinished:

minimise    sum_i u_i
subject to  s_a >= max(release_i, free_j)
            s_b >= s_a + theta_cm + tau_j x_a                b is next on the port
            s_b >= s_a + theta_cm + theta_cp + w_j x_a       b is next on the node (w = tau + chi)
            s_a + theta_cm + theta_cp + w_j x_a <= due_i
            u_i + sum_a x_a >= load_i                        every task of the set
            x, u >= 0

Simulated annealing changes the sequence, and exchanges a task of the set for others, until nothing
remains unfinished. The program is solved in floats: `fixed_sequence_lp` decides whether what is
found is feasible.

Source: ours; annealing is that of Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated
annealing", Science 220 (1983) 671-680.
"""

from __future__ import annotations

import random
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from math import exp, inf
from typing import NamedTuple

from dlopt.backends.highs import FloatSolver
from dlopt.models.admission.fixed_sequence_lp import UnsizedChunk, uses_port
from dlopt.models.admission.fluid_feasibility import FluidTest
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.result import Limits

EFFORT = 12_000
"""Linear programs without a limit: some seconds with thirty chunks. Chosen by hand."""
CYCLE = 2_000
"""Linear programs of one annealing: of 1,500 to 6,000, the best for 8 tasks on 4 nodes."""
TEMPERATURE = 0.07
"""Initial temperature, in mean loads of a task. Chosen by hand."""
FINISHED = 1e-6
"""Unfinished load, in units of the model, up to which all is finished: the solver's tolerance."""
NO_LOAD = 1e-9
"""Load, in units of the model, up to which a chunk is left out of a sequence."""
EMPTY_CHUNKS_KEPT = 0.7
"""Share of the chunks without load that a move leaves in the sequence. Chosen by hand."""
MOVES = (0.06, 0.45, 0.65, 0.85)
"""Cumulated shares of the moves: exchange a task, swap neighbours, insert a chunk, shift one; the
others exchange nodes. Chosen by hand."""
SHIFTS = (-6, -5, -4, -3, -2, 2, 3, 4, 5, 6)
"""Positions by which a chunk is shifted. Chosen by hand."""
TARGETS = 60
"""Sets of tasks that are drawn to find one with a larger value. Chosen by hand."""
EXCHANGES = 20
"""Sets of tasks that are drawn in an exchange to find one that fits. Chosen by hand."""
NODE_EXCHANGE = (-4, -3, -2, -1, 1, 2, 3, 4)
"""Distances of two chunks that exchange their nodes. Chosen by hand."""


class SizedSequence(NamedTuple):
    """A sequence of chunks for a set of tasks, and what its linear program says."""

    tasks: frozenset[int]
    sequence: list[UnsizedChunk]
    unfinished_load: float
    loads: Sequence[float]
    starts: Sequence[float]
    unfinished: frozenset[int]

    @property
    def loaded_chunks(self) -> list[UnsizedChunk]:
        """The chunks with load; all of a task of which no chunk has more than `NO_LOAD`."""
        sized = list(zip(self.sequence, self.loads, strict=True))
        loaded = {chunk.task for chunk, load in sized if load > NO_LOAD}
        return [chunk for chunk, load in sized if load > NO_LOAD or chunk.task not in loaded]


class SequenceSearch:
    """Searches for sequences of chunks that finish sets of tasks.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node.
    limits : Limits
        `work` counts linear programs, and sets of tasks that are drawn in vain.
    effort : int, optional
        So many linear programs are solved at the most.
    seed : int

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = (Task("a", 0, 2, 14), Task("b", 0, 10, 15))  # only b first, then a, is in time
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(2, tau=1, chi=1), tasks))
    >>> found = SequenceSearch(scaled, 1, Limits(), EFFORT, 0).improve([], [])
    >>> len(found.tasks)
    1
    >>> SequenceSearch(scaled, 1, Limits(), EFFORT, 0).finish([], [0, 1]).unfinished_load < FINISHED
    True
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        installments: int,
        limits: Limits,
        effort: int | None,
        seed: int,
    ) -> None:
        self.scaled, self.installments = scaled, installments
        self.stop = inf if limits.time_s is None else time.monotonic() + limits.time_s
        self.left = min((n for n in (effort, limits.work) if n is not None), default=inf)
        self.random, self.seed, self.solver = random.Random(seed), seed, FloatSolver(seed)
        self.due = [float(task.due) for task in scaled.tasks]
        self.load = [float(task.load) for task in scaled.tasks]
        self.release = {
            UnsizedChunk(i, j): float(scaled.earliest_start(task, j))
            for i, task in enumerate(scaled.tasks)
            for j in scaled.nodes
            if scaled.max_load(task, j) > NO_LOAD * task.load
        }
        self.chunks = defaultdict[int, list[UnsizedChunk]](list)
        for chunk in self.release:
            self.chunks[chunk.task] += [chunk] * installments
        self.tau = [float(tau) for tau in scaled.tau]
        self.unit_time = [float(scaled.unit_time(j)) for j in scaled.nodes]
        self.on_port = [uses_port(scaled, j) for j in scaled.nodes]
        self.setup, self.overhead = float(scaled.theta_cm), float(scaled.overhead)

    @cached_property
    def fluid(self) -> FluidTest:
        """The test whether tasks fit as fluids."""
        return FluidTest(self.scaled, self.installments, self.seed, self.stop)

    @property
    def is_over(self) -> bool:
        """Whether a limit is reached."""
        return self.left <= 0 or time.monotonic() > self.stop

    def improve(
        self, sequence: Sequence[UnsizedChunk], accepted: Collection[int]
    ) -> SizedSequence | None:
        """Return a sequence that finishes tasks of a larger value; None if none is found.

        Parameters
        ----------
        sequence : sequence of UnsizedChunk
            Finishes the tasks of `accepted`.
        accepted : collection of int
        """
        begun = self.sized(self._possible(sequence), frozenset(accepted))
        while not self.is_over:
            target = self._larger_target(begun.tasks)
            if target is None:
                self.left -= TARGETS  # or it would not end where no tasks of a larger value fit
                continue
            found = self._anneal(self._changed_tasks(begun, target), may_exchange=True)
            if found.unfinished_load <= FINISHED:
                return found
        return None

    def finish(
        self, sequence: Sequence[UnsizedChunk], tasks: Collection[int]
    ) -> SizedSequence | None:
        """Return a sequence that finishes all of some tasks; None if none is found.

        Parameters
        ----------
        sequence : sequence of UnsizedChunk
            The first one of the search; tasks without chunks get some.
        tasks : collection of int
        """
        missing = frozenset(tasks).difference(chunk.task for chunk in sequence)
        begun = self.sized(self._possible(sequence), frozenset(tasks) - missing)
        while not self.is_over:
            start = self._changed_tasks(begun, frozenset(tasks))
            found = self._anneal(start, may_exchange=False)
            if found.unfinished_load <= FINISHED:
                return found
        return None

    def sized(self, sequence: list[UnsizedChunk], tasks: frozenset[int]) -> SizedSequence:
        """Return a sequence with the solution of its linear program."""
        self.left -= 1
        count, last, port = len(sequence), dict[int, int](), -1
        rows: list[tuple[Sequence[int], Sequence[float]]] = []
        sides: list[float] = []
        own: dict[int, list[int]] = {i: [] for i in sorted(tasks)}
        for q, (i, j) in enumerate(sequence):
            rows.append(((count + q, q), (-1.0, -self.unit_time[j])))
            sides.append(self.overhead - self.due[i])
            if self.on_port[j]:
                if port >= 0:
                    tau = self.tau[sequence[port].node]
                    rows.append(((count + q, count + port, port), (1.0, -1.0, -tau)))
                    sides.append(self.setup)
                port = q
            if j in last:
                p = last[j]
                rows.append(((count + q, count + p, p), (1.0, -1.0, -self.unit_time[j])))
                sides.append(self.overhead)
            last[j] = q
            own[i].append(q)
        for number, (i, places) in enumerate(own.items()):
            rows.append(((*places, 2 * count + number), (1.0,) * (len(places) + 1)))
            sides.append(self.load[i])
        lower = [0.0] * count + [self.release[chunk] for chunk in sequence] + [0.0] * len(own)
        costs = [0.0] * (2 * count) + [1.0] * len(own)
        point = self.solver.minimise(costs, lower, rows, sides)
        # A task with less load than the solver's tolerance needs a chunk, too.
        least = inf if not point else 0.0 if all(own.values()) else 2 * FINISHED
        point = point or lower
        rest = dict(zip(own, point[2 * count :], strict=True))
        unfinished = frozenset(i for i, load in rest.items() if load > FINISHED or not own[i])
        left, starts = max(sum(rest.values()), least), point[count : 2 * count]
        return SizedSequence(tasks, sequence, left, point[:count], starts, unfinished)

    def _anneal(self, current: SizedSequence, *, may_exchange: bool) -> SizedSequence:
        """Return the last sequence of one annealing: the first that finishes all, if there is."""
        initial = TEMPERATURE * sum(self.load) / len(self.load)
        for done in range(CYCLE):
            if current.unfinished_load <= FINISHED or self.is_over:
                break
            found = self._neighbour(current, may_exchange)
            rise = found.unfinished_load - current.unfinished_load
            temperature = initial * (1 - done / CYCLE)
            if rise <= 0 or self.random.random() < exp(-rise / temperature):
                current = found
        return current

    def _neighbour(self, current: SizedSequence, may_exchange: bool) -> SizedSequence:
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
            target = self._exchanged(current)
            if target is not None:
                return self._changed_tasks(current, target)
        if kind == 2 or len(sequence) < 2:
            self._insert_chunk(sequence, starts, current)
        elif kind <= 1:
            k = draw.randrange(len(sequence) - 1)
            sequence[k : k + 2] = sequence[k + 1], sequence[k]
        elif kind == 3:
            k = draw.randrange(len(sequence))
            chunk = sequence.pop(k)
            sequence.insert(max(0, k + draw.choice(SHIFTS)), chunk)
        else:
            self._exchange_nodes(sequence)
        return self.sized(self._possible(sequence), current.tasks)

    def _insert_chunk(
        self, sequence: list[UnsizedChunk], starts: Sequence[float], current: SizedSequence
    ) -> None:
        """Insert a chunk that is not in a sequence, while its task can be sent."""
        draw, there = self.random, Counter(sequence)
        absent = [
            chunk
            for i in sorted(current.tasks)
            for chunk in self.chunks[i][:: self.installments]
            if there[chunk] < self.installments
        ]
        wanted = [chunk for chunk in absent if chunk.task in current.unfinished]
        if not absent:
            sequence.pop(draw.randrange(len(sequence)))
            return
        chunk = draw.choice(wanted if wanted and draw.random() < 0.5 else absent)
        first = max(0, bisect_left(starts, self.release[chunk]) - 1)
        last = bisect_left(starts, self.due[chunk.task])
        sequence.insert(draw.randint(first, max(first, last)), chunk)

    def _exchange_nodes(self, sequence: list[UnsizedChunk]) -> None:
        """Exchange the nodes of two chunks, or two nodes from the first of these chunks on."""
        k = self.random.randrange(len(sequence))
        other = min(len(sequence) - 1, max(0, k + self.random.choice(NODE_EXCHANGE)))
        (a, here), (b, there) = sequence[k], sequence[other]
        pair = UnsizedChunk(a, there), UnsizedChunk(b, here)
        if a != b and here != there and not set(pair) & set(sequence):
            sequence[k], sequence[other] = pair
            return
        swapped = {here: there, there: here}
        for p in range(min(k, other), len(sequence)):
            i, j = sequence[p]
            sequence[p] = UnsizedChunk(i, swapped.get(j, j))

    def _possible(self, sequence: Iterable[UnsizedChunk]) -> list[UnsizedChunk]:
        """Return a sequence without what makes its linear program infeasible, or is too often."""
        possible: list[UnsizedChunk] = []
        counts, port, free = Counter[UnsizedChunk](), 0.0, defaultdict[int, float](float)
        for chunk in sequence:
            i, j = chunk
            start = max(self.release.get(chunk, inf), free[j], port if self.on_port[j] else 0.0)
            if start + self.overhead < self.due[i] and counts[chunk] < self.installments:
                possible.append(chunk)
                counts[chunk] += 1
                free[j] = start + self.overhead
                port = start + self.setup if self.on_port[j] else port
        return possible

    def _changed_tasks(self, current: SizedSequence, tasks: frozenset[int]) -> SizedSequence:
        """Return a sequence for other tasks: chunks of new ones are sent at random times."""
        draw = self.random
        kept = [
            (start, chunk)
            for chunk, start in zip(current.sequence, current.starts, strict=True)
            if chunk.task in tasks
        ]
        for i in sorted(tasks - current.tasks):
            for chunk in draw.sample(self.chunks[i], len(self.chunks[i])):
                start = draw.uniform(self.release[chunk], self.due[i])
                place = bisect_left(kept, start, key=lambda one: one[0])
                kept.insert(place, (start, chunk))
        return self.sized(self._possible(chunk for _, chunk in kept), tasks)

    def _larger_target(self, accepted: frozenset[int]) -> frozenset[int] | None:
        """Return tasks of a larger value than those that are accepted, which fit as fluids."""
        least = self.scaled.value(accepted) + self.scaled.value_granularity
        optional = self._optional(accepted)
        for attempt in range(TARGETS):
            if self.is_over:
                break
            removed = self.random.sample(optional, min(len(optional), 3 * attempt // TARGETS))
            target = self._filled(accepted, removed, least)
            if target is not None:
                return target
        return None

    def _exchanged(self, current: SizedSequence) -> frozenset[int] | None:
        """Return tasks of no smaller value without one of the present ones."""
        least = self.scaled.value(current.tasks)
        for _ in range(EXCHANGES):
            late = self._optional(current.unfinished)
            optional = late if self.random.random() < 0.5 else self._optional(current.tasks)
            if optional:
                target = self._filled(current.tasks, [self.random.choice(optional)], least)
                if target is not None:
                    return target
        return None

    def _optional(self, tasks: Iterable[int]) -> list[int]:
        return [i for i in sorted(tasks) if not self.scaled.tasks[i].mandatory]

    def _filled(
        self, tasks: frozenset[int], removed: Sequence[int], least: Fraction
    ) -> frozenset[int] | None:
        """Return tasks without some and with others up to a value, None if they do not fit."""
        others = [i for i in self.chunks if i not in tasks]
        added, value = list[int](), self.scaled.value(tasks.difference(removed))
        for i in self.random.sample(others, len(others)):
            if value >= least:
                break
            added.append(i)
            value += self.scaled.tasks[i].weight
        if value < least:
            return None
        filled = tasks.difference(removed).union(added)
        self.left -= filled not in self.fluid.known
        return filled if self.fluid.allows(filled) else None
