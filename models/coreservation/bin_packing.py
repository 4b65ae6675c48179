"""Bin packing: how few machines of one capacity hold parts that are active at the same time.

Gilmore and Gomory's column generation (Operations Research 9, 1961, and 11, 1963). With ``d_s``
items of size ``s``, a pattern ``p`` holding ``a_sp`` of them in one bin, and ``n_p`` its use::

    minimise    sum_p n_p                                master program over patterns
    subject to  sum_p a_sp n_p >= d_s   each size s      dual pi_s
                n_p >= 0, integer

    maximise    sum_s d_s pi_s                           dual of its linear relaxation
    subject to  sum_s a_sp pi_s <= 1    each pattern p, 0 <= pi_s <= 1

    maximise    sum_s pi_s a_s                           pricing problem: a knapsack
    subject to  sum_s s a_s <= capacity, 0 <= a_s <= d_s, integer

The duals rounded down to integers prove the bound ``ceil(sum_s d_s pi_s / P)``, where no pattern
has a larger dual value than ``P``: the best knapsack, computed in integers (Farley, Operations
Research 38, 1990). Where hardly any capacity may be wasted, all patterns are enumerated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any, TypeAlias

from dlopt.backends import cpsat
from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import LinearProgram
from dlopt.backends.time_budget import Budget
from dlopt.result import Limits, Status

Pattern: TypeAlias = tuple[int, ...]
"""Sizes in one bin, largest first."""
Steps: TypeAlias = list[tuple[int, Any]]  # items, and the capacities that each improves

DUAL_FACTOR = 1 << 40
"""Duals are integers, 1 is this: sums over a bin stay below 2^63."""
MAX_CAPACITY = 20_000
"""Units of a bin for which patterns are priced.

Chosen by hand: time and memory of the knapsack are proportional to it.
"""
MAX_PATTERNS = 30_000
"""Patterns that are enumerated at the most; chosen by hand: with more CP-SAT is slow."""
MAX_PATTERN_NODES = 500_000
"""Nodes of the enumeration at the most: about a second."""
NODES_BETWEEN_CHECKS = 4096
"""Nodes of it after which the time is checked: some ten milliseconds."""
CPSAT_EFFORT = 20.0
"""CP-SAT's deterministic time for the master program in integers, where there is no time limit.

