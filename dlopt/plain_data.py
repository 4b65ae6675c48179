"""Comparisons and verifications as plain data, for JSON."""

from __future__ import annotations

from typing import Any

from dlopt import aliases, io, result_checker
from dlopt.api import Comparison, InvalidResultError
from dlopt.problems.validated_record import Header
from dlopt.result import Result, Status, Violation


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
