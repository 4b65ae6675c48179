"""An instance as the models see it: tasks as in `admission`, reservations, a solver's units.

A float stands for the decimal that it prints. A plan in floats is checked with a tolerance of
`FLOATING` and 64 units in the last place (`dlopt.problems.multistage.violations`): tasks get a
quarter of the larger tolerance `SOLVER`, reservations become shorter by a sixteenth of it, and what
the check lets a plan leave out is settled. So what is proven holds for all plans that `dlopt.check`
accepts. Instances in exact numbers are stated as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import frexp
from typing import Any

from dlopt.arithmetic import FLOATING, SOLVER, Number, exact
from dlopt.models.admission.scaled_instance import Case as Stream
from dlopt.models.admission.scaled_instance import Job, common_measure
from dlopt.models.multistage.reservations import Booking, Weights, booking_of, shortest, unsure
from dlopt.problems.admission.state_times import channel_free_of, remaining_of
from dlopt.problems.multistage.data import Instance

_SIZE = 10
"""Binary logarithm of the horizon and of the largest load that are aimed at."""


@dataclass(frozen=True, slots=True)
class Case:
    """An instance in a solver's units.

    Parameters
    ----------
    instance : Instance
        As given.
    stream : dlopt.models.admission.scaled_instance.Case
        The cluster and the tasks of which something remains.
    bookings : tuple of Booking
        The reservations that count.
    marks : tuple of Fraction
        When reservations start, all of the instance; in order.
    slip : Fraction
        By how much floats may be off where they meet a reservation; 0 for exact instances.
    """

    instance: Instance
    stream: Stream
    bookings: tuple[Booking, ...]
    marks: tuple[Fraction, ...]
    slip: Fraction

    @classmethod
    def of(cls, instance: Instance, objective: str = "accepted", everyone: bool = False) -> Case:
        """State an instance, without what is worth nothing and not promised.

        Parameters
        ----------
        instance : Instance
        objective : str
            What tasks and reservations weigh.
        everyone : bool
            All of them must be accepted.

        Examples
        --------
        >>> from dlopt.problems.cluster import Cluster
        >>> from dlopt.problems.multistage import Reservation, Task
        >>> case = Case.of(
        ...     Instance(
        ...         Cluster(2, tau=1, chi=1),
        ...         (Task("a", 0, 1, 4),),
        ...         (Reservation("r", 0, 1, 3),),
        ...         ready_times=(2, 0),
        ...     )
        ... )
        >>> [booking.able for booking in case.bookings]
        [(1,)]
        """
        weigh = Weights(instance, objective)
        spare = Fraction(0) if instance.exact else exact(SOLVER) / 4
        jobs, settled, granted = _jobs(instance, weigh, spare, everyone)
        short = shortest(instance) * spare / 4
        wanted = [
            booking_of(instance, index, one, weigh, short)
            for index, one in enumerate(instance.reservations)
        ]
        bookings = [
            replace(one, must=one.must or everyone)
            for one in wanted
            if one.must or one.weight or everyone
        ]
        starts = [job.release for job in jobs] or [booking.start for booking in bookings]
        origin = min(starts, default=Fraction(0))
        ends = [job.due for job in jobs] or [booking.end for booking in bookings]
        time = _power(max(ends, default=origin) - origin)
        load = _power(max((job.load for job in jobs), default=Fraction(0)))
        cluster = instance.cluster

        def costs(of: Any) -> tuple[Fraction, ...]:
            return tuple(exact(of(node)) * load / time for node in range(cluster.nodes))

        alone: Any = instance.stream or instance  # without tasks it is asked for nothing of them
        stream = Stream(
            alone,
            tuple(
                replace(
                    job,
                    release=(job.release - origin) / time,
                    due=(job.due - origin) / time,
                    load=job.load / load,
                )
                for job in jobs
            ),
            settled,
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
        scaled = (
            replace(
                booking,
                start=(booking.start - origin) / time,
                sent=(booking.sent - origin) / time,
                end=(booking.end - origin) / time,
            )
            for booking in bookings
        )
        marks = sorted({(booking.start - origin) / time for booking in wanted})
        return cls(instance, stream, tuple(scaled), tuple(marks), short / time)

    def only(self, jobs: Collection[int], bookings: Collection[int]) -> Case:
        """Return the case in which these must be accepted, and no others can be."""
        kept = (replace(self.bookings[r], must=True) for r in sorted(bookings))
        return replace(self, stream=self.stream.only(sorted(jobs)), bookings=tuple(kept))

    def worth_least(self, worth: Fraction) -> Case:
        """Return the case in which all must be accepted without which no plan is worth so much."""
        spare = self.most - worth
        jobs = (replace(job, must=job.must or job.weight > spare) for job in self.jobs)
        kept = (replace(one, must=one.must or one.weight > spare) for one in self.bookings)
        stream = replace(self.stream, jobs=tuple(jobs))
        return replace(self, stream=stream, bookings=tuple(kept))

    def delayed(self, late: Fraction) -> Case:
        """Return the case in which all deadlines are later."""
        jobs = tuple(replace(job, due=job.due + late) for job in self.jobs)
        return replace(self, stream=replace(self.stream, jobs=jobs))

    def worth(self, jobs: Iterable[int], bookings: Iterable[int]) -> Fraction:
        """Return what it is worth to accept some jobs and bookings."""
        held = sum((self.bookings[r].weight for r in bookings), Fraction(0))
        return self.stream.worth(jobs) + held

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The tasks of which something remains."""
        return self.stream.jobs

    @property
    def now(self) -> Fraction:
        """The instant before which nothing new is sent."""
        return (exact(self.instance.now) - self.stream.origin) / self.stream.time_unit

    @property
    def has_promises(self) -> bool:
        """Whether something must be accepted."""
        return any(job.must for job in self.jobs) or any(one.must for one in self.bookings)

    @property
    def most(self) -> Fraction:
        """What it would be worth to accept everything."""
        return self.worth(range(len(self.jobs)), range(len(self.bookings)))

    @property
    def step(self) -> Fraction:
        """The largest number of which every objective, without `granted`, is a multiple."""
        weights = [job.weight for job in self.jobs]
        weights += [booking.weight for booking in self.bookings]
        return common_measure(weights) or Fraction(1)

    @property
    def obstacle(self) -> str | None:
        """Why what must be accepted cannot be, if that is plain; else None."""
        must = [booking for booking in self.bookings if booking.must]
        names = {one.index: self.instance.reservations[one.index].id for one in must}
        for booking in must:
            if booking.obstacle is not None:
                return f"reservation {names[booking.index]}: {booking.obstacle}"
        for second, booking in enumerate(must):
            for other in must[:second]:
                both = f"reservations {names[other.index]} and {names[booking.index]}"
                if booking.bars(other):
                    return f"{both} want the channel at the same time"
                shared = set(booking.able) & set(other.able) if booking.named else set[int]()
                if other.named and shared and booking.meets(other):
                    return f"{both} want node {min(shared)} at the same time"
        return None


