"""The exact method is never worse than its own bounds and heuristics."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, solve
from dlopt.models.bag.methods import reason_against_milp
from dlopt.problems.bag import OBJECTIVES
from dlopt.registry import methods, problem
from dlopt.result import Limits
from tests.strategies_bag import bags, bags_in_floats


def goals(instance):
    dated = bool(instance.deadlines)
    return [
        name for name, one in OBJECTIVES.items() if (one.requires_field == "deadlines") == dated
    ]


@pytest.mark.property
@given(bags() | bags_in_floats(), st.data(), st.booleans())
def test_exact_is_no_worse_than_its_own_parts(instance, data, limited):
    """Neither in value nor in its first bound; where a part proves an optimum, it does, too."""
    name = data.draw(st.sampled_from(goals(instance)))
    limits = Limits(work=1) if limited else Limits()
    best, better = solve(instance, "exact", objective=name, limits=limits), OBJECTIVES[name].better
    parts = ["lns", "bound-lp", *problem("bag").hints]
    if name == "makespan" or (name != "flowtime" and reason_against_milp(instance) is None):
        parts.append("milp")
    small = 0 if instance.exact else 1e-7
    for method in parts:
        part = solve(instance, method, objective=name, limits=limits)
        if part.value is not None and not (limited and method in ("lns", "milp")):
            assert not better(part.value, best.value) or near(part.value, best.value, small)
        if method == "bound-lp":
            one, other = first(best.bound), first(part.bound)
            assert near(one, other, small) or (one > other) == (OBJECTIVES[name].sense == "min")
        if part.status is Status.OPTIMAL and not limited:
            assert best.status is Status.OPTIMAL


def first(value):
    return value[0] if isinstance(value, tuple) else value


def near(one, other, small):
    pairs = zip(*((v if isinstance(v, tuple) else (v,)) for v in (one, other)), strict=True)
    return all(abs(a - b) <= small * max(abs(a), abs(b)) for a, b in pairs)


def test_all_parts_are_among_the_methods():
    known = {method.name for method in methods("bag")}
    assert {"lns", "bound-lp", "milp", *problem("bag").hints} <= known
