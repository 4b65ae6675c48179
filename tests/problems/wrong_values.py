"""Values that the fields of a record may not have, derived from the annotations of the fields."""

import math
import types
import typing
from collections.abc import Iterator
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields
from fractions import Fraction
from typing import Annotated, Any, Literal, Union

from annotated_types import Ge, Gt, Le, MinLen

from dlopt.errors import MISSING, Fault
from dlopt.problems.validated_record import Record, plain

FINITE = 'must be a finite number or a text "p/q"'
LIST = "must be a list"
OBJECT = "must be an object with named fields"
NO_TEXTS_OF_NUMBERS = ("", "one", "1/0", "1/-2", "0x1", "1_0", "\u0661", "1e400")
NO_NUMBERS = (True, *NO_TEXTS_OF_NUMBERS, math.nan, math.inf, -math.inf, {}, 10**400)
NO_INTEGERS = (1.5, 4.0, True, "4", math.nan, Fraction(4))

Keys = tuple[str | int, ...]
"""The names and indices that lead from a record to one of its values."""

Wrong = tuple[Keys, object, str]
"""Where a value stands, a value that may not stand there, and the rule that it breaks."""


def spelled(keys: Keys) -> str:
    """Return ``tasks[1].load`` for ``("tasks", 1, "load")``."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)[1:]


def keys_of(path: str) -> Keys:
    """Return ``("tasks", 1, "load")`` for ``tasks.1.load``."""
    return tuple(int(key) if key.isdigit() else key for key in path.split("."))


def fault(wrong: Wrong) -> Fault:
    keys, value, rule = wrong
    return Fault(spelled(keys), value, rule)


def full_data(value: Any) -> Any:
    """Return a record as plain data with all its fields, also those at their defaults."""
    if isinstance(value, Record):
        return {one.name: full_data(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple):
        return [full_data(entry) for entry in value]
    return plain(value)


def put(data: Any, keys: Keys, value: object) -> Any:
    """Return data with one value replaced, or dropped if it is to be `MISSING`."""
    key, *below = keys
    data = dict(data) if isinstance(data, dict) else list(data)
    if below:
        data[key] = put(data[key], tuple(below), value)
    elif value is MISSING:
        del data[key]
    else:
        data[key] = value
    return data


def with_wrong(data: Any, *changes: Wrong) -> Any:
    """Return data with some of its values wrong."""
    for keys, value, _ in changes:
        data = put(data, keys, value)
    return data


def wrong_fields(record: Record, keys: Keys = ()) -> Iterator[Wrong]:
    """Yield every wrong value of every field of a valid record, and of the records in it."""
    hints = typing.get_type_hints(type(record), include_extras=True)
    for one in fields(record):  # type: ignore[arg-type]
        if one.default is NO_DEFAULT and one.default_factory is NO_DEFAULT:
            yield (*keys, one.name), MISSING, "is missing"
        yield from _wrong_values(hints[one.name], getattr(record, one.name), (*keys, one.name))
    known = ", ".join(one.name for one in fields(record))  # type: ignore[arg-type]
    yield (*keys, "colour"), "red", f"is not a field (known: {known})"


def wrong_everywhere(record: Record) -> list[Wrong]:
    """Return one wrong value for each value of a record that holds no others."""
    by_place: dict[Keys, list[Wrong]] = {}
    for wrong in wrong_fields(record):
        by_place.setdefault(wrong[0], []).append(wrong)
    holders = {keys[:length] for keys in by_place for length in range(len(keys))}
    leaves = [wrong for keys, wrong in by_place.items() if keys not in holders]
    return [wrong[index % len(wrong)] for index, wrong in enumerate(leaves)]


def _wrong_values(hint: Any, value: Any, keys: Keys) -> Iterator[Wrong]:
    hint, limits = _limited(hint)
    options = _options(hint)
    lists = [option for option in options if typing.get_origin(option) is tuple]
    single = [option for option in options if option not in (*lists, types.NoneType)]
    wrong = [] if types.NoneType in options else [None]
    if not single:
        yield from ((keys, entry, LIST) for entry in (*wrong, 3, "0", {}))
        for limit in limits:
            if isinstance(limit, MinLen) and limit.min_length:
                yield keys, [], f"must be a list of at least {limit.min_length}"
    else:
        wrong += [] if lists else [["a"]]
        for entry, rule in _wrong_single_values(single, limits, wrong):
            yield keys, entry, rule
    if lists and isinstance(value, tuple) and value:
        last = len(value) - 1
        yield from _wrong_values(typing.get_args(lists[0])[0], value[last], (*keys, last))
    elif isinstance(value, Record):
        yield from wrong_fields(value, keys)


def _wrong_single_values(
    options: list[Any], limits: list[Any], wrong: list[Any]
) -> Iterator[tuple[object, str]]:
    """Yield values that are no single one of an annotation; `wrong` are so in any case."""
    if len(options) == 1 and typing.get_origin(options[0]) is Annotated:
        only, limits = _limited(options[0])
        options = list(_options(only))
    if float in options:
        yield from ((entry, FINITE) for entry in (*wrong, *NO_NUMBERS))
        yield 1e101, "must lie between -1e+100 and 1e+100"
        yield from _beyond(limits, (1, 0.5, "1/2", math.ulp(0)))
    elif options[0] is int:
        yield from ((entry, "must be an integer") for entry in (*wrong, *NO_INTEGERS))
        yield from _beyond(limits, (1, 10**20))
    elif options[0] is str:
        yield from ((entry, "must be a text") for entry in (*wrong, 3, True, b"c"))
    elif options[0] is bool:
        yield from ((entry, "must be true or false") for entry in (*wrong, 1, "yes"))
    elif typing.get_origin(options[0]) is Literal:
        rule = f"must be one of {', '.join(typing.get_args(options[0]))}"
        yield from ((entry, rule) for entry in (*wrong, "other", 3))
    else:
        assert issubclass(options[0], Record), options
        no_records = (3,) if options[0].TEXT_FIELD else (3, "b")
        yield from ((entry, OBJECT) for entry in (*wrong, *no_records))


def _beyond(limits: list[Any], steps: tuple[Any, ...]) -> Iterator[tuple[object, str]]:
    """Yield values on the wrong side of limits, by each of some steps."""
    for limit in limits:
        if isinstance(limit, Gt):
            rule = "must be positive" if limit.gt == 0 else f"must be above {limit.gt}"
            yield limit.gt, rule
            yield from ((_below(limit.gt, step), rule) for step in steps)
        elif isinstance(limit, Ge):
            rule = "must not be negative" if limit.ge == 0 else f"must be at least {limit.ge}"
            yield from ((_below(limit.ge, step), rule) for step in steps)
        elif isinstance(limit, Le):
            yield from ((limit.le + step, f"must be at most {limit.le}") for step in steps[:2])


def _below(limit: Any, step: Any) -> Any:
    """Return what lies below a limit by a step; a text where the step is one."""
    return f"{limit - Fraction(step)}" if isinstance(step, str) else limit - step


def _limited(hint: Any) -> tuple[Any, list[Any]]:
    if typing.get_origin(hint) is not Annotated:
        return hint, []
    bare, *limits = typing.get_args(hint)
    return bare, limits


def _options(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (Union, types.UnionType) else (hint,)
