"""The parts of list scheduling, each against a plain twin."""

import dataclasses
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.heuristics.dag import instance_arrays as layout
from dlopt.heuristics.dag import machine_timeline
from dlopt.heuristics.dag.heft_family import optimistic_costs
from dlopt.heuristics.dag.instance_arrays import Flat
from dlopt.heuristics.dag.lan_assignment import confine
from dlopt.heuristics.dag.levels import Means, levels
from dlopt.heuristics.dag.machine_timeline import Timeline
from dlopt.heuristics.dag.partial_schedule import Board
from dlopt.problems.dag import (
    Edge,
    Graph,
    Instance,
    Lan,
    Link,
    Machine,
    Network,
    Task,
    violations,
)
from dlopt.problems.validated_record import floating
from tests import oracles_dag, strategies_dag

# what is free on a machine


def first_fit(busy, ready, length):
    """Return the earliest start among all that could be it."""
    starts = sorted({ready, *(end for _, end in busy if end > ready)})
    return next(
        start
        for start in starts
        if all(start + length <= s or end <= start for s, end in busy) or not length
    )


@pytest.mark.property
@given(
    st.integers(2, 5),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 6), st.integers(0, 70)), max_size=40),
)
def test_gaps_are_used_as_soon_as_they_are_long_enough(most, wanted):
    line, busy = Timeline(0), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine_timeline, "MOST", most)
        for ready, length, until in wanted:
            start = first_fit(busy, ready, length)
            assert line.inserted(ready, length) == start
            assert line.inserted(ready, length, until) == (start if start <= until else None)
            last = max((end for _, end in busy), default=0)
            behind = max(ready, last) if length else ready
            assert line.appended(ready, length) == behind
            assert line.appended(ready, length, until) == (behind if behind <= until else None)
            line.take(start, length)
            if length:
                busy.append((start, start + length))
    copied = line.copy()
    copied.take(200, 1)
    assert line.end == max((end for _, end in busy), default=0)
    assert line.inserted(199, 5) == 199 and copied.inserted(199, 5) == 201


def test_gaps_are_cut_filled_and_parted(monkeypatch):
    monkeypatch.setattr(machine_timeline, "MOST", 2)
    line = Timeline(0)
    for start in (10, 20, 30, 40):  # leaves [0, 10), [12, 20), [22, 30) and [32, 40)
        line.take(start, 2)
    line.take(12, 3)  # the front of a gap
    line.take(25, 5)  # the back of one
    line.take(3, 1)  # and amid one, which parts it, and its block
    line.take(16, 0)  # nothing
    wanted = {(0, 3): 0, (0, 4): 4, (0, 5): 4, (14, 5): 15, (15, 6): 32, (23, 2): 23, (0, 9): 42}
    assert {key: line.inserted(*key) for key in wanted} == wanted
    line.take(4, 6)  # all of one
    assert line.inserted(0, 4) == 15 and line.inserted(0, 3) == 0
    other = line.copy()
    other.take(0, 3)
    assert other.inserted(0, 3) == 15 and line.inserted(0, 3) == 0
    line.take(50, 1)
    assert line.inserted(30, 8) == 32 and line.inserted(41, 8) == 42
    assert line.inserted(30, 8, 31) is None and line.appended(0, 1, 50) is None


# when tasks are ready


