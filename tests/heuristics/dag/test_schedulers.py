"""Every scheduler on small instances: valid, no better than the optimum, and as the papers say."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt import io, registry, solve
from dlopt.heuristics.dag.levels import compute_levels
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Network, Task, objective, violations
from dlopt.problems.validated_record import floating
from tests import oracles_dag, strategies_dag
from tests.data import data_folder

METHODS = [entry for entry in registry.methods("dag") if entry.kind == "heuristic"]
TOPCUOGLU = io.read("instances/dag/topcuoglu-10.json")


def every_way(entry):
    """Yield every choice of a method's options."""
    ways = [{}]
    for option in entry.options:
        ways = [
            way | {option.name: choice}
            for way in ways
            for choice in option.choices or (True, False)
        ]
    return ways


def makespans(instance, **options):
    return {entry.name: solve(instance, entry.name, **options).value for entry in METHODS}


# what is known


def test_the_ten_tasks_of_topcuoglu():
    found = makespans(TOPCUOGLU)
    assert found["heft"] == 80 and found["cpop"] == 86
    assert found["heft-lookahead"] == 76 and found["peft"] == 85
    assert min(found.values()) >= 73  # the optimum


def test_the_schedules_of_topcuoglu_are_met_task_by_task():
    lines = (data_folder("heft") / "topcuoglu2002_expected.csv").read_text().split()
    rows = [line.split(",") for line in lines[1:]]
    up = compute_levels(TOPCUOGLU)["b-level"]
    down = compute_levels(TOPCUOGLU)["t-level"]
    assert [float(level) for level in up] == pytest.approx(
        [float(row[4]) for row in rows], abs=1e-3
    )
    assert [float(level) for level in down] == pytest.approx(
        [float(row[5]) for row in rows], abs=1e-3
    )
    for name, column in (("heft", 6), ("cpop", 9)):
        plan = solve(TOPCUOGLU, name).solution
        placed = [(p.machine + 1, p.start) for p in plan.placements]
        assert placed == [(int(row[column]), int(row[column + 1])) for row in rows]


def test_small_graphs_of_the_literature():
    """HEFT and CPOP as others computed them, and no scheduler better than the optimum."""
    folder = data_folder("heft") / "santiago_synthetic"
    lines = (folder / "optima_computed.csv").read_text().split()
    expected = {}
    for line in lines[1:]:
        name, *_, by_heft, by_cpop, optimum = line.split(",")
        if (folder / name).exists():
            found = makespans(santiago((folder / name).read_text()))
            assert min(found.values()) >= float(optimum)
            expected[name] = (float(by_heft), float(by_cpop)), (found["heft"], found["cpop"])
    assert len(expected) >= 8
    assert {name: both for name, both in expected.items() if both[0] != both[1]} == {}


def santiago(text):
    """Read a file of costs per task, and of edges with costs."""
    parts = {"": []}
    for line in text.split("\n"):
        if line.startswith("#"):
            parts[line.strip()] = current = []
        elif ":" in line:
            current.append([float(word) for word in line.partition(":")[2].split(",")])
    rows = parts["#tasks"]
    tasks = tuple(Task(f"t{k}", costs=tuple(row)) for k, row in enumerate(rows))
    edges = tuple(Edge(int(a), int(b), data) for a, b, data in parts["#edges"])
    machines = tuple(Machine(f"m{k}") for k in range(len(rows[0])))
    return Instance(machines, (Graph("g", tasks, edges),))


def test_the_example_of_peft():
    """The sample of Arabnejad and Barbosa 2014: PEFT 122, lookahead 127, HEFT 133."""
    costs = [(22, 21, 36), (22, 18, 18), (32, 27, 43), (7, 10, 4), (29, 27, 35)]
    costs += [(26, 17, 24), (14, 25, 30), (29, 23, 36), (15, 21, 8), (13, 16, 33)]
    edges = [(0, 1, 17), (0, 2, 31), (0, 3, 29), (0, 4, 13), (0, 5, 7), (1, 7, 3), (1, 8, 30)]
    edges += [(2, 6, 16), (3, 7, 11), (3, 8, 7), (4, 8, 57), (5, 7, 5), (6, 9, 9), (7, 9, 42)]
    edges += [(8, 9, 7)]
    tasks = tuple(Task(f"t{k}", costs=row) for k, row in enumerate(costs))
    graph = Graph("g", tasks, tuple(Edge(*edge) for edge in edges))
    instance = Instance(tuple(Machine(f"p{k}") for k in range(3)), (graph,))
    found = makespans(instance)
    assert (found["peft"], found["heft-lookahead"], found["heft"]) == (122, 127, 133)


