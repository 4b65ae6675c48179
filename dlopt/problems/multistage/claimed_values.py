"""The objective value that a method claims for its schedule.

The checkers compute the value themselves, in `objectives`; the two share no code.
"""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import Number, exact, simplest
from dlopt.problems.multistage.data import Instance, Solution


def claimed_value(instance: Instance, solution: Solution, name: str) -> Number:
    """Return the value of a plan under an objective, in exact numbers.

    See `dlopt.problems.multistage.objective`, which shares nothing with this.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Grant, Reservation
    >>> wanted = (Reservation("r", 0, 1, 3), Reservation("s", 0, 1, 3))
    >>> instance = Instance(Cluster(1, 1, 1), reservations=wanted, reservation_weight=5)
    >>> plan = Solution((), (Grant("r", True, 0, (0,)), Grant("s", False, 0)), ())
    >>> [str(claimed_value(instance, plan, name)) for name in ("accepted", "reject-ratio")]
    ['5', '1/2']
    """
    known = {task.id: task for task in instance.tasks}
    tasks = [decision.task for decision in solution.decisions if decision.accepted]
    grants = [grant for grant in solution.grants if grant.accepted]
    if name == "utilization":
        return _utilization(instance, solution)
    if name == "reject-ratio":
        asked = len(instance.tasks) + len(instance.reservations)
        return Fraction(asked - len(tasks) - len(grants), asked)
    if name == "accepted-load":
        return simplest(sum((exact(known[task].load) for task in tasks), Fraction(0)))
    if name == "accepted-weight":
        return simplest(sum((exact(known[task].weight) for task in tasks), Fraction(0)))
    if name == "accepted":
        total = exact(instance.task_weight) * len(tasks)
        return simplest(total + exact(instance.reservation_weight) * len(grants))
    return len(tasks) if name == "accepted-tasks" else len(grants)


def _utilization(instance: Instance, solution: Solution) -> Fraction:
    """Return the share of the time of all nodes in which they are reserved, receive or compute."""
    dues = [exact(task.arrival) + exact(task.deadline) for task in instance.tasks]
    windows = {
        reservation.id: (exact(reservation.start), exact(reservation.end))
        for reservation in instance.reservations
    }
    end = max((*dues, *(stop for _, stop in windows.values())))
    asked = [exact(task.arrival) for task in instance.tasks]
    asked += [exact(reservation.arrival) for reservation in instance.reservations]
    begin = max(min(asked), exact(instance.now))
    spans = [(windows[g.reservation], len(g.nodes)) for g in solution.grants if g.accepted]
    for chunk in solution.chunks:
        sent = exact(chunk.transmission_start), exact(chunk.transmission_end)
        ran = exact(chunk.computation_start), exact(chunk.computation_end)
        spans += [(sent, 1), (ran, 1)]
    used = sum(
        (max(min(b, end), begin) - max(min(a, end), begin)) * nodes for (a, b), nodes in spans
    )
    return used / ((end - begin) * instance.cluster.nodes) if end > begin else Fraction(0)
