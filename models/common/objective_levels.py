"""Values and bounds of the levels of an objective as values of results.

Examples
--------
>>> from fractions import Fraction
>>> as_objective_value([1, Fraction(5, 2)]), as_objective_value([Fraction(5, 2)])
((1, Fraction(5, 2)), Fraction(5, 2))
>>> match_number_type((Fraction(4, 2), Fraction(5, 2)), is_exact=False)
(2, 2.5)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from dlopt.arithmetic import Number, exact, simplest
from dlopt.certificates import Certificate
from dlopt.result import Result, Value, levels_of

SolutionT = TypeVar("SolutionT")


def as_objective_value(levels: Iterable[Number]) -> Value:
    """Return levels as a value of the objective: one number, or one for each level."""
    numbers = tuple(levels)
    return numbers if len(numbers) > 1 else numbers[0]


def match_number_type(value: Value, *, is_exact: bool) -> Value:
    """Return a value in the numbers of its instance: exact, or floats and integers."""
    return as_objective_value(_match_number(level, is_exact) for level in levels_of(value))


def with_certificate(
    result: Result[SolutionT], certificate: Certificate | None
) -> Result[SolutionT]:
    """Return a result with the certificate of its bound, if there is one.

    The reason of a bound that a solver has reported says that it was proven afterwards.

    Examples
    --------
    >>> from dlopt.certificates import InfeasibilityProof
    >>> from dlopt.result import Status
    >>> reason = "source of the bound: CP-SAT"
    >>> claimed = Result(Status.BOUND, bound=3, proof="solver", reason=reason)
    >>> with_certificate(claimed, InfeasibilityProof((), (), ())).reason
    'source of the bound: CP-SAT; proven again by a certificate'
    """
    if certificate is None:
        return result
    reason = result.reason
    if result.proof == "solver":
        reason = f"{reason}; proven again by a certificate"
    return replace(result, reason=reason, certificate=certificate)


def _match_number(number: Number, is_exact: bool) -> Number:
    plain = simplest(exact(number))
    return plain if is_exact or isinstance(plain, int) else float(plain)


def bound_reason(derivations: Iterable[str]) -> str:
    """Return what the bounds of the levels of an objective come from, as a line of a reason.

    Examples
    --------
    >>> bound_reason(["the critical path", "CP-SAT", "CP-SAT"])
    'source of the bound: the critical path; CP-SAT'
    """
    return f"source of the bound: {'; '.join(dict.fromkeys(derivations))}"
