"""Time-indexed linear program: a makespan bound from when jobs start on which machine.

For a trial makespan `T`, let ``X_jpt`` in [0, 1] be whether job `j` has started on machine `p` by
instant `t`, ``last_jp = T - tail_jp - c_jp`` its latest start, and ``Q`` a subset of machines::

    minimise    lambda + n e                                       n jobs
    subject to  sum_p X_{j,p,last_jp} + e = 1                      every job starts in its window
                X_{j,p,t} <= X_{j,p,t+1}                           what has started stays so
                sum_j (X_{j,p,t} - X_{j,p,t-c_jp}) <= lambda       machine p in time slot t
                sum_{q in Q} X_jqt <= sum_p X_{i,p,t-c_ip-t_ij(p,Q)}         arcs (i, j), all t
                0 <= X, e <= 1,  lambda >= 0

with ``t_ij(p, Q)`` the shortest transfer from `p` to a machine of `Q`. `lambda` is the number of
jobs that a machine runs at a time, and `e` the share of each job that is left out, which makes the
program feasible. A schedule of makespan `T` has lambda <= 1 and e = 0; so if the optimum is above
1, there is none. Unlike the energy of single intervals, the program decides where jobs run, when,
and what they wait for, at once. `Q` is each single machine and all machines, and any other subset
whose constraints the solution violates.

Infeasibility is certified in integers from rounded dual multipliers, so the accuracy of the solver
does not matter. Source: time-indexed formulations of Pritsker, Watters and Wolfe 1969; precedence
constraints over subsets of machines, and the certificate in integers, are ours.
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
from dlopt.models.dag.heads_and_tails import INFINITE, HeadsTails, Ints
from dlopt.models.dag.scaled_instance import Arc, ScaledInstance
from dlopt.result import Status

MAX_TERMS = 200_000
"""Estimated nonzero coefficients of a program above which it is not solved. Chosen by hand, for the
time of one linear program."""
MAX_MACHINES_FOR_SUBSETS = 5
"""Machines up to which constraints over all subsets of them are separated: their number doubles
with each machine. Chosen by hand."""
MIN_VIOLATION = 0.01
"""Violation from which on a constraint over a subset of machines is added. Chosen by hand."""
MIN_LOAD_FOR_SUBSETS = 0.98
"""Load factor from which on such constraints are separated: they hardly raise a lower one above 1.
Chosen by hand."""
MULTIPLIER_SCALE = 2**30
"""The integer that stands for a dual multiplier of 1."""
MAX_MULTIPLIER_SUM = 2**60
"""Bound of the sum of all integer multipliers, so that sums of them fit into 64-bit integers; the
scale is smaller where it would be exceeded."""
MAX_PROBES = 8
"""Trial makespans at most. Chosen by hand: it trades time for the sharpness of the bound."""
MAX_RELATIVE_STEP = 0.04
"""Largest relative step to the next trial makespan, as long as none was feasible. Chosen by hand.
"""

SIGNS = {sign: Fraction(sign) for sign in (-1, 1)}
ZERO = Fraction(0)
ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of the linear program for a trial makespan.

    Parameters
    ----------
    infeasible : bool
        Whether it is certified, in integers, that no schedule has the makespan.
    load_factor : float
        The optimum: how many jobs a machine would have to run at a time, plus how many jobs would
        have to be left out. Above 1 for all makespans that are infeasible.
    """

    infeasible: bool
    load_factor: float


