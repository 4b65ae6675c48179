"""Programs whose numbers solvers in floats cannot read are told in other units."""

from dataclasses import replace
from fractions import Fraction

import pulp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.backends import exact_lp
from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.backends.highs import LinearSolver
from dlopt.backends.implied_bounds import implied_bounds
from dlopt.backends.linear_program import LinearProgram
from dlopt.backends.pulp import UNPROVEN, Outcome, in_floats, linear, optimise
from dlopt.backends.scales import (
    Scaling,
    add_scaled_row,
    is_readable,
    scaled_program,
    scaling_of,
)
from dlopt.errors import SolverError
from dlopt.models.iit.methods import exact_plan
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from dlopt.result import Limits, Status
from tests.backends.programs import production, programs, to_pulp

UNIT = Fraction(0), Fraction(1)
EXPONENTS = st.integers(-90, 90)


def knapsack(*sizes, most):
    """Return a program of binaries of value 1, as many as fit."""
    rows = (tuple((j, Fraction(size)) for j, size in enumerate(sizes)),)
    costs = (Fraction(-1),) * len(sizes)
    return LinearProgram(len(sizes), costs, rows, ((None, Fraction(most)),), (UNIT,) * len(sizes))


def multiplied(program, rows, columns):
    """Return a program with rows and columns multiplied by powers of two, exactly."""

    def times(number, power):
        return None if number is None else number * Fraction(2) ** power

    return replace(
        program,
        costs=tuple(times(c, columns[j]) for j, c in enumerate(program.costs)),
        rows=tuple(
            tuple((j, times(a, rows[r] + columns[j])) for j, a in terms)
            for r, terms in enumerate(program.rows)
        ),
        row_bounds=tuple(
            (times(low, rows[r]), times(high, rows[r]))
            for r, (low, high) in enumerate(program.row_bounds)
        ),
        column_bounds=tuple(
            (times(low, -columns[j]), times(high, -columns[j]))
            for j, (low, high) in enumerate(program.column_bounds)
        ),
    )


@pytest.mark.property
@given(programs(most=4), st.data())
def test_units_do_not_change_an_optimum_that_is_proven(program, data):
    rows = tuple(data.draw(EXPONENTS) for _ in program.rows)
    columns = tuple(data.draw(EXPONENTS) for _ in range(program.columns))
    extreme = multiplied(program, rows, columns)
    found, known = (optimise(to_pulp(one), Limits(), exact=True) for one in (extreme, program))
    assert known.proven and known.status is Status.OPTIMAL
    if found.proven:
        assert found.value == known.value
    elif found.bound is not None:
        away = float(known.value - program.offset) - float(found.bound)
        assert program.sense * away >= -1e-5


@pytest.mark.parametrize("power", [-80, -40, 40, 80])
def test_one_unit_for_all_is_undone(power):
    extreme = multiplied(production(), (power,) * 3, (power, -power))
    coefficients = [a for row in extreme.rows for _, a in row]
    ends = [end for pair in (*extreme.row_bounds, *extreme.column_bounds) for end in pair]
    assert not is_readable(coefficients, ends)
    found = optimise(to_pulp(extreme), Limits(), exact=True)
    assert found.proven and found.value == 43
    assert found.assignment["x0"] == Fraction(2) / Fraction(2) ** power


@pytest.mark.parametrize("cat", [pulp.LpInteger, pulp.LpContinuous])
@pytest.mark.parametrize("large", [10**15, 10**30, 10**400])
def test_a_term_that_is_too_small_beside_others_excludes_nothing(cat, large):
    problem = pulp.LpProblem("apart", pulp.LpMaximize)
    x, y = problem.add_variable("x", 0, 1, cat), problem.add_variable("y", 0, 1)
    problem.setObjective(linear([(1, x), (1, y)]))
    problem += linear([(1, x), (large, y)]) <= 1
    problem += linear([(1, x), (large, y)]) >= Fraction(1, 2)
    found = optimise(problem, Limits())
    assert found.status is Status.OPTIMAL and 1 - 1e-6 <= found.bound <= 1 + 1e-6
    if cat == pulp.LpContinuous:
        proven = optimise(problem, Limits(), exact=True)
        assert not proven.proven or proven.value == 1


