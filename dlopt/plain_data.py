"""Comparisons, verifications and errors as plain data, for JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any

from dlopt import aliases, io, result_checker
from dlopt.api import Comparison, InvalidResultError
from dlopt.errors import (
    MISSING,
    DloptError,
    Fault,
    InvalidInstanceError,
    MissingExtraError,
    NotApplicableError,
    SolverError,
    short_text,
)
from dlopt.problems.validated_record import Header
from dlopt.result import Result, Status, Violation

MAX_FAULTS = 1_000
"""Faults that are listed of one error; chosen by hand: nobody reads more."""
_MAX_EXACT_INTEGER = 2**53
"""Up to here every program reads the number that is written."""
_MAX_TEXT_CHARS = 200
_TITLES = (
    (InvalidInstanceError, "Invalid content"),
    (NotApplicableError, "Not applicable"),
    (MissingExtraError, "Not installed"),
    (InvalidResultError, "Invalid result"),
    (SolverError, "Solver failed"),
)


def comparison_to_data(compared: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data; what a failed method would have said is None."""
    rows = []
    hashed = io.instance_hash(compared.instance)
    for row in compared.rows:
        found = row.result or Result(Status.UNKNOWN)
        data = io.result_to_data(compared.instance, found, known_hash=hashed) | {"solution": None}
        if row.result is None:
            known = ("problem", "instance", "hash", "dlopt")
            data = {key: value if key in known else None for key, value in data.items()}
            broken = (
                row.error.result.violations if isinstance(row.error, InvalidResultError) else ()
            )
            data["method"] = row.method.name
            data["violations"] = [io.violation_to_data(violation) for violation in broken]
        for measure in ("optimum", "bound"):
            gap = row.gap_to_best if compared.gap_reference == measure else None
            data[f"gap_to_{measure}"] = gap
        rows.append(aliases.with_former_keys(data) | {"failure": row.failure})
    data = {
        "problem": compared.instance.problem,
        "instance": compared.instance.name,
        "hash": hashed,
        "objective": compared.objective,
        "certified": compared.certified,
        "limits": {
            field.name: io.value_to_data(getattr(compared.limits, field.name))
            for field in fields(compared.limits)
        },
        "seed": compared.seed,
        "options": dict(compared.options),
        "rows": rows,
        "skipped": [{"method": name, "reason": why} for name, why in compared.skipped],
        "contradictions": [
            {
                "kind": wrong.kind,
                "best_known": wrong.known.to_data(),
                "method": wrong.method,
                **io.values_to_data(found=wrong.found),
            }
            for wrong in compared.contradictions
        ],
        "stated": [
            {
                "method": one.method,
                "plan_class": one.plan_class,
                **io.values_to_data(value=one.value, bound=one.bound),
            }
            for one in compared.stated
        ],
    }
    return aliases.with_former_keys(data)


def verification_to_data(
    instance: Header, plan: Any, violations: tuple[Violation, ...], tolerance: float | None = None
) -> dict[str, Any]:
    """Return what a check has found, and the values of the plan, as plain data.

    Parameters
    ----------
    instance : Instance
    plan : Solution or Result
    violations : tuple of Violation
        What `dlopt.check` has returned.
    tolerance : float, optional
        What it was given.
    """
    solution = plan.solution if isinstance(plan, Result) else plan
    values = {} if solution is None else result_checker.values_of(instance, solution)
    return {
        "valid": not violations,
        "tolerance": result_checker.tolerance_of(instance, plan, tolerance),
        "objectives": {name: io.value_to_data(value) for name, value in values.items()},
        "objectives_float": {name: io.value_as_float(value) for name, value in values.items()},
        "violations": [io.violation_to_data(violation) for violation in violations],
    }


def error_title(error: DloptError) -> str:
    """Return in few words what kind of error it is; services and commands say the same.

    Examples
    --------
    >>> error_title(InvalidInstanceError([Fault("k", 0, "must be positive")]))
    'Invalid content'
    """
    return next((title for kind, title in _TITLES if isinstance(error, kind)), "Error")


def error_to_data(error: DloptError, where: str = "") -> dict[str, object]:
    """Return an error as plain data: problem details (RFC 9457) without status.

    Parameters
    ----------
    error : DloptError
    where : str, default ""
        What the detail begins with.
    """
    faults: tuple[Fault, ...] = ()
    if isinstance(error, InvalidInstanceError):
        faults, error = error.faults, error.within(error.source, as_json=True)
    return problem_to_data(error_title(error), f"{where}{error}", faults)


def problem_to_data(title: str, detail: str, faults: Sequence[Fault] = ()) -> dict[str, object]:
    """Return problem details (RFC 9457) without status.

    Examples
    --------
    >>> problem_to_data("Not applicable", "no method")["type"]
    'urn:dlopt:not-applicable'
    """
    return {
        "type": f"urn:dlopt:{title.lower().replace(' ', '-')}",
        "title": title,
        "detail": detail,
        "faults": [fault_to_data(fault) for fault in faults[:MAX_FAULTS]],
    }


def fault_to_data(fault: Fault) -> dict[str, object]:
    """Return a fault as plain data, its value shortened.

    Examples
    --------
    >>> fault_to_data(Fault("k", 0, "must be positive"))
    {'path': 'k', 'rule': 'must be positive', 'value': 0}
    >>> fault_to_data(Fault("etc", ((None,),), "must have a machine"))["value"]
    '[[null]]'
    """
    data: dict[str, object] = {"path": fault.path[:_MAX_TEXT_CHARS], "rule": fault.rule}
    return data if fault.value is MISSING else {**data, "value": _value_to_data(fault.value)}


def _value_to_data(value: object) -> str | float | bool | None:
    """Return a value as JSON has it if it is short, and the beginning of its text otherwise."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= _MAX_TEXT_CHARS:
        return value
    if isinstance(value, int) and abs(value) <= _MAX_EXACT_INTEGER:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, Fraction) and _is_short(value):
        return str(value)
    return short_text(value, as_json=True)


def _is_short(value: Fraction) -> bool:
    return max(abs(value.numerator), value.denominator) <= _MAX_EXACT_INTEGER
