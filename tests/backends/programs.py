"""Linear programs, drawn and built, and what is a proof of an optimum of theirs."""

from __future__ import annotations

import random
from fractions import Fraction
from operator import neg

import pulp
from hypothesis import strategies as st

from dlopt.backends.exact_lp import basis_from_highs, from_pulp
from dlopt.backends.linear_program import BasisStatus, Certificate, LinearProgram

F = Fraction
small = st.integers(-4, 4)
numbers = st.one_of(small.map(F), st.fractions(-4, 4, max_denominator=12))
positive = st.one_of(st.just(F(0)), numbers.map(abs))


@st.composite
def programs(
    draw: st.DrawFn, most: int = 5, boxed: bool = False, ranged: bool = False
) -> LinearProgram:
    """Draw a program around a feasible point and feasible multipliers, often degenerate."""
    n, m = draw(st.integers(1, most)), draw(st.integers(0, most))
    kinds = ["box"] if boxed else ["lower", "upper", "box", "fixed", "free"]
    row_kinds = ["lower", "upper", "fixed", *["box"] * ranged]
    point = draw(st.lists(numbers, min_size=n, max_size=n))
    sides = [_side(draw, draw(st.sampled_from(kinds)), value) for value in point]
    costs = [weight for _, weight in sides]
    rows, row_bounds = [], []
    for _ in range(m):
        row = draw(st.lists(numbers, min_size=n, max_size=n))
        activity = sum((a * v for a, v in zip(row, point, strict=True)), F(0))
        bounds, price = _side(draw, draw(st.sampled_from(row_kinds)), activity)
        costs = [c + price * a for c, a in zip(costs, row, strict=True)]
        rows.append(tuple(enumerate(row)))
        row_bounds.append(bounds)
    return LinearProgram(
        n,
        tuple(costs),
        tuple(rows),
        tuple(row_bounds),
        tuple(bounds for bounds, _ in sides),
        offset=draw(numbers),
        sense=draw(st.sampled_from([1, -1])),
    )


def _side(
    draw: st.DrawFn, kind: str, value: Fraction
) -> tuple[tuple[Fraction | None, Fraction | None], Fraction]:
    """Draw bounds around a value, and a weight that may lean on them."""
    if kind == "fixed":
        return (value, value), draw(numbers)
    low = None if kind in ("upper", "free") else value - draw(positive)
    high = None if kind in ("lower", "free") else value + draw(positive)
    weights = {"lower": positive, "upper": positive.map(neg), "free": st.just(F(0))}
    return (low, high), draw(weights.get(kind, numbers))


def to_pulp(program: LinearProgram) -> pulp.LpProblem:
    """Write a program without ranges for PuLP."""
    problem = pulp.LpProblem("drawn", program.sense)
    x = [problem.add_variable(f"x{j}", *b) for j, b in enumerate(program.column_bounds)]
    costs = [(v, program.sense * c) for v, c in zip(x, program.costs, strict=True)]
    problem += pulp.LpAffineExpression(costs, constant=program.offset)
    for row, (low, high) in zip(program.rows, program.row_bounds, strict=True):
        sense = 0 if low == high else 1 if high is None else -1
        expression = pulp.LpAffineExpression([(x[j], a) for j, a in row], constant=0)
        problem += pulp.LpConstraint(expression, sense, rhs=high if low is None else low)
    return problem


def solved(problem: pulp.LpProblem) -> tuple[LinearProgram, list[BasisStatus], list[BasisStatus]]:
    """Solve in floats, and give the program with the basis found."""
    assert problem.solve(pulp.HiGHS(msg=False)) == pulp.LpStatusOptimal
    return (from_pulp(problem), *basis_from_highs(problem.solverModel))


def chain(n: int, tau: Fraction | int, chi: Fraction | int, load: int) -> pulp.LpProblem:
    """Build the completion of one divisible load on nodes that become ready one by one."""
    ready = sorted(random.Random(n).choices(range(1001), k=n))
    problem = pulp.LpProblem("chain")
    end = problem.add_variable("T")
    starts = [problem.add_variable(f"s{i:04}", r) for i, r in enumerate(ready)]
    loads = [problem.add_variable(f"x{i:04}", 0) for i in range(n)]
    problem += end
    for i in range(n - 1):
        problem += starts[i + 1] - starts[i] - tau * loads[i] >= 0
    for i in range(n):
        problem += end - starts[i] - (tau + chi) * loads[i] >= 0
    problem += pulp.lpSum(loads) == load
    return problem


def production() -> LinearProgram:
    """Maximise 3x + 5y + 7 with x <= 4, 2y <= 12, 3x + 2y <= 18: 43 at (2, 6), unique twice."""
    return LinearProgram(
        columns=2,
        costs=(F(-3), F(-5)),
        rows=(((0, F(1)),), ((1, F(2)),), ((0, F(3)), (1, F(2)))),
        row_bounds=((None, F(4)), (None, F(12)), (None, F(18))),
        column_bounds=((F(0), None), (F(0), None)),
        offset=F(7),
        sense=-1,
    )


def is_proof(program: LinearProgram, certificate: Certificate) -> bool:
    """Restate weak duality term by term."""
    x, y = certificate.primal, certificate.dual
    reduced = list(program.costs)
    bound = F(0)
    pairs = []
    for row, price, limits in zip(program.rows, y, program.row_bounds, strict=True):
        pairs.append((sum((a * x[j] for j, a in row), F(0)), price, limits))
        for j, a in row:
            reduced[j] -= a * price
    pairs += zip(x, reduced, program.column_bounds, strict=True)
    for activity, weight, (low, high) in pairs:
        if (low is not None and activity < low) or (high is not None and activity > high):
            return False
        side = low if weight > 0 else high
        if weight and side is None:
            return False
        bound += weight * (side or 0)
    cost = sum((c * v for c, v in zip(program.costs, x, strict=True)), F(0))
    return bound == cost and certificate.value == program.sense * cost + program.offset


def changed(vector: tuple[Fraction, ...], k: int, change: Fraction) -> tuple[Fraction, ...]:
    return (*vector[:k], vector[k] + change, *vector[k + 1 :])
