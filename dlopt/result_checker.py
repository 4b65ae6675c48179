"""The result checker: verifies solutions and results by the rules of their problem.

It shares no code with what makes them. Values are recomputed, statuses and bounds must agree with
them; only a method that is known to be flawed may leave here with violations.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from dlopt import registry
from dlopt.aliases import module_getattr
from dlopt.arithmetic import (
    EXACT,
    FLOATING,
    SOLVER,
    Number,
    converted,
    exact,
    is_exact,
    is_finite,
    is_number,
    simplest,
)
from dlopt.errors import NotApplicableError, SolverError, shortened
from dlopt.plan_classes import within_class
from dlopt.problems.narrowest_plan_class import class_of_plan
from dlopt.problems.validated_record import Header, numbers_of
from dlopt.query import Query, origin_of, recomputed_value
from dlopt.registry import Method
from dlopt.result import WITH_PLAN, Objective, Proof, Result, Status, Value, Violation, levels_of
from dlopt.returned_bounds import (
    accepted_gains,
    beyond,
    covering_accepted_plans,
    difference,
    meets,
    proves,
    weakened,
)
from dlopt.value_texts import value_text, wrong_value_text

SolutionT = TypeVar("SolutionT")


class InvalidResultError(SolverError):
    """A result that failed verification, of a method that claims to give valid ones.

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

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.instance, self.result)


__getattr__ = module_getattr(__name__, {"RefutedAnswerError": "InvalidResultError"}, globals())


def check(instance: Header, plan: Any, tolerance: float | None = None) -> tuple[Violation, ...]:
    """Return every way in which a plan breaks the rules of its problem.

    Parameters
    ----------
    instance : Instance
    plan : Solution or Result
        Of a result, its value, bound and status are checked too.
    tolerance : float, optional
        Relative. By default that of the result, at most 1e-6; for a plan alone it is 0 if all
        numbers of the instance are exact, else 1e-9. What is proven of an instance holds for
        every plan that passes at the default.

    Raises
    ------
    NotApplicableError
        If the plan is none of the instance's problem, or the tolerance not in [0, 1).

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Chunk, Instance, Solution
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (2,), load=1)
    >>> for violation in check(instance, Solution((Chunk(0, 1, 0, 1, 1, 2),))):
    ...     print(violation)
    node-not-ready on node 0 in [0, 2] by 2
    """
    allowed = tolerance_of(instance, plan, tolerance)
    module = registry.problem_of(instance).module
    if not isinstance(plan, Result):
        return tuple(module.violations(instance, plan, allowed))
    if (plan.solution is not None) != (plan.status in WITH_PLAN):
        return (Violation("status", str(plan.status)),)
    if plan.solution is None:
        return ()
    found = tuple(module.violations(instance, plan.solution, allowed))
    if plan.objective not in module.OBJECTIVES:
        return (*found, Violation("unknown-objective", plan.objective or "none"))
    goal: Objective = module.OBJECTIVES[plan.objective]
    value = recomputed_value(module, instance, plan.solution, plan.objective)
    if value is None:
        return (*found, Violation("value", plan.objective))
    origin = origin_of(module, instance, plan.objective)
    if plan.value is None or difference(plan.value, value, origin) > exact(allowed):
        found += (Violation("value", plan.objective, amount=_difference(plan.value, value)),)
    bound, stated = plan.bound, _in_number_type(value, allowed == EXACT)
    apart: Any = 0 if bound is None else difference(bound, value, origin)
    if bound is not None and apart > exact(allowed) and beyond(goal, value, bound):
        found += (Violation("bound", plan.objective, amount=_difference(bound, value)),)
    elif plan.status is Status.OPTIMAL and not proves(bound, stated, origin, plan.proof):
        found += (Violation("status", str(plan.status)),)
    return found


def tolerance_of(instance: Header, plan: Any, tolerance: float | None = None) -> float:
    """Return the relative tolerance by which `check` checks a plan, see there."""
    module = registry.problem_of(instance).module
    solution = plan.solution if isinstance(plan, Result) else plan
    nothing = isinstance(plan, Result) and solution is None
    if not nothing and not isinstance(solution, module.Solution):
        kind = f"{type(solution).__module__}.{type(solution).__qualname__}"
        text = f"a plan of {instance.problem} is a {module.Solution.__module__}.Solution"
        raise NotApplicableError(f"{text}, not a {kind.removeprefix('builtins.')}")
    if tolerance is not None:
        allowed = converted(tolerance)
        if not is_number(allowed) or not 0 <= allowed < 1:
            raise NotApplicableError(f"the tolerance must lie in [0, 1), got {tolerance}")
        return tolerance
    return min(plan.tolerance, SOLVER) if isinstance(plan, Result) else default_tolerance(instance)


