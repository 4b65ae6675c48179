"""The published rules, each against a literal transcription of its formulas on small instances."""

from __future__ import annotations

from fractions import Fraction
from statistics import median
from typing import Any

import pytest
from hypothesis import given

from dlopt import solve
from dlopt.heuristics.dag.hbmct import independent_groups
from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Network, Task, violations
from tests import oracles_dag, strategies_dag
from tests.examples import share

Placed = dict[int, tuple[int, Fraction, Fraction]]


class Plain:
    """One graph on a uniform network, and its partial schedule, by the words of the papers."""

    def __init__(self, instance: Instance) -> None:
        self.instance, self.graph = instance, instance.graphs[0]
        self.tasks, self.machines = range(len(self.graph.tasks)), range(len(instance.machines))
        self.placed: Placed = {}

    def cost(self, task: int, machine: int) -> Any:
        return oracles_dag.cost(self.instance, 0, task, machine)

    def ready(self) -> list[int]:
        return [
            task
            for task in self.tasks
            if task not in self.placed
            and all(e.source in self.placed for e in self.graph.edges if e.target == task)
        ]

    def arrival(self, task: int, machine: int) -> Any:
        placed = {(0, name): place for name, place in self.placed.items()}
        return oracles_dag.earliest(self.instance, 0, task, machine, placed)

    def idle(self, machine: int) -> Any:
        ends = [end for at, start, end in self.placed.values() if at == machine and end > start]
        return max(ends, default=Fraction(0))

    def start(self, task: int, machine: int) -> Any:
        arrival = self.arrival(task, machine)
        return max(arrival, self.idle(machine)) if self.cost(task, machine) else arrival

    def end(self, task: int, machine: int) -> Any:
        return self.start(task, machine) + self.cost(task, machine)

    def place(self, task: int, machine: int) -> None:
        start = self.start(task, machine)
        self.placed[task] = machine, start, start + self.cost(task, machine)

    def best(self, task: int) -> int:
        return min(self.machines, key=lambda m: (self.end(task, m), self.cost(task, m), m))

    def successors(self, task: int) -> list[Edge]:
        return [edge for edge in self.graph.edges if edge.source == task]

    def transfer(self, edge: Edge) -> Any:
        return oracles_dag.transfer(self.instance, edge.data, 0, 1) if len(self.machines) > 1 else 0


def by_min_min(plain: Plain) -> tuple[int, int]:
    task = min(plain.ready(), key=lambda task: (plain.end(task, plain.best(task)), task))
    return task, plain.best(task)


def by_max_min(plain: Plain) -> tuple[int, int]:
    task = max(plain.ready(), key=lambda task: (plain.end(task, plain.best(task)), -task))
    return task, plain.best(task)


def by_sufferage(plain: Plain) -> tuple[int, int]:
    def loss(task: int) -> Any:
        ends = sorted(plain.end(task, machine) for machine in plain.machines)
        return ends[1] - ends[0] if len(ends) > 1 else 0

    task = max(plain.ready(), key=lambda task: (loss(task), -task))
    return task, plain.best(task)


def median_cost(plain: Plain, task: int) -> Any:
    return median(plain.cost(task, machine) for machine in plain.machines)


def static_level(plain: Plain, task: int) -> Any:
    rest = [static_level(plain, edge.target) for edge in plain.successors(task)]
    return median_cost(plain, task) + max(rest, default=0)


def dynamic_level(plain: Plain, task: int, machine: int) -> Any:
    level = static_level(plain, task) - plain.start(task, machine)
    return level + median_cost(plain, task) - plain.cost(task, machine)


def by_dls(plain: Plain) -> tuple[int, int]:
    pairs = [(task, machine) for task in plain.ready() for machine in plain.machines]
    return max(
        pairs,
        key=lambda pair: (dynamic_level(plain, *pair), -pair[0], -plain.cost(*pair), -pair[1]),
    )


def second_level(plain: Plain, task: int, machine: int) -> Any:
    edges = plain.successors(task)
    if not edges:
        return dynamic_level(plain, task, machine)
    largest = max(edges, key=lambda edge: (edge.data, -edge.target))
    child = largest.target
    elsewhere = [
        plain.cost(child, other) + plain.transfer(largest)
        for other in plain.machines
        if other != machine
    ]
    soonest = min([plain.cost(child, machine), *elsewhere])
    return dynamic_level(plain, task, machine) + median_cost(plain, child) - soonest


def by_gdl(plain: Plain) -> tuple[int, int]:
    def general(task: int) -> tuple[Any, int]:
        levels = {machine: second_level(plain, task, machine) for machine in plain.machines}
        preferred = max(levels, key=lambda m: (levels[m], -plain.cost(task, m), -m))
        others = [level for machine, level in levels.items() if machine != preferred]
        loss = levels[preferred] - max(others) if others else 0
        return levels[preferred] + loss, preferred

    task = max(plain.ready(), key=lambda task: (general(task)[0], -task))
    return task, general(task)[1]


def imaginary_level(plain: Plain, task: int, machine: int) -> Any:
    rest = []
    for edge in plain.successors(task):
        levels = {m: imaginary_level(plain, edge.target, m) for m in plain.machines}
        moved = [level + plain.transfer(edge) for m, level in levels.items() if m != machine]
        rest.append(min([levels[machine], *moved]))
    return plain.cost(task, machine) + max(rest, default=0)


