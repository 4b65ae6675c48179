"""Graphs that compete: each maps its own tasks as it arrives, and sees only queues of the others.

Dynamic, competitive scheduling of multiple DAGs (Iverson and Özgüner 1998), as Chen 2001, section
2.3.3, describes it: there is no central scheduler; each graph schedules its own tasks without
knowing the others: it sees only the current load.
"""

from __future__ import annotations

import heapq
from typing import Any

from dlopt.heuristics.dag.heft_family import first_to_finish
from dlopt.heuristics.dag.levels import Means, bottom
from dlopt.heuristics.dag.list_scheduling import by_priority
from dlopt.heuristics.dag.methods import schedule
from dlopt.heuristics.dag.partial_schedule import Board
from dlopt.problems.dag.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result

_ARRIVES, _READY = range(2)


def competitive(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Result[Solution]:
    """Let every graph schedule its own tasks when it arrives, given the queues of the machines.

    A graph takes its tasks by falling b-level and maps each to the machine on which it ends first,
    if machines do nothing but what is in their queues then. A task enters the queue of its machine
    once its data is there, and machines run their queues first come, first served. So tasks of
    earlier graphs that are not in a queue yet are unseen, and a mapping is never changed.

    Parameters
    ----------
    instance : Instance
    objective : str, optional
        What the plan is valued by; it is made the same way for all.
    limits, hint, seed
        Not used.

    Returns
    -------
    Result
        ``FEASIBLE``; no bound on how far from the optimum. Graphs that arrive at one instant map
        in their order, and see what has entered queues before, not each other. Of tasks that enter
        a queue at one instant, those of the first graph come first, then those of the larger
        b-level. A graph that must stay in one LAN gets one as for `heft`.

    Notes
    -----
    What section 2.3.3 leaves open, and is chosen here: the list and its order, the machine that is
    taken, queues as the load, and that a mapping stays. Complexity: O(edges + tasks x machines),
    and O(tasks) more for each graph. Source: Iverson and Özgüner 1998, as Chen 2001, section 2.3.3,
    describes it.

    Examples
    --------
    The second graph sees the fast machine busy until 4, not what comes after; the first has to wait
    for it:

    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> first = Graph("a", (Task("t", work=8), Task("u", work=6)), (Edge(0, 1),))
    >>> second = Graph("b", (Task("v", work=8),), arrival=1)
    >>> instance = Instance((Machine("m", power=2), Machine("n", power=1)), (first, second))
    >>> result = competitive(instance)
    >>> [(place.machine, place.start) for place in result.solution.placements], result.value
    ([(0, 0), (0, 8), (0, 4)], 11)
    """
    return schedule(instance, objective, False, compete)


def compete(board: Board) -> None:
    """Place the tasks of all graphs as they enter the queues of their machines."""
    flat = board.flat
    keys = [-level for level in bottom(flat, Means.of(flat))]
    wanted = [-1] * flat.count
    missing = [len(before) for before in flat.before]
    arrivals = [(flat.arrival[first], _ARRIVES, at) for at, first in enumerate(flat.first)]
    heap: list[tuple[Any, ...]] = sorted(arrivals)

    def wait(task: int, ready: Any) -> None:
        heapq.heappush(heap, (ready, _READY, flat.graph_of[task], keys[task], task))

    while heap:
        now, what, at, *rest = heapq.heappop(heap)
        if what == _ARRIVES:
            tasks = range(flat.first[at], flat.first[at] + len(flat.instance.graphs[at].tasks))
            with board.trial():
                by_priority(board, keys, lambda task: first_to_finish(board, task), tasks)
                for task in tasks:
                    wanted[task] = board.machine[task]
            for task in tasks:
                if not flat.before[task]:
                    wait(task, board.ready(task)[wanted[task]])
            continue
        task = rest[1]
        board.place(task, wanted[task], board.slot(task, wanted[task], now))
        for target, _ in flat.after[task]:
            missing[target] -= 1
            if not missing[target]:
                wait(target, board.ready(target)[wanted[target]])
