"""Names first: which problems and methods there are. Their code is imported on use."""

from __future__ import annotations

import difflib
import re
from typing import Any

from dlopt.errors import NotApplicableError
from dlopt.problems.records import Header
from dlopt.registry import iit
from dlopt.registry.entries import (
    Applies,
    Claim,
    Kind,
    Method,
    MethodFunction,
    Option,
    Problem,
)
from dlopt.result import PlanClass

__all__ = [
    "Method",
    "Option",
    "Problem",
    "method",
    "methods",
    "problem",
    "problem_of",
    "register",
    "stems",
]

_TABLES = (iit,)
_PROBLEMS: dict[str, Problem] = {table.PROBLEM.stem: table.PROBLEM for table in _TABLES}
_METHODS: dict[tuple[str, str], Method] = {
    (entry.stem, entry.name): entry for table in _TABLES for entry in table.METHODS
}


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
        raise NotApplicableError(f"no problem {stem!r} (known: {', '.join(_PROBLEMS)})")
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
    """Return all methods, or those of one problem, in the order of registration."""
    if stem is not None:
        problem(stem)
    return tuple(entry for entry in _METHODS.values() if stem in (None, entry.stem))


def method(stem: str, name: str) -> Method:
    """Return a method by its problem and name.

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
    if (stem, name) not in _METHODS:
        names = [entry.name for entry in methods(stem)]
        close = difflib.get_close_matches(name, names, n=3) or names
        raise NotApplicableError(f"{stem} has no method {name!r}; there is {', '.join(close)}")
    return _METHODS[stem, name]


def register(
    stem: str,
    name: str,
    function: MethodFunction,
    *,
    kind: Kind = "heuristic",
    claim: Claim = "sound",
    plan_class: PlanClass = "any",
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
        ``function(instance, *, objective, limits, hint, seed, **options) -> Result``.
    kind, claim, plan_class, objectives, source, applies, options, summary
        See `dlopt.registry.entries.Method`; by default every objective of the problem.

    Returns
    -------
    Method

    Raises
    ------
    NotApplicableError
        If the problem does not exist, the name is not kebab-case, or taken by another function.
    """
    module: Any = problem(stem).module
    if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*(:literal(-[a-z0-9]+)*)?", name) is None:
        raise NotApplicableError(f"method names are kebab-case, got {name!r}")
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
        objectives=objectives or tuple(module.OBJECTIVES),
        target=function,
        applies=applies,
        options=options,
        summary=summary,
    )
    _METHODS[stem, name] = entry
    return entry
