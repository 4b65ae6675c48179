"""The smallest integer for which a monotone predicate holds: the fewest nodes that suffice.

A predicate is monotone here if once it holds for an integer, it holds for all larger ones.
"""

from __future__ import annotations

from collections.abc import Callable


def binary_search(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the smallest `n` in low..high for which `holds`; it is taken to hold for `high`.

    Examples
    --------
    >>> binary_search(lambda n: n * n >= 10, 2, 8), binary_search(lambda n: False, 2, 8)
    (4, 8)
    """
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def smallest_satisfying(holds: Callable[[int], bool], last: int) -> int | None:
    """Return the smallest `n` in 1..last for which `holds`, None if there is none.

    Examples
    --------
    >>> smallest_satisfying(lambda n: n * n >= 10, 8), smallest_satisfying(lambda n: False, 8)
    (4, None)
    """
    return None if last < 1 or not holds(last) else binary_search(holds, 1, last)


def galloping_search(holds: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the smallest `n` in low..high for which `holds`, None if there is none.

    It starts at `low` and doubles its steps, because an evaluation costs more for larger `n`.

    Examples
    --------
    >>> galloping_search(lambda n: n * n >= 10, 2, 8), galloping_search(lambda n: False, 2, 8)
    (4, None)
    """
    if high < low:
        return None
    at, step = low, 1
    while not holds(at):
        if at == high:
            return None
        low, at, step = at + 1, min(at + step, high), 2 * step
    return binary_search(holds, low, at)
