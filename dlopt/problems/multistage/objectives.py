"""Objective values of schedules, as the checkers compute them."""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import Number, exact, simplest
from dlopt.errors import NotApplicableError
from dlopt.problems.multistage.data import Instance, Solution
from dlopt.problems.multistage.goals import OBJECTIVES


def objective(instance: Instance, solution: Solution, name: str = "accepted") -> Number:
    """Return the objective value of a schedule, exactly.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    name : str
        ``accepted``: accepted tasks times `task_weight`, and accepted reservations times
        `reservation_weight`. ``accepted-tasks``, ``accepted-reservations``: how many.
        ``accepted-load``, ``accepted-weight``: the load, and the weight, of accepted tasks.
        ``reject-ratio``: what is rejected, of tasks and reservations, by all of them.
        ``utilization``: the share of the time of all nodes, from the first arrival (or `now`) to
        the last deadline or end of a reservation, in which they are reserved, receive or compute.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Grant, Reservation
    >>> instance = Instance(
    ...     Cluster(1, 1, 1), reservations=(Reservation("r", 0, 1, 3),), reservation_weight=5
    ... )
    >>> plan = Solution((), (Grant("r", True, 0, (0,)),), ())
    >>> objective(instance, plan), objective(instance, plan, "utilization")
    (5, Fraction(2, 3))
    """
    task_accepted = {decision.task: decision.accepted for decision in solution.decisions}
    reservation_accepted = {grant.reservation: grant.accepted for grant in solution.grants}
    tasks = [task for task in instance.tasks if task_accepted.get(task.id)]
    reservations = [
        reservation
        for reservation in instance.reservations
        if reservation_accepted.get(reservation.id)
    ]
    if name == "accepted":
        weights = exact(instance.task_weight), exact(instance.reservation_weight)
        return simplest(len(tasks) * weights[0] + len(reservations) * weights[1])
    if name == "accepted-tasks":
        return len(tasks)
    if name == "accepted-reservations":
        return len(reservations)
    if name == "accepted-load":
        return simplest(sum((exact(task.load) for task in tasks), Fraction(0)))
    if name == "accepted-weight":
        return simplest(sum((exact(task.weight) for task in tasks), Fraction(0)))
    if name == "reject-ratio":
        all_of_them = len(instance.tasks) + len(instance.reservations)
        return 1 - Fraction(len(tasks) + len(reservations), all_of_them)
    if name == "utilization":
        return _utilization(instance, solution)
    raise NotApplicableError(f"multistage has no objective {name!r}: {', '.join(OBJECTIVES)}")


def _utilization(instance: Instance, solution: Solution) -> Fraction:
    tasks, wanted = instance.tasks, instance.reservations
    spans = [(exact(task.arrival), exact(task.arrival) + exact(task.deadline)) for task in tasks]
    spans += [(exact(reservation.arrival), exact(reservation.end)) for reservation in wanted]
    first = max(min(start for start, _ in spans), exact(instance.now))
    last = max(end for _, end in spans)
    if last <= first:
        return Fraction(0)
    windows = {reservation.id: (reservation.start, reservation.end) for reservation in wanted}
    busy = Fraction(0)

    def within(start: Number, end: Number) -> Fraction:
        return max(min(exact(end), last) - max(exact(start), first), Fraction(0))

    for grant in solution.grants:
        if grant.accepted and grant.reservation in windows:
            busy += within(*windows[grant.reservation]) * len(grant.nodes)
    for chunk in solution.chunks:
        busy += within(chunk.transmission_start, chunk.transmission_end)
        busy += within(chunk.computation_start, chunk.computation_end)
    return busy / (instance.cluster.nodes * (last - first))
