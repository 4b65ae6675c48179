"""Formulations agree with each other, with brute force and with Moore's rule; bounds bound."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, registry
from dlopt.api import solve
from dlopt.arithmetic import exact
from dlopt.models.bag.methods import reason_against_milp, solve_exact, solve_lns, solve_milp
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.bag.solutions import objective_key, sequences_from_hint
from dlopt.problems.bag import OBJECTIVES, Instance, Machine, Placement, Solution, Task, violations
from tests.examples import share
from tests.oracles_bag import as_tuple, best, moore_hodgson
from tests.strategies_bag import bags, bags_in_floats, plans

FEW = share(5 / 12)


def goals(instance):
    return [
        name
        for name, goal in OBJECTIVES.items()
        if goal.requires_field is None or getattr(instance, goal.requires_field) is not None
    ]


def answer(instance, method, objective, **options):
    function = registry.method("bag", method).load()
    return function(instance, objective=objective, **options)


@pytest.mark.property
@given(instance=bags())
def test_exact_is_the_optimum_by_brute_force(instance):
    for objective in goals(instance):
        found = solve_exact(instance, objective=objective)
        assert found.status is Status.OPTIMAL and found.value == found.bound
        assert as_tuple(found.value, objective) == best(instance, objective)
        assert violations(instance, found.solution) == ()


@pytest.mark.property
@given(instance=bags(releases=False, sites=1))
def test_the_compact_program_is_the_optimum_by_brute_force(instance):
    assert reason_against_milp(instance) is None
    for objective in set(goals(instance)) - {"flowtime"}:
        found = solve_milp(instance, objective=objective)
        assert found.status is Status.OPTIMAL and found.value == found.bound
        assert as_tuple(found.value, objective) == best(instance, objective)
        assert violations(instance, found.solution) == ()


@pytest.mark.property
@given(instance=bags(deadlines=False))
def test_the_compact_program_knows_arrivals_where_there_are_no_deadlines(instance):
    found = solve_milp(instance, objective="makespan")
    assert found.status is Status.OPTIMAL
    assert as_tuple(found.value, "makespan") == best(instance, "makespan")


@pytest.mark.property
@given(instance=bags())
def test_bounds_are_not_worse_than_the_optimum(instance):
    for objective in goals(instance):
        optimum = solve_exact(instance, objective=objective).value
        goal = OBJECTIVES[objective]
        relaxed = answer(instance, "bound-lp", objective)
        assert relaxed.status is Status.BOUND
        assert not goal.better(optimum, relaxed.bound)
        near = solve_lns(instance, objective=objective)
        assert not goal.better(near.value, optimum)
        assert not goal.better(optimum, near.bound)
        assert near.status is not Status.OPTIMAL or near.value == optimum
        assert violations(instance, near.solution) == ()


@pytest.mark.property
@given(instance=bags(deadlines=False, releases=False, sites=1))
def test_flowtimes_of_tasks_that_are_there_are_an_assignment(instance):
    instance = replace(instance, tasks=tuple(replace(t, release=0) for t in instance.tasks))
    found, bound = (answer(instance, name, "flowtime") for name in ("lns", "bound-lp"))
    assert found.status is Status.OPTIMAL and found.value == bound.bound
    assert as_tuple(found.value, "flowtime") == best(instance, "flowtime")


@pytest.mark.property
@given(jobs=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 30)), min_size=1, max_size=12))
def test_one_machine_is_moores_rule(jobs):
    tasks = tuple(
        Task(f"t{k}", Fraction(length, 2), absolute_deadline=due)
        for k, (length, due) in enumerate(jobs)
    )
    instance = Instance(tasks, (Machine("m"),))
    count = moore_hodgson([Fraction(length, 2) for length, _ in jobs], [due for _, due in jobs])
    assert solve_exact(instance, objective="accepted").value == count
    assert solve_milp(instance, objective="accepted").value == count
    assert answer(instance, "bound-lp", "accepted").bound >= count


@pytest.mark.property
@FEW
@given(case=plans())
def test_a_plan_is_a_hint_and_a_corrupted_one_is_harmless(case):
    instance, plan = case
    twice = Solution(plan.placements + plan.placements)
    none = Solution((*plan.placements[1:], Placement("nobody", 99, 0, 1)))
    for objective in goals(instance):
        optimum = solve_exact(instance, objective=objective).value
        for hint in (plan, twice, none, Solution(())):
            found = solve_exact(instance, objective=objective, hint=hint)
            assert found.status is Status.OPTIMAL and found.value == optimum
        stated = ScaledInstance.from_instance(instance, objective)
        levels = objective_key(stated, sequences_from_hint(stated, plan))
        value = as_tuple(solve_value(instance, plan, objective), objective)
        assert levels >= tuple(map(Fraction, value))


def solve_value(instance, plan, objective):
    return registry.problem("bag").module.objective(instance, plan, objective)


@pytest.mark.property
@FEW
@given(instance=bags_in_floats())
def test_floats_are_solved_and_pass_the_check(instance):
    for objective in goals(instance):
        found = solve(instance, objective=objective)
        assert found.status is Status.OPTIMAL
        numbers = found.value if isinstance(found.value, tuple) else (found.value,)
        bounds = found.bound if isinstance(found.bound, tuple) else (found.bound,)
        for value, bound in zip(numbers, bounds, strict=True):
            assert abs(exact(value) - exact(bound)) <= 1e-6 * abs(value)
        for name in ("bound-lp", "lns"):
            other = solve(instance, name, objective=objective)
            assert not OBJECTIVES[objective].better(eased(found.value, objective), other.bound)


def eased(value, objective):
    """Return a value that is worse by a millionth."""
    return value * (1 + 1e-6) if objective in ("makespan", "flowtime") else value
