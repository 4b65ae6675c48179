"""A bound by slices of time: a linear program over when jobs start on which machine.

Let ``X[i, p, t]`` say that job `i` has started on machine `p` by instant `t`. Every job starts
somewhere within its time; a job that has started by `t` has its data, so all that sends to it have
started long enough before, on whichever machine they are; and a machine runs one job in each
slice. If no fractional `X` does that by an instant, no plan is done by it. Unlike the work in
single intervals, this sees at once where jobs run, when, and what they wait for.

Source: programs over the start of each job, as Pritsker, Watters and Wolfe 1969 have them; rows by
machines of arrival, and the proof in integers, are ours.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import inf

import numpy as np
from numpy.typing import NDArray

from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import LinearProgram
from dlopt.models.dag.heads_and_tails import NEVER, Ints, Windows
from dlopt.models.dag.scaled_instance import Arc, Case
from dlopt.result import Status

_LARGE = 200_000
"""Terms of a program, roughly, up to which it is soon solved."""
_SUBSETS = 5
"""Machines up to which rows for any of them together are looked for."""
_VIOLATED, _CLOSE = 0.01, 0.98
"""By how much such a row must be violated, and from which stretch on one is sought."""
_FINE, _ROOM = 2**30, 2**60
"""What 1 is among the integers that stand for multipliers, unless sums of them would be beyond."""
_TESTS, _STEP = 8, 0.04
"""Instants that are tried to be refuted, and how much later the next may be."""
_SIGNS = {sign: Fraction(sign) for sign in (-1, 1)}
_SHARE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Trial:
    """What is known of an instant by which everything should be done.

    Parameters
    ----------
    refuted : bool
        No plan is done by it: checked in integers.
    stretch : float
        How many jobs a machine would have to run at a time, and how many would have to be left
        out; above 1 in all that is refuted.
    """

    refuted: bool
    stretch: float


def sliced_bound(
    case: Case, windows: Windows, least: int, most: int, stop: float = inf, seed: int = 0
) -> int:
    """Bound when all jobs are done.

    Parameters
    ----------
    case : Case
    windows : Windows
    least : int
        A bound that is known.
    most : int
        A makespan that is known.
    stop : float
        Instant of the monotonic clock at which the search ends.
    seed : int

    Returns
    -------
    int
        `least` or more, and `most` at the most. `least` where the program would be too large: its
        size grows with the number of units of time in which jobs can start.

    Raises
    ------
    SolverError
        If HiGHS is missing.

    Notes
    -----
    The multipliers of the linear program, rounded to integers, prove the bound by one weighted sum
    of its rows, whatever the solver's own accuracy. Complexity: a few linear programs of
    O(jobs x machines x window) columns and O((jobs + arcs) x machines x window) rows.

    Examples
    --------
    >>> from dlopt.models.dag.heads_and_tails import windows_of
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> tasks = (Task("a", costs=(1, 3)), Task("b", costs=(3, 3)), Task("c", costs=(3, 3)))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=2), Edge(0, 2, data=2)))
    >>> case = Case.of(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> sliced_bound(case, windows_of(case), 4, 9)
    6
    """
    low, high = least, most  # nothing is done before `low`; `high` is not refuted
    before = after = 0.0  # how far stretches are from 1, at low - 1 and at high
    guess = low
    for _ in range(_TESTS):
        program = Slices(case, windows, guess)
        if low >= high or program.large or time.monotonic() > stop:
            break
        trial = program.tried(stop, seed)
        if trial is None:
            break
        if trial.refuted:
            low, before = guess + 1, max(trial.stretch - 1, 0.0)
        else:
            high, after = guess, max(1 - trial.stretch, 0.0)
        guess = _next(low, high, most, before, after)
    return low


def _next(low: int, high: int, most: int, before: float, after: float) -> int:
    """Return the instant to try next: where the stretch should come down to 1."""
    if high == most:  # nothing was tried that is not refuted
        step = (low - 1) * min(before, _STEP)
    else:
        step = (high - low + 1) * (before / (before + after) if before + after else 0.5)
    return min(max(low, low - 1 + int(step)), high - 1)


@dataclass
class Rows:
    """Rows whose terms are columns, added or taken away; none is above 0.

    Attributes
    ----------
    count : int
        How many there are.
    terms : list of (array, array, array)
        Rows, columns and signs.
    """

    count: int = 0
    terms: list[tuple[Ints, Ints, Ints]] = field(default_factory=list)

    def add(self, rows: Ints, columns: Ints, sign: int) -> None:
        """Add a term to each of some rows behind those that are there; no column is below 0."""
        known = columns >= 0
        signs = np.full(int(known.sum()), sign, dtype=np.int64)
        self.terms.append((self.count + rows[known], columns[known], signs))

    def take(self, other: Rows, point: Sequence[float]) -> bool:
        """Take over the rows of another that a point violates; tell whether there are any."""
        at, columns, signs = other.all
        level = np.bincount(at, np.array(point)[columns] * signs, minlength=other.count)
        broken = level > _VIOLATED
        kept = broken[at]
        places = self.count + broken.cumsum() - 1
        self.terms.append((places[at[kept]], columns[kept], signs[kept]))
        self.count += int(broken.sum())
        return bool(broken.any())

    @property
    def all(self) -> tuple[Ints, Ints, Ints]:
        """Rows, columns and signs of all terms."""
        rows, columns, signs = (np.concatenate(parts) for parts in zip(*self.terms, strict=True))
        return rows, columns, signs


class Slices:
    """The program for an instant.

    Parameters
    ----------
    case : Case
    windows : Windows
    end : int

    Attributes
    ----------
    columns : int
        One for each start; column `first` + k says that a job has started on a machine by its
        head there + k. The next is how many jobs a machine runs at a time, and the last is
        which share of each job is left out.
    """

    def __init__(self, case: Case, windows: Windows, end: int) -> None:
        self.case, self.end = case, end
        self.costs, self.heads = windows.costs, windows.heads
        self.last: Ints = end - windows.tails - windows.costs
        self.able = (self.heads <= self.last) & (self.costs < NEVER)
        self.lengths = np.where(self.able, self.last - self.heads + 1, 0).ravel()
        self.columns = int(self.lengths.sum())
        self.first = (self.lengths.cumsum() - self.lengths).reshape(self.able.shape)

    @property
    def large(self) -> bool:
        """Whether the program would take too long."""
        jobs, machines = self.able.shape
        terms = self.columns * (2 + len(self.case.arcs) * (machines + 1) / jobs)
        return bool(terms > _LARGE)

    def tried(self, stop: float = inf, seed: int = 0) -> Trial | None:
        """Return whether everything can be done by the instant; None if time is up before."""
        if not self.able.any(axis=1).all():
            return Trial(True, 1.0)
        rows = self._rows()
        trial, point = self._solved(rows, stop, seed)
        if trial is None or trial.refuted or trial.stretch < _CLOSE:
            return trial
        if rows.take(self._subsets(), point):
            again, _ = self._solved(rows, stop, seed)
            trial = again or trial
        return trial

    def _solved(self, rows: Rows, stop: float, seed: int) -> tuple[Trial | None, Sequence[float]]:
        found = LinearSolver(self._program(rows), seed, stop, interior=True).solve()
        if found.status is not Status.OPTIMAL:
            return None, ()
        refuted = self._refuted(rows, -np.array(found.multipliers[: rows.count]))
        stretch = found.point[-2] + len(self.able) * found.point[-1]
        return Trial(refuted, stretch), found.point

    def _rows(self) -> Rows:
        """Return what machines can run, and what jobs wait for on any machine, and on each."""
        rows = Rows()
        for place in range(self.case.machines):
            self._add_machine(rows, place)
        for arc in self.case.arcs:
            places = np.flatnonzero(self.able[arc.target])
            self._add_arc(rows, arc, places)
            for single in places[:, None] if len(places) > 1 else ():
                self._add_arc(rows, arc, single)
        return rows

    def _subsets(self) -> Rows:
        """Return what jobs wait for on some machines, but not on one alone, and not on all."""
        rows = Rows(terms=[(np.zeros(0, dtype=np.int64),) * 3])
        for arc in self.case.arcs if self.case.machines <= _SUBSETS else ():
            places = np.flatnonzero(self.able[arc.target])
            for size in range(2, len(places)):
                for some in combinations(places, size):
                    self._add_arc(rows, arc, np.array(some))
        return rows

    def _by(self, job: int, place: int, instants: Ints) -> Ints:
        """Return the columns that say that a job has started by some instants; -1 for never."""
        since = np.minimum(instants, self.last[job, place]) - self.heads[job, place]
        columns: Ints = np.where(since >= 0, self.first[job, place] + since, -1)
        return columns

    def _add_machine(self, rows: Rows, place: int) -> None:
        """In a slice a machine runs what has started, less what has ended: one job, stretched."""
        slices = np.arange(self.end)
        for job in np.flatnonzero(self.able[:, place] & (self.costs[:, place] > 0)).tolist():
            started = self._by(job, place, slices)
            ended = self._by(job, place, slices - self.costs[job, place])
            runs = started != ended
            rows.add(slices[runs], started[runs], 1)
            rows.add(slices[runs], ended[runs], -1)
        rows.add(slices, np.full(self.end, self.columns), -1)
        rows.count += self.end

    def _add_arc(self, rows: Rows, arc: Arc, places: Ints) -> None:
        """If a job has started on one of some machines, a source of it has ended before."""
        source, target = arc.source, arc.target
        first, last = self.heads[target, places].min(), self.last[target, places].max()
        from_ = np.flatnonzero(self.able[source])
        kinds = np.array(self.case.kinds)[np.ix_(from_, places)]
        before = self.costs[source, from_] + np.array(arc.sends)[kinds].min(axis=1)
        always = int((self.last[source, from_] + before).max())  # then it has ended in any case
        instants = np.arange(int(first), min(int(last) + 1, always))
        count = np.arange(len(instants))
        for place in places.tolist():
            rows.add(count, self._by(target, place, instants), 1)
        for place, long in zip(from_.tolist(), before, strict=True):
            rows.add(count, self._by(source, place, instants - long), -1)
        rows.count += len(instants)

    def _program(self, rows: Rows) -> LinearProgram:
        """Return the program: the least stretch. There always is one, if jobs are left out."""
        terms: list[list[tuple[int, Fraction]]] = [[] for _ in range(rows.count)]
        for row, column, sign in zip(*(part.tolist() for part in rows.all), strict=True):
            terms[row].append((column, _SIGNS[sign]))
        sides: list[tuple[Fraction | None, Fraction | None]] = [(None, _SHARE[0])] * rows.count
        ends = self.first.ravel() + self.lengths
        for start, end in zip(self.first.ravel().tolist(), ends.tolist(), strict=True):
            for column in range(start, end - 1):  # what has started stays so
                terms.append([(column, _SIGNS[1]), (column + 1, _SIGNS[-1])])
                sides.append((None, _SHARE[0]))
        for job, places in enumerate(self.able):
            last = self.first[job, places] + self.lengths.reshape(self.able.shape)[job, places] - 1
            done = [*last.tolist(), self.columns + 1]
            terms.append([(column, _SIGNS[1]) for column in done])
            sides.append((_SHARE[1], _SHARE[1]))
        costs = (_SHARE[0],) * self.columns + (_SHARE[1], Fraction(len(self.able)))
        bounds = (_SHARE,) * self.columns + ((_SHARE[0], None), _SHARE)
        return LinearProgram(len(costs), costs, tuple(map(tuple, terms)), tuple(sides), bounds)

    def _refuted(self, rows: Rows, multipliers: NDArray[np.float64]) -> bool:
        """Tell whether a weighted sum of rows proves that not all can be done, in integers.

        In a plan no row is above 0 if the stretch is 1. The sum is of what each job adds, which is
        no less than what its cheapest start does, less the prices of slices.
        """
        at, columns, signs = rows.all
        weights = np.maximum(multipliers, 0)
        fine = min(_FINE, _ROOM / max(weights[at].sum(), 1))
        prices = (weights * fine).astype(np.int64)
        sums = np.zeros(self.columns + 1, dtype=np.int64)
        np.add.at(sums, columns, prices[at] * signs)
        room = -int(sums[-1])
        # A job that starts at t has started by all instants from t on.
        left = np.append(sums[:-1][::-1].cumsum()[::-1], 0)
        ends = self.first + self.lengths.reshape(self.able.shape)
        least = 0
        for job, places in enumerate(self.able):
            blocks = zip(self.first[job, places], ends[job, places], strict=True)
            least += min(int((left[start:end] - left[end]).min()) for start, end in blocks)
        return least > room
