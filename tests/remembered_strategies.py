"""Strategies of hypothesis that are made once for the same arguments.

A strategy that is made while an example is drawn is checked, labelled and asked what it can draw,
each time anew: that takes longer than to draw from it. A strategy keeps nothing of what was drawn,
so that one that is used again draws what a new one would draw, and shrinks in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from fractions import Fraction
from functools import wraps
from typing import Any

from hypothesis import strategies
from hypothesis.strategies import SearchStrategy

MOST = 1000
"""Strategies that are remembered of one function; chosen by hand."""
LONGEST = 30
"""Values of a list that are compared: to compare more takes longer than to make a strategy."""
_PLAIN = (int, bool, str, type(None), Fraction, range, SearchStrategy, Enum)


class _UnknownError(Exception):
    """Values that may be equal and yet differ, or that cannot be compared quickly."""


def remembering(make: Callable[..., Any], *, copies: bool = False) -> Callable[..., Any]:
    """Return a function that makes a strategy once for the same arguments.

    Arguments that may change are not remembered; with `copies`, lists are, which `make` copies.

    Examples
    --------
    >>> chosen = remembering(strategies.sampled_from, copies=True)
    >>> chosen([0, 1]) is chosen([0, 1]), chosen([0, 1]) is chosen([False, True])
    (True, False)
    >>> chosen((0, 1)) is chosen([0, 1]), chosen([0.0, 1]) is chosen([-0.0, 1])
    (False, False)
    """
    made: dict[Any, Any] = {}

    @wraps(make)
    def strategy(*args: Any, **kwargs: Any) -> Any:
        try:
            key = _keys(args, copies), _key(tuple(kwargs.items()))
        except _UnknownError:
            return make(*args, **kwargs)
        if key not in made:
            if len(made) >= MOST:
                made.clear()
            made[key] = make(*args, **kwargs)
        return made[key]

    return strategy


def _key(value: Any) -> Any:
    """Return what is equal for values of equal types alone."""
    kind = type(value)
    if kind is float:
        return kind, repr(value)
    if kind is tuple:
        return kind, _keys(value, copies=False)
    if isinstance(value, _PLAIN):
        return kind, value
    raise _UnknownError


def _keys(values: Sequence[Any], copies: bool) -> tuple[Any, ...]:
    """Return the keys of some values; with `copies`, lists may be among them."""
    if len(values) > LONGEST:
        raise _UnknownError
    return tuple(
        (list, _keys(value, copies=False)) if copies and type(value) is list else _key(value)
        for value in values
    )


def remember() -> None:
    """Have hypothesis remember choices, permutations, and what composite strategies make."""
    composite = strategies.composite

    def remembered_composite(function: Any) -> Any:
        make = composite(function)
        return remembering(make) if callable(make) else make

    strategies.sampled_from = remembering(strategies.sampled_from, copies=True)
    strategies.permutations = remembering(strategies.permutations)
    strategies.composite = wraps(composite)(remembered_composite)
