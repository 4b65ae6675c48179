"""An instance as the models see it: jobs on machines, in whole units of time.

Time counts from the first instant at which some job can start (`dlopt.models.bag.exact_times`).
Only starts that follow from durations and arrivals matter, so a unit of which these are multiples
loses nothing: deadlines are rounded down to it. Where there is no such unit that is long enough,
all times are rounded down. Every order of jobs then ends no later than it does in truth, so what is
proven of the rounded times bounds all plans; plans are timed anew in fractions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import floor, lcm
from typing import Literal, NamedTuple

from dlopt.arithmetic import exact
from dlopt.models.bag.exact_times import Times, in_reach
from dlopt.problems.bag.data import Instance
from dlopt.problems.bag.goals import OBJECTIVES

MOST_LISTED = 64
"""Earlier jobs that are told one by one for a later one; more are told by one variable."""
LARGEST = 2**40
"""No horizon is longer, in units of time."""
_GRID = LARGEST
"""Units of time within the horizon, if times have no common unit that is long enough."""

Kind = Literal["makespan", "flowtime", "count"]


class Window(NamedTuple):
    """Jobs that run on a machine from `start` to `end` or not at all."""

    start: int
    end: int
    jobs: tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """Jobs on machines, in units of time such that every number is an integer.

    Parameters
    ----------
    instance : Instance
    objective : str
    times : Times
    scale : Fraction
        Units of time in one of the instance.
    whole : bool
        Whether durations and arrivals are multiples of a unit; else they are rounded down.
    jobs : tuple of int
        Tasks that are decided about: all, or those with a deadline that some machine can keep.
    lengths : tuple of tuple of (int or None), shape (jobs, machines)
        How long a job takes; None where it cannot run, or not in time.
    arrivals : tuple of tuple of int, shape (jobs, machines)
    dues : tuple of (int or None), shape (jobs,)
    """

    instance: Instance
    objective: str
    times: Times
    scale: Fraction
    whole: bool
    jobs: tuple[int, ...]
    lengths: tuple[tuple[int | None, ...], ...]
    arrivals: tuple[tuple[int, ...], ...]
    dues: tuple[int | None, ...]

    @classmethod
    def of(cls, instance: Instance, objective: str) -> Case:
        """State an instance.

        Examples
        --------
        >>> from dlopt.problems.bag import Machine, Task
        >>> tasks = Task("a", 3, absolute_deadline=2), Task("b", 1, absolute_deadline=1)
        >>> machines = Machine("m", power=2), Machine("n")
        >>> case = Case.of(Instance((*tasks, Task("c", 1)), machines), "accepted")
        >>> case.scale, case.jobs, case.lengths, case.dues
        (Fraction(2, 1), (0, 1), ((3, None), (1, 2)), (4, 2))
        """
        times = Times.of(instance)
        if kind_of(objective) == "makespan":
            times = in_reach(times)
        scale, whole = _scale(times, kind_of(objective))
        jobs, lengths, arrivals, dues = [], [], [], []
        for task, due in enumerate(times.dues):
            if due is None and kind_of(objective) == "count":
                continue  # it is run after all others, and stands in no one's way
            last = None if due is None else floor(due * scale)
            here = tuple(floor(instant * scale) for instant in times.arrivals[task])
            row = tuple(
                _in_time(length, scale, start, last)
                for length, start in zip(times.lengths[task], here, strict=True)
            )
            if any(length is not None for length in row):
                jobs.append(task)
                lengths.append(row)
                arrivals.append(here)
                dues.append(last)
        lists = tuple(jobs), tuple(lengths), tuple(arrivals), tuple(dues)
        return cls(instance, objective, times, scale, whole, *lists)

    @property
    def kind(self) -> Kind:
        """Whether the last end, all ends, or the number of jobs in time is what counts."""
        return kind_of(self.objective)

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of the objective."""
        return OBJECTIVES[self.objective].levels or (self.objective,)

    @property
    def machines(self) -> range:
        """The machines."""
        return range(len(self.times.lengths[0]))

    @cached_property
    def places(self) -> list[list[int]]:
        """The machines that can run each job."""
        return [[k for k, length in enumerate(row) if length is not None] for row in self.lengths]

    @cached_property
    def able(self) -> list[list[int]]:
        """The jobs that each machine can run."""
        found: list[list[int]] = [[] for _ in self.machines]
        for job, machines in enumerate(self.places):
            for machine in machines:
                found[machine].append(job)
        return found

    def length(self, job: int, machine: int) -> int:
        """Return how long a job takes on a machine that can run it."""
        length = self.lengths[job][machine]
        assert length is not None  # callers ask for `places`
        return length

    def together(self, machine: int) -> bool:
        """Tell whether all jobs that a machine can run arrive there at the same time."""
        return len({self.arrivals[job][machine] for job in self.able[machine]}) <= 1

    @cached_property
    def simple(self) -> bool:
        """Whether jobs arrive on every machine together, so that one order is best on each."""
        return all(map(self.together, self.machines))

    def counts(self, level: str, task: int) -> bool:
        """Tell whether a task that is met counts on a level."""
        priority = self.instance.all_tasks[task].priority
        return level in ("accepted", "all") or priority == level

    def offset(self, level: str) -> int:
        """Return how many tasks without a deadline count on a level: they are always met."""
        undated = (task for task, due in enumerate(self.times.dues) if due is None)
        return sum(self.counts(level, task) for task in undated)

    def weights(self, level: str) -> list[int]:
        """Return what each job counts on a level of numbers of tasks."""
        return [int(self.counts(level, task)) for task in self.jobs]

    @cached_property
    def horizon(self) -> int:
        """An instant by which every plan that is worth a look has ended."""
        if self.kind == "count":
            return max((due for due in self.dues if due is not None), default=0)
        last = max(map(max, self.arrivals))
        totals = (sum(self.length(job, k) for job in self.able[k]) for k in self.machines)
        return last + max(totals)

    def windows(self, machine: int, most: int | None = None) -> Iterator[Window]:
        """Yield windows of a machine, and the jobs that can only run within each of them.

        Where the jobs arrive together it is enough that they fit into every window that begins
        there: in the order of their deadlines they are in time then.

        Parameters
        ----------
        machine : int
        most : int, optional
            Look at so many starts and so many ends at the most.
        """
        jobs = self.able[machine]
        dues = {job: due for job in jobs if (due := self.dues[job]) is not None}
        for start in _thinned({self.arrivals[job][machine] for job in jobs}, most):
            for end in _thinned(set(dues.values()), most):
                inside = tuple(
                    job
                    for job, due in dues.items()
                    if due <= end and self.arrivals[job][machine] >= start
                )
                if inside and sum(self.length(job, machine) for job in inside) > end - start:
                    yield Window(start, end, inside)

    @cached_property
    def longest(self) -> int:
        """When the job that ends last by itself ends: no plan of all jobs ends before."""
        return max(
            min(here[k] + self.length(job, k) for k in self.places[job])
            for job, here in enumerate(self.arrivals)
        )

    def tails(self, machine: int, latest: int, most: int | None = None) -> Iterator[Window]:
        """Yield instants, and the jobs that can only run on a machine after each of them.

        By first come, first served a machine ends at the latest arrival of a job that it runs,
        plus the lengths of those that arrive no earlier; no order ends earlier. Later instants
        than `latest` are left out, with `latest` in their place. Those up to `longest` may be
        added to lengths whether or not such a job is run; see `late_tails` for the others. The
        `end` of these windows is not used.
        """
        jobs = self.able[machine]
        starts = {min(self.arrivals[job][machine], latest) for job in jobs}
        for start in _thinned(starts, most):
            later = tuple(job for job in jobs if self.arrivals[job][machine] >= start)
            yield Window(start, start, later)

    def late_tails(self, machine: int) -> Iterator[tuple[int, Window]]:
        """Yield the jobs that arrive at a machine after `longest`, each with its own tail.

        If the job is run there, the machine ends no earlier than its arrival plus the lengths.
        """
        jobs = self.able[machine]
        for job in jobs:
            start = self.arrivals[job][machine]
            if start > self.longest:
                later = tuple(one for one in jobs if self.arrivals[one][machine] >= start)
                yield job, Window(start, start, later)

    @cached_property
    def alike(self) -> list[list[int]]:
        """Machines that may be exchanged for each other in any plan, in groups of two or more."""
        groups: Mapping[object, list[int]] = defaultdict(list)
        for k in self.machines:
            if self.able[k]:
                column = tuple((row[k], here[k]) for row, here in self._rows())
                groups[column].append(k)
        return [group for group in groups.values() if len(group) > 1]

    def _rows(self) -> Iterable[tuple[tuple[int | None, ...], tuple[int, ...]]]:
        return zip(self.lengths, self.arrivals, strict=True)

    def only(self, jobs: tuple[int, ...], places: Iterable[set[int]]) -> Case:
        """Return the case of some jobs, each on some machines that can run it."""
        return replace(
            self,
            jobs=tuple(self.jobs[job] for job in jobs),
            lengths=tuple(
                tuple(length if k in own else None for k, length in enumerate(self.lengths[job]))
                for job, own in zip(jobs, places, strict=True)
            ),
            arrivals=tuple(self.arrivals[job] for job in jobs),
            dues=tuple(self.dues[job] for job in jobs),
        )

    def time(self, units: int | Fraction) -> Fraction:
        """Return a time since the origin, or a duration, in that of the instance."""
        return units / self.scale

    @cached_property
    def released(self) -> Fraction:
        """The sum of all releases since the origin: sums of ends are flowtimes, and these."""
        tasks = self.instance.all_tasks
        return sum((exact(task.release) - self.times.origin for task in tasks), Fraction(0))


