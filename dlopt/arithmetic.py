"""Exact and floating numbers: the one place that knows the difference.

A number in dlopt is an ``int``, a ``float`` or a :class:`fractions.Fraction`. Integers and
fractions are *exact*; one float among the data makes the whole answer floating. A float stands
for the decimal that it prints, the shortest one that reads back as the same float: ``0.3`` means
three tenths, both in a file and in Python. So the rules of a problem are always decided exactly,
and requests of 0.1 and 0.2 fill a capacity of 0.3.
"""

from __future__ import annotations

import contextlib
import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, SupportsIndex, TypeAlias, TypeGuard, TypeVar, cast

from dlopt.errors import NotApplicableError, shortened
from dlopt.long_integers import integer_from, text_of

Number: TypeAlias = int | float | Fraction

NumberT = TypeVar("NumberT", bound=Number)
"""A type of numbers: what is computed of numbers of one type is of that type."""

NumberField: TypeAlias = Callable[[Number], Number]
"""Converts numbers into the type to compute in: `exact`, or ``float``."""

EXACT = 0.0
"""Tolerance of an answer in exact numbers."""
FLOATING = 1e-9
"""Relative tolerance of an answer computed in floats by a formula."""
SOLVER = 1e-6
"""Relative tolerance of an answer computed by a floating-point solver."""
ROUNDING = Fraction(1, 2**46)
"""What an instant may be off for being a float, relative: 64 to 128 units in the last place."""

_WHOLE = 2.0**53
"""Below it a float that is an integer prints all digits of it."""
_DIGITS = 100_000
_OWN_TYPES = frozenset({bool, int, float, Fraction, str, type(None)})
_SHOWN_FIELDS: dict[type, tuple[str, ...]] = {}
_MOST_ENTRIES = (20, 8, 4)
"""Entries of a tuple above which half as many are shown; fewer where the text is still too long."""
_LONGEST_RECORD = 10_000
"""Characters of a text above which fewer entries are shown."""
_TEXT = re.compile(
    r"\s*[-+]?(?:\d+\s*/\s*\d+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,4})?)\s*", re.ASCII
)


def exact(number: Number) -> Fraction:
    """Return the rational that `number` stands for: of a float, the decimal that it prints.

    The conversion is strictly monotone, and ``float(exact(x)) == x`` for every finite float.

    Examples
    --------
    >>> exact(0.5), exact(3), exact(0.1) + exact(0.2) == exact(0.3)
    (Fraction(1, 2), Fraction(3, 1), True)
    """
    if type(number) is Fraction:
        return number
    if not isinstance(number, float) or (number.is_integer() and abs(number) < _WHOLE):
        return Fraction(number)
    return _printed_decimal(number)


@lru_cache(maxsize=1 << 14)  # checks read the numbers of one instance again and again
def _printed_decimal(number: float) -> Fraction:
    return Fraction(*Decimal(float.__repr__(number)).as_integer_ratio())


def is_less(one: Number, other: Number) -> bool:
    """Tell whether a number is less than another, comparing floats as the decimals they print.

    Examples
    --------
    >>> 0.001 > Fraction(1, 1000), is_less(Fraction(1, 1000), 0.001)
    (True, False)
    """
    if type(one) is type(other):
        return one < other
    return exact(one) < exact(other)


def least(numbers: Sequence[Number]) -> Number:
    """Return the least number; of a float and a fraction, as the decimal that the float prints.

    Examples
    --------
    >>> least([Fraction(102_000_000_001, 60), 1700000000.0166667])
    Fraction(102000000001, 60)
    """
    first = min(numbers)
    last = exact(first) * (1 + ROUNDING)  # floats and decimals may stand in another order here
    return min({number for number in numbers if number <= last or number == first}, key=exact)


def is_exact(numbers: Iterable[Number]) -> bool:
    """Tell whether no float is among `numbers`.

    Examples
    --------
    >>> is_exact([1, Fraction(1, 3)]), is_exact([1, 0.5])
    (True, False)
    """
    return not any(issubclass(kind, float) for kind in set(map(type, numbers)))


def field(numbers: Iterable[Number]) -> Callable[[Number], Fraction] | Callable[[Number], float]:
    """Return the field to compute in: `exact` if all `numbers` are exact, else ``float``.

    Examples
    --------
    >>> field([1, 2])(3), field([1, 2.5])(3)
    (Fraction(3, 1), 3.0)
    """
    return exact if is_exact(numbers) else float


