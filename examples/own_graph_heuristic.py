"""A heuristic of your own for task graphs.

Graph by graph, each task goes to the machine on which it ends first, in topological order. It
follows all rules of task graphs:

- the numbers of tasks need not be a topological order: `graph.order` is one;
- a task runs only where it has a cost, after the arrival of its graph and the data of its
  predecessors (`paths.transfer`);
- tasks without predecessors wait for the input of the graph from its LAN (`paths.inbound`);
- a graph is complete when its output has arrived there (`paths.outbound`), which counts in the
  objective: `dag.objective` returns its value;
- all tasks of a graph with `one_lan` run in one LAN: here that in which it is complete first.
"""

import dlopt
from dlopt import Result, Status
from dlopt.problems import dag


def place(instance, g, machines, free):
    """Place a graph on some machines; return completion, placements, and when all are free then."""
    graph, paths, free = instance.graphs[g], instance.paths, list(free)
    where, end, placements, complete = {}, {}, [], graph.arrival
    for task in graph.order:
        best = None
        for machine in machines:
            cost = instance.cost(g, task, machine)
            if cost is None:  # it cannot run there
                continue
            ready = [free[machine], graph.arrival]
            if task in graph.entries:
                latency, unit = paths.inbound(graph.lan, machine)
                ready.append(graph.arrival + latency + unit * graph.input)
            for edge in graph.edges:
                if edge.target == task:
                    sent = paths.transfer(edge.data, where[edge.source], machine)
                    ready.append(end[edge.source] + sent)
            if best is None or max(ready) + cost < best[0]:
                best = max(ready) + cost, max(ready), machine
        if best is None:
            return None
        end[task], start, where[task] = best
        free[where[task]] = end[task]
        placements.append(dag.Placement(g, task, where[task], start))
        latency, unit = paths.outbound(where[task], graph.lan)
        sent = latency + unit * graph.output if task in graph.exits else 0
        complete = max(complete, end[task] + sent)
    return complete, placements, free


def earliest_end(instance, *, objective, limits, hint, seed):
    """Place the graphs one after another, those with `one_lan` in their best LAN."""
    everywhere = range(len(instance.machines))
    by_lan = {}
    for machine in everywhere:
        by_lan.setdefault(instance.machines[machine].lan, []).append(machine)
    free, placements = [0] * len(instance.machines), []
    for g, graph in enumerate(instance.graphs):
        choices = by_lan.values() if graph.one_lan else [everywhere]
        tried = [place(instance, g, machines, free) for machines in choices]
        _, own, free = min(filter(None, tried), key=lambda one: one[0])  # one LAN can run all
        placements += own
    plan = dag.Solution(placements)
    return Result(Status.FEASIBLE, plan, value=dag.objective(instance, plan, objective))


dlopt.register("dag", "earliest-end", earliest_end, objectives=tuple(dag.OBJECTIVES))
for name in ("dag/topcuoglu-10", "dag/not-everywhere", "dag/lans"):
    print(dlopt.compare(dlopt.load(name), ["earliest-end", "heft", "exact"]))
    print()
print("counterexample:", dlopt.falsify("dag", "earliest-end", examples=50, seed=0).finding)
