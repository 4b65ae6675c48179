"""Transfer times of task graphs, worked out by hand, above all over links with two directions.

The checkers compute them with lines of their own (`checker_times`), methods with `Paths`: both
are held against the same numbers, and against a second reading of the docstrings.
"""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import check, solve
from dlopt.problems.dag import (
    Course,
    Edge,
    Graph,
    Instance,
    Lan,
    Link,
    Machine,
    Network,
    Placement,
    Run,
    Solution,
    Task,
    Trace,
    completions,
    cost_of,
    objective,
    violations,
    violations_executed,
)
from dlopt.problems.dag.checker_times import CheckerTimes, first_tasks, last_tasks
from dlopt.problems.dag.claimed_values import claimed_value
from tests import oracles_dag, strategies_dag

F = Fraction
THERE, BACK = Link(0, 1, bandwidth=5, latency=3), Link(1, 0, bandwidth=1, latency=10)
LANS = Lan("a", bandwidth=2, latency=1), Lan("b", bandwidth=4)
MACHINES = Machine("m", lan=0), Machine("n", lan=1, delay=F(1, 2))
PLAIN = Machine("m"), Machine("n", delay=F(1, 2))
WAN = Network(bandwidth=7, latency=9, lans=LANS, wan_links=(THERE, BACK))
BY_SCHEDULER = replace(WAN, convention="scheduler")
LINKED = Network(links=(Link(0, 1, bandwidth=10, latency=2), Link(1, 0, bandwidth=4, latency=1)))

# What 20 units of data take from m to n, and from n to m.
BETWEEN = {
    "one-way WAN links": (MACHINES, WAN, F(15, 2), F(61, 2)),  # 3 + 1/2 + 20/5; 10 + 1/2 + 20/1
    # 1 + 20/2, the same 3 + 20/5, 20/4 + 1/2; back over 10 + 20/1
    "by schedulers": (MACHINES, BY_SCHEDULER, F(47, 2), F(93, 2)),
    "one-way machine links": (PLAIN, LINKED, F(9, 2), F(13, 2)),  # 2 + 20/10 + 1/2; 1 + 20/4 + 1/2
    "one link for both ways": (PLAIN, replace(LINKED, links=LINKED.links[:1]), F(9, 2), F(9, 2)),
    "one link back, for both": (PLAIN, replace(LINKED, links=LINKED.links[1:]), F(13, 2), F(13, 2)),
    "one WAN link for both": (MACHINES, replace(WAN, wan_links=(BACK,)), F(61, 2), F(61, 2)),
    "no WAN link": (MACHINES, replace(WAN, wan_links=()), F(173, 14), F(173, 14)),  # 9 1/2 + 20/7
}


def two_tasks(machines, network, first, **given):
    """Return a graph of a task on one machine and, with 20 units of its data, one on the other."""
    rows = ((1, None), (None, 1)) if first == 0 else ((None, 1), (1, None))
    tasks = tuple(Task(name, costs=row) for name, row in zip("st", rows, strict=True))
    return Instance(machines, (Graph("g", tasks, (Edge(0, 1, data=20),), **given),), network)


@pytest.mark.parametrize("name", BETWEEN)
@pytest.mark.parametrize("first", [0, 1])
def test_what_comes_over_a_link_comes_in_its_own_direction(name, first):
    machines, network, *times = BETWEEN[name]
    instance, sent = two_tasks(machines, network, first), times[first]
    plan = Solution((Placement(0, 0, first, 0), Placement(0, 1, 1 - first, 1 + sent)))
    assert violations(instance, plan) == () and objective(instance, plan) == 2 + sent
    early = Solution((plan.placements[0], replace(plan.placements[1], start=sent)))
    (broken,) = violations(instance, early)
    assert (broken.kind, broken.amount) == ("precedence", 1)
    for method in ("exact", "milp", "heft", "bound-critical-path"):
        found = solve(instance, method)
        assert (found.value if found.bound is None else found.bound) == 2 + sent
    pair = (first, 1 - first)
    assert CheckerTimes(instance).transfer(20, *pair) == instance.paths.transfer(20, *pair) == sent


# What 20 units take from the gateway of a LAN to a machine, and to the gateway from there.
GATES = [
    (0, 0, 11, 11),  # 1 + 20/2
    (0, 1, F(25, 2), F(71, 2)),  # 3 + 20/5 there, 10 + 20/1 back; 1/2 + 20/4 within
    (1, 0, 41, 18),  # 10 + 20/1 there, 3 + 20/5 back; 11 within
    (1, 1, F(11, 2), F(11, 2)),
]