def time_indexed_makespan_bound(
    scaled: ScaledInstance,
    heads_tails: HeadsTails,
    lower_bound: int,
    upper_bound: int,
    stop: float = inf,
    seed: int = 0,
) -> int:
    """Bound the makespan by linear programs over the starts of jobs.

    Parameters
    ----------
    scaled : ScaledInstance
    heads_tails : HeadsTails
    lower_bound : int
        A lower bound that is known.
    upper_bound : int
        A makespan that is known.
    stop : float
        Instant of the monotonic clock at which the search ends.
    seed : int

    Returns
    -------
    int
        Between `lower_bound` and `upper_bound`; `lower_bound` where the program would be too large:
        its size grows with the number of units of time in which jobs can start.

    Raises
    ------
    SolverError
        If HiGHS is missing.

    Notes
    -----
    Trial makespans follow from a secant through the load factors of the last ones. Complexity: a
    few linear programs of O(jobs x machines x window) columns and O((jobs + arcs) x machines x
    window) rows.

    Examples
    --------
    >>> from dlopt.models.dag.heads_and_tails import longest_path_heads_tails
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> tasks = (Task("a", costs=(1, 3)), Task("b", costs=(3, 3)), Task("c", costs=(3, 3)))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=2), Edge(0, 2, data=2)))
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> time_indexed_makespan_bound(scaled, longest_path_heads_tails(scaled), 4, 9)
    6
    """
    low, high = lower_bound, upper_bound  # no schedule is shorter than low; high may be feasible
    excess = slack = 0.0  # distance of the load factor from 1, at low - 1 and at high
    makespan = low
    for _ in range(MAX_PROBES):
        program = TimeIndexedLp(scaled, heads_tails, makespan)
        if low >= high or program.is_too_large or time.monotonic() > stop:
            break
        probe = program.probe(stop, seed)
        if probe is None:
            break
        if probe.infeasible:
            low, excess = makespan + 1, max(probe.load_factor - 1, 0.0)
        else:
            high, slack = makespan, max(1 - probe.load_factor, 0.0)
        makespan = next_trial_makespan(low, high, upper_bound, excess, slack)
    return low


def next_trial_makespan(low: int, high: int, upper_bound: int, excess: float, slack: float) -> int:
    """Return the next trial makespan: where the load factor is expected to be 1."""
    if high == upper_bound:  # no trial makespan was feasible
        step = (low - 1) * min(excess, MAX_RELATIVE_STEP)
    else:
        step = (high - low + 1) * (excess / (excess + slack) if excess + slack else 0.5)
    return min(max(low, low - 1 + int(step)), high - 1)


@dataclass
class SparseRows:
    """Constraints `sum of signed columns <= 0`, as triplets.

    Attributes
    ----------
    count : int
        The number of rows.
    terms : list of (array, array, array)
        Rows, columns and signs.
    """

    count: int = 0
    terms: list[tuple[Ints, Ints, Ints]] = field(default_factory=list)

    def add_terms(self, rows: Ints, columns: Ints, sign: int) -> None:
        """Add a term to each of some new rows, numbered from `count`; skip negative columns."""
        known = columns >= 0
        signs = np.full(int(known.sum()), sign, dtype=np.int64)
        self.terms.append((self.count + rows[known], columns[known], signs))

    def add_violated(self, other: SparseRows, point: Sequence[float]) -> bool:
        """Add the rows of another system that a point violates; tell whether there are any."""
        rows, columns, signs = other.triplets
        activity = np.bincount(rows, np.array(point)[columns] * signs, minlength=other.count)
        violated = activity > MIN_VIOLATION
        kept = violated[rows]
        numbers = self.count + violated.cumsum() - 1
        self.terms.append((numbers[rows[kept]], columns[kept], signs[kept]))
        self.count += int(violated.sum())
        return bool(violated.any())

    @property
    def triplets(self) -> tuple[Ints, Ints, Ints]:
        """Rows, columns and signs of all terms."""
        rows, columns, signs = (np.concatenate(parts) for parts in zip(*self.terms, strict=True))
        return rows, columns, signs


