"""Calendars as plain data: what a snapshot must be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dlopt.arithmetic import Number, parse, to_json
from dlopt.calendar.input_rules import InputRules, refuse
from dlopt.calendar.profiles import Steps
from dlopt.calendar.span_registry import Span, SpanContent
from dlopt.errors import MISSING, Fault, InvalidInstanceError

VERSION = 1
"""Version of the snapshots that are written; no other is read."""

_FIELDS: dict[str, Any] = {
    "version": int,
    "now": (int, float, str),
    "exact": bool,
    "capacities": list,
    "next_span": int,
    "spans": list,
}


def plain_data(
    now: Number, exact: bool, capacities: Iterable[Steps], next_span: int, spans: Iterable[Span]
) -> dict[str, Any]:
    """Return a snapshot with these fields."""
    return {
        "version": VERSION,
        "now": to_json(now),
        "exact": exact,
        "capacities": [[list(map(to_json, step)) for step in steps] for steps in capacities],
        "next_span": next_span,
        "spans": [[span.id, span.machine, *map(to_json, span[2:])] for span in spans],
    }


def snapshot_fields(snapshot: object) -> dict[str, Any]:
    """Return the fields of a snapshot, with numbers for texts and spans for lists.

    Raises
    ------
    InvalidInstanceError
        If fields are missing, unknown, or of a wrong type.

    Examples
    --------
    >>> snapshot_fields({"version": 1})
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: now: must be there
    exact: must be there
    capacities: must be there
    next_span: must be there
    spans: must be there
    """
    if not isinstance(snapshot, Mapping):
        raise InvalidInstanceError([Fault("snapshot", snapshot, "must be an object")])
    faults = [
        Fault(str(name), value, "is no field of a snapshot")
        for name, value in snapshot.items()
        if name not in _FIELDS
    ]
    for name, kind in _FIELDS.items():
        value = snapshot.get(name, MISSING)
        if value is MISSING:
            faults.append(Fault(name, MISSING, "must be there"))
        elif not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
            faults.append(Fault(name, value, "has the wrong type"))
        elif name == "version" and value != VERSION:
            faults.append(Fault(name, value, f"must be {VERSION}"))
        elif name == "next_span" and value < 0:
            faults.append(Fault(name, value, "must not be negative"))
    refuse(faults)
    data = {name: _numbers(value) for name, value in snapshot.items()}
    for index, span in enumerate(data["spans"]):
        if not isinstance(span, list) or len(span) != len(Span._fields):
            faults.append(Fault(f"spans[{index}]", span, f"must be a list of {Span._fields}"))
    refuse(faults)
    data["spans"] = [Span(*span) for span in data["spans"]]
    return data


def numbered_spans(contents: Sequence[SpanContent]) -> list[Span]:
    """Return spans with numbers from 0 on.

    Raises
    ------
    InvalidInstanceError
        If they are no list, or one has not a machine, a start, an end and an amount.
    """
    fields = Span._fields[1:]
    if not isinstance(contents, (list, tuple)):
        refuse([Fault("spans", contents, "must be a list")])
    refuse(
        [
            Fault(f"spans[{index}]", content, f"must be a tuple of {fields}")
            for index, content in enumerate(contents)
            if not isinstance(content, (list, tuple)) or len(content) != len(fields)
        ]
    )
    return [Span(number, *content) for number, content in enumerate(contents)]


def span_faults(
    rules: InputRules,
    spans: list[Span],
    next_span: int,
    now: Number,
    *,
    earliest: Number | None = None,
) -> list[Fault]:
    """Return what is wrong with spans that are entered at once, as those of a snapshot are."""
    faults, known = [], set[int]()
    for index, span in enumerate(spans):
        wrong = rules.machine(span.machine) + rules.amount(span.amount)
        wrong += rules.instant("start", span.start, earliest) or rules.end(
            max(span.start, now), span.end
        )
        if type(span.id) is not int or not 0 <= span.id < next_span or span.id in known:
            rule = f"must be an integer below {next_span} that no other span has"
            wrong.append(Fault("id", span.id, rule))
        else:
            known.add(span.id)
        path = f"spans[{index}]."
        faults += [Fault(path + fault.path, fault.value, fault.rule) for fault in wrong]
    return faults


def _numbers(value: Any) -> Any:
    """Return data with exact numbers for their texts; other texts stay, and are faults later."""
    if isinstance(value, list):
        return [_numbers(entry) for entry in value]
    if isinstance(value, str):
        try:
            return parse(value)
        except ValueError:
            return value
    return value
