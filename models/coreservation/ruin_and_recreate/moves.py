"""The moves of `dlopt.models.coreservation.ruin_and_recreate.search`, over lists, or compiled over
arrays.

A *step* takes wishes away and puts wishes back; if it starts from one that is rejected, that one
may come first, whatever has to go for it. A *shift* moves parts to other machines. All that is
drawn comes from outside, so that lists and arrays answer the same. `compiled` returns the moves
compiled: every function that they need is in `PRIMITIVES` and `_MOVES`.
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
    Asked,
    State,
    best_up_to,
    drop,
    is_held,
    lower,
    meet,
    put,
    remember,
    resize,
    restore,
    room_at,
    take,
    worth_at,
)

_SHIFTS, _INSERTS = 0.4, 0.6
"""How often parts are moved; how often a rejected request from which a step starts comes first."""
_MOST, _PARTS = 6, 4
"""Requests to take away, and parts to move, at the most."""
_RELAXED, _CROWDED = 0.5, 0.8
"""How often others give back what they have beyond their least, and where a request comes first."""
_BEST_FIT, _LEAST_FIRST, _OTHERS, _WIDE, _SQUEEZED = 0.5, 0.5, 0.1, 0.5, 0.5
"""How often the fullest machine is taken; least shares give the order; a request that was rejected
before is tried; jobs are placed with larger shares than their least; parts are moved to any machine
at all, where others give back."""
_FAR = 1e15
"""Machines without room for such a share come after those with room."""
_NOISE = 0.3
"""A third of the steps has no noise, one has so much, one twice as much."""
_SMALLEST = 1e-3
"""The size that a request of best-effort parts counts for, which needs no unit."""
_TINY = 1e-15
_BETTER = 1e-12


class How(NamedTuple):
    """How a move places jobs.

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


def _choose_host(
    asked: Asked, state: State, i: int, how: How, draws: Any, at: int
) -> tuple[int, int, int]:
    """Return a machine for a job, -1 if none has room, and its units there."""
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
    return chosen, best_up_to(asked, i, min(target, most)), at


def _any_host(asked: Asked, i: int, draw: float) -> int:
    """Return a machine for a job, whatever is free there."""
    first = asked.hosts_first[i]
    machine: int = asked.hosts[first + int(draw * (asked.hosts_first[i + 1] - first))]
    return machine


def _empty(asked: Asked, state: State, k: int, i: int, machine: int, draw: float) -> None:
    """Take wishes away until there is room for a job of a wish on a machine, or none is left."""
    first, last = asked.near_first[k], asked.near_first[k + 1]
    offset = int(draw * (last - first))
    for n in range(last - first):
        other = asked.near[first + (n + offset) % (last - first)]
        if other == k or not is_held(asked, state, other):
            continue
        if room_at(asked, state, i, machine) >= asked.least[i]:
            return
        for place in range(asked.first[other], asked.first[other + 1]):
            o = asked.jobs[place]
            if state.machine[o] == machine and meet(asked, i, o):
                drop(asked, state, other)
                state.gone[other] = True
                break


def _place(asked: Asked, state: State, k: int, how: How, first: bool, draws: Any, at: int) -> int:
    """Place all jobs of a wish, or none; if it comes first, whatever has to go for them."""
    for place in range(asked.first[k], asked.first[k + 1]):
        i = asked.jobs[place]
        machine, units, at = _choose_host(asked, state, i, how, draws, at)
        if machine < 0 and first:
            machine, units = _any_host(asked, i, draws[at]), asked.least[i]
            _empty(asked, state, k, i, machine, draws[at + 1])
            at += 2
            if room_at(asked, state, i, machine) < units:
                machine = -1  # another job of the wish is there
        if machine < 0:
            for done in range(asked.first[k], place):
                take(asked, state, asked.jobs[done])
            return at
        put(asked, state, i, machine, units)
    state.worth[0] += asked.accepted[k]
    return at