Chosen by hand: it only ends what would otherwise not end.
"""
PRICE_TOLERANCE = 1e-9
"""Column generation ends when no pattern has a dual value above 1 by more than this."""
L2_PROOF = "Martello-Toth bound L2"
"""The name of `martello_toth_l2` in results."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Bins that hold all items, and a lower bound on their number.

    Parameters
    ----------
    bins : tuple of Pattern
    bound : int
        No packing has fewer.
    proof : str
        Where the bound comes from.
    """

    bins: tuple[Pattern, ...]
    bound: int
    proof: str


def pack(sizes: Iterable[int], capacity: int, limits: Limits, seed: int = 0) -> Packing:
    """Pack items into as few bins as is found in the time, and bound their number.

    Without a limit it ends all the same, and may leave a gap of one bin.

    Parameters
    ----------
    sizes : iterable of int
        Positive, at most `capacity`.
    capacity : int
    limits : Limits
    seed : int

    Examples
    --------
    >>> packing = pack([6, 5, 5, 4, 4, 3, 3], 10, Limits())
    >>> len(packing.bins), packing.bound
    (3, 3)
    """
    items = sorted(sizes, reverse=True)
    best = min((fit_decreasing(items, capacity, best_fit=full) for full in (False, True)), key=len)
    bound = martello_toth_l2(items, capacity)
    proof = L2_PROOF
    if len(best) > bound:
        master = GilmoreGomoryMaster(items, capacity, Budget(limits), seed, best)
        with suppress(TimeoutError):
            if capacity <= MAX_CAPACITY:
                priced = master.generate_patterns()
                if priced > bound:
                    bound, proof = priced, "Gilmore-Gomory bound with integer duals"
                best = master.dive(best, bound)
            best = master.round_to_packing(best, bound)
    return Packing(tuple(best), bound, proof)


def martello_toth_l2(sizes: Sequence[int], capacity: int) -> int:
    """Return the bound L2 of Martello and Toth (Discrete Applied Mathematics 28, 1990).

    Items are large, medium or small with respect to a threshold ``a``: a large one leaves no room
    for a small one of at least ``a``, a medium one is more than half a bin. The best threshold
    counts.

    Examples
    --------
    >>> martello_toth_l2([6, 6, 6, 3, 3], 10)
    3
    """
    best = -(-sum(sizes) // capacity) if sizes else 0
    for threshold in {0, *(size for size in sizes if 2 * size <= capacity)}:
        large = sum(1 for size in sizes if size > capacity - threshold)
        medium = [size for size in sizes if capacity - threshold >= size and 2 * size > capacity]
        small = sum(size for size in sizes if 2 * size <= capacity and size >= threshold)
        room = len(medium) * capacity - sum(medium)
        best = max(best, large + len(medium) + max(0, -(-(small - room) // capacity)))
    return best


class GilmoreGomoryMaster:
    """The restricted master program over patterns.

    Parameters
    ----------
    items : sequence of int
    capacity : int
    budget : Budget
    seed : int
    known : iterable of Pattern
        Those to start from.
    covered : mapping of int to Fraction, optional
        How many items of each size are to be packed, if not all of them.
    """

    def __init__(
        self,
        items: Sequence[int],
        capacity: int,
        budget: Budget,
        seed: int,
        known: Iterable[Pattern],
        covered: Mapping[int, Fraction] | None = None,
    ) -> None:
        self.demand = Counter(items)
        self.covered = covered or {size: Fraction(count) for size, count in self.demand.items()}
        self.duals: Sequence[float] = ()
        self.sizes = sorted(self.demand, reverse=True)
        self.capacity, self.budget, self.seed = capacity, budget, seed
        self.patterns = list(dict.fromkeys(known))
        self.weights: Sequence[float] = ()

    def generate_patterns(self, least: float = 0) -> int:
        """Solve the linear relaxation by column generation on its dual; return the bound.

        It ends once its value is at most `least`; `duals` are those of the sizes at the end.
        """
        unit = (Fraction(0), Fraction(1))
        costs = tuple(-self.covered[size] for size in self.sizes)
        rows = [self._row(pattern) for pattern in self.patterns]
        program = LinearProgram(
            len(costs), costs, tuple(rows), ((None, Fraction(1)),) * len(rows), (unit,) * len(costs)
        )
        solver = LinearSolver(program, self.seed, self.budget.stop)
        bound = 0
        while True:
            self.budget.left()
            optimum = solver.solve()
            if optimum.status is not Status.OPTIMAL:
                break
            self.weights = [-weight for weight in optimum.multipliers]
            duals = [int(dual * DUAL_FACTOR) for dual in optimum.point]
            best, pattern = self._knapsack(duals)
            self.duals = optimum.point
            terms = zip(self.sizes, duals, strict=True)
            total = sum((dual * self.covered[size] for size, dual in terms), Fraction(0))
            bound = max(bound, ceil(total / best) if best else 0)
            converged = best <= DUAL_FACTOR * (1 + PRICE_TOLERANCE) or total <= DUAL_FACTOR * least
            if converged or pattern in self.patterns:
                break
            self.patterns.append(pattern)
            solver.add((self._row(pattern), None, Fraction(1)))
        return bound

    def round_to_packing(self, best: list[Pattern], bound: int) -> list[Pattern]:
        """Return a packing from patterns, if it is better than the best one."""
        total = sum(size * count for size, count in self.demand.items())
        for bins in range(bound, len(best)):
            waste = bins * self.capacity - total
            patterns = enumerate_patterns(self.demand, self.capacity, waste, self.budget)
            candidates = self.patterns if patterns is None else patterns
            groups = [(bins, candidates)]
            found = select_patterns(groups, self.demand, waste, self.budget, self.seed)
            if found.bins is not None:
                return [pattern for pattern in found.bins[0] if pattern]
            if patterns is None:
                break
        return best

    def _row(self, pattern: Pattern) -> tuple[tuple[int, Fraction], ...]:
        place = {size: n for n, size in enumerate(self.sizes)}
        return tuple((place[size], Fraction(count)) for size, count in Counter(pattern).items())

    def _knapsack(self, duals: Sequence[int]) -> tuple[int, Pattern]:
        """Return the largest dual value of a pattern, and the pattern: the pricing problem."""
        best, steps = self.knapsacks(duals)
        room, pattern = self.capacity, []
        for size, better in reversed(steps):
            if room >= size and better[room - size]:
                pattern.append(size)
                room -= size
        return best[-1], tuple(sorted(pattern, reverse=True))

    def knapsacks(self, duals: Sequence[int]) -> tuple[list[int], Steps]:
        """Return the largest dual value by capacity, and where each item improves it."""
        import numpy as np

        best = np.zeros(self.capacity + 1, dtype=np.int64)
        steps: Steps = []
        for size, dual in zip(self.sizes, duals, strict=True):
            for _ in range(min(self.demand[size], self.capacity // size) if dual else 0):
                with_item = best[:-size] + dual
                better = with_item > best[size:]
                if not better.any():
                    break
                best[size:] = np.where(better, with_item, best[size:])
                steps.append((size, better))
        return best.tolist(), steps

    def dive(self, best: list[Pattern], target: int) -> list[Pattern]:
        """Diving: fix the patterns of the largest weights, generate for what is left, repeat.

        The patterns that are generated on the way are kept.
        """
        left, bins, master = Counter(self.demand), list[Pattern](), self
        while left:
            for pattern in master.heaviest_patterns():
                need = Counter(pattern)
                if need <= left:
                    left -= need
                    bins.append(pattern)
            rest = sorted(left.elements(), reverse=True)
            filled = fit_decreasing(rest, self.capacity, best_fit=True)
            if len(bins) + len(filled) < len(best):
                best = [*bins, *filled]
            if len(best) <= target:
                break
            useful = [pattern for pattern in self.patterns if Counter(pattern) <= left]
            known = [*filled, *useful]
            master = GilmoreGomoryMaster(rest, self.capacity, self.budget, self.seed, known)
            master.generate_patterns()
            self.patterns = list(dict.fromkeys([*self.patterns, *master.patterns]))
        return best

    def heaviest_patterns(self) -> list[Pattern]:
        """Return patterns as often as their weights rounded down, or the heaviest one."""
        order = sorted(zip(self.weights, self.patterns, strict=False), reverse=True)
        rounded = [pattern for weight, pattern in order for _ in range(int(weight + 1e-6))]
        return rounded or [pattern for _, pattern in order[:1]] or self.patterns[:1]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which patterns hold all items: of each group of bins, or None, and whether that is proven."""

    bins: list[list[Pattern]] | None
    is_impossible: bool


