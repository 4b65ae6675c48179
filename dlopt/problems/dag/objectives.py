"""Objective values of schedules, as the checkers compute them."""

from __future__ import annotations

from fractions import Fraction

from dlopt import aliases
from dlopt.arithmetic import exact, shown, simplest
from dlopt.errors import NotApplicableError
from dlopt.problems.dag.checker_times import CheckerTimes, last_tasks
from dlopt.problems.dag.data import Instance, Solution
from dlopt.problems.dag.goals import OBJECTIVES
from dlopt.result import Value


def completions(instance: Instance, solution: Solution) -> tuple[Fraction, ...]:
    """Return when each graph is complete: its tasks have ended and its output has arrived.

    A graph of which no task runs is complete at its arrival; what the plan says of tasks or
    machines that do not exist does not count.
    """
    times, machines, graphs = CheckerTimes(instance), instance.machines, instance.graphs
    done = [exact(graph.arrival) for graph in graphs]
    exits = [frozenset(last_tasks(graph)) for graph in graphs]
    for placed in solution.placements:
        at, place = placed.graph, placed.machine
        if at >= len(graphs) or placed.task >= len(graphs[at].tasks) or place >= len(machines):
            continue
        graph = graphs[at]
        end = exact(placed.start) + (times.duration(at, placed.task, place) or 0)
        if placed.task in exits[at]:
            end += times.output_time(graph, place)
        done[at] = max(done[at], end)
    return tuple(done)


def value_explanation(instance: Instance, solution: Solution, name: str) -> str | None:
    """Return which graph is complete last, and what is awaited then; None if that is no value.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Lan, Machine, Network, Placement, Task
    >>> graphs = Graph("g", (Task("a", work=3),), lan=0, output=2), Graph("h", (Task("b", work=1),))
    >>> instance = Instance((Machine("m", lan=0),), graphs, Network(lans=(Lan(),)))
    >>> first = Placement(0, 0, 0, 0)
    >>> value_explanation(instance, Solution((first, Placement(1, 0, 0, 3))), "makespan")
    'graph g is complete at 5, when its output has arrived'
    >>> value_explanation(instance, Solution((first, Placement(1, 0, 0, 9))), "makespan")
    'graph h is complete at 10'
    """
    if name != "makespan":
        return None
    done = completions(instance, solution)
    last = max(range(len(done)), key=lambda index: done[index])
    graph = instance.graphs[last]
    text = f"graph {graph.id} is complete at {shown(simplest(done[last]))}"
    return f"{text}, when its output has arrived" if graph.output else text


def objective(instance: Instance, solution: Solution, name: str = "makespan") -> Value:
    """Return the objective value of a schedule, exactly.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    name : str
        ``makespan``: when the last graph is complete, counted from 0. ``tardy-graphs``: how many
        are complete after their deadlines. ``total-response-time``: how long graphs take from
        arrival to completion, in total. ``tardy-then-response-time``: the two, the first before
        all.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Machine, Placement, Task
    >>> graph = Graph("g", (Task("a", work=3),), arrival=1, absolute_deadline=4)
    >>> instance = Instance((Machine("m", power=2),), (graph,))
    >>> plan = Solution((Placement(0, 0, 0, 3),))
    >>> objective(instance, plan), objective(instance, plan, "tardy-then-response-time")
    (Fraction(9, 2), (1, Fraction(7, 2)))
    """
    name = aliases.current_objective("dag", name)
    if name not in OBJECTIVES:
        raise NotApplicableError(f"dag has no objective {name!r}: {', '.join(OBJECTIVES)}")
    done = completions(instance, solution)
    pairs = list(zip(instance.graphs, done, strict=True))
    if name == "makespan":
        return simplest(max(done))
    late = sum(
        graph.absolute_deadline is not None and end > exact(graph.absolute_deadline)
        for graph, end in pairs
    )
    if name == "tardy-graphs":
        return late
    response = simplest(sum((end - exact(graph.arrival) for graph, end in pairs), Fraction(0)))
    return response if name == "total-response-time" else (late, response)
