"""Reservations in the units of the models, and the weights of the objectives."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dlopt.arithmetic import ROUNDING, exact
from dlopt.models.admission.scaled_instance import objective_weight
from dlopt.problems.admission.data import Task
from dlopt.problems.multistage.data import Instance, Reservation


@dataclass(frozen=True, slots=True)
class ScaledReservation:
    """A reservation, in a solver's units.

    Parameters
    ----------
    index : int
        Among the reservations of the instance.
    start, io_end, end : Fraction
        It occupies the channel in ``[start, io_end)`` and its nodes in ``[start, end)``.
    count : int
        How many nodes it requests.
    names_nodes : bool
        Whether it requests particular nodes.
    eligible : tuple of int
        The nodes that it can get: those it names, or all that are free.
    weight : Fraction
        Objective value of accepting it.
    mandatory : bool
        Whether it is accepted already, or cannot be refused.
    obstacle : str or None
        Why it cannot be accepted, whatever else is: committed chunks are in its way.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> wanted = Reservation("r", 0, 1, 3, io_end=2), Reservation("s", 0, 2, 4)
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (), wanted)
    >>> weights = ObjectiveWeights(instance, "accepted")
    >>> r, s = (shorten_reservation(instance, k, wanted[k], weights, Fraction(0)) for k in (0, 1))
    >>> r.conflicts_on_channel(s), r.conflicts_on_node(s)
    (False, True)
    """

    index: int
    start: Fraction
    io_end: Fraction
    end: Fraction
    count: int
    names_nodes: bool
    eligible: tuple[int, ...]
    weight: Fraction
    mandatory: bool
    obstacle: str | None

    def conflicts_on_channel(self, other: ScaledReservation) -> bool:
        """Tell whether the I/O of two reservations overlaps."""
        return max(self.start, other.start) < min(self.io_end, other.io_end)

    def conflicts_on_node(self, other: ScaledReservation) -> bool:
        """Tell whether two reservations cannot share a node."""
        return max(self.start, other.start) < min(self.end, other.end)


class ObjectiveWeights:
    """Objective value of tasks and of a reservation under an objective."""

    def __init__(self, instance: Instance, objective: str) -> None:
        self._objective = objective
        weights = {
            "accepted": (exact(instance.task_weight), exact(instance.reservation_weight)),
            "accepted-reservations": (Fraction(0), Fraction(1)),
            "reject-ratio": (Fraction(1), Fraction(1)),
        }
        self._each_task, self.reservation = weights.get(objective, (Fraction(1), Fraction(0)))

    def of_task(self, task: Task) -> Fraction:
        """Return the objective value of accepting a task."""
        return objective_weight(task, self._objective, self._each_task)


def shorten_reservation(
    instance: Instance,
    index: int,
    reservation: Reservation,
    weights: ObjectiveWeights,
    amount: Fraction,
) -> ScaledReservation:
    """Return a reservation in the instance's units, shortened by an amount and by rounding."""
    start, io_end, end = (
        exact(instant) for instant in (reservation.start, reservation.channel_end, reservation.end)
    )
    middle, rounding = (start + end) / 2, relative_rounding(instance)
    start = min(start + amount + rounding * start, middle)
    end = max(end - amount - rounding * end, middle)
    io_end = max(start, io_end - amount - rounding * io_end)
    now, channel_free = exact(instance.now), exact(instance.channel_free)
    names_nodes = isinstance(reservation.nodes, tuple)
    requested = reservation.nodes if isinstance(reservation.nodes, tuple) else None
    nodes = range(instance.cluster.nodes) if requested is None else requested
    free = [exact(instant) for instant in instance.free_times]
    # Since when the channel or a node is busy is unknown: by the rules it counts from now on.
    first = max(start, now)
    eligible = tuple(j for j in nodes if first >= min(end, free[j]))
    obstacle = None
    if first < min(io_end, channel_free):
        obstacle = "the channel is not free"
    elif len(eligible) < reservation.count:
        obstacle = "too few of its nodes are free"
    return ScaledReservation(
        index,
        start,
        io_end,
        end,
        reservation.count,
        names_nodes,
        eligible,
        weights.reservation,
        reservation.mandatory or reservation.id in instance.promised,
        obstacle,
    )


def relative_rounding(instance: Instance) -> Fraction:
    """Return by which share of itself an instant may be off by the rules; 0 if it is exact."""
    return Fraction(0) if instance.exact else ROUNDING


def shortest_span(instance: Instance) -> Fraction:
    """Return the shortest of relative deadlines and reservations."""
    spans = [exact(task.deadline) for task in instance.tasks]
    spans += [
        exact(reservation.end) - exact(reservation.start) for reservation in instance.reservations
    ]
    return min(spans)
