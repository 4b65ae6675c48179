"""Makespan bound by the linear relaxation of R||Cmax with arrivals, certified by its dual.

With `x_jk` the share of job `j` on machine `k`, `p_jk` processing times and `a_jk` arrivals::

    minimise    C
    subject to  sum_k x_jk = 1                                       jobs j
                sum_{j: a_jk >= a} p_jk x_jk <= C - min(a, B)        machines k, instants a
                x_jk >= 0,  C >= 0

where `B` is the longest job, a lower bound of `C`: so ``max(0, C - a)``, the time of machine `k`
after `a`, is at most ``C - min(a, B)``. Columns `x_jk` are generated: first those of the machines
on which a job has the least weighted times, then those with negative reduced cost.

The certificate: give each constraint (k, a) a weight ``w >= 0``. If a schedule has makespan `C`,
then the sum over jobs of the least of their weighted processing times, over the machines that can
run them, is at most ``sum_r w_r max(0, C - a_r)``. The least `C` of which this holds is a lower
bound, whatever the weights. The dual solution of the linear program gives good ones; they are
rounded to integers, and everything is then computed without rounding.

The weights also fix variables by reduced cost: a job cannot run on a machine, in a schedule of
makespan `C`, if its weighted time there exceeds its least one by more than the two sides differ.

Source: the relaxation of R||Cmax in Lenstra, Shmoys and Tardos 1990; constraints over arrivals and
the certificate are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf
from typing import Any

from dlopt.backends.highs import LinearSolver, LpSolution
from dlopt.backends.linear_program import LinearProgram
from dlopt.models.bag.scaled_instance import ScaledInstance, TimeWindow
from dlopt.result import Status

MAX_INSTANTS_PER_MACHINE = 12
"""Instants `a` of a machine at most; fewer constraints give a weaker bound that still holds. Chosen
by hand: it trades time for the sharpness of the bound."""
WEIGHT_SCALE = 2**53
"""The integer that stands for a weight of 1: the precision of floats."""
INITIAL_MACHINES_PER_JOB = 4
"""Machines of each job in the first linear program. Chosen by hand: fewer need more rounds of
column generation, more make each of them slower."""
REDUCED_COST_TOLERANCE = 1e-12
"""Relative reduced cost from which on a column is generated: the rounding of floats."""


@dataclass(frozen=True)
class MakespanDualBound:
    """A lower bound of the makespan with its certificate.

    Parameters
    ----------
    bound : Fraction
        In scaled units; an integer if times are exactly scaled.
    shares : dict of (int, int) to float
        The primal solution: how the relaxation splits jobs over machines.
    least_weighted_work : int
        The sum over jobs of their least weighted processing times.
    weighted_instants : list of (int, int)
        Instants of constraints and their weights.
    weighted_machines : list of int
        The machines of these constraints.
    weighted_times : list of list of (int or None), shape (jobs, machines)
        The weighted processing time of each job on each machine.
    """

    bound: Fraction
    shares: dict[tuple[int, int], float]
    least_weighted_work: int
    weighted_instants: list[tuple[int, int]]
    weighted_machines: list[int]
    weighted_times: list[list[int | None]]

    def machines_within_gap(self, job: int, makespan: int) -> set[int]:
        """Return the machines of a job that reduced costs do not exclude for a makespan."""
        row = self.weighted_times[job]
        least = min(time for time in row if time is not None)
        capacity = sum(
            weight * max(0, makespan - instant) for instant, weight in self.weighted_instants
        )
        gap = capacity - self.least_weighted_work
        return {k for k, time in enumerate(row) if time is not None and time - least <= gap}


def bound_makespan(scaled: ScaledInstance, seed: int = 0, stop: float = inf) -> MakespanDualBound:
    """Bound the makespan of all schedules.

    Parameters
    ----------
    scaled : ScaledInstance
        Of the objective ``makespan``.
    seed : int
    stop : float
        Instant of the monotonic clock at which the solver is stopped; the bound of the last weights
        is then returned.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> instance = Instance(etc=((1, 2), (1, 2), (1, 2)))
    >>> result = bound_makespan(ScaledInstance.from_instance(instance, "makespan"))
    >>> result.bound, len(result.weighted_instants)
    (Fraction(2, 1), 2)

    A machine that is ready too late neither helps nor weakens the bound:

    >>> from dlopt.problems.bag import Machine, Task
    >>> late = Instance((Task("t", 1),), (Machine("m"), Machine("n", ready=3)))
    >>> bound_makespan(ScaledInstance.from_instance(late, "makespan")).bound
    Fraction(1, 1)
    """
    return _ColumnGeneration(scaled, seed, stop).run()


class _ColumnGeneration:
    """Solves the relaxation by column generation, and certifies the bound of its dual."""

    def __init__(self, scaled: ScaledInstance, seed: int, stop: float) -> None:
        import numpy as np

        self.np, self.scaled, self.seed, self.stop = np, scaled, seed, stop
        times: list[list[float]] = [
            [inf if time is None else float(time) for time in row]
            for row in scaled.processing_times
        ]
        self.times = np.array(times)
        self.eligible = np.isfinite(self.times)
        mean_load = float(self.times.min(axis=1).sum()) / len(scaled.machines)
        self.unit = max(mean_load, 1.0) / 1000
        self.rows: list[tuple[int, TimeWindow]] = [
            (k, tail)
            for k in scaled.machines
            if scaled.eligible_jobs[k]
            for tail in scaled.arrival_tails(k, scaled.horizon, MAX_INSTANTS_PER_MACHINE)
        ]

    def run(self) -> MakespanDualBound:
        np = self.np
        weights = self._initial_weights()
        generated = np.zeros_like(self.eligible)
        shares: dict[tuple[int, int], float] = {}
        while True:
            weighted_times = self._weighted_times(weights)
            new = self._improving_columns(weighted_times, generated) & ~generated
            if not new.any():
                break
            generated |= new
            pairs = [(int(i), int(k)) for i, k in zip(*np.nonzero(generated), strict=True)]
            relaxed = LinearSolver(self._restricted_master(pairs), self.seed, self.stop).solve()
            if relaxed.status is not Status.OPTIMAL:
                break
            shares = dict(zip(pairs, relaxed.point, strict=False))
            weights = self._weights_from_duals(relaxed)
        return self._certify(weights, shares)

    def _initial_weights(self) -> Any:
        """Return weights of the first constraint of each machine, inverse to its mean time."""
        np = self.np
        weights, seen = np.zeros(len(self.rows)), set()
        for r, (k, _) in enumerate(self.rows):
            if k not in seen:
                seen.add(k)
                mean = self.times[self.eligible[:, k], k].mean()
                weights[r] = 1 / mean if mean else 0
        total = weights.sum()
        return weights / total if total else np.full_like(weights, 1 / len(weights))

    def _weighted_times(self, weights: Any) -> Any:
        """Return the weighted time of each job on each machine, infinite where it cannot run."""
        np = self.np
        factors = np.zeros_like(self.times)
        for weight, (k, tail) in zip(weights, self.rows, strict=True):
            factors[list(tail.jobs), k] += weight
        weighted = np.full_like(self.times, inf)
        weighted[self.eligible] = (factors * np.where(self.eligible, self.times, 0))[self.eligible]
        return weighted

    def _improving_columns(self, weighted_times: Any, generated: Any) -> Any:
        """Return the columns of negative reduced cost; at first, the cheapest few of each job."""
        np = self.np
        if not generated.any():
            few = min(INITIAL_MACHINES_PER_JOB, weighted_times.shape[1])
            nth = np.partition(weighted_times, few - 1, axis=1)[:, few - 1 : few]
            return (weighted_times <= nth) & self.eligible
        least = np.where(generated, weighted_times, inf).min(axis=1, keepdims=True)
        return (weighted_times < least * (1 - REDUCED_COST_TOLERANCE)) & self.eligible

    def _restricted_master(self, pairs: Sequence[tuple[int, int]]) -> LinearProgram:
        """Return the linear program over the generated columns, and `C` as the last one."""
        count, jobs = len(pairs), len(self.scaled.jobs)
        rows_of_job: dict[int, list[tuple[int, int]]] = {}
        for r, (k, tail) in enumerate(self.rows):
            for job in tail.jobs:
                rows_of_job.setdefault(job, []).append((k, jobs + r))
        rows: list[list[tuple[int, Any]]] = [[] for _ in range(jobs + len(self.rows))]
        for column, (job, machine) in enumerate(pairs):
            rows[job].append((column, 1))
            time = float(self.times[job, machine]) / self.unit
            for k, r in rows_of_job[job]:
                if k == machine:
                    rows[r].append((column, time))
        for r in range(jobs, len(rows)):
            rows[r].append((count, -1))
        sides: list[Any] = [
            -min(tail.start, self.scaled.longest_job) / self.unit for _, tail in self.rows
        ]
        equals_one: Any = (1, 1)
        return LinearProgram(
            count + 1,
            (*(Fraction(0),) * count, Fraction(1)),
            tuple(map(tuple, rows)),
            ((equals_one,) * jobs) + tuple((None, side) for side in sides),
            (((Fraction(0), None),) * (count + 1)),
        )

    def _weights_from_duals(self, relaxed: LpSolution) -> Any:
        """Return the duals of machine constraints, none negative, scaled to a sum of 1."""
        np = self.np
        duals = np.array(relaxed.multipliers)[len(self.scaled.jobs) :]
        weights = np.maximum(-duals, 0)
        total = weights.sum()
        return weights / total if 0 < total < inf else self._initial_weights()

    def _certify(self, weights: Any, shares: dict[tuple[int, int], float]) -> MakespanDualBound:
        """Compute the bound of weights in integers."""
        scaled = self.scaled
        integers = [int(weight * WEIGHT_SCALE) for weight in weights]
        factors = [[0] * len(scaled.machines) for _ in scaled.jobs]
        weighted_instants, weighted_machines = [], []
        for weight, (k, tail) in zip(integers, self.rows, strict=True):
            if weight:
                weighted_instants.append((tail.start, weight))
                weighted_machines.append(k)
                for job in tail.jobs:
                    factors[job][k] += weight
        weighted_times = [
            [None if time is None else time * factor for time, factor in pairs]
            for pairs in map(zip, scaled.processing_times, factors)
        ]
        work = sum(min(time for time in row if time is not None) for row in weighted_times)
        bound = max(least_makespan(work, weighted_instants), Fraction(scaled.longest_job))
        if scaled.exactly_scaled:
            bound = Fraction(ceil(bound))
        return MakespanDualBound(
            bound, shares, work, weighted_instants, weighted_machines, weighted_times
        )


def least_makespan(work: int, weighted_instants: Sequence[tuple[int, int]]) -> Fraction:
    """Return the least C with ``work <= sum_r w_r max(0, C - a_r)``.

    Examples
    --------
    >>> least_makespan(3, [(0, 1), (9, 5)]), least_makespan(15, [(9, 5), (0, 1)])
    (Fraction(3, 1), Fraction(10, 1))
    >>> least_makespan(0, [(9, 5)])
    Fraction(0, 1)
    """
    if not work:
        return Fraction(0)
    total, slope = work, 0
    for instant, weight in sorted(weighted_instants):
        if slope and total <= instant * slope:
            break
        total, slope = total + weight * instant, slope + weight
    return Fraction(total, slope)
