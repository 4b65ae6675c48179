"""Heads and tails by work: no later than brute force, and of use."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.generation import generate
from dlopt.models.dag.bound_methods import bound_critical_path, bound_work
from dlopt.models.dag.energetic_heads import energetic_heads_tails
from dlopt.models.dag.heads_and_tails import INFINITE, longest_path_heads_tails
from dlopt.models.dag.lower_bounds import compute_heads_tails
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Network, Task
from tests import oracles_dag as oracle


def drawn(seed, *, tasks=5, machines=2, transfer_times=3):
    """A small graph; some tasks take no time, some machines cannot run some tasks."""
    draw = random.Random(seed)
    rows = []
    for _ in range(tasks):
        row = [draw.choice([0, 1, 2, 3, 5, 8]) for _ in range(machines)]
        if draw.random() < 0.3:
            row[draw.randrange(machines)] = None
        rows.append(Task(f"t{len(rows)}", costs=tuple(row)))
    pairs = [(a, b) for b in range(tasks) for a in range(b) if draw.random() < 0.5]
    edges = tuple(Edge(*pair, draw.randint(0, transfer_times)) for pair in pairs)
    everywhere = tuple(Machine(f"m{k}") for k in range(machines))
    tasks = (*rows, Task("any", work=1))  # so that every machine can run something
    return Instance(everywhere, (Graph("g", tasks, edges),))


def earliest(instance, job, place):
    """Return when a job can start on a machine, by brute force over what it waits for."""
    graph = instance.graphs[0]
    kept = {job}
    while True:
        more = {edge.source for edge in graph.edges if edge.target in kept} - kept
        if not more:
            break
        kept |= more
    order = sorted(kept)
    only = tuple(1 if p == place else None for p in range(len(instance.machines)))
    tasks = [replace(graph.tasks[task], id=f"t{task}") for task in order]
    tasks[order.index(job)] = Task("last", costs=only)
    idle = Task("idle", work=0)  # so that every machine can run something
    edges = tuple(
        Edge(order.index(edge.source), order.index(edge.target), edge.data)
        for edge in graph.edges
        if edge.target in kept
    )
    small = replace(instance, graphs=(replace(graph, tasks=(*tasks, idle), edges=edges),))
    return oracle.best(small) - 1


@pytest.mark.parametrize("seed", range(12))
def test_no_job_starts_before_its_head(seed):
    instance = drawn(seed, machines=2 + seed % 2, transfer_times=3 * (seed % 3))
    scaled = ScaledInstance.from_instance(instance)
    heads_tails = compute_heads_tails(scaled)
    plain = longest_path_heads_tails(scaled)
    for job, (_, task) in enumerate(scaled.jobs):
        for place in scaled.eligible_machines[job]:
            head = scaled.to_instance_time(int(heads_tails.heads[job, place]))
            assert scaled.to_instance_time(int(plain.heads[job, place])) <= head
            assert head <= earliest(instance, task, place)
    assert bound_critical_path(instance).bound <= bound_work(instance).bound
    assert bound_work(instance).bound <= oracle.best(instance)


def test_tails_are_heads_of_the_graph_turned_round():
    instance = drawn(3, tasks=6)
    graph = instance.graphs[0]
    edges = tuple(Edge(edge.target, edge.source, edge.data) for edge in graph.edges)
    scaled = ScaledInstance.from_instance(instance)
    turned = ScaledInstance.from_instance(replace(instance, graphs=(replace(graph, edges=edges),)))
    heads_tails, other = compute_heads_tails(scaled), compute_heads_tails(turned)
    where = {job: at for at, job in enumerate(turned.jobs)}
    for at, job in enumerate(scaled.jobs):
        assert heads_tails.tails[at].tolist() == other.heads[where[job]].tolist()


def join(width, machines, **network):
    tasks = tuple(Task(f"t{k}", work=2) for k in range(width + 1))
    edges = tuple(Edge(k, width, data=4) for k in range(width))
    identical = tuple(Machine(f"m{k}") for k in range(machines))
    return Instance(identical, (Graph("g", tasks, edges),), Network(**network))


def test_data_that_comes_late_leaves_less_time_elsewhere():
    # on two machines 12 are done by 6, and by 8 if what is done elsewhere has to come over by then
    scaled = ScaledInstance.from_instance(join(6, 2))
    heads_tails = compute_heads_tails(scaled)
    assert scaled.to_instance_time(int(heads_tails.heads[-1].min())) == 8
    scaled = ScaledInstance.from_instance(join(6, 2, bandwidth=100))
    assert scaled.to_instance_time(int(compute_heads_tails(scaled).heads[-1].min())) > 6
    silent = join(6, 2)
    edges = tuple(replace(edge, data=0) for edge in silent.graphs[0].edges)
    scaled = ScaledInstance.from_instance(
        replace(silent, graphs=(replace(silent.graphs[0], edges=edges),))
    )
    assert scaled.communication_free
    assert scaled.to_instance_time(int(compute_heads_tails(scaled).heads[-1].min())) == 6


def test_a_machine_that_counts_nothing_bounds_nothing():
    # the slow machine gets no weight to speak of; what runs only there has no energy
    rows = [(1, 10**6), (None, 10**6), (1, 10**6), (1, 10**6)]
    tasks = tuple(Task(f"t{k}", costs=row) for k, row in enumerate(rows))
    graph = Graph("g", tasks, tuple(Edge(k, 3) for k in range(3)))
    instance = Instance((Machine("m"), Machine("n")), (graph,))
    scaled = ScaledInstance.from_instance(instance)
    heads_tails = compute_heads_tails(scaled)
    last = heads_tails.heads[-1, 0]
    assert scaled.to_instance_time(int(last)) == 10**6
    assert (heads_tails.heads < INFINITE).sum() == 7


def test_large_cases_keep_the_longest_ways():
    for tasks, machines in ((1_201, 1), (2, 65), (601, 2)):
        rows = tuple(Task(f"t{k}", work=1 + k % 2) for k in range(tasks))
        graph = Graph("g", rows, (Edge(0, 1, data=Fraction(1, 2)),))
        scaled = ScaledInstance.from_instance(
            Instance(tuple(Machine(f"m{k}") for k in range(machines)), (graph,))
        )
        heads_tails = longest_path_heads_tails(scaled)
        assert energetic_heads_tails(scaled, heads_tails) is heads_tails
    dense = ScaledInstance.from_instance(
        generate("dag", "anywhere", tasks=200, machines=5, probability=1)
    )
    heads_tails = longest_path_heads_tails(dense, join_bounds=False)
    assert energetic_heads_tails(dense, heads_tails) is heads_tails
