"""Arguments and results of every method, whatever the problem: limits, statuses, results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, Generic, Literal, TypeAlias, TypeGuard, TypeVar, get_args

from dlopt.arithmetic import (
    Number,
    PrintableRecord,
    converted,
    exact,
    is_finite,
    is_number,
    shown,
)
from dlopt.certificates import Certificate
from dlopt.errors import NotApplicableError
from dlopt.objective_values import Value as Value
from dlopt.objective_values import is_value
from dlopt.objective_values import levels_of as levels_of
from dlopt.objective_values import shown_value as shown_value
from dlopt.plan_classes import PLAN_CLASSES as PLAN_CLASSES
from dlopt.plan_classes import PlanClass as PlanClass
from dlopt.presented_record import TabularRecord

Proof: TypeAlias = Literal["exact", "certificate", "solver", "floats"]
"""How a bound, or a proof of infeasibility, is established.

``exact``: proven in rational arithmetic. ``certificate``: the same, and `Result.certificate` is a
proof that can be written as a file and checked by others. ``solver``: reported by HiGHS or CP-SAT.
``floats``: computed in floating-point numbers by a formula that is proven.
"""

PROOFS: tuple[Proof, ...] = ("exact", "certificate", "solver", "floats")
"""The ways to establish a bound, see `Proof`."""

StoppedBy: TypeAlias = Literal["time", "work", "gap", "target-value", "no-improvement", "request"]
"""What ended a search before it was done: one of its limits, or the caller's request."""

STOPPED_BY: tuple[StoppedBy, ...] = get_args(StoppedBy)
"""What may end a search, see `StoppedBy`."""

SolutionT_co = TypeVar("SolutionT_co", covariant=True)


