"""Bounds as dlopt returns them: compared with values, and valid for every accepted plan.

Plans in floats may be off: `check` lets an instant be off by 64 units in the last place, which at
the date of today is 2.4e-5 s. So what no exact plan is better than, some accepted plan may be.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dlopt.arithmetic import (
    EXACT,
    FLOATING,
    ROUNDING,
    SOLVER,
    Number,
    exact,
    is_exact,
    is_finite,
    shown,
)
from dlopt.problems.allowance import rounded_down
from dlopt.query import Query
from dlopt.result import Objective, Proof, Result, Value, levels_of


def covering_accepted_plans(query: Query, answer: Result[Any]) -> Result[Any]:
    """Return an answer whose bound holds for all plans that `check` accepts, within its tolerance.

    In exact numbers these are the exact plans. In floats a plan may be better than the best exact
    one, see `allowed_gain` of the problems with objectives that are instants. Where that is more
    than the tolerance of the answer covers, the bound is lowered by it. If it is so much that
    value and bound differ by it beyond a solver's tolerance, the reason says why.

    Parameters
    ----------
    query : Query
    answer : Result
        Its bound holds for exact plans; its tolerance is stated.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Instance
    >>> from dlopt.registry import method
    >>> from dlopt.result import Status
    >>> instance = Instance(Cluster(1, tau=0, chi=1.5), (10**12,), load=1.0)
    >>> query = Query.of(instance, method("iit", "exact"), "completion")
    >>> answer = Result(Status.BOUND, bound=1e12 + 1.5, tolerance=1e-6)
    >>> covering_accepted_plans(query, answer).bound - 1e12
    1.485595703125
    """
    bound = answer.bound
    gains = accepted_gains(query, bound)
    if bound is None or not any(gains):
        return answer
    values = bound if answer.value is None else answer.value
    lowered, most = [], Fraction(0)
    for name, level, value, gain in zip(
        _names(query.goal), levels_of(bound), levels_of(values), gains, strict=True
    ):
        origin = exact(query.origin_of(name))
        span = abs(exact(level) - gain - origin)
        covered = gain <= exact(answer.tolerance) * span
        lowered.append(level if covered else rounded_down(exact(level) - gain))
        if gain > exact(SOLVER) * max(span, abs(exact(value) - origin)):
            most = max(most, gain)
    loose = tuple(lowered) if isinstance(bound, tuple) else lowered[0]
    reason = answer.reason
    if most:
        text = (
            "floats are so coarse at such dates that the check accepts plans that are better than "
            f"exact ones by {shown(most, 3)}: count time from a later origin"
        )
        reason = text if reason is None else f"{reason}; {text}"
    return replace(answer, bound=loose, reason=reason)


def accepted_gains(query: Query, bound: Value | None) -> tuple[Fraction, ...]:
    """Return by how much accepted plans may be better than exact ones that attain a bound.

    Returns
    -------
    tuple of Fraction
        Of each level; empty in exact numbers, and if the problem has no objective that is an
        instant.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Instance
    >>> from dlopt.registry import method
    >>> instance = Instance(Cluster(1, tau=0, chi=1.5), (7,), load=1.0, absolute_deadline=9)
    >>> accepted_gains(Query.of(instance, method("iit", "exact"), "nodes"), 1)
    (Fraction(0, 1),)
    """
    gain_of = getattr(query.module, "allowed_gain", None)
    if bound is None or gain_of is None or query.exact:
        return ()
    bounds, names = levels_of(bound), _names(query.goal)
    if len(bounds) != len(names) or not all(map(is_finite, bounds)):
        return ()  # it is refuted
    gains = []
    for name, level in zip(names, bounds, strict=True):
        gain: Fraction = gain_of(query.instance, name, exact(level), FLOATING)
        if gain and isinstance(level, float):
            rounding = exact(math.ulp(level))  # what was proven may be less by it
            proven = exact(level) - rounding
            gain = rounding + gain_of(query.instance, name, proven, FLOATING)
        gains.append(gain)
    return tuple(gains)


def proves(bound: Value | None, value: Value, origin: Number, proof: Proof | None) -> bool:
    """Tell whether a bound proves that a value is optimal.

    They are equal if both are exact, but for what a solver claims; else they agree to 1e-6. Dates
    count from the origin.

    Examples
    --------
    >>> near = Fraction(9) - Fraction(1, 10**7)
    >>> [proves(bound, 9, 0, "exact") for bound in (9, near, float(near))]
    [True, False, True]
    >>> proves(near, 9, 0, "solver"), proves(8, 9, 0, "solver"), proves(None, 9, 0, None)
    (True, False, False)
    """
    if bound is None:
        return False
    levels = (*levels_of(bound), *levels_of(value))
    claimed = proof == "solver" and any(isinstance(level, Fraction) for level in levels)
    tolerance = EXACT if is_exact(levels) and not claimed else SOLVER
    return bool(_differ(bound, value, origin, Fraction(0)) <= exact(tolerance))


def meets(bound: Value | None, value: Value, origin: Number) -> bool:
    """Tell whether a bound and a value are the same: equal if both are exact, else as floats round.

    Dates may also differ by their rounding.

    Examples
    --------
    >>> meets(Fraction(8), 8, 0), meets(Fraction(8), Fraction(9), 0), meets(8.000001, 8, 0)
    (True, False, True)
    """
    if bound is None:
        return False
    rational = is_exact((*levels_of(bound), *levels_of(value)))
    return bool(difference(bound, value, origin) <= exact(EXACT if rational else SOLVER))


def beyond(goal: Objective, value: Value, bound: Value) -> bool:
    """Tell whether a value is better than a bound, or the bound is no number to compare with."""
    return difference(bound, value) == math.inf or goal.better(value, bound)


def weakened(goal: Objective, bound: Value, value: Value, origin: Number) -> Value:
    """Return a bound in floats that a plan in exact numbers refutes by a rounding error.

    Where it differs from the value it is moved by 1e-6 of the time since the origin, what a solver
    may be off: other plans may be better than this one. It was wrong by less, see `meets`.

    Examples
    --------
    >>> weakened(Objective("completion", "min"), 9.00000001, 9, 0)
    8.99999100999999
    >>> weakened(Objective("both", "max", ("count", "load")), (3, 4.0), (3, 5), 0)
    (3, 4.000004)
    """
    bounds, values = levels_of(bound), levels_of(value)
    moved = []
    for level, one, sense in zip(bounds, values, goal.senses_of(bound), strict=True):
        off = exact(SOLVER) * abs(exact(level) - exact(origin))
        down = sense == "min"
        wide = rounded_down(exact(level) - off) if down else -rounded_down(-exact(level) - off)
        moved.append(level if exact(level) == exact(one) else wide)
    return tuple(moved) if isinstance(bound, tuple) else moved[0]


def difference(claimed: Value, truth: Value, origin: Number = 0) -> Any:
    """Return the largest difference of two values, relative to the larger of the two.

    Dates count from the origin, and may differ by their rounding as floats. The difference is
    infinite where values cannot be compared.

    Examples
    --------
    >>> difference(8, 10), difference((1, 8), (1, 10)), difference((1, 8), 10)
    (Fraction(1, 5), Fraction(1, 5), inf)
    """
    return _differ(claimed, truth, origin, ROUNDING)


def _names(goal: Objective) -> tuple[str, ...]:
    return goal.levels or (goal.name,)


def _differ(claimed: Value, truth: Value, origin: Number, rounding: Fraction) -> Any:
    levels = levels_of(claimed)
    if len(levels) != len(levels_of(truth)) or not all(map(is_finite, levels)):
        return math.inf
    pairs = zip(levels, levels_of(truth), strict=True)
    return max(_relative(a, b, exact(origin), rounding) for a, b in pairs)


def _relative(left: Number, right: Number, origin: Fraction, rounding: Fraction) -> Fraction:
    one, other = exact(left), exact(right)
    apart = abs(one - other)
    if origin and not is_exact((left, right)):
        apart -= rounding * max(abs(one), abs(other))
    if apart <= 0:
        return Fraction(0)
    span = max(abs(one - origin), abs(other - origin))
    return apart / span
