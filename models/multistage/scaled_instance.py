"""An instance in the units of the models: tasks as in `admission`, and reservations.

A float means the decimal that it prints. A schedule in floats is checked with a tolerance of
`FLOATING` and 64 units in the last place (`dlopt.problems.multistage.violations`): tasks get a
quarter of the larger tolerance `SOLVER`, reservations become shorter by a sixteenth of it, and
tasks of which no more remains than the checker lets a schedule leave out count as finished. What is
proven therefore holds for all schedules that `dlopt.check` accepts. Exact instances are stated as
they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dlopt.arithmetic import FLOATING, SOLVER, exact
from dlopt.models.admission.scaled_instance import ScaledInstance as ScaledTaskInstance
from dlopt.models.admission.scaled_instance import ScaledTask, rational_gcd
from dlopt.models.common.solver_units import power_of_two
from dlopt.models.multistage.reservations import (
    ObjectiveWeights,
    ScaledReservation,
    relative_rounding,
    shorten_reservation,
    shortest_span,
)
from dlopt.problems.admission.state_times import channel_free_of, remaining_of
from dlopt.problems.multistage.data import Instance


@dataclass(frozen=True, slots=True)
class ScaledInstance:
    """An instance in a solver's units.

    Parameters
    ----------
    instance : Instance
        As given.
    tasks_only : dlopt.models.admission.scaled_instance.ScaledInstance
        The cluster and the tasks of which load remains, without reservations.
    reservations : tuple of ScaledReservation
        The reservations that count.
    reservation_starts : tuple of Fraction
        The distinct starts of all reservations of the instance, in order.
    float_slack : Fraction
        By how much floats may be off where they meet a reservation; 0 for exact instances.
    """

    instance: Instance
    tasks_only: ScaledTaskInstance
    reservations: tuple[ScaledReservation, ...]
    reservation_starts: tuple[Fraction, ...]
    float_slack: Fraction

    @classmethod
    def from_instance(
        cls, instance: Instance, objective: str = "accepted", accept_all: bool = False
    ) -> ScaledInstance:
        """Scale an instance, without what has no weight and is not promised.

        Parameters
        ----------
        instance : Instance
        objective : str
            It gives the weights of tasks and reservations.
        accept_all : bool
            All of them must be accepted.

        Examples
        --------
        >>> from dlopt.problems.cluster import Cluster
        >>> from dlopt.problems.multistage import Reservation, Task
        >>> scaled = ScaledInstance.from_instance(
        ...     Instance(
        ...         Cluster(2, tau=1, chi=1),
        ...         (Task("a", 0, 1, 4),),
        ...         (Reservation("r", 0, 1, 3),),
        ...         ready_times=(2, 0),
        ...     )
        ... )
        >>> [reservation.eligible for reservation in scaled.reservations]
        [(1,)]
        """
        weights = ObjectiveWeights(instance, objective)
        tolerance = Fraction(0) if instance.exact else exact(SOLVER) / 4
        tasks, finished, value_of_finished = _unfinished_tasks(
            instance, weights, tolerance, accept_all
        )
        shortening = shortest_span(instance) * tolerance / 4
        all_reservations = [
            shorten_reservation(instance, index, reservation, weights, shortening)
            for index, reservation in enumerate(instance.reservations)
        ]
        reservations = [
            replace(reservation, mandatory=reservation.mandatory or accept_all)
            for reservation in all_reservations
            if reservation.mandatory or reservation.weight or accept_all
        ]
        starts = [task.release for task in tasks] or [r.start for r in reservations]
        origin = min(starts, default=Fraction(0))
        ends = [task.due for task in tasks] or [r.end for r in reservations]
        time_unit = power_of_two(max(ends, default=origin) - origin)
        load_unit = power_of_two(max((task.load for task in tasks), default=Fraction(0)))
        # Without tasks there is no admission instance, and nothing is asked of its tasks.
        admission_instance: Any = instance.stream or instance
        tasks_only = ScaledTaskInstance.in_units(
            admission_instance, tasks, finished, value_of_finished, origin, time_unit, load_unit
        )
        scaled_reservations = (
            replace(
                reservation,
                start=(reservation.start - origin) / time_unit,
                io_end=(reservation.io_end - origin) / time_unit,
                end=(reservation.end - origin) / time_unit,
            )
            for reservation in reservations
        )
        reservation_starts = sorted({(r.start - origin) / time_unit for r in all_reservations})
        return cls(
            instance,
            tasks_only,
            tuple(scaled_reservations),
            tuple(reservation_starts),
            shortening / time_unit,
        )

    def restricted_to(
        self, tasks: Collection[int], reservations: Collection[int]
    ) -> ScaledInstance:
        """Return the instance in which these must be accepted, and there are no others."""
        chosen = (replace(self.reservations[r], mandatory=True) for r in sorted(reservations))
        tasks_only = self.tasks_only.restricted_to(sorted(tasks))
        return replace(self, tasks_only=tasks_only, reservations=tuple(chosen))

    def tasks_and_reservations(
        self, requests: Collection[int]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the tasks and the reservations among requests: tasks are counted first."""
        first = len(self.tasks)
        return (
            tuple(k for k in sorted(requests) if k < first),
            tuple(k - first for k in sorted(requests) if k >= first),
        )

    def with_nodes(self, grants: Mapping[int, tuple[int, ...]]) -> ScaledInstance:
        """Return the instance in which reservations get these nodes, and no others."""
        named = (
            replace(one, names_nodes=True, eligible=grants[r]) if r in grants else one
            for r, one in enumerate(self.reservations)
        )
        return replace(self, reservations=tuple(named))

    def with_value_at_least(self, value: Fraction) -> ScaledInstance:
        """Return the instance in which all is mandatory without which a value is unattainable."""
        slack = self.max_value - value
        tasks = (replace(t, mandatory=t.mandatory or t.weight > slack) for t in self.tasks)
        reservations = (
            replace(r, mandatory=r.mandatory or r.weight > slack) for r in self.reservations
        )
        tasks_only = replace(self.tasks_only, tasks=tuple(tasks))
        return replace(self, tasks_only=tasks_only, reservations=tuple(reservations))

    def with_deadlines_extended(self, extension: Fraction) -> ScaledInstance:
        """Return the instance in which all deadlines are later."""
        tasks = tuple(replace(task, due=task.due + extension) for task in self.tasks)
        return replace(self, tasks_only=replace(self.tasks_only, tasks=tasks))

    def with_stated_reservations(self) -> ScaledInstance:
        """Return the instance in which reservations are as long as stated, also in floats."""
        reservations = []
        for reservation in self.reservations:
            stated = self.instance.reservations[reservation.index]
            start, io_end, end = (
                (exact(instant) - self.tasks_only.origin) / self.tasks_only.time_unit
                for instant in (stated.start, stated.channel_end, stated.end)
            )
            reservations.append(replace(reservation, start=start, io_end=io_end, end=end))
        return replace(self, reservations=tuple(reservations))

    def stated_arrival(self, task: int) -> Fraction:
        """Return when a task arrives as stated; its release may be earlier, in floats."""
        arrival = exact(self.instance.tasks[self.tasks[task].index].arrival)
        return (arrival - self.tasks_only.origin) / self.tasks_only.time_unit

    def value(self, tasks: Iterable[int], reservations: Iterable[int]) -> Fraction:
        """Return the objective value of accepting some tasks and reservations."""
        reserved = sum((self.reservations[r].weight for r in reservations), Fraction(0))
        return self.tasks_only.value(tasks) + reserved

    @property
    def tasks(self) -> tuple[ScaledTask, ...]:
        """The tasks of which load remains."""
        return self.tasks_only.tasks

    @property
    def now(self) -> Fraction:
        """The instant before which nothing new is sent."""
        origin, time_unit = self.tasks_only.origin, self.tasks_only.time_unit
        return (exact(self.instance.now) - origin) / time_unit

    @property
    def has_mandatory(self) -> bool:
        """Whether something must be accepted."""
        tasks = any(task.mandatory for task in self.tasks)
        return tasks or any(reservation.mandatory for reservation in self.reservations)

    @property
    def max_value(self) -> Fraction:
        """The objective value of accepting everything."""
        return self.value(range(len(self.tasks)), range(len(self.reservations)))

    @property
    def value_of_finished(self) -> Fraction:
        """Objective value of accepting the tasks of which nothing remains."""
        return self.tasks_only.value_of_finished

    @property
    def value_granularity(self) -> Fraction:
        """The largest number of which all objective values are multiples.

        Values are counted without those of finished tasks.
        """
        weights = [task.weight for task in self.tasks]
        weights += [reservation.weight for reservation in self.reservations]
        return rational_gcd(weights) or Fraction(1)

    @property
    def obstacle(self) -> str | None:
        """Why the mandatory reservations cannot be accepted, if that is obvious; else None."""
        mandatory = [reservation for reservation in self.reservations if reservation.mandatory]
        names = {r.index: self.instance.reservations[r.index].id for r in mandatory}
        for reservation in mandatory:
            if reservation.obstacle is not None:
                return f"reservation {names[reservation.index]}: {reservation.obstacle}"
        for second, reservation in enumerate(mandatory):
            for other in mandatory[:second]:
                both = f"reservations {names[other.index]} and {names[reservation.index]}"
                if reservation.conflicts_on_channel(other):
                    return f"{both} request the channel at the same time"
                if not (reservation.names_nodes and other.names_nodes):
                    continue
                shared = set(reservation.eligible) & set(other.eligible)
                if shared and reservation.conflicts_on_node(other):
                    return f"{both} request node {min(shared)} at the same time"
        return None