# what must hold of every scheduler


@pytest.mark.property
@given(strategies_dag.dag(tasks=4), st.data())
def test_no_scheduler_breaks_a_rule_or_beats_the_optimum(instance, data):
    goals = ["makespan", "total-response-time"]
    goals += ["tardy-graphs", "tardy-then-response-time"] if instance.absolute_deadlines else []
    goal = data.draw(st.sampled_from(goals))
    optimum = oracles_dag.best(instance, goal)
    for entry in METHODS:
        options = data.draw(st.sampled_from(every_way(entry)))
        found = solve(instance, entry.name, objective=goal, **options)
        assert violations(instance, found.solution) == ()
        assert found.value == objective(instance, found.solution, goal) >= optimum


@pytest.mark.property
@given(strategies_dag.dag(tasks=9, several=3), st.data())
def test_exact_answers_are_exact_and_floats_close_to_valid(instance, data):
    entry = data.draw(st.sampled_from(METHODS))
    options = data.draw(st.sampled_from(every_way(entry)))
    found = solve(instance, entry.name, **options)
    assert found.tolerance == 0
    assert all(type(p.start) is not float for p in found.solution.placements)
    inexact = solve(floating(instance), entry.name, **options)
    assert all(type(p.start) is float for p in inexact.solution.placements)


@pytest.mark.property
@given(strategies_dag.dag(tasks=9, several=3), st.data())
def test_scaling_all_times_scales_the_plan(instance, data):
    factor = data.draw(st.builds(Fraction, st.integers(1, 9), st.integers(1, 9)))
    entry = data.draw(st.sampled_from(METHODS))
    options = data.draw(st.sampled_from(every_way(entry)))
    one = solve(instance, entry.name, **options).solution
    other = solve(slower(instance, factor), entry.name, **options).solution
    for before, after in zip(one.placements, other.placements, strict=True):
        assert after == replace(before, start=before.start * factor)


def slower(instance, factor):
    """Return an instance in which everything takes `factor` times as long."""

    def times(record, *names):
        changed = {}
        for name in names:
            value = getattr(record, name)
            changed[name] = None if value is None else value * factor
        return replace(record, **changed)

    def task(one):
        if one.costs is None:
            return times(one, "work")
        return replace(one, costs=tuple(None if c is None else c * factor for c in one.costs))

    def graph(one):
        made = times(one, "arrival", "absolute_deadline", "input", "output")
        edges = tuple(times(edge, "data") for edge in one.edges)
        return replace(made, tasks=tuple(map(task, one.tasks)), edges=edges)

    def links(some):
        return tuple(times(link, "latency") for link in some)

    network = replace(
        times(instance.network, "latency"),
        lans=links(instance.network.lans),
        wan_links=links(instance.network.wan_links),
        links=links(instance.network.links),
    )
    machines = tuple(times(machine, "delay") for machine in instance.machines)
    return replace(
        instance, machines=machines, network=network, graphs=tuple(map(graph, instance.graphs))
    )


@pytest.mark.property
@given(strategies_dag.dag(tasks=6, several=1, plain=True), st.randoms(use_true_random=False))
def test_names_do_not_matter_where_ranks_differ(instance, chance):
    graph = instance.graphs[0]
    ranks = compute_levels(instance)["b-level"]
    assume(len(set(ranks)) == len(ranks))
    order = list(range(len(graph.tasks)))
    chance.shuffle(order)  # order[new] = old
    new = {old: at for at, old in enumerate(order)}
    edges = [Edge(new[e.source], new[e.target], e.data) for e in graph.edges]
    chance.shuffle(edges)
    renamed = replace(graph, tasks=tuple(graph.tasks[old] for old in order), edges=tuple(edges))
    other = replace(instance, graphs=(renamed,))
    for name in ("heft", "b-level"):
        plan = {p.task: p for p in solve(instance, name).solution.placements}
        for p in solve(other, name).solution.placements:
            assert (p.machine, p.start) == (plan[order[p.task]].machine, plan[order[p.task]].start)