def enumerate_patterns(
    demand: Counter[int], capacity: int, waste: int, budget: Budget
) -> list[Pattern] | None:
    """Return all patterns that waste no more than so much of a bin; None if they are too many.

    Raises
    ------
    TimeoutError
        If no time is left.

    Examples
    --------
    >>> enumerate_patterns(Counter([5, 4, 3, 2]), 7, 0, Budget(Limits()))
    [(5, 2), (4, 3)]
    """
    sizes = sorted(demand, reverse=True)
    patterns: list[Pattern] = []
    waiting: list[tuple[int, int, Pattern]] = [(0, capacity, ())]
    nodes = 0
    while waiting:
        first, room, pattern = waiting.pop()
        nodes += 1
        if not nodes % NODES_BETWEEN_CHECKS:
            budget.left()
        if room <= waste:
            patterns.append(pattern)
        if nodes > MAX_PATTERN_NODES or len(patterns) > MAX_PATTERNS:
            return None
        waiting += (
            (n, room - sizes[n], (*pattern, sizes[n]))
            for n in range(len(sizes) - 1, first - 1, -1)
            if sizes[n] <= room and pattern.count(sizes[n]) < demand[sizes[n]]
        )
    return patterns


def select_patterns(
    groups: Sequence[tuple[int, Sequence[Pattern]]],
    demand: Counter[int],
    waste: int,
    budget: Budget,
    seed: int,
) -> Selection:
    """Choose patterns that hold all items, by CP-SAT: the master program in integers.

    Parameters
    ----------
    groups : sequence of (int, sequence of Pattern)
        A number of bins, and the patterns that each of them may have.
    demand : Counter of int
        How many items have a size.
    waste : int
        What all bins hold beyond the items.
    budget : Budget
    seed : int

    Examples
    --------
    >>> groups = [(2, [(3, 2), (2, 2), (3,)])]
    >>> select_patterns(groups, Counter([3, 2, 2]), 0, Budget(Limits()), 0).bins
    [[(2, 2), (3,)]]
    """
    model = cpsat.new_model()
    covering: dict[int, list[Any]] = {size: [] for size in demand}
    counts = [
        [(pattern, model.new_int_var(0, bins, "n")) for pattern in patterns]
        for bins, patterns in groups
    ]
    for (bins, _), group in zip(groups, counts, strict=True):
        model.add(sum(count for _, count in group) == bins)
        for pattern, count in group:
            for size, times in Counter(pattern).items():
                covering[size].append(times * count)
    for size, terms in covering.items():
        packed = sum(terms)
        model.add(packed >= demand[size] if waste else packed == demand[size])
    limits = replace(budget.left(), work=None)
    effort = CPSAT_EFFORT if limits.time_s is None else None
    outcome = cpsat.optimise(model, limits, seed=seed, effort=effort)
    if outcome.value_of is None:
        return Selection(None, outcome.status is Status.INFEASIBLE)
    left, chosen = Counter(demand), list[list[Pattern]]()
    for group in counts:
        chosen.append([])
        for pattern, count in group:
            for _ in range(outcome.value_of(count)):
                kept = Counter(pattern) & left
                left -= kept
                chosen[-1].append(tuple(sorted(kept.elements(), reverse=True)))
    return Selection(chosen, False)


def fit_decreasing(items: Sequence[int], capacity: int, *, best_fit: bool) -> list[Pattern]:
    """Pack items in their order: first fit, or best fit, into the fullest bin with room.

    Examples
    --------
    >>> fit_decreasing([6, 5, 4, 4], 10, best_fit=True)
    [(6, 4), (5, 4)]
    """
    bins: list[list[int]] = []
    room: list[int] = []
    for size in items:
        fitting = [b for b, left in enumerate(room) if left >= size]
        if not fitting:
            bins.append([])
            room.append(capacity)
            fitting = [len(bins) - 1]
        b = min(fitting, key=lambda b: room[b]) if best_fit else fitting[0]
        bins[b].append(size)
        room[b] -= size
    return [tuple(one) for one in bins]
