"""Task graphs: forks, joins and chains on few machines, with and without communication."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from dlopt.problems.dag import Edge, Graph, Instance, Lan, Machine, Network, Task
from dlopt.verify.choice_sequence import Choices
from dlopt.verify.instance_builders.dag_variations import renumbered, varied
from dlopt.verify.instance_builders.size_limits import SMALL, Size, rare


def build(choices: Choices, size: Size = SMALL) -> Instance:
    """Return an instance in exact numbers.

    In the common ones every machine can run every task, tasks are numbered in a topological order,
    and all pairs of machines are connected in the same way.
    """
    count = choices.integer(1, size.machines)
    lans = choices.integer(1, 2) if choices.chance(4) else 0
    powers = [1, 1, 1, 2, 3, Fraction(1, 2)]
    machines = tuple(
        Machine(f"m{k}", choices.number(powers), choices.integer(0, lans - 1) if lans else None)
        for k in range(count)
    )
    graphs, left = [], size.jobs + 1
    for index in range(choices.number([1, 1, 2])):
        if left:
            graphs.append(_graph(choices, f"g{index}", count, left, lans))
            left -= len(graphs[-1].tasks)
    if rare(choices, size):
        graphs = [renumbered(choices, graph) for graph in graphs]
    network = _network(choices, lans)
    if not rare(choices, size):
        return Instance(machines, tuple(graphs), network)
    if lans == 0 and choices.chance(3):
        lans = choices.integer(1, 2)
        machines = tuple(replace(one, lan=choices.integer(0, lans - 1)) for one in machines)
        network = _network(choices, lans)
    return varied(choices, Instance(machines, tuple(graphs), network))


def _network(choices: Choices, lans: int) -> Network:
    if not choices.chance(3) and not lans:
        return Network()
    return Network(
        convention=choices.pick(["direct", "scheduler"]) if lans else "direct",
        same_machine=choices.pick(["zero", "zero", "counted"]),
        bandwidth=choices.number([1, 1, 2, Fraction(1, 2)]),
        latency=choices.number([0, 0, 1]),
        lans=tuple(
            Lan(f"l{k}", choices.number([1, 2, 4]), choices.number([0, 1])) for k in range(lans)
        ),
    )


def _graph(choices: Choices, name: str, machines: int, most: int, lans: int) -> Graph:
    by_work = not choices.chance(3)
    costs = [1, 1, 2, 3, 4, 6, 0, Fraction(1, 2)]

    def task(index: int) -> Task:
        if by_work:
            return Task(f"t{index}", work=choices.number(costs))
        return Task(f"t{index}", costs=tuple(choices.number(costs) for _ in range(machines)))

    tasks = choices.list_of(1, most, task)
    edges = [
        Edge(a, b, choices.number([0, 1, 1, 2, 5]))
        for a, b in combinations(range(len(tasks)), 2)
        if choices.chance(3)
    ]
    arrival = choices.number([0, 0, 0, 1, 2])
    due = arrival + choices.integer(1, 20) if choices.chance(2) else None
    home = choices.integer(0, lans - 1) if lans and choices.chance(2) else None
    data = choices.number([0, 1, 3]) if home is not None else 0
    return Graph(name, tuple(tasks), tuple(edges), arrival, due, home, data, data)