@pytest.mark.parametrize("entry", METHODS, ids=lambda entry: entry.name)
def test_one_machine_is_never_idle_but_for_arrivals(entry):
    tasks = tuple(Task(f"t{k}", work=k + 1) for k in range(4))
    edges = (Edge(0, 2, 9), Edge(1, 2, 9), Edge(2, 3, 9))
    instance = Instance((Machine("m", 2),), (Graph("g", tasks, edges, arrival=3),))
    for way in every_way(entry):
        assert solve(instance, entry.name, **way).value == 8


@pytest.mark.property
@given(strategies_dag.dag(tasks=5, several=1, plain=True))
def test_chains_and_single_tasks_on_free_networks_are_solved(instance):
    """Without transfers a chain is best on the fastest machines, and most schedulers see that."""
    graph = instance.graphs[0]
    chain = tuple(Edge(k, k + 1, 0) for k in range(len(graph.tasks) - 1))
    instance = replace(instance, graphs=(replace(graph, edges=chain, arrival=0),))
    costs = [
        min(instance.cost(0, task, machine) for machine in range(len(instance.machines)))
        for task in range(len(graph.tasks))
    ]
    for entry in METHODS:
        if entry.name not in ("cpop", "fcp", "flb"):  # they look at one or two machines
            assert solve(instance, entry.name).value == sum(costs)


def test_what_takes_no_time_does_not_wait_for_a_machine():
    tasks = (Task("long", work=5), Task("nothing", work=0), Task("after", work=1))
    graph = Graph("g", tasks, (Edge(1, 2, 0),))
    instance = Instance((Machine("m"),), (graph,))
    for entry in METHODS:
        plan = solve(instance, entry.name).solution
        assert plan.placements[1].start == 0


def test_where_a_task_starts_first_is_not_where_it_ends_first():
    tasks = (Task("a", costs=(1, 9)), Task("b", costs=(1, 9)))
    instance = Instance((Machine("m"), Machine("n")), (Graph("g", tasks),))
    assert solve(instance, "b-level").value == 2
    assert solve(instance, "b-level", machine_rule="est").value == 9
    assert solve(instance, "dynamic-t-level", machine_rule="est").value == 9


def test_insertion_uses_a_gap_that_appending_leaves():
    tasks = (Task("a", work=2), Task("b", work=3), Task("c", work=1))
    edges = (Edge(0, 1, 4),)
    network = Network(same_machine="counted")
    instance = Instance((Machine("m"),), (Graph("g", tasks, edges),), network)
    assert solve(instance, "heft").value == 9
    assert solve(instance, "heft", insertion=False).value == 10


def test_the_graph_due_first_goes_first():
    slow = Graph("slow", (Task("a", work=4),), absolute_deadline=9)
    fast = Graph("fast", (Task("a", work=2),), absolute_deadline=3)
    free = Graph("free", (Task("a", work=8),))
    instance = Instance((Machine("m"),), (free, slow, fast))
    plan = solve(instance, "deadline-list", objective="tardy-graphs")
    assert [p.start for p in plan.solution.placements] == [6, 2, 0]
    assert plan.value == 0
    assert solve(instance, "b-level", objective="tardy-graphs").value == 2


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_cpop_without_a_machine_for_all_critical_tasks(order):
    """The machine that can run most of them gets those; the rest goes where it ends first."""
    rows = [(3, None), (5, 4), (None, 2)]
    chain = (Edge(0, 1, 1), Edge(1, 2, 1))
    where = {old: new for new, old in enumerate(order)}
    tasks = tuple(Task(f"t{old}", costs=rows[old]) for old in order)
    edges = tuple(Edge(where[e.source], where[e.target], e.data) for e in chain)
    instance = Instance((Machine("m"), Machine("n")), (Graph("g", tasks, edges),))
    found = solve(instance, "cpop")
    assert found.value == 3 + 1 + 4 + 2
