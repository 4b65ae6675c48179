"""Divisible tasks and advance reservations of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dlopt.arithmetic import Number
from dlopt.builders.admission import StreamBuilder
from dlopt.builders.names import Names, naming
from dlopt.errors import Fault, InvalidInstanceError
from dlopt.problems.multistage import Instance, Reservation


@dataclass(kw_only=True)
class MultiStageBuilder(StreamBuilder):
    """Builds an instance of `multistage`: nodes, tasks, and reservations of nodes.

    Parameters
    ----------
    name, tau, chi, theta_cm, theta_cp, origin, units
        See `dlopt.builders.nodes.NodesBuilder`.

    Examples
    --------
    >>> builder = MultiStageBuilder(tau=1, chi=2).add_node("left").add_node("right")
    >>> builder = builder.add_reservation("repair", arrival=0, start=4, end=6, nodes=["right"])
    >>> builder.build().reservations[0].nodes
    (1,)
    """

    _reservation_names: Names = field(
        default_factory=lambda: Names("reservation"), init=False, repr=False
    )
    _reservations: list[Reservation] = field(default_factory=list, init=False, repr=False)

    def add_reservation(
        self,
        name: str,
        *,
        arrival: Number,
        start: Number,
        end: Number,
        nodes: int | Sequence[str] = 1,
        io_end: Number | None = None,
        io_ratio: Number | None = None,
        mandatory: bool = False,
    ) -> MultiStageBuilder:
        """Add a reservation of so many nodes, or of those that are named."""
        with naming(f"reservation {name}"):
            chosen = nodes if isinstance(nodes, int) else tuple(map(self._node_names.index, nodes))
            reservation = Reservation(
                name, arrival, start, end, io_end, io_ratio, chosen, mandatory
            )
            self._reservation_names.add(name)
        self._reservations.append(reservation)
        return self

    def build(self, *, task_weight: Number = 1, reservation_weight: Number = 1) -> Instance:
        """Return the instance, tasks and reservations in the order of their arrivals.

        Raises
        ------
        InvalidInstanceError
            If there is no node, or neither a task nor a reservation; or if a reservation is for
            more nodes than there are.
        """
        cluster = self.cluster()
        for reservation in self._reservations:
            with naming(f"reservation {reservation.id}"):
                if reservation.count > cluster.nodes:
                    rule = f"must not be more than the number of nodes, {cluster.nodes}"
                    raise InvalidInstanceError([Fault("nodes", reservation.nodes, rule)])
        return Instance(
            cluster,
            self.sorted_tasks(),
            tuple(sorted(self._reservations, key=lambda one: one.arrival)),
            ready_times=self.ready_times(),
            task_weight=task_weight,
            reservation_weight=reservation_weight,
            name=self.name,
            origin=self.origin,
            units=self.unit_record,
        )
