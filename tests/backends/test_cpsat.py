"""The door to CP-SAT: statuses, limits, determinism, what is missing."""

import sys

import pytest
from ortools.sat.python.cp_model import CpSolver, Domain

from dlopt.backends import cpsat
from dlopt.errors import SolverError
from dlopt.result import Limits, Status

SETTINGS = cpsat.SETTINGS


def knapsack(weights=(3, 5, 7, 9), room=15):
    model = cpsat.new_model()
    taken = [model.new_bool_var(f"x{i}") for i in range(len(weights))]
    load = sum(w * x for w, x in zip(weights, taken, strict=True))
    model.add(load <= room)
    model.maximize(load)
    return model, taken


def test_an_optimum_is_value_and_bound():
    model, taken = knapsack()
    found = cpsat.optimise(model, Limits())
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 15, 15)
    assert sum(w * found.value_of(x) for w, x in zip((3, 5, 7, 9), taken, strict=True)) == 15
    assert found.version.startswith("9.15")


def test_infeasible():
    model, taken = knapsack()
    model.add(sum(taken) >= 4)
    found = cpsat.optimise(model, Limits())
    assert found == cpsat.Outcome(Status.INFEASIBLE, None, None, None, found.version)


def test_a_model_without_objective_has_no_value():
    model = cpsat.new_model()
    x = model.new_int_var(2, 2, "x")
    found = cpsat.optimise(model, Limits())
    assert (found.value, found.bound, found.value_of(x)) == (None, None, 2)


def test_no_effort_is_a_limit():
    model, _ = hard()
    found = cpsat.optimise(model, Limits(), effort=0.0)
    assert (found.status, found.value_of) == (Status.LIMIT, None)
    assert cpsat.optimise(model, Limits(time_s=1e-9)).status is Status.LIMIT


def test_a_gap_is_not_called_optimal():
    model = cpsat.new_model()
    x = [model.new_bool_var(f"x{i}") for i in range(40)]
    weights = [(i * 7919) % 101 + 3 for i in range(40)]
    for k in range(20):
        model.add(sum(((i * k) % 13 + 1) * x[i] for i in range(40)) <= 60)
    model.maximize(sum(w * v for w, v in zip(weights, x, strict=True)))
    found = cpsat.optimise(model, Limits(gap=0.9), seed=2**40)
    assert found.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert (found.status is Status.OPTIMAL) == (found.value == found.bound)
    assert found.status is Status.FEASIBLE


def hard():
    """Return a pigeonhole: it takes work to refute it."""
    model = cpsat.new_model()
    at = [[model.new_bool_var(f"p{i}_{j}") for j in range(7)] for i in range(8)]
    for row in at:
        model.add_bool_or(row)
    for j in range(7):
        for i in range(8):
            for k in range(i):
                model.add_bool_or(~at[i][j], ~at[k][j])
    return model, at


@pytest.mark.parametrize("threads", [1, 2])
def test_work_and_effort_limits_give_the_same_answer_again(threads):
    model, taken = knapsack((31, 57, 73, 91, 13, 87, 45), 230)
    limits = Limits(work=5, threads=threads)
    first, second = (cpsat.optimise(model, limits, seed=3, effort=0.1) for _ in range(2))
    assert (first.status, first.value, first.bound) == (second.status, second.value, second.bound)
    assert [first.value_of(x) for x in taken] == [second.value_of(x) for x in taken]


def gaps():
    """Return a model with the solution 0, 0, 1, which presolve loses if it may."""
    model = cpsat.new_model()
    a, b, x = model.new_bool_var("a"), model.new_bool_var("b"), model.new_int_var(0, 2, "x")
    model.add(a + b <= 1)
    model.add_linear_expression_in_domain(2 * x - a - b, Domain.from_intervals([[-2, -2], [1, 2]]))
    return model


def inclusions():
    """Return a model whose optimum is 0, if presolve does not look for inclusions."""
    model = cpsat.new_model()
    a, b, c, d, e, f, g = (model.new_bool_var(name) for name in "abcdefg")
    model.add_exactly_one(e, ~f, g)
    model.add_linear_constraint(c - d, -1, 0)
    model.add(b - d + 4 * e + 2 * g == 6).only_enforce_if(~a, d)
    total = 3 * b - 3 * c - 2 * d + 5 * e - 6 * f
    model.add_linear_expression_in_domain(
        total, Domain.from_intervals([[-11, -7], [-3, -2], [0, 0]])
    )
    model.add_linear_constraint(2 * total + g, -22, -2)
    model.minimize(a)
    return model


def cumulative():
    """Return a model whose optimum is 5, with a job that is absent there.

    Intervals of demand 2 exclude each other. One is in [3, 5), as less is free before; one in
    [5, 6); one in [6, 11), and after it there is room for the one that may be absent.
    """
    model = cpsat.new_model()
    single, start = model.new_int_var(1, 8, "s"), model.new_int_var(0, 9, "t")
    long, end = model.new_int_var(0, 6, "u"), model.new_int_var(0, 11, "v")
    done, late = model.new_int_var(0, 11, "w"), model.new_int_var(0, 11, "y")
    there, over = model.new_bool_var("p"), model.new_int_var(0, 12, "z")
    last = model.new_int_var(0, 12, "C")
    intervals = [
        model.new_fixed_size_interval_var(single, 1, ""),
        model.new_interval_var(long, 5, end, ""),
        model.new_interval_var(start, 2, done, ""),
        model.new_optional_interval_var(late, 1, over, there, ""),
        model.new_fixed_size_interval_var(0, 5, ""),
        model.new_fixed_size_interval_var(1, 2, ""),
    ]
    model.add_cumulative(intervals, [2, 2, 2, 2, 1, 1], 3)
    model.add(late >= end)
    model.add(last >= done)
    model.add(last >= over)
    model.minimize(last)
    return model


