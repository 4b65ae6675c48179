"""Typed records whose annotations say what a field may hold.

The annotation of a field is the only place where its rule stands. From it come the check in the
constructor, the reading of files (every fault at once) and the JSON Schema.
"""

from __future__ import annotations

import dataclasses
import operator
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union

from annotated_types import Ge, Gt, Le, MinLen

from dlopt import arithmetic
from dlopt.arithmetic import Number
from dlopt.errors import MISSING, Fault, InvalidInstanceError

NonNegative = Annotated[Number, Ge(0)]
Positive = Annotated[Number, Gt(0)]

LARGEST = 1e100
"""Larger numbers are refused: the product of two must be a number still."""

RecordT = TypeVar("RecordT", bound="Record")

_BAD: Any = object()
_Check = Callable[[Any, str, list[Fault]], Any]
_COMPILED: dict[type, dict[str, tuple[_Check, bool, bool]]] = {}


class Record:
    """Base of all instances, solutions and their parts: checked when built, then frozen.

    Lists and arrays become tuples, NumPy numbers become Python's; whatever a field may not hold
    raises :class:`dlopt.errors.InvalidInstanceError` with all faults of the record.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in _checks(type(self))}
        values, found = examine(type(self), given)
        if found:
            raise InvalidInstanceError(found)
        for name, value in values.items():
            if value is not given[name]:
                object.__setattr__(self, name, value)

    @classmethod
    def relations(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields; `known` holds those that are fine by themselves."""
        return ()

    @classmethod
    def lengths(cls, known: Mapping[str, Any]) -> Mapping[str, int]:
        """Return which lists must have one entry a node, and how many nodes there are.

        They are counted even where an entry is wrong by itself.
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
            raise InvalidInstanceError(found)
        return cls(**values)

    def to_data(self) -> dict[str, Any]:
        """Return plain data that JSON can hold; fields at their default are left out."""
        data = {}
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if item.default is dataclasses.MISSING or value != item.default:
                data[item.name] = plain(value)
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
        What the best known plan is worth.
    bound : Number or tuple of Number, optional
        What no plan of the class beats.
    method : str
        Which method proved it.
    """

    objective: str
    plan_class: Literal["single", "per-stage", "k", "any"]
    value: Number | tuple[Number, ...] | None = None
    bound: Number | tuple[Number, ...] | None = None
    method: str = ""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Header(Record):
    """What every instance may say of itself; no part of what it is, nor of equality.

    Parameters
    ----------
    name : str
        What tables and results call the instance.
    origin : str
        Where it comes from.
    units : str
        What its numbers count, such as seconds.
    best_known : tuple of BestKnown
        The best values known, by objective and plan class.
    """

    problem: ClassVar[str]

    name: str = dataclasses.field(default="", compare=False)
    origin: str = dataclasses.field(default="", compare=False)
    units: str = dataclasses.field(default="", compare=False)
    best_known: tuple[BestKnown, ...] = dataclasses.field(default=(), compare=False)


HEADER_FIELDS = frozenset(item.name for item in dataclasses.fields(Header))


