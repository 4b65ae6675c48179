"""The online engine: it decides on batches of requests by one algorithm, and keeps its promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from dlopt.arithmetic import Number, simplest
from dlopt.books import Archive, Conflict, Consequences, Offer
from dlopt.errors import NotApplicableError
from dlopt.heuristics.coreservation.archiving import archived
from dlopt.heuristics.coreservation.batch_engine import BatchEngine
from dlopt.heuristics.coreservation.counter_offers import CounterOffers
from dlopt.heuristics.coreservation.current_state import CurrentState, current_state
from dlopt.heuristics.coreservation.decisions import as_new, decide
from dlopt.heuristics.coreservation.irreducible_conflict import conflict
from dlopt.heuristics.coreservation.mixed import is_mixed
from dlopt.heuristics.coreservation.resource_changes import changed_resources
from dlopt.heuristics.coreservation.revisions import cancelled, changed, finished
from dlopt.heuristics.coreservation.snapshots import plain_data, restored
from dlopt.problems.coreservation.batches import batches
from dlopt.problems.coreservation.data import Decision, Instance, Machine, Request, Share
from dlopt.problems.validated_record import as_exact


class CoReservation(BatchEngine):
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
    request has all of its parts within their limits, on their machines; a rejected one has none.
    Allocations of earlier batches are changed by nothing but `change`, a failure or removal
    (`resources`) and a late end (`finished`), and the latter name what they moved or broke. A call
    that is refused or fails changes nothing.

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
    Consequences(broken=(), moved=(), least=True)
    >>> engine.calendar.smallest_free(0, 10, 15)
    70
    """

    def offer(self, request: Request, /, *, k: int = 3) -> tuple[Offer[Request], ...]:
        """Return up to `k` alternatives to a request that would be accepted now.

        Parameters
        ----------
        request : Request
            One that was rejected arrives again now.
        k : int, default 3

        Returns
        -------
        tuple of Offer
            One a dimension, the smallest concession first. Empty if the request would be accepted,
            or if nothing was found; `ask` tells which.
            ``start``: the earliest start after that asked for, with the same length. ``end``: the
            longest window from the same start. ``cpu``: the largest factor for the CPU of all
            parts, of which none gets less than it accepts; parts that accept nothing less shrink,
            too. ``wait``: the request was rejected and would be accepted if it arrived now.

        Raises
        ------
        InvalidInstanceError
            As `submit`.
        NotApplicableError
            If it is no request, `k` no positive integer, or the algorithm a literal one.

        Notes
        -----
        Offers are proven least for requests with one part, or with fixed parts on a machine each.

        Complexity: a decision for each candidate; see
        `dlopt.heuristics.coreservation.counter_offers`.

        Examples
        --------
        >>> from dlopt.problems.coreservation import Part
        >>> engine = CoReservation([Machine("a", 70)])
        >>> _ = engine.submit([Request("r", 0, 5, 15, 1, (Part(60),))])
        >>> for offer in engine.offer(Request("s", 0, 2, 12, 1, (Part(40),))):
        ...     print(offer.dimension, offer.value, engine.ask(offer.submission).accepted)
        end 5 True
        cpu 1/4 True
        start 15 True
        """
        with self._lock:
            self._state.refuse_literal("an offer")
            if type(k) is not int or k < 1:
                raise NotApplicableError(f"k must be a positive integer, not {k!r}")
            new = as_new(self._state, request)
            return () if new is None else CounterOffers(self._state, *new).offers(k)

    def why(self, request: Request, /) -> Conflict | None:
        """Return what stands in the way of a request: each part of it is necessary.

        Parameters
        ----------
        request : Request
            One that was rejected arrives again now.

        Returns
        -------
        Conflict or None
            Of requests, holdings (by their index) and machines that failed, were removed, or have
            less capacity in the window than at other times. None if it would be accepted.

        Raises
        ------
        InvalidInstanceError, NotApplicableError
            As `offer`.

        Examples
        --------
        >>> from dlopt.problems.coreservation import Part
        >>> engine = CoReservation([Machine("a", 70)])
        >>> batch = [Request(f"r{cpu}", 0, 5, 15, 1, (Part(cpu),)) for cpu in (10, 20, 30)]
        >>> _ = engine.submit(batch)
        >>> found = engine.why(Request("s", 0, 2, 12, 1, (Part(40),)))
        >>> [str(part) for part in found.parts]
        ['request r10', 'request r30']
        """
        with self._lock:
            self._state.refuse_literal("an explanation")
            new = as_new(self._state, request)
            return None if new is None else conflict(self._state, *new)

    def cancel(self, request: str, /) -> Consequences:
        """Cancel an accepted request; of one that has begun, its reservations from now on.

        It is removed from the schedule and from the decisions, as if it had never been submitted.

        Raises
        ------
        NotApplicableError
            If it is not known, was rejected, cancelled or broken before, or is over.
        """
        with self._lock:
            return cancelled(self._state, request)

    def change(self, request: Request, /) -> Decision:
        """Replace an accepted request by another content with its id, or leave it as it is.

        Parameters
        ----------
        request : Request
            Of one that has begun the start and the number of parts are kept, and they stay on
            their machines; another CPU holds from now on.

        Returns
        -------
        Decision
            A rejection if the new content does not fit with all other promises: then the former
            one holds, and so does the former decision.

        Raises
        ------
        InvalidInstanceError
            With every fault of the content: what cannot be changed any more, a start in the past,
            a machine that does not exist.
        NotApplicableError
            As `cancel`; also if it is no request, or the algorithm a literal one.

        Notes
        -----
        Users may modify a reservation, and more resources need another decision: Min 2001,
        section 3.3. Complexity: as a decision.

        Examples
        --------
        >>> from dlopt.problems.coreservation import Part
        >>> engine = CoReservation([Machine("a", 70)])
        >>> _ = engine.submit([Request("r", 0, 5, 15, 1, (Part(60),))])
        >>> print(engine.change(Request("r", 0, 5, 15, 1, (Part(80),))).reason)
        part 0 needs 80, more than any machine has
        >>> engine.change(Request("r", 0, 5, 20, 1, (Part(70),))).accepted
        True
        """
        with self._lock:
            return changed(self._state, request)

    def finished(self, request: str, at: Number) -> Consequences:
        """Record that a request that has begun ends earlier or later than planned.

        Parameters
        ----------
        request : str
        at : Number
            When it ends, not before now. Its shares are free from then on, or extended until then.

        Returns
        -------
        Consequences
            If it ends later: which promises were moved or broken, see `resources`.

        Raises
        ------
        InvalidInstanceError
            If `at` is before now, or no number.
        NotApplicableError
            As `cancel`; also if it has not begun, if its machines do not have the capacity for it
            until `at`, or if the algorithm is a literal one.
        """
        with self._lock:
            return finished(self._state, request, at)

    def resources(
        self,
        *,
        add: Sequence[Machine] = (),
        remove: Sequence[int] = (),
        fail: Sequence[int] = (),
        repair: Sequence[int] = (),
    ) -> Consequences:
        """Change the machines from now on, and keep as many promises as possible.

        Parameters
        ----------
        add : sequence of Machine
            They get the next numbers.
        remove : sequence of int
            Numbers of machines on which nothing new is placed. What has begun there goes on, what
            has not is moved or broken.
        fail : sequence of int
            Numbers of machines without capacity from now on. What has begun there is broken, what
            has not is moved or broken.
        repair : sequence of int
            Numbers of machines that failed, and have their former capacity from now on.

        Returns
        -------
        Consequences
            A moved request keeps the share of each part, on other machines.

        Raises
        ------
        InvalidInstanceError
            With every fault: a machine that does not exist or is given twice, one that fails
            again, one to be repaired that works, one to be repaired or removed that was removed,
            the id of a machine that exists.
        NotApplicableError
            If something is no sequence of such objects, or the algorithm is a literal one.

        Notes
        -----
        Promises of a higher priority are kept first; among equal priorities as few as possible are
        broken, and among equally many those made last. A request is broken with all of its parts.

        Source: Min 2001, section 3.3 (``handle_failure``); the order in which promises are kept is
        ours, see `dlopt.heuristics.coreservation.reassignment`.

        Examples
        --------
        >>> from dlopt.problems.coreservation import Part
        >>> engine = CoReservation([Machine("a", 70), Machine("b", 50)])
        >>> batch = [Request(f"r{cpu}", 0, 5, 15, 1, (Part(cpu),)) for cpu in (60, 40, 30)]
        >>> [decision.accepted for decision in engine.submit(batch)]
        [True, True, False]
        >>> engine.resources(fail=[1])
        Consequences(broken=('r40',), moved=(), least=True)
        """
        with self._lock:
            return changed_resources(self._state, add, remove, fail, repair)

    def state(self) -> CurrentState | None:
        """Return what is alive, from now on, as an instance with its plan; None if nothing is.

        `dlopt.check` accepts the plan.

        Raises
        ------
        NotApplicableError
            If the algorithm is a literal one.
        """
        with self._lock:
            self._state.refuse_literal("the state")
            return current_state(self._state)

    def archive(self) -> Archive[Decision, Share]:
        """Hand out what is over by now, and forget it; its ids may be submitted again.

        Accepted requests are over when they have ended, rejected ones as soon as the clock is past
        the rejection.
        """
        with self._lock:
            return archived(self._state)

    def snapshot(self) -> dict[str, Any]:
        """Return the engine as data that JSON can say; exact fractions are strings ``"p/q"``.

        Raises
        ------
        NotApplicableError
            If the algorithm is a literal one: what it leaves in the calendar belongs to no request.
        """
        with self._lock:
            self._state.refuse_literal("a snapshot")
            return plain_data(self._state)

    @classmethod
    def restore(cls, snapshot: object) -> Self:
        """Return the engine of a snapshot: every later answer is equal.

        Raises
        ------
        InvalidInstanceError
            If it is none: with every fault of its fields, else of what contradicts itself.
        """
        engine = cls.__new__(cls)
        engine._state = restored(snapshot)
        return engine


def run_batches(instance: Instance, algorithm: str, **options: Any) -> CoReservation:
    """Return an engine that has decided all batches of an instance.

    Where floats meet fractions it computes with the exact numbers that the floats stand for.
    """
    if is_mixed(instance):
        instance = as_exact(instance)
    engine = CoReservation.of(instance, algorithm, **options)
    state = engine._state
    for at, members in batches(instance):
        instant: Number = simplest(at) if state.calendar.exact_numbers else float(at)
        decide(state, tuple(instance.requests[index] for index in members), instant)
    return engine
