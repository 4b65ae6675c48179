"""Certificates of the flowtime of tasks that arrive one after another.

With ``z_jkt`` whether job `j` has started on machine `k` by instant `t`, which is no later than
``l_jk``, there is no point of::

    assigned    sum_k z_jkl = 1
    monotone    z_jkt <= z_jk,t+1
    capacity    sum_j (z_jkt - z_jk,t-p) <= 1               a machine runs one job at a time
    total       sum_jk ((l_jk + p_jk) z_jkl - sum_{t<l} z_jkt) <= B - 1

so that no schedule has completions of less than `B` in total. If it had, each job would be complete
in time for all others to take as long as they do alone, which bounds its latest start. Source: the
step variables of Pritsker, Watters and Wolfe 1969.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from math import ceil, inf

from dlopt.certificates import BoundCertificate
from dlopt.models.bag.proof_programs import (
    MAX_PAIRS_FOR_SEARCH,
    STEP_REMARKS,
    grid_remarks,
    refuted_by_rows,
    search_for_proof,
)
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.common.named_rows import ONE, ZERO, NamedRow

MAX_STARTS = 3_000
"""Starts up to which a proof is searched. Chosen by hand: with 2,400 the first linear program takes
a second, most often it is the proof, and the file has 340 kB."""
EFFORT = 100_000
"""Starts times subproblems where there are more than `MAX_PAIRS_FOR_SEARCH`. Chosen by hand, for
some seconds."""


def total_completion_certificate(
    scaled: ScaledInstance, total: Fraction, seed: int = 0, stop: float = inf
) -> BoundCertificate | None:
    """Return the certificate of a bound of the sum of completions; None if none is found.

    Parameters
    ----------
    scaled : ScaledInstance
        Of the objective ``flowtime``.
    total : Fraction
        The bound, in scaled units.
    seed : int
    stop : float
        Instant of the monotonic clock at which the search ends.

    Notes
    -----
    Complexity: a linear program of as many columns as there are starts, `MAX_STARTS` at most, for
    each subproblem of a branch and bound.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance, Machine, Task
    >>> tasks = Task("a", 4), Task("b", 1, release=1)
    >>> scaled = ScaledInstance.from_instance(Instance(tasks, (Machine("m"),)), "flowtime")
    >>> certificate = total_completion_certificate(scaled, Fraction(8))
    >>> certificate.remarks[2], len(certificate.names), certificate.bound
    ('total: 8', 4, None)
    >>> total_completion_certificate(scaled, Fraction(9))
    """
    program = _StartTimes(scaled, ceil(total))
    if program.size > MAX_STARTS:
        return None
    claim = (
        f"claim: no completions have a total less than {program.total}, in units since the origin"
    )
    remarks = (*grid_remarks(scaled), f"total: {program.total}", *STEP_REMARKS, claim)
    rows, costs = list(program.rows()), (ZERO,) * len(program.columns)
    for row in rows:
        if not row.terms and row.lower is not None:  # a job has no start: this row says so
            return refuted_by_rows([row], ((0, ONE),), (), remarks)
    is_small = program.size <= MAX_PAIRS_FOR_SEARCH
    subproblems = None if is_small else EFFORT // program.size
    about = program.names, costs, None, remarks, seed, stop, subproblems
    return search_for_proof(rows, *about)


class _StartTimes:
    """The program of schedules whose completions are less than a total."""

    def __init__(self, scaled: ScaledInstance, total: int) -> None:
        self.scaled, self.total = scaled, total
        jobs = range(len(scaled.jobs))
        least = [
            min(scaled.arrivals[j][k] + scaled.processing_time(j, k) for k in machines)
            for j, machines in enumerate(scaled.eligible_machines)
        ]
        self.latest: dict[tuple[int, int], int] = {}
        for job in jobs:
            due = total - 1 - sum(least) + least[job]
            for k in scaled.eligible_machines[job]:
                latest = due - scaled.processing_time(job, k)
                if latest >= scaled.arrivals[job][k]:
                    self.latest[job, k] = latest

    @property
    def size(self) -> int:
        """The number of columns."""
        pairs = self.latest.items()
        return sum(last + 1 - self.scaled.arrivals[job][k] for (job, k), last in pairs)

    @cached_property
    def columns(self) -> dict[tuple[int, int, int], int]:
        """The number of each variable, by job, machine and instant."""
        starts = (
            (job, k, instant)
            for (job, k), last in self.latest.items()
            for instant in range(self.scaled.arrivals[job][k], last + 1)
        )
        return {start: column for column, start in enumerate(starts)}

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [f"z_{self.scaled.jobs[job]}_{k}_{t}" for job, k, t in self.columns]

    def rows(self) -> Iterator[NamedRow]:
        """Yield all rows."""
        yield from self._assigned_rows()
        yield from self._monotone_rows()
        for machine in self.scaled.machines:
            yield from self._capacity_rows(machine)
        yield self._total_row()

    def _assigned_rows(self) -> Iterator[NamedRow]:
        """Every job starts once, by its latest start on some machine."""
        of_job: list[list[tuple[int, Fraction]]] = [[] for _ in self.scaled.jobs]
        for (job, k), last in self.latest.items():
            of_job[job].append((self.columns[job, k, last], ONE))
        for job, terms in enumerate(of_job):
            yield NamedRow(f"assigned_{self.scaled.jobs[job]}", tuple(terms), ONE, ONE)

    def _monotone_rows(self) -> Iterator[NamedRow]:
        """A job that has started by an instant has started by the next one."""
        for (job, k, instant), column in self.columns.items():
            if instant < self.latest[job, k]:
                name = f"monotone_{self.scaled.jobs[job]}_{k}_{instant}_{instant + 1}"
                later = self.columns[job, k, instant + 1]
                yield NamedRow(name, ((column, ONE), (later, -ONE)), None, ZERO)

    def _capacity_rows(self, machine: int) -> Iterator[NamedRow]:
        """A machine runs one job from each instant to the next."""
        pairs = [(job, last) for (job, k), last in self.latest.items() if k == machine]
        ends = [last + self.scaled.processing_time(job, machine) for job, last in pairs]
        first = min((self.scaled.arrivals[job][machine] for job, _ in pairs), default=0)
        for instant in range(first, max(ends, default=0)):
            terms: list[tuple[int, Fraction]] = []
            for job, last in pairs:
                ended = instant - self.scaled.processing_time(job, machine)
                started = min(instant, last)
                if started > ended and started >= self.scaled.arrivals[job][machine]:
                    terms.append((self.columns[job, machine, started], ONE))
                    if (job, machine, ended) in self.columns:
                        terms.append((self.columns[job, machine, ended], -ONE))
            if len(terms) > 1:
                name = f"capacity_{machine}_{instant}_{instant + 1}"
                yield NamedRow(name, tuple(terms), None, ONE)

    def _total_row(self) -> NamedRow:
        """The completions are less than the total."""
        terms = []
        for (job, k, instant), column in self.columns.items():
            last = self.latest[job, k]
            end = instant + self.scaled.processing_time(job, k)
            terms.append((column, -ONE if instant < last else Fraction(end)))
        known = tuple((column, a) for column, a in terms if a)
        return NamedRow("total", known, None, Fraction(self.total - 1), Fraction(self.total))
