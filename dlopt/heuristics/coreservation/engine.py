"""The online engine: it decides on batches of requests by one algorithm, as they arrive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dlopt import aliases
from dlopt.arithmetic import Number, exact, is_number, shown, simplest
from dlopt.calendar import ResourceCalendar
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.coreservation.algorithm_names import parse
from dlopt.heuristics.coreservation.allocation_ledger import AllocationLedger
from dlopt.heuristics.coreservation.mixed import is_mixed
from dlopt.heuristics.coreservation.placement import BatchPlacement
from dlopt.heuristics.coreservation.refinement import Refiner
from dlopt.heuristics.guarded import Guarded
from dlopt.heuristics.resubmitted import resubmission_faults
from dlopt.problems.coreservation.batches import batches
from dlopt.problems.coreservation.data import (
    Decision,
    Holding,
    Instance,
    Machine,
    Request,
    Solution,
)
from dlopt.problems.validated_record import as_exact


class CoReservation(Guarded):
    """Decides on requests for CPU shares, batch by batch, and keeps their allocations.

    Parameters
    ----------
    machines : sequence of Machine
    algorithm : str, default "co-rspb"
        One of `dlopt.heuristics.coreservation.algorithm_names.NAMES`.
    now : Number, default 0
    holdings : sequence of Holding
        Reservations of others, that exist already.
    order, allocation : str, optional
        By default the algorithm's own, see
        `dlopt.heuristics.coreservation.algorithm_names.Algorithm`.
    trim : bool, default False
        Reserve the least CPU of the same benefit, where a benefit function is constant.
    exact_numbers : bool, optional
        Compute in fractions, or in floats; by default in fractions if no capacity is a float.
    share : str, optional
        Former name of `allocation`.

    Raises
    ------
    InvalidInstanceError
        If a holding is on none of the machines, or `now` is not a number of at least 0.
    NotApplicableError
        If there are no machines, or objects of another type; if the algorithm, the order or the
        allocation rule does not exist.

    Notes
    -----
    It is thread-safe: a call waits until those before it have ended. Copies and pickles are
    independent of it.

    Guarantee, of all but the literal algorithms: at every instant, also while a schedule is being
    changed, the shares on a machine are at most what holdings leave of its capacity; an accepted
    request has all of its parts within their limits, on their machines; a rejected one has none;
    allocations of earlier batches are never changed.

    Complexity: see `dlopt.heuristics.coreservation.placement.BatchPlacement`.

    Source: Min 2001, chapters 4 and 5, repaired; the modules of this package say how.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Part, linear
    >>> engine = CoReservation([Machine("a", 70), Machine("b", 50)])
    >>> soft = Part(60, 20, linear())
    >>> requests = [Request(f"r{k}", 0, 5, 15, 1, (soft, soft)) for k in range(2)]
    >>> for decision in engine.submit(requests):
    ...     print(decision.request, decision.accepted, decision.reason)
    r0 True None
    r1 False part 0 needs 20, no machine has more than 10 left in [5, 15)
    >>> [(share.machine, share.cpu) for share in engine.plan().shares]
    [(0, 60), (1, 50)]
    >>> engine.advance(10)
    >>> engine.cancel("r0")
    >>> engine.calendar.smallest_free(0, 10, 15)
    70
    """

    def __init__(
        self,
        machines: Sequence[Machine],
        algorithm: str = "co-rspb",
        *,
        now: Number = 0,
        holdings: Sequence[Holding] = (),
        order: str | None = None,
        allocation: str | None = None,
        trim: bool = False,
        exact_numbers: bool | None = None,
        share: str | None = None,
    ) -> None:
        if share is not None:
            former = aliases.current_options("coreservation", {"share": share})
            allocation = allocation or former["allocation"]
        if not all(isinstance(holding, Holding) for holding in holdings):
            raise NotApplicableError("holdings are needed, each a dlopt Holding")
        self.algorithm = parse(algorithm, order=order, allocation=allocation, trimmed=trim)
        machines = tuple(machines) if isinstance(machines, Iterable) else ()
        if not machines or not all(isinstance(machine, Machine) for machine in machines):
            raise NotApplicableError("machines are needed, each a dlopt Machine")
        if not is_number(now) or now < 0:
            raise InvalidInstanceError([Fault("now", now, "must be a finite number from 0 on")])
        self._machine_rule = f"must be one of the machines 0 to {len(machines) - 1}"
        faults = [
            Fault(f"holdings[{index}].machine", holding.machine, self._machine_rule)
            for index, holding in enumerate(holdings)
            if holding.machine >= len(machines)
        ]
        if faults:
            raise InvalidInstanceError(faults)
        capacities = [machine.steps for machine in machines]
        calendar = ResourceCalendar(capacities, now=now, exact_numbers=exact_numbers)
        for holding in holdings:
            if holding.end > now:
                start = max(holding.start, now)
                calendar.add_span(holding.machine, start, holding.end, holding.cpu, overbook=True)
        self._calendar = calendar
        self._ledger = AllocationLedger(calendar, whole_slots="slots" in self.algorithm.slips)
        self._placement = BatchPlacement(self.algorithm, self._ledger, machines)
        self._decisions: dict[str, Decision] = {}
        self._accepted: dict[str, Request] = {}
        self._cancelled: set[str] = set()

    @classmethod
    def of(cls, instance: Instance, algorithm: str = "co-rspb", **options: Any) -> CoReservation:
        """Start from the machines and holdings of an instance, at instant 0."""
        return cls(
            instance.machines,
            algorithm,
            holdings=instance.holdings,
            exact_numbers=instance.exact,
            **options,
        )

    @property
    def now(self) -> Number:
        """The current instant of the engine's clock."""
        with self._lock:
            return simplest(self._calendar.now)

    @property
    def calendar(self) -> ResourceCalendar:
        """A copy of the calendar with all shares and holdings that have not ended.

        What is tried on it leaves the engine as it is. Complexity: O(m) for m machines.
        """
        with self._lock:
            return self._calendar.copy()

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The last decision on each request id, in the order of submission."""
        with self._lock:
            return tuple(self._decisions.values())

    def submit(
        self, requests: Sequence[Request], *, at: Number | None = None
    ) -> tuple[Decision, ...]:
        """Decide on a batch.

        Parameters
        ----------
        requests : sequence of Request
            Arrived by `at`, and starting no earlier. One may have the id of a request that an
            earlier batch rejected, not after its own arrival; then it replaces that request.
        at : Number, optional
            When they are decided; by default when the last of them arrived.

        Returns
        -------
        tuple of Decision
            In the order of the requests. Of a rejection, `reason` says which part does not
            fit.

        Raises
        ------
        InvalidInstanceError
            With every fault: a request that arrives after `at`, starts before it or arrives
            before its own rejection, a machine that does not exist, an id that was accepted before
            (also if it was cancelled) or that two requests have; `at` in the past, or no number.
            Nothing is changed then.
        NotApplicableError
            If `requests` is no sequence of requests; a single one goes in a list.

        Notes
        -----
        Clients may submit a rejected request again with modifications, to be considered at the
        next scheduling event: Min 2001, sections 4.4 and 5.3.

        Examples
        --------
        >>> from dlopt.problems.coreservation import Part
        >>> engine = CoReservation([Machine("a", 70)])
        >>> (no,) = engine.submit([Request("r", 0, 5, 15, 1, (Part(80),))])
        >>> (yes,) = engine.submit([Request("r", 2, 5, 15, 1, (Part(60),))])
        >>> no.accepted, yes.accepted, engine.decisions == (yes,)
        (False, True, True)
        """
        with self._lock:
            if not isinstance(requests, Iterable) or isinstance(requests, str):
                raise NotApplicableError(
                    f"a sequence of requests is needed, not a {_kind(requests)}"
                )
            requests = tuple(requests)
            for request in requests:
                if not isinstance(request, Request):
                    raise NotApplicableError(f"a request is needed, not a {_kind(request)}")
            if at is None:
                at = max((self._calendar.now, *(request.arrival for request in requests)))
            faults = self._faults(requests, at)
            if faults:
                raise InvalidInstanceError(faults)
            return self._decide(requests, at)

    def cancel(self, request: str) -> None:
        """Cancel an accepted request; of one that has begun, its reservations from now on.

        It is removed from the schedule and from the decisions, as if it had never been submitted.

        Raises
        ------
        NotApplicableError
            If it was never accepted, was cancelled before, or is over.
        """
        with self._lock:
            accepted = self._accepted.get(request)
            if accepted is None or accepted.end <= self._calendar.now:
                raise NotApplicableError(f"request {request} holds nothing that can be cancelled")
            self._ledger.purge(request)
            self._cancelled.add(request)
            del self._accepted[request], self._decisions[request]

    def advance(self, now: Number) -> None:
        """Advance the engine's clock.

        Raises
        ------
        InvalidInstanceError
            If `now` lies before the engine's clock.
        """
        with self._lock:
            self._calendar.advance(now)

    def plan(self) -> Solution:
        """Return all decisions and allocations as a solution, past ones too.

        It is a solution for the requests as they were submitted last: of one that was rejected and
        submitted again, the first content is deleted, and the changes that it caused.
        """
        with self._lock:
            return Solution(self.decisions, tuple(self._ledger.shares()), self._ledger.changes())

    def _cast(self, number: Number) -> Any:
        return exact(number) if self._calendar.exact_numbers else float(number)

    def _faults(self, requests: tuple[Request, ...], at: Number) -> list[Fault]:
        """Return what is wrong with a batch."""
        if not is_number(at):
            return [Fault("at", at, "must be a finite number")]
        faults, seen, cast = [], set[str](), self._cast
        if at < self._calendar.now:
            rule = f"must not lie before now, {shown(self.now, 15)}"
            faults.append(Fault("at", at, rule))
        for index, request in enumerate(requests):
            path = f"requests[{index}]"
            if request.id in seen:
                faults.append(Fault(f"{path}.id", request.id, "must be given to one request only"))
            elif request.id in self._cancelled:
                faults.append(Fault(f"{path}.id", request.id, "was accepted before, and cancelled"))
            else:
                before = self._decisions.get(request.id)
                faults += resubmission_faults(request, cast(request.arrival), before, f"{path}.")
            seen.add(request.id)
            instant = shown(at, 15)
            if request.arrival > at:
                rule = f"must not lie after the decision, {instant}"
                faults.append(Fault(f"{path}.arrival", request.arrival, rule))
            if request.start < at:
                rule = f"must not lie before the decision, {instant}"
                faults.append(Fault(f"{path}.start", request.start, rule))
            for place, part in enumerate(request.parts):
                if part.machine is not None and part.machine >= self._calendar.machines:
                    where = f"{path}.parts[{place}].machine"
                    faults.append(Fault(where, part.machine, self._machine_rule))
        return faults

    def _decide(self, requests: tuple[Request, ...], at: Number) -> tuple[Decision, ...]:
        self._calendar.advance(at)
        instant: Number = simplest(self._cast(at))
        for request in requests:
            if self._decisions.pop(request.id, None) is not None:
                self._ledger.restart(request.id)
        reasons = {}
        order = self._placement.in_order(requests)
        for request in order:
            reasons[request.id] = self._placement.place(request)
        if self.algorithm.refined:
            refiner = Refiner(self._placement)
            for request in order:
                if reasons[request.id] is None:
                    refiner.refine(request)
        decisions = []
        for request in requests:
            reason = reasons[request.id]
            if reason is None:
                self._accepted[request.id] = request
            decisions.append(Decision(request.id, reason is None, instant, reason))
            self._decisions[request.id] = decisions[-1]
        return tuple(decisions)


def _kind(value: object) -> str:
    return type(value).__name__


def run_batches(instance: Instance, algorithm: str, **options: Any) -> CoReservation:
    """Return an engine that has decided all batches of an instance.

    Where floats meet fractions it computes with the exact numbers that the floats stand for.
    """
    if is_mixed(instance):
        instance = as_exact(instance)
    engine = CoReservation.of(instance, algorithm, **options)
    for at, members in batches(instance):
        instant: Number = simplest(at) if engine._calendar.exact_numbers else float(at)
        engine._decide(tuple(instance.requests[index] for index in members), instant)
    return engine
