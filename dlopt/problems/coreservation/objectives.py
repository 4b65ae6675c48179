"""Objective values of schedules, as the checkers compute them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from dlopt.arithmetic import Number, exact, simplest
from dlopt.errors import NotApplicableError
from dlopt.problems.coreservation.data import Instance, Part, Solution
from dlopt.problems.coreservation.goals import OBJECTIVES
from dlopt.result import Value


def objective(instance: Instance, solution: Solution, name: str = "benefit") -> Value:
    """Return the objective value of a schedule, exactly.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    name : str
        ``benefit``: the mean of the benefits of a request's parts, weighted with its priority by
        the sum of all priorities, and summed over accepted requests: 0 to 1. ``rejections``: how
        many requests are rejected. ``rejected-priority``: the sum of their priorities. The others
        are lexicographic, the first level first, and have a tuple of values; ``machines`` counts
        those on which something is reserved by the plan.

    Raises
    ------
    NotApplicableError
        If there is no such objective.

    Notes
    -----
    Source: Min 2001, section 5.1.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Decision, Machine, Part, Request, Share, linear
    >>> soft = Request("r", 0, 1, 2, priority=3, parts=(Part(8, 2, linear()),))
    >>> hard = Request("s", 0, 1, 2, priority=1, parts=(Part(4),))
    >>> instance = Instance((Machine("m", 8),), (soft, hard))
    >>> plan = Solution(
    ...     (Decision("r", True, 0), Decision("s", True, 0)),
    ...     (Share("r", 0, 0, 4), Share("s", 0, 0, 4)),
    ... )
    >>> objective(instance, plan)
    Fraction(5, 8)
    >>> objective(instance, plan, "rejections-then-benefit")
    (0, Fraction(5, 8))
    """
    if name not in OBJECTIVES:
        known = ", ".join(OBJECTIVES)
        raise NotApplicableError(f"coreservation has no objective {name!r}: {known}")
    levels = OBJECTIVES[name].levels
    if levels:
        return tuple(_LEVELS[level](instance, solution) for level in levels)
    return _LEVELS[name](instance, solution)


def _benefit(instance: Instance, solution: Solution) -> Number:
    cpu_of = {(share.request, share.part): share.cpu for share in solution.shares}
    accepted = _accepted(solution)
    total, weight = Fraction(0), Fraction(0)
    for request in instance.requests:
        priority = exact(request.priority)
        weight += priority
        if request.id in accepted:
            parts = sum(
                (
                    benefit_of(part, exact(cpu_of.get((request.id, index), 0)))
                    for index, part in enumerate(request.parts)
                ),
                Fraction(0),
            )
            total += priority * parts / len(request.parts)
    return simplest(total / weight)


def benefit_of(part: Part, cpu: Fraction) -> Fraction:
    """Return the benefit of some CPU for a part: between two points, or above a jump.

    Examples
    --------
    >>> half = Part(8, 2, ((0, 0), (1, Fraction(1, 2)), (1, 1)))
    >>> benefit_of(half, Fraction(4)), benefit_of(half, Fraction(8))
    (Fraction(1, 4), Fraction(1, 1))
    """
    share = cpu / exact(part.cpu)
    points = [(exact(at), exact(benefit)) for at, benefit in part.benefit]
    reached = [point for point in points if point[0] <= share]
    beyond = [point for point in points if point[0] > share]
    if not reached:
        return Fraction(0)
    at, benefit = reached[-1]
    if not beyond:
        return benefit
    rise, run = beyond[0][1] - benefit, beyond[0][0] - at
    return benefit + rise / run * (share - at)


def _rejections(instance: Instance, solution: Solution) -> Number:
    accepted = _accepted(solution)
    return sum(request.id not in accepted for request in instance.requests)


def _rejected_priority(instance: Instance, solution: Solution) -> Number:
    accepted = _accepted(solution)
    rejected = (request for request in instance.requests if request.id not in accepted)
    return simplest(sum((exact(request.priority) for request in rejected), Fraction(0)))


def _machines(instance: Instance, solution: Solution) -> Number:
    return len({share.machine for share in solution.shares if share.cpu > 0})


def _accepted(solution: Solution) -> frozenset[str]:
    return frozenset(decision.request for decision in solution.decisions if decision.accepted)


_LEVELS: Mapping[str, Callable[[Instance, Solution], Number]] = {
    "benefit": _benefit,
    "rejections": _rejections,
    "rejected-priority": _rejected_priority,
    "machines": _machines,
}