@pytest.mark.parametrize(("home", "machine", "inward", "outward"), GATES)
@pytest.mark.parametrize("network", [WAN, BY_SCHEDULER], ids=["direct", "scheduler"])
def test_input_and_output_cross_the_wan_in_their_own_directions(
    network, home, machine, inward, outward
):
    costs = (2, None) if machine == 0 else (None, 2)
    rest = Graph("h", (Task("u", work=1),), arrival=200)
    graph = Graph("g", (Task("t", costs=costs),), arrival=1, lan=home, input=20, output=20)
    instance = Instance(MACHINES, (graph, rest), network)
    plan = Solution((Placement(0, 0, machine, 1 + inward), Placement(1, 0, 0, 200)))
    assert violations(instance, plan) == ()
    assert completions(instance, plan) == (3 + inward + outward, 201)
    assert claimed_value(instance, plan, "total-response-time") == objective(
        instance, plan, "total-response-time"
    )
    early = Solution((replace(plan.placements[0], start=inward), plan.placements[1]))
    (broken,) = violations(instance, early)
    assert (broken.kind, broken.amount) == ("starts-before-input", 1)
    assert solve(instance, "exact", objective="total-response-time").value == 3 + inward + outward
    assert solve(instance, "heft", objective="total-response-time").value == 3 + inward + outward


def test_traces_cross_the_wan_in_their_own_directions():
    """There 3 + 5/5, back 10 + 20/1; within the second LAN 1/2 + 5/4 and 1/2 + 20/4."""
    graph = Graph("g", (Task("t", costs=(None, 2)),), lan=0, input=5, output=20)
    idle = Graph("h", (Task("u", costs=(1, None)),), lan=0)
    instance = Instance(MACHINES, (graph, idle), BY_SCHEDULER)
    run = Run(0, 0, 1, 4, "done", F(23, 4), F(31, 4), F(53, 4), F(53, 4))
    other = Run(1, 0, 0, 0, "done", 1, 2, 3, 3)
    home = Course(1, 0, 0, 0, 3)
    good = Trace((Course(0, 1, 0, 4, F(173, 4)), home), (run, other))
    assert violations_executed(instance, good) == ()
    for changes, kind in (
        ({"received": 3}, "received-before-input"),
        ({"returned": 43}, "returned-before-results"),
    ):
        wrong = replace(good, courses=(replace(good.courses[0], **changes), home))
        assert [found.kind for found in violations_executed(instance, wrong)] == [kind]


def test_what_a_machine_sends_itself_is_counted_if_that_is_said():
    counted = replace(LINKED, same_machine="counted", bandwidth=4, latency=1)
    instance = Instance(PLAIN, two_tasks(PLAIN, LINKED, 0).graphs, counted)
    assert CheckerTimes(instance).transfer(20, 0, 0) == 6  # 1 + 20/4
    assert CheckerTimes(instance).transfer(20, 1, 1) == 7  # and twice the delay
    within = Instance(MACHINES, instance.graphs, replace(WAN, same_machine="counted"))
    assert CheckerTimes(within).transfer(20, 1, 1) == 6  # twice the delay, and 20/4
    assert CheckerTimes(Instance(PLAIN, instance.graphs, LINKED)).transfer(20, 1, 1) == 0


def test_a_graph_without_a_home_gets_and_sends_nothing():
    instance = two_tasks(MACHINES, WAN, 0)
    times, graph = CheckerTimes(instance), instance.graphs[0]
    assert times.input_time(graph, 0) == times.output_time(graph, 1) == 0
    assert (first_tasks(graph), last_tasks(graph)) == ([0], [1])
    assert times.duration(0, 0, 0) == 1 and times.duration(0, 0, 1) is None
    assert times.over_wan(20, None, 1) == times.over_wan(20, 0, None) == 0


@pytest.mark.property
@given(strategies_dag.dag(), st.builds(F, st.integers(0, 20), st.integers(1, 5)))
def test_checkers_and_methods_agree_with_a_second_reading(instance, data):
    times, paths, machines = CheckerTimes(instance), instance.paths, instance.machines
    for one in range(len(machines)):
        for other in range(len(machines)):
            taken = oracles_dag.transfer(instance, data, one, other)
            assert times.transfer(data, one, other) == taken == paths.transfer(data, one, other)
        for graph in instance.graphs:
            assert times.input_time(graph, one) == oracles_dag.gate(
                instance, graph, graph.input, one, True
            )
            assert times.output_time(graph, one) == oracles_dag.gate(
                instance, graph, graph.output, one, False
            )
    for at, graph in enumerate(instance.graphs):
        assert (first_tasks(graph), last_tasks(graph)) == (graph.entries, graph.exits)
        for index, task in enumerate(graph.tasks):
            for place, machine in enumerate(machines):
                length = times.duration(at, index, place)
                assert length == oracles_dag.cost(instance, at, index, place)
                assert length == cost_of(task, place, machine)


@pytest.mark.property
@given(strategies_dag.one_way())
def test_one_way_links_against_brute_force(instance):
    """Optimum, its bounds, and what the check says of a plan, where both directions differ."""
    for name in ("makespan", "total-response-time"):
        best = oracles_dag.best(instance, name)
        found = solve(instance, "exact", objective=name)
        assert (str(found.status), found.value, found.bound) == ("optimal", best, best)
        assert check(instance, found.solution) == ()
        for method in ("bound-critical-path", "bound-work", "bound-fernandez"):
            assert solve(instance, method, objective=name).bound <= best
        for method in ("heft", "cpop", "peft", "heft-lookahead"):
            plan = solve(instance, method, objective=name)
            assert plan.value >= best and check(instance, plan.solution) == ()
