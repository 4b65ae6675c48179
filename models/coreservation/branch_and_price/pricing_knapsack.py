"""A single machine whose parts have prices, by dynamic programming over its CPU.

At an instant a machine is a knapsack. Where two instants imply all others, some parts are there at
the first one only, some at the second one only, and what those at both take is one number for both:
two knapsacks that share it. So what sets of parts are worth is found exactly, in whole numbers, and
all sets that are worth so much can be enumerated: none is looked into that leads to no such set.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from dlopt.models.coreservation.branch_and_price.columns import Branch, Patterns
from dlopt.models.coreservation.objective import worth_at

LARGEST = 1000
"""Units of CPU beyond this are too many: time goes with their square."""
_NONE = -(1 << 60)
"""What is impossible is worth this; sums of three of it are whole numbers of 64 bits."""
_OFTEN = 256
"""The clock is looked at once in so many steps."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A set of parts on a machine: what it is worth less what it pays, and what it is worth."""

    jobs: frozenset[int]
    reduced: int
    worth: int


@dataclass(slots=True)
class _Step:
    """A set of parts of which some are decided: at which knapsack, which one is next."""

    bound: int
    stage: int
    next: int
    state: Any
    both: Any
    jobs: frozenset[int]


class Knapsacks:
    """A machine of a group: which parts may be there, when, and what their shares are worth.

    Parameters
    ----------
    patterns : Patterns
    n : int
        The group; `applies` tells whether it is one of those that are small enough.
    branch : Branch
    """

    def __init__(self, patterns: Patterns, n: int, branch: Branch) -> None:
        import numpy as np

        self.numpy = np
        group, case = patterns.groups[n], patterns.case
        rows = group.alone.crowds()
        rooms = rows[0].free[0], rows[-1].free[0]
        self.rooms = min(rooms), *rooms
        self.padded: dict[int, tuple[Any, Any]] = {}  # by size: to make the windows takes long
        inside = [{group.jobs[q] for q in row.jobs} for row in (rows[0], rows[-1])]
        both = inside[0] & inside[1]
        self.own = tuple(
            [i for i in sorted(kind) if branch.wishes.get(case.jobs[i].wish) is not False]
            for kind in (both, inside[0] - both, inside[1] - both)
        )
        self.worths = {i: self._worth(patterns, i) for jobs in self.own for i in jobs}
        self.ends = {i: (case.jobs[i].least, case.jobs[i].pieces[-1].high) for i in self.worths}
        self.place = {i: (k, q) for k, jobs in enumerate(self.own) for q, i in enumerate(jobs)}
        self.partners: dict[int, list[tuple[int, bool]]] = {i: [] for i in self.worths}
        for (a, b), together in branch.pairs.items():
            for one, other in ((a, b), (b, a)):
                if one in self.partners:
                    self.partners[one].append((other, together))

    @staticmethod
    def applies(patterns: Patterns, n: int) -> bool:
        """Tell whether at most two instants matter on a machine, with few units of CPU."""
        rows = patterns.groups[n].alone.crowds()
        return len(rows) <= 2 and max(row.free[0] for row in rows) <= LARGEST

    def _worth(self, patterns: Patterns, i: int) -> Any:
        """Return what each number of units is worth to a part."""
        job, most = patterns.case.jobs[i], max(self.rooms)
        found = self.numpy.full(most + 1, _NONE, dtype=self.numpy.int64)
        weight = patterns.case.weight("benefit", job.wish) * (patterns.level == "benefit")
        for piece in job.pieces:
            for units in range(piece.low, min(piece.high, most) + 1):
                found[units] = patterns.scale.units(weight * worth_at(job.pieces, units))
        return found

    def dearest(self, prices: Sequence[int], most: int, stop: float = inf) -> tuple[int, Chosen]:
        """Return what no set of parts is worth more than, less what it pays, and the best one.

        Parameters
        ----------
        prices : sequence of int
            Of all parts.
        most : int
            Steps; where they do not do, the first number is more than the best set is worth.
        stop : float
            Instant of the monotonic clock at which `TimeoutError` is raised.
        """
        search = _Sets(self, prices, stop)
        best = Chosen(frozenset(), 0, 0)
        while search.left and search.steps < most:
            found = search.step(best.reduced + 1)
            if found is not None:
                best = found
        return max([best.reduced, *(one.bound for one in search.left)]), best

    def within(
        self, prices: Sequence[int], least: int, most: int, stop: float = inf
    ) -> list[Chosen] | None:
        """Return all sets worth so much at least, less what they pay; None after `most` steps."""
        search, found = _Sets(self, prices, stop), []
        while search.left:
            if search.steps >= most:
                return None
            one = search.step(least)
            if one is not None:
                found.append(one)
        return found

    def shares(self, jobs: frozenset[int]) -> dict[int, tuple[int, int]]:
        """Return a set of parts that fits, with the shares that are worth most, on machine 0."""
        np = self.numpy
        own = [[i for i in kind if i in jobs] for kind in self.own]
        tables = [
            self.backwards(own[k], np.zeros(self.rooms[k] + 1, dtype=np.int64), self.worths, True)
            for k in (1, 2)
        ]
        size = self.rooms[0] + 1
        follow = tables[0][0][:size] + tables[1][0][:size]
        tables.insert(0, self.backwards(own[0], follow, self.worths, True))
        held: dict[int, tuple[int, int]] = {}
        taken = 0
        for k, (kind, table) in enumerate(zip(own, tables, strict=True)):
            used = 0 if k == 0 else taken
            for i, rest in zip(kind, table[1:], strict=True):
                values = self.worths[i][: len(rest) - used] + rest[used:]
                units = int(values.argmax())
                held[i] = 0, units
                used += units
            taken = used if k == 0 else taken
        return held

    def backwards(
        self, jobs: Sequence[int], last: Any, values: dict[int, Any], all_of_them: bool = False
    ) -> list[Any]:
        """Return what follows each job is worth, by the units that are taken before it."""
        tables = [last]
        for i in reversed(jobs):
            rest = tables[-1]
            taken = self.added(i, rest[::-1], values[i])[::-1]
            tables.append(taken if all_of_them else self.numpy.maximum(rest, taken))
        tables.reverse()
        return tables

    def added(self, i: int, before: Any, value: Any) -> Any:
        """Return what is worth most with a job in addition, by the units of a table."""
        np, size = self.numpy, len(before)
        if size not in self.padded:
            padded = np.full(2 * size - 1, _NONE, dtype=np.int64)
            self.padded[size] = padded, np.lib.stride_tricks.sliding_window_view(padded, size)
        padded, windows = self.padded[size]
        low, high = self.ends[i]
        some = value[low : min(high + 1, size)][::-1]
        padded[size - 1 :] = before
        last = size - low  # the window that ends there is `before`, later by the least share
        sums = windows[last - len(some) : last] + some[:, None]
        return np.maximum.reduce(sums, axis=0, initial=_NONE)


