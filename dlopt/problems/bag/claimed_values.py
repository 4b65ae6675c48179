"""The objective value that a method claims for its schedule.

The checkers compute the value themselves, in `objectives`; the two share no code.
"""

from __future__ import annotations

from dlopt.arithmetic import exact, simplest
from dlopt.problems.bag.data import PRIORITIES, Instance, Solution
from dlopt.result import Value


def claimed_value(instance: Instance, solution: Solution, name: str) -> Value:
    """Return the value of a plan under an objective, in exact numbers.

    See `dlopt.problems.bag.objective`, which shares nothing with this.

    Examples
    --------
    >>> from dlopt.problems.bag import Placement
    >>> plan = Solution((Placement("t0", 0, 0, 4), Placement("t1", 1, 0, 3)))
    >>> instance = Instance(etc=((4, 2), (5, 3)))
    >>> claimed_value(instance, plan, "makespan"), claimed_value(instance, plan, "flowtime")
    (4, 7)
    >>> claimed_value(instance, plan, "by-priority")
    (0, 2, 0)
    """
    tasks = {task.id: task for task in instance.all_tasks}
    ends = [exact(placement.end) for placement in solution.placements]
    if name == "makespan":
        return simplest(max(ends, default=exact(0)))
    if name == "flowtime":
        releases = [exact(tasks[placement.task].release) for placement in solution.placements]
        return simplest(sum(ends, exact(0)) - sum(releases, exact(0)))
    met = [
        tasks[placement.task].priority for placement in solution.placements if not placement.late
    ]
    counts = tuple(map(met.count, PRIORITIES))
    if name == "accepted":
        return sum(counts)
    return (counts[0], sum(counts)) if name == "critical-then-all" else counts
