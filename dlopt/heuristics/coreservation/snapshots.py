"""Engines as plain data, and engines of such data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dlopt.arithmetic import Number, to_json
from dlopt.books.snapshots import check_header, snapshot_header
from dlopt.calendar import Span
from dlopt.errors import InvalidInstanceError
from dlopt.heuristics.coreservation.algorithm_names import parse
from dlopt.heuristics.coreservation.engine_state import (
    EngineState,
    Entry,
    Withdrawal,
    new_calendar,
)
from dlopt.heuristics.coreservation.saved_records import SavedRequest, Snapshot
from dlopt.heuristics.coreservation.snapshot_faults import contradictions, overload_faults
from dlopt.problems.coreservation.data import Decision, Instance, Part, Share
from dlopt.problems.validated_record import examine


def plain_data(state: EngineState) -> dict[str, object]:
    """Return a snapshot of an engine as `json.dumps` takes it."""
    algorithm, ledger = state.algorithm, state.ledger
    return snapshot_header(Instance.problem) | {
        "algorithm": algorithm.name,
        "order": algorithm.order,
        "allocation": algorithm.allocation,
        "trim": algorithm.trimmed,
        "exact_numbers": state.calendar.exact_numbers,
        "now": _plain(state.now),
        "machines": [machine.to_data() for machine in state.machines],
        "failed": sorted(state.failed),
        "removed": sorted(state.removed),
        "holdings": [holding.to_data() for holding in state.holdings],
        "requests": [_plain_entry(entry) for entry in state.entries.values()],
        "shares": [
            {"request": name, "part": part, "machine": span.machine, "cpu": _plain(span.amount)}
            for name, part, span in ledger.allocations()
        ],
        "changes": [
            {
                "request": one.request,
                "part": one.part,
                "machine": one.machine,
                "cpu": _plain(one.cpu),
            }
            for one in ledger.history()
        ],
        "revised": sorted(ledger.revised),
        "withdrawn": [
            {"request": name, "end": _plain(one.end), "ending": one.ending}
            for name, one in state.withdrawals.items()
        ],
    }


def restored(data: object) -> EngineState:
    """Return the state of a snapshot.

    Raises
    ------
    InvalidInstanceError
        With every fault of its header, else with every fault of its fields, else with every
        contradiction between them, else with every share for which there is no room.
    """
    check_header(data, Instance.problem)
    assert isinstance(data, Mapping)
    header = snapshot_header(Instance.problem)
    fields = {name: value for name, value in data.items() if name not in header}
    values, faults = examine(Snapshot, fields)
    if faults:
        raise InvalidInstanceError(faults)
    saved = Snapshot(**values)
    found = list(contradictions(saved))
    if found:
        raise InvalidInstanceError(found)
    algorithm = parse(
        saved.algorithm, order=saved.order, allocation=saved.allocation, trimmed=saved.trim
    )
    failed = set(saved.failed)
    calendar = new_calendar(saved.machines, saved.holdings, saved.now, saved.exact_numbers, failed)
    state = EngineState(algorithm, saved.machines, saved.holdings, calendar)
    state.failed, state.removed = failed, set(saved.removed)
    for one in saved.requests:
        state.entries[one.request.id] = _entry(one)
    for gone in saved.withdrawn:
        state.withdrawals[gone.request] = Withdrawal(gone.end, gone.ending)
    spans: dict[str, dict[int, Span]] = {}
    for share in saved.shares:
        spans.setdefault(share.request, {})[share.part] = _span(state, share)
    found = list(overload_faults(saved, calendar, spans))
    if found:
        raise InvalidInstanceError(found)
    state.ledger.load(spans, saved.changes, saved.revised)
    return state


def _entry(saved: SavedRequest) -> Entry:
    request = saved.request
    decision = Decision(request.id, saved.accepted, saved.at, saved.reason)
    holds = request if saved.end is None else replace(request, end=saved.end)
    return Entry(holds, request, decision)


def _span(state: EngineState, share: Share) -> Span:
    """Return the span of a share, added to the calendar if it has not ended."""
    request, now = state.entries[share.request].request, state.now
    start, end = max(request.start, now), request.end
    if end <= now:
        return Span(-1, share.machine, request.start, end, share.cpu)
    number = state.calendar.add_span(share.machine, start, end, share.cpu, overbook=True)
    return state.calendar.span(number)


def _plain_entry(entry: Entry) -> dict[str, object]:
    request, decision = entry.submitted, entry.decision
    data: dict[str, object] = {
        "request": {
            "id": request.id,
            "arrival": _plain(request.arrival),
            "start": _plain(request.start),
            "end": _plain(request.end),
            "priority": _plain(request.priority),
            "parts": [_plain_part(part) for part in request.parts],
        },
        "accepted": decision.accepted,
        "at": _plain(decision.at),
        "reason": decision.reason,
    }
    if entry.request is not request:
        data["end"] = _plain(entry.request.end)
    return data


def _plain_part(part: Part) -> dict[str, object]:
    data: dict[str, object] = {"cpu": _plain(part.cpu)}
    if part.cpu_min is not None:
        data["cpu_min"] = _plain(part.cpu_min)
    data["benefit"] = [[_plain(share), _plain(benefit)] for share, benefit in part.benefit]
    if part.machine is not None:
        data["machine"] = part.machine
    return data


def _plain(number: Number) -> int | float | str:
    """Return a number as JSON says it; most are no fractions."""
    return number if type(number) is float or type(number) is int else to_json(number)
