"""Large neighbourhood search: the jobs of a few machines are reassigned by CP-SAT.

For instances too large to solve to optimality. A neighbourhood is all jobs of some machines, and
some jobs that no machine runs; of the makespan, the machine that ends last is always one of them.
Source: ours.
"""

from __future__ import annotations

import time
from dataclasses import replace
from random import Random

from dlopt.backends.time_budget import Budget
from dlopt.models.bag.cpsat import CpSatModel
from dlopt.models.bag.makespan_bound import MakespanDualBound
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.bag.solutions import (
    Sequences,
    dispatch,
    machine_ends,
    objective_key,
    without_late_jobs,
)
from dlopt.result import Status

INITIAL_MACHINES = 3
"""Machines of the first neighbourhoods. Chosen by hand: small neighbourhoods are solved quickly."""
FAILURES_BEFORE_GROWTH = 4
"""Neighbourhoods without improvement after which they grow by one machine. Chosen by hand."""
SUBPROBLEM_EFFORT = 0.5
"""Deterministic seconds of CP-SAT for a neighbourhood. Chosen by hand."""
MAX_UNASSIGNED_JOBS = 60
"""Jobs without a machine in a neighbourhood. Chosen by hand, for the size of its program."""
PAIRS_PER_JOB = 3
"""Pairs of a job and a machine in `near_relaxation`. Chosen by hand on matrices of 512 jobs and 16
machines, where two were better for some and worse for others."""
INTEGRAL_SHARE = 0.999
"""Share of a job on one machine from which on the relaxation does not split it: 1 but for the
tolerance of the solver."""


