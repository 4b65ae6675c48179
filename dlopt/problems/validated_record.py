"""Typed records that are validated by the annotations of their fields.

The annotation of a field is the only place that states its rule. The check in the constructor, the
reading of files (every fault at once) and the JSON Schema are derived from it.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar

import typing_extensions
from annotated_types import Ge, Gt

from dlopt import arithmetic
from dlopt.arithmetic import Number
from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.problems.column_checks import INVALID, FieldCheck, of_records, records_of
from dlopt.problems.field_checks import MOST_FAULTS, compile_check, holds_numbers, is_sequence

NonNegative = Annotated[Number, Ge(0)]
Positive = Annotated[Number, Gt(0)]

if TYPE_CHECKING:
    from collections.abc import Sequence

    Items = Sequence
else:

    class Items:
        """Annotation of a field that takes any sequence, as type checkers see it.

        The record holds a tuple, and the annotation is one when the program runs.
        """

        def __class_getitem__(cls, entry: object) -> object:
            return tuple[entry, ...]


RecordT = TypeVar("RecordT", bound="Record")

SolutionT_co = typing_extensions.TypeVar("SolutionT_co", covariant=True, default=Any)
"""The type of the solutions of an instance; of an instance of any problem, it is not known."""

_CHECKS: dict[type, dict[str, tuple[FieldCheck, object, bool]]] = {}
_NUMBER_TYPES = frozenset({int, float, Fraction})


class Record(arithmetic.PrintableRecord):
    """Base of all instances, solutions and their parts: validated when built, then frozen.

    Lists and arrays become tuples, NumPy numbers become Python's; an invalid value
    raises :class:`dlopt.errors.InvalidInstanceError` with all faults of the record.
    """

    __slots__ = ()

    FORMER_FIELDS: ClassVar[Mapping[str, str]] = {}
    """What fields are called now that older files call otherwise, by their former names."""

    LATER_FIELDS: ClassVar[frozenset[str]] = frozenset()
    """Fields that were added to the format later: a hash is without them at their defaults."""

    TEXT_FIELD: ClassVar[str] = ""
    """The field that is meant by a text in place of the record; none if empty."""

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in _checks(type(self))}
        values, found = examine(type(self), given)
        if found:
            raise InvalidInstanceError(found)
        for name, value in values.items():
            if value is not given[name]:
                object.__setattr__(self, name, value)

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields; `known` has the fields that are valid by themselves."""
        return ()

    @classmethod
    def list_lengths(cls, known: Mapping[str, Any]) -> Mapping[str, int]:
        """Return which lists must have one entry a node, and the number of nodes.

        They are counted even where an entry is invalid by itself.
        """
        return {}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Build the record from plain data, as a JSON file gives it.

        Raises
        ------
        InvalidInstanceError
            With every fault found in `data`.
        """
        values, found = examine(cls, data)
        if found:
            raise InvalidInstanceError(found, as_json=True)
        return _checked(cls, values)

    @classmethod
    def list_from_data(cls, rows: Sequence[dict[str, Any]]) -> list[Self]:
        """Build records of plain data, in less time than one by one.

        Raises
        ------
        InvalidInstanceError
            With every fault of the first that has one.

        Examples
        --------
        >>> Units.list_from_data([{"time": "s"}, {}])
        [Units(time='s', load='', data='', cpu=''), Units(time='', load='', data='', cpu='')]
        """
        records = _records(cls, rows) if set(map(type, rows)) <= {dict} else None
        return [cls.from_data(row) for row in rows] if records is None else records

    def to_data(self) -> dict[str, Any]:
        """Return plain data that JSON can hold; fields at their default are left out."""
        data = {}
        for name, (_, default, _) in _checks(type(self)).items():
            value = getattr(self, name)
            if default is dataclasses.MISSING or value != default:
                data[name] = plain(value)
        return data


@dataclasses.dataclass(frozen=True, slots=True)
class BestKnown(Record):
    """The best value known of an instance, and what proves it.

    Parameters
    ----------
    objective : str
        By which objective.
    plan_class : {"single", "per-stage", "k", "any"}
        Of which plans: one chunk per node, one per node and stage, k, or any.
    value : Number or tuple of Number, optional
        Objective value of the best known schedule.
    bound : Number or tuple of Number, optional
        Proven bound on the value of every schedule of the class.
    method : str
        Which method proved it.
    """

    objective: str
    plan_class: Literal["single", "per-stage", "k", "any"]
    value: Number | tuple[Number, ...] | None = None
    bound: Number | tuple[Number, ...] | None = None
    method: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Units(Record):
    """The units of an instance's numbers, for people: nothing is converted.

    A text in place of the record is the unit of time.

    Parameters
    ----------
    time : str
        Such as s or minutes.
    load : str
        Of divisible loads, such as GB.
    data : str
        Of what is transferred between tasks, such as KB.
    cpu : str
        Of capacities and shares, such as processors.

    Examples
    --------
    >>> Units("s", data="KB").to_data()
    {'time': 's', 'data': 'KB'}
    """

    TEXT_FIELD: ClassVar[str] = "time"

    time: str = ""
    load: str = ""
    data: str = ""
    cpu: str = ""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Header(Record, Generic[SolutionT_co]):
    """Descriptive fields of every instance; they take no part in equality.

    An instance is a ``Header[Solution]``: type checkers know the type of its solutions.

    Parameters
    ----------
    name : str
        Name of the instance in tables and results.
    origin : str
        Where it comes from.
    units : Units
        Units of its numbers.
    best_known : tuple of BestKnown
        The best values known, by objective and plan class.
    """

    problem: ClassVar[str]

    name: str = dataclasses.field(default="", compare=False)
    origin: str = dataclasses.field(default="", compare=False)
    units: Units = dataclasses.field(default_factory=Units, compare=False)
    best_known: tuple[BestKnown, ...] = dataclasses.field(default=(), compare=False)


HEADER_FIELDS = frozenset(item.name for item in dataclasses.fields(Header))


def examine(
    kind: type[Record], data: object, path: str = ""
) -> tuple[dict[str, Any], tuple[Fault, ...]]:
    """Check plain data (or given field values) against a record type.

    Returns
    -------
    values : dict
        The fields that are valid by themselves, converted, and the defaults of those not given.
    faults : tuple of Fault
        Everything that is wrong, in the order of the fields.
    """
    if isinstance(data, str) and kind.TEXT_FIELD:
        data = {kind.TEXT_FIELD: data}
    if type(data) is not dict and not isinstance(data, Mapping):
        return {}, (Fault(path, data, "must be an object with named fields"),)
    if kind.FORMER_FIELDS:
        data = {kind.FORMER_FIELDS.get(key, key): value for key, value in data.items()}
    found: list[Fault] = []
    values: dict[str, Any] = {}
    checks = _checks(kind)
    dot = f"{path}." if path else ""
    for name, (check, default, _) in checks.items():
        if name in data:
            value = check.value(data[name], dot + name, found)
            if value is not INVALID:
                values[name] = value
        elif default is dataclasses.MISSING:
            found.append(Fault(dot + name, MISSING, "is missing"))
        else:
            values[name] = default
    if not checks.keys() >= data.keys():
        rule = f"is not a field (known: {', '.join(checks)})"
        unknown = islice((key for key in data if key not in checks), MOST_FAULTS)
        found += [Fault(f"{dot}{key}", data[key], rule) for key in unknown]
    for name, nodes in kind.list_lengths(values).items():
        entries: Any = data.get(name, values.get(name))
        reported = any(fault.path == dot + name for fault in found)
        if is_sequence(entries) and not reported and len(entries) != nodes:
            rule = f"must have one entry for each of the {nodes} nodes"
            found.append(Fault(dot + name, len(entries), rule))
    for fault in kind.cross_field_faults(values):
        found.append(dataclasses.replace(fault, path=dot + fault.path))
    return values, tuple(found)


def floating(record: RecordT) -> RecordT:
    """Return a record with every number a float; counts and indices stay integers.

    Examples
    --------
    >>> floating(BestKnown("completion", "single", value=3)).value
    3.0
    """
    numeric = _checks(type(record))
    changed = {
        name: _as_floats(getattr(record, name), numeric[name][2])
        for name in numeric
        if name not in HEADER_FIELDS
    }
    return dataclasses.replace(record, **changed)  # type: ignore[type-var]


def as_exact(record: RecordT) -> RecordT:
    """Return a record with each float as the exact decimal that it prints.

    Examples
    --------
    >>> as_exact(BestKnown("completion", "single", value=0.1)).value
    Fraction(1, 10)
    """
    return _as_exact(record)  # type: ignore[no-any-return]


def plain(value: Any) -> Any:
    """Return `value` as lists, dicts, strings and numbers that JSON can hold."""
    if isinstance(value, Record):
        return value.to_data()
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, Fraction):
        return arithmetic.to_json(value)
    return value


def numbers_of(value: Any) -> Iterable[Number]:
    """Yield every number of a record, depth first, without those of the header."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        kind = type(one)
        if kind in _NUMBER_TYPES:
            yield one
        elif issubclass(kind, tuple):
            waiting.extend(reversed(one))
        elif issubclass(kind, Record):
            waiting += [getattr(one, name) for name in _fields_last_first(kind)]  # type: ignore[arg-type]
        elif issubclass(kind, int | float | Fraction) and kind is not bool:
            yield one


