"""Exact simplex method in integers: repairs a basis of a floating-point solver.

`Simplex.make_feasible` is the dual simplex on shifted costs, `Simplex.make_optimal` the primal
simplex, both with Bland's rule; every basis is factorised again by Dixon lifting.

>>> one = Fraction(1)
>>> program = LinearProgram(1, (-one,), (((0, 3 * one),),), ((None, one),), ((0 * one, None),))
>>> simplex = Simplex(program, [BasisStatus.AT_LOWER, BasisStatus.BASIC], pivots=9)  # max x
>>> simplex.make_feasible() and simplex.make_optimal() and simplex.certificate(program).primal
(Fraction(1, 3),)
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf, lcm

from dlopt.backends.dixon_lifting import SparseFactors, Vector
from dlopt.backends.linear_program import (
    BasisStatus,
    Certificate,
    LinearProgram,
    whole_multiple,
)


class Simplex:
    """Simplex tableau of a program in integers.

    Each row i is a logical variable: column n + i is minus the unit vector i.
    """

    def __init__(
        self, program: LinearProgram, status: list[int], pivots: int, stop: float = inf
    ) -> None:
        self.stop = stop
        self.size = len(program.rows)
        self.pivots = pivots
        self.row_scale = [lcm(*(a.denominator for _, a in row)) for row in program.rows]
        self.columns: list[list[tuple[int, int]]] = [[] for _ in range(program.columns)]
        for i, (row, scale) in enumerate(zip(program.rows, self.row_scale, strict=True)):
            merged: dict[int, Fraction] = {}
            for j, a in row:
                merged[j] = merged.get(j, Fraction(0)) + a
            for j, a in merged.items():
                if a:
                    self.columns[j].append((i, whole_multiple(a, scale)))
        self.columns += [[(i, -1)] for i in range(self.size)]
        self.bounds = [*program.column_bounds]
        for (low, high), scale in zip(program.row_bounds, self.row_scale, strict=True):
            self.bounds.append((low and low * scale, high and high * scale))
        self.bound_scale = lcm(*(b.denominator for pair in self.bounds for b in pair if b))
        self.lower = [_scaled(low, self.bound_scale) for low, _ in self.bounds]
        self.upper = [_scaled(high, self.bound_scale) for _, high in self.bounds]
        self.cost_scale = lcm(*(c.denominator for c in program.costs))
        self.costs = [whole_multiple(c, self.cost_scale) for c in program.costs] + [0] * self.size
        self.status = [self._nonbasic_status(j, s) for j, s in enumerate(status)]
        self.basis = [j for j, s in enumerate(status) if s == BasisStatus.BASIC]
        self._factor()

    def _nonbasic_status(self, j: int, status: int) -> BasisStatus:
        if status == BasisStatus.BASIC:
            return BasisStatus.BASIC
        if self.lower[j] is None or (status == BasisStatus.AT_UPPER and self.upper[j] is not None):
            return BasisStatus.FREE if self.upper[j] is None else BasisStatus.AT_UPPER
        return BasisStatus.AT_LOWER

    def _factor(self) -> None:
        self._values: Vector | None = None
        self._dual_values: Vector | None = None
        self.factors = SparseFactors([self.columns[j] for j in self.basis], self.size, self.stop)
        rows, kept = self.factors.rows_left, self.factors.pivots
        if rows or len(self.basis) > self.size:
            for j in {*self.basis} - {self.basis[k] for k in kept}:
                self.status[j] = self._nonbasic_status(j, BasisStatus.AT_LOWER)
            slacks = [len(self.columns) - self.size + i for i in rows]
            for j in slacks:
                self.status[j] = BasisStatus.BASIC
            self.basis = [self.basis[k] for k in kept] + slacks
            self._factor()

    def nonbasic_value(self, j: int) -> int:
        """Return the value of a nonbasic variable: the bound at which it is."""
        bound = self.upper[j] if self.status[j] == BasisStatus.AT_UPPER else self.lower[j]
        return bound or 0

    def values(self) -> Vector:
        """Return the values of the basic variables."""
        if self._values is None:
            right = [0] * self.size
            for j, column in enumerate(self.columns):
                if self.status[j] != BasisStatus.BASIC and (value := self.nonbasic_value(j)):
                    for i, a in column:
                        right[i] -= a * value
            self._values = self.factors.solve(right)
        return self._values

    def dual_values(self) -> Vector:
        """Return the dual values of the rows under the true costs."""
        if self._dual_values is None:
            self._dual_values = self._multipliers(self.costs)
        return self._dual_values

    def _multipliers(self, costs: list[int]) -> Vector:
        return self.factors.solve([costs[j] for j in self.basis], transposed=True)

    def _reduced(self, costs: list[int], prices: Vector) -> list[int]:
        y, scale = prices
        return [
            0 if self.status[j] == BasisStatus.BASIC else cost * scale - sum(a * y[i] for i, a in c)
            for j, (cost, c) in enumerate(zip(costs, self.columns, strict=True))
        ]

    def _direction(self, j: int, slope: int) -> int:
        """Return the direction, 1, -1 or 0, in which j can leave its bound against this slope."""
        status, low = self.status[j], self.lower[j]
        fixed = low is not None and low == self.upper[j]
        if slope == 0 or fixed or status == BasisStatus.BASIC:
            return 0
        blocked = BasisStatus.AT_UPPER if slope < 0 else BasisStatus.AT_LOWER
        return 0 if status == blocked else -1 if slope > 0 else 1

    def _pivot(self, position: int, entering: int, above: bool) -> None:
        left = self.basis[position]
        self.status[left] = BasisStatus.AT_UPPER if above else BasisStatus.AT_LOWER
        self.status[entering] = BasisStatus.BASIC
        self.basis[position] = entering
        self._factor()

    def make_feasible(self) -> bool:
        """Run the dual simplex, on shifted costs if the basis is not dual feasible."""
        costs: list[int] | None = None
        while True:
            x, scale = self.values()
            outside = [
                (j, k, high is not None and x[k] > high * scale)
                for k, j in enumerate(self.basis)
                for low, high in [(self.lower[j], self.upper[j])]
                if (low is not None and x[k] < low * scale)
                or (high is not None and x[k] > high * scale)
            ]
            if not outside:
                return True
            if self.pivots <= 0:
                return False
            self.pivots -= 1
            if costs is None:
                prices = self.dual_values()
                reduced = self._reduced(self.costs, prices)
                costs = [cost * prices[1] for cost in self.costs]
                for j, d in enumerate(reduced):
                    if self._direction(j, d):
                        costs[j] -= d
            _, position, above = min(outside)
            unit = [0] * self.size
            unit[position] = 1 if above else -1
            row = self._reduced([0] * len(self.columns), self.factors.solve(unit, transposed=True))
            reduced = self._reduced(costs, self._multipliers(costs))
            entering = _smallest_ratio(
                (abs(reduced[j]), abs(a), j) for j, a in enumerate(row) if self._direction(j, a)
            )
            if entering is None:
                return False
            self._pivot(position, entering, above)

    def make_optimal(self) -> bool:
        """Run the primal simplex from a feasible basis."""
        while True:
            reduced = self._reduced(self.costs, self.dual_values())
            directions = ((j, self._direction(j, d)) for j, d in enumerate(reduced))
            entering, direction = next(((j, sign) for j, sign in directions if sign), (-1, 0))
            if not direction:
                return True
            if self.pivots <= 0:
                return False
            self.pivots -= 1
            right = [0] * self.size
            for i, a in self.columns[entering]:
                right[i] = -a * direction
            (x, scale), (step, step_scale) = self.values(), self.factors.solve(right)
            ratios = []
            for k, j in enumerate(self.basis):
                bound = self.upper[j] if step[k] > 0 else self.lower[j]
                if step[k] and bound is not None:
                    ratios.append((abs(bound * scale - x[k]), abs(step[k]), j))
            low, high = self.lower[entering], self.upper[entering]
            if low is not None and high is not None:
                ratios.append(((high - low) * scale, step_scale, entering))
            leaving = _smallest_ratio(ratios)
            if leaving is None:
                return False
            if leaving == entering:
                self.status[entering] = BasisStatus(3 - self.status[entering])
                self._values = None
            else:
                position = self.basis.index(leaving)
                self._pivot(position, entering, step[position] > 0)

    def certificate(self, program: LinearProgram) -> Certificate:
        """Return the basic solution and its dual values in the units of the program."""
        x = [Fraction(self.nonbasic_value(j), self.bound_scale) for j in range(program.columns)]
        numerators, scale = self.values()
        for j, numerator in zip(self.basis, numerators, strict=True):
            if j < program.columns:
                x[j] = Fraction(numerator, scale * self.bound_scale)
        numerators, scale = self.dual_values()
        scale *= self.cost_scale
        y = [Fraction(s * n, scale) for s, n in zip(self.row_scale, numerators, strict=True)]
        objective = sum((c * v for c, v in zip(program.costs, x, strict=True)), Fraction(0))
        return Certificate(program.sense * objective + program.offset, tuple(x), tuple(y))


def _smallest_ratio(ratios: Iterable[tuple[int, int, int]]) -> int | None:
    """Return the key of the smallest ratio, (numerator, denominator, key), ties by key."""
    best: tuple[int, int, int] | None = None
    for ratio in ratios:
        order = -1 if best is None else ratio[0] * best[1] - best[0] * ratio[1]
        if best is None or order < 0 or (order == 0 and ratio[2] < best[2]):
            best = ratio
    return None if best is None else best[2]


def _scaled(bound: Fraction | None, scale: int) -> int | None:
    return None if bound is None else whole_multiple(bound, scale)
