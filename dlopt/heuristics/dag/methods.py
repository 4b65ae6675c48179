"""The schedulers as registered methods."""

from __future__ import annotations

from collections.abc import Callable

from dlopt.heuristics.dag import heft_family
from dlopt.heuristics.dag.instance_arrays import Flat
from dlopt.heuristics.dag.lan_assignment import confine
from dlopt.heuristics.dag.partial_schedule import Board
from dlopt.problems.dag.claims import claimed_value
from dlopt.problems.dag.data import Instance, Solution
from dlopt.problems.dag.goals import default_objective
from dlopt.result import NO_LIMITS, Limits, PlanClass, Result, Status

PLAN_CLASS: PlanClass = "any"


def schedule(
    instance: Instance, objective: str | None, insertion: bool, fill: Callable[[Board], None]
) -> Result[Solution]:
    """Lay an instance out, fill a board, and return the plan.

    A graph that must stay in one LAN gets one first, see
    `dlopt.heuristics.dag.lan_assignment.confine`.
    """
    flat = Flat.of(instance)
    confine(flat)
    board = Board(flat, "insertion" if insertion else "append")
    fill(board)
    plan = board.solution()
    goal = objective or default_objective(instance)
    return Result(
        Status.FEASIBLE,
        plan,
        objective=goal,
        value=claimed_value(instance, plan, goal),
        plan_class=PLAN_CLASS,
    )


def heft(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    insertion: bool = True,
) -> Result[Solution]:
    """Place tasks by falling b-level (upward rank), each where it ends first.

    Parameters
    ----------
    instance : Instance
    objective : str, optional
        What the plan is valued by; it is made the same way for all.
    limits, hint, seed
        Not used.
    insertion : bool, default True
        Whether a task may go between two that are placed already.

    Returns
    -------
    Result
        ``FEASIBLE``; no bound on how far from the optimum. Of equal ranks the first task is
        taken; of machines on which it ends at one time the one that it occupies least, then the
        first.

    Notes
    -----
    Complexity: O(edges + tasks x machines) for machines that share a network, and the gaps that
    are too short; O(edges x machines) at worst. Source: Topcuoglu, Hariri and Wu 2002.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> tasks = (Task("a", work=2), Task("b", work=3), Task("c", work=3), Task("d", work=1))
    >>> edges = (Edge(0, 1, 1), Edge(0, 2, 1), Edge(1, 3, 1), Edge(2, 3, 1))
    >>> instance = Instance((Machine("m"), Machine("n")), (Graph("g", tasks, edges),))
    >>> heft(instance).value
    7
    """
    return schedule(instance, objective, insertion, heft_family.heft)


def cpop(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    insertion: bool = True,
) -> Result[Solution]:
    """Place ready tasks by falling t-level + b-level, all critical ones on one machine.

    The tasks of a longest path of each graph go to the machine that takes least for all of them;
    those that cannot run there, and all others, where they end first. Parameters as for `heft`.
    Source: Topcuoglu, Hariri and Wu 2002.
    """
    return schedule(instance, objective, insertion, heft_family.cpop)


def peft(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    insertion: bool = True,
) -> Result[Solution]:
    """Place ready tasks by the mean of their optimistic costs, each where end + cost is least.

    Parameters as for `heft`. Complexity: O(edges x machines). Source: Arabnejad and Barbosa 2014.
    """
    return schedule(instance, objective, insertion, heft_family.peft)


def heft_lookahead(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    insertion: bool = True,
) -> Result[Solution]:
    """Place tasks by falling b-level, each where the last of its successors ends first.

    Of equal machines the one on which the task itself ends first is taken. Parameters as for
    `heft`. Complexity: O(machines^2) for an edge, and a copy of all gaps for a task and machine.
    Source: Bittencourt, Sakellariou and Madeira 2010.
    """
    return schedule(instance, objective, insertion, heft_family.lookahead)
