"""Exact linear programming: an optimal basis found in floats becomes a proof in fractions.

A float solver is trusted for one thing only, which variables are basic. The basis is solved
again over the rationals, repaired by exact simplex pivots where tolerances misled the solver,
and the answer leaves as a `Certificate` that `verify` has checked without any of that code.

All work is in integers: rows, bounds and costs are scaled by their common denominators, and
basis systems are solved by p-adic lifting (Dixon, Numer. Math. 40, 1982). Elimination is modulo
a prime, so its entries do not grow; only the answer, n nodes long, has numbers of size O(n).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from math import isinf, lcm
from random import Random
from typing import TYPE_CHECKING, Any

from dlopt.errors import SolverError

if TYPE_CHECKING:
    import pulp  # type: ignore[import-untyped, unused-ignore]

_Vector = tuple[list[int], int]  # numerators and their common positive denominator
Bounds = tuple[tuple[Fraction | None, Fraction | None], ...]

# A Mersenne prime: large enough to save lifting steps, small enough for cheap products. A basis
# whose determinant it divides counts as singular: at worst that ends without a certificate.
_BITS = 521
_P = (1 << _BITS) - 1
_SURE = 64  # bits to spare before a reconstructed denominator is believed (and then tried)


class BasisStatus(IntEnum):
    """Where a basis puts a variable or a row; a free variable outside the basis is zero."""

    BASIC = 0
    AT_LOWER = 1
    AT_UPPER = 2
    FREE = 3


@dataclass(frozen=True, slots=True)
class LinearProgram:
    """Minimise ``c.x`` subject to ``lower <= a_i.x <= upper`` per row and bounds on ``x``.

    Parameters
    ----------
    columns : int
        Number of variables.
    costs : tuple of Fraction
        ``c``, of the minimisation (negated if the original problem maximises).
    rows : tuple of tuple of (int, Fraction)
        Each ``a_i`` as (column, coefficient) pairs.
    row_bounds, column_bounds : tuple of (Fraction or None, Fraction or None)
        Lower and upper bounds; None is no bound.
    offset : Fraction
        Constant of the objective, in the original sense.
    sense : int
        1 if the original problem minimises, -1 if it maximises: its objective is
        ``sense * c.x + offset``.
    """

    columns: int
    costs: tuple[Fraction, ...]
    rows: tuple[tuple[tuple[int, Fraction], ...], ...]
    row_bounds: Bounds
    column_bounds: Bounds
    offset: Fraction = Fraction(0)
    sense: int = 1

    def __post_init__(self) -> None:
        """Check the shapes."""
        if len(self.costs) != self.columns or len(self.column_bounds) != self.columns:
            raise ValueError(f"{self.columns} columns need as many costs and bounds")
        if len(self.rows) != len(self.row_bounds):
            raise ValueError(f"{len(self.rows)} rows, but {len(self.row_bounds)} row bounds")
        if not all(0 <= j < self.columns for row in self.rows for j, _ in row):
            raise ValueError("a row names a column that does not exist")
        if self.sense not in (1, -1):
            raise ValueError(f"sense must be 1 or -1, got {self.sense}")


@dataclass(frozen=True, slots=True)
class Certificate:
    """A solution and the multipliers that prove it optimal.

    Parameters
    ----------
    value : Fraction
        Objective in the original sense, offset included.
    primal : tuple of Fraction
        One per column.
    dual : tuple of Fraction
        One multiplier per row, of the minimisation: positive at lower bounds, negative at upper.
    """

    value: Fraction
    primal: tuple[Fraction, ...]
    dual: tuple[Fraction, ...]


def from_pulp(problem: pulp.LpProblem) -> LinearProgram:
    """Convert a PuLP problem, exactly; floats stand for the binary fractions they are.

    Call it after the solve: PuLP adds a variable of its own to a problem without an objective.
    Integrality is dropped, so fix the discrete choices by bounds first.

    Notes
    -----
    PuLP keeps fractional coefficients, but rounds right sides and constants before anyone can see
    them where a float zero joins in: ``lpSum(x) == Fraction(1, 3)`` loses its third, and so do
    ``lpDot``, ``0.5 * x`` and ``LpAffineExpression(terms)``. Safe are the built-in ``sum``,
    ``LpAffineExpression(terms, constant=0)``, ``changeRHS`` and right sides scaled to integers.
    """
    variables = problem.variables()
    index = {id(variable): j for j, variable in enumerate(variables)}
    sense = int(problem.sense)
    costs = [Fraction(0)] * len(variables)
    objective = problem.objective
    for variable, coefficient in objective.items() if objective is not None else ():
        costs[index[id(variable)]] = sense * Fraction(coefficient)
    constraints = problem.constraints()
    sides = [(int(row.sense), -Fraction(row.constant)) for row in constraints]
    return LinearProgram(
        columns=len(variables),
        costs=tuple(costs),
        rows=tuple(
            tuple((index[id(variable)], Fraction(value)) for variable, value in row.items())
            for row in constraints
        ),
        row_bounds=tuple((b if s >= 0 else None, b if s <= 0 else None) for s, b in sides),
        column_bounds=tuple((_bound(v.lowBound), _bound(v.upBound)) for v in variables),
        offset=Fraction(0 if objective is None else objective.constant),
        sense=sense,
    )


def _bound(value: Any) -> Fraction | None:
    return None if value is None or isinf(value) else Fraction(value)


def statuses_from_highs(model: Any) -> tuple[list[BasisStatus], list[BasisStatus]]:
    """Read column and row statuses from a solved ``highspy.Highs`` (PuLP's ``solverModel``).

    Raises
    ------
    SolverError
        If HiGHS holds no basis, as after an integer solve or an interior point without crossover.
    """
    basis = model.getBasis()
    if not basis.valid:
        raise SolverError("HiGHS holds no valid basis for this problem")
    names = {"kBasic": BasisStatus.BASIC, "kLower": BasisStatus.AT_LOWER}
    names["kUpper"] = BasisStatus.AT_UPPER
    return (
        [names.get(status.name, BasisStatus.FREE) for status in basis.col_status],
        [names.get(status.name, BasisStatus.FREE) for status in basis.row_status],
    )


def verify(program: LinearProgram, certificate: Certificate) -> bool:
    """Check exactly that a certificate proves its value to be the optimum of the program.

    The solution must satisfy all bounds, no multiplier or reduced cost may lean on a bound that
    is not there, and the dual objective must equal the primal one.
    """
    if (len(certificate.primal), len(certificate.dual)) != (program.columns, len(program.rows)):
        return False
    # Over one denominator most sums need no gcd; with numbers of 10 000 bits that decides.
    scale = lcm(*{x.denominator for x in certificate.primal})
    point = [x.numerator * (scale // x.denominator) for x in certificate.primal]
    dual_scale = lcm(*{y.denominator for y in certificate.dual})
    prices = [y.numerator * (dual_scale // y.denominator) for y in certificate.dual]
    activities = [sum((a * point[j] for j, a in row), Fraction(0)) for row in program.rows]
    reduced = [cost * dual_scale for cost in program.costs]
    for row, price in zip(program.rows, prices, strict=True):
        for j, a in row:
            reduced[j] -= a * price
    dual_objective = Fraction(0)
    sides: tuple[tuple[Sequence[Fraction | int], Sequence[Fraction | int], Bounds], ...] = (
        (activities, prices, program.row_bounds),
        (point, reduced, program.column_bounds),
    )
    for values, weights, bounds in sides:
        for value, weight, (lower, upper) in zip(values, weights, bounds, strict=True):
            if lower is not None and value < lower * scale:
                return False
            if upper is not None and value > upper * scale:
                return False
            bound = lower if weight > 0 else upper
            if weight != 0:
                if bound is None:
                    return False
                dual_objective += weight * bound
    objective = sum((c * x for c, x in zip(program.costs, point, strict=True)), Fraction(0))
    claimed = (certificate.value - program.offset) * program.sense
    return objective == claimed * scale and dual_objective == claimed * dual_scale


def certify(
    program: LinearProgram,
    column_status: Sequence[int],
    row_status: Sequence[int],
    *,
    max_pivots: int = 200,
) -> Certificate | None:
    """Turn a basis into a proof of optimality, with exact pivots where it falls short of one.

    A basis that is neither primal nor dual feasible is first made dual feasible by shifting
    costs; the dual simplex then makes it primal feasible, the primal simplex with the true costs
    optimal, both by Bland's rule. Dependent columns are replaced by the slacks of their rows.

    Parameters
    ----------
    program : LinearProgram
        The program.
    column_status, row_status : sequence of int
        A `BasisStatus` per column and per row; a status that its bounds contradict is adjusted.
    max_pivots : int
        Most pivots and bound flips to spend on repair.

    Returns
    -------
    Certificate or None
        None if the program is infeasible or unbounded, or the pivots ran out. A certificate
        has passed `verify`.
    """
    if (len(column_status), len(row_status)) != (program.columns, len(program.rows)):
        raise ValueError("one status per column and per row, please")
    simplex = _Simplex(program, [*column_status, *row_status], max_pivots)
    if not (simplex.make_feasible() and simplex.make_optimal()):
        return None
    certificate = simplex.certificate(program)
    return certificate if verify(program, certificate) else None


class _Simplex:
    """The program in integers, rows as variables: column n + i is minus the unit vector i."""

    def __init__(self, program: LinearProgram, status: list[int], pivots: int) -> None:
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
                    self.columns[j].append((i, int(a * scale)))
        self.columns += [[(i, -1)] for i in range(self.size)]
        self.bounds = [*program.column_bounds]
        for (low, high), scale in zip(program.row_bounds, self.row_scale, strict=True):
            self.bounds.append((low and low * scale, high and high * scale))
        self.bound_scale = lcm(*(b.denominator for pair in self.bounds for b in pair if b))
        self.lower = [_scaled(low, self.bound_scale) for low, _ in self.bounds]
        self.upper = [_scaled(high, self.bound_scale) for _, high in self.bounds]
        self.cost_scale = lcm(*(c.denominator for c in program.costs))
        self.costs = [int(c * self.cost_scale) for c in program.costs] + [0] * self.size
        self.status = [self._at_rest(j, s) for j, s in enumerate(status)]
        self.basis = [j for j, s in enumerate(status) if s == BasisStatus.BASIC]
        self._factor()

    def _at_rest(self, j: int, status: int) -> BasisStatus:
        if status == BasisStatus.BASIC:
            return BasisStatus.BASIC
        if self.lower[j] is None or (status == BasisStatus.AT_UPPER and self.upper[j] is not None):
            return BasisStatus.FREE if self.upper[j] is None else BasisStatus.AT_UPPER
        return BasisStatus.AT_LOWER

    def _factor(self) -> None:
        self._values: _Vector | None = None
        self._prices: _Vector | None = None
        self.factors = _Factors([self.columns[j] for j in self.basis], self.size)
        rows, kept = self.factors.rows_left, self.factors.pivots
        if rows or len(self.basis) > self.size:
            for j in {*self.basis} - {self.basis[k] for k in kept}:
                self.status[j] = self._at_rest(j, BasisStatus.AT_LOWER)
            slacks = [len(self.columns) - self.size + i for i in rows]
            for j in slacks:
                self.status[j] = BasisStatus.BASIC
            self.basis = [self.basis[k] for k in kept] + slacks
            self._factor()

    def resting_value(self, j: int) -> int:
        """Give the value of a variable outside the basis."""
        bound = self.upper[j] if self.status[j] == BasisStatus.AT_UPPER else self.lower[j]
        return bound or 0

    def values(self) -> _Vector:
        """Solve for the basic variables."""
        if self._values is None:
            right = [0] * self.size
            for j, column in enumerate(self.columns):
                if self.status[j] != BasisStatus.BASIC and (value := self.resting_value(j)):
                    for i, a in column:
                        right[i] -= a * value
            self._values = self.factors.solve(right)
        return self._values

    def prices(self) -> _Vector:
        """Solve for the row multipliers under the true costs."""
        if self._prices is None:
            self._prices = self._multipliers(self.costs)
        return self._prices

    def _multipliers(self, costs: list[int]) -> _Vector:
        return self.factors.solve([costs[j] for j in self.basis], transposed=True)

    def _reduced(self, costs: list[int], prices: _Vector) -> list[int]:
        y, scale = prices
        return [
            0 if self.status[j] == BasisStatus.BASIC else cost * scale - sum(a * y[i] for i, a in c)
            for j, (cost, c) in enumerate(zip(costs, self.columns, strict=True))
        ]

    def _direction(self, j: int, slope: int) -> int:
        """Say which way j can leave its bound so that something with this slope falls."""
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
                prices = self.prices()
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
            entering = _least(
                (abs(reduced[j]), abs(a), j) for j, a in enumerate(row) if self._direction(j, a)
            )
            if entering is None:
                return False
            self._pivot(position, entering, above)

    def make_optimal(self) -> bool:
        """Run the primal simplex from a feasible basis."""
        while True:
            reduced = self._reduced(self.costs, self.prices())
            ways = ((j, self._direction(j, d)) for j, d in enumerate(reduced))
            entering, way = next(((j, way) for j, way in ways if way), (-1, 0))
            if not way:
                return True
            if self.pivots <= 0:
                return False
            self.pivots -= 1
            right = [0] * self.size
            for i, a in self.columns[entering]:
                right[i] = -a * way
            (x, scale), (step, step_scale) = self.values(), self.factors.solve(right)
            ratios = []
            for k, j in enumerate(self.basis):
                bound = self.upper[j] if step[k] > 0 else self.lower[j]
                if step[k] and bound is not None:
                    ratios.append((abs(bound * scale - x[k]), abs(step[k]), j))
            low, high = self.lower[entering], self.upper[entering]
            if low is not None and high is not None:
                ratios.append(((high - low) * scale, step_scale, entering))
            leaving = _least(ratios)
            if leaving is None:
                return False
            if leaving == entering:
                self.status[entering] = BasisStatus(3 - self.status[entering])
                self._values = None
            else:
                position = self.basis.index(leaving)
                self._pivot(position, entering, step[position] > 0)

    def certificate(self, program: LinearProgram) -> Certificate:
        """Scale the basic solution and its multipliers back."""
        x = [Fraction(self.resting_value(j), self.bound_scale) for j in range(program.columns)]
        numerators, scale = self.values()
        for j, numerator in zip(self.basis, numerators, strict=True):
            if j < program.columns:
                x[j] = Fraction(numerator, scale * self.bound_scale)
        numerators, scale = self.prices()
        scale *= self.cost_scale
        y = [Fraction(s * n, scale) for s, n in zip(self.row_scale, numerators, strict=True)]
        objective = sum((c * v for c, v in zip(program.costs, x, strict=True)), Fraction(0))
        return Certificate(program.sense * objective + program.offset, tuple(x), tuple(y))


class _Factors:
    """Sparse triangular factors of integer columns modulo a prime, and exact solves by lifting.

    Singletons are eliminated first, which costs no fill; then the shortest line and in it the
    shortest crossing line (after Markowitz). ``pivots`` are the independent columns.
    """

    def __init__(self, columns: list[list[tuple[int, int]]], size: int) -> None:
        self.columns = columns
        self.rows: list[list[tuple[int, int]]] = [[] for _ in range(size)]
        rows: list[dict[int, int]] = [{} for _ in range(size)]
        crossing: list[set[int]] = [set() for _ in columns]
        for q, column in enumerate(columns):
            for i, a in column:
                self.rows[i].append((q, a))
                if a % _P:
                    rows[i][q] = a if -_P < a < _P else a % _P
                    crossing[q].add(i)
        queue = [(len(row), 0, i) for i, row in enumerate(rows)]
        queue += [(len(lines), 1, q) for q, lines in enumerate(crossing)]
        heapq.heapify(queue)
        self.steps: list[tuple[int, int, int, list[tuple[int, int]], list[tuple[int, int]]]] = []
        while queue:
            count, is_column, line = heapq.heappop(queue)
            # Entries of lines that are done, or have changed since, are stale.
            if count == 0 or count != len(crossing[line] if is_column else rows[line]):
                continue
            if is_column:
                p, q = min(crossing[line], key=lambda i: (len(rows[i]), i)), line
            else:
                p, q = line, min(rows[line], key=lambda j: (len(crossing[j]), j))
            pivot_row, rows[p] = rows[p], {}
            inverse = pow(pivot_row.pop(q), -1, _P)
            below, crossing[q] = crossing[q] - {p}, set()
            factors = [(i, rows[i].pop(q) * inverse % _P) for i in sorted(below)]
            for j, a in pivot_row.items():
                crossing[j].discard(p)
                for i, factor in factors:
                    entry = (rows[i].get(j, 0) - factor * a) % _P
                    if entry:
                        rows[i][j] = entry
                        crossing[j].add(i)
                    elif rows[i].pop(j, 0):
                        crossing[j].discard(i)
                heapq.heappush(queue, (len(crossing[j]), 1, j))
            for i, _ in factors:
                heapq.heappush(queue, (len(rows[i]), 0, i))
            self.steps.append((p, q, inverse, list(pivot_row.items()), factors))
        self.pivots = [step[1] for step in self.steps]
        self.rows_left = sorted({*range(size)} - {step[0] for step in self.steps})

    def solve(self, right: list[int], transposed: bool = False) -> _Vector:
        """Solve ``B x = right`` (or with the transpose) exactly over one common denominator.

        Once the right side carries the denominator, the unknowns are integers and their digits
        end: a zero residual proves them. The denominator is guessed, from a weighted sum of the
        unknowns; a wrong guess costs time, never truth.
        """
        lines = self.columns if transposed else self.rows
        denominator, probe = 1, 1
        while True:
            residual, digits = [denominator * b for b in right], []
            while any(residual):
                digit = self._backward(residual) if transposed else self._forward(residual)
                digits.append(digit)
                for i, line in enumerate(lines):
                    rest = residual[i]
                    for k, a in line:
                        rest -= a * digit[k]
                    residual[i] = rest // _P
                if len(digits) == probe and any(residual):
                    missing = _denominator(digits)
                    if missing > 1:
                        # Later guesses see more digits: none can repeat a mistake for ever.
                        denominator, probe = denominator * missing, 2 * probe
                        break
                    probe = max(probe + 1, probe * 5 // 4)
            else:
                parts = zip(*digits, strict=True) if digits else ((0,) for _ in right)
                return [_assemble(part) for part in parts], denominator

    def _forward(self, right: list[int]) -> list[int]:
        v = [b % _P for b in right]
        for p, _, _, _, factors in self.steps:
            if (t := v[p]) and factors:
                for i, factor in factors:
                    v[i] = (v[i] - factor * t) % _P
        x = [0] * len(v)
        for p, q, inverse, others, _ in reversed(self.steps):
            t = v[p]
            for j, a in others:
                t -= a * x[j]
            t = t * inverse % _P
            x[q] = t if t <= _P >> 1 else t - _P
        return x

    def _backward(self, right: list[int]) -> list[int]:
        v = [b % _P for b in right]
        y = [0] * len(v)
        for p, q, inverse, others, _ in self.steps:
            y[p] = t = v[q] * inverse % _P
            if t:
                for j, a in others:
                    v[j] = (v[j] - a * t) % _P
        for p, _, _, _, factors in reversed(self.steps):
            t = y[p]
            for i, factor in factors:
                t -= factor * y[i]
            t %= _P
            y[p] = t if t <= _P >> 1 else t - _P
        return y


def _assemble(digits: Iterable[int]) -> int:
    value = 0
    for digit in reversed([*digits]):
        value = (value << _BITS) - value + digit
    return value


def _denominator(digits: list[list[int]]) -> int:
    """Guess a denominator of the unknowns by rational reconstruction, or give 1."""
    random = Random(len(digits))
    weights = [random.getrandbits(32) for _ in digits[0]]
    total = _assemble(sum(w * x for w, x in zip(weights, d, strict=True)) for d in digits)
    a: int = _P ** len(digits)
    b, s, t = total % a, 0, 1
    best, found = 1 << _SURE, 1  # a quotient as large as this is chance once in 2 ** _SURE
    while b and a > best:
        quotient, rest = divmod(a, b)
        if quotient > best:
            best, found = quotient, abs(t)
        a, b, s, t = b, rest, t, s - quotient * t
    return found


def _least(ratios: Iterable[tuple[int, int, int]]) -> int | None:
    """Give the key of the smallest (numerator, denominator, key), by key among equals."""
    best: tuple[int, int, int] | None = None
    for ratio in ratios:
        order = -1 if best is None else ratio[0] * best[1] - best[0] * ratio[1]
        if best is None or order < 0 or (order == 0 and ratio[2] < best[2]):
            best = ratio
    return None if best is None else best[2]


def _scaled(bound: Fraction | None, scale: int) -> int | None:
    return None if bound is None else int(bound * scale)