class _Sets:
    """The sets of parts of a machine with prices, part by part.

    Notes
    -----
    First the parts at both instants are decided: `state` is what they are worth if they take
    exactly so many units. Then those at the first one: to what is taken of it at the start belongs
    the best that can follow at the second. Then those at the second, given what the chosen ones are
    worth at the first. With each state goes the best that can follow for as many units, so the best
    sum bounds all sets that continue it; where no parts are kept together or apart one attains it.
    """

    def __init__(self, machine: Knapsacks, prices: Sequence[int], stop: float) -> None:
        np = machine.numpy
        self.machine, self.prices, self.stop, self.steps = machine, prices, stop, 0
        self.values = {
            i: np.maximum(worth - int(prices[i]), _NONE) for i, worth in machine.worths.items()
        }
        self.nothing = [np.zeros(room + 1, dtype=np.int64) for room in machine.rooms]
        single = [machine.backwards(machine.own[k], self.nothing[k], self.values) for k in (1, 2)]
        self.size = machine.rooms[0] + 1
        follow = single[0][0][: self.size] + single[1][0][: self.size]
        self.after = [machine.backwards(machine.own[0], follow, self.values), *single]
        state = np.full(self.size, _NONE, dtype=np.int64)
        state[0] = 0
        self.left = [self._reached(0, 0, state, None, frozenset())]

    def step(self, least: int) -> Chosen | None:
        """Decide about one part more; return a set if it is one whose parts are all decided."""
        self.steps += 1
        if self.steps % _OFTEN == 0 and time.monotonic() > self.stop:
            raise TimeoutError
        one = self.left.pop()
        if one.bound < least:
            return None
        if one.next == len(self.machine.own[one.stage]):
            if one.stage == 2:
                paid = sum(self.prices[i] for i in one.jobs)
                return Chosen(one.jobs, one.bound, one.bound + paid)
            self.left.append(self._turned(one))
        else:
            fresh = [child for child in self._decided(one) if child.bound >= least]
            self.left += sorted(fresh, key=lambda child: child.bound)
        return None

    def _decided(self, one: _Step) -> Iterator[_Step]:
        """Yield the next part left out, and taken, as far as they are allowed."""
        i = self.machine.own[one.stage][one.next]
        may = {True, False}
        for other, together in self.machine.partners[i]:
            place = self.machine.place.get(other)
            there = other in one.jobs
            if place is None or place < (one.stage, one.next):
                may &= {there} if together else {False} if there else {True, False}
        if False in may:
            yield self._reached(one.stage, one.next + 1, one.state, one.both, one.jobs)
        if True in may:
            state = self.machine.added(i, one.state, self.values[i])
            yield self._reached(one.stage, one.next + 1, state, one.both, one.jobs | {i})

    def _turned(self, one: _Step) -> _Step:
        """Return the same at the next knapsack."""
        np, machine, stage = self.machine.numpy, self.machine, one.stage + 1
        both = one.state if stage == 1 else one.both
        state = np.full(machine.rooms[stage] + 1, _NONE, dtype=np.int64)
        if stage == 1:
            beside = self.after[2][0]
        else:
            chosen = [i for i in machine.own[1] if i in one.jobs]
            beside = machine.backwards(chosen, self.nothing[1], self.values, True)[0]
        state[: self.size] = np.maximum(both + beside[: self.size], _NONE)
        return self._reached(stage, 0, state, both, one.jobs)

    def _reached(self, stage: int, at: int, state: Any, both: Any, jobs: frozenset[int]) -> _Step:
        bound = int((state + self.after[stage][at]).max())
        return _Step(bound, stage, at, state, both, jobs)
