"""Values, durations, counts and proofs in words, as tables and summaries show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dlopt.arithmetic import Number, exact, is_finite, nearest_float, shown, simplest
from dlopt.result import PlanClass, Result, Status, Value

PROOFS = {
    "exact": "bound proven in exact arithmetic",
    "certificate": "bound certified, VIPR certificate available",
    "solver": "bound reported by the solver, not certified",
    "floats": "bound by a closed form, up to rounding",
}
"""What is printed of the proof of a bound that is not the value."""

_PROVEN = {
    "exact": "proven exactly",
    "certificate": "certified",
    "solver": "claimed by {}",
    "floats": "up to rounding",
}
LONGEST = 10**20
"""Fractions in tables have no more digits than this above and below the line; chosen by hand."""
LEAST_WHOLE = 10**6
"""From here on objective values in tables have no decimals: six digits are shown of smaller ones.
"""
_PROVEN_STATUSES = (Status.OPTIMAL, Status.INFEASIBLE)

PLAN_CLASSES: Mapping[PlanClass, str] = {
    "single": "at most one chunk of a load per node",
    "per-stage": "at most one chunk of a load per node and stage",
    "k": "at most {} chunks of a load per node",
}
"""What is printed of the plans for which a bound holds, where it does not hold for all."""

SIGNS = {"min": ">=", "max": "<="}
"""On which side of a bound the values of all plans are, by the sense of the objective."""


def amount(value: Value | None) -> str:
    """Return a value as text; an exact fraction with its decimals.

    Examples
    --------
    >>> from fractions import Fraction
    >>> amount(Fraction(39, 8)), amount((2, 0.5)), amount(None)
    ('39/8 (4.875)', '(2, 0.5)', '-')
    """
    if isinstance(value, tuple):
        return "(" + ", ".join(amount(level) for level in value) + ")"
    text = shown(value)
    return f"{text} ({float(value):.6g})" if value is not None and "/" in text else text


def decimals(value: Value | None, digits: int = 6) -> str:
    """Return a value as text in decimals, rounded where they do not end soon.

    Examples
    --------
    >>> decimals(Fraction(129937, 97)), decimals((3, Fraction(1, 2))), decimals(None)
    ('1339.56', '(3, 0.5)', '-')
    """
    if isinstance(value, tuple):
        return f"({', '.join(decimals(level, digits) for level in value)})"
    near = nearest_float(value) if isinstance(value, Fraction) else None
    return shown(value if near is None else near, digits)


def fraction_text(value: Value | None) -> str:
    """Return a value exactly as text; of fractions too long for a table, the decimals.

    Examples
    --------
    >>> fraction_text(Fraction(81000000, 19)), fraction_text((2, Fraction(1, 3)))
    ('81000000/19', '(2, 1/3)')
    >>> fraction_text(Fraction(1, 3**100)), fraction_text(0.5), fraction_text(None)
    ('1.94033e-48', '0.5', '-')
    """
    if isinstance(value, tuple):
        return f"({', '.join(map(fraction_text, value))})"
    if isinstance(value, Fraction) and max(abs(value.numerator), value.denominator) < LONGEST:
        return str(simplest(value))
    return shown(value)


def objective_text(value: Value | None, origin: Number = 0) -> str:
    """Return an objective value in decimals; whole from a million on, counted from its origin.

    Of a date that is less than a million after its origin the decimals matter, however large it is.

    Parameters
    ----------
    value : Value, optional
    origin : Number, default 0
        The instant that it counts from if it is a date.

    Examples
    --------
    >>> objective_text(1215002.347), objective_text((3, 1e6 + 0.25)), objective_text(0.5)
    ('1215002', '(3, 1000000)', '0.5')
    >>> objective_text(1_700_000_005.305, origin=1_700_000_000)
    '1700000005.305'
    """
    if isinstance(value, tuple):
        return f"({', '.join(objective_text(level, origin) for level in value)})"
    if value is None or not is_finite(value):  # a method that is unsound may claim anything
        return decimals(value)
    if abs(exact(value) - exact(origin)) < LEAST_WHOLE:
        return decimals(value)
    return decimals(round(value))


def status_text(result: Result[object]) -> str:
    """Return the status; of one that needs a proof, with what proves it.

    Examples
    --------
    >>> status_text(Result(Status.OPTIMAL, bound=3, proof="certificate"))
    'optimal (certified)'
    >>> status_text(Result(Status.INFEASIBLE, proof="solver", solver="CP-SAT"))
    'infeasible (claimed by CP-SAT)'
    >>> status_text(Result(Status.FEASIBLE, bound=3, proof="certificate"))
    'feasible'
    """
    if result.proof is None or result.status not in _PROVEN_STATUSES:
        return str(result.status)
    solver = (result.solver or "a solver").replace("+", " and ")
    return f"{result.status} ({_PROVEN[result.proof].format(solver)})"


def bound_proof_text(result: Result[object]) -> str | None:
    """Return what proves the bound of a result, where its status does not say it.

    Examples
    --------
    >>> bound_proof_text(Result(Status.BOUND, bound=3, proof="solver"))
    'bound reported by the solver, not certified'
    >>> bound_proof_text(Result(Status.OPTIMAL, bound=3, proof="solver"))
    """
    if result.proof is None or result.status in _PROVEN_STATUSES:
        return None
    return PROOFS[result.proof]


def class_text(result: Result[object]) -> str | None:
    """Return for which plans the bound of a result holds; None if it holds for all, or is none.

    Examples
    --------
    >>> from dlopt.result import Status
    >>> class_text(Result(Status.BOUND, bound=3, plan_class="k", installments=2))
    'class k, at most 2 chunks of a load per node'
    """
    plans = PLAN_CLASSES.get(result.plan_class or "any")
    if plans is None or (result.proof is None and result.bound is None):
        return None
    count = "as many as stated" if result.installments is None else result.installments
    return f"class {result.plan_class}, {plans.format(count)}"


def signed_bound(bound: Value, sense: str, senses: Sequence[str] = ()) -> str:
    """Return a bound with its sign; of levels of differing sense, each with its own.

    Examples
    --------
    >>> signed_bound(4, "min"), signed_bound((4, 1), "max", ("max", "min"))
    ('>= 4', '(<= 4, >= 1)')
    """
    if not isinstance(bound, tuple) or not senses:
        return f"{SIGNS[sense]} {amount(bound)}"
    levels = zip(senses, bound, strict=True)
    return "(" + ", ".join(f"{SIGNS[sign]} {amount(one)}" for sign, one in levels) + ")"


def percentage(gap: Value | None, digits: int = 3) -> str:
    """Return a gap in per cent, of levels each.

    Examples
    --------
    >>> percentage(0.25), percentage((0, 0.5), 1), percentage(None)
    ('25.000%', '(0.0%, 50.0%)', '-')
    """
    if gap is None:
        return "-"
    if isinstance(gap, tuple):
        return f"({', '.join(percentage(level, digits) for level in gap)})"
    try:
        return f"{float(gap):.{digits}%}"
    except OverflowError:
        return f"{shown(gap * 100)}%"


def method_text(result: Result[object]) -> str:
    """Return the method of a result, with its solver if it has one."""
    if result.solver is None:
        return result.method
    return f"{result.method} ({' '.join(filter(None, (result.solver, result.solver_version)))})"


def seconds(time: float | None) -> str:
    """Return a duration of three digits, or more from 1000 to 10^9 s, with a unit that fits.

    Examples
    --------
    >>> seconds(2), seconds(0.0125), seconds(3e-6), seconds(None)
    ('2 s', '12.5 ms', '3 us', '-')
    >>> seconds(1234.5), seconds(0.9996), seconds(0.0009996), seconds(1e15)
    ('1234 s', '1 s', '1 ms', '1e+15 s')
    """
    if time is None:
        return "-"
    for factor, unit in ((1, "s"), (1e3, "ms")):
        value = time * factor
        if value >= 0.9995:
            is_long = 999.5 <= value < 1e9
            return f"{value:.0f} {unit}" if is_long else f"{max(value, 1.0):.3g} {unit}"
    return f"{time * 1e6:.0f} us"


def precision(tolerance: float) -> str:
    """Return with which tolerance something was verified.

    Examples
    --------
    >>> precision(0), precision(1e-6)
    ('exact', 'tol 1e-6')
    """
    return "exact" if tolerance == 0 else f"tol {tolerance:g}".replace("e-0", "e-")


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "seed"), counted(1200, "run"), counted(0, "violation")
    ('1 seed', '1,200 runs', '0 violations')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"
