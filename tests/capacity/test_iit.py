"""Heuristic admissions never exceed the capacity that the solver verifies, for one load.

In exact numbers, for every registered heuristic that is called sound: a load that it admits by a
deadline is no more than what the library's own linear programs can do by then, on as many nodes
as it uses, and it ends no earlier than the proven optimum and than loads that flow.
"""

import pytest
from hypothesis import given

import dlopt
from dlopt import registry
from dlopt.models.iit.methods import bound_fluid, exact_plan
from dlopt.models.iit.prefix_milp import PrefixSearch
from dlopt.problems.iit import objective
from dlopt.result import Limits, Status
from tests.examples import share
from tests.strategies import iit

SOUND = tuple(
    entry
    for entry in registry.methods("iit")
    if entry.kind == "heuristic" and entry.claim in ("sound", "optimal")
)


def test_every_sound_heuristic_is_looked_at():
    assert {"opr", "epr", "edf-iit-1", "edf-iit-2", "equal-finish"} <= {e.name for e in SOUND}


def assert_within_capacity(instance):
    optimum = exact_plan(instance)
    fewest = exact_plan(instance, objective="nodes")
    admitted = []
    for entry in SOUND:
        for goal in ("completion", "nodes"):
            if entry.reason_against(instance, goal) is None:
                found = dlopt.solve(instance, entry.name, objective=goal)
                if found.solution is not None:
                    assert dlopt.check(instance, found.solution) == ()
                    admitted.append(found.solution)
    assert not admitted or optimum.status is Status.OPTIMAL
    flow = bound_fluid(instance).bound
    for plan in admitted:
        completion = objective(instance, plan, "completion")
        assert flow <= optimum.value <= completion <= instance.absolute_deadline
        assert fewest.value <= objective(instance, plan, "nodes")
    if admitted and instance.cluster.identical:
        capacity = PrefixSearch(instance, Limits(), "HiGHS", 0).maximum_load(
            instance.absolute_deadline
        )
        assert instance.load <= capacity


@pytest.mark.property
@share(1 / 2)
@given(iit(most=5, deadline=True))
def test_admissions_never_exceed_solver_verified_capacity(instance):
    assert_within_capacity(instance)


@pytest.mark.property
@share(1 / 2)
@given(iit(most=3, deadline=True, identical=False))
def test_nor_on_nodes_that_differ(instance):
    assert_within_capacity(instance)
