"""The moves of ruin and recreate, interpreted over lists or compiled over arrays.

A *ruin-and-recreate move* removes requests and inserts requests again; if it starts from one that
is rejected, that one may come first, whatever has to be removed for it. A *relocate move* moves
parts to other machines. All random numbers come from outside, so that lists and arrays give the
same answers. `compile_moves` returns them compiled: every function that they need is in
`PRIMITIVES`, `INSERTION` and `_MOVES`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp
from types import FunctionType
from typing import Any

import numpy as np

from dlopt.models.coreservation.ruin_and_recreate import insertion
from dlopt.models.coreservation.ruin_and_recreate.insertion import (
    PlacementOptions,
    UniformStream,
    any_machine,
    choose_machine,
    insert_request,
    next_uniform,
    raise_shares,
)
from dlopt.models.coreservation.ruin_and_recreate.state import (
    PRIMITIVES,
    ProblemArrays,
    SearchState,
    allocate,
    free_capacity,
    is_accepted,
    reduce_to_minimum,
    reject,
    release,
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
NOISE_STEP = 0.3
"""The noise of a move is 0, 1 or 2 times this, a third of the moves each."""
MIN_REQUEST_SIZE = 1e-3
"""The size that a request of best-effort parts counts for, which needs no unit."""
LOSS_TOLERANCE = 1e-15
"""A loss of value up to this is rounding."""
GAIN_TOLERANCE = 1e-12
"""A gain of value up to this is rounding: the incumbent stays."""


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
        insert_request(problem, state, state.pending[n], options, False, stream)


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
        insert_request(problem, state, centre, minimum_shares, True, stream)
    _recreate(problem, state, count, options, stream)
    _set_raisable(state, True)
    raise_shares(problem, state, count, noise, stream)
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
            machine, units = any_machine(problem, i, stream), problem.minimum[i]
            _free_least_shares(problem, state, count, i, machine)
            complete = free_capacity(problem, state, i, machine) >= units
        else:
            machine, units = choose_machine(problem, state, i, options, stream)
            complete = machine >= 0
        if not complete:
            break
        allocate(problem, state, i, machine, units)
        state.raisable[machine] = True
    if complete:
        raise_shares(problem, state, count, noise, stream)
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
def compile_moves() -> Callable[..., int] | None:
    """Compile `run_moves` and return it; None without the extra ``fast``.

    It is compiled once an installation, ten to thirty seconds; other threads are left free.
    """
    try:
        from numba import njit
    except ImportError:
        return None
    names = vars(insertion) | globals()
    for move in (*PRIMITIVES, *insertion.INSERTION, *_MOVES):
        interpreted = FunctionType(move.__code__, names, move.__name__)
        # inlined, for a call counts references to every array that it is given; Python calls one
        inline = move is not run_moves
        options: dict[str, Any] = {"forceinline": inline, "no_cpython_wrapper": inline}
        names[move.__name__] = njit(cache=True, nogil=True, **options)(interpreted)
    compiled_moves: Callable[..., int] = names["run_moves"]
    return compiled_moves
