"""What a calendar of machines keeps, its copies and its snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

from dlopt.arithmetic import Number, is_exact
from dlopt.calendar.input_rules import InputRules, refuse
from dlopt.calendar.profile_nodes import Instant
from dlopt.calendar.profiles import Profiles, Steps
from dlopt.calendar.snapshot_format import numbered_spans, plain_data, snapshot_fields, span_faults
from dlopt.calendar.span_registry import Span, SpanContent, SpanRegistry
from dlopt.errors import Fault, InvalidInstanceError


class CalendarState:
    """The state of a calendar; see `dlopt.calendar.resource_calendar.ResourceCalendar`."""

    def __init__(
        self,
        capacities: Sequence[Number | Steps],
        *,
        now: Number = 0,
        compiled: bool = False,
        exact_numbers: bool | None = None,
    ) -> None:
        if not isinstance(capacities, (list, tuple)) or not capacities:
            refuse([Fault("capacities", capacities, "must be a list with one machine at least")])
        self._rules = InputRules(len(capacities), compiled)
        refuse(self._rules.capacities(capacities, now))
        self._now: Instant = now
        steps = [as_steps(capacity, now) for capacity in capacities]
        if exact_numbers is None:
            exact_numbers = is_exact(value for pairs in steps for _, value in pairs)
        self._exact = exact_numbers
        self._profiles = Profiles(steps, now, compiled=compiled)
        self._spans = SpanRegistry()
        self._next_span = 0

    @property
    def now(self) -> Number:
        """Where the calendar begins, see `advance`."""
        return self._now  # type: ignore[no-any-return]

    @property
    def exact_numbers(self) -> bool:
        """Whether amounts are returned in integers and fractions, and not in floats."""
        return self._exact

    @property
    def machines(self) -> int:
        """The number of machines."""
        return len(self._profiles)

    def __len__(self) -> int:
        """Return how many spans there are that have not ended."""
        return len(self._spans)

    def spans(self) -> tuple[Span, ...]:
        """Return all spans that have not ended, by number. Complexity: O(n log n)."""
        return tuple(self._spans)

    def span(self, span_id: int) -> Span:
        """Return a span.

        Raises
        ------
        InvalidInstanceError
            If there is none of that number: it ended, was removed, or never was.
        """
        span = self._spans.get(span_id)
        if span is None:
            rule = "must be the number of a span that has neither ended nor been removed"
            raise InvalidInstanceError([Fault("span_id", span_id, rule)])
        return span

    def copy(self) -> Self:
        """Return a calendar that goes on by itself: what is tried on it leaves this one as it is.

        Examples
        --------
        >>> from dlopt.calendar import ResourceCalendar
        >>> calendar = ResourceCalendar([4])
        >>> trial = calendar.copy()
        >>> trial.add_span(0, 0, 10, 3), trial.earliest_start(0, 2, 5)
        (0, 10)
        >>> calendar.earliest_start(0, 2, 5)
        0
        """
        twin = type(self).__new__(type(self))
        twin._rules, twin._now, twin._exact = self._rules, self._now, self._exact
        twin._profiles = self._profiles.copy()
        twin._spans = self._spans.copy()
        twin._next_span = self._next_span
        return twin

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy deeply by way of a snapshot."""
        restored = partial(type(self).restore, compiled=self._profiles.is_compiled)
        return restored, (self.snapshot(),)

    def snapshot(self) -> dict[str, Any]:
        """Return the calendar as data that JSON can say; exact fractions are strings ``"p/q"``."""
        capacities = [self._profiles.capacity(machine) for machine in range(self.machines)]
        return plain_data(self._now, self._exact, capacities, self._next_span, self._spans)

    @classmethod
    def restore(cls, snapshot: object, *, compiled: bool = False) -> Self:
        """Return the calendar of a snapshot.

        Raises
        ------
        InvalidInstanceError
            If it is none: every fault of its fields, or else of its spans.

        Examples
        --------
        >>> from dlopt.calendar import ResourceCalendar
        >>> calendar = ResourceCalendar([4])
        >>> _ = calendar.add_span(0, 0, 10, 3)
        >>> ResourceCalendar.restore(calendar.snapshot()).spans() == calendar.spans()
        True
        """
        data = snapshot_fields(snapshot)
        calendar = cls(
            data["capacities"], now=data["now"], compiled=compiled, exact_numbers=data["exact"]
        )
        spans = data["spans"]
        refuse(span_faults(calendar._rules, spans, data["next_span"], data["now"]))
        calendar._load(data["capacities"], spans, data["next_span"])
        return calendar

    @classmethod
    def with_spans(
        cls,
        capacities: Sequence[Number | Steps],
        spans: Sequence[SpanContent],
        *,
        now: Number = 0,
        compiled: bool = False,
        exact_numbers: bool | None = None,
    ) -> Self:
        """Return a calendar with spans, which may be more than the capacities.

        Parameters
        ----------
        capacities, now, compiled, exact_numbers
            As `dlopt.calendar.ResourceCalendar` takes them.
        spans : sequence of tuple
            Of each span the machine, the start (not before now), the end and the amount. They are
            numbered from 0 on.

        Raises
        ------
        InvalidInstanceError
            With every fault.
        NotApplicableError
            If amounts are too large or too fine for compiled profiles.

        Notes
        -----
        Guarantee: the calendar is equal to one to which `add_span` adds the spans one after the
        other, with `overbook`. Complexity: O(n log n) for n spans, of which sorting them is
        the logarithm; each tree is built once, and not changed for every span.

        Examples
        --------
        >>> from dlopt.calendar import ResourceCalendar
        >>> calendar = ResourceCalendar.with_spans([4, 4], [(0, 2, 5, 3), (0, 3, 9, 2)])
        >>> calendar.allocated(0, 0, 10), calendar.smallest_free(0, 0, 10)
        (((0, 2, 0), (2, 3, 3), (3, 5, 5), (5, 9, 2), (9, 10, 0)), -1)
        """
        calendar = cls(capacities, now=now, compiled=compiled, exact_numbers=exact_numbers)
        entries = numbered_spans(spans)
        refuse(span_faults(calendar._rules, entries, len(entries), now, earliest=now))
        calendar._load(capacities, entries, len(entries))
        return calendar

    def _load(
        self, capacities: Sequence[Number | Steps], spans: list[Span], next_span: int
    ) -> None:
        """Enter the spans of a calendar that has none yet."""
        for span in spans:
            self._spans.put(span)
        steps = [as_steps(each, self._now) for each in capacities]
        compiled = self._profiles.is_compiled
        self._profiles = Profiles(steps, self._now, compiled=compiled, spans=spans)
        self._next_span = next_span


def as_steps(capacity: Number | Steps, now: Number) -> Steps:
    """Return a capacity as pairs of an instant and the capacity from then on."""
    if isinstance(capacity, (list, tuple)):
        return tuple((since, value) for since, value in capacity)
    return ((now, capacity),)  # type: ignore[return-value]
