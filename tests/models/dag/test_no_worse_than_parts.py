"""The exact method is never worse than its own bounds and heuristics."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, solve
from dlopt.problems.dag import OBJECTIVES
from dlopt.problems.validated_record import floating
from dlopt.registry import methods, problem
from dlopt.result import Limits
from tests.examples import share
from tests.strategies_dag import dag, one_way

PARTS = ("bound-critical-path", "bound-work", "bound-fernandez")


def goals(instance):
    dated = instance.absolute_deadlines is not None
    return [name for name, goal in OBJECTIVES.items() if dated or not goal.requires_field]


@pytest.mark.property
@share(1 / 2)
@given(dag(tasks=5) | one_way() | dag(tasks=4).map(floating), st.data(), st.booleans())
def test_exact_is_no_worse_than_its_own_parts(instance, data, limited):
    """Neither in value nor in bound, at a limit or not; without one, it is proven."""
    name = data.draw(st.sampled_from(goals(instance)))
    limits = Limits(work=1) if limited else Limits()
    best, better = solve(instance, "exact", objective=name, limits=limits), OBJECTIVES[name].better
    small = 0 if instance.exact else 1e-9
    for method in (*PARTS, *problem("dag").hints):
        part = solve(instance, method, objective=name, limits=limits)
        if part.value is not None:
            assert not better(part.value, best.value) or near(part.value, best.value, small)
        if part.bound is not None:
            assert not better(best.bound, part.bound) or near(part.bound, best.bound, small)
    if not limited:
        assert best.status is Status.OPTIMAL


def near(one, other, small):
    pairs = zip(*((v if isinstance(v, tuple) else (v,)) for v in (one, other)), strict=True)
    return all(abs(a - b) <= small * max(abs(a), abs(b)) for a, b in pairs)


def test_all_parts_are_among_the_methods():
    known = {method.name for method in methods("dag")}
    assert set(PARTS) <= known and set(problem("dag").hints) <= known
