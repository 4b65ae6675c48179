"""What is alive in an engine, as a problem of its own with its plan."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

from dlopt.arithmetic import Number, exact, is_less, simplest
from dlopt.heuristics.coreservation.engine_state import EngineState, Entry
from dlopt.problems.coreservation.data import (
    Decision,
    Holding,
    Instance,
    Machine,
    Request,
    Share,
    Solution,
)


class CurrentState(NamedTuple):
    """What is alive, from now on: an instance and a plan that `dlopt.check` accepts.

    Parameters
    ----------
    instance : Instance
        Machines have the capacity that they have from now on: none if they failed, and if they were
        removed just what is still in use. Windows of requests and holdings begin now if they began
        before; the parts of a request that has begun are fixed on their machines. Requests arrive
        when they were decided.
    plan : Solution
        The decisions, all of them acceptances, and the shares.
    """

    instance: Instance
    plan: Solution


def current_state(state: EngineState) -> CurrentState | None:
    """Return what is alive in an engine; None if nothing is."""
    requests = [_from_now_on(state, entry) for entry in state.alive()]
    requests.sort(key=lambda request: exact(request.arrival))
    decisions = tuple(Decision(request.id, True, request.arrival) for request in requests)
    shares = tuple(
        Share(request.id, part, span.machine, span.amount)
        for request in requests
        for part, span in state.ledger.spans(request.id).items()
    )
    plan = Solution(decisions, shares)
    if not requests:
        return None
    holdings = tuple(_holdings(state))
    machines = tuple(_machine(state, number) for number in range(len(state.machines)))
    return CurrentState(Instance(machines, tuple(requests), None, holdings), plan)


def _from_now_on(state: EngineState, entry: Entry) -> Request:
    """Return a request as it is from now on."""
    request, at = entry.request, entry.decision.at
    parts, start = request.parts, request.start
    if state.has_begun(entry):
        start = simplest(state.now)
        spans = state.ledger.spans(request.id)
        parts = tuple(replace(part, machine=spans[i].machine) for i, part in enumerate(parts))
    return replace(request, arrival=start if is_less(start, at) else at, start=start, parts=parts)


def _holdings(state: EngineState) -> Iterator[Holding]:
    for holding in state.holdings:
        if holding.end > state.now:
            yield replace(holding, start=max(holding.start, simplest(state.now)))


def _machine(state: EngineState, number: int) -> Machine:
    machine = state.machines[number]
    if number in state.failed:
        return replace(machine, capacity=0)
    if number in state.removed:
        return replace(machine, capacity=_in_use(state, number))
    steps = machine.steps
    begun = [value for since, value in steps if since <= state.now]
    later = [step for step in steps if step[0] > state.now]
    return replace(machine, capacity=((0, begun[-1]), *later))


def _in_use(state: EngineState, number: int) -> tuple[tuple[Number, Number], ...]:
    """Return how much of a removed machine is allocated over time, rounded up in floats."""
    changes: defaultdict[Number, Fraction] = defaultdict(Fraction, {0: Fraction(0)})
    for span in state.calendar.spans():
        if span.machine == number:
            changes[span.start if span.start > state.now else 0] += exact(span.amount)
            changes[span.end] -= exact(span.amount)
    instants = sorted(changes)
    totals = accumulate(changes[instant] for instant in instants)
    return tuple(
        (instant, simplest(total) if state.calendar.exact_numbers else _float_above(total))
        for instant, total in zip(instants, totals, strict=True)
    )


def _float_above(number: Fraction) -> float:
    near = float(number)
    return near if exact(near) >= number else math.nextafter(near, math.inf)
