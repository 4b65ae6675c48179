"""The part of the online engine that decides on batches, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, KeysView, Sequence
from typing import Any, Self, overload

from dlopt import aliases
from dlopt.arithmetic import Number, is_number, simplest
from dlopt.calendar import ResourceCalendar
from dlopt.errors import (
    Fault,
    InvalidInstanceError,
    NotApplicableError,
    repeated,
    short_text,
)
from dlopt.heuristics.coreservation.algorithm_names import Algorithm, parse
from dlopt.heuristics.coreservation.decisions import asked, submitted
from dlopt.heuristics.coreservation.engine_state import EngineState, new_calendar
from dlopt.heuristics.guarded import Guarded
from dlopt.problems.coreservation.data import (
    Decision,
    Holding,
    Instance,
    Machine,
    Request,
    Solution,
)


class BatchEngine(Guarded):
    """Decides on requests, batch by batch; see `dlopt.CoReservation` for parameters and errors."""

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
        reserved = tuple(holdings) if isinstance(holdings, Iterable) else (holdings,)
        if not all(isinstance(holding, Holding) for holding in reserved):
            raise NotApplicableError("holdings are needed, each a dlopt Holding")
        if exact_numbers not in (None, True, False):
            raise NotApplicableError("exact_numbers must be True, False or None")
        parsed = parse(algorithm, order=order, allocation=allocation, trimmed=trim)
        machines = tuple(machines) if isinstance(machines, Iterable) else ()
        if not machines or not all(isinstance(machine, Machine) for machine in machines):
            raise NotApplicableError("machines are needed, each a dlopt Machine")
        if not is_number(now) or now < 0:
            raise InvalidInstanceError([Fault("now", now, "must be a finite number from 0 on")])
        rule = f"must be one of the machines 0 to {len(machines) - 1}"
        faults = [
            Fault(f"holdings[{index}].machine", holding.machine, rule)
            for index, holding in enumerate(reserved)
            if holding.machine >= len(machines)
        ]
        faults += repeated("machines", [machine.id for machine in machines], "id")
        if faults:
            raise InvalidInstanceError(faults)
        calendar = new_calendar(machines, reserved, now, exact_numbers)
        self._state = EngineState(parsed, machines, reserved, calendar)

    @classmethod
    def of(cls, instance: Instance, algorithm: str = "co-rspb", **options: Any) -> Self:
        """Start from the machines and holdings of an instance, at instant 0.

        Raises
        ------
        NotApplicableError
            If it is none of `coreservation`, or an option does not fit.
        """
        if not isinstance(instance, Instance):
            raise NotApplicableError(
                f"an instance of coreservation is needed, got {short_text(instance)}"
            )
        return cls(
            instance.machines,
            algorithm,
            holdings=instance.holdings,
            exact_numbers=instance.exact,
            **options,
        )

    @property
    def algorithm(self) -> Algorithm:
        """How batches are placed."""
        return self._state.algorithm

    @property
    def machines(self) -> tuple[Machine, ...]:
        """All machines by number, also those that failed or were removed."""
        with self._lock:
            return tuple(self._state.machines)

    @property
    def now(self) -> Number:
        """The current instant of the engine's clock."""
        with self._lock:
            return simplest(self._state.now)

    @property
    def calendar(self) -> ResourceCalendar:
        """A copy of the calendar with all shares and holdings that have not ended.

        What is tried on it leaves the engine as it is. Complexity: O(m) for m machines.
        """
        with self._lock:
            return self._state.calendar.copy()

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The last decision on each request id, in the order of submission."""
        with self._lock:
            return tuple(entry.decision for entry in self._state.entries.values())

    @property
    def decision_count(self) -> int:
        """How many decisions are not archived."""
        return len(self._state.entries)

    @property
    def machine_count(self) -> int:
        """How many machines have numbers: also those that failed or were removed."""
        return len(self._state.machines)

    @property
    def promised_requests(self) -> KeysView[str]:
        """A view of the identities of the accepted requests that are not archived."""
        return self._state.entries.accepted.keys()

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests of all decisions, as they hold now: with the end that was reported."""
        with self._lock:
            return tuple(entry.request for entry in self._state.entries.values())

    def submit(
        self, requests: Sequence[Request], *, at: Number | None = None
    ) -> tuple[Decision, ...]:
        """Decide on a batch.

        Parameters
        ----------
        requests : sequence of Request
            Arrived by `at`, and starting no earlier. One may have the id of a request that an
            earlier batch rejected, not after its own arrival; then it replaces that request. One
            that was decided before, with the same content, gets its decision again, whenever it is
            submitted, and changes nothing.
        at : Number, optional
            When they are decided; by default when the last of them arrived.

        Returns
        -------
        tuple of Decision
            In the order of the requests. Of a rejection, `reason` says which part does not
            fit. The clock is at the decision afterwards, unless all of them are rejected: then it
            stays.

        Raises
        ------
        InvalidInstanceError
            With every fault: a request that arrives after `at`, starts before it or arrives
            before its own rejection, a machine that does not exist, an id that was accepted before
            with another content (also if it was cancelled or broken) or that two requests have;
            `at` in the past, or no number. Nothing is changed then.
        NotApplicableError
            If `requests` is no sequence of requests; a single one goes in a list.

        Notes
        -----
        Clients may submit a rejected request again with modifications, to be considered at the
        next scheduling event: Min 2001, sections 4.4 and 5.3.

        Examples
        --------
        >>> from dlopt import CoReservation
        >>> from dlopt.problems.coreservation import Part
        >>> engine = CoReservation([Machine("a", 70)])
        >>> (no,) = engine.submit([Request("r", 0, 5, 15, 1, (Part(80),))])
        >>> (yes,) = engine.submit([Request("r", 2, 5, 15, 1, (Part(60),))])
        >>> no.accepted, yes.accepted, engine.decisions == (yes,)
        (False, True, True)
        """
        with self._lock:
            return submitted(self._state, requests, at)

    @overload
    def ask(self, requests: Request, /, *, at: Number | None = None) -> Decision: ...

    @overload
    def ask(
        self, requests: Sequence[Request], /, *, at: Number | None = None
    ) -> tuple[Decision, ...]: ...

    def ask(
        self, requests: Request | Sequence[Request], /, *, at: Number | None = None
    ) -> Decision | tuple[Decision, ...]:
        """Return the decisions that `submit` would give; nothing is changed.

        Parameters
        ----------
        requests : Request or sequence of Request
            One request, or a batch.
        at : Number, optional
            As `submit`.

        Returns
        -------
        Decision or tuple of Decision
            One for one request.

        Raises
        ------
        InvalidInstanceError, NotApplicableError
            As `submit`.

        Notes
        -----
        Complexity: as `submit`; the batch is placed on a copy of the calendar.
        """
        with self._lock:
            if isinstance(requests, Request):
                return asked(self._state, (requests,), at)[0]
            return asked(self._state, requests, at)

    def advance(self, now: Number) -> None:
        """Advance the engine's clock.

        Raises
        ------
        InvalidInstanceError
            If `now` lies before the engine's clock.
        """
        with self._lock:
            self._state.calendar.advance(now)

    def plan(self) -> Solution:
        """Return all decisions and allocations as a solution, past ones too, but archived ones.

        It is a solution for `requests`: as they were submitted last. Of one that was rejected and
        submitted again, the first content is deleted, and the changes that it caused. Of one that
        was changed after it had begun, the share is that of now. See `state` for a plan that can be
        checked in any case.
        """
        with self._lock:
            ledger = self._state.ledger
            return Solution(self.decisions, tuple(ledger.shares()), ledger.changes())
