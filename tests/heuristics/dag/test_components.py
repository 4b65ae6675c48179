"""The parts of list scheduling, each against a reference implementation."""

import dataclasses
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.heuristics.dag import instance_arrays as layout
from dlopt.heuristics.dag import machine_timeline
from dlopt.heuristics.dag.heft_family import optimistic_cost_table
from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.heuristics.dag.lan_assignment import assign_lans
from dlopt.heuristics.dag.levels import MeanCosts, compute_levels
from dlopt.heuristics.dag.machine_timeline import MachineTimeline
from dlopt.heuristics.dag.partial_schedule import PartialSchedule
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
    line, busy = MachineTimeline(0), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine_timeline, "MAX_GAPS_PER_BLOCK", most)
        for ready, length, until in wanted:
            start = first_fit(busy, ready, length)
            assert line.insertion_start(ready, length) == start
            assert line.insertion_start(ready, length, until) == (start if start <= until else None)
            last = max((end for _, end in busy), default=0)
            appended = max(ready, last) if length else ready
            assert line.append_start(ready, length) == appended
            assert line.append_start(ready, length, until) == (
                appended if appended <= until else None
            )
            line.occupy(start, length)
            if length:
                busy.append((start, start + length))
    copied = line.copy()
    copied.occupy(200, 1)
    assert line.end == max((end for _, end in busy), default=0)
    assert line.insertion_start(199, 5) == 199 and copied.insertion_start(199, 5) == 201


def test_gaps_are_cut_filled_and_parted(monkeypatch):
    monkeypatch.setattr(machine_timeline, "MAX_GAPS_PER_BLOCK", 2)
    line = MachineTimeline(0)
    for start in (10, 20, 30, 40):  # leaves [0, 10), [12, 20), [22, 30) and [32, 40)
        line.occupy(start, 2)
    line.occupy(12, 3)  # the front of a gap
    line.occupy(25, 5)  # the back of one
    line.occupy(3, 1)  # and amid one, which parts it, and its block
    line.occupy(16, 0)  # nothing
    wanted = {(0, 3): 0, (0, 4): 4, (0, 5): 4, (14, 5): 15, (15, 6): 32, (23, 2): 23, (0, 9): 42}
    assert {key: line.insertion_start(*key) for key in wanted} == wanted
    line.occupy(4, 6)  # all of one
    assert line.insertion_start(0, 4) == 15 and line.insertion_start(0, 3) == 0
    other = line.copy()
    other.occupy(0, 3)
    assert other.insertion_start(0, 3) == 15 and line.insertion_start(0, 3) == 0
    line.occupy(50, 1)
    assert line.insertion_start(30, 8) == 32 and line.insertion_start(41, 8) == 42
    assert line.insertion_start(30, 8, 31) is None and line.append_start(0, 1, 50) is None


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
    arrays = InstanceArrays.from_instance(instance)
    for places in ((0, 0, 1, 2), (1, 2, 1, 1), (3, 2, 0, 3), (2, 2, 2, 2)):
        partial, placed = PartialSchedule(arrays), {}
        for task, place in enumerate(places):  # two of the six are not placed yet
            start = partial.earliest_slot(task, place, partial.ready_times(task)[place])
            partial.place(task, place, start)
            begin = Fraction(start, arrays.scale)
            placed[0, task] = (place, begin, begin + 3)
            computed = [Fraction(found, arrays.scale) for found in partial.ready_times(6)]
            assert computed == [oracles_dag.earliest(instance, 0, 6, m, placed) for m in range(4)]


def test_the_first_start_among_machines_of_which_some_cannot_or_come_too_late():
    tasks = (Task("a", work=4), Task("b", costs=(None, 9, 3, 2)))
    partial = PartialSchedule(
        InstanceArrays.from_instance(
            Instance(tuple(Machine(f"m{k}") for k in range(4)), (Graph("g", tasks),))
        )
    )
    partial.place(0, 2, 0)
    assert partial.earliest_start(1, [0, 1, 0, 1]) == (3, 1, 3)
    assert partial.earliest_start(1, [0, 1, 0, 9]) == (1, 1, 10)
    assert partial.earliest_start(1, [0, 9, 0, 9]) == (2, 4, 7)
    assert partial.earliest_start(1, [0, 1, 1, 0]) == (3, 0, 2)


