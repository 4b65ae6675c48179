"""Graphs that arrive far apart: solved one by one, with the optima of the undivided instance."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, api
from dlopt.models.dag import time_blocks as blocks_of_time
from dlopt.models.dag.methods import solve_exact
from dlopt.models.dag.time_blocks import time_blocks
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
from dlopt.problems.validated_record import floating
from dlopt.result import levels_of
from tests import oracles_dag as oracle
from tests.examples import share
from tests.strategies_dag import dag

FAR = 2**40
BOUNDS = ["bound-critical-path", "bound-work", "bound-fernandez"]
OBJECTIVES = ["makespan", "tardy-graphs", "total-response-time", "tardy-then-response-time"]


def forks(distance, due=4):
    """Return two pairs of graphs so far apart, on machines of two speeds."""
    graphs = []
    for k, arrival in enumerate((0, 1, distance, distance + 1)):
        tasks = tuple(Task(f"t{j}", work=work) for j, work in enumerate((2 + k, 3, 1 + k)))
        graphs.append(Graph(f"g{k}", tasks, (Edge(0, 1, 1), Edge(0, 2, 1)), arrival, arrival + due))
    return Instance((Machine("m"), Machine("n", power=3)), tuple(graphs))


def since_last_arrival(instance, objective, value):
    """Return an objective value that does not depend on how far apart the graphs are."""
    last = max(graph.arrival for graph in instance.graphs)
    return value - last if objective == "makespan" else value


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("number_type", [lambda instance: instance, floating])
def test_far_graphs_have_the_optimum_of_near_ones(objective, number_type):
    near, far = forks(50), number_type(forks(FAR))
    found = api.solve(far, objective=objective)
    best = api.solve(near, objective=objective).value
    assert [block.graphs for block in time_blocks(far, objective)] == [(0, 1), (2, 3)]
    value = since_last_arrival(far, objective, found.value)
    # Floats of that size are multiples of a four thousandth.
    error = 0 if far.exact else 4 / 4096
    best = since_last_arrival(near, objective, best)
    for one, other in zip(levels_of(value), levels_of(best), strict=True):
        assert one == pytest.approx(other, rel=0, abs=error)
    if far.exact:
        assert (found.status, found.bound) == (Status.OPTIMAL, found.value)


@pytest.mark.parametrize("method", BOUNDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_bounds_do_not_depend_on_the_distance(method, objective):
    near, far = forks(50), forks(FAR)
    bounds = [
        since_last_arrival(data, objective, api.solve(data, method, objective=objective).bound)
        for data in (near, far)
    ]
    assert bounds[0] == bounds[1]


def test_the_integer_program_is_asked_about_each_block():
    far = forks(FAR)
    far = replace(far, graphs=far.graphs[::2])
    found = api.solve(far, "milp", objective="total-response-time")
    assert (found.status, found.value) == (Status.OPTIMAL, Fraction(2 + 3 + 1, 3) + Fraction(10, 3))


@pytest.mark.parametrize("objective", ["tardy-graphs", "tardy-then-response-time"])
def test_the_integer_program_solves_blocks_without_due_dates(objective):
    far = forks(FAR, due=0)
    free = replace(far.graphs[0], absolute_deadline=None)
    far = replace(far, graphs=(free, far.graphs[2]))
    found = api.solve(far, "milp", objective=objective)
    assert len(time_blocks(far, objective)) == 2
    assert (found.status, levels_of(found.value)[0]) == (Status.OPTIMAL, 1)


def test_late_by_less_than_a_block_tolerates_is_not_proven(monkeypatch):
    """The whole instance states both graphs as tardy; the bound lets floats be so much later."""
    monkeypatch.setattr(blocks_of_time, "MAX_JOBS_WITHOUT_DECOMPOSITION", 0)
    graphs = (
        Graph(f"g{k}", (Task("t", work=7.0),), (), a, a + 7.0 - 6.3e-9)
        for a, k in ((0.0, 0), (64.0, 1))
    )
    instance = Instance((Machine("m"),), tuple(graphs))
    found = solve_exact(instance, objective="tardy-graphs")
    assert len(time_blocks(instance, "tardy-graphs")) == 2
    assert (found.status, found.value, found.bound) == (Status.FEASIBLE, 2, 0)


def test_every_machine_can_run_a_task_of_each_block(monkeypatch):
    """The second and the fourth graph run on the first machine only."""
    monkeypatch.setattr(blocks_of_time, "MAX_JOBS_WITHOUT_DECOMPOSITION", 0)
    machines = Machine("m"), Machine("n")
    costs = (2, 3), (4, None), (3, 2), (5, None)
    for order, blocks in (((0, 1, 2, 3), [(0,), (1, 2, 3)]), ((1, 3, 0, 2), [(0, 1, 2), (3,)])):
        graphs = (
            Graph(f"g{k}", (Task("t", costs=costs[k]),), (), 50 * n) for n, k in enumerate(order)
        )
        instance = Instance(machines, tuple(graphs))
        found = api.solve(instance, objective="total-response-time")
        assert (found.status, found.value) == (Status.OPTIMAL, 2 + 4 + 2 + 5)
        parts = time_blocks(instance, "total-response-time")
        assert [block.graphs for block in parts] == blocks


@st.composite
def spread(draw):
    """Return up to two graphs, and one or two of them once more, as long after."""
    instance = draw(dag(machines=2, tasks=2))
    gap = draw(st.integers(0, 60))
    copies = instance.graphs[: draw(st.integers(1, 2))]
    later = [
        replace(
            graph,
            id=f"{graph.id} again",
            arrival=graph.arrival + gap,
            absolute_deadline=graph.absolute_deadline and graph.absolute_deadline + gap,
        )
        for graph in copies
    ]
    graphs = (*instance.graphs, *later)
    return replace(instance, graphs=draw(st.permutations(graphs)))


@pytest.mark.property
@share(1 / 2)
@given(spread(), st.sampled_from(OBJECTIVES))
def test_value_and_bound_are_those_of_the_undivided_instance(instance, objective):
    if "tardy" in objective and all(g.absolute_deadline is None for g in instance.graphs):
        objective = "total-response-time"
    best = oracle.best(instance, objective)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_of_time, "MAX_JOBS_WITHOUT_DECOMPOSITION", 0)
        found = api.solve(instance, objective=objective)
        rounded = solve_exact(floating(instance), objective=objective)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, best, best)
    for level, value, bound in zip(
        *map(levels_of, (best, rounded.value, rounded.bound)), strict=True
    ):
        assert (value, bound) == (pytest.approx(float(level)), pytest.approx(float(level)))


def test_tardy_graphs_wait_for_the_due_dates_of_others():
    """Both graphs that arrive first are on time, the one of length 9 at 10; a third is late then.

    It ends at 15, and a fourth may arrive there, but no earlier, without a loss.
    """
    lengths = 1, 9, 5
    dues = 1, 12, 4
    graphs = [
        Graph(f"g{k}", (Task("t", work=length),), (), 0, due)
        for k, (length, due) in enumerate(zip(lengths, dues, strict=True))
    ]

    def groups(arrival):
        last = Graph("last", (Task("t", work=FAR),), (), arrival, arrival + FAR)
        instance = Instance((Machine("m"),), (*graphs, last))
        return [block.graphs for block in time_blocks(instance, "tardy-graphs")]

    assert groups(12 + sum(lengths)) == [(0, 1, 2), (3,)]
    assert groups(12 + sum(lengths) - 1) == []


@pytest.mark.parametrize("objective", ["makespan", "total-response-time"])
def test_many_graphs_far_apart_are_certified_as_a_whole(objective):
    """Of 36 tasks in chains, of which each runs on the fast machine."""
    tasks = tuple(Task(f"t{j}", work=2 + 2 * j) for j in range(3))
    chain = Graph("g0", tasks, (Edge(0, 1, 1), Edge(1, 2, 1)))
    graphs = tuple(replace(chain, id=f"g{k}", arrival=100 * k) for k in range(12))
    instance = Instance((Machine("m"), Machine("n", power=2)), graphs)
    found = api.solve(instance, objective=objective)
    assert len(time_blocks(instance, objective)) == 12
    assert (found.status, found.value) == (
        Status.OPTIMAL,
        1100 + 6 if objective == "makespan" else 12 * 6,
    )
    assert found.proof == "certificate"