def examine(
    kind: type[Record], data: object, path: str = ""
) -> tuple[dict[str, Any], tuple[Fault, ...]]:
    """Check plain data (or given field values) against a record type.

    Returns
    -------
    values : dict
        The fields that are fine by themselves, converted.
    faults : tuple of Fault
        Everything that is wrong, in the order of the fields.
    """
    if not isinstance(data, Mapping):
        return {}, (Fault(path, data, "must be an object with named fields"),)
    found: list[Fault] = []
    values: dict[str, Any] = {}
    checks = _checks(kind)
    dot = f"{path}." if path else ""
    for name, (check, required, _) in checks.items():
        if name in data:
            value = check(data[name], dot + name, found)
            if value is not _BAD:
                values[name] = value
        elif required:
            found.append(Fault(dot + name, MISSING, "is missing"))
    known = ", ".join(checks)
    found += [
        Fault(f"{dot}{key}", data[key], f"is not a field (known: {known})")
        for key in data
        if key not in checks
    ]
    told = {fault.path for fault in found}
    for name, nodes in kind.lengths(values).items():
        counted = _is_sequence(data.get(name)) and dot + name not in told
        if counted and len(data[name]) != nodes:
            rule = f"must have one entry for each of the {nodes} nodes"
            found.append(Fault(dot + name, len(data[name]), rule))
    for fault in kind.relations(values):
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
        name: _floated(getattr(record, name), numeric[name][2])
        for name in numeric
        if name not in HEADER_FIELDS
    }
    return dataclasses.replace(record, **changed)  # type: ignore[type-var]


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
    """Yield every number that stands in a record, depth first; the header's are left out."""
    if isinstance(value, Record):
        for item in dataclasses.fields(value):  # type: ignore[arg-type]
            if not (item.name in HEADER_FIELDS and isinstance(value, Header)):
                yield from numbers_of(getattr(value, item.name))
    elif isinstance(value, tuple):
        for entry in value:
            yield from numbers_of(entry)
    elif isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        yield value


def _checks(kind: type[Record]) -> dict[str, tuple[_Check, bool, bool]]:
    """Return of each field its check, whether it must be given, and whether it holds numbers."""
    if kind not in _COMPILED:
        _COMPILED[kind] = _compile_record(kind)
    return _COMPILED[kind]


def _compile_record(kind: type[Record]) -> dict[str, tuple[_Check, bool, bool]]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return {
        item.name: (
            _compile(hints[item.name]),
            item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING,
            _holds_numbers(hints[item.name]),
        )
        for item in dataclasses.fields(kind)  # type: ignore[arg-type]
    }


def _holds_numbers(hint: Any) -> bool:
    return hint is float or any(map(_holds_numbers, typing.get_args(hint)))


def _floated(value: Any, numeric: bool) -> Any:
    if isinstance(value, Record):
        return floating(value)
    if isinstance(value, tuple):
        return tuple(_floated(entry, numeric) for entry in value)
    if numeric and isinstance(value, int | Fraction):
        return float(value)
    return value


def _compile(hint: Any) -> _Check:
    """Turn an annotation into a check that converts a value or records its faults."""
    limits: tuple[Any, ...] = ()
    if typing.get_origin(hint) is Annotated:
        hint, *rest = typing.get_args(hint)
        limits = tuple(rest)
    options = _options(hint)
    optional = type(None) in options
    scalar = _scalar([option for option in options if option is not type(None)], limits)
    sequences = [option for option in options if typing.get_origin(option) is tuple]
    annotated = [option for option in options if typing.get_origin(option) is Annotated]
    if annotated:
        scalar = _compile(annotated[0])
    if not sequences:
        return _optional(scalar) if optional else scalar
    items = _sequence(typing.get_args(sequences[0]), limits)
    if len(sequences) + optional == len(options):
        return _optional(items) if optional else items

    def either(value: Any, path: str, found: list[Fault]) -> Any:
        return (items if _is_sequence(value) else scalar)(value, path, found)

    return _optional(either) if optional else either


def _options(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _optional(check: _Check) -> _Check:
    return lambda value, path, found: None if value is None else check(value, path, found)


def _scalar(options: Sequence[Any], limits: Sequence[Any]) -> _Check:
    if float in options:
        return _limited(_number, limits)
    for option in options:
        if option is bool:
            return _of_type(bool, "must be true or false")
        if option is int:
            return _limited(_integer, limits)
        if option is str:
            return _of_type(str, "must be a text")
        if typing.get_origin(option) is Literal:
            return _one_of(typing.get_args(option))
        if isinstance(option, type) and issubclass(option, Record):
            return _record(option)
    return lambda value, path, found: value


def _number(value: Any, path: str, found: list[Fault]) -> Any:
    kind = type(value)
    plain_kind = kind is float or kind is int or kind is Fraction
    number = value if plain_kind else _converted(value)
    if number is _BAD or not arithmetic.is_finite(number):
        found.append(Fault(path, value, 'must be a finite number or a text "p/q"'))
        return _BAD
    if not -LARGEST <= number <= LARGEST:
        found.append(Fault(path, value, f"must lie between -{LARGEST:g} and {LARGEST:g}"))
        return _BAD
    return number


def _converted(value: Any) -> Any:
    """Return a number given in another type (NumPy's, a decimal, a text), or `_BAD`."""
    if isinstance(value, bool):
        return _BAD
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str | Decimal):
        try:
            return arithmetic.simplest(arithmetic.parse(str(value)))
        except ValueError:
            return _BAD
    try:
        return operator.index(value)
    except TypeError:
        item = getattr(value, "item", None)
        inner = item() if callable(item) and getattr(value, "ndim", None) == 0 else _BAD
        return inner if type(inner) in (int, float) else _BAD


