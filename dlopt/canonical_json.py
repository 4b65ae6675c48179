"""One text for equal data, however its numbers are written: what the hash of an instance is of.

It is the JSON of the data with sorted keys, no blanks, and each number as the rational that it
stands for: an integer as it is, any other as the text ``"p/q"`` in lowest terms. A field that takes
no part in equality is left out, one that was added later (`Record.LATER_FIELDS`) at its default.
Values are written a column at a time, a field of all records of a list at once, since most columns
hold one type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from fractions import Fraction
from itertools import chain, islice
from json.encoder import encode_basestring_ascii
from math import gcd
from operator import attrgetter
from typing import Any

from dlopt import arithmetic
from dlopt.problems.validated_record import HEADER_FIELDS, Header, Record

_SLICE = 1_000
"""Entries of a list of an instance that are in memory at once, as text."""
_TENS = tuple(10**digits for digits in range(20))
_ZEROS = "0" * len(_TENS)


def parts_of(instance: Header) -> Iterator[str]:
    """Yield the text of an instance in parts, without its header.

    Parameters
    ----------
    instance : Instance

    Yields
    ------
    str
        No more of it at once than the text of some entries of a list.

    Notes
    -----
    Takes time in proportion to the numbers of the instance and their digits.

    Examples
    --------
    >>> from dlopt import read
    >>> text = "".join(parts_of(read("instances/iit/three-nodes.json")))
    >>> text[:58]
    '{"absolute_deadline":null,"cluster":{"chi":2,"nodes":3,"ta'
    """
    names = {*type(instance).__dataclass_fields__} - HEADER_FIELDS
    begin = "{"
    for name in sorted({*names, "problem"}):
        yield f'{begin}"{name}":'
        value = getattr(instance, name)
        if type(value) is tuple:
            yield "["
            for first in range(0, len(value), _SLICE):
                yield "," * bool(first) + ",".join(_texts(value[first : first + _SLICE]))
            yield "]"
        else:
            yield from _texts([value])
        begin = ","
    yield "}"


def _texts(values: Sequence[Any]) -> Sequence[str]:
    """Return the text of each of some values."""
    kinds = set(map(type, values))
    if len(kinds) == 1:
        return _texts_of(kinds.pop(), values)
    texts = {
        kind: iter(_texts_of(kind, [value for value in values if type(value) is kind]))
        for kind in kinds
    }
    return [next(texts[type(value)]) for value in values]


def _texts_of(kind: type, values: Sequence[Any]) -> Sequence[str]:
    """Return the text of each of some values, all of one type."""
    if kind is int:
        return list(map(int.__repr__, values))
    if kind is float:
        return _texts_of_floats(values)
    if kind is str:
        return list(map(encode_basestring_ascii, values))
    if issubclass(kind, Record):
        return _texts_of_records(kind, values)
    if issubclass(kind, tuple):
        entries = iter(_texts(list(chain.from_iterable(values))))
        return ["[" + ",".join(islice(entries, len(value))) + "]" for value in values]
    if issubclass(kind, int | float | Fraction) and kind is not bool:
        values = list(map(arithmetic.canonical, values))
    return [json.dumps(value) for value in values]


def _texts_of_records(kind: type[Record], values: Sequence[Record]) -> Sequence[str]:
    """Return the texts of some records of one type."""
    defaults = {name: kind.__dataclass_fields__[name].default for name in kind.LATER_FIELDS}  # type: ignore[attr-defined]
    left_out = [
        name
        for name, default in defaults.items()
        if all(value == default for value in map(attrgetter(name), values))
    ]
    if len(left_out) == len(defaults):
        return _texts_of_fields(kind, left_out, values)
    own = [
        tuple(name for name, default in defaults.items() if getattr(value, name) == default)
        for value in values
    ]
    texts = {
        names: iter(
            _texts_of_fields(
                kind, names, [value for value, its in zip(values, own, strict=True) if its == names]
            )
        )
        for names in set(own)
    }
    return [next(texts[names]) for names in own]


def _texts_of_fields(
    kind: type[Record], left_out: Sequence[str], values: Sequence[Record]
) -> Sequence[str]:
    """Return the texts of some records of one type, without some of their fields."""
    compared = {one.name for one in fields(kind) if one.compare}  # type: ignore[arg-type]
    names = sorted(compared - {*left_out})
    columns = [_texts(list(map(attrgetter(name), values))) for name in names]
    pattern = "{" + ",".join(f'"{name}":%s' for name in names) + "}"
    rows = zip(*columns, strict=True) if columns else [()] * len(values)
    return [pattern % row for row in rows]


def _texts_of_floats(values: Sequence[float]) -> list[str]:
    """Return the texts of `dlopt.arithmetic.canonical`, without making fractions first."""
    texts = []
    for number in values:
        whole, _, digits = float.__repr__(number).partition(".")
        if len(digits) >= len(_TENS) or not digits.isdigit():  # with an exponent
            texts.append(json.dumps(arithmetic.canonical(number)))
        elif digits[-1] in "1379" and whole[0] not in "-0":  # nothing to cancel or to leave out
            texts.append(f'"{whole}{digits}/1{_ZEROS[: len(digits)]}"')
        else:
            top, bottom = int(whole + digits), _TENS[len(digits)]
            common = gcd(top, bottom)
            if common == bottom:
                texts.append(int.__repr__(top // common))
            else:
                texts.append(f'"{top // common}/{bottom // common}"')
    return texts
