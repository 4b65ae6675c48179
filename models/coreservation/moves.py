"""The moves of `dlopt.models.coreservation.recreating`, over lists, or compiled over arrays.

All that is drawn comes from outside, so that both answer the same. `compiled` returns the moves
compiled: every function that they need is in `_MOVES`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, sqrt
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

_MOST = 8
"""Requests to take away, at the most."""
_RELAXED, _BEST_FIT, _LEAST_FIRST, _OTHERS, _WIDE = 0.5, 0.5, 0.5, 0.1, 0.5
"""How often others give back; the fullest machine is taken; least shares give the order; a request
that was rejected before is tried; jobs are placed with larger shares than their least."""
_FAR = 1e15
"""Machines without room for such a share come after those with room."""
_NOISE = 0.3
"""A third of the steps has no noise, one has so much, one twice as much."""
_TINY = 1e-15
_BETTER = 1e-12


class Asked(NamedTuple):
    """What is asked for. What belongs to ``k`` is at ``first[k]`` until ``first[k + 1]``.

    Parameters
    ----------
    accepted : array of float, shape (wishes,)
        What accepting is worth beside the shares.
    first, jobs : array of int
        Of wishes: their jobs, the largest first.
    near_first, near : array of int
        Of wishes: those that share an instant with them, themselves first.
    start, end, least : array of int, shape (jobs,)
    hosts_first, hosts : array of int
        Of jobs: machines.
    lines_first, low, high : array of int
        Of jobs: pieces of their benefit, ascending.
    flat, steep : array of float
        What pieces are worth at `low`, and a unit beyond it.
    """

    accepted: Any
    first: Any
    jobs: Any
    near_first: Any
    near: Any
    start: Any
    end: Any
    least: Any
    hosts_first: Any
    hosts: Any
    lines_first: Any
    low: Any
    high: Any
    flat: Any
    steep: Any


class State(NamedTuple):
    """A plan, the best one so far, and room to work in.

    Parameters
    ----------
    free : array of int, shape (machines, instants)
    machine, units : array of int, shape (jobs,)
        -1 and 0 where a job is not held.
    worth : array of float, shape (2,)
        Of the plan, and of the best one.
    best_machine, best_units : array of int, shape (jobs,)
    old_machine, old_units : array of int, shape (jobs,)
    mark : array of int, shape (wishes,)
    around, waiting : array of int, shape (wishes,)
    touched : array of int, shape (jobs,)
    wanted, keys : array, shape (pieces,)
    """

    free: Any
    machine: Any
    units: Any
    worth: Any
    best_machine: Any
    best_units: Any
    old_machine: Any
    old_units: Any
    mark: Any
    around: Any
    waiting: Any
    touched: Any
    wanted: Any
    keys: Any


class How(NamedTuple):
    """How a step places what waits.

    Parameters
    ----------
    noise : float
    best_fit : bool
        Where least is left, not most.
    wide : bool
        With shares drawn at random, not the least.
    """

    noise: float
    best_fit: bool
    wide: bool


def worth_at(asked: Asked, i: int, units: int) -> float:
    """Return what a job is worth with so many units."""
    best = 0.0
    for line in range(asked.lines_first[i], asked.lines_first[i + 1]):
        low = asked.low[line]
        if low <= units:
            reached = min(units, asked.high[line]) - low
            best = max(best, asked.flat[line] + asked.steep[line] * reached)
    return best


def put(asked: Asked, state: State, i: int, machine: int, units: int) -> None:
    """Give a job units of a machine."""
    state.machine[i], state.units[i] = machine, units
    free = state.free[machine]
    for t in range(asked.start[i], asked.end[i]):
        free[t] -= units
    state.worth[0] += worth_at(asked, i, units)


def take(asked: Asked, state: State, i: int) -> None:
    """Take from a job what it holds."""
    units = state.units[i]
    free = state.free[state.machine[i]]
    for t in range(asked.start[i], asked.end[i]):
        free[t] += units
    state.worth[0] -= worth_at(asked, i, units)
    state.machine[i], state.units[i] = -1, 0


def room_at(asked: Asked, state: State, i: int, machine: int) -> int:
    """Return what is free on a machine all the time."""
    free = state.free[machine]
    room: int = free[asked.start[i]]
    for t in range(asked.start[i] + 1, asked.end[i]):
        room = min(room, free[t])
    return room


def _best_up_to(asked: Asked, i: int, most: int) -> int:
    """Return the share of a job that is worth most, of those up to a number of units."""
    units: int = asked.least[i]
    best = worth_at(asked, i, units)
    for line in range(asked.lines_first[i], asked.lines_first[i + 1]):
        low = asked.low[line]
        if low <= most:
            reached = min(asked.high[line], most)
            worth = asked.flat[line] + asked.steep[line] * (reached - low)
            if reached > units and worth > best:
                units, best = reached, worth
    return units


def _place(asked: Asked, state: State, k: int, how: How, draws: Any, at: int) -> tuple[bool, int]:
    """Place all jobs of a wish, or none; tell which."""
    for place in range(asked.first[k], asked.first[k + 1]):
        i = asked.jobs[place]
        least, lines = asked.least[i], asked.lines_first[i]
        target = least
        if how.wide:  # the square root makes large shares likelier
            line = lines + int(sqrt(draws[at]) * (asked.lines_first[i + 1] - lines))
            target = asked.high[line]
            at += 1
        chosen, lowest, most = -1, np.inf, 0
        for host in range(asked.hosts_first[i], asked.hosts_first[i + 1]):
            machine = asked.hosts[host]
            free = room_at(asked, state, i, machine)
            if free < least:
                continue
            room = free - target
            key = (room if how.best_fit else -room) * (1 + how.noise * draws[at])
            at += 1
            if room < 0:
                key = _FAR - room
            if key < lowest:
                chosen, lowest, most = machine, key, free
        if chosen < 0:
            for done in range(asked.first[k], place):
                take(asked, state, asked.jobs[done])
            return False, at
        put(asked, state, i, chosen, _best_up_to(asked, i, min(target, most)))
    state.worth[0] += asked.accepted[k]
    return True, at


def _raise(asked: Asked, state: State, count: int, noise: float, draws: Any, at: int) -> int:
    """Raise the shares of touched jobs, to ends of pieces or as far as there is room."""
    many = 0
    for n in range(count):
        i = state.touched[n]
        units = state.units[i]
        now, length = worth_at(asked, i, units), asked.end[i] - asked.start[i]
        for line in range(asked.lines_first[i], asked.lines_first[i + 1]):
            low, high = asked.low[line], asked.high[line]
            gain = asked.flat[line] + asked.steep[line] * (high - low) - now
            if high > units and gain > 0:
                density = gain / ((high - units) * length)
                state.wanted[many] = i
                state.keys[many] = -density * (1 - noise * draws[at])
                at += 1
                many += 1
    for n in np.argsort(state.keys[:many], kind="mergesort"):
        i = state.wanted[n]
        machine, units = state.machine[i], state.units[i]
        room = units + room_at(asked, state, i, machine)
        best = _best_up_to(asked, i, room)
        if best > units:
            take(asked, state, i)
            put(asked, state, i, machine, best)
    return at


def _ruin(asked: Asked, state: State, many: int, relaxed: bool) -> int:
    """Take away marked wishes (2), and perhaps what others around have beyond their least."""
    count = 0
    for n in range(many):
        k = state.around[n]
        first = asked.jobs[asked.first[k]]
        if state.machine[first] < 0:
            continue
        gone = state.mark[k] == 2
        if gone:
            state.worth[0] -= asked.accepted[k]
        for place in range(asked.first[k], asked.first[k + 1]):
            i = asked.jobs[place]
            if gone:
                take(asked, state, i)
                continue
            state.touched[count] = i
            count += 1
            if relaxed and state.units[i] > asked.least[i]:
                machine = state.machine[i]
                take(asked, state, i)
                put(asked, state, i, machine, asked.least[i])
    return count


def _recreate(asked: Asked, state: State, many: int, count: int, draws: Any, at: int) -> int:
    """Place wishes around that are not held, those dearest for their size first; raise shares."""
    how = How(_NOISE * int(3 * draws[at]), draws[at + 1] < _BEST_FIT, draws[at + 2] < _WIDE)
    least_first = draws[at + 3] < _LEAST_FIRST
    at += 4
    waiting = 0
    for n in range(many):
        k = state.around[n]
        if state.machine[asked.jobs[asked.first[k]]] >= 0:
            continue
        at += 1
        if state.mark[k] != 2 and draws[at - 1] >= _OTHERS:
            continue
        worth, size = asked.accepted[k], 0.0
        for place in range(asked.first[k], asked.first[k + 1]):
            i = asked.jobs[place]
            size += asked.least[i] * (asked.end[i] - asked.start[i])
            if least_first:
                worth += asked.flat[asked.lines_first[i]]
            else:
                line = asked.lines_first[i + 1] - 1
                worth += asked.flat[line]
                worth += asked.steep[line] * (asked.high[line] - asked.low[line])
        state.waiting[waiting] = k
        state.keys[waiting] = -worth / size * (1 - how.noise * draws[at])
        at += 1
        waiting += 1
    for n in np.argsort(state.keys[:waiting], kind="mergesort"):
        k = state.waiting[n]
        done, at = _place(asked, state, k, how, draws, at)
        if done:
            for place in range(asked.first[k], asked.first[k + 1]):
                state.touched[count] = asked.jobs[place]
                count += 1
    return _raise(asked, state, count, how.noise, draws, at)


def _choose(asked: Asked, state: State, draws: Any, at: int) -> tuple[int, int]:
    """Mark wishes to take away (2), and those around them (1); return how many, in all."""
    wishes = len(asked.accepted)
    centre = int(draws[at] * wishes)
    chosen = 1 + int(draws[at + 1] * _MOST)
    at += 2
    first, last = asked.near_first[centre], asked.near_first[centre + 1]
    many = 0
    for turn in range(chosen):
        k = centre
        if turn:
            k = asked.near[first + int(draws[at] * (last - first))]
            at += 1
        for other in range(asked.near_first[k], asked.near_first[k + 1]):
            one = asked.near[other]
            if not state.mark[one]:
                state.mark[one] = 1
                state.around[many] = one
                many += 1
        state.mark[k] = 2
    return many, at


def _step(asked: Asked, state: State, warmth: float, draws: Any, at: int) -> int:
    """Take wishes away and put wishes back; return what is drawn next."""
    many, at = _choose(asked, state, draws, at)
    before = state.worth[0]
    for n in range(many):
        k = state.around[n]
        for place in range(asked.first[k], asked.first[k + 1]):
            i = asked.jobs[place]
            state.old_machine[i], state.old_units[i] = state.machine[i], state.units[i]
    count = _ruin(asked, state, many, draws[at] < _RELAXED)
    at = _recreate(asked, state, many, count, draws, at + 1)
    loss = before - state.worth[0]
    at += 1
    back = loss > _TINY and draws[at - 1] >= exp(-loss / warmth)
    for n in range(many):
        k = state.around[n]
        state.mark[k] = 0
        if not back:
            continue
        for place in range(asked.first[k], asked.first[k + 1]):
            i = asked.jobs[place]
            machine, units = state.old_machine[i], state.old_units[i]
            if state.machine[i] != machine or state.units[i] != units:
                if state.machine[i] >= 0:
                    take(asked, state, i)
                if machine >= 0:
                    put(asked, state, i, machine, units)
    if back:
        state.worth[0] = before
    return at


def steps(asked: Asked, state: State, warmth: float, draws: Any, most: int, many: int) -> int:
    """Take so many steps while there are `most` draws left, return how many; keep the best plan."""
    at = count = 0
    while count < many and at + most <= len(draws):
        at = _step(asked, state, warmth, draws, at)
        count += 1
        if state.worth[0] > state.worth[1] + _BETTER:
            state.worth[1] = state.worth[0]
            for i in range(len(state.machine)):  # to compile a slice takes seconds
                state.best_machine[i], state.best_units[i] = state.machine[i], state.units[i]
    return count


_MOVES: tuple[Any, ...] = (
    worth_at,
    put,
    take,
    room_at,
    _best_up_to,
    _place,
    _raise,
    _ruin,
    _recreate,
    _choose,
    _step,
    steps,
)
"""Each one after those that it calls."""


@cache
def compiled() -> Callable[..., int] | None:
    """Return `steps` compiled, None without the extra ``fast``.

    It is compiled once an installation, which takes some ten seconds; it leaves other threads free.
    """
    try:
        from numba import njit
    except ImportError:
        return None
    names = dict(globals())
    for move in _MOVES:
        twin = FunctionType(move.__code__, names, move.__name__)
        names[move.__name__] = njit(cache=True, nogil=True)(twin)
    compiled_steps: Callable[..., int] = names["steps"]
    return compiled_steps
