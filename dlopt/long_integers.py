"""Integers of thousands of digits as decimal text, read and written by halves.

The functions of Python 3.11 take time that grows with the square of the number of digits, and its
`int` and `str` refuse more than 4300 of them. Here a number is split into two halves of its digits,
or of its bits, again and again, so that the time is that of a few multiplications.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Decimal, Inexact, localcontext

_DIGITS = 500
"""A text of so many digits is read at once: ``int`` takes 640 of them whatever its limit is."""
_BITS = 1000
"""A number of so many bits is written at once."""


def integer_from(text: str) -> int:
    """Return the integer that a text of digits stands for, however many there are.

    Parameters
    ----------
    text : str
        ASCII digits, with a sign or without; spaces around them do not count.

    Returns
    -------
    int
        It takes about n**1.6 steps to read n digits.

    Raises
    ------
    ValueError
        If `text` is something else.

    Examples
    --------
    >>> integer_from("-12"), integer_from("9" * 5000) == 10**5000 - 1
    (-12, True)
    """
    text = text.strip()
    digits = text.lstrip("+-")
    if not (digits.isascii() and digits.isdigit()) or len(text) - len(digits) > 1:
        raise ValueError(f"not an integer: {text[:40]!r}")
    size = _value(digits, {})
    return -size if text.startswith("-") else size


def text_of(number: int) -> str:
    """Return all digits of an integer, with ``-`` before those of a negative one.

    Parameters
    ----------
    number : int
        Of any size.

    Returns
    -------
    str
        What ``str`` returns where that has no limit, in the time of a few multiplications.

    Examples
    --------
    >>> text_of(-12), text_of(10**5000 - 1) == "9" * 5000
    ('-12', True)
    """
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = MAX_PREC, MAX_EMAX, MIN_EMIN
        context.traps[Inexact] = True
        return str(_decimal(number, number.bit_length(), {}))


def _value(digits: str, powers: dict[int, int]) -> int:
    """Return the value of digits; `powers` keeps powers of 5, by their exponents."""
    count = len(digits)
    if count <= _DIGITS:
        return int(digits)
    low = count // 2
    if low not in powers:
        powers[low] = 5**low
    top = _value(digits[:-low], powers) * powers[low]
    return (top << low) + _value(digits[-low:], powers)


def _decimal(number: int, bits: int, powers: dict[int, Decimal]) -> Decimal:
    """Return a number of so many bits; `powers` keeps powers of 2, by their exponents."""
    if bits <= _BITS:
        return Decimal(number)
    low = bits // 2
    if low not in powers:
        powers[low] = Decimal(2) ** low
    top = number >> low
    rest = number - (top << low)
    return _decimal(top, bits - low, powers) * powers[low] + _decimal(rest, low, powers)
