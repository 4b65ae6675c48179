"""The one door for callers: solve, compare, check.

Whatever a method answers is checked here by the rules of the problem before anyone sees it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dlopt import registry
from dlopt.arithmetic import EXACT, FLOATING, SOLVER, Number, exact, is_exact, is_finite, simplest
from dlopt.errors import NotApplicableError, SolverError
from dlopt.problems.records import Header, numbers_of
from dlopt.registry import Method
from dlopt.result import (
    NO_LIMITS,
    PLAN_CLASSES,
    WITH_PLAN,
    Limits,
    Objective,
    Result,
    Status,
    Value,
    Violation,
)


class RefutedAnswerError(SolverError):
    """An answer that the rules of the problem refute, of a method that claims otherwise.

    Attributes
    ----------
    instance : Instance
    result : Result
        The answer, with its violations.
    """

    def __init__(self, message: str, instance: Header, result: Result[Any]) -> None:
        super().__init__(message)
        self.instance = instance
        self.result = result


def solve(
    instance: Header,
    method: str = "exact",
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Any = None,
    seed: int = 0,
    **options: Any,
) -> Result[Any]:
    """Solve an instance, and check the answer.

    Parameters
    ----------
    instance : Instance
        Of any problem.
    method : str, default "exact"
        A name that ``dlopt methods`` lists.
    objective : str, optional
        By default the problem's own, or the only one that the method knows.
    limits : Limits, optional
    hint : Solution, optional
        A plan for exact methods to start from. By default the best of the problem's heuristics.
    seed : int, default 0
    **options
        The method's own, see ``dlopt methods``.

    Returns
    -------
    Result
        Its value was recomputed from its plan and the plan found valid within its tolerance: 0 in
        exact numbers, relative 1e-9 for formulas in floats, relative 1e-6 for solvers. The one
        exception is a method that is known to be flawed: its status may be ``UNSOUND``.

    Raises
    ------
    NotApplicableError
        If the method does not exist, does not fit the instance, or an option is wrong.
    RefutedAnswerError
        If a method that claims to be sound answers what the rules refute.
    SolverError
        If a solver is missing or fails.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Instance
    >>> result = solve(Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3))
    >>> print(result.status, result.value)
    optimal 39/8
    """
    entry = registry.method(_stem(instance), method)
    goal = _goal(instance, entry, objective)
    reason = entry.reason_against(instance, goal.name)
    if reason is not None:
        raise NotApplicableError(f"{method} does not apply to this instance: {reason}")
    read = entry.read_options(options)
    if entry.kind == "exact":
        hint = _hint(instance, goal) if hint is None else _valid(instance, hint)
    begun = time.perf_counter()
    answer = entry.load()(
        instance, objective=goal.name, limits=limits, hint=hint, seed=seed, **read
    )
    runtime = time.perf_counter() - begun
    answer = replace(answer, objective=goal.name, method=method, seed=seed, runtime_s=runtime)
    return _checked(instance, entry, goal, answer)


def check(instance: Header, plan: Any, tolerance: float | None = None) -> tuple[Violation, ...]:
    """Return every way in which a plan breaks the rules of its problem.

    Parameters
    ----------
    instance : Instance
    plan : Solution or Result
        Of a result, its value, bound and status are checked too.
    tolerance : float, optional
        Relative; by default the result's, or 0.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Chunk, Instance, Solution
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (2,), load=1)
    >>> for violation in check(instance, Solution((Chunk(0, 1, 0, 1, 1, 2),))):
    ...     print(violation)
    not-ready on node 0 in [0, 2] by 2
    """
    module = registry.problem(_stem(instance)).module
    if not isinstance(plan, Result):
        return tuple(module.violations(instance, plan, tolerance or 0))
    if (plan.solution is not None) != (plan.status in WITH_PLAN):
        return (Violation("status", str(plan.status)),)
    if plan.solution is None:
        return ()
    allowed = plan.tolerance if tolerance is None else tolerance
    found = tuple(module.violations(instance, plan.solution, allowed))
    if plan.objective not in module.OBJECTIVES:
        return (*found, Violation("unknown-objective", plan.objective or "none"))
    goal: Objective = module.OBJECTIVES[plan.objective]
    value = _worth(instance, plan.solution, plan.objective)
    if value is None:
        return (*found, Violation("value", plan.objective))
    if plan.value is None or _off(plan.value, value) > exact(allowed):
        found += (Violation("value", plan.objective, amount=_difference(plan.value, value)),)
    bound = plan.bound
    if bound is not None and _off(bound, value) > exact(allowed) and _beyond(goal, value, bound):
        found += (Violation("bound", plan.objective, amount=_difference(bound, value)),)
    elif plan.status is Status.OPTIMAL and (bound is None or _off(bound, value) > exact(SOLVER)):
        found += (Violation("status", str(plan.status)),)
    return found


@dataclass(frozen=True, slots=True)
class Row:
    """One method in a comparison.

    Parameters
    ----------
    method : Method
    result : Result
    gap : float or None
        How much worse than the proven optimum, relative to it; against the bound if there is no
        proven optimum. None where there is nothing to compare.
    """

    method: Method
    result: Result[Any]
    gap: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every applicable method on one instance.

    Parameters
    ----------
    instance : Instance
    objective : str
    reference : Result or None
        What the gaps are measured from: the exact method's answer.
    rows : tuple of Row
    left_out : tuple of (str, str)
        Methods that do not apply, and why.
    """

    instance: Header
    objective: str
    reference: Result[Any] | None
    rows: tuple[Row, ...]
    left_out: tuple[tuple[str, str], ...]


