"""Runs the method under test, and checks its results at once with the result checker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

from dlopt import api, registry
from dlopt.errors import DloptError, NotApplicableError, SolverError
from dlopt.interruption import within
from dlopt.problems.validated_record import Header
from dlopt.query import Query
from dlopt.registry import Method
from dlopt.result import Limits, Objective, Result, Status
from dlopt.result_checker import InvalidResultError, checked_result, malformed_reason

AnyResult: TypeAlias = Result[Any]
"""The result of a method of any problem."""
Options: TypeAlias = Mapping[str, Any]
"""Options of a method by name."""

PROOF_LIMITS = Limits(time_s=20)
"""Limits for the proof of one small instance; if they are reached, nothing is concluded."""

SEARCH_LIMITS = Limits(time_s=3)
"""Limits for an exact method on each of the many instances of a search."""

OWN_METHOD_LIMIT_S: Final = 10.0
"""Seconds that a caller's own function has for one small instance of a search; without an answer by
then it has failed, so that no search waits for one that never ends. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a method to an instance.

    Parameters
    ----------
    objective : Objective
        The objective with which it was run.
    result : Result, optional
        Checked, with its violations; None if the method failed.
    failure : str, optional
        How it failed, or why its result failed verification.
    """

    objective: Objective
    result: AnyResult | None
    failure: str | None = None

    @property
    def valid(self) -> AnyResult | None:
        """The result, if it has a feasible solution with the value that it reports."""
        result = self.result
        if result is None or result.value is None or self.failure is not None:
            return None
        return None if result.violations else result


def resolve_method(stem: str, method: str | Method | Callable[..., AnyResult]) -> Method:
    """Return a method by its name, or a user's function as a method that claims to be sound.

    Raises
    ------
    NotApplicableError
        If there is none of that name, or it cannot be called.
    """
    module: Any = registry.problem(stem).module
    if isinstance(method, str):
        return registry.method(stem, method)
    if isinstance(method, Method):
        return method
    if not callable(method):
        raise NotApplicableError(f"a method is a name or a function, not {method!r}")
    return Method(
        stem,
        getattr(method, "__name__", type(method).__name__).replace("_", "-").strip("-<>"),
        kind="heuristic",
        source="",
        claim="sound",
        plan_class=registry.method(stem, "exact").plan_class,
        objectives=tuple(module.OBJECTIVES),
        target=method,
    )


def run_method(
    entry: Method,
    instance: Header,
    objective: str | None = None,
    seed: int = 0,
    *,
    options: Options | None = None,
    hint: Any = None,
    limits: Limits = PROOF_LIMITS,
    reasons: Counter[str] | None = None,
) -> Answer | None:
    """Return the answer of a method to an instance; None if it does not apply.

    Parameters
    ----------
    entry : Method
    instance : Instance
    objective : str, optional
        By default that of the problem, or the first that the method supports.
    seed : int
    options : mapping, optional
        Options of the method.
    hint : Solution, optional
        For exact methods, which otherwise compute hints themselves.
    limits : Limits
        For exact methods; heuristics have none.
    reasons : Counter of str, optional
        Why the method refuses the instance is counted there.
    """
    goal = objective_for(entry, instance, objective)
    if goal is None:
        return None
    options = options or {}
    try:
        reason = entry.reason_against(instance, goal.name)
        if reason is not None:
            raise NotApplicableError(reason)
        if entry.kind == "exact" and isinstance(entry.target, str):
            result = api.solve(
                instance,
                entry.name,
                objective=goal.name,
                limits=limits,
                hint=hint,
                seed=seed,
                **options,
            )
        else:
            result = _checked_result(Query.of(instance, entry, goal.name), seed, options)
        return Answer(goal, result)
    except NotApplicableError as error:
        if reasons is not None:
            reasons[str(error)] += 1
        return None
    except InvalidResultError as error:
        result = error.result
        if result.violations:
            result = replace(result, status=Status.UNSOUND)
        return Answer(goal, result, str(error))
    except DloptError as error:
        return Answer(goal, None, str(error))


def run_registered(
    name: str, instance: Header, objective: str | None = None, seed: int = 0
) -> Answer | None:
    """Return the answer of a registered method of the instance's problem."""
    return run_method(registry.method(instance.problem, name), instance, objective, seed)


class AnswerCache:
    """Answers of registered methods to one instance and objective, each run once.

    Parameters
    ----------
    instance : Instance
    goal : Objective
    seed : int
    """

    __slots__ = ("_answers", "goal", "instance", "seed")

    def __init__(self, instance: Header, goal: Objective, seed: int) -> None:
        self.instance, self.goal, self.seed = instance, goal, seed
        self._answers: dict[str, Answer | None] = {}

    def answer(self, name: str) -> Answer | None:
        """Return the answer of a method to the instance; exact ones start from `hint`."""
        if name not in self._answers:
            entry = registry.method(self.instance.problem, name)
            hint = self.hint() if entry.kind == "exact" else None
            self._answers[name] = run_method(
                entry, self.instance, self.goal.name, self.seed, hint=hint, limits=SEARCH_LIMITS
            )
        return self._answers[name]

    def hint(self) -> Any:
        """Return the best solution of the problem's heuristics, None if they have none."""
        best: AnyResult | None = None
        for name in registry.problem(self.instance.problem).hints:
            answer = self.answer(name)
            result = None if answer is None else answer.valid
            if result is None or result.value is None:
                continue
            if best is None or best.value is None or self.goal.better(result.value, best.value):
                best = result
        return None if best is None else best.solution


def _checked_result(query: Query, seed: int, options: Options) -> AnyResult:
    entry, goal = query.method, query.goal
    read = entry.read_options(options)
    work = partial(
        entry.run,
        query.instance,
        objective=goal.name,
        limits=Limits(),
        hint=None,
        seed=seed,
        **read,
    )
    try:
        result = work() if isinstance(entry.target, str) else within(OWN_METHOD_LIMIT_S, work)
    except TimeoutError as error:
        raise SolverError(f"{entry.name} failed: {error}") from None
    malformed = malformed_reason(query, result)
    if malformed is not None:
        raise DloptError(f"{entry.name} failed: {malformed}")
    result = replace(result, objective=goal.name, method=entry.name, seed=seed)
    return checked_result(query, result)


def objective_for(entry: Method, instance: Header, objective: str | None) -> Objective | None:
    """Return the objective with which a method is run, None if it does not suit the instance."""
    module: Any = registry.problem(entry.stem).module
    name = objective or module.default_objective(instance)
    if name not in entry.objectives:
        if objective is not None:
            return None
        name = entry.objectives[0]
    goal: Objective = module.OBJECTIVES[name]
    return (
        None
        if goal.requires_field is not None and getattr(instance, goal.requires_field) is None
        else goal
    )
