"""How few machines of one capacity hold parts that are there together: bin packing.

Patterns, the ways to fill a bin, are made as a linear program over them asks for them (Gilmore and
Gomory, Operations Research 9, 1961, and 11, 1963). Its prices, rounded down to whole numbers, prove
the bound: no pattern is worth more than the best knapsack, which is computed in whole numbers.
Where hardly anything may be wasted all patterns are enumerated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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

_PRICE = 1 << 40
_LARGEST = 20_000
"""Bins of more units are not priced: a knapsack takes memory by units."""
_MANY = 30_000
"""Patterns at the most, if all of them are enumerated."""
_EFFORT = 20.0
"""Deterministic time for a program over patterns, where there is no time limit."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Bins that hold all items, and the fewest that are possible.

    Parameters
    ----------
    bins : tuple of Pattern
    bound : int
        No packing has fewer.
    proof : str
    """

    bins: tuple[Pattern, ...]
    bound: int
    proof: str

    @property
    def proven(self) -> bool:
        """Whether there can be no fewer."""
        return len(self.bins) == self.bound


def pack(sizes: Iterable[int], capacity: int, limits: Limits, seed: int = 0) -> Packing:
    """Pack items of these sizes into as few bins as is found in the time, and bound their number.

    Parameters
    ----------
    sizes : iterable of int
        Positive, at most `capacity`.
    capacity : int
    limits : Limits
    seed : int

    Notes
    -----
    Without a limit it ends all the same, and may leave a gap of one bin.

    Examples
    --------
    >>> found = pack([6, 5, 5, 4, 4, 3, 3], 10, Limits())
    >>> len(found.bins), found.bound
    (3, 3)
    """
    items = sorted(sizes, reverse=True)
    best = min((_fitted(items, capacity, full) for full in (False, True)), key=len)
    bound = simple_bound(items, capacity)
    proof = "sizes and dual feasible functions"
    if len(best) > bound and capacity <= _LARGEST:
        budget = Budget(limits)
        try:
            search = _Patterns(items, capacity, budget, seed, best)
            priced = search.price()
            if priced > bound:
                bound, proof = priced, "a linear program over patterns, its prices whole"
            best = search.round(best, bound)
        except TimeoutError:
            pass
    return Packing(tuple(best), bound, proof)


def simple_bound(sizes: Sequence[int], capacity: int) -> int:
    """Return a bound by what all sizes amount to, and by those of large items (Martello, Toth)."""
    best = -(-sum(sizes) // capacity) if sizes else 0
    for small in {0, *(size for size in sizes if 2 * size <= capacity)}:
        huge = sum(1 for size in sizes if size > capacity - small)
        half = [size for size in sizes if capacity - small >= size and 2 * size > capacity]
        rest = sum(size for size in sizes if 2 * size <= capacity and size >= small)
        room = len(half) * capacity - sum(half)
        best = max(best, huge + len(half) + max(0, -(-(rest - room) // capacity)))
    return best


class _Patterns:
    """The program over patterns."""

    def __init__(
        self,
        items: Sequence[int],
        capacity: int,
        budget: Budget,
        seed: int,
        known: Iterable[Pattern],
    ) -> None:
        self.demand = Counter(items)
        self.sizes = sorted(self.demand, reverse=True)
        self.capacity, self.budget, self.seed = capacity, budget, seed
        self.patterns = list(dict.fromkeys(known))
        self.weights: Sequence[float] = ()

    def price(self) -> int:
        """Solve the linear program by its dual, and return the bound that its prices prove."""
        unit = (Fraction(0), Fraction(1))
        costs = tuple(-Fraction(self.demand[size]) for size in self.sizes)
        rows = [self._row(pattern) for pattern in self.patterns]
        program = LinearProgram(
            len(self.sizes),
            costs,
            tuple(rows),
            ((None, Fraction(1)),) * len(rows),
            (unit,) * len(self.sizes),
        )
        solver = LinearSolver(program, self.seed, self.budget.stop)
        bound = 0
        while True:
            self.budget.left()
            found = solver.solve()
            if found.status is not Status.OPTIMAL:
                break
            self.weights = [-weight for weight in found.multipliers]
            prices = [int(price * _PRICE) for price in found.point]
            most, pattern = self._knapsack(prices)
            worth = sum(
                price * self.demand[size] for size, price in zip(self.sizes, prices, strict=True)
            )
            bound = max(bound, ceil(Fraction(worth, most)) if most else 0)
            if most <= _PRICE * (1 + 1e-9) or pattern in self.patterns:
                break
            self.patterns.append(pattern)
            solver.add((self._row(pattern), None, Fraction(1)))
        return bound

    def round(self, best: list[Pattern], bound: int) -> list[Pattern]:
        """Return a packing from patterns, if it is better than the best one."""
        best = self._dived(best, bound)
        for size in range(bound, len(best)):
            patterns = self._nearly_full(size)
            found = self._choose(self.patterns if patterns is None else patterns, size)
            if found is not None:
                return found
            if patterns is None:
                break
        return best

    def _row(self, pattern: Pattern) -> tuple[tuple[int, Fraction], ...]:
        place = {size: n for n, size in enumerate(self.sizes)}
        return tuple((place[size], Fraction(count)) for size, count in Counter(pattern).items())

    def _knapsack(self, prices: Sequence[int]) -> tuple[int, Pattern]:
        """Return what the best pattern is worth, and that pattern, in whole numbers."""
        import numpy as np

        best = np.zeros(self.capacity + 1, dtype=np.int64)
        steps: list[tuple[int, Any]] = []
        for size, price in zip(self.sizes, prices, strict=True):
            for _ in range(min(self.demand[size], self.capacity // size) if price else 0):
                with_it = best[:-size] + price
                better = with_it > best[size:]
                if not better.any():
                    break
                best[size:] = np.where(better, with_it, best[size:])
                steps.append((size, better))
        room, pattern = self.capacity, []
        for size, better in reversed(steps):
            if room >= size and better[room - size]:
                pattern.append(size)
                room -= size
        return int(best[-1]), tuple(sorted(pattern, reverse=True))

    def _nearly_full(self, bins: int) -> list[Pattern] | None:
        """Return all patterns that so many bins can have, or None if there are very many."""
        total = sum(size * count for size, count in self.demand.items())
        waste = bins * self.capacity - total
        found: list[Pattern] = []
        for pattern in self._filled(0, self.capacity, waste, ()):
            found.append(pattern)
            if len(found) > _MANY:
                return None
        return found

    def _filled(self, first: int, room: int, waste: int, taken: Pattern) -> Iterator[Pattern]:
        if room <= waste and taken:
            yield taken
        for n in range(first, len(self.sizes)):
            size = self.sizes[n]
            if size <= room and taken.count(size) < self.demand[size]:
                yield from self._filled(n, room - size, waste, (*taken, size))

    def _dived(self, best: list[Pattern], aim: int) -> list[Pattern]:
        """Take the patterns that the linear program takes most of, and price what is left, again.

        What patterns that makes is kept.
        """
        left, bins, search = Counter(self.demand), list[Pattern](), self
        while left:
            for pattern in search.favourites():
                need = Counter(pattern)
                if need <= left:
                    left -= need
                    bins.append(pattern)
            rest = sorted(left.elements(), reverse=True)
            filled = _fitted(rest, self.capacity, True)
            if len(bins) + len(filled) < len(best):
                best = [*bins, *filled]
            if len(best) <= aim:
                break
            useful = [pattern for pattern in self.patterns if Counter(pattern) <= left]
            search = _Patterns(rest, self.capacity, self.budget, self.seed, [*filled, *useful])
            search.price()
            self.patterns = list(dict.fromkeys([*self.patterns, *search.patterns]))
        return best

    def favourites(self) -> list[Pattern]:
        """Return patterns as often as the linear program takes them, rounded down, or the first."""
        order = sorted(zip(self.weights, self.patterns, strict=False), reverse=True)
        taken = [pattern for weight, pattern in order for _ in range(int(weight + 1e-6))]
        return taken or [pattern for _, pattern in order[:1]] or self.patterns[:1]

    def _choose(self, patterns: Sequence[Pattern], bins: int) -> list[Pattern] | None:
        """Return so many patterns that hold all items, if they are found."""
        model = cpsat.new_model()
        counts = [model.new_int_var(0, bins, f"n{p}") for p in range(len(patterns))]
        model.add(sum(counts) == bins)
        full = bins * self.capacity == sum(size * count for size, count in self.demand.items())
        holds: dict[int, list[Any]] = {size: [] for size in self.sizes}
        for pattern, count in zip(patterns, counts, strict=True):
            for size, times in Counter(pattern).items():
                holds[size].append(times * count)
        for size in self.sizes:
            held = sum(holds[size])
            model.add(held == self.demand[size] if full else held >= self.demand[size])
        limits = self.budget.left()
        timed = limits.time_s is not None
        limits = replace(limits, work=None)
        outcome = cpsat.optimise(model, limits, seed=self.seed, effort=None if timed else _EFFORT)
        if outcome.value_of is None:
            return None
        left = Counter(self.demand)
        found = []
        for pattern, count in zip(patterns, counts, strict=True):
            for _ in range(outcome.value_of(count)):
                kept = Counter(pattern) & left
                left -= kept
                found.append(tuple(sorted(kept.elements(), reverse=True)))
        return [pattern for pattern in found if pattern]


def _fitted(items: Sequence[int], capacity: int, full: bool) -> list[Pattern]:
    """Pack items in order: first fit, or into the bin that is full most."""
    bins: list[list[int]] = []
    room: list[int] = []
    for size in items:
        fitting = [b for b, left in enumerate(room) if left >= size]
        if not fitting:
            bins.append([])
            room.append(capacity)
            fitting = [len(bins) - 1]
        b = min(fitting, key=lambda b: room[b]) if full else fitting[0]
        bins[b].append(size)
        room[b] -= size
    return [tuple(one) for one in bins]
