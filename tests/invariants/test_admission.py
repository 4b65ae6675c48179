"""No plan that a check accepts is better than a bound, and none is called impossible.

In whole numbers, fractions, decimals, floats and mixtures of them, near 0, at 1e12 and at POSIX
dates; of plans of every algorithm, of the exact plan, and of plans pushed to what is allowed.
"""

from collections import Counter

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import dlopt
from dlopt.arithmetic import SOLVER, exact
from dlopt.errors import NotApplicableError
from dlopt.problems.admission import Solution, objective
from dlopt.result import Limits, Status
from tests.heuristics.admission.strategies import SOUND
from tests.number_kinds_admission import pushed, streams
from tests.once import solve

LIMITS = Limits(work=40)
COUNTS, LOADS = "accepted", "accepted-load"


def chunks_a_node(plan):
    counts = Counter((chunk.task, chunk.node) for chunk in plan.chunks)
    return max(counts.values(), default=1)


def check_bounds(instance, plan):
    """Assert that no bound excludes a plan that the check accepts; return whether it does."""
    if dlopt.check(instance, plan):
        return False
    count, load = (exact(objective(instance, plan, name)) for name in (COUNTS, LOADS))
    most = chunks_a_node(plan)
    asked = [("bound-fluid", {}), ("bound-fluid", {"relax": True})]
    asked += [(name, {"installments": most}) for name in ("bound-window-cuts", "exact")]
    for method, options in asked:
        found = solve(instance, method, limits=LIMITS, **options)
        note(f"{method}: {found.status}, {found.bound}, {found.reason}")
        assert found.status is not Status.INFEASIBLE
        assert found.bound is None or count <= found.bound
        assert (found.proof is None) == (found.bound is None)
    found = solve(instance, "bound-fluid", objective=LOADS, limits=LIMITS)
    assert load <= exact(found.bound) * (1 + (0 if instance.exact else exact(SOLVER)))
    if count == len(instance.tasks):
        whole = solve(instance, "feasibility", limits=LIMITS, installments=most)
        assert whole.status is not Status.INFEASIBLE
    return True


@pytest.mark.property
@given(st.data())
def test_no_plan_that_is_pushed_to_the_tolerance_is_beyond_a_bound(data):
    instance, chunks = data.draw(streams())
    check_bounds(instance, data.draw(pushed(instance, chunks)))


@pytest.mark.property
@given(st.data())
def test_no_plan_of_an_algorithm_is_beyond_a_bound(data):
    """And the check accepts them all, whatever the numbers."""
    instance, _ = data.draw(streams(nodes=3))
    for algorithm in data.draw(st.lists(st.sampled_from(SOUND), min_size=3, max_size=3)):
        try:
            found = solve(instance, algorithm)
        except NotApplicableError:
            continue
        assert check_bounds(instance, found.solution)


@pytest.mark.property
@given(st.data())
def test_the_exact_plan_passes_the_check_and_has_its_bound(data):
    instance, _ = data.draw(streams())
    found = solve(instance, "exact", limits=LIMITS)
    if found.solution is not None:
        assert check_bounds(instance, found.solution)
    nothing = Solution(tuple(found.solution.decisions), ()) if found.solution else None
    assert nothing is None or found.value in (None, 0) or not check_bounds(instance, nothing)
