"""The spans of a calendar by number, in buckets that copies share until one is changed."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any, NamedTuple

from dlopt.arithmetic import Number

BUCKET = 64
"""Spans with successive numbers that share a bucket. Chosen by hand: a copy of the registry takes
time for each bucket, and the first change of a bucket after that for each span in it."""


class Span(NamedTuple):
    """An amount of one machine that is allocated for a window.

    Parameters
    ----------
    id : int
        Its number in the calendar.
    machine : int
        0-based.
    start, end : Number
        The window ``[start, end)``.
    amount : Number
    """

    id: int
    machine: int
    start: Number
    end: Number
    amount: Number


class _Bucket:
    __slots__ = ("first_end", "owner", "spans")

    def __init__(self, owner: object, spans: dict[int, Span], first_end: Any) -> None:
        self.owner = owner
        self.spans = spans
        self.first_end = first_end  # of all spans that are or were in it; it may be too early


class SpanRegistry:
    """Spans by number.

    Notes
    -----
    Complexity, for n spans: O(1) for `get`, `put` and `pop` besides O(log n) for a new earliest end
    in a bucket; O(n / BUCKET) for `copy`; O(BUCKET + log n) for each bucket in which `drop_ended`
    finds a span that has ended.

    Examples
    --------
    >>> registry = SpanRegistry()
    >>> registry.put(Span(0, 0, 2, 5, 3))
    >>> twin = registry.copy()
    >>> registry.drop_ended(5)
    >>> len(registry), len(twin), twin.get(0).end
    (0, 1, 5)
    """

    __slots__ = ("_buckets", "_count", "_ends", "_owner")

    def __init__(self) -> None:
        self._owner: object = object()
        self._buckets: dict[int, _Bucket] = {}
        self._ends: list[tuple[Any, int]] = []  # a heap; entries of former first ends are skipped
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Span]:
        for number in sorted(self._buckets):
            yield from (span for _, span in sorted(self._buckets[number].spans.items()))

    def copy(self) -> SpanRegistry:
        """Return a registry that goes on by itself."""
        twin = SpanRegistry()
        self._owner = object()
        twin._buckets, twin._ends = self._buckets.copy(), self._ends.copy()
        twin._count = self._count
        return twin

    def get(self, number: object) -> Span | None:
        """Return a span, or None if there is none of that number."""
        if type(number) is not int:
            return None
        bucket = self._buckets.get(number // BUCKET)
        return None if bucket is None else bucket.spans.get(number)

    def put(self, span: Span) -> None:
        """Enter a span, instead of one with its number."""
        place = span.id // BUCKET
        if place in self._buckets:
            bucket = self._own(place)
        else:
            bucket = self._buckets[place] = _Bucket(self._owner, {}, None)
        self._count += span.id not in bucket.spans
        bucket.spans[span.id] = span
        if bucket.first_end is None or span.end < bucket.first_end:
            bucket.first_end = span.end
            self._announce(place, bucket)

    def pop(self, number: int) -> Span:
        """Remove a span that is there, and return it."""
        place = number // BUCKET
        bucket = self._own(place)
        if len(bucket.spans) == 1:
            del self._buckets[place]
        self._count -= 1
        return bucket.spans.pop(number)

    def drop_ended(self, now: Any) -> None:
        """Remove the spans that end at an instant or before it."""
        while self._ends and self._ends[0][0] <= now:
            end, place = heapq.heappop(self._ends)
            if place not in self._buckets or self._buckets[place].first_end != end:
                continue
            bucket = self._own(place)
            self._count -= len(bucket.spans)
            bucket.spans = {key: span for key, span in bucket.spans.items() if span.end > now}
            self._count += len(bucket.spans)
            if bucket.spans:
                bucket.first_end = min(span.end for span in bucket.spans.values())
                self._announce(place, bucket)
            else:
                del self._buckets[place]

    def _own(self, place: int) -> _Bucket:
        """Return a bucket that this registry may change."""
        bucket = self._buckets[place]
        if bucket.owner is not self._owner:
            bucket = _Bucket(self._owner, bucket.spans.copy(), bucket.first_end)
            self._buckets[place] = bucket
        return bucket

    def _announce(self, place: int, bucket: _Bucket) -> None:
        """Note the first end of a bucket; of too many former ones, forget all."""
        heapq.heappush(self._ends, (bucket.first_end, place))
        if len(self._ends) > 4 * len(self._buckets) + BUCKET:
            self._ends = [(each.first_end, place) for place, each in self._buckets.items()]
            heapq.heapify(self._ends)
