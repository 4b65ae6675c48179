"""Bin packing as co-reservation: an item is a request with one part, a bin is a machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from dlopt.arithmetic import Number, exact, simplest
from dlopt.errors import NotApplicableError
from dlopt.formats.binpack import BinPacking, Item
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request
from dlopt.problems.validated_record import BestKnown, Units

MOST_MACHINES = 100_000
"""Largest number of machines of an instance; more are considered a mistake."""


def bin_packing_instance(
    problem: BinPacking, *, machines: int | None = None, online: bool = False
) -> Instance:
    """Return a bin packing problem as an instance.

    Whether a number of machines suffices for all items is a question for the objective
    ``rejections``; the least sufficient number is one for ``rejections-then-machines``.

    Parameters
    ----------
    problem : BinPacking
    machines : int, optional
        By default as many as :func:`first_fit_decreasing` needs, which suffice.
    online : bool, default False
        Items arrive one by one, each at its start, and are decided on arrival. By default all are
        known from the beginning and decided together.

    Returns
    -------
    Instance
        Sizes are integers: those of the file times the least number that makes them so. An item
        without a window has the window ``[0, 1)``. The number of bins that the file claims to
        suffice is in `best_known`, if there are so many machines.

    Raises
    ------
    NotApplicableError
        If there are no machines, or too many.

    Examples
    --------
    >>> from dlopt.formats.binpack import parse_orlib
    >>> (one,) = parse_orlib(["1", "three", "10.0 3 2", "3.5", "7", "6.5"])
    >>> instance = bin_packing_instance(one)
    >>> len(instance.machines), instance.machines[0].capacity, instance.requests[0].parts[0].cpu
    (2, 20, 7)
    """
    count = len(first_fit_decreasing(problem)) if machines is None else machines
    if not 1 <= count <= MOST_MACHINES:
        raise NotApplicableError(f"machines must be from 1 to {MOST_MACHINES}, got {count}")
    numbers = [problem.capacity, *(item.size for item in problem.items)]
    scale = math.lcm(*(exact(number).denominator for number in numbers))
    capacity = simplest(exact(problem.capacity) * scale)
    requests = [_request(item, scale, online) for item in problem.items]
    if online:
        requests.sort(key=lambda request: request.arrival)
    known: tuple[BestKnown, ...] = ()
    if problem.best_known is not None and problem.best_known <= count:
        value = (0, problem.best_known)
        known = (BestKnown("rejections-then-machines", "any", value, method="the file"),)
    return Instance(
        tuple(Machine(str(index), capacity) for index in range(count)),
        tuple(requests),
        None if online else Batch(1),
        name=problem.name,
        origin=f"bin packing {problem.name}" + ", items one by one" * online,
        units=Units(cpu="" if scale == 1 else f"1/{scale} of a unit of the file"),
        best_known=known,
    )


def first_fit_decreasing(problem: BinPacking) -> tuple[tuple[Item, ...], ...]:
    """Return a packing by first fit decreasing: items, largest first, into the first bin that fits.

    Parameters
    ----------
    problem : BinPacking

    Returns
    -------
    tuple of tuple of Item
        The bins; no fewer than the optimum, and without windows at most 11/9 of it + 6/9.

    Notes
    -----
    Complexity: O(n b log n) for n items and b bins; with windows as many times more as there are
    items in a bin. Guarantee: Dosa 2007.

    Examples
    --------
    >>> items = tuple(Item(name, size) for name, size in zip("abcd", (4, 6, 5, 5)))
    >>> [[item.id for item in bin] for bin in first_fit_decreasing(BinPacking("", 10, items))]
    [['b', 'a'], ['c', 'd']]
    """
    bins: list[list[Item]] = []
    free: list[Number] = []
    for item in sorted(problem.items, key=lambda item: item.size, reverse=True):
        for index, assigned_items in enumerate(bins):
            if item.start is None:
                fits = item.size <= free[index]
            else:
                fits = _peak(assigned_items, item) + item.size <= problem.capacity
            if fits:
                assigned_items.append(item)
                free[index] -= item.size
                break
        else:
            bins.append([item])
            free.append(problem.capacity - item.size)
    return tuple(map(tuple, bins))


def _peak(assigned_items: Sequence[Item], item: Item) -> Number:
    """Return the peak usage of a bin in the window of an item."""
    start, end = _window(item)
    turns = []
    for other in assigned_items:
        since, until = _window(other)
        if since < end and start < until:
            turns += [(max(since, start), other.size), (until, -other.size)]
    # what ends at an instant goes before what starts there
    return max(accumulate(turn for _, turn in sorted(turns)), default=0)


def _request(item: Item, scale: int, online: bool) -> Request:
    start, end = _window(item)
    cpu = simplest(exact(item.size) * scale)
    return Request(item.id, start if online else 0, start, end, 1, (Part(cpu),))


def _window(item: Item) -> tuple[Number, Number]:
    return (0, 1) if item.start is None or item.end is None else (item.start, item.end)