def compare(
    instance: Header,
    methods: Iterable[str] | None = None,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    seed: int = 0,
    literal: bool = False,
) -> Comparison:
    """Solve an instance by many methods and measure them against the proven optimum.

    Parameters
    ----------
    instance : Instance
    methods : iterable of str, optional
        By default every registered method but the literal ones.
    objective : str, optional
    limits : Limits, optional
        For each method.
    seed : int, default 0
    literal : bool, default False
        Take in the methods that reproduce printed slips.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Instance
    >>> table = compare(Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3))
    >>> [(row.method.name, f"{row.gap:.1%}") for row in table.rows[:2]]
    [('opr', '31.3%'), ('epr', '43.6%')]
    """
    stem = _stem(instance)
    module = registry.problem(stem).module
    name = objective or module.default_objective(instance)
    _needs(instance, module.OBJECTIVES.get(name), name, stem)
    if methods is None:
        entries = [m for m in registry.methods(stem) if literal or not m.literal]
    else:
        entries = [registry.method(stem, wanted) for wanted in methods]
    results: list[tuple[Method, Result[Any]]] = []
    left_out: list[tuple[str, str]] = []
    for entry in entries:
        reason = entry.reason_against(instance, name)
        if reason is None:
            found = solve(instance, entry.name, objective=name, limits=limits, seed=seed)
            results.append((entry, found))
        else:
            left_out.append((entry.name, reason))
    reference = next((found for entry, found in results if entry.kind == "exact"), None)
    rows = tuple(Row(entry, found, _behind(found, reference)) for entry, found in results)
    return Comparison(instance, name, reference, rows, tuple(left_out))


def _stem(instance: Header) -> str:
    if not isinstance(instance, Header):
        raise NotApplicableError(f"an instance is needed, not a {type(instance).__name__}")
    return instance.problem


def _goal(instance: Header, entry: Method, objective: str | None) -> Objective:
    module = registry.problem(entry.stem).module
    name = objective or module.default_objective(instance)
    if objective is None and name not in entry.objectives:
        name = entry.objectives[0]
    if name in module.OBJECTIVES and name not in entry.objectives:
        known = ", ".join(entry.objectives)
        raise NotApplicableError(f"{entry.name} knows no objective {name!r} (known: {known})")
    goal: Objective | None = module.OBJECTIVES.get(name)
    return _needs(instance, goal, name, entry.stem)


def _needs(instance: Header, goal: Objective | None, name: str, stem: str) -> Objective:
    if goal is None:
        known = ", ".join(registry.problem(stem).module.OBJECTIVES)
        raise NotApplicableError(f"{stem} has no objective {name!r} (known: {known})")
    if goal.needs is not None and getattr(instance, goal.needs) is None:
        raise NotApplicableError(f"objective {name} needs {goal.needs}")
    return goal


def _hint(instance: Header, goal: Objective) -> Any:
    """Return the best plan of the problem's heuristics, or None."""
    best: Result[Any] | None = None
    for name in registry.problem(_stem(instance)).hints:
        entry = registry.method(instance.problem, name)
        if entry.reason_against(instance, goal.name) is None:
            found = solve(instance, name, objective=goal.name)
            if found.value is not None and (
                best is None or best.value is None or goal.better(found.value, best.value)
            ):
                best = found
    return None if best is None else best.solution


def _valid(instance: Header, hint: Any) -> Any:
    """Return a caller's hint; a model that trusts an invalid one could prove nonsense."""
    found = registry.problem(_stem(instance)).module.violations(instance, hint, SOLVER)
    if found:
        raise NotApplicableError(f"the hint is no valid plan: {found[0]}")
    return hint


