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
from typing import TypeAlias, TypeVar

from dlopt.arithmetic import Number, is_finite
from dlopt.plan_classes import is_in_class_of
from dlopt.problems.validated_record import BestKnown
from dlopt.result import Objective, Result, Status, Value, levels_of, relative_gap

ItemT = TypeVar("ItemT")
Results = Sequence[Result[object]]
Gap: TypeAlias = float | tuple[float, ...]
"""A relative gap, of a lexicographic objective one of each level."""


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


def stated_proofs(
    best_known: Iterable[BestKnown], goal: Objective, origin: Number, found: Results
) -> tuple[Result[object], ...]:
    """Return what an instance states as proven, as far as it holds for all plans that were found.

    Nothing of it is proven again: it is the claim of the file. So it may be what gaps of a
    comparison are relative to, and no bound of a method.

    Parameters
    ----------
    best_known : iterable of BestKnown
        Those that no result contradicts. Bounds of class ``k`` do not say for which k they hold,
        and are left out.
    goal : Objective
    origin : Number
        The instant that the objective counts from.
    found : sequence of Result
        Of the methods. Without a plan there is no gap, and nothing is returned.

    Examples
    --------
    >>> known = BestKnown("makespan", "any", value=4, bound=4, method="exact")
    >>> found = Result(Status.FEASIBLE, value=5, plan_class="any")
    >>> (stated,) = stated_proofs([known], Objective("makespan", "min"), 0, [found])
    >>> print(stated.status, stated.bound, stated.method)
    optimal 4 exact
    """
    plans = [one for one in found if one.value is not None]
    stated = (
        Result[object](
            Status.OPTIMAL if known.value == known.bound else Status.BOUND,
            objective=goal.name,
            value=known.value if known.value == known.bound else None,
            bound=known.bound,
            method=known.method,
            plan_class=known.plan_class,
            origin=origin,
        )
        for known in best_known
        if known.objective == goal.name and known.bound is not None and known.plan_class != "k"
    )
    if not plans:
        return ()
    return tuple(one for one in stated if all(is_in_class_of(plan, one) for plan in plans))


def gap_to_proven(
    goal: Objective, found: Result[object] | None, exact: Results, others: Results
) -> Gap | None:
    """Return the gap of a value to the proven optimum, or else to the best bound of its class.

    Returns
    -------
    float, tuple of float, or None
        Of a lexicographic objective the gap of each level, up to the first that differs. None where
        nothing is proven of the class, or the value or a level of it is not 0 and what is proven
        is.

    Examples
    --------
    >>> goal = Objective("few-then-much", "min", ("few", "much"))
    >>> best = Result(Status.OPTIMAL, value=(1, 4), bound=(1, 4), plan_class="any")
    >>> gap_to_proven(goal, Result(Status.FEASIBLE, value=(1, 5)), [best], [])
    (0.0, 0.25)
    """
    if found is None or found.value is None:
        return None
    if not all(map(is_finite, levels_of(found.value))):  # an unsound method may claim anything
        return None
    reference = proven_best(goal, exact, others, found)
    if reference is None or not is_in_class_of(found, reference):
        return None
    best = reference.value if reference.status is Status.OPTIMAL else reference.bound
    if best is None or isinstance(best, tuple) is not isinstance(found.value, tuple):
        return None
    gaps: list[Number | None] = []
    for value, level in zip(levels_of(found.value), levels_of(best), strict=True):
        gaps.append(relative_gap(value, level, reference.origin))
        if gaps[-1] != 0:  # what is proven of later levels holds if those before are equal
            break
    floats = tuple(float(gap) for gap in gaps if gap is not None)
    if len(floats) < len(gaps):
        return None
    return floats if isinstance(best, tuple) else floats[0]