def simplest(number: Number) -> Number:
    """Return an integral fraction as an ``int``, anything else as it is.

    Examples
    --------
    >>> simplest(Fraction(6, 2)), simplest(Fraction(1, 2)), simplest(2.0)
    (3, Fraction(1, 2), 2.0)
    """
    if isinstance(number, Fraction) and number.denominator == 1:
        return number.numerator
    return number


def is_finite(number: Number) -> bool:
    """Tell whether `number` is neither infinite nor NaN and lies within the range of a float."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def is_number(value: object) -> TypeGuard[Number]:
    """Tell whether something is a finite number of a kind that dlopt computes with.

    Examples
    --------
    >>> is_number(0.5), is_number(True), is_number(float("nan")), is_number("1")
    (True, False, False, False)
    """
    kinds = (int, float, Fraction)
    return isinstance(value, kinds) and not isinstance(value, bool) and is_finite(value)


def converted(value: object) -> object:
    """Return a number or truth value of NumPy, or a decimal, as one of Python; all else as it is.

    Examples
    --------
    >>> import numpy
    >>> converted(numpy.int64(3)), converted(numpy.float32(0.5)), converted(Decimal("0.25"))
    (3, 0.5, Fraction(1, 4))
    >>> converted(True), converted("1"), converted(Decimal("nan"))
    (True, '1', Decimal('NaN'))
    """
    if type(value) in _OWN_TYPES:
        return value
    if isinstance(value, Decimal):
        try:
            return simplest(parse(str(value)))
        except ValueError:
            return value
    if isinstance(value, float):
        return float(value)
    if isinstance(value, SupportsIndex):
        with contextlib.suppress(TypeError):  # an array of several entries
            return operator.index(value)
    item = getattr(value, "item", None)
    inner = item() if callable(item) and getattr(value, "ndim", None) == 0 else None
    return inner if type(inner) in (bool, int, float) else value


def plain_integers(numbers: Iterable[int]) -> tuple[int, ...]:
    """Return integers, some of them perhaps NumPy's, as those of Python; all else as it is.

    Examples
    --------
    >>> import numpy
    >>> plain_integers(numpy.array([0, 2])), plain_integers([0.5])
    ((0, 2), (0.5,))
    """
    return tuple(cast("int", converted(number)) for number in numbers)


def integer_argument(name: str, value: object, least: int | None = None) -> int:
    """Return an integer that a caller gives, also one of NumPy.

    Raises
    ------
    NotApplicableError
        If it is no integer, or too small.

    Examples
    --------
    >>> integer_argument("seed", 3)
    3
    """
    number = converted(value)
    if type(number) is int and (least is None or number >= least):
        return number
    wanted = "an integer" if least is None else f"an integer from {least} on"
    raise NotApplicableError(f"{name} must be {wanted}, got {value!r}")


def parse(text: str) -> Fraction:
    """Read an exact number: an integer, a decimal or ``p/q``.

    Raises
    ------
    ValueError
        If `text` is none of these, or is absurdly long.

    Examples
    --------
    >>> parse("39/8"), parse("-1.25e1")
    (Fraction(39, 8), Fraction(-25, 2))
    """
    if len(text) > _DIGITS or _TEXT.fullmatch(text) is None:
        raise ValueError(f"not a number: {text[:40]!r}")
    top, slash, bottom = text.partition("/")
    if not slash:
        return Fraction(integer_from(top) if top.strip().isdigit() else Decimal(top))
    divisor = integer_from(bottom)
    if divisor == 0:
        raise ValueError(f"denominator zero: {text[:40]!r}")
    return Fraction(integer_from(top), divisor)


def to_json(number: Number) -> int | float | str:
    """Return `number` as JSON says it: an exact non-integer is the string ``"p/q"``.

    Examples
    --------
    >>> to_json(Fraction(39, 8)), to_json(Fraction(4)), to_json(0.5)
    ('39/8', 4, 0.5)
    """
    plain = simplest(number)
    return _text(plain) if isinstance(plain, Fraction) else plain


def nearest_float(number: Number) -> float | None:
    """Return the float next to a number; None if it is beyond the range of floats.

    Examples
    --------
    >>> nearest_float(Fraction(39, 8)), nearest_float(10**400)
    (4.875, None)
    """
    try:
        return float(number)
    except OverflowError:
        return None


def canonical(number: Number) -> int | str:
    """Return a form that equal numbers share, whatever their type; for hashing.

    Examples
    --------
    >>> canonical(0.5) == canonical(Fraction(1, 2)), canonical(3.0)
    (True, 3)
    """
    plain = simplest(exact(number))
    return _text(plain) if isinstance(plain, Fraction) else int(plain)


def shown(number: Number | None, digits: int = 6) -> str:
    """Return `number` for a table: exact if that is short, else with `digits` digits.

    What is larger, such as a date in seconds, keeps all digits before the point and three after.

    Examples
    --------
    >>> shown(Fraction(39, 8)), shown(Fraction(1, 3) ** 20), shown(2 / 3), shown(None)
    ('39/8', '2.86797e-10', '0.666667', '-')
    >>> shown(1732240000.25), shown(999999.7)
    ('1732240000.25', '1000000')
    """
    if number is None:
        return "-"
    plain = simplest(number)
    if isinstance(plain, Fraction):
        short = max(abs(plain.numerator), plain.denominator) < 10**digits
        if short and len(str(plain)) <= digits + 3:
            return str(plain)
    if isinstance(plain, int) and abs(plain) < 10**15:
        return str(plain)
    if 10**digits <= max(plain, -plain) < 10**15:
        return f"{float(plain):.3f}".rstrip("0").rstrip(".")
    with contextlib.suppress(OverflowError):
        size = float(plain)
        text = f"{size:.{digits}g}"
        if text.lstrip("-") == f"1e+{digits:02}":  # rounded up to the next power of ten
            return str(round(size))
        if size or not plain:
            return text
    top, bottom = plain.as_integer_ratio()
    rounded = Context(prec=digits).divide(Decimal(top), Decimal(bottom))
    return f"{rounded.normalize():g}"


def _text(fraction: Fraction) -> str:
    """Return ``p/q``, however many digits it has; `str` alone stops at 4300."""
    with contextlib.suppress(ValueError):
        return str(fraction)
    return f"{text_of(fraction.numerator)}/{text_of(fraction.denominator)}"


class PrintableRecord:
    """Base of data classes whose text can be printed whatever their numbers and sizes are.

    It is the text that `dataclass` generates; but numbers with more digits than Python prints
    (4300, see `sys.set_int_max_str_digits`) are rounded, instead of a ValueError, and of long
    tuples the first entries are shown, and how many more there are.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Load(PrintableRecord):
    ...     amount: object
    >>> Load(Fraction(1, 3)), Load(Fraction(10**5000, 3 * 10**4990 + 1))
    (Load(amount=Fraction(1, 3)), Load(amount=3333333333.333))
    >>> Load(tuple(range(1_000_000)))
    Load(amount=(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... 999,990 more))
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__repr__" not in cls.__dict__:  # `dataclass`, which comes later, generates no other
            cls.__repr__ = PrintableRecord.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        for most in _MOST_ENTRIES:
            text = _record_text(self, most)
            if len(text) <= _LONGEST_RECORD:
                break
        return text


