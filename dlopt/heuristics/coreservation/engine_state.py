"""What an engine of CPU shares keeps: machines, requests with their decisions, and allocations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias

from dlopt.arithmetic import Number, exact
from dlopt.calendar import ResourceCalendar, SpanContent
from dlopt.errors import NotApplicableError
from dlopt.heuristics.coreservation.algorithm_names import Algorithm
from dlopt.heuristics.coreservation.allocation_ledger import AllocationLedger
from dlopt.heuristics.coreservation.bid_prices import BidPrices
from dlopt.heuristics.coreservation.placement import BatchPlacement
from dlopt.heuristics.coreservation.priced_placement import PricedPlacement
from dlopt.heuristics.coreservation.refinement import Refiner
from dlopt.problems.coreservation.data import Decision, Holding, Machine, Request

Ending: TypeAlias = Literal["cancelled", "broken"]
"""Why a promise holds no longer."""


class Entry(NamedTuple):
    """A request and the last decision on it.

    Parameters
    ----------
    request : Request
        As it holds now: with another end, if it was reported that it ends earlier or later.
    submitted : Request
        As it was submitted, or changed to.
    decision : Decision
    """

    request: Request
    submitted: Request
    decision: Decision


class Withdrawal(NamedTuple):
    """A promise that was cancelled or broken, and the end that it had."""

    end: Number
    ending: Ending


class Entries(dict[str, Entry]):
    """Entries by identity, and which of them are accepted.

    Examples
    --------
    >>> entries = Entries()
    >>> entries["a"] = Entry(None, None, Decision("a", True, 0))  # type: ignore[arg-type]
    >>> entries["b"] = Entry(None, None, Decision("b", False, 0))  # type: ignore[arg-type]
    >>> import copy
    >>> list(entries.accepted), list(copy.copy(entries).accepted)
    (['a'], ['a'])
    >>> del entries["a"]
    >>> list(entries), list(entries.accepted)
    (['b'], [])
    """

    def __init__(self, entries: Iterable[tuple[str, Entry]] = ()) -> None:
        super().__init__()
        self.accepted: dict[str, None] = {}
        for identity, entry in entries:
            self[identity] = entry

    def __setitem__(self, identity: str, entry: Entry) -> None:
        super().__setitem__(identity, entry)
        if entry.decision.accepted:
            self.accepted[identity] = None
        else:
            self.accepted.pop(identity, None)

    def __delitem__(self, identity: str) -> None:
        super().__delitem__(identity)
        self.accepted.pop(identity, None)

    def __reduce__(self) -> tuple[type[Entries], tuple[list[tuple[str, Entry]]]]:
        """Copy and pickle the entries."""
        return Entries, (list(self.items()),)


class EngineState:
    """The state of an engine; it decides nothing.

    Parameters
    ----------
    algorithm : Algorithm
    machines : sequence of Machine
    holdings : sequence of Holding
    calendar : ResourceCalendar
        Of these machines, with the holdings.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        machines: Sequence[Machine],
        holdings: Sequence[Holding],
        calendar: ResourceCalendar,
    ) -> None:
        self.algorithm = algorithm
        self.machines = list(machines)
        self.holdings = tuple(holdings)
        self.failed: set[int] = set()
        self.removed: set[int] = set()
        self.ledger = AllocationLedger(calendar, whole_slots="slots" in algorithm.slips)
        self.entries = Entries()
        self.withdrawals: dict[str, Withdrawal] = {}
        self.prices = BidPrices()

    @property
    def calendar(self) -> ResourceCalendar:
        """The calendar with all shares and holdings that have not ended."""
        return self.ledger.calendar

    @property
    def now(self) -> Number:
        """The clock."""
        return self.calendar.now

    def cast(self, number: Number) -> Number:
        """Return a number as the engine computes with it."""
        return exact(number) if self.calendar.exact_numbers else float(number)

    def in_service(self) -> Sequence[int]:
        """Return the machines on which something may be placed."""
        if not self.removed:
            return range(len(self.machines))
        return [j for j in range(len(self.machines)) if j not in self.removed]

    def placement(self) -> BatchPlacement:
        """Return the algorithm for the ledger of the engine."""
        return self._placement_on(self.ledger, self.in_service())

    def trial(
        self, calendar: ResourceCalendar, in_service: Sequence[int] | None = None
    ) -> BatchPlacement:
        """Return the algorithm for another calendar, on machines in service or on given ones."""
        machines = self.in_service() if in_service is None else in_service
        return self._placement_on(self.ledger.trial(calendar), machines)

    def unpriced_trial(
        self, calendar: ResourceCalendar, in_service: Sequence[int] | None = None
    ) -> BatchPlacement:
        """Return a trial for promises that take no more than before: they have no price again."""
        machines = self.in_service() if in_service is None else in_service
        ledger = self.ledger.trial(calendar)
        return BatchPlacement(self.algorithm, ledger, self.machines, machines)

    def _placement_on(self, ledger: AllocationLedger, machines: Sequence[int]) -> BatchPlacement:
        if self.algorithm.priced:
            return PricedPlacement(self.algorithm, ledger, self.machines, machines, self.prices)
        return BatchPlacement(self.algorithm, ledger, self.machines, machines)

    def alive(self) -> Iterator[Entry]:
        """Yield the accepted requests that are not over, in the order of their decisions."""
        now = self.now
        return (
            entry
            for entry in self.entries.values()
            if entry.decision.accepted and entry.request.end > now
        )

    def has_begun(self, entry: Entry) -> bool:
        """Tell whether the clock is past the start of a request."""
        return bool(entry.request.start < self.now)

    def promise(self, request: object, change: str) -> Entry:
        """Return an accepted request that is not over, to be changed in some way.

        Raises
        ------
        NotApplicableError
            If there is none of that identity, saying why.
        """
        entry = self.entries.get(request) if isinstance(request, str) else None
        if entry is not None and entry.decision.accepted and entry.request.end > self.now:
            return entry
        if isinstance(request, str) and request in self.withdrawals:
            why = f"was {self.withdrawals[request].ending}"
        elif entry is None:
            why = "is not known"
        else:
            why = "is over" if entry.decision.accepted else "was rejected"
        raise NotApplicableError(f"request {request} holds nothing that can be {change}: it {why}")

    def withdraw(self, entry: Entry, ending: Ending) -> None:
        """Forget an accepted request whose allocation was removed from the calendar."""
        name = entry.request.id
        self.withdrawals[name] = Withdrawal(entry.request.end, ending)
        self.ledger.restart(name)
        del self.entries[name]

    def refuse_literal(self, verb: str) -> None:
        """Raise an error if the algorithm is a printed one, whose allocations break rules.

        Raises
        ------
        NotApplicableError
        """
        if self.algorithm.slips:
            raise NotApplicableError(
                f"{verb} needs an algorithm that keeps the rules: {self.algorithm.name} is printed"
                " with errata, so that what it allocates is not what requests hold"
            )