def _unfinished_tasks(
    instance: Instance, weights: ObjectiveWeights, tolerance: Fraction, accept_all: bool
) -> tuple[list[ScaledTask], frozenset[int], Fraction]:
    """Return the tasks to be planned, those of which nothing remains, and the value of these."""
    stream, tasks = instance.stream, list[ScaledTask]()
    finished, value_of_finished = set[int](), Fraction(0)
    if stream is None:
        return tasks, frozenset(), value_of_finished
    remaining, promised = remaining_of(stream, exact), stream.promised
    earliest = max(exact(instance.now), channel_free_of(stream, exact))
    omittable = Fraction(0) if instance.exact else exact(FLOATING)
    for index, task in enumerate(stream.tasks):
        left = remaining[task.id]
        weight = weights.of_task(task)
        mandatory = task.id in promised or accept_all
        if left <= omittable * exact(task.load):
            finished.add(index)
            value_of_finished += weight
        elif weight or mandatory:
            arrival, deadline = exact(task.arrival), exact(task.deadline)
            last, rounding = arrival + deadline, relative_rounding(instance)
            release = max(arrival - tolerance * deadline - rounding * arrival, earliest)
            due = last + tolerance * deadline + rounding * last
            tasks.append(ScaledTask(index, release, due, left, weight, mandatory))
    return tasks, frozenset(finished), value_of_finished
