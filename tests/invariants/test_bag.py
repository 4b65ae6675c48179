"""No plan of a bag that `check` accepts is better than a bound that `solve` returned.

In whole numbers, fractions, decimals, floats and mixtures, near 0, at 1e12 and at POSIX time.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, check
from dlopt.arithmetic import exact
from dlopt.models.bag.methods import reason_against_milp
from dlopt.problems.bag import (
    OBJECTIVES,
    Instance,
    Machine,
    Placement,
    Solution,
    Task,
    default_objective,
    objective,
    origin,
)
from tests import oracles_bag
from tests.mixed_numbers import pushed, restated, shortest_of, ways
from tests.once import solve
from tests.strategies_bag import bags

PLANS = ("mct", "min-min", "sufferage", "edf", "gds", "exact")


@st.composite
def instances(draw):
    """Return a bag in mixed numbers; some tasks are due when a plan ends them."""
    instance = restated(draw, draw(bags()))
    plan = solve(instance, "mct", tardy="run").solution
    ends = {one.task: one.end for one in plan.placements}
    tasks = []
    for task in instance.tasks:
        due = task.absolute_deadline
        if due is not None and task.id in ends:
            end = ends[task.id]
            due = draw(st.sampled_from([due, end, float(end), exact(end)]))
        tasks.append(replace(task, absolute_deadline=due))
    return replace(instance, tasks=tuple(tasks))


def goals(instance):
    dated = bool(instance.deadlines)
    return [
        name for name, one in OBJECTIVES.items() if (one.requires_field == "deadlines") == dated
    ]


def bounds(instance, name):
    """Return what the methods prove that apply."""
    methods = ["exact", "lns", "bound-lp"]
    if name != "flowtime" and (name == "makespan" or reason_against_milp(instance) is None):
        methods.append("milp")
    return [solve(instance, method, objective=name) for method in methods]


def adversaries(draw, instance):
    """Yield plans of methods, as they are and pushed to what the check allows."""
    name = draw(st.sampled_from(PLANS))
    plan = solve(instance, name, objective=default_objective(instance)).solution
    yield plan
    if not plan.placements:
        return
    names = [task.id for task in instance.all_tasks]
    length = {
        one.task: oracles_bag.duration(instance, names.index(one.task), one.machine)
        for one in plan.placements
    }
    how, share, floats = draw(ways)
    order = sorted(plan.placements, key=lambda one: exact(one.start))
    by = pushed([exact(one.start) for one in order], shortest_of(length.values()), how, share)
    number = float if floats else exact
    short = draw(st.booleans())  # ends come closer than starts
    runs = []
    for one, off in zip(order, by, strict=True):
        start, end = exact(one.start) - off, exact(one.end) - off * (2 if short else 1)
        if end < start:
            return
        runs.append(replace(one, start=number(start), end=number(end)))
    yield Solution(tuple(runs))


def accepted(instance, plan):
    """Tell whether the check lets a plan pass: at the tolerance of the instance."""
    return check(instance, plan, 0 if instance.exact else 1e-9) == ()


def beyond(instance, name, value, bound, tolerance):
    """Tell whether a value is better than a bound by more than the tolerance of the result."""
    if OBJECTIVES[name].sense == "max":
        return OBJECTIVES[name].better(value, bound)  # numbers of tasks: not by a single one
    since = exact(origin(instance, name))
    return exact(bound) - exact(value) > exact(tolerance) * abs(exact(value) - since)


@pytest.mark.property
@given(st.data(), instances())
def test_no_checked_plan_is_better_than_a_bound(data, instance):
    name = data.draw(st.sampled_from(goals(instance)))
    found = bounds(instance, name)
    assert all(str(one.status) != "infeasible" for one in found)
    for plan in adversaries(data.draw, instance):
        if accepted(instance, plan):
            value = objective(instance, plan, name)
            for one in found:
                assert not beyond(instance, name, value, one.bound, one.tolerance), one.method
    for one in found:
        assert one.solution is None or accepted(instance, one.solution)
        assert one.proof in ("exact", "certificate", "solver") and (
            one.method != "bound-lp" or one.proof != "solver"
        )


@pytest.mark.property
@given(instances())
def test_our_own_plans_pass_the_check(instance):
    for method in PLANS:
        assert accepted(instance, solve(instance, method).solution)


@pytest.mark.parametrize(
    ("method", "name"),
    [
        *((method, "makespan") for method in ("exact", "lns", "milp", "bound-lp")),
        *((method, "flowtime") for method in ("exact", "lns", "bound-lp")),
    ],
)
def test_floats_at_a_date_prove_no_more_than_the_check_refuses(method, name):
    """A plan of 1.5 units of time may state that it ends after 1.4859, and passes."""
    instance = Instance((Task("a", 1.5, release=10**12),), (Machine("m"),))
    plan = Solution((Placement("a", 0, 1e12, 1e12 + 1.4859),))
    assert accepted(instance, plan)
    found = solve(instance, method, objective=name)
    since = 10**12 if name == "makespan" else 0
    assert 1.47 < found.bound - since <= 1.4859
    assert found.status is (Status.BOUND if method == "bound-lp" else Status.FEASIBLE)
    assert "better than exact ones by 0.014" in found.reason
    near = solve(replace(instance, tasks=(Task("a", 1.5, release=7),)), method, objective=name)
    assert near.bound == (8.5 if name == "makespan" else 1.5) and "dates" not in near.reason


def test_numbers_of_tasks_are_bounded_strictly_at_a_date():
    due = Task("a", 1.5, release=10**12, absolute_deadline=1e12 + 1.4)
    found = solve(Instance((due,), (Machine("m"),)), objective="accepted")
    assert (found.status, found.bound) == (Status.OPTIMAL, 0)
