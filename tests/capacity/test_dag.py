"""Heuristic admissions never exceed solver-verified capacity: task graphs.

A graph is admitted by a plan that completes it by its deadline. Whatever a sound method of the
registry admits, and however soon it completes it, the exact model proves possible: counts and
completions of heuristics <= those of the optimum <= its bounds.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import check, solve
from dlopt.problems.dag import completions, objective
from dlopt.registry import methods
from tests import once, strategies_dag
from tests.examples import share

SOUND = [m.name for m in methods("dag") if m.kind == "heuristic" and m.claim == "sound"]
BOUNDS = [m.name for m in methods("dag") if m.kind == "bound"]


@st.composite
def instances(draw):
    """Return small task graphs in exact numbers; some graphs are due just when a plan is done."""
    made = draw(strategies_dag.dag(tasks=5) | strategies_dag.one_way())
    done = completions(made, solve(made, "deadline-list").solution)
    graphs = tuple(
        replace(graph, absolute_deadline=draw(st.sampled_from([end, graph.absolute_deadline])))
        for graph, end in zip(made.graphs, done, strict=True)
    )
    return replace(made, graphs=graphs)


def proven(instance, name):
    found = once.solve(instance, "exact", objective=name)  # many methods admit the same graphs
    assert str(found.status) == "optimal" and found.value == found.bound
    return found.value


@pytest.mark.property
@share(1 / 2)
@given(instances())
def test_no_heuristic_is_sooner_than_the_solver_proves_possible(instance):
    for name in ("makespan", "total-response-time"):
        best = proven(instance, name)
        for method in BOUNDS:
            assert solve(instance, method, objective=name).bound <= best
        for method in SOUND:
            found = solve(instance, method, objective=name)
            assert check(instance, found.solution) == ()
            assert best <= found.value == objective(instance, found.solution, name)


@pytest.mark.property
@share(1 / 2)
@given(instances())
def test_no_heuristic_admits_more_graphs_than_the_solver_proves_possible(instance):
    due = [at for at, g in enumerate(instance.graphs) if g.absolute_deadline is not None]
    if not due:
        return
    least_late = proven(instance, "tardy-graphs")
    for method in BOUNDS:
        assert solve(instance, method, objective="tardy-graphs").bound <= least_late
    for method in SOUND:
        plan = solve(instance, method).solution
        done = completions(instance, plan)
        met = {at for at in due if done[at] <= instance.graphs[at].absolute_deadline}
        assert len(met) <= len(due) - least_late
        asked = tuple(
            graph if at in met else replace(graph, absolute_deadline=None)
            for at, graph in enumerate(instance.graphs)
        )
        if met:  # the very set that it admits is possible
            assert proven(replace(instance, graphs=asked), "tardy-graphs") == 0


def test_the_property_is_about_every_sound_method():
    assert {"heft", "cpop", "peft", "heft-lookahead", "b-level", "deadline-list"} <= set(SOUND)
    assert set(BOUNDS) == {"bound-critical-path", "bound-work", "bound-fernandez"}
