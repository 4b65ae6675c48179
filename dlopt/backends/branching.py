"""Branch and bound over a few binaries, every leaf of it a rational proof.

The solver's floats only steer: each subproblem is bounded by `SafeProgram` from the multipliers
that the solver gives, so the bound that comes out holds exactly, at any time.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, inf

from dlopt.backends.highs import LinearSolver, Relaxed
from dlopt.backends.linear_program import LinearProgram
from dlopt.backends.safe import Row, SafeProgram
from dlopt.result import Status

Cuts = Callable[[Sequence[float]], Iterable[Row]]
"""Rows that every point with integral binaries satisfies and the given point does not."""

_INTEGRAL = 1e-6
_ROUNDS = 30
"""Rounds of cuts at one subproblem, at the most."""


@dataclass(frozen=True, slots=True)
class Proven:
    """What branch and bound has proven.

    Parameters
    ----------
    bound : Fraction or None
        No point with integral binaries has a smaller objective; None if there is no such point.
    point : sequence of float
        One that attains the bound, in floats; empty if none was found.
    leaves : int
        Subproblems, each with its rational proof.
    complete : bool
        Whether the bound is the optimum, or what was asked for, and no limit cut it short.
    """

    bound: Fraction | None
    point: Sequence[float]
    leaves: int
    complete: bool


@dataclass(order=True, slots=True)
class _Part:
    """A subproblem: some binaries are fixed."""

    bound: Fraction
    depth: int
    number: int
    fixed: tuple[tuple[int, int], ...] = field(compare=False)


class BranchAndBound:
    """Minimise over binaries, by the best bound first.

    Parameters
    ----------
    program : LinearProgram
        Every variable has bounds; only binaries have costs.
    binaries : sequence of int
        Columns.
    step : Fraction
        Every objective that binaries can attain is a multiple of it.
    cuts : callable, optional
        Called with the points of subproblems.
    seed : int
    stop : float
        Instant of the monotonic clock at which to stop.

    Examples
    --------
    >>> unit = (Fraction(0), Fraction(1))
    >>> odd = tuple((j, Fraction(2)) for j in range(3))
    >>> costs = (Fraction(-1),) * 3
    >>> program = LinearProgram(3, costs, (odd,), ((None, Fraction(5)),), (unit,) * 3)
    >>> BranchAndBound(program, range(3), Fraction(1)).minimum().bound
    Fraction(-2, 1)
    """

    def __init__(
        self,
        program: LinearProgram,
        binaries: Sequence[int],
        step: Fraction,
        cuts: Cuts | None = None,
        seed: int = 0,
        stop: float = inf,
    ) -> None:
        self.costs, self.binaries, self.step = program.costs, list(binaries), step
        self.cuts, self.stop = cuts, stop
        self.safe = SafeProgram(program)
        self.solver = LinearSolver(program, seed, stop)
        self.bounds = list(self.safe.bounds)
        self.fixed: dict[int, int] = {}

    def minimum(self, known: Fraction | None = None, most: int | None = None) -> Proven:
        """Return the least objective, or a bound of it.

        Parameters
        ----------
        known : Fraction, optional
            An objective that is attained: to prove that nothing is smaller is enough.
        most : int, optional
            Subproblems to solve at the most.
        """
        lowest = sum((min(c * low, c * high) for c, (low, high) in self._costly()), Fraction(0))
        parts = [_Part(lowest, 0, 0, ())]
        count = 0
        while parts:
            part = parts[0]
            if known is not None and part.bound >= known:
                return Proven(known, (), count, True)
            if time.monotonic() > self.stop or (most is not None and count >= most):
                return Proven(part.bound, (), count, False)
            heapq.heappop(parts)
            count += 1
            bound, point = self._solve(part)
            if bound is None:
                continue
            column = self._undecided(point)
            if column is not None:
                for value in (1, 0):
                    fixed = (*part.fixed, (column, value))
                    number = 2 * count + value
                    heapq.heappush(parts, _Part(bound, part.depth - 1, number, fixed))
            elif not parts or bound <= parts[0].bound:
                return Proven(bound, point, count, bool(point))
            else:
                heapq.heappush(parts, _Part(bound, -len(self.binaries), 2 * count, part.fixed))
        return Proven(known, (), count, True)

    def release(self) -> None:
        """Let go of all binaries that are fixed: the solver holds the whole program again."""
        self._fix({})

    def _solve(self, part: _Part) -> tuple[Fraction | None, Sequence[float]]:
        """Return a proven bound of a subproblem, None if it has no point, and its optimum."""
        self._fix(dict(part.fixed))
        bound = part.bound
        for _ in range(_ROUNDS):
            found = self.solver.solve()
            if found.status is not Status.OPTIMAL:
                return (None if self._refuted(found) else bound), ()
            bound = max(bound, self._proven(found))
            rows = [] if self.cuts is None else list(self.cuts(found.point))
            if not rows:
                break
            for row in rows:
                self.safe.add(row)
                self.solver.add(row)
        return bound, found.point

    def _refuted(self, found: Relaxed) -> bool:
        """Tell whether a ray, or else a row alone, proves that a subproblem has no point."""
        if found.multipliers and self.safe.refutes(found.multipliers, self.bounds):
            return True
        return found.status is Status.INFEASIBLE and self.safe.has_hopeless_row(self.bounds)

    def _proven(self, found: Relaxed) -> Fraction:
        return self.step * ceil(self.safe.bound(found.multipliers, self.bounds) / self.step)

    def _undecided(self, point: Sequence[float]) -> int | None:
        """Return the binary to branch on: the one that the point leaves open most."""
        free = [j for j in self.binaries if j not in self.fixed and len(set(self.bounds[j])) > 1]
        if not point:
            return free[0] if free else None
        column = max(free, key=lambda j: min(point[j], 1 - point[j]), default=None)
        if column is None or min(point[column], 1 - point[column]) <= _INTEGRAL:
            return None
        return column

    def _fix(self, fixed: dict[int, int]) -> None:
        for column in {*self.fixed, *fixed}:
            low, high = self.safe.bounds[column]
            if column in fixed:
                low = high = Fraction(fixed[column])
            self.bounds[column] = low, high
            self.solver.set_bounds(column, float(low), float(high))
        self.fixed = fixed

    def _costly(self) -> Iterable[tuple[Fraction, tuple[Fraction, Fraction]]]:
        return ((cost, b) for cost, b in zip(self.costs, self.safe.bounds, strict=True) if cost)
