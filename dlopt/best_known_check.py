"""The best known values of an instance, checked against the results of methods.

A file may be older than a method, or edited by hand; its values are not recomputed on reading.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dlopt.arithmetic import EXACT, SOLVER, Number, PrintableRecord, exact, is_exact, is_finite
from dlopt.plan_classes import within_class
from dlopt.problems.validated_record import BestKnown
from dlopt.result import Objective, Result, Status, Value, levels_of, shown_value

Kind: TypeAlias = Literal["better-plan", "plan-beyond-bound", "value-beyond-bound", "no-plan"]


@dataclass(frozen=True, slots=True)
class Contradiction(PrintableRecord):
    """A best known value of a file, and a result that contradicts it.

    Parameters
    ----------
    known : BestKnown
    kind : {"better-plan", "plan-beyond-bound", "value-beyond-bound", "no-plan"}
        A valid plan is better than the value, or even than the bound; the value is better than a
        bound that was proven; or it was proven that there is no plan, and there is a value.
    method : str
        Whose result it is.
    found : Value, optional
        The value of the plan, or the bound.
    """

    known: BestKnown
    kind: Kind
    method: str
    found: Value | None = None

    def __str__(self) -> str:
        known, found = self.known, shown_value(self.found, 12)
        value, bound = shown_value(known.value, 12), shown_value(known.bound, 12)
        said = {
            "better-plan": f"a plan of {self.method} has value {found}, better than its value "
            f"{value}",
            "plan-beyond-bound": f"a plan of {self.method} has value {found}, better than its "
            f"bound {bound}",
            "value-beyond-bound": f"its value {value} is better than {found}, the bound that "
            f"{self.method} proves",
            "no-plan": f"{self.method} proves that there is no plan, and its value is {value}",
        }[self.kind]
        source = f" by {known.method}" if known.method else ""
        verdict = "improved" if self.kind == "better-plan" else "wrong"
        return f"best_known ({known.objective}, {known.plan_class}{source}) is {verdict}: {said}"


def contradictions(
    best_known: Iterable[BestKnown], goal: Objective, results: Iterable[Result[Any]]
) -> tuple[Contradiction, ...]:
    """Return where the best known values of an objective are contradicted by checked results.

    A plan counts if its class lies within that of the best known value, a bound if its class
    holds that class; what is said of k chunks a node is compared with no other such k. That there
    is no plan is taken from the method ``exact`` alone. Exact numbers are compared exactly, others
    to a relative 1e-6, dates from the origin of the results on.

    Parameters
    ----------
    best_known : iterable of BestKnown
    goal : Objective
    results : iterable of Result
        Of this objective, as `dlopt.solve` returns them. Unsound ones are left out.

    Returns
    -------
    tuple of Contradiction
        Of each best known value at most two: the best plan, and the strictest proof.

    Examples
    --------
    >>> goal = Objective("completion", "min")
    >>> found = Result(Status.FEASIBLE, object(), value=4, method="opr", plan_class="single")
    >>> (wrong,) = contradictions([BestKnown("completion", "any", value=5)], goal, [found])
    >>> print(wrong)
    best_known (completion, any) is improved: a plan of opr has value 4, better than its value 5
    """
    sound = [result for result in results if result.status is not Status.UNSOUND]
    found = (
        contradiction
        for known in best_known
        if known.objective == goal.name
        for contradiction in (_by_plans(known, goal, sound), _by_proofs(known, goal, sound))
    )
    return tuple(contradiction for contradiction in found if contradiction is not None)


def _by_plans(
    known: BestKnown, goal: Objective, results: list[Result[Any]]
) -> Contradiction | None:
    """Return the contradiction by the best plan of the class, or None."""
    best: Value | None = None
    method = ""
    for result in results:
        value = result.value
        if result.solution is None or value is None or not _comparable(value):
            continue
        if not within_class(result.plan_class, known.plan_class):
            continue
        if best is None or goal.better(value, best):
            best, method = value, result.method
    if best is None:
        return None
    origin = results[0].origin
    if known.bound is not None and _better(goal, best, known.bound, origin):
        return Contradiction(known, "plan-beyond-bound", method, best)
    if known.value is not None and _better(goal, best, known.value, origin):
        return Contradiction(known, "better-plan", method, best)
    return None


def _by_proofs(
    known: BestKnown, goal: Objective, results: list[Result[Any]]
) -> Contradiction | None:
    """Return the contradiction by the strictest proof for the class, or None."""
    if known.value is None:
        return None
    strictest: Value | None = None
    method = ""
    for result in results:
        if not within_class(known.plan_class, result.plan_class):
            continue
        # Others may ask for more than a plan, as `feasibility` asks for all tasks.
        if result.status is Status.INFEASIBLE and result.method == "exact":
            return Contradiction(known, "no-plan", result.method)
        bound = result.bound
        if bound is None or not _comparable(bound):
            continue
        if strictest is None or goal.better(strictest, bound):
            strictest, method = bound, result.method
    if strictest is None or not _better(goal, known.value, strictest, results[0].origin):
        return None
    return Contradiction(known, "value-beyond-bound", method, strictest)


def _better(goal: Objective, left: Value, right: Value, origin: Number) -> bool:
    """Tell whether a value is better beyond rounding, level by level."""
    lefts, rights = levels_of(left), levels_of(right)
    if len(lefts) != len(rights) or not _comparable(right):
        return False
    tolerance = exact(EXACT if is_exact((*lefts, *rights)) else SOLVER)
    senses = goal.senses_of(left)
    for one, other, sense in zip(map(exact, lefts), map(exact, rights), senses, strict=True):
        span = max(abs(one - exact(origin)), abs(other - exact(origin)))
        if abs(one - other) > tolerance * span:
            return one < other if sense == "min" else one > other
    return False


def _comparable(value: Value) -> bool:
    return all(map(is_finite, levels_of(value)))
