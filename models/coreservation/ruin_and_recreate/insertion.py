"""Insertion of requests and raising of shares, which the moves are made of.

All functions are interpreted over lists or compiled over arrays: see `moves`. Random numbers come
from a stream, so that both give the same answers.

Examples
--------
>>> stream = UniformStream([0.25, 0.75], [0])
>>> next_uniform(stream), next_uniform(stream), stream.position
(0.25, 0.75, [2])
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from dlopt.models.coreservation.ruin_and_recreate.state import (
    ProblemArrays,
    SearchState,
    allocate,
    benefit_at,
    best_share_up_to,
    free_capacity,
    is_accepted,
    reject,
    release,
    resize,
    windows_overlap,
)

OVERFLOW_PENALTY = 1e15
"""Added to the key of machines without room for the target share: they come after all others."""


class UniformStream(NamedTuple):
    """Uniform random numbers from 0 to 1, and how many of them are used.

    Parameters
    ----------
    values : array of float
    position : array of int, shape (1,)
    """

    values: Any
    position: Any


def next_uniform(stream: UniformStream) -> float:
    """Return the next random number."""
    position = stream.position[0]
    stream.position[0] = position + 1
    value: float = stream.values[position]
    return value


class PlacementOptions(NamedTuple):
    """How a move places parts.

    Parameters
    ----------
    noise : float
        By which keys are multiplied at random.
    best_fit : bool
        On the machine with the least room, not the most.
    large_shares : bool
        For a share drawn at random, not the minimum.
    """

    noise: float
    best_fit: bool
    large_shares: bool


def choose_machine(
    problem: ProblemArrays,
    state: SearchState,
    i: int,
    options: PlacementOptions,
    stream: UniformStream,
) -> tuple[int, int]:
    """Return a machine for a part, -1 if none has room, and its units there."""
    minimum, first = problem.minimum[i], problem.segment_start[i]
    target = minimum
    if options.large_shares:  # the square root makes large shares likelier
        drawn = sqrt(next_uniform(stream))
        target = problem.high[first + int(drawn * (problem.segment_start[i + 1] - first))]
    chosen, lowest, most = -1, np.inf, 0
    for place in range(problem.machine_start[i], problem.machine_start[i + 1]):
        machine = problem.machines[place]
        free = free_capacity(problem, state, i, machine)
        if free < minimum:
            continue
        room = free - target
        key = (room if options.best_fit else -room) * (1 + options.noise * next_uniform(stream))
        if room < 0:
            key = OVERFLOW_PENALTY - room
        if key < lowest:
            chosen, lowest, most = machine, key, free
    return chosen, best_share_up_to(problem, i, min(target, most))


def any_machine(problem: ProblemArrays, i: int, stream: UniformStream) -> int:
    """Return a machine for a part, whatever is free there."""
    first = problem.machine_start[i]
    count = problem.machine_start[i + 1] - first
    machine: int = problem.machines[first + int(next_uniform(stream) * count)]
    return machine


def evict_for(
    problem: ProblemArrays,
    state: SearchState,
    k: int,
    i: int,
    machine: int,
    stream: UniformStream,
) -> None:
    """Reject requests until there is room for a part of request `k`, or none is left."""
    first, last = problem.neighbour_start[k], problem.neighbour_start[k + 1]
    offset = int(next_uniform(stream) * (last - first))
    for n in range(last - first):
        other = problem.neighbours[first + (n + offset) % (last - first)]
        if other == k or not is_accepted(problem, state, other):
            continue
        if free_capacity(problem, state, i, machine) >= problem.minimum[i]:
            return
        for place in range(problem.part_start[other], problem.part_start[other + 1]):
            o = problem.parts[place]
            if state.machine[o] == machine and windows_overlap(problem, i, o):
                reject(problem, state, other)
                state.removed[other] = True
                break


def insert_request(
    problem: ProblemArrays,
    state: SearchState,
    k: int,
    options: PlacementOptions,
    evict: bool,
    stream: UniformStream,
) -> None:
    """Place all parts of a request, or none; if it may evict, whatever has to be removed."""
    for place in range(problem.part_start[k], problem.part_start[k + 1]):
        i = problem.parts[place]
        machine, units = choose_machine(problem, state, i, options, stream)
        if machine < 0 and evict:
            machine, units = any_machine(problem, i, stream), problem.minimum[i]
            evict_for(problem, state, k, i, machine, stream)
            if free_capacity(problem, state, i, machine) < units:
                machine = -1  # another part of the request is there
        if machine < 0:
            for placed in range(problem.part_start[k], place):
                release(problem, state, problem.parts[placed])
            return
        allocate(problem, state, i, machine, units)
    state.value[0] += problem.request_value[k]


def raise_shares(
    problem: ProblemArrays, state: SearchState, count: int, noise: float, stream: UniformStream
) -> None:
    """Raise shares on raisable machines, to ends of segments or as far as there is room.

    Those come first that gain most for their CPU and time.
    """
    candidates = 0
    for n in range(count):
        k = state.neighbourhood[n]
        for place in range(problem.part_start[k], problem.part_start[k + 1]):
            i = problem.parts[place]
            if state.machine[i] < 0 or not state.raisable[state.machine[i]]:
                continue
            units, last = state.units[i], problem.segment_start[i + 1]
            if units >= problem.high[last - 1]:
                continue
            most = units + free_capacity(problem, state, i, state.machine[i])
            if most == units:
                continue
            value, length = benefit_at(problem, i, units), problem.end[i] - problem.start[i]
            for segment in range(problem.segment_start[i], last):
                low, high = problem.low[segment], problem.high[segment]
                if low > most:
                    break
                gain = problem.intercept[segment] + problem.slope[segment] * (high - low) - value
                if high > units and gain > 0:
                    density = gain / ((high - units) * length)
                    state.raise_candidates[candidates] = i
                    state.sort_keys[candidates] = -density * (1 - noise * next_uniform(stream))
                    candidates += 1
    for n in np.argsort(state.sort_keys[:candidates], kind="mergesort"):
        i = state.raise_candidates[n]
        machine, units = state.machine[i], state.units[i]
        best = best_share_up_to(problem, i, units + free_capacity(problem, state, i, machine))
        if best > units:
            resize(problem, state, i, best)


INSERTION: tuple[Any, ...] = (
    next_uniform,
    choose_machine,
    any_machine,
    evict_for,
    insert_request,
    raise_shares,
)
"""Each one after those that it calls, in the order in which they are compiled."""
