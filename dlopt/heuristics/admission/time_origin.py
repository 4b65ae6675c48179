"""Streams at dates: in floats they are planned relative to an origin nearby, and shifted back.

At a date a float keeps few digits after the point, and every chunk that is sent after another one
adds a rounding error: after a thousand chunks of a millisecond, back to back at a POSIX date, a
schedule is off by more than the checker tolerates.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import Number, exact
from dlopt.problems.admission.data import Instance, Solution


def origin_of(instance: Instance) -> int:
    """Return the instant to count from: the second of the first arrival, or 0 if that is near.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> origin_of(Instance(Cluster(1, 1, 1), (Task("a", 1.7e9 + 0.5, 1, 4),)))
    1700000000
    """
    if instance.exact or instance.committed:
        return 0
    first = exact(instance.tasks[0].arrival)
    last = max(exact(task.arrival) + exact(task.deadline) for task in instance.tasks)
    return int(first) if last < 2 * int(first) else 0


def from_origin(instance: Instance, origin: int) -> Instance:
    """Return an instance with times relative to an origin; earlier ready times become 0."""

    def since(instant: Number) -> float:
        return float(max(exact(instant) - origin, Fraction(0)))

    return replace(
        instance,
        tasks=tuple(replace(task, arrival=since(task.arrival)) for task in instance.tasks),
        now=since(instance.now),
        ready_times=tuple(map(since, instance.ready_times)),
        channel_ready=since(instance.channel_ready),
    )


def dated(instance: Instance, plan: Solution, origin: int) -> Solution:
    """Return a schedule with times relative to an origin as one with the dates of the instance."""

    def date(instant: Number) -> float:
        return float(exact(instant) + origin)

    arrivals = {task.id: task.arrival for task in instance.tasks}
    return Solution(
        tuple(replace(decision, at=arrivals[decision.task]) for decision in plan.decisions),
        tuple(
            replace(
                chunk,
                transmission_start=date(chunk.transmission_start),
                transmission_end=date(chunk.transmission_end),
                computation_start=date(chunk.computation_start),
                computation_end=date(chunk.computation_end),
            )
            for chunk in plan.chunks
        ),
    )
