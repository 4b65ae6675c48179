"""Validation of references and relations between the parts of an instance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dlopt.errors import Fault
from dlopt.problems.dag.topology import cycle, successors_of

if TYPE_CHECKING:
    from dlopt.problems.dag.data import Edge, Graph, Task
    from dlopt.problems.dag.network import Machine


def id_faults(field: str, items: Iterable[Any], what: str) -> Iterable[Fault]:
    """Yield names that are empty, or given twice."""
    seen: set[str] = set()
    for index, item in enumerate(items):
        if not item.id:
            yield Fault(f"{field}[{index}].id", item.id, "must not be empty")
        elif item.id in seen:
            yield Fault(f"{field}[{index}].id", item.id, f"must be given to one {what} only")
        seen.add(item.id)


def edge_faults(edges: Iterable[Edge], count: int) -> Iterable[Fault]:
    """Yield edges that lead nowhere, to their own task, or are given twice."""
    seen: set[tuple[int, int]] = set()
    for index, edge in enumerate(edges):
        source, target = edge.source, edge.target
        for name, end in (("source", source), ("target", target)):
            if end >= count:
                rule = f"must be one of the {count} tasks (0-based)"
                yield Fault(f"edges[{index}].{name}", end, rule)
        if source == target:
            yield Fault(f"edges[{index}].target", target, "must differ from the source")
        if (source, target) in seen:
            yield Fault(f"edges[{index}]", f"{source} -> {target}", "must be given once")
        seen.add((source, target))


def cycle_faults(tasks: tuple[Task, ...], edges: Iterable[Edge]) -> Iterable[Fault]:
    """Yield a cycle by the names of its tasks, if there is one."""
    found = cycle(successors_of(len(tasks), ((edge.source, edge.target) for edge in edges)))
    if found:
        names = " -> ".join(tasks[task].id for task in [*found, found[0]])
        yield Fault("edges", names, "must not run in a cycle")


def cost_faults(machines: tuple[Machine, ...], graphs: tuple[Graph, ...]) -> Iterable[Fault]:
    """Yield lists of costs of the wrong length, and machines on which nothing can run."""
    count, idle = len(machines), set(range(len(machines)))
    rule = f"must have one entry for each of the {count} machines"
    for at, graph in enumerate(graphs):
        for index, task in enumerate(graph.tasks):
            if task.costs is None:
                idle.clear()
            elif len(task.costs) != count:
                yield Fault(f"graphs[{at}].tasks[{index}].costs", len(task.costs), rule)
                idle.clear()  # it cannot be decided
            elif idle:
                idle -= {place for place in idle if task.costs[place] is not None}
    for place in sorted(idle):
        rule = "must be able to run a task at least"
        yield Fault(f"machines[{place}]", machines[place].id, rule)


def lan_faults(machines: tuple[Machine, ...], lans: int) -> Iterable[Fault]:
    """Yield machines in a LAN that does not exist, or in none where others are in one."""
    some = any(machine.lan is not None for machine in machines)
    for index, machine in enumerate(machines):
        if machine.lan is None:
            if some:
                rule = "must be given, as it is for other machines"
                yield Fault(f"machines[{index}].lan", None, rule)
        elif machine.lan >= lans:
            rule = f"must be one of the {lans} LANs of the network (0-based)"
            yield Fault(f"machines[{index}].lan", machine.lan, rule)


def home_faults(
    machines: tuple[Machine, ...], graphs: tuple[Graph, ...], lans: int
) -> Iterable[Fault]:
    """Yield graphs that come from a LAN that does not exist, or where there is none."""
    nowhere = all(machine.lan is None for machine in machines)
    for index, graph in enumerate(graphs):
        if graph.lan is not None and graph.lan >= lans:
            rule = f"must be one of the {lans} LANs of the network (0-based)"
            yield Fault(f"graphs[{index}].lan", graph.lan, rule)
        elif graph.lan is not None and nowhere:
            rule = "must not be given where no machine is in a LAN"
            yield Fault(f"graphs[{index}].lan", graph.lan, rule)


def one_lan_faults(machines: tuple[Machine, ...], graphs: tuple[Graph, ...]) -> Iterable[Fault]:
    """Yield graphs that are to stay in one LAN where there is none, or none that can run all."""
    members: dict[int | None, list[int]] = {}
    for place, machine in enumerate(machines):
        members.setdefault(machine.lan, []).append(place)
    lengths = {len(task.costs) for g in graphs for task in g.tasks if task.costs is not None}
    for index, graph in enumerate(graphs):
        if not graph.one_lan:
            continue
        if None in members:
            yield Fault(f"graphs[{index}].one_lan", True, "must be false without LANs")
        elif lengths <= {len(machines)} and not any(
            all(
                task.costs is None or any(task.costs[place] is not None for place in places)
                for task in graph.tasks
            )
            for places in members.values()
        ):
            rule = "must be false where no LAN can run all tasks of the graph"
            yield Fault(f"graphs[{index}].one_lan", True, rule)