@pytest.mark.property
@given(strategies_dag.dag(tasks=8, several=2), st.data())
def test_ready_times_are_those_of_the_oracle(instance, data):
    """Whatever is placed already, and wherever."""
    arrays = InstanceArrays.from_instance(instance)
    partial, placed = PartialSchedule(arrays), {}
    for task in arrays.topological_order:
        g = arrays.graph_of[task]
        t = task - arrays.first_task[g]
        ready = partial.ready_times(task)
        for machine, found in enumerate(ready):
            assert Fraction(found, arrays.scale) == oracles_dag.earliest(
                instance, g, t, machine, placed
            )
        able = [m for m, cost in enumerate(arrays.costs[task]) if cost is not None]
        machine = data.draw(st.sampled_from(able))
        if data.draw(st.integers(0, 5)):  # else it is left out
            start = partial.earliest_slot(task, machine, ready[machine])
            partial.place(task, machine, start)
            begin = Fraction(start, arrays.scale)
            placed[g, t] = (machine, begin, begin + oracles_dag.cost(instance, g, t, machine))


@pytest.mark.property
@given(strategies_dag.dag(tasks=6), st.data())
def test_the_best_machine_is_the_best_of_all(instance, data):
    arrays = InstanceArrays.from_instance(instance)
    partial = PartialSchedule(arrays, data.draw(st.sampled_from(["insertion", "append"])))
    for task in arrays.topological_order:
        ready = partial.ready_times(task)
        several = st.tuples(*[st.integers(0, 9)] * arrays.machine_count)
        extra = data.draw(st.none() | several)
        ways = [
            (partial.earliest_slot(task, machine, ready[machine]), cost, machine)
            for machine, cost in enumerate(arrays.costs[task])
            if cost is not None
        ]
        more = extra or [0, 0, 0]
        end, _, machine, start = min((s + c + more[m], c, m, s) for s, c, m in ways)
        assert partial.earliest_finish(task, ready, extra) == (machine, start, end)
        start, end, machine = min((s, s + c, m) for s, c, m in ways)
        assert partial.earliest_start(task, ready) == (machine, start, end)
        partial.place(task, machine, start)


def test_a_trial_leaves_nothing_behind():
    instance = Instance((Machine("m"),), (Graph("g", (Task("a", work=2), Task("b", work=1))),))
    partial = PartialSchedule(InstanceArrays.from_instance(instance))
    with partial.tentatively():
        partial.place(0, 0, 0)
        assert partial.earliest_slot(1, 0, 0) == 2
    assert partial.earliest_slot(1, 0, 0) == 0 and partial.machine == [-1, -1]


# numbers


@pytest.mark.property
@given(strategies_dag.dag(tasks=7, several=2), st.data())
def test_fractions_without_a_common_denominator_give_the_same_plans(instance, data):
    name = data.draw(st.sampled_from(["heft", "cpop", "peft", "b-minus-t", "dynamic-b-minus-t"]))
    plan = solve(instance, name).solution
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "MAX_SCALE_BITS", 0)
        assert InstanceArrays.from_instance(instance).scale == 1
        assert solve(instance, name).solution == plan


def test_many_denominators_are_fractions_by_themselves():
    primes = [p for p in range(2, 4000) if all(p % q for q in range(2, int(p**0.5) + 1))]
    tasks = tuple(Task(f"t{p}", work=Fraction(1, p)) for p in primes)
    arrays = InstanceArrays.from_instance(Instance((Machine("m"),), (Graph("g", tasks),)))
    assert arrays.scale == 1 and arrays.costs[0] == [Fraction(1, 2)]
    few = InstanceArrays.from_instance(Instance((Machine("m"),), (Graph("g", tasks[:3]),)))
    assert few.scale == 30 and few.costs == [[15], [10], [6]]


