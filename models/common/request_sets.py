"""Sets of requests for which schedules are searched, drawn at random.

A linear program tells which sets fit in a relaxation. It is solved in floats, and proves nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import inf

from dlopt.backends.branch_and_bound import Cuts
from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import LinearProgram

CUT_ROUNDS = 30
"""Rounds of cuts that decide whether requests fit in the relaxation. Chosen by hand."""
TARGETS = 60
"""Sets of requests that are drawn to find one with a larger value. Chosen by hand."""
EXCHANGES = 20
"""Sets of requests that are drawn in an exchange to find one that fits. Chosen by hand."""


class RelaxationTest:
    """Whether sets of requests fit in a relaxation, as a solver in floats says, asked many times.

    Parameters
    ----------
    program : LinearProgram
        With any objective.
    binaries : sequence of int
        The columns that accept requests.
    seed : int
    stop : float
        Instant of the monotonic clock from which on no set fits.
    separate : callable, optional
        Separates cuts.

    Examples
    --------
    >>> one, none = Fraction(1), Fraction(0)
    >>> rows = (((0, one), (1, one)),)
    >>> program = LinearProgram(2, (-one, -one), rows, ((None, one),), ((none, one), (none, one)))
    >>> test = RelaxationTest(program, [0, 1], seed=0)
    >>> test.allows(frozenset([0])), test.allows(frozenset([0, 1]))
    (True, False)
    """

    def __init__(
        self,
        program: LinearProgram,
        binaries: Sequence[int],
        seed: int,
        stop: float = inf,
        separate: Cuts | None = None,
    ) -> None:
        self.solver, self.binaries = LinearSolver(program, seed, stop), binaries
        self.separate = separate
        self.known: dict[frozenset[int], bool] = {}

    def allows(self, requests: frozenset[int]) -> bool:
        """Tell whether some requests fit."""
        if requests not in self.known:
            self.known[requests] = self._solve(requests)
        return self.known[requests]

    def _solve(self, requests: frozenset[int]) -> bool:
        for i, column in enumerate(self.binaries):
            self.solver.set_bounds(column, float(i in requests), float(i in requests))
        for _ in range(CUT_ROUNDS):
            point = self.solver.solve().point
            if not point:
                return False
            rows = [] if self.separate is None else list(self.separate(point))
            for row in rows:
                self.solver.add(row)
            if not rows:
                break
        return True


class RequestSets:
    """Draws sets of requests that fit in a relaxation.

    Parameters
    ----------
    weights : sequence of Fraction
        Of all requests.
    possible : sequence of int
        The requests that can be accepted at all.
    mandatory : frozenset of int
    granularity : Fraction
        A number of which all weights are multiples.
    allows : callable
        Tells whether a set fits.
    is_over : callable
        Tells whether no more sets are drawn.
    draw : random.Random

    Examples
    --------
    >>> weights, fits = [Fraction(1)] * 3, lambda requests: len(requests) < 3
    >>> about = frozenset([0]), Fraction(1), fits, lambda: False, random.Random(0)
    >>> sets = RequestSets(weights, range(3), *about)
    >>> len(sets.larger(frozenset([0]))), sets.larger(frozenset([0, 1]))
    (2, None)
    """

    def __init__(
        self,
        weights: Sequence[Fraction],
        possible: Sequence[int],
        mandatory: frozenset[int],
        granularity: Fraction,
        allows: Callable[[frozenset[int]], bool],
        is_over: Callable[[], bool],
        draw: random.Random,
    ) -> None:
        self.weights, self.possible, self.mandatory = weights, possible, mandatory
        self.granularity, self.allows, self.is_over = granularity, allows, is_over
        self.random = draw

    def larger(self, accepted: frozenset[int]) -> frozenset[int] | None:
        """Return requests of a larger value than those that are accepted."""
        least = self.value(accepted) + self.granularity
        optional = self._optional(accepted)
        for attempt in range(TARGETS):
            if self.is_over():
                break
            removed = self.random.sample(optional, min(len(optional), 3 * attempt // TARGETS))
            target = self._filled(accepted, removed, least)
            if target is not None:
                return target
        return None

    def exchanged(
        self, requests: frozenset[int], unfinished: frozenset[int]
    ) -> frozenset[int] | None:
        """Return requests of no smaller value without one of some, often an unfinished one."""
        least = self.value(requests)
        for _ in range(EXCHANGES):
            late = self._optional(unfinished)
            optional = late if self.random.random() < 0.5 else self._optional(requests)
            if optional:
                target = self._filled(requests, [self.random.choice(optional)], least)
                if target is not None:
                    return target
        return None

    def value(self, requests: Iterable[int]) -> Fraction:
        """Return the sum of weights."""
        return sum((self.weights[i] for i in requests), Fraction(0))

    def _optional(self, requests: Iterable[int]) -> list[int]:
        return [i for i in sorted(requests) if i not in self.mandatory]

    def _filled(
        self, requests: frozenset[int], removed: Sequence[int], least: Fraction
    ) -> frozenset[int] | None:
        """Return requests without some and with others up to a value, None if they do not fit."""
        others = [i for i in self.possible if i not in requests]
        added, value = list[int](), self.value(requests.difference(removed))
        for i in self.random.sample(others, len(others)):
            if value >= least:
                break
            added.append(i)
            value += self.weights[i]
        if value < least:
            return None
        filled = requests.difference(removed).union(added)
        return filled if self.allows(filled) else None
