"""Bounds by work: what machines can do in an interval against what must be done in it.

A machine `p` counts with a weight `k_p`. In an interval machines do, weighted, at most its length
times the sum `K` of weights; a job takes at least the least `k_p x` its time there, over the
machines that can run it. Any weights give a bound; for identical machines they are equal, for
machines that differ in speed they are the speeds, and this is the total work by the total speed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd, lcm

import numpy as np

from dlopt.models.dag.heads_and_tails import NEVER, Ints, Windows

_FINE = 2**16
"""The sum of weights that are no small integers."""
_ROUNDS = 60
_MOST, _LEAST = 400, 8
"""Ends of intervals that are looked at, either way."""
_WORK = 50_000_000
"""Intervals times jobs times machines, if there are not fewer."""
_TESTS = 30
"""Instants that are tried to be refuted."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What machines count.

    Parameters
    ----------
    each : array of int, shape (machines,)
    total : int
        Their sum.
    """

    each: Ints
    total: int

    def energies(self, times: Ints) -> Ints:
        """Return what jobs take at least, by how long they take on each machine."""
        lasting: Ints = np.where(times < NEVER, times * self.each, NEVER).min(axis=-1)
        return lasting


def weights_of(costs: Ints) -> Weights:
    """Return weights that make the work of all jobs large: a dual of the loads of machines.

    Parameters
    ----------
    costs : array of int, shape (jobs, machines)
        `NEVER` where a job cannot run.

    Examples
    --------
    >>> weights_of(np.array([[6, 3], [2, 1]])).each.tolist()
    [1, 2]
    """
    known = np.where(costs < NEVER, costs, 0)
    totals = [max(int(total), 1) for total in known.sum(axis=0)]
    if (costs < NEVER).all():
        common = lcm(*totals)
        small = [common // total for total in totals]
        divisor = gcd(*small)
        if sum(small) // divisor <= _FINE:
            each = np.array([weight // divisor for weight in small], dtype=np.int64)
            if _even(known, each):
                return Weights(each, int(each.sum()))
    share = 1 / np.array(totals, dtype=float)
    share /= share.sum()
    usable = np.where(costs < NEVER, costs, np.inf).astype(float)
    best, most = share, -1.0
    for turn in range(_ROUNDS):
        weighted = usable * share
        chosen = weighted.argmin(axis=1)
        worth = float(weighted[np.arange(len(costs)), chosen].sum())
        if worth > most:
            best, most = share, worth
        loads = np.bincount(chosen, usable[np.arange(len(costs)), chosen], minlength=len(totals))
        mean = max(float(loads @ share), 1e-300)
        share = share * np.exp(np.clip(loads / mean - 1, -1, 1) / (2 + turn / 4))
        share /= share.sum()
    each = np.maximum((best * _FINE).astype(np.int64), 0)
    each[int(each.argmax())] += max(1 - int(each.sum()), 0)
    return Weights(each, int(each.sum()))


def _even(costs: Ints, each: Ints) -> bool:
    """Tell whether every job takes the same, weighted, on all machines."""
    weighted = costs * each
    return bool((weighted == weighted[:, :1]).all())


def total_bound(windows: Windows, weights: Weights) -> int:
    """Bound when all jobs are done: all that start late enough and have enough behind them.

    Every pair of a head and a tail stands for the jobs whose head and tail are as large.
    """
    energies = weights.energies(windows.costs)
    heads, tails = windows.heads.min(axis=1), windows.tails.min(axis=1)
    best = 0
    order = np.argsort(-tails, kind="stable")
    tails, heads, energies = tails[order], heads[order], energies[order]
    for head in some(np.unique(heads)):
        inside = np.where(heads >= head, energies, 0).cumsum()
        took = -(-inside // weights.total)
        best = max(best, int(head) + int(np.where(inside > 0, took + tails, 0).max()))
    return best


def interval_bound(windows: Windows, weights: Weights, least: int, most: int | None = None) -> int:
    """Bound when all jobs are done: what must be done within intervals if it were earlier.

    Parameters
    ----------
    windows : Windows
    weights : Weights
    least : int
        A bound that is known.
    most : int, optional
        A makespan that is known: no bound beyond it is looked for.

    Notes
    -----
    An end `T` is refuted if there is an interval in which jobs must take more than machines have,
    each as early or as late as `T` lets it be, on the machine where that is least. Fernandez and
    Bussell (1973) add the excess to the longest way instead, which proves no more. `T` is found
    by doubling and bisection.
    """
    windows, weights = _distinct(windows, weights)
    low = least  # nothing is done before
    step, tests = 1, 1
    while (most is None or low < most) and _refuted(windows, weights, low + step - 1):
        low += step
        step *= 2
        tests += 1
    high = low + step - 1  # not refuted
    while low < high and tests < _TESTS:
        middle = (low + high) // 2
        tests += 1
        if _refuted(windows, weights, middle):
            low = middle + 1
        else:
            high = middle
    return low


def _distinct(windows: Windows, weights: Weights) -> tuple[Windows, Weights]:
    """Return the same with one machine only of those that are alike to every job."""
    tables = windows.heads, windows.costs, windows.tails
    columns = np.concatenate([*tables, weights.each[None, :]])
    _, kept = np.unique(columns, axis=1, return_index=True)
    kept.sort()
    heads, costs, tails = (table[:, kept] for table in tables)
    fewer = Windows(heads, costs, tails, windows.paths)
    return fewer, Weights(weights.each[kept], weights.total)


def _refuted(windows: Windows, weights: Weights, end: int) -> bool:
    """Tell whether not everything can be done by an instant."""
    heads, costs = windows.heads, windows.costs
    last = end - windows.tails - costs  # latest starts
    able = (heads <= last) & (costs < NEVER)
    if not able.any(axis=1).all():
        return True
    ends = last + costs
    many = min(max(int((_WORK / costs.size) ** 0.5), _LEAST), _MOST)
    starts = some(np.unique(np.concatenate([heads[able], last[able]])), many)
    stops = some(np.unique(np.concatenate([ends[able], (heads + costs)[able]])), many)
    each = weights.each
    early = np.where(able, heads + costs, NEVER)
    for start in starts:
        later = stops[stops > start]
        for part in _parts(later, costs.size):
            length = part[:, None, None] - start
            shifted = np.minimum(early - start, part[:, None, None] - last)
            inside = np.maximum(np.minimum(np.minimum(length, costs), shifted), 0)
            must = np.where(able, inside * each, NEVER).min(axis=2).sum(axis=1)
            if (must > (part - start) * weights.total).any():
                return True
    return False


def some(instants: Ints, many: int = _MOST) -> Ints:
    """Return instants of a sorted list, spread evenly, but no more than so many."""
    if len(instants) <= many:
        return instants
    spread: Ints = instants[np.linspace(0, len(instants) - 1, many).astype(int)]
    return spread


def _parts(instants: Ints, width: int) -> Iterator[Ints]:
    """Yield instants in parts whose tables fit the memory."""
    size = max(1, 4_000_000 // width)
    for start in range(0, len(instants), size):
        yield instants[start : start + size]
