"""Reservations as the models see them, and what they and the tasks are worth."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dlopt.arithmetic import ROUNDING, exact
from dlopt.problems.multistage.data import Instance, Reservation


@dataclass(frozen=True, slots=True)
class Booking:
    """A reservation, in a solver's units.

    Parameters
    ----------
    index : int
        Among the reservations of the instance.
    start, sent, end : Fraction
        It holds the channel in ``[start, sent)`` and its nodes in ``[start, end)``.
    count : int
        How many nodes it wants.
    named : bool
        Whether it says which.
    able : tuple of int
        The nodes that it can have: those it names, or all that are ready.
    weight : Fraction
        What its acceptance is worth.
    must : bool
        Whether it is accepted already, or cannot be refused.
    obstacle : str or None
        Why it cannot be accepted, whatever else is: what was committed is in its way.
    """

    index: int
    start: Fraction
    sent: Fraction
    end: Fraction
    count: int
    named: bool
    able: tuple[int, ...]
    weight: Fraction
    must: bool
    obstacle: str | None

    def bars(self, other: Booking) -> bool:
        """Tell whether the I/O of two reservations overlaps."""
        return max(self.start, other.start) < min(self.sent, other.sent)

    def meets(self, other: Booking) -> bool:
        """Tell whether two reservations cannot share a node."""
        return max(self.start, other.start) < min(self.end, other.end)


class Weights:
    """What tasks and reservations are worth under an objective."""

    def __init__(self, instance: Instance, objective: str) -> None:
        self.by_load = objective == "accepted-load"
        weights = {
            "accepted": (exact(instance.task_weight), exact(instance.reservation_weight)),
            "accepted-reservations": (Fraction(0), Fraction(1)),
            "reject-ratio": (Fraction(1), Fraction(1)),
        }
        self.task, self.reservation = weights.get(objective, (Fraction(1), Fraction(0)))


def booking_of(
    instance: Instance, index: int, one: Reservation, weigh: Weights, short: Fraction
) -> Booking:
    """Return a reservation of an instance in its own units, shorter by an amount and rounding."""
    start, sent, end = exact(one.start), exact(one.channel_end), exact(one.end)
    middle, off = (start + end) / 2, unsure(instance)
    start, end = min(start + short + off * start, middle), max(end - short - off * end, middle)
    sent = max(start, sent - short - off * sent)
    now, channel = exact(instance.now), exact(instance.channel_free)
    wanted = one.nodes if isinstance(one.nodes, tuple) else range(instance.cluster.nodes)
    free = [exact(instant) for instant in instance.free_times]
    # Since when the channel or a node is busy is not told: by the rules, it counts from now on.
    later = max(start, now)
    able = tuple(j for j in wanted if later >= min(end, free[j]))
    obstacle = None
    if later < min(sent, channel):
        obstacle = "the channel is not free"
    elif len(able) < one.count:
        obstacle = "too few of its nodes are free"
    named = isinstance(one.nodes, tuple)
    must = one.mandatory or one.id in instance.promised
    weight = weigh.reservation
    return Booking(index, start, sent, end, one.count, named, able, weight, must, obstacle)


def unsure(instance: Instance) -> Fraction:
    """Return by how much of itself an instant may be off, as the rules see it."""
    return Fraction(0) if instance.exact else ROUNDING


def shortest(instance: Instance) -> Fraction:
    """Return the shortest of relative deadlines and reservations."""
    spans = [exact(task.deadline) for task in instance.tasks]
    spans += [exact(one.end) - exact(one.start) for one in instance.reservations]
    return min(spans)