@pytest.mark.property
@given(strategies_dag.dag(tasks=7, several=2))
def test_levels_in_floats_are_close_to_the_exact_ones(instance):
    exactly, inexactly = compute_levels(instance), compute_levels(floating(instance))
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
    found = compute_levels(instance)
    assert found["b-level"] == tuple(down(g, t, False) for g, t in names)
    assert found["static-b-level"] == tuple(down(g, t, True) for g, t in names)
    assert found["t-level"] == tuple(up(g, t) for g, t in names)
    assert found["p-level"] == tuple(weight(g, t) for g, t in names)


@pytest.mark.property
@given(strategies_dag.dag(tasks=6, several=1))
def test_optimistic_costs_are_the_recursion_of_the_paper(instance):
    arrays = InstanceArrays.from_instance(instance)
    mean_costs = MeanCosts.from_arrays(arrays)
    table = optimistic_cost_table(arrays, mean_costs)

    def left(task, machine):
        if not arrays.successors[task]:
            return arrays.output_times[task][machine] if task in arrays.output_times else 0
        return max(
            min(
                left(to, there)
                + cost
                + (
                    0
                    if there == machine and not arrays.local_transfers_counted
                    else mean_costs.latency + data * mean_costs.time_per_data
                )
                for there, cost in enumerate(arrays.costs[to])
                if cost is not None
            )
            for to, data in arrays.successors[task]
        )

    for task in range(arrays.task_count):
        assert table[task] == [left(task, machine) for machine in range(arrays.machine_count)]


@pytest.mark.parametrize("network", [LANS, Network(latency=2)])
def test_levels_are_the_same_in_floats(network):
    machines = FOUR if network.lans else tuple(Machine(f"m{k}") for k in range(4))
    tasks = (Task("a", costs=(2, None, 4, 3)), Task("b", work=Fraction(1, 3)), Task("c", work=2))
    graph = Graph("g", tasks, (Edge(0, 1, 5), Edge(1, 2, Fraction(1, 2))), arrival=1)
    instance = Instance(machines, (graph,), network)
    exactly, inexactly = compute_levels(instance), compute_levels(floating(instance))
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
    arrays = InstanceArrays.from_instance(Instance(machines, graphs, Network(lans=(Lan(), Lan()))))
    assign_lans(arrays)
    rows = [[cost and cost // arrays.scale for cost in row] for row in arrays.costs]
    assert rows == [[None, 2, None], [None, 3, 3], [None, 5, 5], [5, 5, 5]]


def test_machines_with_links_of_their_own_are_classes_of_their_own():
    machines = tuple(Machine(f"m{k}") for k in range(4))
    network = Network(links=(Link(0, 1, 2),))
    arrays = InstanceArrays.from_instance(
        Instance(machines, (Graph("g", (Task("a", work=1),)),), network)
    )
    assert arrays.machine_class == [0, 1, 2, 2]
    assert [
        [Fraction(u * 2, arrays.time_per_data[2][2]) for u in row] for row in arrays.time_per_data
    ] == [
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
    partial = PartialSchedule(InstanceArrays.from_instance(instance))
    partial.place(0, place, 0)
    assert partial.earliest_finish(1, partial.ready_times(1)) == (place, 2, 4)


def test_heft_breaks_ties_for_the_shorter_task_and_then_for_the_first_machine():
    """The second task ends at 4 on both machines."""
    tasks = (Task("a", costs=(None, 2)), Task("b", costs=(4, 2)), Task("c", costs=(9, 9)))
    graph = Graph("g", tasks, (Edge(0, 2),))
    plan = solve(Instance((Machine("m"), Machine("n")), (graph,)), "heft").solution
    assert {p.task: (p.machine, p.start) for p in plan.placements}[1] == (1, 2)
    identical = Instance((Machine("m"), Machine("n")), (Graph("g", (Task("t", work=1),)),))
    assert solve(identical, "heft").solution.placements[0].machine == 0
