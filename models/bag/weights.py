"""A bound of the makespan by weights of machines: the linear relaxation, proven by its dual.

Let no machine end after C. For a machine k and an instant a that C is not before, all jobs there
that arrive at a or later take no more than C - a. Weigh these rows, with weights that add up to 1:
C is at least the weighted sum of the instants and, for every job, the least of its weighted
lengths over the machines that can run it. The best weights are the dual solution of the linear
program in which jobs may be split; any weights give a bound. So those of a floating-point solver
are rounded to whole numbers, and what they prove is added up without rounding.

Source: the relaxation of R||Cmax in Lenstra, Shmoys and Tardos 1990; the rows by arrivals and the
proof are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf
from typing import Any

from dlopt.backends.highs import LinearSolver, Relaxed
from dlopt.backends.linear_program import LinearProgram
from dlopt.models.bag.case import Case, Window
from dlopt.result import Status

_STARTS = 12
"""Instants a machine at the most: rows that are left out make the bound no less sound."""
_DIGITS = 2**53
_CHEAPEST = 4
"""Machines of each job that the first linear program knows."""
_CARE = 1e-12


@dataclass(frozen=True)
class Weighed:
    """A bound, and what proves it.

    Parameters
    ----------
    bound : Fraction
        In units of time: no plan ends before. A whole number if times are whole.
    shares : dict of (int, int) to float
        How the relaxation splits jobs over machines.
    total, unit : int
        The bound of the weights is the one over the other.
    weighted : list of list of (int or None), shape (jobs, machines)
        What each job on each machine adds to `total`.
    rounds : int
        Linear programs that were solved.
    version : str
        Of HiGHS.
    """

    bound: Fraction
    shares: dict[tuple[int, int], float]
    total: int
    unit: int
    weighted: list[list[int | None]]
    rounds: int
    version: str

    def useful(self, job: int, makespan: int) -> set[int]:
        """Return where a job may run in a plan that ends no later: the bound excludes the rest."""
        row = self.weighted[job]
        least = min(w for w in row if w is not None)
        room = makespan * self.unit - self.total
        return {k for k, w in enumerate(row) if w is not None and w - least <= room}


def lightest(case: Case, seed: int = 0, stop: float = inf) -> Weighed:
    """Bound the makespan of all plans.

    Parameters
    ----------
    case : Case
        Of the objective ``makespan``.
    seed : int
    stop : float
        Instant of the monotonic clock at which the solver is broken off; what the weights prove
        by then is returned.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> case = Case.of(Instance(etc=((2, 4), (2, 4), (2, 4))), "makespan")
    >>> found = lightest(case)
    >>> found.bound, round(found.total / found.unit, 9)
    (Fraction(4, 1), 4.0)
    """
    return _Weighing(case, seed, stop).run()


class _Weighing:
    """Linear programs over more and more pairs of a job and a machine."""

    def __init__(self, case: Case, seed: int, stop: float) -> None:
        import numpy as np

        self.np, self.case, self.seed, self.stop = np, case, seed, stop
        lengths: list[list[float]] = [
            [inf if length is None else float(length) for length in row] for row in case.lengths
        ]
        self.lengths = np.array(lengths)
        self.able = np.isfinite(self.lengths)
        self.unit = max(float(self.lengths.min(axis=1).sum()) / len(case.machines), 1.0) / 1000
        self.rows: list[tuple[int, Window]] = [
            (k, tail) for k in case.machines if case.able[k] for tail in case.tails(k, _STARTS)
        ]

    def run(self) -> Weighed:
        np = self.np
        weights = self._even()
        known = np.zeros_like(self.able)
        shares: dict[tuple[int, int], float] = {}
        rounds, version = 0, ""
        while True:
            cheap = self._weighted(weights)
            fresh = self._worth_adding(cheap, known) & ~known
            if rounds and not fresh.any():
                break
            known |= fresh
            pairs = [(int(i), int(k)) for i, k in zip(*np.nonzero(known), strict=True)]
            solver = LinearSolver(self._program(pairs), self.seed, self.stop)
            found, version, rounds = solver.solve(), solver.version, rounds + 1
            if found.status is not Status.OPTIMAL:
                break
            shares = dict(zip(pairs, found.point, strict=False))
            weights = self._weights(found)
        return self._proven(weights, shares, rounds, version)

    def _even(self) -> Any:
        """Return weights to begin with: of one row a machine, less for slow ones."""
        np = self.np
        weights, first = np.zeros(len(self.rows)), set()
        for r, (k, _) in enumerate(self.rows):
            if k not in first:
                first.add(k)
                weights[r] = 1 / self.lengths[self.able[:, k], k].mean()
        return weights / weights.sum()

    def _weighted(self, weights: Any) -> Any:
        """Return what each job adds on each machine, infinite where it cannot run."""
        np = self.np
        factors = np.zeros_like(self.lengths)
        for weight, (k, tail) in zip(weights, self.rows, strict=True):
            factors[list(tail.jobs), k] += weight
        weighted = np.full_like(self.lengths, inf)
        weighted[self.able] = (factors * np.where(self.able, self.lengths, 0))[self.able]
        return weighted

    def _worth_adding(self, weighted: Any, known: Any) -> Any:
        """Tell which pairs are cheaper than those that are known; at first the cheapest few."""
        np = self.np
        if not known.any():
            few = min(_CHEAPEST, weighted.shape[1])
            nth = np.partition(weighted, few - 1, axis=1)[:, few - 1 : few]
            return (weighted <= nth) & self.able
        least = np.where(known, weighted, inf).min(axis=1, keepdims=True)
        return (weighted < least * (1 - _CARE)) & self.able

    def _program(self, pairs: Sequence[tuple[int, int]]) -> LinearProgram:
        count, jobs = len(pairs), len(self.case.jobs)
        place: dict[int, list[tuple[int, int]]] = {}
        for r, (k, tail) in enumerate(self.rows):
            for job in tail.jobs:
                place.setdefault(job, []).append((k, jobs + r))
        rows: list[list[tuple[int, Any]]] = [[] for _ in range(jobs + len(self.rows))]
        for column, (job, machine) in enumerate(pairs):
            rows[job].append((column, 1))
            length = float(self.lengths[job, machine]) / self.unit
            for k, r in place[job]:
                if k == machine:
                    rows[r].append((column, length))
        for r in range(jobs, len(rows)):
            rows[r].append((count, -1))
        starts: list[Any] = [-tail.start / self.unit for _, tail in self.rows]
        one: Any = (1, 1)
        return LinearProgram(
            count + 1,
            (*(Fraction(0),) * count, Fraction(1)),
            tuple(map(tuple, rows)),
            ((one,) * jobs) + tuple((None, start) for start in starts),
            (((Fraction(0), None),) * (count + 1)),
        )

    def _weights(self, found: Relaxed) -> Any:
        """Return the weights of rows that a solution gives, none negative, adding up to 1."""
        np = self.np
        prices = np.array(found.multipliers)[len(self.case.jobs) :]
        weights = np.maximum(-prices, 0)
        return weights / weights.sum() if weights.sum() > 0 else self._even()

    def _proven(
        self, floats: Any, shares: dict[tuple[int, int], float], rounds: int, version: str
    ) -> Weighed:
        """Add up in whole numbers what weights prove."""
        case = self.case
        weights = [int(weight * _DIGITS) for weight in floats]
        unit = sum(weights)
        factors = [[0] * len(case.machines) for _ in case.jobs]
        total = 0
        for weight, (k, tail) in zip(weights, self.rows, strict=True):
            total += weight * tail.start
            for job in tail.jobs if weight else ():
                factors[job][k] += weight
        weighted = [
            [None if length is None else length * factor for length, factor in pairs]
            for pairs in map(zip, case.lengths, factors)
        ]
        total += sum(min(w for w in row if w is not None) for row in weighted)
        bound = max(Fraction(total, unit), Fraction(case.longest))
        if case.whole:
            bound = Fraction(ceil(bound))
        return Weighed(bound, shares, total, unit, weighted, rounds, version)
