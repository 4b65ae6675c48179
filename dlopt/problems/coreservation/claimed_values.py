"""The objective value that a method claims for its schedule.

The checkers compute the value themselves, in `objectives`; the two share no code.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from dlopt.arithmetic import Number, exact, simplest
from dlopt.problems.coreservation.benefit_functions import benefit_at
from dlopt.problems.coreservation.data import Instance, Share, Solution
from dlopt.problems.coreservation.goals import OBJECTIVES
from dlopt.result import Value


def claimed_value(instance: Instance, solution: Solution, name: str) -> Value:
    """Return the value of a plan under an objective, in exact numbers.

    See `dlopt.problems.coreservation.objective`, which shares nothing with this.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Decision, Machine, Part, Request, linear
    >>> soft = Request("r", 0, 1, 2, priority=3, parts=(Part(8, 2, linear()),))
    >>> hard = Request("s", 0, 1, 2, priority=1, parts=(Part(4),))
    >>> instance = Instance((Machine("m", 8),), (soft, hard))
    >>> plan = Solution((Decision("r", True, 0), Decision("s", False, 0)), (Share("r", 0, 0, 4),))
    >>> claimed_value(instance, plan, "rejections-then-benefit")
    (1, Fraction(3, 8))
    """
    if OBJECTIVES[name].levels:
        return tuple(_level(instance, solution, level) for level in OBJECTIVES[name].levels)
    return _level(instance, solution, name)


def _level(instance: Instance, solution: Solution, level: str) -> Number:
    if level == "machines":
        return len({share.machine for share in solution.shares if share.cpu > 0})
    rejected = {decision.request for decision in solution.decisions if not decision.accepted}
    if level == "rejections":
        return len(rejected)
    weights = {request.id: exact(request.priority) for request in instance.requests}
    if level == "rejected-priority":
        return simplest(sum((weights[name] for name in rejected), Fraction(0)))
    shares: dict[str, list[Share]] = defaultdict(list)
    for share in solution.shares:
        shares[share.request].append(share)
    total = Fraction(0)
    for request in instance.requests:
        for share in shares[request.id]:
            part = request.parts[share.part]
            benefit = benefit_at(part.benefit, exact(share.cpu) / exact(part.cpu))
            total += benefit * weights[request.id] / len(request.parts)
    return simplest(total / sum(weights.values()))