def new_calendar(
    machines: Sequence[Machine],
    holdings: Sequence[Holding],
    now: Number,
    exact_numbers: bool | None,
    failed: Collection[int] = (),
    allocated: Iterable[SpanContent] = (),
) -> ResourceCalendar:
    """Return the calendar of machines, of which some have failed, with holdings and allocations.

    What has ended is left out; the spans of allocations are numbered after those of holdings.
    """
    capacities = [
        0 if number in failed else machine.steps for number, machine in enumerate(machines)
    ]
    reserved = ((one.machine, one.start, one.end, one.cpu) for one in holdings)
    spans = [
        (machine, max(start, now), end, cpu)
        for machine, start, end, cpu in chain(reserved, allocated)
        if end > now
    ]
    return ResourceCalendar.with_spans(capacities, spans, now=now, exact_numbers=exact_numbers)


def place_batch(placement: BatchPlacement, requests: Sequence[Request]) -> dict[str, str | None]:
    """Place the requests of a batch; return of each the reason of its rejection, or None."""
    order = placement.in_order(requests)
    reasons = {request.id: placement.place(request) for request in order}
    if placement.algorithm.refined:
        refiner = Refiner(placement)
        for request in order:
            if reasons[request.id] is None:
                refiner.refine(request)
    return reasons
