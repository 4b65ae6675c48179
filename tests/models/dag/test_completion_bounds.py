"""Costs and transfers of 10^12, written for "never", change no optimum, bound or certificate."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.certificate_files import check_own_certificate
from dlopt.models.dag.bound_methods import bound_critical_path, bound_fernandez, bound_work
from dlopt.models.dag.completion_bounds import scaled_for_objective
from dlopt.models.dag.methods import solve_exact, solve_milp
from dlopt.models.dag.schedules import Schedule, initial_schedule, runs_on, to_solution
from dlopt.problems.dag import (
    OBJECTIVES,
    Edge,
    Graph,
    Instance,
    Lan,
    Link,
    Machine,
    Network,
    Placement,
    Solution,
    Task,
    objective,
    violations,
)
from dlopt.result import Status, levels_of
from tests import oracles_dag as oracle
from tests.examples import share

NEVER = 10**12
ROWS = ((2, 9), (3, 8), (4, 7), (5, 6), (6, 5), (7, 4))


def machines(count, **fields):
    return tuple(Machine(f"m{k}", **fields) for k in range(count))


def never(cost=NEVER, number=int):
    """Return six tasks that a third machine could run, in no time that anyone would wait."""
    rows = ((*map(number, row), number(cost)) for row in ROWS)
    tasks = tuple(Task(f"t{k}", costs=row) for k, row in enumerate(rows))
    return Instance(machines(3), (Graph("g", tasks, (Edge(0, 3, number(2)),)),))


@pytest.mark.parametrize("cost", [NEVER, 10**18, Fraction(10**15, 7)])
def test_a_cost_that_is_never_paid_changes_nothing(cost):
    instance = never(cost)
    found = solve(instance)
    assert (str(found.status), found.value, found.bound) == ("optimal", 14, 14)
    assert check_own_certificate(instance, found) == ()


def test_the_mixed_integer_program_is_as_sharp_as_without_such_costs():
    found = solve_milp(never())
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 14, 14)


def test_floats_are_scaled_without_such_costs_too():
    found = solve(never(number=float))
    assert (str(found.status), found.value, found.bound) == ("optimal", 14, 14)


def test_machines_that_differ_only_where_they_are_too_slow_are_not_exchanged_by_a_certificate():
    tasks = tuple(Task(f"t{k}", costs=(4, 4, 3)) for k in range(4))
    odd = Task("odd", costs=(NEVER, 10 * NEVER, 3))
    instance = Instance(machines(3), (Graph("g", (*tasks, odd)),))
    found = solve(instance)
    assert scaled_for_objective(instance, "makespan").identical_machines == [[0], [1], [2]]
    assert (str(found.status), found.value) == ("optimal", 8)
    assert check_own_certificate(instance, found) == ()


def test_a_due_date_in_the_far_future_is_no_horizon():
    tasks = (Task("a", costs=(2, NEVER)), Task("b", costs=(NEVER, 3)))
    graphs = tuple(Graph(f"g{due}", tasks, absolute_deadline=due) for due in (3, 2, NEVER**2))
    found = solve_exact(Instance(machines(2), graphs), objective="tardy-then-response-time")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, (1, 18), (1, 18))


def test_levels_of_which_the_certificate_would_be_too_long_have_none():
    tasks = tuple(Task(f"t{k}", costs=(2, NEVER**2)) for k in range(2))
    graphs = tuple(Graph(name, tasks) for name in "gh")
    found = solve_exact(Instance(machines(2), graphs), objective="total-response-time")
    assert (found.value, found.bound, found.certificate) == (12, 12, None)


def test_a_hint_that_is_better_in_the_numbers_of_the_instance_is_returned():
    """A task that is very long makes the grid of times too coarse for the others."""
    tasks = tuple(Task(f"t{k}", costs=row) for k, row in enumerate(ROWS))
    long = Graph("long", (Task("t", costs=(10**17, 10**17)),))
    instance = Instance(machines(2), (Graph("g", tasks, (Edge(0, 3, 2),)), long))
    goal = "total-response-time"
    plan = solve_exact(replace(instance, graphs=instance.graphs[:1]), objective=goal).solution
    hint = Solution((*plan.placements, Placement(1, 0, 0, 14)))
    best = objective(instance, hint, goal)
    for method in (solve_exact, solve_milp):
        found = method(instance, objective=goal, hint=hint)
        assert found.value == best == 10**17 + 14 + 14
        assert violations(instance, found.solution) == ()


def test_a_schedule_over_a_link_that_is_too_slow_is_evaluated_with_the_original_data():
    network = Network(links=(Link(0, 1, bandwidth=1, latency=NEVER),))
    tasks = (Task("a", costs=(1, None)), Task("b", costs=(2, 1)), Task("c", costs=(None, 1)))
    instance = Instance(machines(2), (Graph("g", tasks, (Edge(0, 1),)),), network)
    scaled = scaled_for_objective(instance, "makespan")
    assert scaled.restriction.latest_completions == (4,)
    assert scaled.jobs == ((0, 0), (0, 2), (0, 1))
    plan = to_solution(scaled, Schedule((0, 1, 1), (0, 0, 10)))
    assert violations(instance, plan) == () and objective(instance, plan) == NEVER + 2
    assert runs_on(scaled, plan)
    found = solve_exact(instance, hint=plan)
    assert (found.status, found.value) == (Status.OPTIMAL, 3)


def test_where_a_list_schedule_waits_for_a_slow_link_the_search_starts_with_one_that_does_not():
    """The first task ends first where its successor, which cannot follow it there, is far."""
    network = Network(links=(Link(0, 1, bandwidth=1, latency=NEVER),))
    tasks = (Task("a", costs=(1, 2)), Task("b", costs=(None, 1)))
    instance = Instance(machines(2), (Graph("g", tasks, (Edge(0, 1),)),), network)
    scaled = scaled_for_objective(instance, "makespan")
    assert initial_schedule(scaled, [2, 1]) == Schedule((1, 1), (0, 2))
    assert solve_exact(instance).value == 3


def test_a_graph_that_stays_in_one_lan_is_run_there_in_sequence():
    lans = tuple(Machine(f"m{k}", lan=k % 2) for k in range(4))
    tasks = (Task("a", costs=(1, 4, NEVER, NEVER)), Task("b", costs=(NEVER, 4, NEVER, 3)))
    network = Network(lans=(Lan("l0"), Lan("l1")))
    instance = Instance(lans, (Graph("g", tasks, (Edge(0, 1, 2),), one_lan=True),), network)
    scaled = scaled_for_objective(instance, "makespan")
    assert scaled.restriction.latest_completions == (8,)
    assert solve_exact(instance).value == oracle.best(instance) == 8


def test_numbers_of_long_denominators_are_rounded_to_a_grid_without_such_costs():
    primes = (999983, 999979, 999961)
    tasks = tuple(Task(f"t{p}", costs=(1 + Fraction(1, p), NEVER)) for p in primes)
    found = solve_exact(Instance(machines(2), (Graph("g", tasks),)))
    assert found.value == sum(1 + Fraction(1, p) for p in primes)
    assert 0 <= found.value - found.bound < Fraction(1, 10**6)
    assert "multiples of" in found.reason


def test_a_link_that_must_be_waited_for_is_the_horizon():
    network = Network(links=(Link(0, 1, bandwidth=1, latency=NEVER),))
    tasks = (Task("a", costs=(1, None)), Task("b", costs=(None, 1)))
    instance = Instance(machines(2), (Graph("g", tasks, (Edge(0, 1),)),), network)
    assert scaled_for_objective(instance, "makespan").restriction is None
    assert solve_exact(instance).value == NEVER + 2


huge = st.sampled_from([10**7, NEVER, 10**15, Fraction(10**15, 7)])


@st.composite
def mixed(draw):
    """Return an instance in which some times are far longer than others."""
    count, several = draw(st.integers(2, 3)), draw(st.booleans())
    latency = st.sampled_from([0, 0, 1, NEVER])
    links = tuple(
        Link(0, 1, bandwidth=1, latency=time) for time in draw(st.lists(latency, max_size=1))
    )
    graphs = []
    for index in range(1 + several):
        least = draw(st.lists(st.integers(1, 9), min_size=1, max_size=2 if several else 3))
        tasks = []
        for number, cost in enumerate(least):
            times = st.integers(0, 9) | huge
            row = [draw(times | st.none() if number else times) for _ in range(count)]
            row[draw(st.integers(0, count - 1))] = cost
            tasks.append(Task(f"t{number}", costs=tuple(row)))
        pairs = [(a, b) for b in range(len(tasks)) for a in range(b)]
        edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
        arrival = draw(st.sampled_from([0, 1, 4]))
        due = draw(st.sampled_from([None, 4, 9, 20, 10**15]))
        edges = tuple(Edge(a, b, draw(st.integers(0, 3))) for a, b in edges)
        due = None if due is None else arrival + due
        graphs.append(Graph(f"g{index}", tuple(tasks), edges, arrival, due))
    return Instance(machines(count), tuple(graphs), Network(links=links))


@pytest.mark.property
@share(1 / 2)
@given(mixed(), st.data())
def test_long_times_are_brute_force_too(instance, data):
    name = data.draw(st.sampled_from(list(OBJECTIVES)))
    if all(graph.absolute_deadline is None for graph in instance.graphs):
        name = data.draw(st.sampled_from(["makespan", "total-response-time"]))
    least = oracle.best(instance, name)
    found = solve_exact(instance, objective=name)
    if levels_of(least)[-1] < NEVER:  # else even the best schedule is that long
        assert (found.value, found.bound) == (least, least)
    assert found.bound <= least <= found.value
    assert violations(instance, found.solution) == ()
    if found.certificate is not None:
        assert check_own_certificate(instance, replace(found, instance=instance)) == ()
    for method in (bound_critical_path, bound_work, bound_fernandez):
        assert method(instance, objective=name).bound <= least
