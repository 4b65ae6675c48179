"""The state of the search, and the operations that change it in place.

Both work over lists, or compiled over arrays: see `moves`. An assignment gives parts units of
machines; `value` is kept up to date with every operation.

Examples
--------
>>> problem = ProblemArrays(  # one request of one part, with a benefit of 1/4 a unit, on a machine
...     request_value=[0.0], part_start=[0, 1], parts=[0], neighbour_start=[0, 1], neighbours=[0],
...     start=[0], end=[2], minimum=[1], machine_start=[0, 1], machines=[0],
...     segment_start=[0, 1], low=[1], high=[4], intercept=[0.25], slope=[0.25])
>>> state = SearchState(*[[0] for _ in SearchState._fields])
>>> state = state._replace(free=[[3, 5]], value=[0.0, 0.0])
>>> units = best_share_up_to(problem, 0, free_capacity(problem, state, 0, 0))
>>> allocate(problem, state, 0, 0, units)
>>> state.free, state.value[0]
([[0, 2]], 0.75)
"""

from __future__ import annotations

from typing import Any, NamedTuple


class ProblemArrays(NamedTuple):
    """The scaled instance as flat arrays.

    Lists of lists are flat: the entries of ``k`` are at ``xs_start[k]`` up to ``xs_start[k + 1]``.

    Parameters
    ----------
    request_value : array of float, shape (requests,)
        The value of acceptance, besides the benefit of the shares.
    part_start, parts : array of int
        Of requests: their parts, the largest minimum share first.
    neighbour_start, neighbours : array of int
        Of requests: those that share an instant with them, themselves first.
    start, end, minimum : array of int, shape (parts,)
    machine_start, machines : array of int
        Of parts: the machines on which they may be.
    segment_start, low, high : array of int
        Of parts: the segments of their benefit, ascending.
    intercept, slope : array of float
        Of segments: the value at `low`, and that of a unit beyond it.
    """

    request_value: Any
    part_start: Any
    parts: Any
    neighbour_start: Any
    neighbours: Any
    start: Any
    end: Any
    minimum: Any
    machine_start: Any
    machines: Any
    segment_start: Any
    low: Any
    high: Any
    intercept: Any
    slope: Any


class SearchState(NamedTuple):
    """The current assignment, the incumbent, and buffers of the moves.

    Parameters
    ----------
    free : array of int, shape (machines, instants)
        Free capacity.
    machine, units : array of int, shape (parts,)
        -1 and 0 where a part is not allocated.
    value : array of float, shape (2,)
        Of the current assignment, and of the incumbent.
    best_machine, best_units : array of int, shape (parts,)
        The incumbent.
    saved_machine, saved_units : array of int, shape (parts,)
        What `restore_allocations` restores.
    centres : array of int
        The requests that moves may start from.
    neighbourhood, removed : array of int, shape (requests,)
        The list of requests that a move may change, and whether each is to be removed.
    raisable : array of int, shape (machines,)
        Whether shares may be raised there.
    pending : array of int, shape (requests,)
        The requests to insert.
    moved : array of int, shape (parts,)
        The parts that are relocated.
    raise_candidates, sort_keys : array, shape (segments,)
        The parts whose shares may be raised, and the keys by which a buffer is sorted.
    """

    free: Any
    machine: Any
    units: Any
    value: Any
    best_machine: Any
    best_units: Any
    saved_machine: Any
    saved_units: Any
    centres: Any
    neighbourhood: Any
    removed: Any
    raisable: Any
    pending: Any
    moved: Any
    raise_candidates: Any
    sort_keys: Any


def benefit_at(problem: ProblemArrays, i: int, units: int) -> float:
    """Return the value of a share of a part."""
    best = 0.0
    for segment in range(problem.segment_start[i], problem.segment_start[i + 1]):
        low = problem.low[segment]
        if low <= units:
            increment = min(units, problem.high[segment]) - low
            best = max(best, problem.intercept[segment] + problem.slope[segment] * increment)
    return best


