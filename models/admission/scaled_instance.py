"""An instance as the models see it: in fractions, in a solver's units, without what is settled.

Solvers take feasibility tolerances absolutely: about 1e-7, whether times are microseconds or
seconds since 1970. So the clock starts at the first instant that matters, and time and load are
scaled by powers of two, exactly, to about a thousand.

A float stands for the decimal that it prints. A plan in floats is checked with a tolerance: it is
the rounding of a plan in exact numbers that may miss each deadline by one allowance, `FLOATING`
times the relative deadline and 64 units in the last place (`dlopt.problems.admission.violations`),
and that may leave out what is no more than `FLOATING` of a load. So of instances in floats tasks
are due later by just that allowance, and what may be left out is settled, in every model alike:
what is proven holds for all plans that `dlopt.check` accepts. Instances in exact numbers are
stated as they are. Plans that are made here use half of the allowance (`Case.latest`), so that
they pass the check when they are rounded. At a POSIX date 64 units in the last place are 24
microseconds, whatever the deadlines: where that is more than a millionth of the shortest of them,
results say so in their `reason`, and bounds hold, but are weak.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dlopt.arithmetic import FLOATING, ROUNDING, Number, exact
from dlopt.problems.admission.data import Instance
from dlopt.problems.admission.state_times import channel_free_of, remaining_of

_SIZE = 10
"""Binary logarithm of the horizon and of the largest load that are aimed at."""


@dataclass(frozen=True, slots=True)
class Job:
    """A task of which something remains to be planned.

    Parameters
    ----------
    index : int
        Among the tasks of the instance.
    release, due : Fraction
        Nothing is sent before, everything is computed by then.
    load : Fraction
        What remains.
    weight : Fraction
        What its acceptance is worth.
    must : bool
        Whether it is accepted already.
    """

    index: int
    release: Fraction
    due: Fraction
    load: Fraction
    weight: Fraction
    must: bool


@dataclass(frozen=True, slots=True)
class Case:
    """An instance in a solver's units, and the way back.

    Parameters
    ----------
    instance : Instance
        As given.
    jobs : tuple of Job
    settled : frozenset of int
        Tasks of which nothing remains, or no more than a check lets a plan leave out, by their
        indices: accepting them costs nothing.
    granted : Fraction
        Worth of these.
    tau, chi, free : tuple of Fraction, shape (nodes,)
    theta_cm, theta_cp : Fraction
    origin : Fraction
        The instant 0, in the instance's units.
    time_unit, load_unit : Fraction
        Powers of two: one unit of the model in the instance's units.
    """

    instance: Instance
    jobs: tuple[Job, ...]
    settled: frozenset[int]
    granted: Fraction
    tau: tuple[Fraction, ...]
    chi: tuple[Fraction, ...]
    free: tuple[Fraction, ...]
    theta_cm: Fraction
    theta_cp: Fraction
    origin: Fraction
    time_unit: Fraction
    load_unit: Fraction

    @classmethod
    def of(cls, instance: Instance, objective: str = "accepted") -> Case:
        """State an instance.

        Parameters
        ----------
        instance : Instance
        objective : {"accepted", "accepted-load", "reject-ratio"}
            What tasks weigh: their loads for ``accepted-load``, else 1.

        Examples
        --------
        >>> from dlopt.problems.admission import Task
        >>> from dlopt.problems.cluster import Cluster
        >>> case = Case.of(Instance(Cluster(1, tau=1, chi=1), (Task("a", 8, 1, 4),), now=9))
        >>> [(int(case.instant_back(job.release)), job.must) for job in case.jobs]
        [(9, True)]
        """
        by_load = objective == "accepted-load"
        cluster, channel = instance.cluster, channel_free_of(instance, exact)
        remaining, promised = remaining_of(instance, exact), instance.promised
        floats = not instance.exact
        spare, unsure = floats * exact(FLOATING), floats * ROUNDING
        jobs: list[Job] = []
        settled, granted = set(), Fraction(0)
        for index, task in enumerate(instance.tasks):
            left, weight = remaining[task.id], exact(task.load if by_load else 1)
            if left <= spare * exact(task.load):
                settled.add(index)
                granted += weight
                continue
            arrival, deadline = exact(task.arrival), exact(task.deadline)
            release = max(arrival, exact(instance.now), channel)
            due = (arrival + deadline + spare * deadline) / (1 - unsure)
            jobs.append(Job(index, release, due, left, weight, task.id in promised))
        origin = min((job.release for job in jobs), default=channel)
        time = _power(max((job.due - origin for job in jobs), default=origin))
        load = _power(max((job.load for job in jobs), default=origin))

        def costs(of: Any) -> tuple[Fraction, ...]:
            return tuple(exact(of(node)) * load / time for node in range(cluster.nodes))

        scaled = (
            Job(
                job.index,
                (job.release - origin) / time,
                (job.due - origin) / time,
                job.load / load,
                job.weight,
                job.must,
            )
            for job in jobs
        )
        return cls(
            instance,
            tuple(scaled),
            frozenset(settled),
            granted,
            costs(cluster.tau_of),
            costs(cluster.chi_of),
            tuple((exact(instant) - origin) / time for instant in instance.free_times),
            exact(cluster.theta_cm) / time,
            exact(cluster.theta_cp) / time,
            origin,
            time,
            load,
        )

    def only(self, jobs: Iterable[int]) -> Case:
        """Return the case in which these jobs must be accepted, and no others can be."""
        kept = tuple(replace(self.jobs[i], must=True) for i in jobs)
        return replace(self, jobs=kept)

    def worth(self, jobs: Iterable[int]) -> Fraction:
        """Return what it is worth to accept some jobs."""
        return sum((self.jobs[i].weight for i in jobs), self.granted)

    @property
    def nodes(self) -> range:
        """The nodes."""
        return range(len(self.free))

    @property
    def overhead(self) -> Fraction:
        """Set-up time of a chunk, of transmission and computation."""
        return self.theta_cm + self.theta_cp

    def unit(self, node: int) -> Fraction:
        """Return how long a node is held by a unit of load."""
        return self.tau[node] + self.chi[node]

    def start(self, job: Job, node: int) -> Fraction:
        """Return when a chunk of a job can be sent to a node at the earliest."""
        return max(job.release, self.free[node])

    def room(self, job: Job, node: int) -> Fraction:
        """Return how much of a job a node can do; 0 or less if nothing."""
        time = job.due - self.start(job, node) - self.overhead
        return min(job.load, time / self.unit(node))

    def least_chunks(self, job: Job) -> int | None:
        """Return the fewest nodes that can do a job by itself, None if all of them cannot.

        Examples
        --------
        >>> from dlopt.problems.admission import Task
        >>> from dlopt.problems.cluster import Cluster
        >>> tasks = (Task("a", 0, 3, 4), Task("b", 0, 9, 4))
        >>> case = Case.of(Instance(Cluster(2, tau=1, chi=1), tasks))
        >>> [case.least_chunks(job) for job in case.jobs]
        [2, None]
        """
        done = Fraction(0)
        rooms = sorted((self.room(job, node) for node in self.nodes), reverse=True)
        for count, room in enumerate(rooms, 1):
            if room <= 0:
                break
            done += room
            if done >= job.load:
                return count
        return None

    @property
    def step(self) -> Fraction:
        """The largest number of which every objective, without `granted`, is a multiple."""
        return common_measure(job.weight for job in self.jobs) or Fraction(1)

    def latest(self, job: Job) -> Fraction:
        """Return when a plan that is made here must end a job, in the instance's units.

        It is the deadline, and half of what a check in floats allows.
        """
        task = self.instance.tasks[job.index]
        return (exact(task.arrival) + exact(task.deadline) + self.instant_back(job.due)) / 2

    def instant_back(self, instant: Fraction) -> Fraction:
        """Return an instant in the instance's units."""
        return instant * self.time_unit + self.origin

    def span_back(self, span: Fraction) -> Fraction:
        """Return a length of time in the instance's units."""
        return span * self.time_unit


def common_measure(numbers: Iterable[Fraction]) -> Fraction:
    """Return the largest number of which all are multiples; 0 if there are none.

    Examples
    --------
    >>> common_measure([Fraction(1, 2), Fraction(1, 3)])
    Fraction(1, 6)
    """
    measure = Fraction(0)
    for number in numbers:
        bottom = math.lcm(measure.denominator, number.denominator)
        measure = Fraction(math.gcd(int(measure * bottom), int(number * bottom)), bottom)
    return measure


def _power(number: Number) -> Fraction:
    """Return the power of two that brings a number to about a thousand; 1 for 0 and less."""
    if number <= 0:
        return Fraction(1)
    return Fraction(2) ** (math.frexp(float(number))[1] - _SIZE)