@pytest.mark.parametrize("low", [True, False])
def test_a_term_without_a_bound_leaves_no_row(low):
    """Beside 10^30 times one variable nothing is seen of another, which may be anything."""
    problem = pulp.LpProblem("apart", pulp.LpMinimize)
    x, y = problem.add_variable("x"), problem.add_variable("y", 0, 1)
    problem.setObjective(linear([(1, y)]))
    row = linear([(1, x), (10**30, y)])
    problem += row >= 10**29 if low else row == 10**29
    found = optimise(problem, Limits())
    assert found.status is Status.OPTIMAL and found.bound == 0


def test_branch_and_bound_in_a_program_whose_sizes_are_far_apart():
    """HiGHS refused the whole program, and said of none at all that its bound was 0."""
    solver = LinearSolver(knapsack(1, 10**30, most=1))
    assert solver.solve_integral([0, 1], Limits()) == (-1, pytest.approx([1, 0], abs=1e-6))


@pytest.mark.parametrize("size", [Fraction(1, 10**30), Fraction(7), Fraction(10**30)])
def test_branch_and_bound_in_any_unit(size):
    search = BranchAndBound(knapsack(*[2 * size] * 4, most=5 * size), range(4), Fraction(1))
    assert (
        search.minimise(max_subproblems=1).bound == -2
    )  # by the multipliers of the first program alone
    search.release()
    assert search.solver.solve_integral(range(4), Limits())[0] == -2


def test_fixed_variables_added_rows_and_rays_are_in_the_same_units():
    size = Fraction(10**25)
    bounds = (Fraction(0), size), (Fraction(0), 1 / size)
    rows = (((0, 1 / size), (1, size)),)
    program = LinearProgram(2, (Fraction(0), Fraction(0)), rows, ((Fraction(1), None),), bounds)
    solver = LinearSolver(program)
    assert solver.units is not None
    solver.set_bounds(1, 0.0, float(1 / size) / 4)
    point = solver.solve().point
    assert point[0] >= float(size) * 0.7499 and point[1] <= float(1 / size) / 3.999
    solver.add((((0, 1 / size),), None, Fraction(1, 2)))
    found = solver.solve()
    assert found.status is Status.INFEASIBLE and len(found.multipliers) == 2
    solver.set_upper([1], 1e-25)
    assert solver.solve().status is Status.OPTIMAL


def test_rows_without_terms_have_a_unit():
    assert add_scaled_row(Scaling((), (), 0, ()), ((), None, Fraction(3))) == (
        Scaling((0,), (), 0, ()),
        ((), None, 3),
    )
    assert scaling_of(knapsack(1, most=1)).rows == (-2,)


@pytest.mark.parametrize("small", [Fraction(1), Fraction(-1)])
@pytest.mark.parametrize("ends", [(-4, -1), (1, 4), (-4, 4), (0, 4)])
@pytest.mark.parametrize("sides", [(None, 3), (-3, None), (-2, 2)])
def test_no_point_is_excluded_by_leaving_out_a_term(small, ends, sides):
    """A small term counts for what helps most: corners of the bounds that are points stay so."""
    bounds = (Fraction(ends[0]), Fraction(ends[1])), (Fraction(-1), Fraction(1))
    row = ((0, small), (1, Fraction(2**60)))
    low, high = (None if side is None else Fraction(side) for side in sides)
    program = LinearProgram(2, (Fraction(0), Fraction(1)), (row,), ((low, high),), bounds)
    units = scaling_of(program)
    (told,), ((least, most),) = (
        scaled_program(program, units).rows,
        scaled_program(program, units).row_bounds,
    )
    assert [column for column, _ in told] == [1]
    for x in bounds[0]:
        for activity in (low, high):
            if activity is not None:
                y = (activity - small * x) / row[1][1] / Fraction(2) ** units.columns[1]
                level = told[0][1] * y
                assert (least is None or level >= least) and (most is None or level <= most)


