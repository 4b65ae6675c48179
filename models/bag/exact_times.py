"""The times of an instance as exact fractions, since the first possible start."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from dlopt.arithmetic import FLOATING, ROUNDING, Number, exact
from dlopt.problems.allowance import DRIFT
from dlopt.problems.bag import goals
from dlopt.problems.bag.data import Instance
from dlopt.problems.bag.network import transfer_times

LONG_TIME_RATIO = 2**20
"""A processing time is checked for reachability only if it is so many times the sum of the least
processing times of all tasks. Chosen by hand: shorter ones do not spoil the scaling to integers."""


@dataclass(frozen=True)
class ExactTimes:
    """When and for how long tasks can run on machines.

    Parameters
    ----------
    origin : Fraction
        The first instant at which some task can start. All other instants count from here, so
        that rounding and tolerances are relative to the schedule and not to a date.
    processing_times : tuple of tuple of (Fraction or None), shape (tasks, machines)
        None where a task cannot run.
    arrivals : tuple of tuple of Fraction, shape (tasks, machines)
        When the machine is ready and the input of the task is there; where a task cannot run, its
        earliest arrival elsewhere.
    due_dates : tuple of (Fraction or None), shape (tasks,)
        For bounds. Of instances in floats a little later than stated: no less than the checker of
        a schedule tolerates in total. So what is proven infeasible is so for every schedule that
        passes the check.
    schedule_due_dates : tuple of (Fraction or None), shape (tasks,)
        For schedules. Of instances in floats later than stated by half of what the checker
        tolerates at one instant.
    """

    origin: Fraction
    processing_times: tuple[tuple[Fraction | None, ...], ...]
    arrivals: tuple[tuple[Fraction, ...], ...]
    due_dates: tuple[Fraction | None, ...]
    schedule_due_dates: tuple[Fraction | None, ...]

    @classmethod
    def from_instance(cls, instance: Instance) -> ExactTimes:
        """Return the times of an instance.

        Examples
        --------
        >>> from dlopt.problems.bag import Machine, Task
        >>> machines = (Machine("m", power=2, ready=8), Machine("n", ready=7))
        >>> instance = Instance((Task("t", 3, absolute_deadline=11),), machines)
        >>> times = ExactTimes.from_instance(instance)
        >>> [str(time) for time in times.processing_times[0]], [int(a) for a in times.arrivals[0]]
        (['3/2', '3'], [1, 0])
        >>> int(times.origin), int(times.due_dates[0])
        (7, 4)
        """
        processing_times, instants = _processing_times(instance), _arrivals(instance)
        origin = _first_start(processing_times, instants)
        since_origin = {
            id(row): _map_distinct(lambda instant: instant - origin, row) for row in instants
        }
        shortest = min(time for row in processing_times for time in row if time is not None)
        stated = tuple(
            None if task.absolute_deadline is None else exact(task.absolute_deadline) - origin
            for task in instance.all_tasks
        )
        tables = processing_times, tuple(since_origin[id(row)] for row in instants)
        if instance.exact:
            return cls(origin, *tables, stated, stated).restrict(processing_times)
        relaxation = _DeadlineRelaxation(instance, shortest)
        due_dates, schedule_due_dates = (
            tuple(None if due is None else due + tolerance(due + origin) for due in stated)
            for tolerance in (relaxation.total_tolerance, relaxation.half_tolerance)
        )
        times = cls(origin, *tables, due_dates, schedule_due_dates)
        return times.restrict(processing_times)

    def restrict(self, processing_times: tuple[tuple[Fraction | None, ...], ...]) -> ExactTimes:
        """Return the times where fewer pairs of task and machine are eligible.

        Arrivals where a task is not eligible are replaced by its earliest arrival.
        """
        arrivals = (
            row if _runs_everywhere(times) else _mask_arrivals(times, row)
            for times, row in zip(processing_times, self.arrivals, strict=True)
        )
        return replace(self, processing_times=processing_times, arrivals=tuple(arrivals))


class _DeadlineRelaxation:
    """By how much deadlines in floats are relaxed.

    Parameters
    ----------
    instance : Instance
    shortest : Fraction
        The shortest processing time.
    """

    def __init__(self, instance: Instance, shortest: Fraction) -> None:
        self._tolerance = exact(FLOATING) * shortest
        self._drift = DRIFT * len(instance.all_tasks)
        self._first = exact(goals.origin(instance, "makespan"))

    def half_tolerance(self, date: Fraction) -> Fraction:
        """Return half of what the checker of a schedule tolerates at a deadline."""
        return (self._tolerance + ROUNDING * date) / 2

    def total_tolerance(self, date: Fraction) -> Fraction:
        """Return more than the checker tolerates at a deadline and in the schedule before it."""
        since = max(date - self._first, Fraction(0))
        return 2 * self._tolerance + 3 * ROUNDING * date + 2 * self._drift * since


def drop_unreachable(times: ExactTimes, flowtime: bool = False) -> ExactTimes:
    """Remove pairs of a task and a machine that end after a list schedule has ended.

    No schedule that ends as early has the task there. So a machine that is ready in a hundred years
    does not make the horizon a hundred years long, nor does a machine on which a task takes as
    long. Times are returned as they are if all arrivals are equal and processing times are not that
    different.

    Of the flowtime, pairs are removed that end after twice the sum of all ends of the list
    schedule: in certificates, whose times are rounded down, they are still after that sum.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine, Task
    >>> machines = Machine("m"), Machine("n", ready=10**9)
    >>> instance = Instance((Task("t", 3),), machines)
    >>> near = drop_unreachable(ExactTimes.from_instance(instance))
    >>> [None if time is None else int(time) for time in near.processing_times[0]]
    [3, None]
    """
    arrive_together = len({instant for row in times.arrivals for instant in _distinct(row)}) == 1
    least_work = sum(map(_shortest, times.processing_times))
    if arrive_together and _longest(times) <= LONG_TIME_RATIO * least_work:
        return times
    free, total = [Fraction(0)] * len(times.processing_times[0]), Fraction(0)
    pairs = zip(times.processing_times, times.arrivals, strict=True)
    for row, arrivals in sorted(pairs, key=_earliest_arrival):
        end, machine = min(
            (max(free[k], arrivals[k]) + time, k) for k, time in enumerate(row) if time is not None
        )
        free[machine] = end
        total += end
    latest = 2 * total if flowtime else max(free)
    reachable = (
        tuple(
            None if time is None or start + time > latest else time
            for time, start in zip(row, arrivals, strict=True)
        )
        for row, arrivals in zip(times.processing_times, times.arrivals, strict=True)
    )
    return times.restrict(tuple(reachable))


def without_idle_time(times: ExactTimes) -> ExactTimes:
    """Shorten periods in which no schedule of the tasks on time need run anything.

    Let no pair of a task and a machine arrive between `H` and `g`, and let `H` be no less than
    ``last arrival + sum of processing times`` on any machine, over the pairs that can be on time
    and arrive after the period of this kind before, and before `g`. From its last arrival on a
    machine can run these one after another, in the order that a schedule has, none later than
    there, and ends by `H`. So there is a schedule with the same tasks on time that runs nothing
    between `H` and `g`, for the others cannot start before `g`. It stays one if everything from `g`
    on is moved to `H`, arrivals and due dates, and due dates in between are replaced by `H`; and
    the other way round. Due dates after the last period of work are replaced by its end.

    Tasks without due dates are left out of account: they are run after all others.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine, Task
    >>> patient = Task("patient", 3, release=2, absolute_deadline=10**9)
    >>> late = Task("late", 3, release=900, absolute_deadline=950)
    >>> times = ExactTimes.from_instance(Instance((patient, late), (Machine("m"),)))
    >>> near = without_idle_time(times)
    >>> [int(row[0]) for row in near.arrivals], [int(due) for due in near.due_dates]
    ([0, 3], [6, 6])
    """
    pairs = sorted(
        (arrivals[k], k, time)
        for row, arrivals, due in zip(
            times.processing_times, times.arrivals, times.due_dates, strict=True
        )
        for k, time in enumerate(row)
        if time is not None and due is not None and arrivals[k] + time <= due
    )
    work: dict[int, Fraction] = defaultdict(Fraction)
    last = Fraction(0)
    idle: list[tuple[Fraction, Fraction]] = []
    for arrival, k, time in pairs:
        if arrival > last:
            idle.append((last, arrival))
            work.clear()
        work[k] += time
        last = max(last, arrival + work[k])
    moved = _Moved(idle, last)
    return replace(
        times,
        arrivals=tuple(_map_distinct(moved, row) for row in times.arrivals),
        due_dates=tuple(None if due is None else moved(due) for due in times.due_dates),
    )


class _Moved:
    """Moves instants across idle periods, and those after the last work to its end."""

    def __init__(self, idle: list[tuple[Fraction, Fraction]], last: Fraction) -> None:
        self.ends = [end for _, end in idle]
        self.starts = [*(start for start, _ in idle), last]
        self.lengths = [Fraction(0)]
        for start, end in idle:
            self.lengths.append(self.lengths[-1] + end - start)

    def __call__(self, instant: Fraction) -> Fraction:
        passed = bisect_right(self.ends, instant)
        return min(instant, self.starts[passed]) - self.lengths[passed]


def _longest(times: ExactTimes) -> Fraction:
    return max(time for row in times.processing_times for time in row if time is not None)


def _shortest(row: Iterable[Fraction | None]) -> Fraction:
    return min(time for time in row if time is not None)


def _earliest_arrival(pair: tuple[object, tuple[Fraction, ...]]) -> Fraction:
    return min(pair[1])


def _mask_arrivals(
    times: Iterable[Fraction | None], arrivals: tuple[Fraction, ...]
) -> tuple[Fraction, ...]:
    """Return the arrivals of a task, and its earliest one where it cannot run."""
    eligible = [time is not None for time in times]
    pairs = list(zip(arrivals, eligible, strict=True))
    first = min(instant for instant, runs in pairs if runs)
    return tuple(instant if runs else first for instant, runs in pairs)


def _first_start(
    processing_times: Iterable[Iterable[Fraction | None]], arrivals: Iterable[Iterable[Fraction]]
) -> Fraction:
    """Return the first instant at which a task can start on a machine that can run it."""
    return min(
        instant
        for times, row in zip(processing_times, arrivals, strict=True)
        for instant in _distinct(row if _runs_everywhere(times) else _where_eligible(times, row))
    )


def _runs_everywhere(times: Iterable[Fraction | None]) -> bool:
    return not any(time is None for time in times)  # `in` would compare with each fraction


def _where_eligible(
    times: Iterable[Fraction | None], arrivals: Iterable[Fraction]
) -> tuple[Fraction, ...]:
    pairs = zip(times, arrivals, strict=True)
    return tuple(instant for time, instant in pairs if time is not None)


def _distinct(row: Iterable[Fraction]) -> Iterable[Fraction]:
    """Return the objects in a row, each once: fractions are slow to compare, and often shared."""
    return {id(instant): instant for instant in row}.values()


def _map_distinct(
    function: Callable[[Fraction], Fraction], row: Iterable[Fraction]
) -> tuple[Fraction, ...]:
    """Return a function of each entry, computed once for each object."""
    images = {id(instant): function(instant) for instant in _distinct(row)}
    return tuple(images[id(instant)] for instant in row)


def _processing_times(instance: Instance) -> tuple[tuple[Fraction | None, ...], ...]:
    if instance.etc is not None:
        return tuple(
            tuple(None if time is None else exact(time) for time in row) for row in instance.etc
        )
    powers = [exact(machine.power) for machine in instance.machines]
    works = [exact(task.work or 0) for task in instance.tasks]
    return tuple(tuple(work / power for power in powers) for work in works)


def _arrivals(instance: Instance) -> tuple[tuple[Fraction, ...], ...]:
    """Return when each task can start on each machine; tasks of equal data share their row."""
    class_number: dict[tuple[int, Number], int] = {}
    machine_class = [
        class_number.setdefault((machine.site, machine.ready), len(class_number))
        for machine in instance.all_machines
    ]
    classes = [(site, exact(ready)) for site, ready in class_number]
    transfers: dict[tuple[int, Fraction], tuple[Fraction, ...]] = {}
    rows: dict[tuple[int, Fraction, Fraction], tuple[Fraction, ...]] = {}
    arrivals = []
    for task in instance.all_tasks:
        key = task.site, exact(task.input), exact(task.release)
        if key not in rows:
            if key[:2] not in transfers:
                transfers[key[:2]] = transfer_times(instance, task.site, key[1], exactly=True)
            to_site = transfers[key[:2]]
            of_class = [
                max(key[2] + exact(to_site[site] if site != task.site else 0), ready)
                for site, ready in classes
            ]
            rows[key] = tuple(of_class[index] for index in machine_class)
        arrivals.append(rows[key])
    return tuple(arrivals)
