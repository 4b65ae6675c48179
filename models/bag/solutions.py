"""From orders of jobs to plans in true times, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from dlopt.arithmetic import Number, simplest
from dlopt.models.bag.scaled_instance import Case
from dlopt.problems.allowance import rounded_down
from dlopt.problems.bag.data import Placement, Solution

Orders: TypeAlias = tuple[tuple[int, ...], ...]
"""The jobs on each machine, in order; what stands nowhere is not run."""

Key: TypeAlias = tuple[Fraction, ...]
"""The levels of a plan, each such that more is better; a makespan since `Times.origin`."""


class Run(NamedTuple):
    """A task, by its index, that runs on a machine; instants count from `Times.origin`."""

    task: int
    machine: int
    start: Fraction
    end: Fraction


def runs(case: Case, orders: Orders) -> Iterator[Run]:
    """Yield the runs of jobs that start as early as they can, without those that would be late."""
    times = case.times
    for machine, order in enumerate(orders):
        clock = Fraction(0)
        for job in order:
            task = case.jobs[job]
            length, due = times.lengths[task][machine], times.promised[task]
            assert length is not None  # only machines that can run a job stand in orders
            start = max(clock, times.arrivals[task][machine])
            if due is None or start + length <= due:
                clock = start + length
                yield Run(task, machine, start, clock)


def key_of(case: Case, orders: Orders) -> Key:
    """Return what a plan is worth in true times, level by level, such that more is better."""
    found = list(runs(case, orders))
    if case.kind == "count":
        return tuple(
            Fraction(case.offset(level) + sum(case.counts(level, run.task) for run in found))
            for level in case.levels
        )
    if case.kind == "makespan":
        return (-max(run.end for run in found),)
    return (case.released - sum((run.end for run in found), Fraction(0)),)


def kept(case: Case, orders: Orders) -> Orders:
    """Return orders without the jobs that would be late."""
    place = {task: job for job, task in enumerate(case.jobs)}
    found: list[list[int]] = [[] for _ in case.machines]
    for run in runs(case, orders):
        found[run.machine].append(place[run.task])
    return tuple(map(tuple, found))


def ends_in_units(case: Case, orders: Orders) -> list[int]:
    """Return when each machine ends, in units of time; 0 if it has nothing to do."""
    ends = []
    for machine, order in enumerate(orders):
        clock = 0
        for job in order:
            clock = max(clock, case.arrivals[job][machine]) + case.length(job, machine)
        ends.append(clock)
    return ends


def plan_of(case: Case, orders: Orders) -> Solution:
    """Return a plan: the jobs, and after them the tasks that have no deadline.

    Numbers are exact if those of the instance are, else floats, rounded down.
    """
    instance = case.instance
    found = list(runs(case, orders))
    if case.kind == "count":
        found += _undated(case, found)
    number = simplest if instance.exact else rounded_down
    tasks, origin = instance.all_tasks, case.times.origin
    return Solution(
        tuple(
            Placement(
                tasks[run.task].id,
                run.machine,
                number(origin + run.start),
                number(origin + run.end),
            )
            for run in found
        )
    )


def _undated(case: Case, found: Iterable[Run]) -> Iterator[Run]:
    """Yield runs of the tasks without deadlines, each where it ends first after all others."""
    times = case.times
    free = [Fraction(0) for _ in case.machines]
    for run in found:
        free[run.machine] = max(free[run.machine], run.end)
    for task, due in enumerate(times.dues):
        if due is None:
            ends = (
                (max(free[k], times.arrivals[task][k]) + length, k, length)
                for k, length in enumerate(times.lengths[task])
                if length is not None
            )
            end, machine, length = min(ends)
            free[machine] = end
            yield Run(task, machine, end - length, end)


def orders_of(case: Case, hint: Solution | None) -> Orders | None:
    """Return the orders of a plan; None if it is no plan of all that must be run.

    Only who runs where, in which order, is taken from it: times follow from that.
    """
    if hint is None:
        return None
    names = {case.instance.all_tasks[task].id: job for job, task in enumerate(case.jobs)}
    orders: list[list[int]] = [[] for _ in case.machines]
    seen: set[int] = set()
    for one in sorted(hint.placements, key=lambda one: (one.start, one.end)):
        job = names.get(one.task)
        if job is None or one.late or job in seen or one.machine not in case.machines:
            continue
        if case.lengths[job][one.machine] is not None:
            seen.add(job)
            orders[one.machine].append(job)
    if case.kind != "count" and len(seen) < len(case.jobs):
        return None
    return tuple(map(tuple, orders))


def first_orders(case: Case) -> Orders:
    """Return a plan to begin with: jobs by deadline or arrival, each where it ends first."""
    free = [0 for _ in case.machines]
    orders: list[list[int]] = [[] for _ in case.machines]
    for job in sorted(range(len(case.jobs)), key=lambda job: _urgency(case, job)):
        ends = [
            (max(free[k], case.arrivals[job][k]) + case.length(job, k), k) for k in case.places[job]
        ]
        end, machine = min(ends)
        due = case.dues[job]
        if due is None or end <= due:
            free[machine] = end
            orders[machine].append(job)
    return tuple(map(tuple, orders))


def _urgency(case: Case, job: int) -> tuple[int, int]:
    due = case.dues[job]
    return case.horizon if due is None else due, min(case.arrivals[job])


def in_best_order(case: Case, sets: Sequence[Iterable[int]]) -> Orders:
    """Return orders of the jobs on each machine, best where they arrive there together.

    By arrival for the makespan, which is best in any case; by length for the flowtime; by
    deadline for numbers of jobs in time.
    """

    def rank(job: int, machine: int) -> Number:
        if case.kind == "makespan":
            return case.arrivals[job][machine]
        due = case.dues[job]
        return case.length(job, machine) if due is None else due

    return tuple(
        tuple(sorted(jobs, key=lambda job: (rank(job, machine), job)))
        for machine, jobs in enumerate(sets)
    )


def stated(case: Case, bound: Fraction) -> Number:
    """Return a level of which more is better as the instance states it, in its numbers."""
    if case.kind == "count":
        return int(bound)
    value = case.times.origin - bound if case.kind == "makespan" else -bound
    return simplest(value) if case.instance.exact else float(value)
