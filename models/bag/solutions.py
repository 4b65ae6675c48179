"""Conversion between job sequences on machines and schedules in exact times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from dlopt.arithmetic import Number, simplest
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.problems.allowance import rounded_down
from dlopt.problems.bag.data import Placement, Solution

Sequences: TypeAlias = tuple[tuple[int, ...], ...]
"""The jobs on each machine, in their sequence; jobs in none of them do not run."""

ObjectiveKey: TypeAlias = tuple[Fraction, ...]
"""The levels of a schedule, all to be maximised; a makespan counts from `ExactTimes.origin`."""


class TaskRun(NamedTuple):
    """A task, by its index, that runs on a machine; instants count from `ExactTimes.origin`."""

    task: int
    machine: int
    start: Fraction
    end: Fraction


def left_shifted(scaled: ScaledInstance, sequences: Sequences) -> Iterator[TaskRun]:
    """Yield the runs of jobs that start as early as they can, without jobs that would be late."""
    times = scaled.times
    for machine, sequence in enumerate(sequences):
        clock = Fraction(0)
        for job in sequence:
            task = scaled.jobs[job]
            time, due = times.processing_times[task][machine], times.schedule_due_dates[task]
            assert time is not None  # sequences have eligible jobs only
            start = max(clock, times.arrivals[task][machine])
            if due is None or start + time <= due:
                clock = start + time
                yield TaskRun(task, machine, start, clock)


def objective_key(scaled: ScaledInstance, sequences: Sequences) -> ObjectiveKey:
    """Return the objective values of a schedule in exact times, level by level, to be maximised.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> scaled = ScaledInstance.from_instance(Instance(etc=((3, 4), (2, 2))), "makespan")
    >>> objective_key(scaled, ((0,), (1,)))
    (Fraction(-3, 1),)
    """
    runs = list(left_shifted(scaled, sequences))
    if scaled.objective_kind == "count":
        return tuple(
            Fraction(
                scaled.undated_count(level)
                + sum(scaled.counts_on_level(level, run.task) for run in runs)
            )
            for level in scaled.levels
        )
    if scaled.objective_kind == "makespan":
        return (-max(run.end for run in runs),)
    return (scaled.total_release - sum((run.end for run in runs), Fraction(0)),)


def without_late_jobs(scaled: ScaledInstance, sequences: Sequences) -> Sequences:
    """Return sequences without the jobs that would be late."""
    job_of = {task: job for job, task in enumerate(scaled.jobs)}
    on_time: list[list[int]] = [[] for _ in scaled.machines]
    for run in left_shifted(scaled, sequences):
        on_time[run.machine].append(job_of[run.task])
    return tuple(map(tuple, on_time))


def machine_ends(scaled: ScaledInstance, sequences: Sequences) -> list[int]:
    """Return when each machine ends, in scaled units; 0 if it has no job."""
    ends = []
    for machine, sequence in enumerate(sequences):
        clock = 0
        for job in sequence:
            start = max(clock, scaled.arrivals[job][machine])
            clock = start + scaled.processing_time(job, machine)
        ends.append(clock)
    return ends


def to_solution(scaled: ScaledInstance, sequences: Sequences) -> Solution:
    """Return a schedule: the jobs, and after them the tasks that have no deadline.

    Numbers are exact if those of the instance are, else floats, rounded down.
    """
    instance = scaled.instance
    runs = list(left_shifted(scaled, sequences))
    if scaled.objective_kind == "count":
        runs += _schedule_undated(scaled, runs)
    to_number = simplest if instance.exact else rounded_down
    tasks, origin = instance.all_tasks, scaled.times.origin
    return Solution(
        tuple(
            Placement(
                tasks[run.task].id,
                run.machine,
                to_number(origin + run.start),
                to_number(origin + run.end),
            )
            for run in runs
        )
    )


def _schedule_undated(scaled: ScaledInstance, runs: Iterable[TaskRun]) -> Iterator[TaskRun]:
    """Yield runs of the tasks without deadlines, each where it ends first after all others."""
    times = scaled.times
    free = [Fraction(0) for _ in scaled.machines]
    for run in runs:
        free[run.machine] = max(free[run.machine], run.end)
    for task, due in enumerate(times.due_dates):
        if due is None:
            ends = (
                (max(free[k], times.arrivals[task][k]) + time, k, time)
                for k, time in enumerate(times.processing_times[task])
                if time is not None
            )
            end, machine, time = min(ends)
            free[machine] = end
            yield TaskRun(task, machine, end - time, end)


def sequences_from_hint(scaled: ScaledInstance, hint: Solution | None) -> Sequences | None:
    """Return the sequences of a hint; None if it does not run all that must be run.

    Machines and sequences are taken from the hint; times follow from them.
    """
    if hint is None:
        return None
    job_of = {scaled.instance.all_tasks[task].id: job for job, task in enumerate(scaled.jobs)}
    sequences: list[list[int]] = [[] for _ in scaled.machines]
    seen: set[int] = set()
    for placement in sorted(hint.placements, key=lambda p: (p.start, p.end)):
        job, machine = job_of.get(placement.task), placement.machine
        if job is None or placement.late or job in seen or machine not in scaled.machines:
            continue
        if scaled.processing_times[job][machine] is not None:
            seen.add(job)
            sequences[machine].append(job)
    if scaled.objective_kind != "count" and len(seen) < len(scaled.jobs):
        return None
    return tuple(map(tuple, sequences))


def list_schedule(scaled: ScaledInstance) -> Sequences:
    """Return a list schedule: jobs by due date or arrival, each where it ends first."""
    free = [0 for _ in scaled.machines]
    sequences: list[list[int]] = [[] for _ in scaled.machines]
    for job in sorted(range(len(scaled.jobs)), key=lambda job: _list_key(scaled, job)):
        ends = [
            (max(free[k], scaled.arrivals[job][k]) + scaled.processing_time(job, k), k)
            for k in scaled.eligible_machines[job]
        ]
        end, machine = min(ends)
        due = scaled.due_dates[job]
        if due is None or end <= due:
            free[machine] = end
            sequences[machine].append(job)
    return tuple(map(tuple, sequences))


def _list_key(scaled: ScaledInstance, job: int) -> tuple[int, int]:
    due = scaled.due_dates[job]
    return scaled.horizon if due is None else due, min(scaled.arrivals[job])


def dispatch(scaled: ScaledInstance, assigned: Sequence[Iterable[int]]) -> Sequences:
    """Return sequences of the jobs assigned to each machine, by a dispatching rule.

    First come, first served for the makespan, which is optimal in any case; shortest processing
    time for the flowtime, and earliest due date for numbers of jobs on time, which are optimal
    where jobs arrive together.
    """

    def rank(job: int, machine: int) -> Number:
        if scaled.objective_kind == "makespan":
            return scaled.arrivals[job][machine]
        due = scaled.due_dates[job]
        return scaled.processing_time(job, machine) if due is None else due

    return tuple(
        tuple(sorted(jobs, key=lambda job: (rank(job, machine), job)))
        for machine, jobs in enumerate(assigned)
    )


def to_objective_bound(scaled: ScaledInstance, bound: Fraction) -> Number:
    """Return a level that is maximised as a value of the objective, in the instance's numbers."""
    if scaled.objective_kind == "count":
        return int(bound)
    value = scaled.times.origin - bound if scaled.objective_kind == "makespan" else -bound
    return simplest(value) if scaled.instance.exact else float(value)
