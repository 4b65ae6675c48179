"""What the gaps of a comparison are relative to: an optimum, or else the tightest bound.

Examples
--------
>>> from dlopt.result import Objective, Result, Status
>>> goal = Objective("makespan", "min")
>>> bounds = [Result(Status.BOUND, bound=b, method=str(b), plan_class="any") for b in (3, 4)]
>>> best = proven_best(goal, [], bounds)
>>> best.method, gap_to_proven(goal, Result(Status.FEASIBLE, value=5), [], bounds)
('4', 0.25)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from dlopt.plan_classes import is_in_class_of
from dlopt.result import Objective, Result, Status, Value, relative_gap

ItemT = TypeVar("ItemT")
Results = Sequence[Result[object]]


def proven_best(
    goal: Objective, exact: Results, others: Results, found: Result[object] | None = None
) -> Result[object] | None:
    """Return the result that proves most.

    Parameters
    ----------
    goal : Objective
    exact : sequence of Result
        Of exact methods. An optimum of theirs comes first, and the proof of ``exact`` that there
        is no plan.
    others : sequence of Result
        An optimum of theirs comes next.
    found : Result, optional
        Where no optimum is proven, only bounds that hold for its plan class count. By default all.

    Returns
    -------
    Result or None
        Without an optimum, the one with the tightest bound, the first of those that are equal;
        without a bound, the first of `exact`, or None.
    """
    results = [*exact, *others]
    for result in results:
        is_optimum = result.status is Status.OPTIMAL and result.value is not None
        # Others may ask for more than a plan, as `feasibility` asks for all tasks.
        if is_optimum or (result.status is Status.INFEASIBLE and result.method == "exact"):
            return result
    of_class = [one for one in results if found is None or is_in_class_of(found, one)]
    return tightest(goal, of_class, lambda one: one.bound) or next(iter(exact), None)


def tightest(
    goal: Objective, items: Iterable[ItemT], bound_of: Callable[[ItemT], Value | None]
) -> ItemT | None:
    """Return the item with the tightest bound, the first of those that are equal.

    Returns
    -------
    Item or None
        None if no item has a bound.

    Examples
    --------
    >>> tightest(Objective("makespan", "min"), ["", "ab", "abc"], lambda one: len(one) or None)
    'abc'
    """
    best: tuple[Value, ItemT] | None = None
    for item in items:
        bound = bound_of(item)
        if bound is not None and (best is None or goal.better(best[0], bound)):
            best = bound, item
    return None if best is None else best[1]


def gap_to_proven(
    goal: Objective, found: Result[object] | None, exact: Results, others: Results
) -> float | None:
    """Return the gap of a value to the proven optimum, or else to the best bound of its class.

    Returns
    -------
    float or None
        None for lexicographic objectives, and where nothing is proven of the class.
    """
    if found is None or found.value is None or isinstance(found.value, tuple):
        return None
    reference = proven_best(goal, exact, others, found)
    if reference is None or not is_in_class_of(found, reference):
        return None
    best = reference.value if reference.status is Status.OPTIMAL else reference.bound
    if best is None or isinstance(best, tuple):
        return None
    gap = relative_gap(found.value, best, reference.origin)
    return None if gap is None else float(gap)
