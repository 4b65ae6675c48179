"""Records as the data of their JSON: the server writes all fields, clients read those they know."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeAlias, TypeVar

from pydantic import TypeAdapter

from dlopt import io
from dlopt.problems.validated_record import Header, Record, plain

T = TypeVar("T")

Json: TypeAlias = Mapping[str, Any]
"""A JSON object of a format that is described elsewhere, such as the result of a method."""
_READERS: dict[type, TypeAdapter[Any]] = {}


def plain_data(value: Any) -> Any:
    """Return a record as the data of its JSON; optional fields that are None are left out.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.service_api.book_records import Submission
    >>> plain_data(Submission(task=Task("a", arrival=0, load=1, deadline=3)))
    {'task': {'id': 'a', 'arrival': 0, 'load': 1, 'deadline': 3}}
    """
    if isinstance(value, Record):
        return io.instance_to_data(value) if isinstance(value, Header) else value.to_data()
    if dataclasses.is_dataclass(value):
        record: type = type(value)
        return {
            name: plain_data(content)
            for name, is_required in _fields(record)
            if (content := getattr(value, name)) is not None or is_required
        }
    if isinstance(value, Mapping):
        return {name: plain_data(content) for name, content in value.items()}
    if isinstance(value, tuple | list):
        return [plain_data(entry) for entry in value]
    return plain(value)


@cache
def _fields(record: type) -> tuple[tuple[str, bool], ...]:
    """Return the names of the fields of a record, and whether they have no default."""
    return tuple(
        (field.name, field.default is dataclasses.MISSING) for field in dataclasses.fields(record)
    )


def read_record(kind: type[T], data: object) -> T:
    """Read a record from the data of its JSON; fields that it does not have are passed over.

    Raises
    ------
    ValueError
        If the data does not describe such a record.

    Examples
    --------
    >>> from dlopt.service_api.book_records import ClockTime
    >>> read_record(ClockTime, {"now": "39/8", "a field of a newer service": 1})
    ClockTime(now=Fraction(39, 8))
    """
    if kind not in _READERS:
        _READERS[kind] = TypeAdapter(kind)
    record: T = _READERS[kind].validate_python(data)
    return record
