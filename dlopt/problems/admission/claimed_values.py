"""The objective value that a method claims for its schedule.

The checkers compute the value themselves, in `objectives`; the two share no code.
"""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import Number, exact, simplest
from dlopt.problems.admission.data import Instance, Solution


def claimed_value(instance: Instance, solution: Solution, name: str) -> Number:
    """Return the value of a plan under an objective, in exact numbers.

    See `dlopt.problems.admission.objective`, which shares nothing with this.

    Examples
    --------
    >>> from dlopt.problems.admission import Chunk, Decision, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 1, 4), Task("b", 0, 7, 9)))
    >>> decisions = Decision("a", True, 0), Decision("b", False, 0)
    >>> plan = Solution(decisions, (Chunk("a", 0, 1, 0, 1, 1, 2),))
    >>> [str(claimed_value(instance, plan, name)) for name in ("accepted-load", "reject-ratio")]
    ['1', '1/2']
    """
    tasks = {task.id: task for task in instance.tasks}
    if name == "utilization":
        return _utilization(instance, solution)
    if name == "reject-ratio":
        return Fraction(sum(not decision.accepted for decision in solution.decisions), len(tasks))
    missing = {
        decision.task
        for decision in solution.decisions
        if decision.accepted and not decision.promised
    }
    missed = {
        chunk.task
        for chunk in solution.chunks
        if chunk.task in missing
        and exact(chunk.computation_end) - exact(tasks[chunk.task].arrival)
        > exact(tasks[chunk.task].deadline)
    }
    if name == "misses":
        return len(missed)
    good = [
        decision.task
        for decision in solution.decisions
        if decision.accepted and decision.task not in missed
    ]
    if name == "accepted":
        return len(good)
    field = "weight" if name == "accepted-weight" else "load"
    return simplest(sum((exact(getattr(tasks[task], field)) for task in good), Fraction(0)))


def _utilization(instance: Instance, solution: Solution) -> Fraction:
    """Return the share of the time of all nodes in which they receive or compute."""
    begin = max(exact(instance.tasks[0].arrival), exact(instance.now))
    end = max(exact(task.arrival) + exact(task.deadline) for task in instance.tasks)
    used = Fraction(0)
    for chunk in solution.chunks:
        sent, received = exact(chunk.transmission_start), exact(chunk.transmission_end)
        begun, done = exact(chunk.computation_start), exact(chunk.computation_end)
        for start, stop in ((sent, received), (begun, done)):
            used += max(min(stop, end), begin) - max(min(start, end), begin)
    return used / ((end - begin) * instance.cluster.nodes) if end > begin else Fraction(0)
