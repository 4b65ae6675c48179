"""Promises that are taken back or changed, and reports of ends that differ from the plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import Number, exact, is_number, shown, simplest
from dlopt.books import Consequences
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.coreservation.decisions import machine_faults, request_faults
from dlopt.heuristics.coreservation.engine_state import EngineState, Entry, place_batch
from dlopt.heuristics.coreservation.reassignment import Reassignment
from dlopt.problems.coreservation.data import Decision, Request


def cancelled(state: EngineState, request: str) -> Consequences:
    """Take back a promise."""
    entry = state.promise(request, "cancelled")
    for span in state.ledger.spans(request).values():
        state.calendar.remove_span(span.id)
    state.withdraw(entry, "cancelled")
    return Consequences()


def changed(state: EngineState, request: object) -> Decision:
    """Replace the content of a promise, if the new one fits with all others."""
    state.refuse_literal("a change")
    if not isinstance(request, Request):
        raise NotApplicableError(f"a request is needed, not a {type(request).__name__}")
    entry = state.promise(request.id, "changed")
    if request == entry.request:
        return entry.decision
    begun = state.has_begun(entry)
    faults = list(
        _faults_of_begun(state, entry, request)
        if begun
        else request_faults(state, request, state.now, "")
    )
    if faults:
        raise InvalidInstanceError(faults)
    calendar = state.calendar.copy()
    for span in state.ledger.spans(request.id).values():
        calendar.remove_span(span.id)
    # What has begun goes on, also on a machine that was removed.
    machines = range(len(state.machines)) if begun else None
    is_larger = _cpu_time(request) > _cpu_time(entry.request)
    trial = state.trial if is_larger else state.unpriced_trial
    placement = trial(calendar, machines)
    placed = _from_now_on(state, request) if begun else request
    reason = place_batch(placement, [placed])[request.id]
    decision = Decision(request.id, reason is None, simplest(state.cast(state.now)), reason)
    if decision.accepted:
        state.ledger.adopt(calendar, {request.id: placement.ledger.spans(request.id)})
        del state.entries[request.id]
        state.entries[request.id] = Entry(request, request, decision)
    return decision


def finished(state: EngineState, request: str, at: Number) -> Consequences:
    """Record that a request that has begun ends at an instant, now or later."""
    state.refuse_literal("the report of an end")
    entry = state.promise(request, "ended")
    if not is_number(at):
        raise InvalidInstanceError([Fault("at", at, "must be a finite number")])
    if entry.request.start > state.now:
        start = shown(entry.request.start, 15)
        raise NotApplicableError(f"request {request} begins at {start}: cancel or change it")
    if at < state.now or at <= entry.request.start:
        least = shown(simplest(state.now), 15)
        rule = f"must not lie before now, {least}, and must lie after the start of the request"
        raise InvalidInstanceError([Fault("at", at, rule)])
    planned = entry.request.end
    entry = entry._replace(request=replace(entry.request, end=at))
    spans = dict(state.ledger.spans(request))
    calendar = state.calendar.copy()
    for part, span in spans.items():
        if at > state.now:
            spans[part] = calendar.resize_span(span.id, end=at, overbook=True)
        else:
            spans[part] = calendar.remove_span(span.id)._replace(end=at)
    if at > planned:
        machines = {span.machine for span in spans.values()}
        return Reassignment(state, calendar, entry, spans).settle(machines)
    state.ledger.adopt(calendar, {request: spans})
    state.entries[request] = entry
    return Consequences()


def _faults_of_begun(state: EngineState, entry: Entry, request: Request) -> Iterator[Fault]:
    """Yield what cannot be changed of a request that has begun."""
    now, spans = state.now, state.ledger.spans(request.id)
    if request.start != entry.request.start:
        rule = f"must be kept, {shown(entry.request.start, 15)}, for the request has begun"
        yield Fault("start", request.start, rule)
    if request.end <= now:
        yield Fault("end", request.end, f"must lie after now, {shown(simplest(now), 15)}")
    if len(request.parts) != len(spans):
        rule = f"must be {len(spans)} parts as before, for the request has begun"
        yield Fault("parts", len(request.parts), rule)
        return
    yield from machine_faults(state, request, "")
    for index, part in enumerate(request.parts):
        machine = spans[index].machine
        if part.machine not in (None, machine):
            rule = f"must be machine {machine}, for the request has begun there"
            yield Fault(f"parts[{index}].machine", part.machine, rule)


def _cpu_time(request: Request) -> Fraction:
    """Return the CPU that a request asks for, times the length of its window."""
    length = exact(request.end) - exact(request.start)
    return length * sum((exact(part.cpu) for part in request.parts), Fraction(0))


def _from_now_on(state: EngineState, request: Request) -> Request:
    """Return what is left of a request that has begun: from now on, on its machines."""
    spans = state.ledger.spans(request.id)
    parts = tuple(
        replace(part, machine=spans[index].machine) for index, part in enumerate(request.parts)
    )
    return replace(request, start=state.now, parts=parts)
