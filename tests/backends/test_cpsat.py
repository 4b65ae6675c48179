"""The door to CP-SAT: statuses, limits, determinism, what is missing."""

import sys

import pytest

from dlopt.backends import cpsat
from dlopt.errors import SolverError
from dlopt.result import Limits, Status


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