def _checked(instance: Header, entry: Method, goal: Objective, answer: Result[Any]) -> Result[Any]:
    """Hold an answer against the rules; return it with what was recomputed."""
    proves = entry.claim in ("optimal", "literal-unsound") or entry.kind != "heuristic"
    if answer.status is Status.INFEASIBLE and entry.claim != "optimal":
        raise RefutedAnswerError(f"{entry.name} cannot prove infeasibility", instance, answer)
    if answer.bound is not None and not proves:
        raise RefutedAnswerError(f"{entry.name} cannot prove a bound", instance, answer)
    if (answer.solution is not None) != (answer.status in WITH_PLAN):
        has = "a plan" if answer.solution is not None else "no plan"
        text = f"{entry.name} says {answer.status} and has {has}"
        raise RefutedAnswerError(text, instance, answer)
    if answer.solution is None:
        return replace(answer, tolerance=_tolerance(entry, [answer.bound]))
    module = registry.problem(entry.stem).module
    rational = is_exact(numbers_of(instance)) and is_exact(numbers_of(answer.solution))
    tolerance = EXACT if rational else _tolerance(entry, [0.0])
    found = tuple(module.violations(instance, answer.solution, tolerance))
    recomputed = _worth(instance, answer.solution, goal.name)
    claimed = answer.value
    wrong = claimed is None or recomputed is None or _off(claimed, recomputed) > exact(tolerance)
    answer = replace(answer, violations=found, tolerance=tolerance)
    if found or wrong or recomputed is None:
        if entry.claim == "literal-unsound":
            return replace(answer, status=Status.UNSOUND, bound=None)
        what = str(found[0]) if found else f"its value is {recomputed}, not {claimed}"
        raise RefutedAnswerError(f"the answer of {entry.name} is refuted: {what}", instance, answer)
    value = _in_kind(recomputed, rational)
    answer = replace(answer, value=value)
    if answer.bound is not None and _beyond(goal, value, answer.bound):
        if _off(answer.bound, value) > exact(SOLVER):
            raise RefutedAnswerError(
                f"{entry.name} has a plan of value {value} beyond its bound {answer.bound}",
                instance,
                answer,
            )
        answer = replace(answer, bound=value)
    proven = answer.bound is not None and _off(answer.bound, value) <= exact(SOLVER)
    if answer.status is Status.OPTIMAL and not proven:
        return replace(answer, status=Status.FEASIBLE, reason="value and bound differ")
    return answer


def _tolerance(entry: Method, numbers: Iterable[Value | None]) -> float:
    plain = (n for n in numbers if n is not None and not isinstance(n, tuple))
    if is_exact(plain):
        return EXACT
    return FLOATING if entry.kind == "heuristic" else SOLVER


def _in_kind(value: Value, rational: bool) -> Value:
    """Return a recomputed value as the instance's numbers are: exact, or floats and counts."""
    if isinstance(value, tuple):
        return tuple(_one(level, rational) for level in value)
    return _one(value, rational)


def _one(value: Number, rational: bool) -> Number:
    return simplest(value) if rational or isinstance(value, int) else float(value)


def _worth(instance: Header, solution: Any, name: str) -> Value | None:
    """Return what a plan is worth, or None if that cannot be said, as of an empty one."""
    value: Value
    try:
        value = registry.problem(_stem(instance)).module.objective(instance, solution, name)
    except ValueError:
        return None
    return value


def _beyond(goal: Objective, value: Value, bound: Value) -> bool:
    """Tell whether a value is better than a bound, or the bound is no number to compare with."""
    return _off(bound, value) == math.inf or goal.better(value, bound)


def _off(claimed: Value, truth: Value) -> Any:
    """Return the largest difference of two values, relative to the larger of the two.

    It is infinite where they cannot be compared.
    """
    levels = _levels(claimed)
    if len(levels) != len(_levels(truth)) or not all(map(is_finite, levels)):
        return math.inf
    pairs = zip(levels, _levels(truth), strict=True)
    return max(_relative(exact(a), exact(b)) for a, b in pairs)


def _relative(left: Fraction, right: Fraction) -> Fraction:
    return abs(left - right) / max(abs(left), abs(right)) if left != right else Fraction(0)


def _difference(claimed: Value | None, truth: Value) -> Number | None:
    if claimed is None or isinstance(claimed, tuple) or isinstance(truth, tuple):
        return None
    if not is_finite(claimed):
        return None
    return exact(claimed) - exact(truth)


def _levels(value: Value) -> tuple[Number, ...]:
    return value if isinstance(value, tuple) else (value,)


def _behind(found: Result[Any], reference: Result[Any] | None) -> float | None:
    """Return how far a value lies behind the proven optimum, or behind the bound."""
    if reference is None or found.value is None or isinstance(found.value, tuple):
        return None
    optimal = reference.status is Status.OPTIMAL
    best = reference.value if optimal else reference.bound
    if best is None or isinstance(best, tuple) or best == 0:
        return None
    if found.plan_class is not None and reference.plan_class is not None:
        wider = PLAN_CLASSES.index(found.plan_class) > PLAN_CLASSES.index(reference.plan_class)
        if wider:
            return None
    return float(abs(exact(found.value) - exact(best)) / abs(exact(best)))
