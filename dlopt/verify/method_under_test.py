"""A method under suspicion: asked for an answer, which the referee judges at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dlopt import api, registry
from dlopt.errors import DloptError, NotApplicableError
from dlopt.problems.validated_record import Header
from dlopt.registry import Method
from dlopt.result import Limits, Objective, Result, Status
from dlopt.result_checker import InvalidResultError, checked_result, malformed_reason

EXACT_LIMITS = Limits(time_s=20)
"""What a proof of one small instance may cost; without it nothing is concluded."""

QUICK_LIMITS = Limits(time_s=3)
"""What an exact method may cost on one of the many instances of a search."""


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
    entry: Method,
    instance: Header,
    objective: str | None = None,
    seed: int = 0,
    *,
    options: Mapping[str, Any] | None = None,
    hint: Any = None,
    limits: Limits = EXACT_LIMITS,
) -> Answer | None:
    """Return what a method makes of an instance; None if it does not apply to it.

    Parameters
    ----------
    entry : Method
    instance : Instance
    objective : str, optional
        By default the problem's own, or the first that the method knows.
    seed : int
    options : mapping, optional
        The method's own.
    hint : Solution, optional
        For exact methods, which otherwise ask for hints themselves.
    limits : Limits
        Of exact methods; heuristics have none.
    """
    goal = goal_of(entry, instance, objective)
    if goal is None:
        return None
    options = options or {}
    try:
        if entry.reason_against(instance, goal.name) is not None:
            return None
        if entry.kind == "exact" and isinstance(entry.target, str):
            found = api.solve(
                instance,
                entry.name,
                objective=goal.name,
                limits=limits,
                hint=hint,
                seed=seed,
                **options,
            )
        else:
            found = _asked(entry, instance, goal, seed, options)
        return Answer(goal, found)
    except NotApplicableError:
        return None
    except InvalidResultError as error:
        told = replace(error.result, status=Status.UNSOUND) if error.result.violations else None
        return Answer(goal, told or error.result, str(error))
    except DloptError as error:
        return Answer(goal, None, str(error))


def ask_named(
    name: str, instance: Header, objective: str | None = None, seed: int = 0
) -> Answer | None:
    """Return what a registered method of the instance's problem makes of it."""
    return ask(registry.method(instance.problem, name), instance, objective, seed)


class Panel:
    """Answers of registered methods to one instance by one objective, each asked for once.

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
        """Return what a method makes of the instance; exact ones start from `hint`."""
        if name not in self._answers:
            entry = registry.method(self.instance.problem, name)
            hint = self.hint() if entry.kind == "exact" else None
            self._answers[name] = ask(
                entry, self.instance, self.goal.name, self.seed, hint=hint, limits=QUICK_LIMITS
            )
        return self._answers[name]

    def hint(self) -> Any:
        """Return the best plan of the problem's heuristics, None if they have none."""
        best: Result[Any] | None = None
        for name in registry.problem(self.instance.problem).hints:
            answer = self.answer(name)
            found = None if answer is None else answer.valid
            if found is None or found.value is None:
                continue
            if best is None or best.value is None or self.goal.better(found.value, best.value):
                best = found
        return None if best is None else best.solution


def _asked(
    entry: Method, instance: Header, goal: Objective, seed: int, options: Mapping[str, Any]
) -> Result[Any]:
    read = entry.read_options(options)
    with entry.guard():
        found = entry.load()(
            instance, objective=goal.name, limits=Limits(), hint=None, seed=seed, **read
        )
    wrong = malformed_reason(entry.stem, found)
    if wrong is not None:
        raise DloptError(f"{entry.name} failed: {wrong}")
    answer = replace(found, objective=goal.name, method=entry.name, seed=seed)
    return checked_result(instance, entry, goal, answer)


def goal_of(entry: Method, instance: Header, objective: str | None) -> Objective | None:
    """Return the objective that a method is asked for, or None if it makes no sense here."""
    module: Any = registry.problem(entry.stem).module
    name = objective or module.default_objective(instance)
    if name not in entry.objectives:
        if objective is not None:
            return None
        name = entry.objectives[0]
    goal: Objective = module.OBJECTIVES[name]
    return None if goal.needs is not None and getattr(instance, goal.needs) is None else goal
