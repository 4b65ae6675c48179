"""Engines as plain data, and engines of such data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlopt.books.snapshots import PlainData, plain_number, read_snapshot, snapshot_header
from dlopt.calendar import ResourceCalendar, Span, SpanContent
from dlopt.errors import InvalidInstanceError
from dlopt.heuristics.coreservation.algorithm_names import parse
from dlopt.heuristics.coreservation.bid_prices import BidPrices, DemandStep, ForecastRequest
from dlopt.heuristics.coreservation.engine_state import (
    EngineState,
    Entries,
    Entry,
    Withdrawal,
    new_calendar,
)
from dlopt.heuristics.coreservation.saved_records import SavedForecast, SavedRequest, Snapshot
from dlopt.heuristics.coreservation.snapshot_faults import contradictions, overload_faults
from dlopt.problems.coreservation.data import Decision, Instance, Part, Request, Share


def plain_data(state: EngineState) -> PlainData:
    """Return a snapshot of an engine as `json.dumps` takes it."""
    algorithm, ledger = state.algorithm, state.ledger
    return snapshot_header(Instance.problem) | {
        "algorithm": algorithm.name,
        "order": algorithm.order,
        "allocation": algorithm.allocation,
        "trim": algorithm.trimmed,
        "exact_numbers": state.calendar.exact_numbers,
        "now": plain_number(state.now),
        "machines": [machine.to_data() for machine in state.machines],
        "failed": sorted(state.failed),
        "removed": sorted(state.removed),
        "holdings": [holding.to_data() for holding in state.holdings],
        "requests": [_plain_entry(entry) for entry in state.entries.values()],
        "shares": [
            {
                "request": name,
                "part": part,
                "machine": span.machine,
                "cpu": plain_number(span.amount),
            }
            for name, part, span in ledger.allocations()
        ],
        "changes": [
            {
                "request": one.request,
                "part": one.part,
                "machine": one.machine,
                "cpu": plain_number(one.cpu),
            }
            for one in ledger.history()
        ],
        "revised": sorted(ledger.revised),
        "withdrawn": [
            {"request": name, "end": plain_number(one.end), "ending": one.ending}
            for name, one in state.withdrawals.items()
        ],
        "forecast": [_plain_forecast(one) for one in state.prices.forecast],
    }


def restored(data: object) -> EngineState:
    """Return the state of a snapshot.

    Raises
    ------
    InvalidInstanceError
        With every fault of its header, else with every fault of its fields, else with every
        contradiction between them, else with every share for which there is no room.
    """
    saved = read_snapshot(data, Instance.problem, Snapshot.from_data, contradictions)
    algorithm = parse(
        saved.algorithm, order=saved.order, allocation=saved.allocation, trimmed=saved.trim
    )
    failed = set(saved.failed)
    entries = Entries(_entries(saved.requests))
    allocated = [_window(entries[share.request].request, share) for share in saved.shares]
    calendar = new_calendar(
        saved.machines, saved.holdings, saved.now, saved.exact_numbers, failed, allocated
    )
    state = EngineState(algorithm, saved.machines, saved.holdings, calendar)
    state.failed, state.removed, state.entries = failed, set(saved.removed), entries
    for gone in saved.withdrawn:
        state.withdrawals[gone.request] = Withdrawal(gone.end, gone.ending)
    state.prices = BidPrices(map(_forecast_request, saved.forecast))
    spans = _spans_of_shares(saved, calendar, allocated)
    found = list(overload_faults(saved, calendar, spans))
    if found:
        raise InvalidInstanceError(found)
    state.ledger.load(spans, saved.changes, saved.revised)
    return state


def _entries(requests: Sequence[SavedRequest]) -> Iterator[tuple[str, Entry]]:
    names = ("accepted", "at", "reason")
    rows = [
        {"request": one.request.id} | {name: getattr(one, name) for name in names}
        for one in requests
    ]
    decisions = Decision.list_from_data(rows)
    for saved, decision in zip(requests, decisions, strict=True):
        request = saved.request
        holds = request if saved.end is None else replace(request, end=saved.end)
        yield request.id, Entry(holds, request, decision)


def _window(request: Request, share: Share) -> SpanContent:
    return share.machine, request.start, request.end, share.cpu


def _spans_of_shares(
    saved: Snapshot, calendar: ResourceCalendar, allocated: Sequence[SpanContent]
) -> dict[str, dict[int, Span]]:
    """Return the span of each share: in the calendar, if it has not ended."""
    alive = sum(end > saved.now for _, _, end, _ in allocated)
    last = iter(calendar.spans()[len(calendar) - alive :])
    spans: dict[str, dict[int, Span]] = {}
    for share, content in zip(saved.shares, allocated, strict=True):
        span = next(last) if content[2] > saved.now else Span(-1, *content)
        spans.setdefault(share.request, {})[share.part] = span
    return spans


def _plain_entry(entry: Entry) -> PlainData:
    request, decision = entry.submitted, entry.decision
    data: PlainData = {
        "request": {
            "id": request.id,
            "arrival": plain_number(request.arrival),
            "start": plain_number(request.start),
            "end": plain_number(request.end),
            "priority": plain_number(request.priority),
            "parts": [_plain_part(part) for part in request.parts],
        },
        "accepted": decision.accepted,
        "at": plain_number(decision.at),
        "reason": decision.reason,
    }
    if entry.request is not request:
        data["end"] = plain_number(entry.request.end)
    return data


def _plain_forecast(one: ForecastRequest) -> PlainData:
    steps = [[-step.negative_density, step.amount] for step in one.steps]
    return {
        "at": one.at,
        "lead": one.lead,
        "length": one.length,
        "least": one.least,
        "steps": steps,
    }


def _forecast_request(saved: SavedForecast) -> ForecastRequest:
    steps = (DemandStep(-float(density), float(amount)) for density, amount in saved.steps)
    return ForecastRequest(
        at=float(saved.at),
        lead=float(saved.lead),
        length=float(saved.length),
        least=float(saved.least),
        steps=tuple(steps),
    )


def _plain_part(part: Part) -> PlainData:
    data: PlainData = {"cpu": plain_number(part.cpu)}
    if part.cpu_min is not None:
        data["cpu_min"] = plain_number(part.cpu_min)
    data["benefit"] = [
        [plain_number(share), plain_number(benefit)] for share, benefit in part.benefit
    ]
    if part.machine is not None:
        data["machine"] = part.machine
    return data
