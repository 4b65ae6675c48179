"""A plan that moves change in place, over lists, or compiled over arrays: see `moves`."""

from __future__ import annotations

from typing import Any, NamedTuple


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
    centres : array of int
        The wishes that moves may start from.
    around, gone : array of int, shape (wishes,)
        The list of those around a move, and whether they are to go for it.
    involved : array of int, shape (machines,)
        Whether shares may be raised there.
    waiting : array of int, shape (wishes,)
    moved : array of int, shape (jobs,)
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
    centres: Any
    around: Any
    gone: Any
    involved: Any
    waiting: Any
    moved: Any
    wanted: Any
    keys: Any


def worth_at(asked: Asked, i: int, units: int) -> float:
    """Return what a job is worth with so many units."""
    best = 0.0
    for line in range(asked.lines_first[i], asked.lines_first[i + 1]):
        low = asked.low[line]
        if low <= units:
            reached = min(units, asked.high[line]) - low
            best = max(best, asked.flat[line] + asked.steep[line] * reached)
    return best


def best_up_to(asked: Asked, i: int, most: int) -> int:
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


def meet(asked: Asked, i: int, other: int) -> bool:
    """Tell whether the windows of two jobs share an instant."""
    answer: bool = asked.start[other] < asked.end[i] and asked.start[i] < asked.end[other]
    return answer


def is_held(asked: Asked, state: State, k: int) -> bool:
    """Tell whether a wish is."""
    answer: bool = state.machine[asked.jobs[asked.first[k]]] >= 0
    return answer


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


def resize(asked: Asked, state: State, i: int, units: int) -> None:
    """Give a job that holds some units of a machine so many of it instead."""
    more = units - state.units[i]
    free = state.free[state.machine[i]]
    for t in range(asked.start[i], asked.end[i]):
        free[t] -= more
    state.worth[0] += worth_at(asked, i, units) - worth_at(asked, i, state.units[i])
    state.units[i] = units


def lower(asked: Asked, state: State, i: int) -> None:
    """Take from a job what it holds beyond its least share."""
    if state.units[i] > asked.least[i]:
        resize(asked, state, i, asked.least[i])


def drop(asked: Asked, state: State, k: int) -> None:
    """Take away a wish that is held."""
    state.worth[0] -= asked.accepted[k]
    for place in range(asked.first[k], asked.first[k + 1]):
        take(asked, state, asked.jobs[place])


def room_at(asked: Asked, state: State, i: int, machine: int) -> int:
    """Return what is free on a machine all the time of a job."""
    free = state.free[machine]
    room: int = free[asked.start[i]]
    for t in range(asked.start[i] + 1, asked.end[i]):
        room = min(room, free[t])
    return room


def remember(asked: Asked, state: State, many: int) -> None:
    """Keep what the first so many wishes around hold."""
    for n in range(many):
        k = state.around[n]
        for place in range(asked.first[k], asked.first[k + 1]):
            i = asked.jobs[place]
            state.old_machine[i], state.old_units[i] = state.machine[i], state.units[i]


def restore(asked: Asked, state: State, many: int) -> None:
    """Give the first so many wishes around what they held."""
    for n in range(many):
        k = state.around[n]
        for place in range(asked.first[k], asked.first[k + 1]):
            i = asked.jobs[place]
            machine, units = state.old_machine[i], state.old_units[i]
            if state.machine[i] != machine:
                if state.machine[i] >= 0:
                    take(asked, state, i)
                if machine >= 0:
                    put(asked, state, i, machine, units)
            elif state.units[i] != units:
                resize(asked, state, i, units)


PRIMITIVES: tuple[Any, ...] = (
    worth_at,
    best_up_to,
    meet,
    is_held,
    put,
    take,
    resize,
    lower,
    drop,
    room_at,
    remember,
    restore,
)
"""Each one after those that it calls."""