class TimeIndexedLp:
    """The linear program for a trial makespan.

    Parameters
    ----------
    scaled : ScaledInstance
    heads_tails : HeadsTails
    makespan : int

    Attributes
    ----------
    columns : int
        The number of variables ``X_jpt``. Column ``first[j, p] + k`` says that job `j` has started
        on machine `p` by its head there plus `k`. Column `columns` is `lambda`, the next is `e`.
    """

    def __init__(self, scaled: ScaledInstance, heads_tails: HeadsTails, makespan: int) -> None:
        self.scaled, self.makespan = scaled, makespan
        self.costs, self.heads = heads_tails.costs, heads_tails.heads
        self.latest: Ints = makespan - heads_tails.tails - heads_tails.costs
        self.eligible = (self.heads <= self.latest) & (self.costs < INFINITE)
        self.lengths = np.where(self.eligible, self.latest - self.heads + 1, 0).ravel()
        self.columns = int(self.lengths.sum())
        self.first = (self.lengths.cumsum() - self.lengths).reshape(self.eligible.shape)

    @property
    def is_too_large(self) -> bool:
        """Whether the program would take too long."""
        jobs, machines = self.eligible.shape
        terms = self.columns * (2 + len(self.scaled.arcs) * (machines + 1) / jobs)
        return bool(terms > MAX_TERMS)

    def probe(self, stop: float = inf, seed: int = 0) -> Probe | None:
        """Solve the program; return None if time is up before."""
        if not self.eligible.any(axis=1).all():
            return Probe(True, 1.0)
        rows = self.machine_and_precedence_rows()
        probe, point = self.solve_lp(rows, stop, seed)
        if probe is None or probe.infeasible or probe.load_factor < MIN_LOAD_FOR_SUBSETS:
            return probe
        if rows.add_violated(self.machine_subset_rows(), point):
            sharper, _ = self.solve_lp(rows, stop, seed)
            probe = sharper or probe
        return probe

    def solve_lp(
        self, rows: SparseRows, stop: float, seed: int
    ) -> tuple[Probe | None, Sequence[float]]:
        """Solve the program with some rows: the result and the point, or None if time is up."""
        relaxed = LinearSolver(self._linear_program(rows), seed, stop, interior=True).solve()
        if relaxed.status is not Status.OPTIMAL:
            return None, ()
        multipliers = -np.array(relaxed.multipliers[: rows.count])
        infeasible = self.is_certified_infeasible(rows, multipliers)
        load_factor = relaxed.point[-2] + len(self.eligible) * relaxed.point[-1]
        return Probe(infeasible, load_factor), relaxed.point

    def machine_and_precedence_rows(self) -> SparseRows:
        """Return machine constraints, and precedence constraints over all machines and each one."""
        rows = SparseRows()
        for machine in range(self.scaled.machine_count):
            self._add_machine(rows, machine)
        for arc in self.scaled.arcs:
            machines = np.flatnonzero(self.eligible[arc.target])
            self._add_precedence(rows, arc, machines)
            for single in machines[:, None] if len(machines) > 1 else ():
                self._add_precedence(rows, arc, single)
        return rows

    def machine_subset_rows(self) -> SparseRows:
        """Return precedence constraints over all subsets of two machines or more, but not all."""
        rows = SparseRows(terms=[(np.zeros(0, dtype=np.int64),) * 3])
        small = self.scaled.machine_count <= MAX_MACHINES_FOR_SUBSETS
        for arc in self.scaled.arcs if small else ():
            machines = np.flatnonzero(self.eligible[arc.target])
            for size in range(2, len(machines)):
                for subset in combinations(machines, size):
                    self._add_precedence(rows, arc, np.array(subset))
        return rows

    def _started_by(self, job: int, machine: int, instants: Ints) -> Ints:
        """Return the columns that say that a job has started by some instants; -1 for never."""
        since_head = np.minimum(instants, self.latest[job, machine]) - self.heads[job, machine]
        columns: Ints = np.where(since_head >= 0, self.first[job, machine] + since_head, -1)
        return columns

    def _add_machine(self, rows: SparseRows, machine: int) -> None:
        """In each time slot, jobs that have started and not ended are `lambda` at most."""
        slots = np.arange(self.makespan)
        jobs = np.flatnonzero(self.eligible[:, machine] & (self.costs[:, machine] > 0))
        for job in jobs.tolist():
            started = self._started_by(job, machine, slots)
            ended = self._started_by(job, machine, slots - self.costs[job, machine])
            running = started != ended
            rows.add_terms(slots[running], started[running], 1)
            rows.add_terms(slots[running], ended[running], -1)
        rows.add_terms(slots, np.full(self.makespan, self.columns), -1)
        rows.count += self.makespan

    def _add_precedence(self, rows: SparseRows, arc: Arc, machines: Ints) -> None:
        """If a job has started on one of some machines, its predecessor has started long before."""
        source, target = arc.source, arc.target
        earliest, latest = self.heads[target, machines].min(), self.latest[target, machines].max()
        sources = np.flatnonzero(self.eligible[source])
        link_class = np.array(self.scaled.link_class)[np.ix_(sources, machines)]
        transfers = np.array(arc.transfer_times)[link_class].min(axis=1)
        lags = self.costs[source, sources] + transfers
        redundant_from = int(
            (self.latest[source, sources] + lags).max()
        )  # it has always ended then
        instants = np.arange(int(earliest), min(int(latest) + 1, redundant_from))
        numbers = np.arange(len(instants))
        for machine in machines.tolist():
            rows.add_terms(numbers, self._started_by(target, machine, instants), 1)
        for machine, lag in zip(sources.tolist(), lags, strict=True):
            rows.add_terms(numbers, self._started_by(source, machine, instants - lag), -1)
        rows.count += len(instants)

    def _linear_program(self, rows: SparseRows) -> LinearProgram:
        """Return the program of the module; it is always feasible, as jobs may be left out."""
        terms: list[list[tuple[int, Fraction]]] = [[] for _ in range(rows.count)]
        for row, column, sign in zip(*(part.tolist() for part in rows.triplets), strict=True):
            terms[row].append((column, SIGNS[sign]))
        sides: list[tuple[Fraction | None, Fraction | None]] = [(None, ZERO)] * rows.count
        ends = self.first.ravel() + self.lengths
        for start, end in zip(self.first.ravel().tolist(), ends.tolist(), strict=True):
            for column in range(start, end - 1):  # what has started stays so
                terms.append([(column, SIGNS[1]), (column + 1, SIGNS[-1])])
                sides.append((None, ZERO))
        lengths = self.lengths.reshape(self.eligible.shape)
        for job, machines in enumerate(self.eligible):
            last = self.first[job, machines] + lengths[job, machines] - 1
            started = [*last.tolist(), self.columns + 1]
            terms.append([(column, SIGNS[1]) for column in started])
            sides.append((ONE, ONE))
        costs = (ZERO,) * self.columns + (ONE, Fraction(len(self.eligible)))
        bounds = ((ZERO, ONE),) * self.columns + ((ZERO, None), (ZERO, ONE))
        return LinearProgram(len(costs), costs, tuple(map(tuple, terms)), tuple(sides), bounds)

    def is_certified_infeasible(self, rows: SparseRows, multipliers: NDArray[np.float64]) -> bool:
        """Tell whether a weighted sum of rows proves, in integers, that there is no schedule.

        In a schedule of the makespan every row is at most 0 with `lambda` = 1, and so is their
        weighted sum. The sum is what all jobs contribute, each no less than its cheapest start
        does, less the multipliers of machines. If that is positive, there is no schedule.
        """
        numbers, columns, signs = rows.triplets
        positive = np.maximum(multipliers, 0)
        scale = min(MULTIPLIER_SCALE, MAX_MULTIPLIER_SUM / max(positive[numbers].sum(), 1))
        weights = (positive * scale).astype(np.int64)
        sums = np.zeros(self.columns + 1, dtype=np.int64)
        np.add.at(sums, columns, weights[numbers] * signs)
        of_machines = -int(sums[-1])
        # A job that starts at t has started by all instants from t on.
        suffix_sums = np.append(sums[:-1][::-1].cumsum()[::-1], 0)
        ends = self.first + self.lengths.reshape(self.eligible.shape)
        of_jobs = 0
        for job, machines in enumerate(self.eligible):
            blocks = zip(self.first[job, machines], ends[job, machines], strict=True)
            of_jobs += min(
                int((suffix_sums[start:end] - suffix_sums[end]).min()) for start, end in blocks
            )
        return of_jobs > of_machines