def default_tolerance(instance: Header) -> float:
    """Return the default tolerance: 0 for exact numbers, for floats that of formulas in floats.

    It is a matter of the instance and not of the plan, so that what is proven of the instance
    holds for every plan that passes.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Instance
    >>> cluster = Cluster(1, tau=1, chi=1)
    >>> default_tolerance(Instance(cluster, (2,), load=1))
    0.0
    >>> default_tolerance(Instance(cluster, (2,), load=0.5))
    1e-09
    """
    return EXACT if is_exact(numbers_of(instance)) else FLOATING


def values_of(instance: Header, solution: Any) -> dict[str, Value]:
    """Return the values of a plan for every objective that is defined for it.

    Those that are equal to another for every schedule of the instance are left out.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Chunk, Instance, Solution
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (0,), load=1)
    >>> values_of(instance, Solution((Chunk(0, 1, 0, 1, 1, 2),)))
    {'completion': 2, 'nodes': 1}
    """
    rational = is_exact(numbers_of(instance)) and is_exact(numbers_of(solution))
    module = registry.problem_of(instance).module
    values = {
        name: recomputed_value(module, instance, solution, name)
        for name, goal in module.OBJECTIVES.items()
        if not goal.is_redundant(instance)
    }
    return {
        name: _in_number_type(value, rational)
        for name, value in values.items()
        if value is not None
    }


def malformed_reason(query: Query, answer: object) -> str | None:
    """Return why something is no answer that can be judged, or None if it is one."""
    if not isinstance(answer, Result):
        return f"it returned a {type(answer).__name__}, not a Result"
    if not isinstance(answer.status, Status):
        return f"its status is {answer.status!r}, not a Status"
    if answer.solution is not None and not isinstance(answer.solution, query.module.Solution):
        kind = type(answer.solution).__name__
        return f"its solution is a {kind}, not a Solution of {query.problem.stem}"
    if not isinstance(answer.solver, str | None):
        return f"its solver is {answer.solver!r}, not a name"
    if not isinstance(answer.reason, str | None):
        return f"its reason is {answer.reason!r}, not a text"
    for name, value in (("value", answer.value), ("bound", answer.bound)):
        levels = () if value is None else levels_of(value)
        if not all(isinstance(level, numbers.Real) for level in levels):
            return f"its {name} is no number: {value!r}"
    return None


def checked_result(query: Query, answer: Result[Any]) -> Result[Any]:
    """Verify the result of a method; return it with the recomputed values.

    Raises
    ------
    InvalidResultError
        If the method claims to be sound and its answer is not.
    """
    instance, entry, goal = query.instance, query.method, query.goal
    answer = replace(answer, instance=instance)
    if answer.reason is not None:
        answer = replace(answer, reason=shortened(answer.reason))
    may_bound = entry.claim in ("optimal", "literal-unsound") or entry.kind != "heuristic"
    if answer.status is Status.INFEASIBLE and entry.claim != "optimal":
        raise InvalidResultError(f"{entry.name} cannot prove infeasibility", instance, answer)
    if answer.bound is not None and not may_bound:
        raise InvalidResultError(f"{entry.name} cannot prove a bound", instance, answer)
    if (answer.solution is not None) != (answer.status in WITH_PLAN):
        has = "a plan" if answer.solution is not None else "no plan"
        text = f"{entry.name} says {answer.status} and has {has}"
        raise InvalidResultError(text, instance, answer)
    answer = _with_plan_class(query, answer)
    origin = query.origin_of(goal.name)
    answer = replace(answer, proof=_proof(query, answer), origin=origin)
    if answer.solution is None:
        rounded = any(accepted_gains(query, answer.bound))
        answer = replace(answer, tolerance=_tolerance(entry, [0.0 if rounded else answer.bound]))
        return covering_accepted_plans(query, answer)
    rational = query.exact and is_exact(numbers_of(answer.solution))
    tolerance = EXACT if rational else _tolerance(entry, [0.0])
    found = tuple(query.module.violations(instance, answer.solution, tolerance))
    recomputed = recomputed_value(query.module, instance, answer.solution, goal.name)
    claimed = answer.value
    wrong = (
        claimed is None
        or recomputed is None
        or difference(claimed, recomputed, origin) > exact(tolerance)
    )
    answer = replace(answer, violations=found, tolerance=tolerance)
    if found or wrong or recomputed is None:
        if entry.claim == "literal-unsound":
            return replace(answer, status=Status.UNSOUND, bound=None, proof=None)
        what = str(found[0]) if found else _wrong_value_text(query, answer, recomputed)
        raise InvalidResultError(f"the result of {entry.name} is invalid: {what}", instance, answer)
    value = _in_number_type(recomputed, rational)
    answer = covering_accepted_plans(query, replace(answer, value=value))
    if answer.bound is not None and beyond(goal, value, answer.bound):
        if not meets(answer.bound, value, origin):
            raise InvalidResultError(
                f"{entry.name} has a plan of value {value_text(value)} beyond its bound "
                f"{value_text(answer.bound)}",
                instance,
                answer,
            )
        loose = weakened(goal, answer.bound, value, origin) if rational else value
        answer = replace(answer, bound=loose)
    if answer.status is Status.OPTIMAL and not proves(answer.bound, value, origin, answer.proof):
        why = "value and bound differ" + (f": {answer.reason}" if answer.reason else "")
        return replace(answer, status=Status.FEASIBLE, reason=why)
    return answer


