"""The instance of the models: jobs on machines, in integral units of time.

Time counts from the first instant at which some job can start (`dlopt.models.bag.exact_times`).
Starts in a left-shifted schedule are sums of processing times and arrivals, so the longest unit of
which these are multiples loses nothing: due dates are rounded down to it. Where that is too short,
all times are rounded down. Every sequence of jobs then ends no later than with the original data,
so the scaled instance is a relaxation, and its bounds hold for all schedules; schedules are
re-evaluated with the original data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import floor, gcd, lcm
from typing import Literal, NamedTuple

from dlopt.arithmetic import exact
from dlopt.models.bag.exact_times import ExactTimes, drop_unreachable, without_idle_time
from dlopt.models.common.solver_units import short_scale
from dlopt.problems.bag.data import Instance
from dlopt.problems.bag.goals import OBJECTIVES

MAX_CLAUSE_LENGTH = 64
"""Literals of earlier jobs in a symmetry-breaking constraint; more are aggregated by one variable.
Chosen by hand: constraints with all earlier jobs have O(jobs^2) terms for each machine."""
MAX_HORIZON = 2**40
"""Longest horizon, in units of time: CP-SAT adds up many times in 64-bit integers. Chosen by hand:
it leaves 23 bits for the number of terms."""
GRID_UNITS = MAX_HORIZON
"""Units of time within the horizon, if times have no common unit that is long enough."""

ObjectiveKind = Literal["makespan", "flowtime", "count"]


class TimeWindow(NamedTuple):
    """Jobs that run on a machine from `start` to `end`, or not at all."""

    start: int
    end: int
    jobs: tuple[int, ...]


@dataclass(frozen=True)
class ScaledInstance:
    """Jobs on machines, in units of time such that every number is an integer.

    Parameters
    ----------
    instance : Instance
    objective : str
    times : ExactTimes
    scale : Fraction
        Units of time of the model in one of the instance.
    exactly_scaled : bool
        Whether processing times and arrivals are multiples of a unit; else they are rounded down.
    jobs : tuple of int
        The tasks of the model: all, or those with a deadline that some machine can meet.
    processing_times : tuple of tuple of (int or None), shape (jobs, machines)
        None where a job cannot run, or not in time.
    arrivals : tuple of tuple of int, shape (jobs, machines)
    due_dates : tuple of (int or None), shape (jobs,)
    without_idle_time : bool
        Whether arrivals and due dates are moved across idle periods, which would make the horizon
        too long; `times` are not.
    """

    instance: Instance
    objective: str
    times: ExactTimes
    scale: Fraction
    exactly_scaled: bool
    jobs: tuple[int, ...]
    processing_times: tuple[tuple[int | None, ...], ...]
    arrivals: tuple[tuple[int, ...], ...]
    due_dates: tuple[int | None, ...]
    without_idle_time: bool = False

    @classmethod
    def from_instance(cls, instance: Instance, objective: str) -> ScaledInstance:
        """Scale the times of an instance to integers.

        Examples
        --------
        >>> from dlopt.problems.bag import Machine, Task
        >>> tasks = Task("a", 3, absolute_deadline=2), Task("b", 1, absolute_deadline=1)
        >>> instance = Instance((*tasks, Task("c", 1)), (Machine("m", power=2), Machine("n")))
        >>> scaled = ScaledInstance.from_instance(instance, "accepted")
        >>> scaled.scale, scaled.jobs, scaled.processing_times, scaled.due_dates
        (Fraction(2, 1), (0, 1), ((3, None), (1, 2)), (4, 2))
        """
        kind = objective_kind(objective)
        times = ExactTimes.from_instance(instance)
        if kind != "count":
            times = drop_unreachable(times, flowtime=kind == "flowtime")
        scale, exactly_scaled = _choose_scale(times, kind)
        if exactly_scaled or kind != "count":
            return cls._of_times(instance, objective, times, scale, exactly_scaled)
        near = without_idle_time(times)
        scaled = cls._of_times(instance, objective, near, *_choose_scale(near, kind))
        return replace(scaled, times=times, without_idle_time=True)

    @classmethod
    def _of_times(
        cls,
        instance: Instance,
        objective: str,
        times: ExactTimes,
        scale: Fraction,
        exactly_scaled: bool,
    ) -> ScaledInstance:
        """Return the instance of some times, rounded down to units."""
        kind = objective_kind(objective)
        jobs, processing_times, arrivals, due_dates = [], [], [], []
        for task, due in enumerate(times.due_dates):
            if due is None and kind == "count":
                continue  # it runs after all others, and delays none of them
            latest = None if due is None else floor(due * scale)
            arrival = tuple(floor(instant * scale) for instant in times.arrivals[task])
            row = tuple(
                _units_if_in_time(time, scale, start, latest)
                for time, start in zip(times.processing_times[task], arrival, strict=True)
            )
            if any(units is not None for units in row):
                jobs.append(task)
                processing_times.append(row)
                arrivals.append(arrival)
                due_dates.append(latest)
        tables = tuple(jobs), tuple(processing_times), tuple(arrivals), tuple(due_dates)
        return cls(instance, objective, times, scale, exactly_scaled, *tables)

    def with_all_machines(self) -> ScaledInstance:
        """Return the instance in the same units, with all machines of all tasks.

        Examples
        --------
        >>> scaled = ScaledInstance.from_instance(Instance(etc=((3, 10**15), (4, 5))), "flowtime")
        >>> scaled.processing_times, scaled.with_all_machines().processing_times
        (((3, None), (4, 5)), ((3, 1000000000000000), (4, 5)))
        """
        times = ExactTimes.from_instance(self.instance)
        if times.processing_times == self.times.processing_times:
            return self
        return self._of_times(self.instance, self.objective, times, self.scale, self.exactly_scaled)

    @property
    def objective_kind(self) -> ObjectiveKind:
        """Whether the makespan, the flowtime, or the number of jobs on time is optimised."""
        return objective_kind(self.objective)

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of the objective."""
        return OBJECTIVES[self.objective].levels or (self.objective,)

    @property
    def machines(self) -> range:
        """The machines."""
        return range(len(self.times.processing_times[0]))

    @cached_property
    def eligible_machines(self) -> list[list[int]]:
        """The machines that can run each job."""
        return [
            [k for k, time in enumerate(row) if time is not None] for row in self.processing_times
        ]

    @cached_property
    def eligible_jobs(self) -> list[list[int]]:
        """The jobs that each machine can run."""
        jobs: list[list[int]] = [[] for _ in self.machines]
        for job, machines in enumerate(self.eligible_machines):
            for machine in machines:
                jobs[machine].append(job)
        return jobs

    def processing_time(self, job: int, machine: int) -> int:
        """Return how long a job takes on a machine that can run it."""
        time = self.processing_times[job][machine]
        assert time is not None  # callers ask for `eligible_machines`
        return time

    def arrive_together(self, machine: int) -> bool:
        """Tell whether all jobs that a machine can run arrive there at the same time."""
        return len({self.arrivals[job][machine] for job in self.eligible_jobs[machine]}) <= 1

    @cached_property
    def all_arrive_together(self) -> bool:
        """Whether jobs arrive on every machine together, so that one sequence is best on each."""
        return all(map(self.arrive_together, self.machines))

    def counts_on_level(self, level: str, task: int) -> bool:
        """Tell whether a task that is on time counts on a level."""
        priority = self.instance.all_tasks[task].priority
        return level in ("accepted", "all") or priority == level

    def undated_count(self, level: str) -> int:
        """Return how many tasks without a deadline count on a level: they are always on time."""
        undated = (task for task, due in enumerate(self.times.due_dates) if due is None)
        return sum(self.counts_on_level(level, task) for task in undated)

    def weights(self, level: str) -> list[int]:
        """Return the weight of each job on a level that counts tasks: 1 or 0."""
        return [int(self.counts_on_level(level, task)) for task in self.jobs]

    @cached_property
    def horizon(self) -> int:
        """An instant by which every left-shifted schedule without late jobs has ended."""
        if self.objective_kind == "count":
            return max((due for due in self.due_dates if due is not None), default=0)
        last_arrival = max(map(max, self.arrivals))
        totals = (
            sum(self.processing_time(job, k) for job in self.eligible_jobs[k])
            for k in self.machines
        )
        return last_arrival + max(totals)

    def overloadable_windows(self, machine: int, most: int | None = None) -> Iterator[TimeWindow]:
        """Yield windows of a machine that the jobs which must run within them could overload.

        Where the jobs arrive together it is enough that none of them is overloaded: in the order of
        their due dates they are then on time.

        Parameters
        ----------
        machine : int
        most : int, optional
            Consider so many starts and so many ends at most.
        """
        jobs = self.eligible_jobs[machine]
        dues = {job: due for job in jobs if (due := self.due_dates[job]) is not None}
        for start in _evenly_thinned({self.arrivals[job][machine] for job in jobs}, most):
            for end in _evenly_thinned(set(dues.values()), most):
                inside = tuple(
                    job
                    for job, due in dues.items()
                    if due <= end and self.arrivals[job][machine] >= start
                )
                load = sum(self.processing_time(job, machine) for job in inside)
                if inside and load > end - start:
                    yield TimeWindow(start, end, inside)

    @cached_property
    def longest_job(self) -> int:
        """The largest earliest end of a job alone: a lower bound of the makespan."""
        return max(
            min(arrivals[k] + self.processing_time(job, k) for k in self.eligible_machines[job])
            for job, arrivals in enumerate(self.arrivals)
        )

    def arrival_tails(
        self, machine: int, latest: int, most: int | None = None
    ) -> Iterator[TimeWindow]:
        """Yield instants, and the jobs that can only run on a machine after each of them.

        By first come, first served a machine ends at the latest arrival of a job that it runs, plus
        the processing times of those that arrive no earlier; no sequence ends earlier. Instants
        later than `latest` are replaced by `latest`. Those up to `longest_job` may be added to
        processing times whether or not such a job is run; see `late_arrival_tails` for the others.
        The `end` of these windows is not used.
        """
        jobs = self.eligible_jobs[machine]
        starts = {min(self.arrivals[job][machine], latest) for job in jobs}
        for start in _evenly_thinned(starts, most):
            later = tuple(job for job in jobs if self.arrivals[job][machine] >= start)
            yield TimeWindow(start, start, later)

    def late_arrival_tails(self, machine: int) -> Iterator[tuple[int, TimeWindow]]:
        """Yield the jobs that arrive at a machine after `longest_job`, each with its own tail.

        If the job runs there, the machine ends no earlier than its arrival plus the processing
        times.
        """
        jobs = self.eligible_jobs[machine]
        for job in jobs:
            start = self.arrivals[job][machine]
            if start > self.longest_job:
                later = tuple(other for other in jobs if self.arrivals[other][machine] >= start)
                yield job, TimeWindow(start, start, later)

    @cached_property
    def identical_machines(self) -> list[list[int]]:
        """Machines that may be exchanged in any schedule, in groups of two or more."""
        groups: Mapping[object, list[int]] = defaultdict(list)
        for k in self.machines:
            if self.eligible_jobs[k]:
                rows = zip(self.processing_times, self.arrivals, strict=True)
                column = tuple((times[k], arrivals[k]) for times, arrivals in rows)
                groups[column].append(k)
        return [group for group in groups.values() if len(group) > 1]

    @property
    def symmetry_terms(self) -> float:
        """About how many terms the constraints have that order identical machines."""
        jobs = (len(group) * len(self.eligible_jobs[group[0]]) for group in self.identical_machines)
        return MAX_CLAUSE_LENGTH / 2 * sum(jobs)

    def restrict(self, jobs: tuple[int, ...], machines: Iterable[set[int]]) -> ScaledInstance:
        """Return the instance of some jobs, each on some of its eligible machines."""
        return replace(
            self,
            jobs=tuple(self.jobs[job] for job in jobs),
            processing_times=tuple(
                tuple(
                    time if k in allowed else None
                    for k, time in enumerate(self.processing_times[job])
                )
                for job, allowed in zip(jobs, machines, strict=True)
            ),
            arrivals=tuple(self.arrivals[job] for job in jobs),
            due_dates=tuple(self.due_dates[job] for job in jobs),
        )

    def to_instance_time(self, units: int | Fraction) -> Fraction:
        """Return a duration, or an instant since the origin, in the unit of the instance."""
        return units / self.scale

    @cached_property
    def total_release(self) -> Fraction:
        """The sum of all releases since the origin: a flowtime is the sum of all ends less this."""
        tasks = self.instance.all_tasks
        return sum((exact(task.release) - self.times.origin for task in tasks), Fraction(0))