def _raise(asked: Asked, state: State, many: int, noise: float, draws: Any, at: int) -> int:
    """Raise shares on machines involved, to ends of pieces or as far as there is room."""
    count = 0
    for n in range(many):
        k = state.around[n]
        for place in range(asked.first[k], asked.first[k + 1]):
            i = asked.jobs[place]
            if state.machine[i] < 0 or not state.involved[state.machine[i]]:
                continue
            units, last = state.units[i], asked.lines_first[i + 1]
            if units >= asked.high[last - 1]:
                continue
            most = units + room_at(asked, state, i, state.machine[i])
            if most == units:
                continue
            now, length = worth_at(asked, i, units), asked.end[i] - asked.start[i]
            for line in range(asked.lines_first[i], last):
                low, high = asked.low[line], asked.high[line]
                if low > most:
                    break
                gain = asked.flat[line] + asked.steep[line] * (high - low) - now
                if high > units and gain > 0:
                    density = gain / ((high - units) * length)
                    state.wanted[count] = i
                    state.keys[count] = -density * (1 - noise * draws[at])
                    at += 1
                    count += 1
    for n in np.argsort(state.keys[:count], kind="mergesort"):
        i = state.wanted[n]
        machine, units = state.machine[i], state.units[i]
        best = best_up_to(asked, i, units + room_at(asked, state, i, machine))
        if best > units:
            resize(asked, state, i, best)
    return at


def _ruin(asked: Asked, state: State, many: int, relaxed: bool) -> None:
    """Take away wishes that are to go, and perhaps what others around have beyond their least."""
    for n in range(many):
        k = state.around[n]
        if not is_held(asked, state, k):
            continue
        if state.gone[k]:
            drop(asked, state, k)
        elif relaxed:
            for place in range(asked.first[k], asked.first[k + 1]):
                lower(asked, state, asked.jobs[place])


def _recreate(asked: Asked, state: State, many: int, how: How, draws: Any, at: int) -> int:
    """Place wishes around that are not held, those dearest for their size first."""
    least_first = draws[at] < _LEAST_FIRST
    at += 1
    waiting = 0
    for n in range(many):
        k = state.around[n]
        if is_held(asked, state, k):
            continue
        at += 1
        if not state.gone[k] and draws[at - 1] >= _OTHERS:
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
        state.keys[waiting] = -worth / max(size, _SMALLEST) * (1 - how.noise * draws[at])
        at += 1
        waiting += 1
    for n in np.argsort(state.keys[:waiting], kind="mergesort"):
        at = _place(asked, state, state.waiting[n], how, False, draws, at)
    return at


def _gather(asked: Asked, state: State, draw: float) -> int:
    """List a wish and those around it, keep what they hold; return how many they are."""
    centre = state.centres[int(draw * len(state.centres))]
    first = asked.near_first[centre]
    many: int = asked.near_first[centre + 1] - first
    for n in range(many):
        state.around[n] = asked.near[first + n]
    remember(asked, state, many)
    return many


def _involve(state: State, all_machines: bool) -> None:
    """Say that shares may be raised on all machines, or on none."""
    for machine in range(len(state.involved)):
        state.involved[machine] = all_machines


def _settle(
    asked: Asked, state: State, many: int, before: float, warmth: float, draw: float
) -> None:
    """Keep a move if it is no worse, or a little worse; else undo it."""
    loss = before - state.worth[0]
    if loss > _TINY and draw >= exp(-loss / warmth):
        restore(asked, state, many)
        state.worth[0] = before


def _step(asked: Asked, state: State, warmth: float, draws: Any, at: int) -> int:
    """Take wishes away and put wishes back; return what is drawn next."""
    many = _gather(asked, state, draws[at])
    before, centre = state.worth[0], state.around[0]
    for n in range(many):
        state.gone[state.around[n]] = False
    state.gone[centre] = True
    chosen = int(draws[at + 1] * _MOST)
    at += 2
    for n in range(chosen):
        state.gone[state.around[int(draws[at + n] * many)]] = True
    at += chosen
    inserted = not is_held(asked, state, centre) and draws[at] < _INSERTS
    _ruin(asked, state, many, draws[at + 1] < (_CROWDED if inserted else _RELAXED))
    noise = _NOISE * int(3 * draws[at + 2])
    how = How(noise, draws[at + 3] < _BEST_FIT, draws[at + 4] < _WIDE)
    at += 5
    if inserted:
        least = How(noise, how.best_fit, False)
        at = _place(asked, state, centre, least, True, draws, at)
    at = _recreate(asked, state, many, how, draws, at)
    _involve(state, True)
    at = _raise(asked, state, many, noise, draws, at)
    _settle(asked, state, many, before, warmth, draws[at])
    return at + 1


