"""Overlaps of half-open intervals on one resource."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from dlopt.arithmetic import Number

Interval: TypeAlias = tuple[Fraction, Fraction]
"""Start and end of the use of a resource, half-open."""


class Overlap(NamedTuple):
    """The time that two intervals share."""

    start: Number
    end: Number
    amount: Number


def overlaps(intervals: Iterable[tuple[Number, Number]]) -> Iterator[Overlap]:
    """Yield where half-open intervals ``[start, end)`` of one resource overlap.

    Each interval is compared with the earlier one that ends last, so that at least one overlap
    is found if there is any. Empty intervals overlap nothing.

    Complexity: O(n log n).

    Examples
    --------
    >>> list(overlaps([(0, 3), (2, 4), (4, 5)]))
    [Overlap(start=2, end=3, amount=1)]
    """
    busy_until: Any = None
    for start, end in sorted(interval for interval in intervals if interval[0] < interval[1]):
        if busy_until is not None and start < busy_until:
            shared = min(end, busy_until)
            yield Overlap(start, shared, shared - start)
        busy_until = end if busy_until is None else max(busy_until, end)


def crossings(
    one: Iterable[tuple[Number, Number]], other: Iterable[tuple[Number, Number]]
) -> Iterator[Overlap]:
    """Yield where half-open intervals of one kind overlap those of another.

    Each interval is compared with the earlier one of the other kind that ends last. Empty
    intervals overlap nothing.

    Complexity: O(n log n).

    Examples
    --------
    >>> list(crossings([(0, 3), (2, 4)], [(3, 5)]))
    [Overlap(start=3, end=4, amount=1)]
    """
    until: list[Any] = [None, None]
    both = ((start, end, kind) for kind, some in enumerate((one, other)) for start, end in some)
    for start, end, kind in sorted(interval for interval in both if interval[0] < interval[1]):
        busy = until[1 - kind]
        if busy is not None and start < busy:
            shared = min(end, busy)
            yield Overlap(start, shared, shared - start)
        until[kind] = end if until[kind] is None else max(until[kind], end)
