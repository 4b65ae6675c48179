"""Decisions on batches of requests: those that stay, and those that are only asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dlopt.arithmetic import Number, is_number, shown, simplest
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.coreservation.engine_state import EngineState, Entry, place_batch
from dlopt.heuristics.resubmitted import resubmission_faults
from dlopt.problems.coreservation.data import Decision, Request


def submitted(state: EngineState, requests: object, at: Number | None) -> tuple[Decision, ...]:
    """Decide on a batch; what was decided before with the same content is left as it is."""
    batch = _checked(requests)
    new = tuple(request for request in batch if not _is_known(state, request))
    instant = _instant(state, new, at)
    _refuse(state, batch, new, instant)
    if new or not batch:
        decide(state, new, instant)
    return tuple(state.entries[request.id].decision for request in batch)


def asked(state: EngineState, requests: object, at: Number | None) -> tuple[Decision, ...]:
    """Return the decisions that a submission would give; change nothing."""
    batch = _checked(requests)
    new = tuple(request for request in batch if not _is_known(state, request))
    instant = _instant(state, new, at)
    _refuse(state, batch, new, instant)
    decided: dict[str, Decision] = {}
    if new:
        calendar = state.calendar.copy()
        calendar.advance(instant)
        reasons = place_batch(state.trial(calendar), new)
        decided = {one.request: one for one in _decisions(state, new, reasons, instant)}
    return tuple(
        decided[one.id] if one.id in decided else state.entries[one.id].decision for one in batch
    )


def decide(state: EngineState, requests: Sequence[Request], at: Number) -> tuple[Decision, ...]:
    """Decide on a batch of which nothing is wrong; if all is rejected, the clock stays."""
    before = state.calendar.copy() if at > state.now else None
    state.calendar.advance(at)
    for request in requests:
        if state.entries.pop(request.id, None) is not None:
            state.ledger.restart(request.id)
    placement = state.placement()
    reasons = place_batch(placement, requests)
    state.prices = placement.prices or state.prices
    decisions = tuple(_decisions(state, requests, reasons, at))
    for request, decision in zip(requests, decisions, strict=True):
        state.entries[request.id] = Entry(request, request, decision)
    accepted = not requests or any(decision.accepted for decision in decisions)
    # A printed algorithm may leave something in the calendar even then.
    if before is not None and not accepted and not state.algorithm.slips:
        state.ledger.calendar = before
    return decisions


def as_new(state: EngineState, request: object) -> tuple[Request, Number] | None:
    """Return a request as it could be submitted now, and when it would be decided.

    What was rejected before arrives again now. None if it is accepted already.

    Raises
    ------
    InvalidInstanceError
        As for a submission.
    """
    (one,) = _checked([request])
    entry = state.entries.get(one.id)
    if entry is not None and entry.decision.accepted and entry.submitted == one:
        return None
    at = max(state.now, one.arrival)
    faults = list(request_faults(state, one, at, ""))
    if entry is not None and not entry.decision.accepted and not faults:
        at = max(at, entry.decision.at)
        one = one if one.arrival == at else replace(one, arrival=at)
    faults += identity_faults(state, one, "")
    if faults:
        raise InvalidInstanceError(faults)
    return one, at


def request_faults(state: EngineState, request: Request, at: Number, path: str) -> Iterator[Fault]:
    """Yield what is wrong with a request that is to be placed at an instant."""
    instant = shown(at, 15)
    if request.arrival > at:
        rule = f"must not lie after the decision, {instant}"
        yield Fault(f"{path}arrival", request.arrival, rule)
    if request.start < at:
        rule = f"must not lie before the decision, {instant}"
        yield Fault(f"{path}start", request.start, rule)
    yield from machine_faults(state, request, path)


def machine_faults(state: EngineState, request: Request, path: str) -> Iterator[Fault]:
    """Yield which parts of a request name machines that do not exist."""
    count = len(state.machines)
    for place, part in enumerate(request.parts):
        if part.machine is not None and part.machine >= count:
            rule = f"must be one of the machines 0 to {count - 1}"
            yield Fault(f"{path}parts[{place}].machine", part.machine, rule)


def _checked(requests: object) -> tuple[Request, ...]:
    """Return a sequence of requests as a tuple."""
    if not isinstance(requests, Iterable) or isinstance(requests, str):
        kind = type(requests).__name__
        raise NotApplicableError(f"a sequence of requests is needed, not a {kind}")
    batch = tuple(requests)
    for request in batch:
        if not isinstance(request, Request):
            raise NotApplicableError(f"a request is needed, not a {type(request).__name__}")
    return batch


def _is_known(state: EngineState, request: Request) -> bool:
    """Tell whether a request was decided before with the same content."""
    entry = state.entries.get(request.id)
    return entry is not None and entry.submitted == request


def _instant(state: EngineState, new: Sequence[Request], at: Number | None) -> Number:
    """Return when a batch is decided."""
    if at is None:
        return max((state.now, *(request.arrival for request in new)))
    return at


def _refuse(
    state: EngineState, batch: Sequence[Request], new: Sequence[Request], at: Number
) -> None:
    """Raise an error with everything that is wrong with a batch."""
    if not is_number(at):
        raise InvalidInstanceError([Fault("at", at, "must be a finite number")])
    faults, seen = [], set[str]()
    if at < state.now and (new or not batch):
        rule = f"must not lie before now, {shown(simplest(state.now), 15)}"
        faults.append(Fault("at", at, rule))
    for index, request in enumerate(batch):
        path = f"requests[{index}]."
        if request.id in seen:
            faults.append(Fault(f"{path}id", request.id, "must be given to one request only"))
        elif not _is_known(state, request):
            faults += identity_faults(state, request, path)
        if not _is_known(state, request):
            faults += request_faults(state, request, at, path)
        seen.add(request.id)
    if faults:
        raise InvalidInstanceError(faults)


def identity_faults(state: EngineState, request: Request, path: str) -> Iterator[Fault]:
    """Yield why a new content is not possible for an identity."""
    if request.id in state.withdrawals:
        ending = state.withdrawals[request.id].ending
        yield Fault(f"{path}id", request.id, f"was accepted before, and {ending}")
        return
    entry = state.entries.get(request.id)
    before = None if entry is None else entry.decision
    yield from resubmission_faults(request, state.cast(request.arrival), before, path)


def _decisions(
    state: EngineState, requests: Sequence[Request], reasons: dict[str, str | None], at: Number
) -> Iterator[Decision]:
    instant = simplest(state.cast(at))
    for request in requests:
        reason = reasons[request.id]
        yield Decision(request.id, reason is None, instant, reason)
