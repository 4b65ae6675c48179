"""The objective value that a method claims for its schedule.

The checkers compute the value themselves, in `objectives`; the two share no code.
"""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import exact, simplest
from dlopt.problems.dag.data import Instance, Solution
from dlopt.problems.dag.task_and_transfer_times import Paths, cost_of
from dlopt.result import Value


def claimed_value(instance: Instance, solution: Solution, name: str) -> Value:
    """Return the value of a complete plan under an objective, in exact numbers.

    See `dlopt.problems.dag.objective`, which shares nothing with this.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Machine, Placement, Task
    >>> graph = Graph("g", (Task("a", work=3),), arrival=1, absolute_deadline=4)
    >>> instance = Instance((Machine("m", power=2),), (graph,))
    >>> claimed_value(instance, Solution((Placement(0, 0, 0, 3),)), "tardy-then-response-time")
    (1, Fraction(7, 2))
    """
    graphs, machines = instance.graphs, instance.machines
    paths = Paths(instance.network, machines)
    exits = [set(graph.exits) for graph in graphs]
    complete = [exact(graph.arrival) for graph in graphs]
    for placement in solution.placements:
        graph = graphs[placement.graph]
        end = exact(placement.start) + cost_of(
            graph.tasks[placement.task], placement.machine, machines[placement.machine]
        )
        if placement.task in exits[placement.graph]:
            latency, unit = paths.outbound(placement.machine, graph.lan)
            end += latency + exact(graph.output) * unit
        complete[placement.graph] = max(complete[placement.graph], end)
    if name == "makespan":
        return simplest(max(complete))
    late, response = 0, Fraction(0)
    for graph, end in zip(graphs, complete, strict=True):
        due = graph.absolute_deadline
        late += due is not None and end > exact(due)
        response += end - exact(graph.arrival)
    levels = {"tardy-graphs": late, "total-response-time": simplest(response)}
    return levels[name] if name in levels else (late, simplest(response))
