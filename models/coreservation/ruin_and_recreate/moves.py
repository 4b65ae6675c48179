"""The moves of ruin and recreate, interpreted over lists or compiled over arrays.

A *ruin-and-recreate move* removes requests and inserts requests again; if it starts from one that
is rejected, that one may come first, whatever has to be removed for it. A *relocate move* moves
parts to other machines. All random numbers come from outside, so that lists and arrays give the
same answers. `compiled` returns the moves compiled: every function that they need is in
`PRIMITIVES` and `_MOVES`.

Examples
--------
>>> stream = UniformStream([0.25, 0.75], [0])
>>> next_uniform(stream), next_uniform(stream), stream.position
(0.25, 0.75, [2])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, sqrt
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from dlopt.models.coreservation.ruin_and_recreate.state import (
    PRIMITIVES,
    ProblemArrays,
    SearchState,
    allocate,
    benefit_at,
    best_share_up_to,
    free_capacity,
    is_accepted,
    reduce_to_minimum,
    reject,
    release,
    resize,
    restore_allocations,
    save_allocations,
    windows_overlap,
)

# All probabilities and sizes were chosen by hand. benchmarks/results/coreservation.md has the gaps
# with and without relocation and insertion of rejected requests.
RELOCATE_PROBABILITY = 0.4
"""How often a move relocates parts; else it is ruin and recreate."""
INSERT_FIRST_PROBABILITY = 0.6
"""How often a rejected request from which a move starts is inserted first."""
MAX_REMOVED_REQUESTS = 6
"""Requests that a move removes, at the most, besides the one it starts from."""
MAX_RELOCATED_PARTS = 4
"""Parts that a move relocates, at the most."""
REDUCE_PROBABILITY = 0.5
"""How often the other requests of the neighbourhood are reduced to their minimum shares."""
REDUCE_FOR_INSERTION_PROBABILITY = 0.8
"""The same where a rejected request is inserted first."""
BEST_FIT_PROBABILITY = 0.5
"""How often parts are placed by best fit; else by worst fit."""
MINIMUM_ORDER_PROBABILITY = 0.5
"""How often requests are ordered by the value of their minimum shares; else of their largest ones.
"""
RETRY_PROBABILITY = 0.1
"""How often a request that was rejected before the move is inserted, too."""
LARGE_SHARE_PROBABILITY = 0.5
"""How often parts are placed for larger shares than their minimum."""
REDUCE_FOR_RELOCATION_PROBABILITY = 0.5
"""How often parts are relocated to any machine, where others are reduced to their minimum."""
OVERFLOW_PENALTY = 1e15
"""Added to the key of machines without room for the target share: they come after all others."""
NOISE_STEP = 0.3
"""The noise of a move is 0, 1 or 2 times this, a third of the moves each."""
MIN_REQUEST_SIZE = 1e-3
"""The size that a request of best-effort parts counts for, which needs no unit."""
LOSS_TOLERANCE = 1e-15
"""A loss of value up to this is rounding."""
GAIN_TOLERANCE = 1e-12
"""A gain of value up to this is rounding: the incumbent stays."""


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


def _choose_machine(
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


def _any_machine(problem: ProblemArrays, i: int, stream: UniformStream) -> int:
    """Return a machine for a part, whatever is free there."""
    first = problem.machine_start[i]
    count = problem.machine_start[i + 1] - first
    machine: int = problem.machines[first + int(next_uniform(stream) * count)]
    return machine


def _evict_for(
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


def _insert(
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
        machine, units = _choose_machine(problem, state, i, options, stream)
        if machine < 0 and evict:
            machine, units = _any_machine(problem, i, stream), problem.minimum[i]
            _evict_for(problem, state, k, i, machine, stream)
            if free_capacity(problem, state, i, machine) < units:
                machine = -1  # another part of the request is there
        if machine < 0:
            for placed in range(problem.part_start[k], place):
                release(problem, state, problem.parts[placed])
            return
        allocate(problem, state, i, machine, units)
    state.value[0] += problem.request_value[k]


def _raise_shares(
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


def _ruin(problem: ProblemArrays, state: SearchState, count: int, reduce: bool) -> None:
    """Reject the requests to remove, and perhaps reduce the others to their minimum shares."""
    for n in range(count):
        k = state.neighbourhood[n]
        if not is_accepted(problem, state, k):
            continue
        if state.removed[k]:
            reject(problem, state, k)
        elif reduce:
            for place in range(problem.part_start[k], problem.part_start[k + 1]):
                reduce_to_minimum(problem, state, problem.parts[place])


def _recreate(
    problem: ProblemArrays,
    state: SearchState,
    count: int,
    options: PlacementOptions,
    stream: UniformStream,
) -> None:
    """Insert rejected requests of the neighbourhood, those of the highest value density first."""
    of_minimum = next_uniform(stream) < MINIMUM_ORDER_PROBABILITY
    pending = 0
    for n in range(count):
        k = state.neighbourhood[n]
        if is_accepted(problem, state, k):
            continue
        retry = next_uniform(stream) < RETRY_PROBABILITY
        if not state.removed[k] and not retry:
            continue
        value, size = problem.request_value[k], 0.0
        for place in range(problem.part_start[k], problem.part_start[k + 1]):
            i = problem.parts[place]
            size += problem.minimum[i] * (problem.end[i] - problem.start[i])
            if of_minimum:
                value += problem.intercept[problem.segment_start[i]]
            else:
                last = problem.segment_start[i + 1] - 1
                value += problem.intercept[last]
                value += problem.slope[last] * (problem.high[last] - problem.low[last])
        state.pending[pending] = k
        density = value / max(size, MIN_REQUEST_SIZE)
        state.sort_keys[pending] = -density * (1 - options.noise * next_uniform(stream))
        pending += 1
    for n in np.argsort(state.sort_keys[:pending], kind="mergesort"):
        _insert(problem, state, state.pending[n], options, False, stream)


def _collect_neighbourhood(
    problem: ProblemArrays, state: SearchState, stream: UniformStream
) -> int:
    """List a request and those that overlap it, save their allocations; return how many."""
    centre = state.centres[int(next_uniform(stream) * len(state.centres))]
    first = problem.neighbour_start[centre]
    count: int = problem.neighbour_start[centre + 1] - first
    for n in range(count):
        state.neighbourhood[n] = problem.neighbours[first + n]
    save_allocations(problem, state, count)
    return count


def _set_raisable(state: SearchState, all_machines: bool) -> None:
    """Allow shares to be raised on all machines, or on none."""
    for machine in range(len(state.raisable)):
        state.raisable[machine] = all_machines


def _accept_or_restore(
    problem: ProblemArrays,
    state: SearchState,
    count: int,
    before: float,
    temperature: float,
    stream: UniformStream,
) -> None:
    """Accept a move by the Metropolis criterion, else undo it."""
    draw = next_uniform(stream)
    loss = before - state.value[0]
    if loss > LOSS_TOLERANCE and draw >= exp(-loss / temperature):
        restore_allocations(problem, state, count)
        state.value[0] = before


def _ruin_recreate_move(
    problem: ProblemArrays, state: SearchState, temperature: float, stream: UniformStream
) -> None:
    """Remove requests and insert requests again."""
    count = _collect_neighbourhood(problem, state, stream)
    before, centre = state.value[0], state.neighbourhood[0]
    for n in range(count):
        state.removed[state.neighbourhood[n]] = False
    state.removed[centre] = True
    for _ in range(int(next_uniform(stream) * MAX_REMOVED_REQUESTS)):
        state.removed[state.neighbourhood[int(next_uniform(stream) * count)]] = True
    wants_first = next_uniform(stream) < INSERT_FIRST_PROBABILITY
    insert_first = wants_first and not is_accepted(problem, state, centre)
    reduce = REDUCE_FOR_INSERTION_PROBABILITY if insert_first else REDUCE_PROBABILITY
    _ruin(problem, state, count, next_uniform(stream) < reduce)
    noise = NOISE_STEP * int(3 * next_uniform(stream))
    best_fit = next_uniform(stream) < BEST_FIT_PROBABILITY
    options = PlacementOptions(noise, best_fit, next_uniform(stream) < LARGE_SHARE_PROBABILITY)
    if insert_first:
        minimum_shares = PlacementOptions(noise, best_fit, False)
        _insert(problem, state, centre, minimum_shares, True, stream)
    _recreate(problem, state, count, options, stream)
    _set_raisable(state, True)
    _raise_shares(problem, state, count, noise, stream)
    _accept_or_restore(problem, state, count, before, temperature, stream)


def _free_least_shares(
    problem: ProblemArrays, state: SearchState, count: int, i: int, machine: int
) -> None:
    """Reduce the parts on a machine that overlap part `i` to their minimum shares."""
    for n in range(count):
        k = state.neighbourhood[n]
        for place in range(problem.part_start[k], problem.part_start[k + 1]):
            o = problem.parts[place]
            if state.machine[o] == machine and windows_overlap(problem, i, o):
                reduce_to_minimum(problem, state, o)


def _relocate_move(
    problem: ProblemArrays, state: SearchState, temperature: float, stream: UniformStream
) -> None:
    """Relocate some parts to other machines."""
    count = _collect_neighbourhood(problem, state, stream)
    _set_raisable(state, False)
    before = state.value[0]
    tries = 1 + int(next_uniform(stream) * MAX_RELOCATED_PARTS)
    reduce = next_uniform(stream) < REDUCE_FOR_RELOCATION_PROBABILITY
    noise = NOISE_STEP * int(3 * next_uniform(stream))
    options = PlacementOptions(noise, next_uniform(stream) < BEST_FIT_PROBABILITY, True)
    moved = 0
    for _ in range(tries):
        k = state.neighbourhood[int(next_uniform(stream) * count)]
        first = problem.part_start[k]
        i = problem.parts[first + int(next_uniform(stream) * (problem.part_start[k + 1] - first))]
        if state.machine[i] < 0:
            continue
        machine = state.machine[i]
        state.raisable[machine] = True
        release(problem, state, i)
        if reduce:
            _free_least_shares(problem, state, count, i, machine)
        state.moved[moved] = i
        moved += 1
    complete = moved > 0
    for n in range(moved):
        i = state.moved[n]
        if reduce:
            machine, units = _any_machine(problem, i, stream), problem.minimum[i]
            _free_least_shares(problem, state, count, i, machine)
            complete = free_capacity(problem, state, i, machine) >= units
        else:
            machine, units = _choose_machine(problem, state, i, options, stream)
            complete = machine >= 0
        if not complete:
            break
        allocate(problem, state, i, machine, units)
        state.raisable[machine] = True
    if complete:
        _raise_shares(problem, state, count, noise, stream)
        _accept_or_restore(problem, state, count, before, temperature, stream)
    else:
        next_uniform(stream)  # as many as where it is complete
        restore_allocations(problem, state, count)
        state.value[0] = before


def run_moves(
    problem: ProblemArrays,
    state: SearchState,
    temperature: float,
    stream: UniformStream,
    max_draws: int,
    count: int,
) -> int:
    """Make moves and keep the best assignment; return how many were made.

    Parameters
    ----------
    problem : ProblemArrays
    state : SearchState
    temperature : float
        Of the annealing.
    stream : UniformStream
    max_draws : int
        Random numbers that a move uses at the most: it ends when fewer are left.
    count : int
        Moves at the most.
    """
    made = 0
    while made < count and stream.position[0] + max_draws <= len(stream.values):
        if next_uniform(stream) < RELOCATE_PROBABILITY:
            _relocate_move(problem, state, temperature, stream)
        else:
            _ruin_recreate_move(problem, state, temperature, stream)
        made += 1
        if state.value[0] > state.value[1] + GAIN_TOLERANCE:
            state.value[1] = state.value[0]
            for i in range(len(state.machine)):  # to compile a slice takes seconds
                state.best_machine[i], state.best_units[i] = state.machine[i], state.units[i]
    return made


_MOVES: tuple[Any, ...] = (
    next_uniform,
    _choose_machine,
    _any_machine,
    _evict_for,
    _insert,
    _raise_shares,
    _ruin,
    _recreate,
    _collect_neighbourhood,
    _set_raisable,
    _accept_or_restore,
    _ruin_recreate_move,
    _free_least_shares,
    _relocate_move,
    run_moves,
)
"""Each one after those that it calls, in the order in which they are compiled."""


@cache
def compiled() -> Callable[..., int] | None:
    """Return `run_moves` compiled, None without the extra ``fast``.

    It is compiled once an installation, ten to thirty seconds; other threads are left free.
    """
    try:
        from numba import njit
    except ImportError:
        return None
    names = dict(globals())
    for move in (*PRIMITIVES, *_MOVES):
        interpreted = FunctionType(move.__code__, names, move.__name__)
        # inlined, for a call counts references to every array that it is given; Python calls one
        inline = move is not run_moves
        options: dict[str, Any] = {"forceinline": inline, "no_cpython_wrapper": inline}
        names[move.__name__] = njit(cache=True, nogil=True, **options)(interpreted)
    compiled_moves: Callable[..., int] = names["run_moves"]
    return compiled_moves
