"""HEFT and its relatives as registered methods.

Examples
--------
>>> from dlopt.problems.dag import Edge, Graph, Machine, Task
>>> tasks = (Task("a", work=2), Task("b", work=3), Task("c", work=3), Task("d", work=1))
>>> edges = (Edge(0, 1, 1), Edge(0, 2, 1), Edge(1, 3, 1), Edge(2, 3, 1))
>>> instance = Instance((Machine("m"), Machine("n")), (Graph("g", tasks, edges),))
>>> heft(instance).value
7
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from dlopt.heuristics.dag import heft_family
from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.heuristics.dag.lan_assignment import assign_lans
from dlopt.heuristics.dag.partial_schedule import PartialSchedule
from dlopt.problems.dag.claimed_values import claimed_value
from dlopt.problems.dag.data import Instance, Solution
from dlopt.problems.dag.goals import default_objective
from dlopt.result import PlanClass, Result, Status

PLAN_CLASS: PlanClass = "any"

Scheduler: TypeAlias = Callable[[PartialSchedule], None]
"""Fills a partial schedule."""


def run_scheduler(
    instance: Instance, objective: str | None, insertion: bool, scheduler: Scheduler
) -> Result[Solution]:
    """Schedule an instance by a function that fills a partial schedule.

    A graph that must stay in one LAN is assigned one first, see
    `dlopt.heuristics.dag.lan_assignment.assign_lans`.
    """
    arrays = InstanceArrays.from_instance(instance)
    assign_lans(arrays)
    partial = PartialSchedule(arrays, "insertion" if insertion else "append")
    scheduler(partial)
    solution = partial.to_solution()
    goal = objective or default_objective(instance)
    return Result(
        Status.FEASIBLE,
        solution,
        objective=goal,
        value=claimed_value(instance, solution, goal),
        plan_class=PLAN_CLASS,
    )


@dataclass(frozen=True, slots=True)
class InsertionMethod:
    """A list scheduler that inserts tasks into idle intervals, as a registered method.

    Parameters
    ----------
    scheduler : callable
        Fills a partial schedule.
    """

    scheduler: Scheduler

    def __call__(
        self, instance: Instance, *, objective: str | None = None, insertion: bool = True
    ) -> Result[Solution]:
        """Return the schedule.

        Parameters
        ----------
        instance, objective
            See `dlopt.registry`.
        insertion : bool, default True
            Whether a task may be inserted between two that are placed already.

        Returns
        -------
        Result
            ``FEASIBLE``; no performance guarantee. Of equal ranks the first task is taken; of
            machines on which it ends at one time the one with its least cost, then the first.
        """
        return run_scheduler(instance, objective, insertion, self.scheduler)


heft = InsertionMethod(heft_family.heft)
"""Place tasks by decreasing b-level (upward rank), each where it ends first.

Complexity: O(edges + tasks x machines) for machines that share a network, and the gaps that are too
short; O(edges x machines) at worst. Source: Topcuoglu, Hariri and Wu 2002.
"""

cpop = InsertionMethod(heft_family.cpop)
"""Place ready tasks by decreasing t-level + b-level, a critical path on one machine.

The tasks of a longest path of each graph run on the machine that takes least for all of them; those
that cannot run there, and all others, where they end first. Source: Topcuoglu, Hariri and Wu 2002.
"""

peft = InsertionMethod(heft_family.peft)
"""Place ready tasks by their mean optimistic cost, each where end + optimistic cost is least.

Complexity: O(edges x machines). Source: Arabnejad and Barbosa 2014.
"""

heft_lookahead = InsertionMethod(heft_family.lookahead)
"""Place tasks by decreasing b-level, each where the last of its successors ends first.

Of equal machines the one on which the task itself ends first is chosen. Complexity: O(machines^2)
for an edge, and a copy of all timelines for a task and machine. Source: Bittencourt, Sakellariou
and Madeira 2010.
"""
