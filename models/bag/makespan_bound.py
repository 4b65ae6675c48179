"""A bound of the makespan by weights of machines: the linear relaxation, proven by its dual.

Let no machine end after C. For a machine k and an instant a, all jobs there that arrive at a or
later take no more than max(0, C - a). Weigh these rows, with weights w >= 0: the sum over jobs of
the least of their weighted lengths, over the machines that can run them, is no more than
sum_r w_r max(0, C - a_r). The least C of which this holds is a bound, whatever the weights. Good
ones are the dual solution of the linear program in which jobs may be split; there, max(0, C - a)
is C - min(a, B), with B for the longest task alone. The weights of a floating-point solver are
rounded to whole numbers, and what they prove is added up without rounding.

Source: the relaxation of R||Cmax in Lenstra, Shmoys and Tardos 1990; the rows by arrivals and the
proof are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf
from typing import Any

from dlopt.backends.highs import LinearSolver, LpSolution
from dlopt.backends.linear_program import LinearProgram
from dlopt.models.bag.scaled_instance import Case, Window
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
    least : int
        What all jobs add at the least, in weighted lengths.
    heads : list of (int, int)
        Instants and their weights.
    weighted : list of list of (int or None), shape (jobs, machines)
        What each job adds on each machine.
    rounds : int
        Linear programs that were solved.
    version : str
        Of HiGHS.
    """

    bound: Fraction
    shares: dict[tuple[int, int], float]
    least: int
    heads: list[tuple[int, int]]
    weighted: list[list[int | None]]
    rounds: int
    version: str

    def useful(self, job: int, makespan: int) -> set[int]:
        """Return where a job may run in a plan that ends no later: the bound excludes the rest."""
        row = self.weighted[job]
        least = min(w for w in row if w is not None)
        room = sum(weight * max(0, makespan - head) for head, weight in self.heads) - self.least
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
    >>> found.bound, len(found.heads)
    (Fraction(4, 1), 2)

    A machine that is ready too late is of no use, and does no harm:

    >>> from dlopt.problems.bag import Machine, Task
    >>> late = Instance((Task("t", 1),), (Machine("m"), Machine("n", ready=3)))
    >>> lightest(Case.of(late, "makespan")).bound
    Fraction(1, 1)
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
            (k, tail)
            for k in case.machines
            if case.able[k]
            for tail in case.tails(k, case.horizon, _STARTS)
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
                average = self.lengths[self.able[:, k], k].mean()
                weights[r] = 1 / average if average else 0
        total = weights.sum()
        return weights / total if total else np.full_like(weights, 1 / len(weights))

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
        starts: list[Any] = [
            -min(tail.start, self.case.longest) / self.unit for _, tail in self.rows
        ]
        one: Any = (1, 1)
        return LinearProgram(
            count + 1,
            (*(Fraction(0),) * count, Fraction(1)),
            tuple(map(tuple, rows)),
            ((one,) * jobs) + tuple((None, start) for start in starts),
            (((Fraction(0), None),) * (count + 1)),
        )

    def _weights(self, found: LpSolution) -> Any:
        """Return the weights of rows that a solution gives, none negative, adding up to 1."""
        np = self.np
        prices = np.array(found.multipliers)[len(self.case.jobs) :]
        weights = np.maximum(-prices, 0)
        total = weights.sum()
        return weights / total if 0 < total < inf else self._even()

    def _proven(
        self, floats: Any, shares: dict[tuple[int, int], float], rounds: int, version: str
    ) -> Weighed:
        """Add up in whole numbers what weights prove."""
        case = self.case
        weights = [int(weight * _DIGITS) for weight in floats]
        factors = [[0] * len(case.machines) for _ in case.jobs]
        heads = []
        for weight, (k, tail) in zip(weights, self.rows, strict=True):
            if weight:
                heads.append((tail.start, weight))
                for job in tail.jobs:
                    factors[job][k] += weight
        weighted = [
            [None if length is None else length * factor for length, factor in pairs]
            for pairs in map(zip, case.lengths, factors)
        ]
        least = sum(min(w for w in row if w is not None) for row in weighted)
        bound = max(_earliest(least, heads), Fraction(case.longest))
        if case.whole:
            bound = Fraction(ceil(bound))
        return Weighed(bound, shares, least, heads, weighted, rounds, version)


def _earliest(least: int, heads: Sequence[tuple[int, int]]) -> Fraction:
    """Return the first instant by which machines have worked so much in weighted lengths.

    Examples
    --------
    >>> _earliest(3, [(0, 1), (9, 5)]), _earliest(15, [(9, 5), (0, 1)]), _earliest(0, [(9, 5)])
    (Fraction(3, 1), Fraction(10, 1), Fraction(0, 1))
    """
    if not least:
        return Fraction(0)
    total, unit = least, 0
    for head, weight in sorted(heads):
        if unit and total <= head * unit:
            break
        total, unit = total + weight * head, unit + weight
    return Fraction(total, unit)
