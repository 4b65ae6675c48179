"""Instances and results as JSON files: read with every fault at once, written atomically."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast

from dlopt import aliases, arithmetic
from dlopt.arithmetic import EXACT, SOLVER, Number, exact
from dlopt.canonical_json import parts_of
from dlopt.errors import MISSING, Fault, InvalidInstanceError, NotApplicableError, known_names
from dlopt.json_files import load_part, write_json
from dlopt.problems.validated_record import Header, Record, examine, floating
from dlopt.query import origin_of
from dlopt.registry import problem, stems
from dlopt.result import PLAN_CLASSES, PROOFS, STOPPED_BY, Result, Status, Value, Violation
from dlopt.result_checker import default_tolerance
from dlopt.version import __version__

VERSION = 1
"""Version of the file format."""
_TEXT_OR_NONE = (str, type(None))
_RESULT_FIELDS: tuple[tuple[str, tuple[type, ...], str], ...] = (
    ("method", (str,), "a text"),
    ("status", (str,), "a text"),
    ("objective", _TEXT_OR_NONE, "a text"),
    ("reason", _TEXT_OR_NONE, "a text"),
    ("seed", (int, type(None)), "an integer"),
    ("solver", _TEXT_OR_NONE, "a text"),
    ("solver_version", _TEXT_OR_NONE, "a text"),
)
_RESULT_KEYS = frozenset(name for name, *_ in _RESULT_FIELDS) | {
    *("command", "schema_version"),
    *("problem", "version", "instance", "hash"),
    *("value", "value_float", "bound", "bound_float", "gap", "gap_float"),
    *("proof", "origin", "plan_class", "installments", "runtime_s", "stopped_by"),
    *("tolerance", "dlopt", "violations", "solution", "schedule"),
}


def read(
    path: str | os.PathLike[str], *, exact_numbers: bool = False, float_numbers: bool = False
) -> Any:
    """Read an instance from a JSON file.

    Parameters
    ----------
    path : path-like
    exact_numbers : bool, default False
        Read decimals as the rationals that they spell instead of as floats.
    float_numbers : bool, default False
        Turn every number into a float: exact answers for thousands of nodes take long.

    Returns
    -------
    Instance
        Of the problem that the file names.

    Raises
    ------
    InvalidInstanceError
        With every fault, by JSON path; also if there is no such file or it is not valid JSON.

    Examples
    --------
    >>> instance = read("instances/iit/three-nodes.json", exact_numbers=True)
    >>> instance.name, instance.load
    ('three-nodes', 3)
    """
    if exact_numbers and float_numbers:
        raise NotApplicableError("numbers are read either as exact ones or as floats")
    data = load_part(path, "instance", exact_numbers=exact_numbers)
    instance = instance_from_data(data, source=os.fspath(path))
    try:
        return floating(instance) if float_numbers else instance
    except InvalidInstanceError as error:  # a number so small that its float is 0
        raise error.within(os.fspath(path)) from error


def instance_from_data(data: object, source: str | None = None) -> Any:
    """Build an instance from the data of a file.

    Raises
    ------
    InvalidInstanceError
        With every fault, naming `source`.
    """
    if not isinstance(data, Mapping):
        raise InvalidInstanceError([Fault("", data, "must be a JSON object")], source, as_json=True)
    stem, faults = _envelope(data)
    if stem is not None:
        fields = {key: value for key, value in data.items() if key not in ("problem", "version")}
        if "best_known" in fields:
            fields["best_known"] = _with_current_objectives(stem, fields["best_known"])
        module = problem(stem).module
        faults = (*faults, *module.faults(fields))
        if not faults:
            return module.Instance.from_data(fields)
    raise InvalidInstanceError(faults, source, as_json=True)


def _with_current_objectives(stem: str, best_known: object) -> object:
    """Return the best known values of a file with what their objectives are called now."""
    if not isinstance(best_known, list):
        return best_known
    return [
        {**known, "objective": aliases.current_objective(stem, known["objective"])}
        if isinstance(known, Mapping) and isinstance(known.get("objective"), str)
        else known
        for known in best_known
    ]


def instance_to_data(instance: Header) -> dict[str, Any]:
    """Return an instance as the data of a file."""
    data = instance.to_data()
    head = {key: data.pop(key) for key in ("name", "origin", "units") if key in data}
    best = {"best_known": data.pop("best_known")} if "best_known" in data else {}
    return {"problem": instance.problem, "version": VERSION} | head | data | best


def instance_hash(instance: Header) -> str:
    """Return the SHA-256 of what an instance is, whatever its name, origin or best values.

    Equal instances have equal hashes, however their numbers are written.
    """
    hashed = hashlib.sha256()
    for part in parts_of(instance):
        hashed.update(part.encode())
    return hashed.hexdigest()


def result_to_data(
    instance: Header, result: Result[Any], *, known_hash: str | None = None
) -> dict[str, Any]:
    """Return a result, and which instance it is of, as the data of a file.

    Parameters
    ----------
    instance : Instance
    result : Result
    known_hash : str, optional
        That of the instance: for millions of numbers it takes seconds, for each result.
    """
    solution = None if result.solution is None else result.solution.to_data()
    return {
        "problem": instance.problem,
        "instance": instance.name,
        "hash": known_hash or instance_hash(instance),
        "method": result.method,
        "status": str(result.status),
        "objective": result.objective,
        **values_to_data(value=result.value, bound=result.bound, gap=result.gap),
        "proof": result.proof,
        "origin": value_to_data(result.origin),
        "plan_class": result.plan_class,
        "installments": result.installments,
        "reason": result.reason,
        "runtime_s": result.runtime_s,
        "stopped_by": result.stopped_by,
        "seed": result.seed,
        "tolerance": result.tolerance,
        "solver": result.solver,
        "solver_version": result.solver_version,
        "dlopt": __version__,
        "violations": [violation_to_data(violation) for violation in result.violations],
        "solution": solution,
    }


def violation_to_data(violation: Violation) -> dict[str, Any]:
    """Return a violation as plain data."""
    numbers = {one: value_to_data(getattr(violation, one)) for one in ("start", "end", "amount")}
    return {"kind": violation.kind, "resource": violation.resource} | numbers


def value_to_data(value: Value | None) -> Any:
    """Return an objective value as plain data."""
    if isinstance(value, tuple):
        return [arithmetic.to_json(level) for level in value]
    return None if value is None else arithmetic.to_json(value)


def values_to_data(**values: Value | None) -> dict[str, object]:
    """Return values as plain data, and the nearest floats, for programs that plot.

    Examples
    --------
    >>> values_to_data(value=Fraction(39, 8), bound=None)
    {'value': '39/8', 'value_float': 4.875, 'bound': None, 'bound_float': None}
    """
    data: dict[str, object] = {}
    for name, value in values.items():
        data[name], data[f"{name}_float"] = value_to_data(value), value_as_float(value)
    return data


def value_as_float(value: Value | None) -> float | list[float | None] | None:
    """Return the floats next to a value; None where it is beyond their range.

    Examples
    --------
    >>> value_as_float(Fraction(1, 4)), value_as_float((1, 2.5)), value_as_float(10**400)
    (0.25, [1.0, 2.5], None)
    """
    if isinstance(value, tuple):
        return [arithmetic.nearest_float(level) for level in value]
    return None if value is None else arithmetic.nearest_float(value)


def read_plan(
    path: str | os.PathLike[str], instance: Header, *, exact_numbers: bool = False
) -> Any:
    """Read what a JSON file has for an instance: a result of `solve`, or a plan alone.

    The file of a result that failed verification, which has its instance too, is read as well.

    Returns
    -------
    Result or Solution

    Raises
    ------
    InvalidInstanceError
        If the file is neither, such as an instance, or the result is one of another instance.
    """
    data = load_part(path, "result", exact_numbers=exact_numbers)
    return plan_from_data(data, instance, os.fspath(path))


def plan_from_data(data: object, instance: Header, source: str | None = None) -> Any:
    """Build a result of `solve`, or a plan alone, from the data of a file; see `read_plan`."""
    if isinstance(data, Mapping) and "status" in data:
        return result_from_data(data, instance, source)
    if isinstance(data, Mapping) and "problem" in data and "version" in data:
        rule = "is an instance, and neither a result nor a plan"
        raise InvalidInstanceError([Fault("", MISSING, rule)], source)
    try:
        return problem(instance.problem).module.Solution.from_data(data)
    except InvalidInstanceError as error:
        raise error.within(source) from error


def result_from_data(data: object, instance: Header, source: str | None = None) -> Result[Any]:
    """Build a result from the data of a file; what is recomputed anyway is not read."""
    if not isinstance(data, Mapping):
        raise InvalidInstanceError([Fault("", data, "must be a JSON object")], source, as_json=True)
    faults = _field_faults(data, instance)
    module = problem(instance.problem).module
    goal = data.get("objective") or ""
    if isinstance(goal, str):
        goal = aliases.current_objective(instance.problem, goal)
    levels = len(module.OBJECTIVES[goal].levels) if goal in list(module.OBJECTIVES) else 0
    values: dict[str, Value | None] = {}
    for key in ("value", "bound", "gap"):  # the gap is computed again; it must be one, though
        values[key] = _read_value(data.get(key), key, levels, faults)
    tolerance = data.get("tolerance", EXACT)
    if type(tolerance) not in (int, float, Fraction) or not 0 <= tolerance <= exact(SOLVER):
        faults.append(Fault("tolerance", tolerance, f"must be a number in [0, {SOLVER:g}]"))
    solution = None
    ours = data.get("problem") in (None, instance.problem)  # another's would be wrong everywhere
    if ours and data.get("solution") is not None:
        values_found, wrong = examine(module.Solution, data["solution"], "solution")
        faults += wrong
        solution = None if wrong else module.Solution(**values_found)
    if faults:
        raise InvalidInstanceError(faults, source, as_json=True)
    if "tolerance" not in data and solution is not None:  # written by hand
        tolerance = default_tolerance(instance)
    return Result(
        Status(data["status"]),
        solution=solution,
        objective=goal,
        value=values["value"],
        bound=values["bound"],
        reason=data.get("reason"),
        tolerance=float(tolerance),
        method=aliases.current_method(instance.problem, data["method"], quiet=True),
        seed=data.get("seed") or 0,
        plan_class=data.get("plan_class"),
        installments=data.get("installments"),
        solver=data.get("solver"),
        solver_version=data.get("solver_version"),
        proof=data.get("proof"),
        origin=origin_of(module, instance, goal) if goal in module.OBJECTIVES else 0,
        instance=instance,
        stopped_by=data.get("stopped_by"),
    )


def _other_instance(data: Mapping[str, object], instance: Header) -> Fault:
    """Say by their names, if these differ, that a result is of another instance."""
    name = data.get("instance")
    if isinstance(name, str) and name and instance.name and name != instance.name:
        rule = f"is a result of another instance ({name}, not {instance.name})"
        return Fault("", MISSING, rule)
    return Fault("hash", data.get("hash", MISSING), "must be the hash of the instance given")


def _field_faults(data: Mapping[str, Any], instance: Header) -> list[Fault]:
    """Return what is wrong with single fields of the data of a result, but for its numbers."""
    faults = [
        Fault(str(key), value, "is not a field of a result")
        for key, value in data.items()
        if key not in _RESULT_KEYS
    ]
    for key, kind, rule in _RESULT_FIELDS:
        if type(data.get(key)) not in kind:
            given = data.get(key, MISSING)
            faults.append(Fault(key, given, f"must be {rule}, as solve writes it"))
    if data.get("problem") != instance.problem:
        given = data.get("problem", MISSING)
        faults.append(Fault("problem", given, f"must be {instance.problem}"))
    elif data.get("hash") != instance_hash(instance):
        faults.append(_other_instance(data, instance))
    if data.get("status") not in list(Status):
        faults.append(Fault("status", data.get("status"), f"must be one of {', '.join(Status)}"))
    if data.get("plan_class") not in (None, *PLAN_CLASSES):
        rule = f"must be one of {', '.join(PLAN_CLASSES)}"
        faults.append(Fault("plan_class", data["plan_class"], rule))
    if data.get("proof") not in (None, *PROOFS):
        faults.append(Fault("proof", data["proof"], f"must be one of {', '.join(PROOFS)}"))
    if data.get("stopped_by") not in (None, *STOPPED_BY):
        rule = f"must be one of {', '.join(STOPPED_BY)}"
        faults.append(Fault("stopped_by", data["stopped_by"], rule))
    runtime = data.get("runtime_s")
    if runtime is not None and _read_number(runtime, "runtime_s", faults) < 0:
        faults.append(Fault("runtime_s", runtime, "must not be negative"))
    installments = data.get("installments")
    if installments is not None and (type(installments) is not int or installments < 1):
        faults.append(Fault("installments", installments, "must be a positive integer"))
    return faults


def write(data: Record | Result[Any] | Mapping[str, object], path: str | os.PathLike[str]) -> None:
    """Write an instance, a plan, a result, or any JSON data, to a file; `read_plan` reads results.

    The file is replaced as a whole: if anything fails on the way, the old one is still there.

    Raises
    ------
    NotApplicableError
        If the path cannot be written, the data are of another type, or a result states no instance,
        as those of `solve` do.
    """
    if isinstance(data, Result):
        if not isinstance(data.instance, Header):
            raise NotApplicableError("the result does not state its instance")
        data = result_to_data(data.instance, data)
    if isinstance(data, Record):
        data = instance_to_data(data) if isinstance(data, Header) else data.to_data()
    if not isinstance(data, Mapping):
        raise NotApplicableError(f"an instance or a result is written, not a {type(data).__name__}")
    write_json(path, data)


def _envelope(data: Mapping[str, Any]) -> tuple[str | None, tuple[Fault, ...]]:
    faults: list[Fault] = []
    stem = data.get("problem", MISSING)
    try:
        problem(stem)
    except NotApplicableError:
        known = f"must be a known problem ({known_names(stem, stems())})"
        rule = "is missing" if stem is MISSING else known
        faults.append(Fault("problem", stem, rule))
        stem = None
    version = data.get("version", MISSING)
    if version is MISSING or type(version) is not int or version != VERSION:
        rule = "is missing" if version is MISSING else f"must be {VERSION}"
        faults.append(Fault("version", version, rule))
    return (stem if isinstance(stem, str) else None), tuple(faults)


def _read_value(value: Any, path: str, levels: int, faults: list[Fault]) -> Value | None:
    """Read an objective value of so many levels; one without levels is a number."""
    if value is None:
        return None
    if levels:
        if not isinstance(value, list) or len(value) != levels:
            faults.append(Fault(path, value, f"must be a list of {levels} numbers"))
            return None
        return tuple(_read_number(item, f"{path}[{i}]", faults) for i, item in enumerate(value))
    return _read_number(value, path, faults)


def _read_number(value: Any, path: str, faults: list[Fault]) -> Number:
    if type(value) in (int, Fraction) or (type(value) is float and math.isfinite(value)):
        return cast(Number, value)
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return arithmetic.parse(value)
    faults.append(Fault(path, value, 'must be a finite number or a text "p/q"'))
    return 0