def objective_kind(objective: str) -> ObjectiveKind:
    """Return what kind of objective a named one is."""
    if objective == "makespan" or objective == "flowtime":
        return objective  # type: ignore[return-value]
    return "count"


def _units_if_in_time(
    time: Fraction | None, scale: Fraction, start: int, latest: int | None
) -> int | None:
    if time is None:
        return None
    units = floor(time * scale)
    return units if latest is None or start + units <= latest else None


def _choose_scale(times: ExactTimes, kind: ObjectiveKind) -> tuple[Fraction, bool]:
    """Return how many units are one of the instance, and whether all times are integral then."""
    horizon = _exact_horizon(times, kind)
    numbers = {time for row in times.processing_times for time in row if time}
    numbers |= {instant for row in set(times.arrivals) for instant in row if instant}
    unit = Fraction(0)
    for number in sorted(numbers, key=lambda number: number.denominator):
        divisor = lcm(unit.denominator, number.denominator)
        unit = Fraction(gcd(int(unit * divisor), int(number * divisor)), divisor)
        if horizon > MAX_HORIZON * unit:
            return short_scale(GRID_UNITS / horizon), False
    return 1 / unit if unit else Fraction(1), True


def _exact_horizon(times: ExactTimes, kind: ObjectiveKind) -> Fraction:
    """Return an instant by which some optimal schedule has ended."""
    dues = [due for due in times.due_dates if due is not None]
    if kind == "count" and dues:
        return max(max(dues), Fraction(1, MAX_HORIZON))
    last_arrival = max(instant for row in set(times.arrivals) for instant in row)
    if kind == "flowtime":
        columns = zip(*times.processing_times, strict=True)
        return last_arrival + max(
            sum((t for t in column if t is not None), Fraction(0)) for column in columns
        )
    rows = times.processing_times
    least_work = sum((min(t for t in row if t is not None) for row in rows), Fraction(0))
    return last_arrival + least_work


def _evenly_thinned(instants: set[int], most: int | None) -> list[int]:
    """Return instants in order: all, or `most` at even ranks, with the first and the last."""
    ordered = sorted(instants)
    if most is None or len(ordered) <= most:
        return ordered
    step = (len(ordered) - 1) / (most - 1)
    return [ordered[round(k * step)] for k in range(most)]
