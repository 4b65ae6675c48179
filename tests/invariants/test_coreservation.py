"""No plan that `check` accepts is better than a bound, and none is called impossible.

Whatever the numbers are: whole, fractions, decimals, floats and mixtures, near 0 and at epochs. An
adversary makes plans by heuristics and exactly, and pushes them to the tolerance: machines that
hold a little more than there is, shares that are a little less than the least.
"""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import NotApplicableError, Status, api, registry
from dlopt.arithmetic import SOLVER, exact
from dlopt.problems.coreservation import OBJECTIVES, Solution, objective
from dlopt.problems.validated_record import as_exact
from tests.examples import share
from tests.once import solve
from tests.strategies_coreservation import any_numbers

LESS = [Fraction(n, 10**10) for n in (0, 5, 10, 11, 20)]
MORE = [Fraction(n, 10**10) for n in (5, 10, 20, 30, 100)]
HEURISTICS = [
    entry.name
    for entry in registry.methods("coreservation")
    if entry.kind == "heuristic" and entry.claim == "sound"
]
PROOFS = [
    entry.name for entry in registry.methods("coreservation") if entry.kind in ("exact", "bound")
]


def exact_plans(instance, goal):
    """Yield plans that heuristics make, and exact ones where machines have a little more."""
    for name in HEURISTICS:
        yield solve(instance, name, objective=goal).solution
    twin = as_exact(instance)
    asked = min(part.cpu for one in twin.requests for part in one.parts)
    plan = None  # of the machines before, which have less
    for more in MORE:
        machines = tuple(
            replace(
                one, capacity=tuple((t, most * (1 + more) + asked * more) for t, most in one.steps)
            )
            for one in twin.machines
        )
        larger = replace(twin, machines=machines)
        plan = solve(larger, objective=goal, hint=plan).solution
        yield plan


def squeezed(instance, plan, less):
    """Return a plan with decisions as late and shares as small as may be."""
    shares = tuple(replace(one, cpu=exact(one.cpu) * (1 - less)) for one in plan.shares)
    return Solution(plan.decisions, shares)


def beats(instance, plan, goal, bound):
    """Tell whether a plan is better than a bound: of the benefit in floats by the tolerance."""
    names, value = OBJECTIVES[goal].levels or (goal,), objective(instance, plan, goal)
    values = value if isinstance(value, tuple) else (value,)
    bounds = bound if isinstance(bound, tuple) else (bound,)
    for name, one, most in zip(names, map(exact, values), map(exact, bounds), strict=True):
        if one != most:
            if name != "benefit":
                return one < most
            slack = 0 if instance.exact else exact(SOLVER) * max(one, most)
            return one > most + slack
    return False


@pytest.mark.property
@share(1 / 2)
@given(
    instance=any_numbers(),
    goal=st.sampled_from(list(OBJECTIVES)),
    less=st.sampled_from(LESS),
)
def test_no_plan_that_is_checked_is_better_than_a_bound(instance, goal, less):
    plans = []
    for plan in exact_plans(instance, goal):
        for one in (plan, squeezed(instance, plan, less)):
            if not api.check(instance, one):
                plans.append(one)
    assert plans
    start = solve(instance, "portfolio", objective=goal).solution
    for name in PROOFS:
        if goal not in registry.method("coreservation", name).objectives:
            continue
        try:
            found = solve(instance, name, objective=goal, hint=start)
        except NotApplicableError:
            continue
        if found.solution is not None:
            assert not api.check(instance, found)
            assert not api.check(instance, found.solution)
        if found.status is Status.INFEASIBLE:
            assert found.proof
            for plan in plans:
                assert not all(one.accepted for one in plan.decisions)
        elif found.bound is not None:
            assert found.proof
            for plan in plans:
                assert not beats(instance, plan, goal, found.bound), (name, plan, found.bound)
