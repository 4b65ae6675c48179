"""Task graphs: what an instance says, what plans are worth, and which rules they break."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import io, solve
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems import dag
from dlopt.problems.dag import (
    Edge,
    Graph,
    Instance,
    Lan,
    Machine,
    Network,
    Placement,
    Solution,
    Task,
    completions,
    objective,
    violations,
)
from dlopt.problems.dag.topology import cycle, topological
from dlopt.problems.validated_record import floating, numbers_of
from tests import oracles_dag, strategies_dag

TWO = (Machine("m"), Machine("n", power=2))
TASKS = (Task("a", work=2), Task("b", work=4), Task("c", costs=(None, 3)))
GRAPH = Graph("g", TASKS, (Edge(0, 1, 1), Edge(0, 2, 4)), arrival=1, absolute_deadline=10)
SMALL = Instance(TWO, (GRAPH,))
PLAN = Solution((Placement(0, 0, 0, 1), Placement(0, 1, 0, 3), Placement(0, 2, 1, 7)))
LANS = Instance(
    (Machine("m", lan=0), Machine("n", lan=1)),
    (Graph("g", (Task("a", work=2), Task("b", work=3)), lan=0, input=2, output=1, one_lan=True),),
    Network(bandwidth=2, latency=1, lans=(Lan(), Lan(bandwidth=4))),
)
INSIDE = Solution((Placement(0, 0, 0, 2), Placement(0, 1, 0, 4)))


def kinds(instance, plan, tolerance=0):
    return [violation.kind for violation in violations(instance, plan, tolerance)]


def moved(plan, index, **changed):
    placements = list(plan.placements)
    placements[index] = replace(placements[index], **changed)
    return Solution(tuple(placements))


# data


def test_what_tasks_cost_and_transfers_take():
    assert [SMALL.cost(0, 1, machine) for machine in (0, 1)] == [4, 2]
    assert [SMALL.cost(0, 2, machine) for machine in (0, 1)] == [None, 3]
    assert Instance((Machine("m", power=0.5),), (Graph("g", TASKS[:1]),)).cost(0, 0, 0) == 4
    assert SMALL.paths.transfer(Fraction(1, 3), 0, 1) == Fraction(1, 3)
    assert SMALL.absolute_deadlines == (10,) and LANS.absolute_deadlines is None


def test_nothing_is_sent_to_and_from_a_graph_without_a_home():
    assert SMALL.paths.inbound(None, 0) == SMALL.paths.outbound(1, None) == (0, 0)


def test_through_the_scheduler_all_data_goes_by_both_gateways():
    network = replace(LANS.network, convention="scheduler")
    paths = replace(LANS, network=network).paths
    # 2/1 to the gateway, 1 + 2/2 over, 2/4 on
    assert paths.transfer(2, 0, 1) == 2 + 2 + Fraction(1, 2)
    assert paths.transfer(2, 0, 0) == 0


def test_edges_take_numbers_as_files_write_them():
    assert Edge(0, 1, "1/2") == Edge(0, 1, Fraction(1, 2))
    assert Edge(0, 1).data == 0


def test_neighbours_and_orders():
    assert GRAPH.successors == [[1, 2], [], []]
    assert GRAPH.order == [0, 1, 2] and GRAPH.entries == [0] and GRAPH.exits == [1, 2]


@pytest.mark.property
@given(strategies_dag.dag(), st.builds(Fraction, st.integers(0, 20), st.integers(1, 5)))
def test_paths_are_what_the_docstrings_say(instance, data):
    """Against a second reading of them, between all machines and to and from all LANs."""
    paths, machines = instance.paths, range(len(instance.machines))
    for one in machines:
        for other in machines:
            taken = oracles_dag.transfer(instance, data, one, other)
            assert paths.transfer(data, one, other) == taken
        for home in (None, *range(len(instance.network.lans))):
            graph = replace(instance.graphs[0], lan=home, input=0, output=0)
            for inward, path in (
                (True, paths.inbound(home, one)),
                (False, paths.outbound(one, home)),
            ):
                taken = oracles_dag.gate(instance, graph, data, one, inward)
                assert path[0] + data * path[1] == taken


@pytest.mark.property
@given(strategies_dag.dag(tasks=8, several=3))
def test_orders_lead_forward(instance):
    for graph in instance.graphs:
        position = {task: at for at, task in enumerate(graph.order)}
        assert sorted(position) == list(range(len(graph.tasks)))
        assert all(position[edge.source] < position[edge.target] for edge in graph.edges)


@pytest.mark.property
@given(st.integers(1, 7), st.data())
def test_a_cycle_is_one(count, data):
    ends = st.integers(0, count - 1)
    after = data.draw(st.lists(st.lists(ends, max_size=3), min_size=count, max_size=count))
    found = cycle(after)
    assert bool(found) == (len(topological(after)) < count)
    if found:
        assert found[0] == min(found) and len(set(found)) == len(found)
        for task, then in zip(found, [*found[1:], found[0]], strict=True):
            assert then in after[task]


def test_a_long_chain_needs_no_recursion():
    count = 20_000
    tasks = tuple(Task(f"t{k}", work=1) for k in range(count))
    graph = Graph("g", tasks, tuple(Edge(k, k + 1, 1) for k in range(count - 1)))
    assert graph.order == list(range(count))
    with pytest.raises(InvalidInstanceError, match="must not run in a cycle, got 't0 -> t1 -> "):
        replace(graph, edges=(*graph.edges, Edge(count - 1, 0)))


@pytest.mark.property
@given(strategies_dag.dag(several=3))
def test_files_say_it_all(instance):
    again = io.instance_from_data(io.instance_to_data(instance))
    assert again == instance and io.instance_hash(again) == io.instance_hash(instance)
    assert instance.exact
    inexact = floating(instance)
    assert not inexact.exact
    assert any(type(number) is float for number in numbers_of(inexact))


@pytest.mark.parametrize(
    "changed",
    [
        {"machines": (Machine("m"), Machine("n", power=2.0))},
        {"network": Network(latency=0.5)},
        {"graphs": (replace(GRAPH, arrival=0.5),)},
        {"graphs": (replace(GRAPH, absolute_deadline=9.5),)},
        {"graphs": (replace(GRAPH, edges=(Edge(0, 1, 0.5),)),)},
        {"graphs": (replace(GRAPH, tasks=(Task("a", work=0.5), *TASKS[1:])),)},
        {"graphs": (replace(GRAPH, tasks=(*TASKS[:2], Task("c", costs=(None, 0.5)))),)},
    ],
)
def test_one_float_makes_it_inexact(changed):
    assert SMALL.exact and not replace(SMALL, **changed).exact


def test_floats_of_input_and_output():
    for name in ("input", "output"):
        graph = replace(LANS.graphs[0], **{name: 0.5})
        assert LANS.exact and not replace(LANS, graphs=(graph,)).exact


# worth


def test_what_a_plan_is_worth():
    assert objective(SMALL, PLAN) == 10 == objective(SMALL, PLAN, "makespan")
    assert objective(SMALL, PLAN, "tardy-graphs") == 0
    assert objective(SMALL, PLAN, "total-response-time") == 9
    later = moved(PLAN, 2, start=8)
    assert objective(SMALL, later, "tardy-then-response-time") == (1, 10)
    with pytest.raises(NotApplicableError, match="dag has no objective 'speed': makespan"):
        objective(SMALL, PLAN, "speed")
    assert dag.default_objective(SMALL) == "makespan"


def test_a_graph_is_complete_when_its_output_has_come_home():
    assert completions(LANS, INSIDE) == (8,)
    assert completions(LANS, moved(INSIDE, 1, machine=1)) == (Fraction(4 * 4 + 12 + 1 + 4 + 2, 4),)


def test_late_objectives_need_a_deadline():
    assert violations(LANS, INSIDE) == ()
    with pytest.raises(NotApplicableError, match="tardy-graphs needs absolute_deadlines"):
        solve(LANS, "heft", objective="tardy-graphs")
    assert objective(LANS, INSIDE, "tardy-graphs") == 0


def test_what_does_not_exist_is_worth_nothing():
    strange = (Placement(1, 0, 0, 99), Placement(0, 9, 0, 99), Placement(0, 0, 9, 99))
    assert completions(SMALL, Solution(strange)) == (1,)
    assert completions(SMALL, Solution((Placement(0, 2, 0, 4),))) == (4,)  # it cannot run there


# rules


def test_a_valid_plan():
    assert kinds(SMALL, PLAN) == [] == kinds(LANS, INSIDE)


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (Solution(PLAN.placements[:2]), "task-missing on task 2 of graph 0"),
        (
            Solution((*PLAN.placements, Placement(0, 2, 1, 20))),
            "duplicate-task on task 2 of graph 0",
        ),
        (Solution((*PLAN.placements, Placement(0, 3, 1, 20))), "unknown-task on task 3 of graph 0"),
        (Solution((*PLAN.placements, Placement(1, 0, 1, 20))), "unknown-task on task 0 of graph 1"),
        (Solution((*PLAN.placements, Placement(0, 2, 2, 20))), "unknown-machine on machine 2"),
        (moved(PLAN, 2, machine=0), "ineligible-machine on task 2 of graph 0 at 7"),
        (moved(PLAN, 0, start=0), "starts-before-arrival on task 0 of graph 0 in [0, 1] by 1"),
        (
            moved(PLAN, 0, start=Fraction(1, 4)),
            "starts-before-arrival on task 0 of graph 0 in [1/4, 1] by 3/4",
        ),
        (moved(PLAN, 2, start=6), "precedence on edge 0 -> 2 of graph 0 in [6, 7] by 1"),
        (moved(PLAN, 1, start=2), "machine-overlap on machine 0 in [2, 3] by 1"),
        (moved(PLAN, 1, machine=1, start=8), "machine-overlap on machine 1 in [8, 10] by 2"),
    ],
)
def test_every_rule_is_told(plan, told):
    assert told in [str(violation).replace(" at 20", "") for violation in violations(SMALL, plan)]


def test_rules_of_lans():
    assert kinds(LANS, moved(INSIDE, 0, start=1)) == ["starts-before-input"]
    (early,) = violations(LANS, moved(INSIDE, 0, start=Fraction(1, 2)))
    assert (early.start, early.end, early.amount) == (Fraction(1, 2), 2, Fraction(3, 2))
    apart = moved(INSIDE, 1, machine=1)
    assert kinds(LANS, apart) == ["graph-in-several-lans"]
    free = replace(LANS, graphs=(replace(LANS.graphs[0], one_lan=False),))
    assert kinds(free, apart) == []
    assert kinds(free, moved(INSIDE, 1, machine=1, start=2)) == ["starts-before-input"]
    for rest in (INSIDE.placements[:1], INSIDE.placements[1:]):
        assert kinds(LANS, Solution(rest)) == ["task-missing"]


def test_a_long_task_forgives_the_short_ones_nothing():
    tasks = (Task("long", work=1e9), Task("a", work=0.5), Task("b", work=0.5))
    instance = Instance((Machine("m0"), Machine("m1")), (Graph("g", tasks),))
    plan = Solution((Placement(0, 0, 0, 0), Placement(0, 1, 1, 0), Placement(0, 2, 1, 0)))
    assert kinds(instance, plan, 1e-6) == ["machine-overlap"]
    idle = Instance((Machine("m"),), (Graph("g", (Task("a", work=0.0),)),))
    assert kinds(idle, Solution((Placement(0, 0, 0, 0),)), 1e-6) == []


def test_the_shortest_task_is_that_of_its_fastest_machine():
    # by work on the machine of most power, else by the least of its own costs
    machines = (Machine("m"), Machine("n", power=4))
    last = Task("c", work=1)
    chosen = [(Task("b", work=4), 1), (Task("b", costs=(1, 8)), 1), (Task("b", costs=(8, 2)), 2)]
    for task, shortest in chosen:
        tasks = (Task("a", work=16), task, replace(last, work=16))
        plan = Solution((Placement(0, 0, 1, 0), Placement(0, 1, 1, 4), Placement(0, 2, 0, 100)))
        instance = Instance(machines, (Graph("g", tasks, (Edge(0, 2, 96),)),))
        assert kinds(instance, plan, 1e-6) == []
        for early, told in ((9, []), (11, ["precedence"])):
            off = Fraction(early * shortest, 10**7)
            assert kinds(instance, moved(plan, 2, start=100 - off), 1e-6) == told


def test_tasks_that_take_no_time_forgive_nothing():
    tasks = (Task("a", work=0), Task("b", work=0))
    instance = Instance((Machine("m"), Machine("n")), (Graph("g", tasks, (Edge(0, 1, 1),)),))
    for start, told in ((1, []), (1 - Fraction(1, 10**7), ["precedence"])):
        plan = Solution((Placement(0, 0, 0, 0), Placement(0, 1, 1, start)))
        assert kinds(instance, plan, 1e-6) == told


def test_zero_length_occupies_nothing():
    tasks = (Task("a", work=4), Task("b", work=0))
    instance = Instance((Machine("m"),), (Graph("g", tasks),))
    assert kinds(instance, Solution((Placement(0, 0, 0, 0), Placement(0, 1, 0, 2)))) == []


def test_how_far_a_plan_may_be_off():
    """A millionth of the shortest task, which takes 1; and 64 units in the last place."""
    just, too_much = Fraction(1, 10**6), Fraction(11, 10**7)
    assert kinds(SMALL, moved(PLAN, 2, start=7 - just), 1e-6) == []
    assert kinds(SMALL, moved(PLAN, 2, start=7 - too_much), 1e-6) == ["precedence"]
    early = kinds(SMALL, moved(PLAN, 1, start=3 - too_much), 1e-6)
    assert early == ["precedence", "machine-overlap"]
    apart = Instance(TWO, (Graph("g", TASKS[:2]),))
    for early, told in ((just, []), (too_much, ["machine-overlap"])):
        plan = Solution((Placement(0, 0, 0, 0), Placement(0, 1, 0, 2 - early)))
        assert kinds(apart, plan, 1e-6) == told
    assert kinds(SMALL, moved(PLAN, 0, start=1 - too_much), 1e-6) == ["starts-before-arrival"]
    assert kinds(SMALL, moved(PLAN, 2, start=7 - just)) == ["precedence"]
    assert kinds(SMALL, moved(PLAN, 2, start=7 - Fraction(1, 10**30))) == ["precedence"]


def test_all_graphs_count_and_what_does_not_exist_does_not():
    two = replace(SMALL, graphs=(GRAPH, Graph("h", (Task("a", work=6),), arrival=2)))
    plan = Solution((*PLAN.placements, Placement(1, 0, 1, 30)))
    assert completions(two, plan) == (10, 33)
    assert objective(two, plan) == 33 and objective(two, PLAN) == 10
    assert objective(two, plan, "total-response-time") == 9 + 31
    for stray in (Placement(2, 0, 0, 90), Placement(1, 1, 0, 90), Placement(1, 0, 2, 90)):
        assert completions(two, Solution((*plan.placements, stray))) == (10, 33)


@pytest.mark.property
@given(strategies_dag.dag(tasks=6), st.data())
def test_the_rules_agree_with_a_second_reading(instance, data):
    """A plan that is valid, changed somewhere: the oracle says whether it still is."""
    plan = solve(instance, "heft").solution
    index = data.draw(st.integers(0, len(plan.placements) - 1))
    places = st.integers(0, len(instance.machines) - 1)
    steps = st.builds(Fraction, st.integers(-8, 8), st.integers(1, 3))
    start = plan.placements[index].start + data.draw(steps)
    changed = moved(plan, index, machine=data.draw(places), start=start)
    assert (violations(instance, changed) == ()) == valid(instance, changed)


def valid(instance, plan):
    placed = {}
    for p in plan.placements:
        length = oracles_dag.cost(instance, p.graph, p.task, p.machine)
        if length is None:
            return False
        placed[p.graph, p.task] = (p.machine, p.start, p.start + length)
    for (g, t), (machine, start, _) in placed.items():
        if start < oracles_dag.earliest(instance, g, t, machine, placed):
            return False
    for g, graph in enumerate(instance.graphs):
        lans = {instance.machines[placed[g, t][0]].lan for t in range(len(graph.tasks))}
        if graph.one_lan and len(lans) > 1:
            return False
    spans = [span for span in placed.values() if span[1] < span[2]]
    return not any(
        one is not other and one[0] == other[0] and one[1] < other[2] and other[1] < one[2]
        for one in spans
        for other in spans
    )
