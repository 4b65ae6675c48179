"""Task graphs with features that most lack: links, delays, tasks that cannot run everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import Number
from dlopt.problems.dag import Graph, Instance, Lan, Link, Machine, Network, Task
from dlopt.verify.choice_sequence import Choices
from dlopt.verify.instance_builders.size_limits import partly_none

_COSTS: tuple[Number, ...] = (1, 2, 3, 5, Fraction(1, 2))


def varied(choices: Choices, instance: Instance) -> Instance:
    """Return an instance with some features that may be absent from the given one.

    The simplest choices leave it as it is.

    Parameters
    ----------
    choices : Choices
    instance : Instance
    """
    machines = instance.machines
    graphs = _with_ineligible_machines(choices, instance.graphs, len(machines))
    if choices.chance(3):
        machines = tuple(replace(one, delay=choices.number([0, 1, 2])) for one in machines)
    network = _with_links(choices, instance.network, len(machines))
    if network.lans and machines[0].lan is not None:
        if choices.chance(4):
            network = replace(network, lans=(*network.lans, Lan(f"l{len(network.lans)}")))
        graphs = [_in_lans(choices, graph, machines, len(network.lans)) for graph in graphs]
    return Instance(machines, tuple(graphs), network)


def renumbered(choices: Choices, graph: Graph) -> Graph:
    """Return a graph whose tasks and edges are in another order: any, also no topological one.

    Parameters
    ----------
    choices : Choices
    graph : Graph
    """
    order = choices.shuffled(len(graph.tasks))
    place = {task: index for index, task in enumerate(order)}
    edges = [
        replace(edge, source=place[edge.source], target=place[edge.target]) for edge in graph.edges
    ]
    if len(edges) > 1 and choices.chance(2):
        edges.reverse()
    return replace(graph, tasks=tuple(graph.tasks[task] for task in order), edges=tuple(edges))


def _with_ineligible_machines(
    choices: Choices, graphs: Sequence[Graph], machines: int
) -> list[Graph]:
    """Return graphs of which some tasks cannot run on some machines.

    Every machine can run one of the tasks: the first task runs where no other does.
    """
    changed = [
        replace(graph, tasks=tuple(_restricted(choices, task, machines) for task in graph.tasks))
        for graph in graphs
    ]
    every = [task.costs for graph in changed for task in graph.tasks]
    used = {
        place
        for place in range(machines)
        if any(costs is None or costs[place] is not None for costs in every)
    }
    first = changed[0].tasks[0]
    if first.costs is not None:
        costs = tuple(
            cost if place in used else Fraction(1, 2) for place, cost in enumerate(first.costs)
        )
        tasks = (replace(first, costs=costs), *changed[0].tasks[1:])
        changed[0] = replace(changed[0], tasks=tasks)
    return changed


def _restricted(choices: Choices, task: Task, machines: int) -> Task:
    """Return a task that cannot run on some machines, mostly as it is."""
    allowed = partly_none(choices, (1,) * machines)
    if None not in allowed:
        return task
    costs = task.costs or tuple(choices.number(_COSTS) for _ in allowed)
    some = (cost if one else None for cost, one in zip(costs, allowed, strict=True))
    return Task(task.id, costs=tuple(some))


def _with_links(choices: Choices, network: Network, machines: int) -> Network:
    """Return a network with links of two machines, and of two LANs, that differ from the rest."""
    if network.convention == "direct" and machines > 1 and choices.chance(3):
        network = replace(network, links=_links(choices, machines))
    if len(network.lans) > 1 and choices.chance(2):
        network = replace(network, wan_links=_links(choices, len(network.lans)))
    return network


def _links(choices: Choices, ends: int) -> tuple[Link, ...]:
    """Return one link, for both directions, or one for each direction."""
    here = choices.integer(0, ends - 2)
    there = choices.integer(here + 1, ends - 1)
    if choices.chance(2):
        here, there = there, here
    ways = [(here, there), (there, here)] if choices.chance(2) else [(here, there)]
    return tuple(
        Link(*way, choices.number([1, 2, Fraction(1, 2)]), choices.number([0, 1, 3]))
        for way in ways
    )


def _in_lans(choices: Choices, graph: Graph, machines: Sequence[Machine], lans: int) -> Graph:
    """Return a graph with another LAN to come from, or that must stay in one LAN."""
    if choices.chance(3):
        data = choices.number([0, 1, 3]), choices.number([2, 0, 1])
        lan = choices.integer(0, lans - 1)
        graph = replace(graph, lan=lan, input=data[0], output=data[1])
    if _fits_in_a_lan(graph, machines) and choices.chance(2):
        graph = replace(graph, one_lan=True)
    return graph


def _fits_in_a_lan(graph: Graph, machines: Sequence[Machine]) -> bool:
    """Return whether the machines of one LAN can run all tasks of a graph."""
    return any(
        all(
            task.costs is None
            or any(
                cost is not None
                for cost, machine in zip(task.costs, machines, strict=True)
                if machine.lan == lan
            )
            for task in graph.tasks
        )
        for lan in {machine.lan for machine in machines}
    )
