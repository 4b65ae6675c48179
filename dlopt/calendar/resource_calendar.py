"""When is so much free, for so long, on so many machines at once: the calendar of machines."""

from __future__ import annotations

import math
from itertools import pairwise

from dlopt.arithmetic import Number
from dlopt.calendar.calendar_questions import CalendarQuestions
from dlopt.calendar.calendar_state import as_steps
from dlopt.calendar.input_rules import InputRules, refuse
from dlopt.calendar.profile_nodes import Instant
from dlopt.calendar.profiles import Steps
from dlopt.calendar.span_registry import Span
from dlopt.errors import Fault


class ResourceCalendar(CalendarQuestions):
    """The capacities of machines over time, and the spans for which parts of them are allocated.

    Parameters
    ----------
    capacities : sequence
        Of each machine a number, or pairs of an instant and the capacity from then on; the first
        instant is not after `now`, and they increase.
    now : Number, default 0
        Nothing can be allocated before.
    compiled : bool, default False
        Use compiled profiles (extra ``fast``). Instants must be floats or exact as floats then, and
        are returned as floats; amounts must be less than 2^57 units of their common denominator.
    exact_numbers : bool, optional
        Return amounts in integers and fractions, or in floats, rounded down; by default in
        fractions if no capacity is a float.

    Raises
    ------
    InvalidInstanceError
        With every fault.
    NotApplicableError
        If amounts are too large or too fine for compiled profiles.

    Notes
    -----
    All windows are half-open: what ends at an instant is free for what starts then.

    Guarantee: at every instant the amounts of all spans on a machine are at most its capacity,
    except where `overbook` was set or the capacity was reduced. A call that raises an error changes
    nothing. All sums of amounts are exact, so the order in which spans are added and removed leaves
    no trace. Instants are compared as they are given; a duration fits if ``start + duration``,
    rounded as their type rounds it, is not after the end of the run.

    Complexity, for n spans on a machine: O(log n) for `add_span`, `remove_span`, `resize_span` and
    `smallest_free`; `advance` takes that for each machine besides what it forgets; `copy` is O(m)
    for m machines, and later changes copy the nodes on their path. For `earliest_start` see
    `dlopt.calendar.earliest_fit`, for `earliest_common_start` `dlopt.calendar.common_start`.
    Memory: O(n), independent of the lengths of the spans.

    One thread at a time may use a calendar; with compiled profiles, a calendar and its copies.

    Source: availability profiles as in backfilling, Mu'alem and Feitelson 2001; the verbs are those
    of Fluxion's planner. The tree is ours.

    Examples
    --------
    >>> calendar = ResourceCalendar([4, 4, [(0, 4), (20, 2)]])
    >>> span = calendar.add_span(0, 0, 10, 3)
    >>> calendar.smallest_free(0, 5, 15), calendar.earliest_start(0, 2, 5)
    (1, 10)
    >>> calendar.earliest_common_start([2, 2, 2], 5)
    CommonStart(start=10, machines=(0, 1, 2))
    >>> calendar.resize_span(span, end=7)
    Span(id=0, machine=0, start=0, end=7, amount=3)
    >>> calendar.add_at_earliest_start(0, 4, 6).start
    7
    >>> calendar.add_span(0, 5, 9, 1)
    Traceback (most recent call last):
    ...
    dlopt.errors.NotApplicableError: machine 0 in [5, 9): 1 asked for, 0 free
    """

    def add_span(
        self, machine: int, start: Number, end: Number, amount: Number, *, overbook: bool = False
    ) -> int:
        """Allocate an amount of a machine for a window.

        Parameters
        ----------
        machine : int
        start, end : Number
            Not before now.
        amount : Number
        overbook : bool, default False
            Allocate more than is free, too: for what is allocated by others, or a machine that
            fails.

        Returns
        -------
        int
            The number of the span.

        Raises
        ------
        InvalidInstanceError
            With every fault.
        NotApplicableError
            If less is free, or the amount is too large or too fine for compiled profiles.
        """
        faults = self._rules.window(machine, start, end, self._now)
        refuse(faults + self._rules.amount(amount))
        if overbook:
            self._profiles.refuse_overflow(machine, start, end, self._profiles.units(amount))
        else:
            self._profiles.refuse_more_than_free(machine, start, end, amount)
        return self._added(machine, start, end, amount).id

    def add_at_earliest_start(
        self,
        machine: int,
        amount: Number,
        duration: Number,
        *,
        after: Number | None = None,
        latest_end: Number | None = None,
    ) -> Span | None:
        """Find the earliest start, and add the span that begins then; None if there is no start.

        Raises
        ------
        InvalidInstanceError
            As `earliest_start`; also if the end is beyond the floats.
        """
        start = self.earliest_start(machine, amount, duration, after=after, latest_end=latest_end)
        if start is None:
            return None
        refuse(self._rules.end(start, start + duration))
        return self._added(machine, start, start + duration, amount)

    def remove_span(self, span_id: int) -> Span:
        """Remove a span; of one that has begun, what is left from now on becomes free.

        Raises
        ------
        InvalidInstanceError
            As `span`.
        """
        span = self.span(span_id)
        start = max(span.start, self._now)
        self._profiles.change(span.machine, start, span.end, self._profiles.units(span.amount))
        return self._spans.pop(span_id)

    def resize_span(
        self,
        span_id: int,
        *,
        start: Number | None = None,
        end: Number | None = None,
        amount: Number | None = None,
        overbook: bool = False,
    ) -> Span:
        """Shrink, extend or move a span; it keeps what is not given.

        Parameters
        ----------
        span_id : int
        start, end, amount : Number, optional
            Of a span that has begun the start is kept, the end lies after now, and another amount
            is allocated from now on.
        overbook : bool, default False
            As `add_span`.

        Returns
        -------
        Span
            The span as it is now, with the same number.

        Raises
        ------
        InvalidInstanceError
            With every fault.
        NotApplicableError
            If less is free. What only shrinks always fits.
        """
        old = self.span(span_id)
        span = old._replace(
            start=old.start if start is None else start,
            end=old.end if end is None else end,
            amount=old.amount if amount is None else amount,
        )
        since: Instant = max(old.start, self._now)
        faults = self._rules.amount(span.amount)
        if span.start != old.start and old.start < self._now:
            faults.append(Fault("start", start, "must be kept, for the span has begun"))
        elif span.start != old.start:
            faults += self._rules.instant("start", span.start, self._now)
        refuse(faults)
        begin: Instant = max(span.start, self._now)
        refuse(self._rules.end(begin, span.end))
        if not overbook:
            cuts = {begin, span.end, *(cut for cut in (since, old.end) if begin < cut < span.end)}
            for left, right in pairwise(sorted(cuts)):
                allocated = old.amount if since <= left < old.end else 0
                self._profiles.refuse_more_than_free(
                    span.machine, left, right, span.amount, allocated
                )
        units = self._profiles.units(span.amount)
        if overbook:
            self._profiles.refuse_overflow(span.machine, begin, span.end, units)
        self._profiles.change(old.machine, since, old.end, self._profiles.units(old.amount))
        self._profiles.change(span.machine, begin, span.end, -units)
        self._spans.put(span)
        return span

    def set_capacity(
        self,
        machine: int,
        capacity: Number,
        *,
        start: Number | None = None,
        end: Number | None = None,
    ) -> None:
        """Change the capacity of a machine: it fails, is repaired, is drained, or grows.

        Parameters
        ----------
        machine : int
        capacity : Number
        start, end : Number, optional
            Of the window; by default from now on, and for ever.

        Raises
        ------
        InvalidInstanceError
            With every fault.
        NotApplicableError
            If amounts are too large or too fine for compiled profiles.

        Notes
        -----
        Spans stay as they are. Where they are more than the capacity then, `smallest_free` is
        negative, and they are the caller's to remove or to move.

        Examples
        --------
        >>> calendar = ResourceCalendar([4])
        >>> _ = calendar.add_span(0, 0, 10, 3)
        >>> calendar.set_capacity(0, 0, start=5, end=20)
        >>> calendar.smallest_free(0, 0, 9), calendar.earliest_start(0, 2, 3)
        (-3, 20)
        """
        since: Instant = self._now if start is None else start
        until: Instant = math.inf if end is None else end
        rules = self._rules
        faults = rules.machine(machine) + rules.amount(capacity, "capacity")
        wrong = rules.instant("start", since, self._now)
        refuse(faults + (wrong or ([] if end is None else rules.end(since, end))))
        self._profiles.set_capacity(machine, since, until, capacity)

    def add_machine(self, capacity: Number | Steps) -> int:
        """Add a machine, and return its number.

        Raises
        ------
        InvalidInstanceError
            With every fault of its capacity, as for a new calendar.
        NotApplicableError
            If amounts are too large or too fine for compiled profiles.
        """
        refuse(self._rules.capacity(capacity, self._now))
        self._profiles.add(as_steps(capacity, self._now), self._now)
        self._rules = InputRules(self.machines, self._profiles.is_compiled)
        return self.machines - 1

    def advance(self, now: Number) -> None:
        """Forget what was before an instant, and the spans that ended by then.

        Raises
        ------
        InvalidInstanceError
            If it is before now.
        """
        refuse(self._rules.instant("now", now, self._now))
        self._now = now
        self._spans.drop_ended(now)
        self._profiles.forget(now)

    def _added(self, machine: int, start: Instant, end: Instant, amount: Number) -> Span:
        units = self._profiles.units(amount)
        self._profiles.change(machine, start, end, -units)
        span = Span(self._next_span, machine, start, end, amount)
        self._spans.put(span)
        self._next_span += 1
        return span
