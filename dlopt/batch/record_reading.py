"""Reading of the lines of a file of records; pydantic checks their fields."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
)

from dlopt import aliases
from dlopt.arithmetic import Number, parse
from dlopt.batch.records import VERSION, Failure, Numbers, Record, RunKey
from dlopt.errors import (
    MISSING,
    Fault,
    InvalidInstanceError,
    NotApplicableError,
    known_names,
    shortened,
)
from dlopt.registry import problem, stems
from dlopt.result import PLAN_CLASSES, PROOFS, Limits, PlanClass, Proof, Status, Value

_READ_VERSIONS = (1, VERSION)
"""Version 1 has former statuses, and former names of methods and options; both may have former
names of objectives."""
_VERSION_RULE = f"must be {' or '.join(map(str, _READ_VERSIONS))}"
MAX_SIZE = 1e15
"""Seconds, or a tolerance, that a record has at the most; thirty million years."""


def _number(data: object) -> Number:
    if isinstance(data, str):
        return parse(data)
    if not isinstance(data, int | float) or isinstance(data, bool):
        raise ValueError("is no number")
    if isinstance(data, float) and not math.isfinite(data):
        raise ValueError("is not finite")
    return data


def _value(data: object) -> Value | None:
    if isinstance(data, list):
        return tuple(map(_number, data))
    return None if data is None else _number(data)


def _limits(data: Any) -> Limits:
    try:
        given = dict(data)
        return Limits(**given | {"target_value": _value(given.get("target_value"))})
    except TypeError as error:
        raise ValueError(str(error)) from error


def _status(data: Any) -> Status | Failure:
    return Status(data) if data in list(Status) else Failure(data)


def _sorted(options: Mapping[str, object]) -> tuple[tuple[str, object], ...]:
    return tuple(sorted(options.items()))


def _one_of(*words: str, null: bool = False) -> Any:
    return _rule(f"one of {', '.join(words)}" + ", or null" * null)


def _rule(rule: str) -> Any:
    return Field(description=f"must be {rule}")


_Text: TypeAlias = Annotated[str, _rule("a text")]
_TextOrNone: TypeAlias = Annotated[str | None, _rule("a text or null")]
_Size: TypeAlias = Annotated[
    float | None,
    Field(ge=0, le=MAX_SIZE, allow_inf_nan=False),
    _rule(f"a number from 0 to {MAX_SIZE:g}, or null"),
]
_Value: TypeAlias = Annotated[
    Value | None,
    PlainValidator(_value),
    _rule('a number, a text "p/q", a list of them, or null'),
]


class RecordLine(BaseModel):
    """A line, each field with the rule that a fault quotes as its description.

    Lines of older releases have no `proof`, `origin`, `installments` and `certificate`; only runs
    that were asked for certificates have `certified`.
    """

    model_config = ConfigDict(strict=True)

    problem: _Text
    instance: _Text
    family: _Text
    hash: _Text
    method: _Text
    kind: _Text
    claim: _Text
    objective: _Text
    dlopt: _Text
    reason: Annotated[_TextOrNone, AfterValidator(lambda text: text and shortened(text))]
    solver: _TextOrNone
    solver_version: _TextOrNone
    picture: _TextOrNone
    runtime_s: _Size
    tolerance: _Size
    value: _Value
    bound: _Value
    numbers: Annotated[Numbers, _one_of(*get_args(Numbers))]
    options: Annotated[
        dict[str, bool | int | float | str],
        AfterValidator(_sorted),
        _rule("an object of numbers, texts and booleans"),
    ]
    limits: Annotated[Limits, PlainValidator(_limits), _rule("limits: time_s, work, threads, gap")]
    seed: Annotated[int, _rule("an integer")]
    status: Annotated[Status | Failure, BeforeValidator(_status), _one_of(*Status, *Failure)]
    plan_class: Annotated[PlanClass | None, _one_of(*PLAN_CLASSES, null=True)]
    violations: Annotated[int, Field(ge=0), _rule("a number of violations")]
    installments: Annotated[int | None, Field(gt=0), _rule("a positive integer, or null")] = None
    proof: Annotated[Proof | None, _one_of(*PROOFS, null=True)] = None
    origin: Annotated[Number, PlainValidator(_number), _rule("a number")] = 0
    certificate: _TextOrNone = None
    certificate_bytes: Annotated[int | None, Field(ge=0), _rule("a size in bytes, or null")] = None
    certificate_check: _TextOrNone = None
    certified: Annotated[bool, _rule("true or false")] = False
    answer: Any = None


def _read(data: Mapping[str, object]) -> Record:
    """Return the record that a line states, or raise all fields that break their rule."""
    try:
        line = vars(RecordLine.model_validate(data))
    except ValidationError as error:
        wrong = {str(fault["loc"][0]) for fault in error.errors(include_url=False)}
        raise InvalidInstanceError(
            [
                Fault(name, data.get(name, MISSING), field.description or "")
                for name, field in RecordLine.model_fields.items()
                if name in wrong
            ]
        ) from None
    key = {field.name: line.pop(field.name) for field in fields(RunKey)}
    return Record(RunKey(**key), **line)


def record_from_line(line: bytes) -> Record:
    """Return the record that a line states.

    Raises
    ------
    InvalidInstanceError
        With everything that is wrong with it.

    Examples
    --------
    >>> record_from_line(b"{}")
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: version: must be 1 or 2
    """
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise InvalidInstanceError([Fault("", MISSING, "is not valid JSON")]) from error
    if not isinstance(data, Mapping):
        raise InvalidInstanceError([Fault("", data, "must be a JSON object")])
    if type(data.get("version")) is not int or data["version"] not in _READ_VERSIONS:
        raise InvalidInstanceError([Fault("version", data.get("version", MISSING), _VERSION_RULE)])
    if data["version"] != VERSION:
        data = _with_current_names(data)
    data = _with_current_objective(data)
    record = _read(data)
    if faults := _registered(data):
        raise InvalidInstanceError(faults)
    return record


def _with_current_names(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a record of version 1 with what its names are called now."""
    current, stem = dict(data), data.get("problem")
    status, method, options = (data.get(key) for key in ("status", "method", "options"))
    if isinstance(status, str):
        current["status"] = aliases.RECORD_STATUSES.get(status, status)
    if isinstance(stem, str) and isinstance(method, str):
        current["method"] = aliases.current_method(stem, method, quiet=True)
    if isinstance(stem, str) and isinstance(options, Mapping):
        current["options"] = aliases.current_options(stem, options, quiet=True)
    return current


def _with_current_objective(data: Mapping[str, object]) -> dict[str, object]:
    """Return the data of a record of any version with what its objective is called now."""
    stem, goal = data.get("problem"), data.get("objective")
    if isinstance(stem, str) and isinstance(goal, str):
        goal = aliases.current_objective(stem, goal)
    return dict(data) if goal is None else {**data, "objective": goal}


def _registered(data: Mapping[str, Any]) -> list[Fault]:
    """Return what is wrong with a record for the problems that there are."""
    try:
        goals = problem(data["problem"]).module.OBJECTIVES
    except NotApplicableError:
        rule = f"must be a known problem ({known_names(data['problem'], stems())})"
        return [Fault("problem", data["problem"], rule)]
    if data["objective"] not in goals:
        return [Fault("objective", data["objective"], f"must be one of {', '.join(goals)}")]
    levels = len(goals[data["objective"]].levels) or None
    return [
        Fault(name, data[name], f"must be {levels or 'one'} number{'s' * bool(levels)}")
        for name in ("value", "bound")
        if data[name] is not None
        and levels != (len(data[name]) if isinstance(data[name], list) else None)
    ]
