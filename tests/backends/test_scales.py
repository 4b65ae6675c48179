"""Programs whose numbers solvers in floats cannot read are told in other units."""

from fractions import Fraction

import pulp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.backends.branching import BranchAndBound
from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import LinearProgram
from dlopt.backends.pulp import optimise
from dlopt.backends.scales import Scales, in_units, is_readable, scales, with_row
from dlopt.result import Limits, Status
from tests.backends.programs import production, programs, to_pulp

UNIT = Fraction(0), Fraction(1)
EXPONENTS = st.integers(-90, 90)


def knapsack(*sizes, most):
    """Return a program of binaries of value 1, as many as fit."""
    rows = (tuple((j, Fraction(size)) for j, size in enumerate(sizes)),)
    costs = (Fraction(-1),) * len(sizes)
    return LinearProgram(len(sizes), costs, rows, ((None, Fraction(most)),), (UNIT,) * len(sizes))


@pytest.mark.property
@given(programs(most=4), st.data())
def test_units_do_not_change_an_optimum_that_is_proven(program, data):
    rows = tuple(data.draw(EXPONENTS) for _ in program.rows)
    columns = tuple(data.draw(EXPONENTS) for _ in range(program.columns))
    extreme = in_units(program, Scales(rows, columns, True))
    found, known = (optimise(to_pulp(one), Limits(), exact=True) for one in (extreme, program))
    assert known.proven and known.status is Status.OPTIMAL
    if found.proven:
        assert found.value == known.value
    elif found.bound is not None:
        assert abs(found.bound - float(known.value - program.offset)) <= 1e-6


@pytest.mark.parametrize("power", [-80, -40, 40, 80])
def test_one_unit_for_all_is_undone(power):
    extreme = in_units(production(), Scales((power,) * 3, (power, -power), True))
    coefficients = [a for row in extreme.rows for _, a in row]
    ends = [end for pair in (*extreme.row_bounds, *extreme.column_bounds) for end in pair]
    assert not is_readable(coefficients, ends)
    found = optimise(to_pulp(extreme), Limits(), exact=True)
    assert found.proven and found.value == 43
    assert found.assignment["x0"] == Fraction(2) / Fraction(2) ** power


@pytest.mark.parametrize("cat", [pulp.LpInteger, pulp.LpContinuous])
@pytest.mark.parametrize("large", [10**15, 10**30, 10**400])
def test_a_row_whose_terms_are_too_far_apart_proves_nothing(cat, large):
    problem = pulp.LpProblem("apart", pulp.LpMaximize)
    x, y = problem.add_variable("x", 0, 1, cat), problem.add_variable("y", 0, 1)
    problem.setObjective(x + y)
    problem.addConstraint(pulp.LpAffineExpression({x: 1, y: large}) <= 1)
    problem.addConstraint(pulp.LpAffineExpression({x: 1, y: 1}) >= Fraction(1, large))
    found = optimise(problem, Limits())
    assert found.bound is None and found.status in (Status.FEASIBLE, Status.LIMIT)
    assert found.value is None or found.value == pytest.approx(1, abs=1e-6)
    if cat == pulp.LpContinuous:
        proven = optimise(problem, Limits(), exact=True)
        assert not proven.proven or proven.value == 1


def test_a_program_that_is_not_read_has_no_bound():
    """HiGHS says nothing of a program that it refuses: neither an optimum nor that there is none."""
    apart = knapsack(1, 10**30, most=1)
    solver = LinearSolver(apart)
    assert solver.units is not None and not solver.units.complete
    assert solver.solve_integral([0, 1], Limits()) == (None, pytest.approx([1, 0], abs=1e-6))


@pytest.mark.parametrize("size", [Fraction(1, 10**30), Fraction(7), Fraction(10**30)])
def test_branch_and_bound_in_any_unit(size):
    search = BranchAndBound(knapsack(*[2 * size] * 4, most=5 * size), range(4), Fraction(1))
    assert search.minimum().bound == -2
    search.release()
    assert search.solver.solve_integral(range(4), Limits())[0] == -2


def test_fixed_variables_added_rows_and_rays_are_in_the_same_units():
    size = Fraction(10**25)
    bounds = (Fraction(0), size), (Fraction(0), 1 / size)
    rows = (((0, 1 / size), (1, size)),)
    program = LinearProgram(2, (Fraction(0), Fraction(0)), rows, ((Fraction(1), None),), bounds)
    solver = LinearSolver(program)
    assert solver.units.complete
    solver.set_bounds(1, 0.0, float(1 / size) / 4)
    point = solver.solve().point
    assert point[0] >= float(size) * 0.7499 and point[1] <= float(1 / size) / 3.999
    solver.add((((0, 1 / size),), None, Fraction(1, 2)))
    found = solver.solve()
    assert found.status is Status.INFEASIBLE and len(found.multipliers) == 2
    solver.set_upper([1], 1e-25)
    assert solver.solve().status is Status.OPTIMAL


def test_rows_without_terms_have_a_unit():
    assert with_row(Scales((), (), True), ((), None, Fraction(3))) == (
        Scales((0,), (), True),
        ((), None, 3),
    )
    assert scales(knapsack(1, most=1)).rows == (-2,)
