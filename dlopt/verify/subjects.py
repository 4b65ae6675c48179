"""A method under suspicion: asked for an answer, which the referee judges at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dlopt import api, registry
from dlopt.errors import DloptError, NotApplicableError
from dlopt.problems.records import Header
from dlopt.referee import RefutedAnswerError, misfit, verdict
from dlopt.registry import Method
from dlopt.result import Limits, Objective, Result, Status

EXACT_LIMITS = Limits(time_s=20)
"""What a proof of one small instance may cost; without it nothing is concluded."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method made of an instance.

    Parameters
    ----------
    objective : Objective
        What it was asked for.
    result : Result, optional
        Checked; violations and all where it is refuted. None if the method failed.
    failure : str, optional
        How it failed, or what refutes it.
    """

    objective: Objective
    result: Result[Any] | None
    failure: str | None = None

    @property
    def valid(self) -> Result[Any] | None:
        """The result, if there is one with a plan that breaks no rule."""
        found = self.result
        good = self.failure is None and found is not None and found.value is not None
        return found if good and found is not None and not found.violations else None


def subject(stem: str, method: str | Method | Callable[..., Result[Any]]) -> Method:
    """Return a method by its name, or a caller's function as a method that claims to be sound.

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
        plan_class="any",
        objectives=tuple(module.OBJECTIVES),
        target=method,
    )


def ask(
    entry: Method, instance: Header, objective: str | None = None, seed: int = 0
) -> Answer | None:
    """Return what a method makes of an instance; None if it does not apply to it."""
    goal = _goal(entry, instance, objective)
    if goal is None:
        return None
    try:
        if entry.reason_against(instance, goal.name) is not None:
            return None
        return Answer(goal, _asked(entry, instance, goal, seed))
    except NotApplicableError:
        return None
    except RefutedAnswerError as error:
        told = replace(error.result, status=Status.UNSOUND) if error.result.violations else None
        return Answer(goal, told or error.result, str(error))
    except DloptError as error:
        return Answer(goal, None, str(error))


def ask_named(
    name: str, instance: Header, objective: str | None = None, seed: int = 0
) -> Answer | None:
    """Return what a registered method of the instance's problem makes of it."""
    return ask(registry.method(instance.problem, name), instance, objective, seed)


def _asked(entry: Method, instance: Header, goal: Objective, seed: int) -> Result[Any]:
    if entry.kind == "exact" and isinstance(entry.target, str):
        limits = EXACT_LIMITS
        return api.solve(instance, entry.name, objective=goal.name, limits=limits, seed=seed)
    with entry.guard():
        found = entry.load()(instance, objective=goal.name, limits=Limits(), hint=None, seed=seed)
    wrong = misfit(entry.stem, found)
    if wrong is not None:
        raise DloptError(f"{entry.name} failed: {wrong}")
    answer = replace(found, objective=goal.name, method=entry.name, seed=seed)
    return verdict(instance, entry, goal, answer)


def _goal(entry: Method, instance: Header, objective: str | None) -> Objective | None:
    """Return the objective that a method is asked for, or None if it makes no sense here."""
    module: Any = registry.problem(entry.stem).module
    name = objective or module.default_objective(instance)
    if name not in entry.objectives:
        if objective is not None:
            return None
        name = entry.objectives[0]
    goal: Objective = module.OBJECTIVES[name]
    return None if goal.needs is not None and getattr(instance, goal.needs) is None else goal