def _integer(value: Any, path: str, found: list[Fault]) -> Any:
    whole = _BAD if isinstance(value, float | str | Decimal) else _converted(value)
    if type(whole) is not int:
        found.append(Fault(path, value, "must be an integer"))
        return _BAD
    return whole


def _limited(check: _Check, limits: Sequence[Any]) -> _Check:
    tests: list[tuple[Callable[[Any, Any], bool], Any, str]] = []
    for limit in limits:
        if isinstance(limit, Ge):
            rule = "must not be negative" if limit.ge == 0 else f"must be at least {limit.ge}"
            tests.append((operator.ge, limit.ge, rule))
        elif isinstance(limit, Gt):
            rule = "must be positive" if limit.gt == 0 else f"must be above {limit.gt}"
            tests.append((operator.gt, limit.gt, rule))
        elif isinstance(limit, Le):
            tests.append((operator.le, limit.le, f"must be at most {limit.le}"))

    def limited(value: Any, path: str, found: list[Fault]) -> Any:
        number = check(value, path, found)
        if number is _BAD:
            return _BAD
        for holds, limit, rule in tests:
            if not holds(number, limit):
                found.append(Fault(path, value, rule))
                return _BAD
        return number

    return limited


def _of_type(kind: type, rule: str) -> _Check:
    def check(value: Any, path: str, found: list[Fault]) -> Any:
        if isinstance(value, kind):
            return value
        found.append(Fault(path, value, rule))
        return _BAD

    return check


def _one_of(choices: tuple[Any, ...]) -> _Check:
    def check(value: Any, path: str, found: list[Fault]) -> Any:
        if isinstance(value, str) and value in choices:
            return value
        found.append(Fault(path, value, f"must be one of {', '.join(choices)}"))
        return _BAD

    return check


def _record(kind: type[Record]) -> _Check:
    def check(value: Any, path: str, found: list[Fault]) -> Any:
        if isinstance(value, kind):
            return value
        values, faults = examine(kind, value, path)
        found.extend(faults)
        return _BAD if faults else kind(**values)

    return check


def _is_sequence(value: Any) -> bool:
    array = hasattr(value, "tolist") and getattr(value, "ndim", 1) != 0  # 0: a NumPy number
    return isinstance(value, tuple | list) or array


def _sequence(arguments: tuple[Any, ...], limits: Sequence[Any]) -> _Check:
    item = _compile(arguments[0])
    least = max((limit.min_length for limit in limits if isinstance(limit, MinLen)), default=0)

    def check(value: Any, path: str, found: list[Fault]) -> Any:
        if not _is_sequence(value):
            found.append(Fault(path, value, "must be a list"))
            return _BAD
        entries = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(entries, tuple | list) or len(entries) < least:
            found.append(Fault(path, value, f"must be a list of at least {least}"))
            return _BAD
        before = len(found)
        kept = [item(entry, f"{path}[{index}]", found) for index, entry in enumerate(entries)]
        if len(found) > before:
            return _BAD
        same = isinstance(entries, tuple) and all(map(operator.is_, kept, entries))
        return entries if same else tuple(kept)

    return check
