"""The spans of a calendar by number, in buckets that copies share until one is changed."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import NamedTuple

from dlopt.arithmetic import Number
from dlopt.calendar.earliest_fit import Instant

BUCKET = 64
"""Spans with successive numbers that share a bucket. Chosen by hand: with larger buckets there are
fewer of them to copy, but more spans to copy or to examine in each that changes."""
CHANGES = 256
"""Changes that are collected before they are entered into buckets. Chosen by hand: copying so many
takes 2 microseconds, and copying the list of buckets of 1,000,000 spans once for so many changes
costs less than 2 microseconds per change."""


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

    def __init__(self, owner: object, spans: dict[int, Span], first_end: Instant) -> None:
        self.owner = owner
        self.spans = spans
        self.first_end = first_end  # of all spans that are or were in it; it may be too early


class SpanRegistry:
    """Spans by number.

    Notes
    -----
    Up to `CHANGES` changes are collected before they are entered into buckets. A copy therefore
    copies these changes only and shares all buckets; the list of buckets is copied when changes are
    entered for the first time after that.

    Complexity, for n spans: O(1) for `get`, and for `copy`. `put` and `pop` take O(log n),
    amortised, and O(n / (BUCKET * CHANGES)) more if each change is followed by a copy;
    `drop_ended` takes O(BUCKET + log n) for each bucket in which it finds a span that has ended,
    and O(n / BUCKET) if it is the first change after a copy.

    Examples
    --------
    >>> registry = SpanRegistry()
    >>> registry.put(Span(0, 0, 2, 5, 3))
    >>> twin = registry.copy()
    >>> registry.drop_ended(5)
    >>> len(registry), len(twin), twin.get(0).end
    (0, 1, 5)
    """

    __slots__ = ("_buckets", "_changes", "_count", "_ends", "_is_shared", "_owner")

    def __init__(self) -> None:
        self._owner: object = object()
        self._buckets: dict[int, _Bucket] = {}
        self._ends: list[
            tuple[Instant, int]
        ] = []  # a heap; entries of former first ends are skipped
        self._is_shared = False  # whether another registry has the same buckets and ends
        self._changes: dict[int, Span | None] = {}  # None where a span was removed
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Span]:
        self._enter_changes()
        for place in sorted(self._buckets):
            yield from (span for _, span in sorted(self._buckets[place].spans.items()))

    def copy(self) -> SpanRegistry:
        """Return a registry that goes on by itself."""
        twin = SpanRegistry()
        twin._buckets, twin._ends = self._buckets, self._ends
        twin._changes = self._changes.copy()
        twin._count = self._count
        self._owner = object()
        self._is_shared = twin._is_shared = True
        return twin

    def get(self, number: object) -> Span | None:
        """Return a span, or None if there is none of that number."""
        if type(number) is not int:
            return None
        if number in self._changes:
            return self._changes[number]
        bucket = self._buckets.get(number // BUCKET)
        return None if bucket is None else bucket.spans.get(number)

    def put(self, span: Span) -> None:
        """Enter a span, instead of one with its number."""
        self._count += self.get(span.id) is None
        self._change(span.id, span)

    def pop(self, number: int) -> Span:
        """Remove a span that is there, and return it."""
        span = self.get(number)
        assert span is not None
        self._count -= 1
        self._change(number, None)
        return span

    def drop_ended(self, now: Instant) -> None:
        """Remove the spans that end at an instant or before it."""
        self._enter_changes()
        if self._ends and self._ends[0][0] <= now:
            self._unshare()
        while self._ends and self._ends[0][0] <= now:
            end, place = heapq.heappop(self._ends)
            if place not in self._buckets or self._buckets[place].first_end != end:
                continue
            bucket = self._own(place)
            before = len(bucket.spans)
            bucket.spans = {key: span for key, span in bucket.spans.items() if span.end > now}
            self._count -= before - len(bucket.spans)
            if bucket.spans:
                bucket.first_end = min(span.end for span in bucket.spans.values())
                self._announce(place, bucket)
            else:
                del self._buckets[place]

    def _change(self, number: int, span: Span | None) -> None:
        self._changes[number] = span
        if len(self._changes) >= CHANGES:
            self._enter_changes()

    def _enter_changes(self) -> None:
        """Enter the changes into buckets."""
        if self._changes:
            self._unshare()
        for number, span in self._changes.items():
            place = number // BUCKET
            if place not in self._buckets:
                self._buckets[place] = _Bucket(self._owner, {}, math.inf)
            bucket = self._own(place)
            if span is not None:
                bucket.spans[number] = span
                if span.end < bucket.first_end:
                    bucket.first_end = span.end
                    self._announce(place, bucket)
            else:
                bucket.spans.pop(number, None)
                if not bucket.spans:
                    del self._buckets[place]
        self._changes = {}

    def _unshare(self) -> None:
        """Take a list of buckets of its own."""
        if self._is_shared:
            self._buckets, self._ends = self._buckets.copy(), self._ends.copy()
            self._is_shared = False

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
