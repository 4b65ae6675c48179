"""The exact schedule of which a schedule in floats is a rounding: as early as its order allows."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from dlopt.arithmetic import exact
from dlopt.problems.dag.checker_times import CheckerTimes, first_tasks
from dlopt.problems.dag.data import Instance, Placement

StatedInterval: TypeAlias = tuple[Placement, Fraction, Fraction]
"""A placement with its stated start, and its end after its exact duration."""

_FINER = 2**40
"""So many units of time are in what a start may be off, at the least: starts are multiples."""


def exact_starts(
    instance: Instance,
    times: CheckerTimes,
    placed: list[dict[int, StatedInterval]],
    slack: Fraction,
) -> dict[tuple[int, int], Fraction]:
    """Return the start of every task in the exact plan of the same machines and order.

    Tasks go by the middles of their stated times, none before those that it needs data of; each
    starts as soon as input, data and machine are there, in exact numbers. That is a valid plan.
    (By starts alone, a task that takes no time in floats would wait for the long one that follows
    it, where rounding lets that one start a little before it.)

    Parameters
    ----------
    instance : Instance
    times : CheckerTimes
    placed : list of dict of int to StatedInterval
        By graph and task; every task is there.
    slack : Fraction
        What starts may be off. Starts are rounded up to a tiny part of it, so that fractions stay
        short; if it is 0, they are not rounded.

    Notes
    -----
    Complexity: O((tasks + edges) log tasks).
    """
    unit = _power_of_two(slack / _FINER)
    waiting = [[0] * len(graph.tasks) for graph in instance.graphs]
    needed: dict[tuple[int, int], list[tuple[int, Fraction]]] = defaultdict(list)
    ready: dict[tuple[int, int], Fraction] = {}
    for at, graph in enumerate(instance.graphs):
        arrival = exact(graph.arrival)
        ready.update({(at, task): arrival for task in placed[at]})
        for task in first_tasks(graph):
            ready[at, task] += times.input_time(graph, placed[at][task][0].machine)
        for edge in graph.edges:
            waiting[at][edge.target] += 1
            needed[at, edge.source].append((edge.target, exact(edge.data)))
    heap = [
        (start + end, start, at, task)
        for at, tasks in enumerate(placed)
        for task, (_, start, end) in tasks.items()
        if not waiting[at][task]
    ]
    heapify(heap)
    free: dict[int, Fraction] = {}
    starts: dict[tuple[int, int], Fraction] = {}
    while heap:
        _, _, at, task = heappop(heap)
        placement, stated, end = placed[at][task]
        machine, length = placement.machine, end - stated
        start = ready[at, task]
        if length and machine in free:
            start = max(start, free[machine])
        if unit:
            start = -(-start // unit) * unit
        starts[at, task] = start
        if length:
            free[machine] = start + length
        for target, data in needed[at, task]:
            after, begin, until = placed[at][target]
            there = start + length + times.transfer(data, machine, after.machine)
            ready[at, target] = max(ready[at, target], there)
            waiting[at][target] -= 1
            if not waiting[at][target]:
                heappush(heap, (begin + until, begin, at, target))
    return starts


def _power_of_two(number: Fraction) -> Fraction:
    """Return a power of two that is no more than a number, and more than a quarter of it."""
    if not number:
        return Fraction(0)
    power = number.numerator.bit_length() - number.denominator.bit_length() - 1
    return Fraction(2) ** power