class NeighbourhoodSearch:
    """Large neighbourhood search from a schedule.

    Parameters
    ----------
    scaled : ScaledInstance
    sequences : tuple of tuple of int
        The first schedule.
    budget : Budget
    seed : int
    dual_bound : MakespanDualBound, optional
        A bound of the makespan, whose reduced costs exclude pairs of a job and a machine.

    Attributes
    ----------
    sequences : tuple of tuple of int
        The incumbent.
    exhausted : bool
        Whether a neighbourhood of all machines and jobs was solved to optimality.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> from dlopt.result import Limits
    >>> scaled = ScaledInstance.from_instance(Instance(etc=((3, 4), (2, 2), (2, 3))), "makespan")
    >>> search = NeighbourhoodSearch(scaled, ((0, 1, 2), ()), Budget(Limits()), 0, None)
    >>> search.improve(), max(machine_ends(scaled, search.sequences))
    (True, 4)
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        sequences: Sequences,
        budget: Budget,
        seed: int,
        dual_bound: MakespanDualBound | None,
    ) -> None:
        self.scaled, self.sequences = scaled, sequences
        self.budget, self.dual_bound = budget, dual_bound
        self._used_machines = [k for k in scaled.machines if scaled.eligible_jobs[k]]
        self.random, self.seed = Random(seed), seed
        self.size, self.failures = INITIAL_MACHINES, 0
        self.exhausted = False

    def improve(self) -> bool:
        """Solve one neighbourhood; tell whether the incumbent has improved.

        Raises
        ------
        TimeoutError
            If no time is left.
        """
        machines = self._choose_machines()
        jobs = tuple(job for k in machines for job in self.sequences[k])
        jobs += self._choose_unassigned_jobs()
        candidates = self._candidate_machines(jobs, set(machines))
        status, improved = self._reoptimise(jobs, candidates, machines)
        is_whole = len(jobs) == len(self.scaled.jobs)
        is_whole = is_whole and len(machines) == len(self._used_machines)
        self.exhausted = is_whole and status is Status.OPTIMAL
        if not improved:
            self._count_failure()
        return improved

    def reassign(self, jobs: set[int]) -> bool:
        """Reassign some jobs to any machines, all others stay; tell whether it is better."""
        machine_of = {job: k for k, sequence in enumerate(self.sequences) for job in sequence}
        all_jobs = tuple(sorted(machine_of))
        candidates = [
            set(self.scaled.eligible_machines[job]) if job in jobs else {machine_of[job]}
            for job in all_jobs
        ]
        return self._reoptimise(all_jobs, candidates, list(self.scaled.machines))[1]

    def _reoptimise(
        self, jobs: tuple[int, ...], candidates: list[set[int]], machines: list[int]
    ) -> tuple[Status, bool]:
        """Solve the program of some jobs and machines; update the incumbent."""
        limits = replace(self.budget.left(), threads=1)
        subproblem = self.scaled.restrict(jobs, candidates)
        number_of = {job: number for number, job in enumerate(jobs)}
        hint = tuple(
            tuple(number_of[job] for job in sequence) if k in machines else ()
            for k, sequence in enumerate(self.sequences)
        )
        program = CpSatModel(subproblem)
        self._set_objective(program)
        program.hint(hint)
        outcome = program.solve(limits, self.seed, SUBPROBLEM_EFFORT)
        if outcome.value_of is None:
            return outcome.status, False
        solved = program.sequences(outcome)
        sequences = tuple(
            tuple(jobs[number] for number in solved[k]) if k in machines else sequence
            for k, sequence in enumerate(self.sequences)
        )
        sequences = without_late_jobs(self.scaled, sequences)
        improved = objective_key(self.scaled, sequences) > objective_key(
            self.scaled, self.sequences
        )
        if improved:
            self.sequences, self.failures = sequences, 0
        return outcome.status, improved

    def _choose_machines(self) -> list[int]:
        """Return random machines; of a makespan, with the one that ends last."""
        used = self._used_machines
        if self.scaled.objective_kind != "makespan":
            return self.random.sample(used, min(self.size, len(used)))
        ends = machine_ends(self.scaled, self.sequences)
        last = max(used, key=lambda k: ends[k])
        others = [k for k in used if k != last]
        return [last, *self.random.sample(others, min(self.size - 1, len(others)))]

    def _choose_unassigned_jobs(self) -> tuple[int, ...]:
        """Return random jobs that no machine runs."""
        assigned = {job for sequence in self.sequences for job in sequence}
        unassigned = [job for job in range(len(self.scaled.jobs)) if job not in assigned]
        count = min(MAX_UNASSIGNED_JOBS, len(unassigned))
        return tuple(self.random.sample(unassigned, count))

    def _candidate_machines(self, jobs: tuple[int, ...], machines: set[int]) -> list[set[int]]:
        """Return the chosen machines on which each job may run, less those that are excluded."""
        eligible = [machines.intersection(self.scaled.eligible_machines[job]) for job in jobs]
        if self.dual_bound is None:
            return eligible
        machine_of = {job: k for k, sequence in enumerate(self.sequences) for job in sequence}
        makespan = max(machine_ends(self.scaled, self.sequences))
        return [
            allowed & self.dual_bound.machines_within_gap(job, makespan) | {machine_of[job]}
            for job, allowed in zip(jobs, eligible, strict=True)
        ]

    def _set_objective(self, program: CpSatModel) -> None:
        """Set the objective of a program; all levels at once."""
        if self.scaled.objective_kind == "makespan":
            program.minimise_makespan(0)
        elif self.scaled.objective_kind == "flowtime":
            program.minimise_total_completion()
        else:
            program.maximise_all_counts()

    def _count_failure(self) -> None:
        self.failures += 1
        if self.failures >= FAILURES_BEFORE_GROWTH:
            self.size, self.failures = min(self.size + 1, len(self.scaled.machines)), 0


def fractional_jobs(scaled: ScaledInstance, dual_bound: MakespanDualBound) -> set[int]:
    """Return the jobs that the relaxation splits over several machines."""
    largest_share = [0.0] * len(scaled.jobs)
    for (job, _), share in dual_bound.shares.items():
        largest_share[job] = max(largest_share[job], share)
    return {job for job, share in enumerate(largest_share) if share < INTEGRAL_SHARE}


def round_relaxation(scaled: ScaledInstance, dual_bound: MakespanDualBound) -> Sequences:
    """Return a schedule: every job on the machine of its largest share in the relaxation."""
    assigned: list[list[int]] = [[] for _ in scaled.machines]
    for job, machines in enumerate(scaled.eligible_machines):
        best = max(machines, key=lambda k: dual_bound.shares.get((job, k), 0.0))
        assigned[best].append(job)
    return dispatch(scaled, assigned)


def near_relaxation(
    scaled: ScaledInstance, dual_bound: MakespanDualBound, sequences: Sequences
) -> ScaledInstance:
    """Return the instance with few pairs of a job and a machine: those of least reduced costs.

    They are `PAIRS_PER_JOB` times as many as jobs, and the pairs of a schedule; the instance itself
    if there are not twice as many. Optimal schedules need not be among those that remain.

    Examples
    --------
    >>> from dlopt.models.bag.makespan_bound import bound_makespan
    >>> from dlopt.problems.bag import Instance
    >>> instance = Instance(etc=((1, 5, 9, 9, 9, 9, 9), (9, 9, 9, 9, 9, 1, 5)))
    >>> scaled = ScaledInstance.from_instance(instance, "makespan")
    >>> nearest = near_relaxation(scaled, bound_makespan(scaled), ((0,), (1,), *((),) * 5))
    >>> sum(map(len, scaled.eligible_machines)), sum(map(len, nearest.eligible_machines))
    (14, 7)
    """
    pairs = [
        (time - min(t for t in times if t is not None), job, machine)
        for job, times in enumerate(dual_bound.weighted_times)
        for machine, time in enumerate(times)
        if time is not None
    ]
    kept = PAIRS_PER_JOB * len(scaled.jobs)
    if len(pairs) < 2 * kept:
        return scaled
    machines: list[set[int]] = [set() for _ in scaled.jobs]
    for _, job, machine in sorted(pairs)[:kept]:
        machines[job].add(machine)
    for machine, sequence in enumerate(sequences):
        for job in sequence:
            machines[job].add(machine)
    return scaled.restrict(tuple(range(len(scaled.jobs))), machines)


def shift_from_last_machine(scaled: ScaledInstance, sequences: Sequences, stop: float) -> Sequences:
    """Return a schedule that ends earlier, by moves of jobs from the machine that ends last.

    A move takes a job to another machine, and perhaps a job from there to a third one (an ejection
    chain). That is made after which the latest end of the machines that change is least, until no
    job has a move that ends earlier. A schedule of jobs that arrive one by one is left as it is.

    Parameters
    ----------
    scaled : ScaledInstance
    sequences : tuple of tuple of int
    stop : float
        Instant of the monotonic clock at which it ends.

    Notes
    -----
    Complexity of a move: O(jobs^2 pairs^2), with the jobs of a machine and the pairs of a job.

    Examples
    --------
    >>> from math import inf
    >>> from dlopt.problems.bag import Instance
    >>> instance = Instance(etc=((4, 4), (3, 3), (3, 3), (2, 2)))
    >>> scaled = ScaledInstance.from_instance(instance, "makespan")
    >>> shift_from_last_machine(scaled, ((0, 1), (2, 3)), inf)
    ((1, 2), (3, 0))
    """
    if len(set(scaled.arrivals)) > 1:
        return sequences
    jobs = [list(sequence) for sequence in sequences]
    ends = machine_ends(scaled, sequences)
    ends = [end if jobs[k] else scaled.arrivals[0][k] for k, end in enumerate(ends)]
    while time.monotonic() < stop:
        last = max(scaled.machines, key=ends.__getitem__)
        moves = [_best_move(scaled, jobs, ends, job, last) for job in jobs[last]]
        end, move = min(moves, default=(ends[last], []))
        if end >= ends[last]:
            break
        for job, source, target in move:
            jobs[source].remove(job)
            jobs[target].append(job)
            ends[source] -= scaled.processing_time(job, source)
            ends[target] += scaled.processing_time(job, target)
    return tuple(map(tuple, jobs))


def _best_move(
    scaled: ScaledInstance, jobs: list[list[int]], ends: list[int], job: int, last: int
) -> tuple[int, list[tuple[int, int, int]]]:
    """Return the end, and the shifts, of the best move of a job: which job, from and to where."""
    times, machines = scaled.processing_time, scaled.eligible_machines
    best, shifts = ends[last], list[tuple[int, int, int]]()
    left = ends[last] - times(job, last)
    for other in machines[job]:
        if other == last:
            continue
        shift, end = (job, last, other), ends[other] + times(job, other)
        if max(end, left) < best:
            best, shifts = max(end, left), [shift]
        for ejected in jobs[other]:
            without = end - times(ejected, other)
            for third in machines[ejected] if without < best else ():
                before = left if third == last else ends[third]
                latest = max(without, left, before + times(ejected, third))
                if third != other and latest < best:
                    best, shifts = latest, [shift, (ejected, other, third)]
    return best, shifts