def by_bil(plain: Plain) -> tuple[int, int]:
    ready, count = plain.ready(), len(plain.machines)
    waiting = len(ready)

    def makespan(task: int, machine: int) -> Any:
        return plain.start(task, machine) + imaginary_level(plain, task, machine)

    def priority(task: int) -> list[Any]:
        rising = sorted(makespan(task, machine) for machine in plain.machines)
        return [rising[min(place, count) - 1] for place in range(min(waiting, count), 0, -1)]

    def revised(task: int, machine: int) -> Any:
        more = max(Fraction(waiting, count) - 1, Fraction(0))
        return makespan(task, machine) + plain.cost(task, machine) * more

    task = max(ready, key=lambda task: (priority(task), -task))

    def key(machine: int) -> Any:
        others = sum(revised(other, machine) for other in ready if other != task)
        return revised(task, machine), -others, machine

    return task, min(plain.machines, key=key)


RULES = {
    "min-min": by_min_min,
    "max-min": by_max_min,
    "sufferage": by_sufferage,
    "dls": by_dls,
    "gdl": by_gdl,
    "bil": by_bil,
}


@pytest.mark.property
@pytest.mark.parametrize("name", RULES)
@share(1 / 10)
@given(strategies_dag.dag(tasks=6, several=1, plain=True))
def test_each_rule_does_what_its_formulas_say(name: str, instance: Instance) -> None:
    plain = Plain(instance)
    while len(plain.placed) < len(plain.tasks):
        plain.place(*RULES[name](plain))
    solution = solve(instance, name).solution
    assert solution is not None
    found = {place.task: (place.machine, place.start) for place in solution.placements}
    assert found == {task: place[:2] for task, place in plain.placed.items()}


@pytest.mark.property
@share(1 / 10)
@given(strategies_dag.dag(tasks=6, several=1, plain=True))
def test_flb_places_the_first_start_of_all_ready_tasks_on_equal_machines(
    instance: Instance,
) -> None:
    """Its theorem: of identical machines and all ready tasks, no start is earlier than the chosen.

    For tasks that take time, and transfers that do not depend on machines.
    """
    graph = instance.graphs[0]
    tasks = tuple(Task(task.id, work=1 + index) for index, task in enumerate(graph.tasks))
    machines = tuple(Machine(machine.id) for machine in instance.machines)
    instance = Instance(machines, (Graph("g", tasks, graph.edges),))
    solution = solve(instance, "flb").solution
    assert solution is not None
    plain = Plain(instance)
    left = {place.task: place for place in solution.placements}
    while left:
        earliest = min(plain.start(t, m) for t in plain.ready() for m in plain.machines)
        place = min((left[task] for task in plain.ready()), key=lambda one: (one.start, one.task))
        assert place.start == earliest
        plain.place(place.task, place.machine)
        del left[place.task]


def test_fcp_sorts_as_many_tasks_as_there_are_machines() -> None:
    """The longest task became ready last: on two machines it waits for one of the first two."""
    tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate((1, 2, 9)))
    instance = Instance((Machine("m"), Machine("n")), (Graph("g", tasks),))
    solution = solve(instance, "fcp").solution
    assert solution is not None
    assert [place.start for place in solution.placements] == [2, 0, 0]
    one = Instance((Machine("m"),), (Graph("g", tasks),))
    alone = solve(one, "fcp").solution
    assert alone is not None and [place.start for place in alone.placements] == [0, 1, 3]


def test_a_task_that_runs_on_one_machine_alone_comes_first() -> None:
    tasks = (Task("a", costs=(5, 6)), Task("b", costs=(1, None)))
    instance = Instance((Machine("m"), Machine("n")), (Graph("g", tasks),))
    for name in ("sufferage", "gdl"):
        solution = solve(instance, name).solution
        assert solution is not None and solution.placements[1].start == 0


def test_sufferage_places_first_what_would_lose_most() -> None:
    """a ends last, and loses 1 on its other machine; b loses 7."""
    tasks = Task("a", costs=(5, 6)), Task("b", costs=(2, 9))
    instance = Instance((Machine("m"), Machine("n")), (Graph("g", tasks),))
    solution = solve(instance, "sufferage").solution
    assert solution is not None
    assert [(place.machine, place.start) for place in solution.placements] == [(1, 0), (0, 0)]


def test_bil_counts_the_largest_makespan_again_where_machines_are_missing() -> None:
    """With two ready tasks the second smallest counts first: a has 3 and 3 again, b 3 and 1."""
    tasks = Task("b", costs=(1, 3)), Task("a", costs=(3, None))
    instance = Instance((Machine("m"), Machine("n")), (Graph("g", tasks),))
    solution = solve(instance, "bil").solution
    assert solution is not None
    assert [(place.machine, place.start) for place in solution.placements] == [(1, 0), (0, 0)]


def test_groups_end_before_a_successor() -> None:
    tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate((9, 8, 1, 7)))
    graph = Graph("g", tasks, (Edge(0, 2), Edge(1, 2)))
    arrays = InstanceArrays.from_instance(Instance((Machine("m"),), (graph,)))
    assert independent_groups(arrays) == [[0, 1, 3], [2]]


def test_hbmct_moves_until_nothing_ends_earlier() -> None:
    """Six tasks of 2 that are fastest on one of three machines: two each, though the others are
    slower by a half; but all on the first one, with the task whose data would take 99 elsewhere.
    """
    tasks = tuple(Task(f"t{k}", costs=(2, 3, 3)) for k in range(6))
    machines = tuple(Machine(f"m{k}") for k in range(3))
    free = Instance(machines, (Graph("g", tasks),))
    assert solve(free, "hbmct").value == 6
    root = (Task("root", costs=(1, 1, 1)), *tasks)
    edges = tuple(Edge(0, k, 99) for k in range(1, 7))
    tied = Instance(machines, (Graph("g", root, edges),), Network(bandwidth=1))
    result = solve(tied, "hbmct")
    assert result.value == 13 and violations(tied, result.solution) == ()