def _squeeze(asked: Asked, state: State, many: int, i: int, machine: int) -> None:
    """Lower those around that are on a machine when a job is."""
    for n in range(many):
        k = state.around[n]
        for place in range(asked.first[k], asked.first[k + 1]):
            o = asked.jobs[place]
            if state.machine[o] == machine and meet(asked, i, o):
                lower(asked, state, o)


def _shift(asked: Asked, state: State, warmth: float, draws: Any, at: int) -> int:
    """Move some parts to other machines; return what is drawn next."""
    many = _gather(asked, state, draws[at])
    _involve(state, False)
    before = state.worth[0]
    turns = 1 + int(draws[at + 1] * _PARTS)
    squeezed = draws[at + 2] < _SQUEEZED
    noise = _NOISE * int(3 * draws[at + 3])
    how = How(noise, draws[at + 4] < _BEST_FIT, True)
    at += 5
    count = 0
    for _ in range(turns):
        k = state.around[int(draws[at] * many)]
        i = asked.jobs[asked.first[k] + int(draws[at + 1] * (asked.first[k + 1] - asked.first[k]))]
        at += 2
        if state.machine[i] < 0:
            continue
        machine = state.machine[i]
        state.involved[machine] = True
        take(asked, state, i)
        if squeezed:
            _squeeze(asked, state, many, i, machine)
        state.moved[count] = i
        count += 1
    good = count > 0
    for n in range(count):
        i = state.moved[n]
        if squeezed:
            machine, units = _any_host(asked, i, draws[at]), asked.least[i]
            at += 1
            _squeeze(asked, state, many, i, machine)
            good = room_at(asked, state, i, machine) >= units
        else:
            machine, units, at = _choose_host(asked, state, i, how, draws, at)
            good = machine >= 0
        if not good:
            break
        put(asked, state, i, machine, units)
        state.involved[machine] = True
    if good:
        at = _raise(asked, state, many, noise, draws, at)
        _settle(asked, state, many, before, warmth, draws[at])
    else:
        restore(asked, state, many)
        state.worth[0] = before
    return at + 1


def steps(asked: Asked, state: State, warmth: float, draws: Any, most: int, many: int) -> int:
    """Take so many steps while there are `most` draws left, return how many; keep the best plan."""
    at = count = 0
    while count < many and at + most <= len(draws):
        at += 1
        if draws[at - 1] < _SHIFTS:
            at = _shift(asked, state, warmth, draws, at)
        else:
            at = _step(asked, state, warmth, draws, at)
        count += 1
        if state.worth[0] > state.worth[1] + _BETTER:
            state.worth[1] = state.worth[0]
            for i in range(len(state.machine)):  # to compile a slice takes seconds
                state.best_machine[i], state.best_units[i] = state.machine[i], state.units[i]
    return count


_MOVES: tuple[Any, ...] = (
    _choose_host,
    _any_host,
    _empty,
    _place,
    _raise,
    _ruin,
    _recreate,
    _gather,
    _involve,
    _settle,
    _step,
    _squeeze,
    _shift,
    steps,
)
"""Each one after those that it calls."""


@cache
def compiled() -> Callable[..., int] | None:
    """Return `steps` compiled, None without the extra ``fast``.

    It is compiled once an installation, ten to thirty seconds; other threads are left free.
    """
    try:
        from numba import njit
    except ImportError:
        return None
    names = dict(globals())
    for move in (*PRIMITIVES, *_MOVES):
        twin = FunctionType(move.__code__, names, move.__name__)
        # inlined, for a call counts references to every array that it is given; Python calls one
        inline = move is not steps
        options: dict[str, Any] = {"forceinline": inline, "no_cpython_wrapper": inline}
        names[move.__name__] = njit(cache=True, nogil=True, **options)(twin)
    compiled_steps: Callable[..., int] = names["steps"]
    return compiled_steps