LANS = Network(lans=(Lan("a", 2), Lan("b", 3, 1)), latency=2)
FOUR = tuple(Machine(f"m{k}", lan=k // 2) for k in range(4))


@pytest.mark.parametrize("same", ["zero", "counted"])
@pytest.mark.parametrize("network", [LANS, Network(latency=1)])
def test_ready_times_with_predecessors_here_and_there(network, same):
    machines = FOUR if network.lans else tuple(Machine(f"m{k}") for k in range(4))
    tasks = tuple(Task(f"t{k}", work=3) for k in range(7))
    edges = tuple(Edge(k, 6, data) for k, data in enumerate((7, 4, 9, 1, 5, 8)))
    instance = Instance(
        machines, (Graph("g", tasks, edges),), dataclasses.replace(network, same_machine=same)
    )
    flat = Flat.of(instance)
    for places in ((0, 0, 1, 2), (1, 2, 1, 1), (3, 2, 0, 3), (2, 2, 2, 2)):
        board, placed = Board(flat), {}
        for task, place in enumerate(places):  # two of the six are not placed yet
            start = board.slot(task, place, board.ready(task)[place])
            board.place(task, place, start)
            begin = Fraction(start, flat.scale)
            placed[0, task] = (place, begin, begin + 3)
            told = [Fraction(found, flat.scale) for found in board.ready(6)]
            assert told == [oracles_dag.earliest(instance, 0, 6, m, placed) for m in range(4)]


def test_the_first_start_among_machines_of_which_some_cannot_or_come_too_late():
    tasks = (Task("a", work=4), Task("b", costs=(None, 9, 3, 2)))
    board = Board(
        Flat.of(Instance(tuple(Machine(f"m{k}") for k in range(4)), (Graph("g", tasks),)))
    )
    board.place(0, 2, 0)
    assert board.earliest_start(1, [0, 1, 0, 1]) == (3, 1, 3)
    assert board.earliest_start(1, [0, 1, 0, 9]) == (1, 1, 10)
    assert board.earliest_start(1, [0, 9, 0, 9]) == (2, 4, 7)
    assert board.earliest_start(1, [0, 1, 1, 0]) == (3, 0, 2)


@pytest.mark.property
@given(strategies_dag.dag(tasks=8, several=2), st.data())
def test_ready_times_are_those_of_the_oracle(instance, data):
    """Whatever is placed already, and wherever."""
    flat = Flat.of(instance)
    board, placed = Board(flat), {}
    for task in flat.order:
        g = flat.graph_of[task]
        t = task - flat.first[g]
        ready = board.ready(task)
        for machine, found in enumerate(ready):
            assert Fraction(found, flat.scale) == oracles_dag.earliest(
                instance, g, t, machine, placed
            )
        able = [m for m, cost in enumerate(flat.costs[task]) if cost is not None]
        machine = data.draw(st.sampled_from(able))
        if data.draw(st.integers(0, 5)):  # else it is left out
            start = board.slot(task, machine, ready[machine])
            board.place(task, machine, start)
            begin = Fraction(start, flat.scale)
            placed[g, t] = (machine, begin, begin + oracles_dag.cost(instance, g, t, machine))


@pytest.mark.property
@given(strategies_dag.dag(tasks=6), st.data())
def test_the_best_machine_is_the_best_of_all(instance, data):
    flat = Flat.of(instance)
    board = Board(flat, data.draw(st.sampled_from(["insertion", "append"])))
    for task in flat.order:
        ready = board.ready(task)
        several = st.tuples(*[st.integers(0, 9)] * flat.machines)
        extra = data.draw(st.none() | several)
        ways = [
            (board.slot(task, machine, ready[machine]), cost, machine)
            for machine, cost in enumerate(flat.costs[task])
            if cost is not None
        ]
        more = extra or [0, 0, 0]
        end, _, machine, start = min((s + c + more[m], c, m, s) for s, c, m in ways)
        assert board.earliest_finish(task, ready, extra) == (machine, start, end)
        start, end, machine = min((s, s + c, m) for s, c, m in ways)
        assert board.earliest_start(task, ready) == (machine, start, end)
        board.place(task, machine, start)


def test_a_trial_leaves_nothing_behind():
    instance = Instance((Machine("m"),), (Graph("g", (Task("a", work=2), Task("b", work=1))),))
    board = Board(Flat.of(instance))
    with board.trial():
        board.place(0, 0, 0)
        assert board.slot(1, 0, 0) == 2
    assert board.slot(1, 0, 0) == 0 and board.machine == [-1, -1]


# numbers


@pytest.mark.property
@given(strategies_dag.dag(tasks=7, several=2), st.data())
def test_fractions_without_a_common_denominator_give_the_same_plans(instance, data):
    name = data.draw(st.sampled_from(["heft", "cpop", "peft", "b-minus-t", "dynamic-b-minus-t"]))
    plan = solve(instance, name).solution
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "MOST_BITS", 0)
        assert Flat.of(instance).scale == 1
        assert solve(instance, name).solution == plan


def test_many_denominators_are_fractions_by_themselves():
    primes = [p for p in range(2, 4000) if all(p % q for q in range(2, int(p**0.5) + 1))]
    tasks = tuple(Task(f"t{p}", work=Fraction(1, p)) for p in primes)
    flat = Flat.of(Instance((Machine("m"),), (Graph("g", tasks),)))
    assert flat.scale == 1 and flat.costs[0] == [Fraction(1, 2)]
    few = Flat.of(Instance((Machine("m"),), (Graph("g", tasks[:3]),)))
    assert few.scale == 30 and few.costs == [[15], [10], [6]]


@pytest.mark.property
@given(strategies_dag.dag(tasks=7, several=2))
def test_levels_in_floats_are_close_to_the_exact_ones(instance):
    exactly, inexactly = levels(instance), levels(floating(instance))
    for name, found in exactly.items():
        assert inexactly[name] == pytest.approx([float(level) for level in found])


@pytest.mark.property
@given(strategies_dag.dag(tasks=7, several=2))
def test_levels_are_the_longest_ways(instance):
    """Against a walk along all paths, with means from the oracle."""
    machines = range(len(instance.machines))
    counted = instance.network.same_machine == "counted"
    pairs = [(a, b) for a in machines for b in machines if a != b or counted]

    def weight(g, t):
        costs = [oracles_dag.cost(instance, g, t, machine) for machine in machines]
        known = [cost for cost in costs if cost is not None]
        return sum(known) / len(known)

    def moved(edge):
        taken = [oracles_dag.transfer(instance, edge.data, *pair) for pair in pairs]
        return sum(taken) / len(taken) if pairs else 0

    def down(g, t, static):
        after = [edge for edge in instance.graphs[g].edges if edge.source == t]
        ways = [(0 if static else moved(e)) + down(g, e.target, static) for e in after]
        return weight(g, t) + max(ways, default=0)

    def up(g, t):
        before = [edge for edge in instance.graphs[g].edges if edge.target == t]
        return max((up(g, e.source) + weight(g, e.source) + moved(e) for e in before), default=0)

    names = [(g, t) for g, graph in enumerate(instance.graphs) for t in range(len(graph.tasks))]
    found = levels(instance)
    assert found["b-level"] == tuple(down(g, t, False) for g, t in names)
    assert found["static-b-level"] == tuple(down(g, t, True) for g, t in names)
    assert found["t-level"] == tuple(up(g, t) for g, t in names)
    assert found["p-level"] == tuple(weight(g, t) for g, t in names)


@pytest.mark.property
@given(strategies_dag.dag(tasks=6, several=1))
def test_optimistic_costs_are_the_recursion_of_the_paper(instance):
    flat = Flat.of(instance)
    means = Means.of(flat)
    table = optimistic_costs(flat, means)

    def left(task, machine):
        if not flat.after[task]:
            return flat.outbound[task][machine] if task in flat.outbound else 0
        return max(
            min(
                left(to, there)
                + cost
                + (
                    0
                    if there == machine and not flat.counted
                    else means.latency + data * means.unit
                )
                for there, cost in enumerate(flat.costs[to])
                if cost is not None
            )
            for to, data in flat.after[task]
        )

    for task in range(flat.count):
        assert table[task] == [left(task, machine) for machine in range(flat.machines)]


@pytest.mark.parametrize("network", [LANS, Network(latency=2)])
def test_levels_are_the_same_in_floats(network):
    machines = FOUR if network.lans else tuple(Machine(f"m{k}") for k in range(4))
    tasks = (Task("a", costs=(2, None, 4, 3)), Task("b", work=Fraction(1, 3)), Task("c", work=2))
    graph = Graph("g", tasks, (Edge(0, 1, 5), Edge(1, 2, Fraction(1, 2))), arrival=1)
    instance = Instance(machines, (graph,), network)
    exactly, inexactly = levels(instance), levels(floating(instance))
    assert exactly["p-level"] == (3, Fraction(1, 3), 2)
    for name, found in exactly.items():
        assert inexactly[name] == pytest.approx([float(level) for level in found])
    for name in ("heft", "heft-lookahead", "peft", "b-minus-t"):
        found = solve(instance, name).value
        assert solve(floating(instance), name).value == pytest.approx(float(found))


# LANs


def test_a_graph_goes_to_the_lan_where_it_is_complete_first():
    machines = (
        Machine("near", lan=0),
        Machine("far", power=4, lan=1),
        Machine("farther", power=4, lan=1),
    )
    tasks = (Task("a", work=8), Task("b", work=8))
    for latency, chosen in ((1, {1, 2}), (20, {0})):
        graph = Graph("g", tasks, lan=0, one_lan=True)
        network = Network(latency=latency, lans=(Lan(), Lan()))
        plan = solve(Instance(machines, (graph,), network), "heft").solution
        assert {p.machine for p in plan.placements} == chosen


def test_graphs_share_the_lans():
    machines = tuple(Machine(f"m{k}", lan=k % 2) for k in range(4))
    tasks = (Task("a", work=8), Task("b", work=8))
    graphs = tuple(Graph(f"g{k}", tasks, arrival=2 - k, one_lan=True) for k in range(2))
    instance = Instance(machines, graphs, Network(lans=(Lan(), Lan())))
    plan = solve(instance, "heft").solution
    lans = [{machines[p.machine].lan for p in plan.placements if p.graph == g} for g in (0, 1)]
    assert lans == [{1}, {0}]  # the one that arrives first takes the first


def test_only_machines_of_the_lan_remain():
    machines = (Machine("m", lan=0), Machine("n", lan=1), Machine("o", lan=1))
    tasks = (Task("a", costs=(1, 2, None)), Task("b", costs=(None, 3, 3)), Task("c", work=5))
    graphs = (Graph("g", tasks, (Edge(0, 2, 1),), one_lan=True), Graph("free", tasks[2:]))
    flat = Flat.of(Instance(machines, graphs, Network(lans=(Lan(), Lan()))))
    confine(flat)
    rows = [[cost and cost // flat.scale for cost in row] for row in flat.costs]
    assert rows == [[None, 2, None], [None, 3, 3], [None, 5, 5], [5, 5, 5]]


def test_machines_with_links_of_their_own_are_classes_of_their_own():
    machines = tuple(Machine(f"m{k}") for k in range(4))
    network = Network(links=(Link(0, 1, 2),))
    flat = Flat.of(Instance(machines, (Graph("g", (Task("a", work=1),)),), network))
    assert flat.kinds == [0, 1, 2, 2]
    assert [[Fraction(u * 2, flat.unit[2][2]) for u in row] for row in flat.unit] == [
        [0, 1, 2],
        [1, 0, 2],
        [2, 2, 2],
    ]


def test_insertion_stays_valid_where_many_tasks_fill_gaps():
    tasks = tuple(Task(f"t{k}", work=(k * 7) % 5 + 1) for k in range(60))
    edges = tuple(Edge(k, k + 10, (k * 3) % 11) for k in range(50))
    instance = Instance(
        tuple(Machine(f"m{k}", power=k + 1) for k in range(4)), (Graph("g", tasks, edges),)
    )
    for name in ("heft", "cpop", "peft", "heft-lookahead"):
        assert violations(instance, solve(instance, name).solution) == ()


@pytest.mark.parametrize(("costs", "place"), [((4, 2), 1), ((2, 4), 0)])
def test_of_equal_ends_that_machine_is_taken_that_the_task_occupies_least(costs, place):
    """It ends at 4 on both: on one it takes 4 from 0 on, on the other 2 from 2 on."""
    held = Task("held", costs=(2 if place == 0 else None, 2 if place == 1 else None))
    task = Task("task", costs=costs)
    instance = Instance((Machine("m"), Machine("n")), (Graph("g", (held, task)),))
    board = Board(Flat.of(instance))
    board.place(0, place, 0)
    assert board.earliest_finish(1, board.ready(1)) == (place, 2, 4)


def test_heft_breaks_ties_for_the_shorter_task_and_then_for_the_first_machine():
    """The second task ends at 4 on both machines."""
    tasks = (Task("a", costs=(None, 2)), Task("b", costs=(4, 2)), Task("c", costs=(9, 9)))
    graph = Graph("g", tasks, (Edge(0, 2),))
    plan = solve(Instance((Machine("m"), Machine("n")), (graph,)), "heft").solution
    assert {p.task: (p.machine, p.start) for p in plan.placements}[1] == (1, 2)
    alike = Instance((Machine("m"), Machine("n")), (Graph("g", (Task("t", work=1),)),))
    assert solve(alike, "heft").solution.placements[0].machine == 0
