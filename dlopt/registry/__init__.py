"""The lazy registry of problems and methods: their code is imported on first use.

Every method is a function that returns a `Result`; of the parameters below it has those that it
uses, by their names. Its own docstring describes what is particular to it.

Parameters
----------
instance : Instance
    Of the problem of the method.
objective : str, optional
    One of those that the registry lists for the method; by default that of the problem, see its
    `default_objective`. A heuristic that does not optimise an objective reports its value.
limits : Limits, optional
    Not used by methods that end soon on every instance.
hint : Solution, optional
    A feasible schedule from which an exact method starts; not used by heuristics and bounds.
seed : int, default 0
    Of random choices and of solvers; not used by methods without either.
solver : str, optional
    Of methods that let PuLP solve a program: any solver that it knows by name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, get_args

from dlopt import aliases
from dlopt.errors import NotApplicableError, known_names
from dlopt.problems.validated_record import Header
from dlopt.registry import admission, bag, coreservation, dag, iit, multistage
from dlopt.registry.method_entries import (
    Applies,
    Claim,
    Kind,
    Method,
    MethodFunction,
    Option,
    Problem,
    limits_hint,
)
from dlopt.registry.user_code import Plugins, load_methods
from dlopt.result import PLAN_CLASSES, PlanClass

__all__ = [
    "Method",
    "Option",
    "Problem",
    "limits_hint",
    "load_methods",
    "method",
    "methods",
    "problem",
    "problem_of",
    "register",
    "selected_methods",
    "stems",
]

_TABLES = (iit, admission, multistage, coreservation, dag, bag)
_PROBLEMS: dict[str, Problem] = {table.PROBLEM.stem: table.PROBLEM for table in _TABLES}
_METHODS: dict[tuple[str, str], Method] = {
    (entry.stem, entry.name): entry for table in _TABLES for entry in table.METHODS
}
_PLUGINS = Plugins()


def stems() -> tuple[str, ...]:
    """Return the stems of all problems.

    Examples
    --------
    >>> "iit" in stems()
    True
    """
    return tuple(_PROBLEMS)


def problem(stem: object) -> Problem:
    """Return a problem by its stem.

    Raises
    ------
    NotApplicableError
        If there is none of that name.
    """
    if not isinstance(stem, str) or stem not in _PROBLEMS:
        raise NotApplicableError(f"no problem {stem!r} ({known_names(stem, _PROBLEMS)})")
    return _PROBLEMS[stem]


def problem_of(instance: object) -> Problem:
    """Return the problem of an instance.

    Raises
    ------
    NotApplicableError
        If it is none.
    """
    if not isinstance(instance, Header):
        raise NotApplicableError(f"an instance is needed, not a {type(instance).__name__}")
    return problem(instance.problem)


def methods(stem: str | None = None) -> tuple[Method, ...]:
    """Return all methods, or those of one problem, in the order of registration.

    Those of installed plug-ins are among them, see `dlopt.registry.user_code`.
    """
    if stem is not None:
        problem(stem)
    _PLUGINS.load()
    return tuple(entry for entry in _METHODS.values() if stem in (None, entry.stem))


def selected_methods(
    stem: str, names: Iterable[str] | None = None, *, literal: bool = False
) -> tuple[Method, ...]:
    """Return the methods of a problem that are named, each once, or else the usual ones.

    Parameters
    ----------
    stem : str
    names : iterable of str, optional
        By default every registered method but the literal ones.
    literal : bool, default False
        Include the variants that reproduce printed errors, where none are named.

    Raises
    ------
    NotApplicableError
        If there is none of some name, or a name stands where a list of names is expected.

    Examples
    --------
    >>> [entry.name for entry in selected_methods("iit", ["opr", "exact", "opr"])]
    ['opr', 'exact']
    """
    if names is None:
        return tuple(entry for entry in methods(stem) if literal or not entry.literal)
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise NotApplicableError(f"methods are a list of names, got {names!r}")
    return tuple(method(stem, name) for name in dict.fromkeys(names))


def method(stem: str, name: str) -> Method:
    """Return a method by its problem and name; if need be, installed plug-ins are loaded.

    Raises
    ------
    NotApplicableError
        If there is none of that name; it says which are close.

    Examples
    --------
    >>> method("iit", "edf-iit-2").claim
    'optimal'
    """
    problem(stem)
    if (stem, name) not in _METHODS and isinstance(name, str):
        name = aliases.current_method(stem, name)
    if (stem, name) not in _METHODS:
        names = [entry.name for entry in methods(stem)]
        if name not in names:  # it is of no plug-in either
            known = known_names(name, names, f"dlopt methods {stem}")
            raise NotApplicableError(f"{stem} has no method {name!r} ({known})")
    return _METHODS[stem, name]


def register(
    stem: str,
    name: str,
    function: MethodFunction,
    *,
    kind: Kind = "heuristic",
    claim: Claim = "sound",
    plan_class: PlanClass | None = None,
    objectives: tuple[str, ...] | None = None,
    source: str = "",
    applies: Applies | None = None,
    options: tuple[Option, ...] = (),
    summary: str = "",
) -> Method:
    """Add a method of your own, to be solved, compared, checked and falsified like any other.

    Parameters
    ----------
    stem : str
        The problem that it solves.
    name : str
        Kebab-case; not taken yet.
    function : callable
        ``function(instance, *, objective, limits, hint, seed, **options) -> Result``; those of
        the four that it does not use may be missing.
    kind, claim, objectives, source, applies, options, summary
        See `dlopt.registry.method_entries.Method`; by default every objective of the problem.
    plan_class : {"single", "per-stage", "k", "any"}, optional
        The plans that it ranges over; by default those of the problem's method ``exact``:
        ``single`` for iit and admission, ``per-stage`` for multistage, ``any`` for the others. The
        bounds of a method hold for this class, unless its result states another one. A plan
        without a bound is compared with what is proven of the narrowest class that it belongs to,
        see `dlopt.problems.narrowest_plan_class.class_of_plan`.

    Returns
    -------
    Method

    Raises
    ------
    NotApplicableError
        If the problem does not exist, the name is not kebab-case, or taken by another function;
        if the function cannot be called, or an objective, option or word does not exist.
    """
    module: Any = problem(stem).module
    plan_class = method(stem, "exact").plan_class if plan_class is None else plan_class
    kebab = r"[a-z0-9]+(-[a-z0-9]+)*(:literal(-[a-z0-9]+)*)?"
    if not isinstance(name, str) or re.fullmatch(kebab, name) is None:
        raise NotApplicableError(f"method names are kebab-case, got {name!r}")
    if not callable(function):
        raise NotApplicableError(f"a method is a function, not a {type(function).__name__}")
    for what, word, words in (
        ("kind", kind, get_args(Kind)),
        ("claim", claim, get_args(Claim)),
        ("plan_class", plan_class, PLAN_CLASSES),
    ):
        if word not in words:
            raise NotApplicableError(f"{what} must be one of {', '.join(words)}, got {word!r}")
    goals = tuple(module.OBJECTIVES) if objectives is None else _names("objectives", objectives)
    goals = tuple(aliases.current_objective(stem, goal) for goal in goals)
    for goal in goals:
        if goal not in module.OBJECTIVES:
            known = known_names(goal, module.OBJECTIVES)
            raise NotApplicableError(f"{stem} has no objective {goal!r} ({known})")
    if not goals:
        raise NotApplicableError("objectives must name one at least")
    if applies is not None and not callable(applies):
        raise NotApplicableError(f"applies is a function, not a {type(applies).__name__}")
    if not isinstance(options, tuple | list) or not all(isinstance(one, Option) for one in options):
        raise NotApplicableError(f"options must be a tuple of Option, got {options!r}")
    _names("options", tuple(option.name for option in options))
    taken = _METHODS.get((stem, name))
    if taken is not None and taken.target is not function:
        raise NotApplicableError(f"{stem} already has a method {name!r}")
    entry = Method(
        stem,
        name,
        kind=kind,
        source=source,
        claim=claim,
        plan_class=plan_class,
        objectives=goals,
        target=function,
        applies=applies,
        options=tuple(options),
        summary=summary,
    )
    _METHODS[stem, name] = entry
    return entry


def _names(what: str, names: object) -> tuple[str, ...]:
    """Return names that are given as a tuple or list of texts, each once."""
    if not isinstance(names, tuple | list) or not all(isinstance(name, str) for name in names):
        raise NotApplicableError(f"{what} must be a tuple of names, got {names!r}")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise NotApplicableError(f"{what} must not name {twice[0]!r} twice")
    return tuple(names)
