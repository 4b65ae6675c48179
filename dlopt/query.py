"""What is asked of a method: an instance and an objective, with all that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dlopt import aliases, registry
from dlopt.arithmetic import EXACT, SOLVER, Number, is_exact
from dlopt.errors import NotApplicableError, known_names
from dlopt.problems.validated_record import Header, numbers_of
from dlopt.registry import Method, Problem
from dlopt.registry.method_entries import ProblemModule
from dlopt.result import Objective, Value


@dataclass(frozen=True, slots=True)
class Query:
    """An instance, and the method and the objective by which it is to be solved.

    Resolved once and passed down: `module` has the data and the rules of the problem, see
    `dlopt.registry.method_entries.ProblemModule`; `exact` tells whether all numbers of the
    instance are exact.
    """

    instance: Header
    problem: Problem
    module: ProblemModule
    method: Method
    goal: Objective
    exact: bool

    @classmethod
    def of(cls, instance: Header, method: Method, objective: str | None = None) -> Query:
        """Return what is asked of a method.

        By default the objective is the problem's own, or the only one that the method knows.

        Raises
        ------
        NotApplicableError
            If there is no such objective, or the method does not support it.

        Examples
        --------
        >>> from dlopt.problems.cluster import Cluster
        >>> from dlopt.problems.iit import Instance
        >>> instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
        >>> query = Query.of(instance, registry.method("iit", "opr"))
        >>> query.goal.name, query.exact
        ('completion', True)
        """
        problem = registry.problem_of(instance)
        module = problem.module
        objective = current_objective(problem, objective)
        name = objective or module.default_objective(instance)
        if objective is None and name not in method.objectives:
            name = method.objectives[0]
        if name in module.OBJECTIVES and name not in method.objectives:
            known = known_names(name, method.objectives)
            raise NotApplicableError(f"{method.name} does not support objective {name!r} ({known})")
        goal = applicable_objective(instance, problem, name)
        return cls(instance, problem, module, method, goal, is_exact(numbers_of(instance)))

    @property
    def tolerance(self) -> float:
        """The relative tolerance that a caller's plan is checked with."""
        return EXACT if self.exact else SOLVER

    def origin_of(self, objective: str) -> Number:
        """Return the instant that an objective counts from, see the function of that name."""
        return origin_of(self.module, self.instance, objective)


def current_objective(problem: Problem, name: object) -> str | None:
    """Return what an objective is called now; None if none is named.

    Raises
    ------
    NotApplicableError
        If the name is no text.
    """
    if name is not None and not isinstance(name, str):
        raise NotApplicableError(f"an objective is given by its name, not by {name!r}")
    return aliases.current_objective(problem.stem, name) if name else None


def applicable_objective(instance: Header, problem: Problem, name: str) -> Objective:
    """Return the objective of a name.

    Raises
    ------
    NotApplicableError
        If the problem has none of that name, or the instance lacks the field that it needs.
    """
    objectives = problem.module.OBJECTIVES
    if name not in objectives:
        known = known_names(name, objectives)
        raise NotApplicableError(f"{problem.stem} has no objective {name!r} ({known})")
    goal: Objective = objectives[name]
    if goal.requires_field is not None and getattr(instance, goal.requires_field) is None:
        raise NotApplicableError(f"objective {name} needs {goal.requires_field}")
    return goal


def origin_of(module: ProblemModule, instance: Header, objective: str) -> Number:
    """Return the instant that an objective counts from if it is a date, else 0.

    Examples
    --------
    >>> from dlopt.problems import iit
    >>> from dlopt.problems.cluster import Cluster
    >>> origin_of(iit, iit.Instance(Cluster(1, tau=1, chi=1), (1_700_000_000,), load=1), "nodes")
    0
    """
    of = getattr(module, "origin", None)
    origin: Number = 0 if of is None else of(instance, objective)
    return origin


def recomputed_value(
    module: ProblemModule, instance: Header, solution: Any, name: str
) -> Value | None:
    """Return the objective value of a plan, or None if it has none, as an empty plan."""
    value: Value
    try:
        value = module.objective(instance, solution, name)
    except ValueError:
        return None
    return value