def _record_text(record: Any, most: int) -> str:
    kind = type(record)
    if kind not in _SHOWN_FIELDS:
        _SHOWN_FIELDS[kind] = tuple(one.name for one in fields(record) if one.repr)
    names = _SHOWN_FIELDS[kind]
    parts = [f"{name}={_printed(getattr(record, name), most)}" for name in names]
    return f"{kind.__qualname__}({', '.join(parts)})"


def _printed(thing: object, most: int) -> str:
    """Return the text of what may have millions of entries, or numbers too long to print."""
    if type(thing) is tuple:
        number = len(thing) if len(thing) <= most else most // 2
        parts = [_printed(entry, most) for entry in thing[:number]]
        parts += [f"... {len(thing) - number:,} more"] * (number < len(thing))
        return f"({parts[0]},)" if len(thing) == 1 else f"({', '.join(parts)})"
    if type(thing).__repr__ is PrintableRecord.__repr__:
        return _record_text(thing, most)
    try:
        return shortened(repr(thing)) if isinstance(thing, str) else repr(thing)
    except ValueError:
        pass
    if isinstance(thing, tuple):
        return _printed(tuple(thing), most)
    if is_dataclass(thing):
        return _record_text(thing, most)
    return shown(thing) if isinstance(thing, int | Fraction) else object.__repr__(thing)