def _jobs(
    instance: Instance, weigh: Weights, spare: Fraction, everyone: bool
) -> tuple[list[Job], frozenset[int], Fraction]:
    """Return the tasks to be planned, those of which nothing remains, and what these are worth."""
    stream, jobs = instance.stream, list[Job]()
    settled, granted = set[int](), Fraction(0)
    if stream is None:
        return jobs, frozenset(), granted
    remaining, promised = remaining_of(stream, exact), stream.promised
    ready = max(exact(instance.now), channel_free_of(stream, exact))
    omitted = Fraction(0) if instance.exact else exact(FLOATING)
    for index, task in enumerate(stream.tasks):
        left = remaining[task.id]
        weight = exact(task.load) if weigh.by_load else weigh.task
        must = task.id in promised or everyone
        if left <= omitted * exact(task.load):
            settled.add(index)
            granted += weight
        elif weight or must:
            arrival, deadline = exact(task.arrival), exact(task.deadline)
            last, off = arrival + deadline, unsure(instance)
            release = max(arrival - spare * deadline - off * arrival, ready)
            due = last + spare * deadline + off * last
            jobs.append(Job(index, release, due, left, weight, must))
    return jobs, frozenset(settled), granted


def _power(number: Number) -> Fraction:
    """Return the power of two that brings a number to about a thousand; 1 for 0 and less."""
    if number <= 0:
        return Fraction(1)
    return Fraction(2) ** (frexp(float(number))[1] - _SIZE)
