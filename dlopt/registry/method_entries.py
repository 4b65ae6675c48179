"""Entries of the registry: problems and methods, described before their code is imported."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeAlias

from dlopt import aliases
from dlopt.arithmetic import converted
from dlopt.errors import DloptError, NotApplicableError, SolverError, known_names
from dlopt.interruption import GivenUp
from dlopt.registry.user_code import cause
from dlopt.result import Objective, PlanClass, Result, Violation

Kind: TypeAlias = Literal["heuristic", "exact", "bound"]
Claim: TypeAlias = Literal["optimal", "sound", "literal-unsound", "none"]
MethodFunction: TypeAlias = Callable[..., Result[Any]]
Applies: TypeAlias = Callable[[Any], str | None]

COMMON = ("objective", "limits", "hint", "seed")
"""The arguments that methods have in common, each where it is used; see `dlopt.registry`."""

_TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str}
_BOOLEANS = {"true": True, "false": False}


class ProblemModule(Protocol):
    """What ``dlopt.problems.<stem>`` offers, whatever the problem.

    Where an objective is a date, it also has ``origin(instance, name)``: the instant from which
    the objective counts, 0 of one that is no date.
    """

    OBJECTIVES: Mapping[str, Objective]
    Instance: Any
    Solution: Any

    def faults(self, data: object) -> tuple[Any, ...]:
        """Return everything that is wrong with the data of an instance."""

    def default_objective(self, instance: Any) -> str:
        """Return the objective that is meant where none is named."""

    def objective(self, instance: Any, solution: Any, name: str) -> Any:
        """Return the exact objective value of a plan."""

    def violations(
        self, instance: Any, solution: Any, tolerance: float = 0
    ) -> tuple[Violation, ...]:
        """Return all violations of the rules by a plan."""


class ChangedInstanceError(SolverError):
    """A caller's own method changed the instance that it was given."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem by its stem.

    Parameters
    ----------
    stem, summary : str
    certified : str
        ``module:function`` of an instance, a result and a certificate that returns what the
        certificate proves of the instance, and what is wrong with the program it states.
    hints : tuple of str
        Heuristics whose best plan is handed to exact methods as a hint.
    """

    stem: str
    summary: str
    certified: str
    hints: tuple[str, ...] = ()

    @property
    def module(self) -> Any:
        """The module with the data and the rules, see `ProblemModule`."""
        return importlib.import_module(f"dlopt.problems.{self.stem}")

    def load_certified(self) -> Callable[[Any, Result[Any], Any], tuple[Any, str | None]]:
        """Return the function `certified`, importing it if need be."""
        function: Callable[[Any, Result[Any], Any], tuple[Any, str | None]]
        function = _resolve(self.certified)
        return function


@dataclass(frozen=True, slots=True)
class Option:
    """A named option of a method, with its type.

    Parameters
    ----------
    name : str
    type : {"bool", "int", "float", "str"}
    default : object
    help : str
    choices : tuple of str, optional
    least : float, optional
        The least value allowed.
    """

    name: str
    type: Literal["bool", "int", "float", "str"]
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    least: float | None = None

    def read(self, value: object) -> Any:
        """Return a value, given as itself or as text, in the option's type.

        Raises
        ------
        NotApplicableError
            If it is of another type, or not among the choices.
        """
        kind = _TYPES[self.type]
        wanted = " or ".join(self.choices or ()) or f"a value of type {self.type}"
        read: Any
        try:
            if kind is bool:
                wanted = "true or false"
                read = _BOOLEANS.get(value) if isinstance(value, str) else converted(value)
            else:
                read = kind(value) if isinstance(value, str) else converted(value)
        except ValueError:
            read = None
        if kind is float and type(read) in (int, Fraction):
            with contextlib.suppress(OverflowError):  # else it stays what the option does not take
                read = float(read)
        good = type(read) is kind and (not self.choices or read in self.choices)
        if good and self.least is not None and not read >= self.least:
            good, wanted = False, f"at least {self.least}"
        if not good:
            raise NotApplicableError(f"option {self.name} takes {wanted}, got {value!r}")
        return read


@dataclass(frozen=True, slots=True)
class Method:
    """A method by its stem and name.

    Parameters
    ----------
    stem, name : str
    kind : {"heuristic", "exact", "bound"}
    source : str
        Paper, section, algorithm.
    claim : {"optimal", "sound", "literal-unsound", "none"}
        ``optimal`` proves its optimum; ``sound`` gives valid plans; ``literal-unsound`` is
        published so and may violate rules; ``none`` gives valid plans, but a property that the
        paper states is false.
    plan_class : {"single", "per-stage", "k", "any"}
        The plans it ranges over.
    objectives : tuple of str
    target : str or callable
        ``module:function``, imported on first use, or a caller's own function.
    applies : str or callable, optional
        ``module:function`` of the instance that returns why the method does not apply, or None.
    options : tuple of Option
    summary : str
    """

    stem: str
    name: str
    kind: Kind
    source: str
    claim: Claim
    plan_class: PlanClass
    objectives: tuple[str, ...]
    target: str | MethodFunction
    applies: str | Applies | None = None
    options: tuple[Option, ...] = ()
    summary: str = ""

    @property
    def literal(self) -> bool:
        """Whether it reproduces an error of a paper."""
        return ":literal" in self.name

    def load(self) -> MethodFunction:
        """Return the function, importing it if need be.

        It ignores those arguments common to all methods that the method does not have.
        """
        function: MethodFunction = _resolve(self.target)
        return _with_common_arguments(function)

    def run(self, instance: object, **arguments: object) -> Result[object]:
        """Return the answer of the function to an instance, whatever it is.

        Raises
        ------
        SolverError
            If the function fails.
        ChangedInstanceError
            If a caller's own function changes the instance: its plan would be checked by other
            data than were given.
        """
        is_own = not isinstance(self.target, str)
        before = hash(instance) if is_own else 0
        failure: DloptError | None = None
        try:
            with self.guard():
                function = self.load()
                answer = function(instance, **arguments)
        except DloptError as error:
            failure = error
        if is_own and hash(instance) != before:
            raise ChangedInstanceError(f"{self.name} failed: it changed the instance") from failure
        if failure is not None:
            raise failure
        return answer

    def reason_against(self, instance: Any, objective: str | None = None) -> str | None:
        """Return why the method cannot be used on an instance, or None if it can.

        Raises
        ------
        SolverError
            If the method's own `applies` fails.
        """
        if objective is not None and objective not in self.objectives:
            return f"does not support objective {objective!r}"
        if self.applies is None:
            return None
        with self.guard():
            applies: Applies = _resolve(self.applies)
            return applies(instance)

    def guard(self) -> contextlib.AbstractContextManager[None]:
        """Turn whatever fails in the method's own code into an error that names the method."""
        return guarded(self.name)

    def read_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given options in their types.

        Raises
        ------
        NotApplicableError
            If one is unknown, or its value is not of its type.
        """
        known = {option.name: option for option in self.options}
        if not isinstance(given, Mapping):
            raise NotApplicableError(f"options are a mapping, not a {type(given).__name__}")
        given = aliases.current_options(self.stem, given)
        for name in given:
            if name not in known:
                names = known_names(name, known) + limits_hint(name)
                raise NotApplicableError(f"{self.name} has no option {name!r} ({names})")
        return {name: known[name].read(value) for name, value in given.items()}


@dataclass(frozen=True, slots=True)
class MethodGroup:
    """What the entries of several methods share, and where their functions are.

    Parameters
    ----------
    stem, kind
        See `Method`.
    module : str
        The module of the functions.
    objectives, plan_class, applies
        See `Method`; what an entry does not say. `applies` may be a function of `module`.
    """

    stem: str
    kind: Kind
    module: str
    objectives: tuple[str, ...]
    plan_class: PlanClass = "any"
    applies: str | None = None

    def entry(
        self,
        name: str,
        source: str,
        summary: str,
        options: tuple[Option, ...] = (),
        *,
        target: str | None = None,
        applies: str | None = None,
        claim: Claim | None = None,
        objectives: tuple[str, ...] | None = None,
        plan_class: PlanClass | None = None,
    ) -> Method:
        """Return the entry of a method.

        By default its function has its name, in lower case with underscores; exact methods are
        optimal, the ``:literal`` ones unsound, and all others sound.

        Examples
        --------
        >>> group = MethodGroup("iit", "heuristic", "package.module", ("completion",))
        >>> entry = group.entry("opr:literal-roots", "a paper", "as published")
        >>> entry.target, entry.claim
        ('package.module:opr_literal_roots', 'literal-unsound')
        """
        usual: Claim = "optimal" if self.kind == "exact" else "sound"
        function = target or name.replace("-", "_").replace(":", "_").lower()
        condition = applies or self.applies
        return Method(
            self.stem,
            name,
            kind=self.kind,
            source=source,
            claim=claim or ("literal-unsound" if ":literal" in name else usual),
            plan_class=plan_class or self.plan_class,
            objectives=objectives or self.objectives,
            target=self._qualified(function),
            applies=None if condition is None else self._qualified(condition),
            options=options,
            summary=summary,
        )

    def _qualified(self, function: str) -> str:
        """Return ``module:function`` of a function, which is of this module if it names none."""
        return function if ":" in function else f"{self.module}:{function}"


def _with_common_arguments(function: MethodFunction) -> MethodFunction:
    """Return a function that ignores those of the common arguments that it does not have."""
    try:
        known = inspect.signature(function).parameters
    except (TypeError, ValueError):  # one that is not written in Python
        return function
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    ignored = frozenset() if takes_any else frozenset(COMMON).difference(known)
    if not ignored:
        return function

    @functools.wraps(function)
    def method(instance: object, **given: object) -> Result[object]:
        return function(instance, **{name: given[name] for name in given if name not in ignored})

    return method


@contextlib.contextmanager
def guarded(name: str) -> Iterator[None]:
    """Turn whatever fails in code of others into an error that names the method.

    What dlopt raises on purpose passes, and so does what no method is to blame for.
    """
    try:
        yield
    except (DloptError, MemoryError):
        raise
    except (KeyboardInterrupt, GeneratorExit, GivenUp):
        raise
    except BaseException as error:
        raise SolverError(f"{name} failed: {cause(error)}") from error


_LIMIT_NAMES = ("time_limit", "time_s", "timeout", "work", "threads", "gap")
_LIMITS_HINT = "; limits are in limits=Limits(time_s=...), on the command line in --time-limit"


def limits_hint(name: str) -> str:
    """Return where a limit is given that was given as an option; nothing for other names.

    Examples
    --------
    >>> limits_hint("timeout"), limits_hint("solver")
    ('; limits are in limits=Limits(time_s=...), on the command line in --time-limit', '')
    """
    return _LIMITS_HINT if name in _LIMIT_NAMES else ""


SOLVER = Option("solver", "str", "HiGHS", "any LP/MILP solver that PuLP knows by name")


def _resolve(target: Any) -> Any:
    if not isinstance(target, str):
        return target
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
