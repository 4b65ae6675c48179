"""Competing graphs: each maps its own tasks when it arrives, knowing only the queues of machines.

Dynamic, competitive scheduling of multiple DAGs (Iverson and Özgüner 1998), as Chen 2001, section
2.3.3, describes it: there is no central scheduler; each graph schedules its own tasks without
knowledge of the others, from the current load alone.
"""

from __future__ import annotations

import heapq
from typing import Any

from dlopt.heuristics.dag.heft_family import place_at_earliest_finish
from dlopt.heuristics.dag.levels import MeanCosts, b_levels
from dlopt.heuristics.dag.list_scheduling import schedule_by_priority
from dlopt.heuristics.dag.methods import run_scheduler
from dlopt.heuristics.dag.partial_schedule import PartialSchedule
from dlopt.problems.dag.data import Instance, Solution
from dlopt.result import Result

ARRIVAL = 0
"""The event that a graph arrives; at an instant, arrivals come before tasks that are ready."""
TASK_READY = 1
"""The event that the data of a task is on its machine."""


def competitive(instance: Instance, *, objective: str | None = None) -> Result[Solution]:
    """Let every graph schedule its own tasks when it arrives, given the queues of the machines.

    A graph takes its tasks by decreasing b-level and maps each to the machine on which it would end
    first, if machines ran nothing but what is in their queues at that time. A task enters the queue
    of its machine once its data is there, and machines serve their queues first come, first served.
    So tasks of earlier graphs that are not in a queue yet are unknown, and a mapping is never
    changed.

    Parameters
    ----------
    instance, objective
        See `dlopt.registry`.

    Returns
    -------
    Result
        ``FEASIBLE``; no performance guarantee. Graphs that arrive at one instant map in their
        order, and know what has entered queues before, not each other. Of tasks that enter a queue
        at one instant, those of the first graph come first, then those of the larger b-level. A
        graph that must stay in one LAN is assigned one as for `heft`.

    Notes
    -----
    Section 2.3.3 leaves open, and these are choices made here: the list and its order, the rule by
    which a machine is chosen, queues as the load, and that a mapping is final. Complexity:
    O(edges + tasks x machines), and O(tasks) more for each graph. Source: Iverson and Özgüner 1998,
    as Chen 2001, section 2.3.3, describes it.

    Examples
    --------
    The second graph knows that the fast machine is busy until 4, but not what follows; the first
    graph has to wait for it:

    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> first = Graph("a", (Task("t", work=8), Task("u", work=6)), (Edge(0, 1),))
    >>> second = Graph("b", (Task("v", work=8),), arrival=1)
    >>> instance = Instance((Machine("m", power=2), Machine("n", power=1)), (first, second))
    >>> result = competitive(instance)
    >>> [(place.machine, place.start) for place in result.solution.placements], result.value
    ([(0, 0), (0, 8), (0, 4)], 11)
    """
    return run_scheduler(instance, objective, False, schedule_competing_graphs)


def schedule_competing_graphs(partial: PartialSchedule) -> None:
    """Place the tasks of all graphs as they enter the queues of their machines."""
    arrays = partial.arrays
    keys = [-level for level in b_levels(arrays, MeanCosts.from_arrays(arrays))]
    mapped_machine = [-1] * arrays.task_count
    unscheduled = [len(predecessors) for predecessors in arrays.predecessors]
    arrivals = [
        (arrays.arrival[first], ARRIVAL, graph) for graph, first in enumerate(arrays.first_task)
    ]
    events: list[tuple[Any, ...]] = sorted(arrivals)

    def wait_for_data(task: int) -> None:
        ready = partial.ready_times(task)[mapped_machine[task]]
        heapq.heappush(events, (ready, TASK_READY, arrays.graph_of[task], keys[task], task))

    while events:
        now, event, graph, *rest = heapq.heappop(events)
        if event == ARRIVAL:
            first = arrays.first_task[graph]
            tasks = range(first, first + len(arrays.instance.graphs[graph].tasks))
            with partial.tentatively():
                schedule_by_priority(
                    partial, keys, lambda task: place_at_earliest_finish(partial, task), tasks
                )
                for task in tasks:
                    mapped_machine[task] = partial.machine[task]
            for task in tasks:
                if not arrays.predecessors[task]:
                    wait_for_data(task)
            continue
        task = rest[1]
        machine = mapped_machine[task]
        partial.place(task, machine, partial.earliest_slot(task, machine, now))
        for target, _ in arrays.successors[task]:
            unscheduled[target] -= 1
            if not unscheduled[target]:
                wait_for_data(target)