def best_share_up_to(problem: ProblemArrays, i: int, most: int) -> int:
    """Return the share of a part with the largest value, of those up to a number of units."""
    units: int = problem.minimum[i]
    best = benefit_at(problem, i, units)
    for segment in range(problem.segment_start[i], problem.segment_start[i + 1]):
        low = problem.low[segment]
        if low <= most:
            share = min(problem.high[segment], most)
            value = problem.intercept[segment] + problem.slope[segment] * (share - low)
            if share > units and value > best:
                units, best = share, value
    return units


def windows_overlap(problem: ProblemArrays, i: int, other: int) -> bool:
    """Tell whether the windows of two parts share an instant."""
    answer: bool = problem.start[other] < problem.end[i] and problem.start[i] < problem.end[other]
    return answer


def is_accepted(problem: ProblemArrays, state: SearchState, k: int) -> bool:
    """Tell whether a request is accepted."""
    answer: bool = state.machine[problem.parts[problem.part_start[k]]] >= 0
    return answer


def allocate(problem: ProblemArrays, state: SearchState, i: int, machine: int, units: int) -> None:
    """Allocate units of a machine to a part."""
    state.machine[i], state.units[i] = machine, units
    free = state.free[machine]
    for t in range(problem.start[i], problem.end[i]):
        free[t] -= units
    state.value[0] += benefit_at(problem, i, units)


def release(problem: ProblemArrays, state: SearchState, i: int) -> None:
    """Release the allocation of a part."""
    units = state.units[i]
    free = state.free[state.machine[i]]
    for t in range(problem.start[i], problem.end[i]):
        free[t] += units
    state.value[0] -= benefit_at(problem, i, units)
    state.machine[i], state.units[i] = -1, 0


def resize(problem: ProblemArrays, state: SearchState, i: int, units: int) -> None:
    """Change the share of a part on its machine."""
    more = units - state.units[i]
    free = state.free[state.machine[i]]
    for t in range(problem.start[i], problem.end[i]):
        free[t] -= more
    state.value[0] += benefit_at(problem, i, units) - benefit_at(problem, i, state.units[i])
    state.units[i] = units


def reduce_to_minimum(problem: ProblemArrays, state: SearchState, i: int) -> None:
    """Reduce the share of a part to its minimum."""
    if state.units[i] > problem.minimum[i]:
        resize(problem, state, i, problem.minimum[i])


def reject(problem: ProblemArrays, state: SearchState, k: int) -> None:
    """Reject a request that is accepted."""
    state.value[0] -= problem.request_value[k]
    for place in range(problem.part_start[k], problem.part_start[k + 1]):
        release(problem, state, problem.parts[place])


def free_capacity(problem: ProblemArrays, state: SearchState, i: int, machine: int) -> int:
    """Return what is free on a machine throughout the window of a part."""
    free = state.free[machine]
    room: int = free[problem.start[i]]
    for t in range(problem.start[i] + 1, problem.end[i]):
        room = min(room, free[t])
    return room


def save_allocations(problem: ProblemArrays, state: SearchState, count: int) -> None:
    """Save the allocations of the first `count` requests of the neighbourhood."""
    for n in range(count):
        k = state.neighbourhood[n]
        for place in range(problem.part_start[k], problem.part_start[k + 1]):
            i = problem.parts[place]
            state.saved_machine[i], state.saved_units[i] = state.machine[i], state.units[i]


def restore_allocations(problem: ProblemArrays, state: SearchState, count: int) -> None:
    """Restore the saved allocations of the first `count` requests of the neighbourhood."""
    for n in range(count):
        k = state.neighbourhood[n]
        for place in range(problem.part_start[k], problem.part_start[k + 1]):
            i = problem.parts[place]
            machine, units = state.saved_machine[i], state.saved_units[i]
            if state.machine[i] != machine:
                if state.machine[i] >= 0:
                    release(problem, state, i)
                if machine >= 0:
                    allocate(problem, state, i, machine, units)
            elif state.units[i] != units:
                resize(problem, state, i, units)


PRIMITIVES: tuple[Any, ...] = (
    benefit_at,
    best_share_up_to,
    windows_overlap,
    is_accepted,
    allocate,
    release,
    resize,
    reduce_to_minimum,
    reject,
    free_capacity,
    save_allocations,
    restore_allocations,
)
"""Each one after those that it calls, in the order in which they are compiled."""