@cache
def _fields_last_first(kind: type[Record]) -> tuple[str, ...]:
    """Return the names of the fields but those of the header, the last one first."""
    left_out = HEADER_FIELDS if issubclass(kind, Header) else frozenset()
    names = [item.name for item in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return tuple(name for name in names[::-1] if name not in left_out)


def _as_exact(value: Any) -> Any:
    if isinstance(value, Record):
        fields = dataclasses.fields(value)  # type: ignore[arg-type]
        changed = {one.name: _as_exact(getattr(value, one.name)) for one in fields}
        return dataclasses.replace(value, **changed)  # type: ignore[type-var]
    if isinstance(value, tuple):
        return tuple(map(_as_exact, value))
    number = isinstance(value, float)
    return arithmetic.simplest(arithmetic.exact(value)) if number else value


def _checks(kind: type[Record]) -> dict[str, tuple[FieldCheck, object, bool]]:
    """Return of each field its check, its default if there is one, and whether it holds numbers."""
    if kind not in _CHECKS:
        _CHECKS[kind] = _compile_checks(kind)
    return _CHECKS[kind]


def _compile_checks(kind: type[Record]) -> dict[str, tuple[FieldCheck, object, bool]]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return {
        item.name: (
            compile_check(hints[item.name], _nested),
            item.default if item.default_factory is dataclasses.MISSING else item.default_factory(),
            holds_numbers(hints[item.name]),
        )
        for item in dataclasses.fields(kind)  # type: ignore[arg-type]
    }


def _nested(kind: type) -> FieldCheck | None:
    """Return the checks of a field that holds a record, compiled when they are first used."""
    if not issubclass(kind, Record):
        return None

    def check(value: object, path: str, found: list[Fault]) -> object:
        if isinstance(value, kind):
            return value
        values, faults = examine(kind, value, path)
        found.extend(faults)
        return INVALID if faults else _checked(kind, values)

    return of_records(check, kind, partial(_records, kind))


def _records(kind: type[RecordT], rows: Sequence[Any]) -> list[RecordT] | None:
    """Return the records of plain data, field by field; None unless all are found to be valid."""
    fields = {name: (check.column, default) for name, (check, default, _) in _checks(kind).items()}
    return records_of(kind, Record, rows, fields)


def _checked(kind: type[RecordT], values: Mapping[str, Any]) -> RecordT:
    """Return a record of all its fields, which `examine` has checked, without a second check.

    A type with a `__post_init__` of its own has it only to check its usual fields faster.
    """
    record = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(record, name, value)
    return record


def _as_floats(value: Any, numeric: bool) -> Any:
    if isinstance(value, Record):
        return floating(value)
    if isinstance(value, tuple):
        return tuple(_as_floats(entry, numeric) for entry in value)
    if numeric and isinstance(value, int | Fraction):
        return float(value)
    return value