class Status(StrEnum):
    """How a method ended.

    ``OPTIMAL`` means that value and bound agree; ``UNSOUND`` that the plan of a method known to
    be flawed breaks the rules; ``BOUND`` that there is a bound and, by design, no plan.
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    LIMIT = "limit"
    UNKNOWN = "unknown"
    BOUND = "bound"
    UNSOUND = "unsound"


WITH_PLAN = frozenset({Status.OPTIMAL, Status.FEASIBLE, Status.UNSOUND})
"""The statuses that come with a plan; the others come without."""


def _is_int_or_float(value: object) -> TypeGuard[int | float]:
    """Tell whether a limit is a number that is no fraction, and a float of its size is finite."""
    return is_number(value) and not isinstance(value, Fraction)


def _plain_limit(value: object) -> object:
    """Return a limit that is a number of NumPy or a fraction as an integer or a float."""
    number = converted(value)
    return float(number) if isinstance(number, Fraction) and is_finite(number) else number


def _plain_levels(value: object) -> object:
    """Return an objective value that has numbers of NumPy, or a list of levels, as it is kept."""
    return tuple(map(converted, value)) if isinstance(value, tuple | list) else converted(value)


LIMIT_RULES: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "time_s": (
        "must be a positive, finite number",
        lambda value: value is None or (_is_int_or_float(value) and value > 0),
    ),
    "work": (
        "must be a positive integer",
        lambda value: value is None or (type(value) is int and value > 0),
    ),
    "threads": ("must be a positive integer", lambda value: type(value) is int and value >= 1),
    "gap": (
        "must be a finite number, not negative",
        lambda value: _is_int_or_float(value) and value >= 0,
    ),
    "target_value": (
        "must be a finite number, or a tuple of them for the levels of an objective",
        lambda value: value is None or is_value(value),
    ),
    "no_improvement_s": (
        "must be a positive, finite number",
        lambda value: value is None or (_is_int_or_float(value) and value > 0),
    ),
}
"""What each limit must be, in words and as a condition."""


@dataclass(frozen=True, slots=True)
class Limits(PrintableRecord):
    """How much a method may spend, and when it has found enough.

    `Result.stopped_by` says which of them ended a search.

    Parameters
    ----------
    time_s : float, optional
        Seconds of wall-clock time, for the heuristics too from whose plans an exact method starts,
        for stating its model and for checking its answer. Half a second later, or a twentieth of
        the limit if that is more, a method is given up: see `dlopt.solve`. An answer under a time
        limit may differ between runs.
    work : int, optional
        Deterministic limit: branch-and-bound nodes or iterations.
    threads : int
        Threads that a solver may use.
    gap : float
        Relative gap at which a solver may stop. An answer with a gap is not called optimal.
    target_value : Number or tuple of Number, optional
        A search ends once it has a schedule that is at least as good; for lexicographic objectives
        the levels, compared in their order.
    no_improvement_s : float, optional
        A search ends once it has a schedule and has found no better one for so many seconds.

    Notes
    -----
    The last two are looked at from outside, several times a second, for every method that reports
    what it has found while it searches, as all exact methods do; see `dlopt.solve`. Like those
    under a time limit, such answers may differ between runs.

    Raises
    ------
    NotApplicableError
        If a limit is negative or no number; each that is wrong is named.
    """

    time_s: float | None = None
    work: int | None = None
    threads: int = 1
    gap: float = 0.0
    target_value: Value | None = None
    no_improvement_s: float | None = None

    def __post_init__(self) -> None:
        flags = {
            "time_s": "time-limit",
            "target_value": "target-value",
            "no_improvement_s": "no-improvement",
        }
        wrong = []
        for name, (rule, is_good) in LIMIT_RULES.items():
            given = getattr(self, name)
            limit = _plain_levels(given) if name == "target_value" else _plain_limit(given)
            if not is_good(limit):
                wrong.append(f"{name} (--{flags.get(name, name)}) {rule}, got {given!r}")
            object.__setattr__(self, name, limit)
        if wrong:
            raise NotApplicableError("limits: " + "; ".join(wrong))


NO_LIMITS = Limits()
"""One thread, for as long as it takes."""


@dataclass(frozen=True, slots=True)
class Violation(PrintableRecord):
    """One way in which a plan breaks a rule of its problem.

    Parameters
    ----------
    kind : str
        The rule, from the problem's list.
    resource : str
        What it is broken on: ``node 3``, ``channel``, ``load``.
    start, end : Number, optional
        The interval in which it is broken.
    amount : Number, optional
        By how much.
    """

    kind: str
    resource: str
    start: Number | None = None
    end: Number | None = None
    amount: Number | None = None

    def __str__(self) -> str:
        text = f"{self.kind} on {self.resource}"
        if self.start is not None and self.end is not None:
            text += f" in [{shown(self.start)}, {shown(self.end)}]"
        elif self.start is not None:
            text += f" at {shown(self.start)}"
        return text if self.amount is None else f"{text} by {shown(self.amount)}"


@dataclass(frozen=True, slots=True)
class Objective:
    """What is to be made small or large.

    Parameters
    ----------
    name : str
    sense : {"min", "max"}
    levels : tuple of str
        For a lexicographic objective, the names of its levels; else its own name alone.
    requires_field : str, optional
        An instance field that must be given for the objective to make sense.
    shown_in_comparison : bool, default True
        Whether a comparison under another objective shows it, too.
    shown_with : str, optional
        An instance field without which the values of all schedules are equal, or those of another
        objective; a comparison then does not show it.
    senses : tuple of {"min", "max"}, optional
        The sense of each level where they differ; `sense` is that of the first.
    equal_to : str, optional
        The objective that has the same values for instances without the field `shown_with`.

    Examples
    --------
    >>> goal = Objective("few-then-much", "min", ("few", "much"), senses=("min", "max"))
    >>> goal.better((1, 5), (1, 4)), goal.better((2, 5), (1, 4))
    (True, False)
    """

    name: str
    sense: Literal["min", "max"]
    levels: tuple[str, ...] = ()
    requires_field: str | None = None
    shown_in_comparison: bool = True
    senses: tuple[Literal["min", "max"], ...] = ()
    shown_with: str | None = None
    equal_to: str | None = None

    def is_redundant(self, instance: object) -> bool:
        """Tell whether another objective has the same values for an instance."""
        if self.equal_to is None or self.shown_with is None:
            return False
        return getattr(instance, self.shown_with) is None

    def better(self, left: Value, right: Value) -> bool:
        """Tell whether `left` is strictly better than `right`, compared exactly."""
        return self._rank(left) < self._rank(right)

    def senses_of(self, value: Value) -> tuple[Literal["min", "max"], ...]:
        """Return the sense of each level of a value."""
        return self.senses or (self.sense,) * len(levels_of(value))

    def _rank(self, value: Value) -> tuple[Number, ...]:
        levels = zip(map(exact, levels_of(value)), self.senses_of(value), strict=True)
        return tuple(level if sense == "min" else -level for level, sense in levels)


@dataclass(frozen=True)  # slots would break Result[Solution](...) in Python 3.11
class Result(TabularRecord, Generic[SolutionT_co]):
    """The answer of a method, checked.

    What is absent is ``None``, never infinity, zero or an empty list.

    Parameters
    ----------
    status : Status
    solution : object, optional
        The plan.
    objective : str
        Name of the objective.
    value : Value, optional
        The objective value, recomputed from the plan by the rules of the problem. Only a method
        that is known to be flawed keeps the value that it claims.
    bound : Value, optional
        No plan of the class `plan_class` is better than this.
    reason : str, optional
        Why there is no plan, or why it is no better.
    violations : tuple of Violation
        What the plan breaks; empty unless the status is ``UNSOUND``.
    tolerance : float
        The relative tolerance under which the plan was checked; 0 is exact.
    runtime_s : float, optional
        Seconds of the method, with the heuristics that an exact method starts from, and without
        the check of its answer; not part of equality.
    method : str
    seed : int
    plan_class : PlanClass, optional
        The plans that the method ranged over.
    solver, solver_version : str, optional
    certificate : BoundCertificate or InfeasibilityProof, optional
        The proof of the bound, or that there is no plan, where it is one in fractions;
        `dlopt.write_certificate` writes it as a file. Not part of equality.
    proof : Proof, optional
        How the bound, or the status ``INFEASIBLE``, is established; None where there is neither.
    origin : Number
        Where value and bound are dates, the first instant that matters: gaps are relative to the
        time since then, not to the epoch of the clock. Else 0.
    installments : int, optional
        Of the class ``k``, how many chunks a node may get (of a task, if there are tasks).
    instance : Instance, optional
        What was solved, as `dlopt.solve` states it. Not part of equality.
    stopped_by : StoppedBy, optional
        What ended the search before it was done: ``time``, ``work``, ``gap``, ``target-value`` and
        ``no-improvement`` are those of `Limits`, ``request`` is the caller's. None of what is
        proven, and of methods that end by themselves. Not part of equality.

    Examples
    --------
    >>> result = Result(Status.FEASIBLE, value=4, bound=3, method="opr")
    >>> result.gap
    Fraction(1, 4)
    >>> print(result)
    status: feasible
     value: 4
     bound: 3
       gap: 25.000%
    method: opr

    Its text can be printed whatever the numbers: those with more digits than Python prints (4300)
    are rounded.

    >>> from fractions import Fraction
    >>> huge = Result(Status.FEASIBLE, value=Fraction(10**5000, 3 * 10**4990 + 1))
    >>> "value=3333333333.333, bound=None" in repr(huge)
    True
    """

    PRESENTED_BY: ClassVar[str] = "dlopt.presentation.results"

    status: Status
    solution: SolutionT_co | None = None
    objective: str = ""
    value: Value | None = None
    bound: Value | None = None
    reason: str | None = None
    violations: tuple[Violation, ...] = ()
    tolerance: float = 0.0
    runtime_s: float | None = field(default=None, compare=False)
    method: str = ""
    seed: int = 0
    plan_class: PlanClass | None = None
    solver: str | None = None
    solver_version: str | None = None
    certificate: Certificate | None = field(default=None, compare=False, repr=False)
    proof: Proof | None = None
    origin: Number = 0
    installments: int | None = None
    instance: object | None = field(default=None, compare=False, repr=False)
    stopped_by: StoppedBy | None = field(default=None, compare=False)

    @property
    def gap(self) -> Value | None:
        """``|value - bound| / |value - origin|``: 0 if value and bound are equal.

        None if one of them is absent, or the value is the origin.
        """
        if self.value is None or self.bound is None:
            return None
        if isinstance(self.value, tuple) and isinstance(self.bound, tuple):
            gaps = [relative_gap(b, v) for v, b in zip(self.value, self.bound, strict=True)]
            return None if None in gaps else tuple(g for g in gaps if g is not None)
        if isinstance(self.value, tuple) or isinstance(self.bound, tuple):
            return None
        return relative_gap(self.bound, self.value, self.origin)


def relative_gap(value: Number, reference: Number, origin: Number = 0) -> Number | None:
    """Return ``|value - reference| / |reference - origin|``.

    It is 0 if the two are equal, and None if the reference is the origin. It is a float if one of
    the two is a float, else exact.

    Examples
    --------
    >>> relative_gap(5, 4), relative_gap(1_700_000_005, 1_700_000_004, 1_700_000_000)
    (Fraction(1, 4), Fraction(1, 4))
    """
    one, other = exact(value), exact(reference)
    if one == other:
        return 0
    span = abs(other - exact(origin))
    if span == 0:
        return None
    gap = abs(one - other) / span
    floating = isinstance(value, float) or isinstance(reference, float)
    return float(gap) if floating and is_finite(gap) else gap