@pytest.mark.property
@given(st.data())
def test_bounds_that_rows_imply_exclude_no_point(data):
    """Rows are drawn around a point, some bounds are left out: what is implied holds the point."""
    point = [Fraction(data.draw(st.integers(-9, 9))) for _ in range(4)]
    rows, sides = [], []
    for _ in range(data.draw(st.integers(1, 4))):
        terms = tuple((j, Fraction(data.draw(st.integers(-3, 3)))) for j in range(4))
        activity = sum(a * point[j] for j, a in terms)
        room = [data.draw(st.none() | st.integers(0, 5)) for _ in range(2)]
        rows.append(terms)
        sides.append(
            (
                None if room[0] is None else activity - room[0],
                None if room[1] is None else activity + room[1],
            )
        )
    stated = tuple(
        tuple(
            data.draw(st.sampled_from([None, value + sign * data.draw(st.integers(0, 3))]))
            for sign in (-1, 1)
        )
        for value in point
    )
    program = LinearProgram(4, (Fraction(0),) * 4, tuple(rows), tuple(sides), stated)
    for value, known, (low, high) in zip(point, stated, implied_bounds(program), strict=True):
        assert low is None or low <= value
        assert high is None or value <= high
        assert [low, high] == [
            end if had is None else had for had, end in zip(known, (low, high), strict=True)
        ]


def test_bounds_are_implied_from_row_to_row_and_set_the_units():
    """``x <= 4``, ``y <= 10^30 x`` and ``z = y - 1`` leave no variable without a bound."""
    large = Fraction(10**30)
    rows = (
        ((0, Fraction(1)),),
        ((1, Fraction(1)), (0, -large)),
        ((2, Fraction(1)), (1, -Fraction(1))),
    )
    sides = (None, Fraction(4)), (None, Fraction(0)), (Fraction(-1), Fraction(-1))
    positive = (Fraction(0), None)
    program = LinearProgram(3, (Fraction(1),) * 3, rows, sides, (positive,) * 3)
    assert [high for _, high in implied_bounds(program)] == [4, 4 * large, 4 * large - 1]
    assert scaling_of(program).columns == (3, 102, 102)


def test_a_program_in_other_units_ends_with_a_proof_in_its_own():
    """A row that says nothing in the new units is left out, and its basis is that of a free row."""
    problem = pulp.LpProblem("apart", pulp.LpMaximize)
    x, y = problem.add_variable("x", 0, 10**-12), problem.add_variable("y", 0, 4)
    problem.setObjective(linear([(1, y)]))
    problem += linear([(10**30, x)]) <= 10**40  # says nothing
    problem += linear([(1, y), (10**12, x)]) <= 3
    for proven in (True, False):
        found = optimise(problem, Limits(), exact=proven)
        assert (found.status, found.value, found.proven) == (Status.OPTIMAL, 3, proven)


def test_an_optimum_beyond_floats_is_an_error_in_floats():
    proof = Outcome(Status.OPTIMAL, Fraction(10) ** 400, None, {}, True, "HiGHS", None)
    with pytest.raises(SolverError, match="larger than any float"):
        in_floats(proof)
    assert in_floats(replace(proof, value=None)).value is None


def test_no_proof_in_other_units_is_no_error(monkeypatch):
    """HiGHS reads the program in other units only, and its basis leads to no proof."""
    far = Instance(Cluster(3, tau=1, chi=10**30), (0, 1, 2), load=3)
    assert solve(far, "bound-fluid").status is Status.BOUND
    monkeypatch.setattr(exact_lp, "certify", lambda *_, **__: None)
    bounded = solve(far, "bound-fluid")
    assert (bounded.status, bounded.bound) == (Status.UNKNOWN, None)
    found = solve(far, "exact")
    assert found.status is Status.FEASIBLE and found.solution is not None and found.bound is None
    assert found.reason == bounded.reason == UNPROVEN
    alone = exact_plan(far)  # without a hint one node does it all
    assert alone.status is Status.FEASIBLE and len(alone.solution.chunks) == 1
