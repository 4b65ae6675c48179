"""The programs, their bounds and brute force say the same, in exact numbers."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.arithmetic import exact
from dlopt.heuristics.dag import methods as lists
from dlopt.models.dag.bound_methods import bound_critical_path, bound_fernandez, bound_work
from dlopt.models.dag.methods import solve_exact, solve_milp
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.problems.dag import OBJECTIVES, Task, objective, violations
from dlopt.result import Status
from tests import oracles_dag as oracle
from tests.examples import share
from tests.strategies_dag import dag

pytestmark = pytest.mark.property
FEW = share(5 / 12)
BOUNDS = (bound_critical_path, bound_work, bound_fernandez)


def goals(instance):
    return [
        name
        for name, goal in OBJECTIVES.items()
        if goal.requires_field is None or instance.absolute_deadlines is not None
    ]


@share(4 / 3)
@given(dag(), st.data())
def test_the_program_is_brute_force(instance, data):
    name = data.draw(st.sampled_from(goals(instance)))
    least = oracle.best(instance, name)
    found = solve_exact(instance, objective=name)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, least, least)
    assert violations(instance, found.solution) == ()
    assert objective(instance, found.solution, name) == least


@share(4 / 3)
@given(dag(), st.data())
def test_bounds_are_no_better_than_brute_force_and_ordered(instance, data):
    name = data.draw(st.sampled_from(goals(instance)))
    bounds = [method(instance, objective=name).bound for method in BOUNDS]
    assert bounds == sorted(bounds)
    assert bounds[-1] <= oracle.best(instance, name)


@FEW
@given(dag(tasks=6, several=1, plain=True))
def test_a_hint_changes_no_value(instance):
    hint = lists.heft(instance).solution
    found = solve_exact(instance, hint=hint)
    assert found.status is Status.OPTIMAL
    assert found.value == solve_exact(instance).value <= objective(instance, hint)


@FEW
@given(dag(tasks=6), st.integers(2, 7), st.randoms(use_true_random=False))
def test_names_and_units_change_no_value(instance, factor, order):
    graph = instance.graphs[0]
    names = list(range(len(graph.tasks)))
    order.shuffle(names)
    place = {old: new for new, old in enumerate(names)}
    edges = tuple(
        replace(edge, source=place[edge.source], target=place[edge.target]) for edge in graph.edges
    )
    tasks = tuple(graph.tasks[old] for old in names)
    again = replace(graph, tasks=tasks, edges=edges)
    moved = replace(instance, graphs=(again, *instance.graphs[1:]))
    assert solve_exact(moved).value == solve_exact(instance).value
    assert solve_exact(slower(instance, factor)).value == factor * solve_exact(instance).value


def slower(instance, factor):
    """Return the instance with every time multiplied."""

    def times(graph):
        return replace(
            graph,
            tasks=tuple(
                Task(
                    task.id,
                    None if task.work is None else task.work * factor,
                    None
                    if task.costs is None
                    else tuple(None if c is None else c * factor for c in task.costs),
                )
                for task in graph.tasks
            ),
            arrival=graph.arrival * factor,
            absolute_deadline=None
            if graph.absolute_deadline is None
            else graph.absolute_deadline * factor,
        )

    def link(one):
        return replace(one, bandwidth=exact(one.bandwidth) / factor, latency=one.latency * factor)

    network = instance.network
    return replace(
        instance,
        machines=tuple(replace(m, delay=m.delay * factor) for m in instance.machines),
        graphs=tuple(times(graph) for graph in instance.graphs),
        network=replace(
            link(network),
            lans=tuple(map(link, network.lans)),
            links=tuple(map(link, network.links)),
            wan_links=tuple(map(link, network.wan_links)),
        ),
    )


@share(1 / 2)
@given(dag(tasks=4), st.data())
def test_the_integer_program_says_the_same(instance, data):
    name = data.draw(st.sampled_from(goals(instance)))
    found, other = solve_exact(instance, objective=name), solve_milp(instance, objective=name)
    assert (other.status, other.value, other.bound) == (Status.OPTIMAL, found.value, found.bound)
    assert violations(instance, other.solution) == ()


@FEW
@given(dag(tasks=4))
def test_one_more_task_is_no_help(instance):
    graph = instance.graphs[0]
    costs = (1,) * len(instance.machines)
    longer = replace(graph, tasks=(*graph.tasks, Task("more", costs=costs)))
    more = replace(instance, graphs=(longer, *instance.graphs[1:]))
    assert solve_exact(more).value >= solve_exact(instance).value


@FEW
@given(dag(tasks=5))
def test_numbers_without_a_common_unit_give_a_bound_and_a_plan(instance):
    odd = Fraction(10**9 + 7, 10**9 + 9)
    first = instance.graphs[0]
    moved = replace(instance, graphs=(replace(first, arrival=odd, absolute_deadline=None),))
    found, least = solve_exact(moved), oracle.best(moved)
    assert ScaledInstance.from_instance(moved).exactly_scaled or found.value > 0
    assert found.bound <= least <= found.value
    assert float(found.value - found.bound) <= 1e-6 * float(found.value)
    assert violations(moved, found.solution) == ()