FALSE = [
    ("keep_all_feasible_solutions_in_presolve", gaps, Status.INFEASIBLE, None),
    ("presolve_inclusion_work_limit", inclusions, Status.OPTIMAL, 0),
    ("use_disjunctive_constraint_in_cumulative", cumulative, Status.OPTIMAL, 5),
]


@pytest.mark.parametrize(("setting", "make", "wrong", "optimum"), FALSE)
def test_what_is_false_is_not_proven(setting, make, wrong, optimum):
    found = cpsat.optimise(make(), Limits())
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, optimum, optimum)


@pytest.mark.parametrize(("setting", "make", "wrong", "optimum"), FALSE)
def test_ortools_proves_what_is_false_without_the_settings(
    setting, make, wrong, optimum, monkeypatch
):
    """If this fails with another version of OR-Tools, its settings can be reconsidered."""
    assert setting in cpsat.SETTINGS
    monkeypatch.setattr(cpsat, "SETTINGS", {})
    found = cpsat.optimise(make(), Limits())
    assert found.status is wrong
    assert found.value is None or found.value > optimum
    monkeypatch.setattr(cpsat, "SETTINGS", {setting: SETTINGS[setting]})
    assert cpsat.optimise(make(), Limits()).value == optimum


def test_every_setting_has_a_model_that_needs_it():
    assert {setting for setting, *_ in FALSE} == set(cpsat.SETTINGS)


@pytest.mark.parametrize("sign", [1, -1])
def test_values_and_bounds_beyond_floats_are_exact(sign):
    model = cpsat.new_model()
    x, y = model.new_int_var(2**53 + 1, 2**60, "x"), model.new_int_var(0, 5, "y")
    model.add(x + y >= 2**53 + 3)
    model.minimize(2 * x + 3 * y - 7) if sign > 0 else model.maximize(7 - 2 * x - 3 * y)
    found = cpsat.optimise(model, Limits())
    least = 2 * (2**53 + 3) - 7
    assert found.value == sign * (2 * found.value_of(x) + 3 * found.value_of(y) - 7)
    assert sign * found.bound <= least <= sign * found.value
    # CP-SAT compares them as floats, and so calls optimal what is some units above the bound.
    assert (found.status is Status.OPTIMAL) == (found.bound == found.value)


def test_a_constant_that_no_float_holds_is_refused():
    model = cpsat.new_model()
    model.minimize(model.new_int_var(0, 1, "x") + 2**53 + 1)
    with pytest.raises(SolverError, match="constant"):
        cpsat.optimise(model, Limits())


@pytest.mark.parametrize("sign", [1, -1])
def test_a_bound_that_its_own_solution_beats_gives_way_to_the_domains(sign, monkeypatch):
    model = cpsat.new_model()
    x, y = model.new_int_var(2, 9, "x"), model.new_int_var(3, 7, "y")
    model.minimize(x - y + 1) if sign > 0 else model.maximize(y - x - 1)
    solve = CpSolver.solve

    def too_sure(solver, model, callback):
        said = solve(solver, model, callback)
        solver.response_proto.inner_objective_lower_bound += 1
        return said

    monkeypatch.setattr(CpSolver, "solve", too_sure)
    model.add(x >= 4)  # which the bound by domains does not know
    found = cpsat.optimise(model, Limits())
    assert (found.status, found.value, found.bound) == (Status.FEASIBLE, -2 * sign, -4 * sign)


def test_an_invalid_model_is_told():
    model = cpsat.new_model()
    x = model.new_int_var(0, 2**62, "x")
    model.add(4 * x <= 7)
    with pytest.raises(SolverError, match="invalid"):
        cpsat.optimise(model, Limits())


def test_a_missing_package_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    with pytest.raises(SolverError, match="OR-Tools is missing"):
        cpsat.new_model()


def improving_by_one():
    """Return a model of which one thread found one better solution after the other, by one each."""
    model = cpsat.new_model()
    taken, steep = model.new_bool_var("taken"), model.new_int_var(0, 36 * 10**9 + 33, "steep")
    small = [model.new_bool_var(f"small{i}") for i in range(3)]
    model.add(steep <= (36 * 10**9 + 33) * taken)
    model.add_at_most_one(small)
    asked = 10**9 * (6 * small[0] + 8 * small[1] + 12 * small[2])
    model.add(18 * 10**9 * taken + steep + asked <= 54 * 10**9 + 33)
    model.add(4 * taken >= 4)
    worth = 10**9 * (24 * small[0] + 48 * small[1] + 72 * small[2])
    model.maximize(18 * 10**9 * taken + steep + worth)
    return model


def test_a_wide_objective_is_not_improved_one_by_one():
    found = cpsat.optimise(improving_by_one(), Limits(time_s=30))
    assert found.status is Status.OPTIMAL and found.value == 114 * 10**9 + 33


def test_the_setting_for_wide_objectives_is_still_needed(monkeypatch):
    monkeypatch.setattr(cpsat, "WIDE_DOMAIN", 2**62)
    found = cpsat.optimise(improving_by_one(), Limits(), effort=0.001)
    assert found.status is Status.FEASIBLE, "CP-SAT ends by itself: the setting can go"
