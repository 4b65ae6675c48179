"""What stands in the way of a request: promises, holdings, machines out of service or reduced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dlopt.arithmetic import Number
from dlopt.books import Conflict, ConflictPart, irreducible_conflict
from dlopt.calendar import ResourceCalendar
from dlopt.heuristics.coreservation.engine_state import EngineState, place_batch
from dlopt.problems.coreservation.data import Request


class _Obstacle(NamedTuple):
    """Something that may be in the way, as a part of the answer."""

    part: ConflictPart
    machine: int = -1
    loads: tuple[tuple[int, Number], ...] = ()  # machine and CPU
    window: tuple[Number, Number] = (0, 0)


def conflict(state: EngineState, request: Request, at: Number) -> Conflict | None:
    """Return an irreducible conflict of a request that could be submitted; None if it fits.

    Notes
    -----
    Complexity: O(k log(n / k)) trials for n parts of which k are returned, each of O(n) changes of
    a calendar and a decision.
    """
    calendar = state.calendar.copy()
    calendar.advance(at)
    reason = place_batch(state.trial(calendar), [request])[request.id]
    if reason is None:
        return None
    obstacles = [
        *_machine_obstacles(state, calendar, request),
        *_holding_obstacles(state, request, at),
        *_request_obstacles(state, request, at),
    ]
    found = irreducible_conflict(
        obstacles, lambda some: _rejection(state, calendar, request, some) is not None
    )
    reason = _rejection(state, calendar, request, found) or reason
    return Conflict(tuple(obstacle.part for obstacle in found), reason)


def _rejection(
    state: EngineState,
    calendar: ResourceCalendar,
    request: Request,
    obstacles: Sequence[_Obstacle],
) -> str | None:
    """Return why the request is rejected if nothing but these obstacles is in its way."""
    reduced = {one.machine for one in obstacles if one.part.kind == "machine"}
    idle = ResourceCalendar(
        [
            calendar.capacity(j) if j in reduced else max(value for _, value in machine.steps)
            for j, machine in enumerate(state.machines)
        ],
        now=calendar.now,
        exact_numbers=calendar.exact_numbers,
    )
    for obstacle in obstacles:
        for machine, cpu in obstacle.loads:
            idle.add_span(machine, *obstacle.window, cpu, overbook=True)
    in_service = [
        j for j in range(len(state.machines)) if j not in state.removed or j not in reduced
    ]
    return place_batch(state.trial(idle, in_service), [request])[request.id]


def _machine_obstacles(
    state: EngineState, calendar: ResourceCalendar, request: Request
) -> list[_Obstacle]:
    """Return the machines that are out of service, or have less than at other times."""
    found = []
    for j, machine in enumerate(state.machines):
        most = max(value for _, value in machine.steps)
        steps = [step for step in calendar.capacity(j) if step[0] < request.end]
        during = [
            value
            for index, (_, value) in enumerate(steps)
            if index + 1 == len(steps) or steps[index + 1][0] > request.start
        ]
        if j in state.removed or min(during) < most:
            found.append(_Obstacle(ConflictPart("machine", str(j)), j))
    return found


def _holding_obstacles(state: EngineState, request: Request, at: Number) -> list[_Obstacle]:
    return [
        _Obstacle(
            ConflictPart("holding", str(index)),
            loads=((holding.machine, holding.cpu),),
            window=(max(holding.start, at), holding.end),
        )
        for index, holding in enumerate(state.holdings)
        if holding.start < request.end and request.start < holding.end and holding.cpu
    ]


def _request_obstacles(state: EngineState, request: Request, at: Number) -> list[_Obstacle]:
    found = []
    for entry in state.alive():
        other = entry.request
        if other.start < request.end and request.start < other.end:
            spans = state.ledger.spans(other.id).values()
            loads = tuple((span.machine, span.amount) for span in spans if span.amount)
            if loads:
                window = (max(other.start, at), other.end)
                found.append(
                    _Obstacle(ConflictPart("request", other.id), loads=loads, window=window)
                )
    return found
