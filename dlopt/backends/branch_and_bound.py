"""Branch and bound over a few binaries, every leaf of it a rational proof.

The solver's floats only steer: each subproblem is bounded by `SafeProgram` from the multipliers
that the solver gives, so the bound that comes out holds exactly, at any time.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, inf

from dlopt.backends.highs import LinearSolver, Relaxed
from dlopt.backends.linear_program import LinearProgram, Row
from dlopt.backends.safe_dual_bound import NO_MULTIPLIERS, Multipliers, SafeProgram
from dlopt.certificates import BoundCertificate, Leaf
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
    subproblems : int
        How many were solved.
    complete : bool
        Whether the bound is the optimum, or what was asked for, and no limit cut it short.
    """

    bound: Fraction | None
    point: Sequence[float]
    subproblems: int
    complete: bool


@dataclass(order=True, slots=True)
class _Part:
    """A subproblem: some binaries are fixed, and multipliers prove its bound.

    Without a bound they prove that it has no point.
    """

    bound: Fraction
    depth: int
    number: int
    fixed: tuple[tuple[int, int], ...] = field(compare=False)
    multipliers: Multipliers = field(compare=False, default=NO_MULTIPLIERS)
    refuted: bool = field(compare=False, default=False)


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

    Attributes
    ----------
    leaves : list
        Subproblems that cover all points, each with the multipliers that bound or refute it.

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
        self.program, self.binaries, self.step = program, list(binaries), step
        self.cuts, self.stop = cuts, stop
        self.safe = SafeProgram(program)
        self.solver = LinearSolver(program, seed, stop)
        self.bounds = list(self.safe.bounds)
        self.fixed: dict[int, int] = {}
        self.leaves: list[_Part] = []

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
        refuted: list[_Part] = []
        count = 0
        while parts:
            part = parts[0]
            if known is not None and part.bound >= known:
                break
            if time.monotonic() > self.stop or (most is not None and count >= most):
                self.leaves = refuted + parts
                return Proven(part.bound, (), count, False)
            heapq.heappop(parts)
            count += 1
            point = self._solve(part)
            if part.refuted:
                refuted.append(part)
                continue
            column = self._undecided(point)
            if column is not None:
                for value in (1, 0):
                    fixed = (*part.fixed, (column, value))
                    number = 2 * count + value
                    heapq.heappush(
                        parts, _Part(part.bound, part.depth - 1, number, fixed, part.multipliers)
                    )
            elif not parts or part.bound <= parts[0].bound:
                self.leaves = [*refuted, part, *parts]
                return Proven(part.bound, point, count, bool(point))
            else:
                heapq.heappush(parts, replace(part, depth=-len(self.binaries), number=2 * count))
        self.leaves = refuted + parts
        return Proven(known, (), count, True)

    def release(self) -> None:
        """Let go of all binaries that are fixed: the solver holds the whole program again."""
        self._fix({})

    def certificate(
        self, bound: Fraction | None, names: Sequence[str], remarks: Sequence[str] = ()
    ) -> BoundCertificate:
        """Return the proof of what `minimum` has proven.

        Parameters
        ----------
        bound : Fraction or None
            As `minimum` gave it.
        names : sequence of str
            Of the columns.
        remarks : sequence of str
        """
        program, safe = self.program, self.safe
        cuts = [safe.stated(r) for r in range(len(program.rows), len(safe.rows))]
        return BoundCertificate(
            names=tuple(names),
            costs=program.costs,
            rows=(*program.rows, *(terms for terms, _, _ in cuts)),
            row_bounds=(*program.row_bounds, *((low, high) for _, low, high in cuts)),
            column_bounds=tuple(safe.bounds),
            binaries=tuple(self.binaries),
            cuts=len(cuts),
            step=self.step,
            bound=bound,
            leaves=tuple(
                Leaf(part.fixed, safe.of_rows(part.multipliers), part.refuted)
                for part in self.leaves
            ),
            remarks=tuple(remarks),
        )

    def _solve(self, part: _Part) -> Sequence[float]:
        """Bound or refute a subproblem, with its multipliers, and return its optimum."""
        self._fix(dict(part.fixed))
        for _ in range(_ROUNDS):
            found = self.solver.solve()
            if found.status is not Status.OPTIMAL:
                ray = self._ray(found)
                if ray is not None:
                    part.multipliers, part.refuted = ray, True
                return ()
            multipliers = self.safe.read(found.multipliers)
            bound = self.step * ceil(self.safe.bound(multipliers, self.bounds) / self.step)
            if bound > part.bound:
                part.bound, part.multipliers = bound, multipliers
            rows = [] if self.cuts is None else list(self.cuts(found.point))
            if not rows:
                break
            for row in rows:
                self.safe.add(row)
                self.solver.add(row)
        return found.point

    def _ray(self, found: Relaxed) -> Multipliers | None:
        """Return what proves that a subproblem has no point: a ray, or else a row alone."""
        if found.multipliers:
            ray = self.safe.read(found.multipliers)
            if self.safe.refutes(ray, self.bounds):
                return ray
        return self.safe.hopeless_row(self.bounds) if found.status is Status.INFEASIBLE else None

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
        return (
            (cost, b) for cost, b in zip(self.program.costs, self.safe.bounds, strict=True) if cost
        )