def _wrong_value_text(query: Query, answer: Result[SolutionT], actual: Value | None) -> str:
    return wrong_value_text(
        query.module,
        query.instance,
        answer.solution,
        query.goal.name,
        reported=answer.value,
        actual=actual,
    )


def disproof(goal: Objective, answer: Result[Any], others: Iterable[Result[Any]]) -> str | None:
    """Return the verified plan that contradicts a bound or a proof of infeasibility, or None.

    Parameters
    ----------
    goal : Objective
    answer : Result
        Its bound is compared with the plans, and so is the claim of ``exact`` that there is none;
        other methods require more than a plan.
    others : iterable of Result
        Of the same instance and objective, as `dlopt.solve` returns them. Plans of another class
        than the bound speaks of count no more than unsound ones.

    Examples
    --------
    >>> goal = Objective("completion", "min")
    >>> plan = Result(Status.FEASIBLE, object(), value=4, method="opr", plan_class="single")
    >>> bound = Result(Status.BOUND, bound=5, method="bound-fluid", plan_class="any")
    >>> disproof(goal, bound, [plan])
    'its bound says that no plan is better than 5, but the checked plan of opr has the value 4'
    """
    none = answer.status is Status.INFEASIBLE and answer.method == "exact"
    for other in others:
        if other.solution is None or other.value is None or other.status is Status.UNSOUND:
            continue
        if not within_class(other.plan_class, answer.plan_class):
            continue
        plan = f"the checked plan of {other.method} has the value {value_text(other.value)}"
        if none:
            return f"it says that no plan exists, but {plan}"
        better = answer.bound is not None and beyond(goal, other.value, answer.bound)
        if better and not meets(answer.bound, other.value, answer.origin):
            limit = value_text(answer.bound)
            return f"its bound says that no plan is better than {limit}, but {plan}"
    return None


def _with_plan_class(query: Query, answer: Result[SolutionT]) -> Result[SolutionT]:
    """Return an answer that says of which class its plan is, and of which plans its bound speaks.

    Raises
    ------
    InvalidResultError
        If the plan is not of the class that is claimed for it.
    """
    entry = query.method
    of_bound = answer.bound is not None or answer.solution is None
    claimed = answer.plan_class or (entry.plan_class if of_bound else None)
    if answer.solution is None:
        return replace(answer, plan_class=claimed)
    found, installments = class_of_plan(answer.solution)
    if claimed is None:
        return replace(answer, plan_class=found, installments=installments)
    if claimed == "single" and found == "k" and entry.claim != "literal-unsound":
        text = (
            f"the result of {entry.name} is invalid: its plan class is single, and a node gets "
            f"{installments} chunks (register it with plan_class='any', or state it in the result)"
        )
        raise InvalidResultError(text, query.instance, answer)
    return replace(answer, plan_class=claimed)


def _proof(query: Query, answer: Result[Any]) -> Proof | None:
    """Return on whose word an answer stands, where the method does not say it itself."""
    if answer.bound is None and answer.status is not Status.INFEASIBLE:
        return None
    if answer.certificate is not None:
        return "certificate"
    if answer.proof is not None:
        return answer.proof
    if answer.solver is not None:
        return "solver"
    return "exact" if query.exact else "floats"


def _tolerance(entry: Method, numbers: Iterable[Value | None]) -> float:
    if is_exact(level for number in numbers if number is not None for level in levels_of(number)):
        return EXACT
    return FLOATING if entry.kind == "heuristic" else SOLVER


def _in_number_type(value: Value, rational: bool) -> Value:
    """Return a recomputed value as the instance's numbers are: exact, or floats and counts."""
    if isinstance(value, tuple):
        return tuple(_level_in_number_type(level, rational) for level in value)
    return _level_in_number_type(value, rational)


def _level_in_number_type(value: Number, rational: bool) -> Number:
    return simplest(value) if rational or isinstance(value, int) else float(value)


def _difference(claimed: Value | None, truth: Value) -> Number | None:
    if claimed is None or isinstance(claimed, tuple) or isinstance(truth, tuple):
        return None
    if not is_finite(claimed):
        return None
    return exact(claimed) - exact(truth)
