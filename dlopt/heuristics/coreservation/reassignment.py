"""Which promises are kept, and on which machines, when not all of them can stay where they are.

What has begun stays on its machines. A promise that has not begun may be moved to other machines,
with the share that each of its parts has. Where not everything can be kept, what has begun is kept
before what has not, and otherwise a higher priority before a lower one; among equal priorities as
few promises as possible are broken, and among equally many those made last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby

from dlopt.arithmetic import Number, exact, shown
from dlopt.books import Consequences, fewest_broken
from dlopt.books.broken_promises import MAX_TRIALS
from dlopt.calendar import ResourceCalendar, Span
from dlopt.errors import NotApplicableError
from dlopt.heuristics.coreservation.engine_state import EngineState, Entry
from dlopt.heuristics.coreservation.machine_search import MachineSearch, Places, Promise, added

MAX_EXCHANGED = 32
"""Promises of one priority that are exchanged for each other, and promises whose machines are
searched for together, at the most: `MAX_TRIALS` allows for all pairs of so many. Of more, each is
kept in turn if it can be. Chosen by hand."""


class Reassignment:
    """Keeps as many promises as possible in a calendar in which not all of them fit.

    Parameters
    ----------
    state : EngineState
        Changed by `settle` alone.
    calendar : ResourceCalendar
        As it is from now on, with all shares where they were.
    late : Entry, optional
        A request that ends later than planned, as it is now. It is kept before all others.
    late_spans : dict of int to Span, optional
        Its spans in the calendar.
    """

    def __init__(
        self,
        state: EngineState,
        calendar: ResourceCalendar,
        late: Entry | None = None,
        late_spans: dict[int, Span] | None = None,
    ) -> None:
        self._state = state
        self._undecided = calendar  # with the spans of all promises that are not decided yet
        self._search = MachineSearch(state)
        self._promises = []
        for entry in state.alive():
            begun = state.has_begun(entry)
            rank: tuple[int, Number] = (1 if begun else 2, -exact(entry.request.priority))
            spans = dict(state.ledger.spans(entry.request.id))
            if late is not None and entry.request.id == late.request.id:
                entry, spans, rank = late, late_spans or {}, (0, 0)
            self._promises.append(Promise(entry, spans, rank))
        self._trials = MAX_TRIALS
        self._places: Places = {}
        self._copies: Places = {}  # of the same spans, in the calendar with undecided promises
        self._movable: list[Promise] = []  # which of them have not begun
        self._broken: list[Promise] = []
        self._searched_all = True  # whether no search was left out for its size
        self._least = True

    def settle(self, machines: Collection[int], lost: Collection[str] = ()) -> Consequences:
        """Resolve all conflicts on some machines, and change the state accordingly.

        Parameters
        ----------
        machines : collection of int
            On no other machine is more allocated than there is.
        lost : collection of str
            Requests that are broken in any case.

        Raises
        ------
        NotApplicableError
            If the machines cannot give so much to the request that ends later, even alone.
        """
        left = []
        for promise in self._promises:
            if promise.name in lost:
                self._lift(promise)
                self._broken.append(promise)
            else:
                left.append(promise)
        on_machines = [
            promise
            for promise in left
            if any(span.machine in machines for span in promise.spans.values())
        ]
        on_machines.sort(key=lambda promise: promise.rank)
        calendar = self._undecided.copy()
        for promise in on_machines:
            _remove(calendar, promise.spans)
        places = self._keep_where_they_are(calendar, on_machines)
        if places is None:
            calendar = self._keep_by_rank(left)
        else:
            self._places = places
        return self._commit(calendar)

    def _keep_by_rank(self, promises: list[Promise]) -> ResourceCalendar:
        """Decide on all promises, those of the lowest rank first; return the calendar."""
        decided = self._undecided.copy()
        for promise in promises:
            _remove(decided, promise.spans)
        promises = sorted(promises, key=lambda promise: promise.rank)
        for _, group in groupby(promises, key=lambda promise: promise.rank):
            members = list(group)
            for promise in members:
                self._lift(promise)
            if len(members) <= MAX_EXCHANGED:
                self._keep_most(decided, members)
            else:
                for promise in self._in_place_first(decided, members):
                    self._keep_if_possible(decided, promise)
        return decided

    def _keep_most(self, decided: ResourceCalendar, members: list[Promise]) -> None:
        """Keep as many promises of one rank as possible, in the order in which they were made."""
        planned: dict[tuple[str, ...], Places | None] = {(): {}}
        by_name = {promise.name: promise for promise in members}

        def last_if_not_plannable(names: Sequence[str]) -> str | None:
            key = tuple(names)
            if key not in planned:
                self._trials -= 1
                planned[key] = self._planned(decided, [by_name[name] for name in names])
            return names[-1] if planned[key] is None else None

        trials = max(0, self._trials)
        selection = fewest_broken(list(by_name), last_if_not_plannable, trials=trials)
        if selection.broken:
            complete = self._searched_all and self._search.is_complete
            self._least &= selection.least and complete
        self._broken += [by_name[name] for name in selection.broken]
        kept = [by_name[name] for name in selection.kept]
        self._take(decided, kept, planned[selection.kept] or {})

    def _keep_if_possible(self, decided: ResourceCalendar, promise: Promise) -> None:
        places = self._planned(decided, [promise])
        if places is None:
            self._broken.append(promise)
            self._least = False
        else:
            self._take(decided, [promise], places)

    def _take(self, decided: ResourceCalendar, kept: Sequence[Promise], places: Places) -> None:
        """Enter the places of promises that are kept, also of those that were kept before."""
        self._movable += [promise for promise in kept if promise.rank[0] == 2]
        for name, spans in places.items():
            for calendar, entered in ((decided, self._places), (self._undecided, self._copies)):
                _remove(calendar, entered.get(name, {}))
                entered[name] = {part: added(calendar, span) for part, span in spans.items()}

    def _planned(self, decided: ResourceCalendar, chosen: Sequence[Promise]) -> Places | None:
        """Return where promises can be: if possible where no undecided promise is.

        If they do not fit with those that are kept, these are moved, too.
        """
        for calendar in (self._undecided, decided):
            places = self._keep_where_they_are(calendar.copy(), chosen)
            if places is not None:
                return places
        if chosen[0].rank[0] < 2:
            return None
        together = [*self._movable, *chosen]
        if len(together) > MAX_EXCHANGED:
            self._searched_all = False
            return None
        calendar = decided.copy()
        for promise in self._movable:
            _remove(calendar, self._places[promise.name])
        return self._search.places(calendar, together)

    def _keep_where_they_are(
        self, calendar: ResourceCalendar, promises: Sequence[Promise]
    ) -> Places | None:
        """Leave as many promises as possible where they are, and place the others."""
        places: Places = {}
        displaced = []
        for promise in promises:
            spans = self._in_place(calendar, promise)
            if spans is not None:
                places[promise.name] = spans
            elif promise.rank[0] < 2:
                return None
            else:
                displaced.append(promise)
        return self._place(calendar, displaced, places)

    def _place(
        self, calendar: ResourceCalendar, promises: Iterable[Promise], places: Places
    ) -> Places | None:
        """Place promises one after the other with the shares that they have."""
        placement = self._state.trial(calendar)
        for promise in promises:
            shares = {part: span.amount for part, span in promise.spans.items()}
            if not placement.place_shares(promise.entry.request, shares):
                return None
            places[promise.name] = dict(placement.ledger.spans(promise.name))
        return places

    def _in_place(self, calendar: ResourceCalendar, promise: Promise) -> dict[int, Span] | None:
        """Add a promise to a calendar where it is, if there is room and it may stay there."""
        if promise.rank[0] == 2 and any(
            span.machine in self._state.removed for span in promise.spans.values()
        ):
            return None
        placed: dict[int, Span] = {}
        try:
            for part, span in promise.spans.items():
                placed[part] = added(calendar, span, overbook=False)
        except NotApplicableError:
            _remove(calendar, placed)
            return None
        return placed

    def _in_place_first(self, decided: ResourceCalendar, members: list[Promise]) -> list[Promise]:
        """Return promises in the order in which they are kept: first those that can stay."""
        calendar = decided.copy()
        stays = {
            promise.name for promise in members if self._in_place(calendar, promise) is not None
        }
        return sorted(members, key=lambda promise: promise.name not in stays)

    def _lift(self, promise: Promise) -> None:
        _remove(self._undecided, promise.spans)

    def _commit(self, calendar: ResourceCalendar) -> Consequences:
        """Change the state, and say what became of the promises."""
        for promise in self._broken:
            if promise.rank[0] == 0:
                end = shown(promise.entry.request.end, 15)
                raise NotApplicableError(
                    f"request {promise.name} cannot go on until {end}: its machines do not have as"
                    " much capacity, even without the other requests"
                )
        state, broken = self._state, {promise.name for promise in self._broken}
        moved = []
        for promise in self._promises:
            spans = self._places.get(promise.name, promise.spans)
            if promise.name not in broken and any(
                span.machine != promise.spans[part].machine for part, span in spans.items()
            ):
                moved.append(promise.name)
        state.ledger.adopt(calendar, self._places)
        named = []
        for promise in self._promises:
            if promise.name in broken:
                state.withdraw(promise.entry, "broken")
                named.append(promise.name)
            else:
                state.entries[promise.name] = promise.entry
        return Consequences(tuple(named), tuple(moved), self._least)


def _remove(calendar: ResourceCalendar, spans: Mapping[int, Span]) -> None:
    for span in spans.values():
        calendar.remove_span(span.id)