def kind_of(objective: str) -> Kind:
    """Return what an objective is about."""
    if objective == "makespan" or objective == "flowtime":
        return objective  # type: ignore[return-value]
    return "count"


def _in_time(length: Fraction | None, scale: Fraction, start: int, last: int | None) -> int | None:
    if length is None:
        return None
    units = floor(length * scale)
    return units if last is None or start + units <= last else None


def _scale(times: Times, kind: Kind) -> tuple[Fraction, bool]:
    """Return how many units one of time is, and whether all times are whole then."""
    horizon = _horizon(times, kind)
    scale = 1
    numbers = {length.denominator for row in times.lengths for length in row if length is not None}
    numbers |= {instant.denominator for row in set(times.arrivals) for instant in row}
    for number in sorted(numbers):
        scale = lcm(scale, number)
        if scale * horizon > LARGEST:
            return _GRID / horizon, False
    return Fraction(scale), True


def _horizon(times: Times, kind: Kind) -> Fraction:
    """Return an instant by which a plan worth a look has ended; see `Case.horizon`."""
    dues = [due for due in times.dues if due is not None]
    if kind == "count" and dues:
        return max(max(dues), Fraction(1, LARGEST))
    last = max(instant for row in set(times.arrivals) for instant in row)
    if kind == "flowtime":
        columns = zip(*times.lengths, strict=True)
        return last + max(
            sum((t for t in column if t is not None), Fraction(0)) for column in columns
        )
    rows = times.lengths
    return last + sum((min(t for t in row if t is not None) for row in rows), Fraction(0))


def _thinned(instants: set[int], most: int | None) -> list[int]:
    """Return some instants in order: all, or so many evenly, the first and the last among them."""
    ordered = sorted(instants)
    if most is None or len(ordered) <= most:
        return ordered
    step = (len(ordered) - 1) / (most - 1)
    return [ordered[round(k * step)] for k in range(most)]
