"""The stages of a single task: when the channel and the nodes are free between reservations.

In stage ``(T, E, F)`` the channel is free on ``[T, E]``; at E, a reservation occupies it until F,
or ``E = F`` is the deadline. In the stage, node `j` can be used in its window ``[r_j, d_j]``: from
when it is free until F, or until its own next reservation. Reservations whose I/O touches are one
pause of the channel; one without I/O separates two stages.

Source: Mamat 2011, section 5.2, with windows that are clipped to arrival and deadline: the stages
of model (i) of the package. The clipping repairs the flaws F1, F2, F5 and F9 of the printed
algorithm, ``d_j`` its flaw F8.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from dlopt.arithmetic import is_less
from dlopt.errors import NotApplicableError
from dlopt.models.admission.fixed_sequence_lp import uses_port
from dlopt.models.admission.scaled_instance import ScaledTask
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.problems.admission.data import Task
from dlopt.problems.multistage.data import Grant, Instance, Reservation


class NodeWindow(NamedTuple):
    """A node, and when it can be used in a stage."""

    node: int
    ready: Fraction
    due: Fraction


class Stage(NamedTuple):
    """A stage: the channel is free from `start` to `send_by`, results are due at `due`."""

    start: Fraction
    send_by: Fraction
    due: Fraction
    windows: tuple[NodeWindow, ...]


@dataclass(frozen=True, slots=True)
class SingleTaskInstance:
    """A single task, and the accepted reservations around it.

    Parameters
    ----------
    scaled : ScaledInstance
        With one task; its reservations name their nodes.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> wanted = (Reservation("r", 0, 1, 3, io_end=2, nodes=(0,)),)
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 2, 4),), wanted)
    >>> single = SingleTaskInstance.from_instance(instance)
    >>> [[window.node for window in stage.windows] for stage in single.stages()]
    [[0, 1], [0, 1]]
    """

    scaled: ScaledInstance

    @classmethod
    def from_instance(
        cls, instance: Instance, task: str | None = None, grants: Iterable[Grant] | None = None
    ) -> SingleTaskInstance:
        """Scale an instance, and leave the other tasks out.

        Parameters
        ----------
        instance : Instance
        task : str, optional
            By default the first one.
        grants : iterable of Grant, optional
            The reservations that are accepted. By default all of them, each naming its nodes.

        Raises
        ------
        NotApplicableError
            If there is no such task, or a reservation that is accepted names no nodes.
        """
        reservations = _accepted_reservations(instance, grants)
        whole_task = replace(_find_task(instance, task), remaining=None)
        if is_less(whole_task.arrival, instance.now):
            whole_task = replace(whole_task, remaining=whole_task.load)
        single = replace(instance, tasks=(whole_task,), reservations=reservations)
        return cls(ScaledInstance.from_instance(single, "accepted", accept_all=True))

    @property
    def task(self) -> ScaledTask:
        """The task."""
        return self.scaled.tasks[0]

    def channel_reservations(self) -> list[tuple[Fraction, Fraction]]:
        """Return when the channel is reserved from the release to the deadline, in order."""
        first, last = self.task.release, self.task.due
        pauses: list[tuple[Fraction, Fraction]] = []
        for start, end in sorted(
            (reservation.start, reservation.io_end) for reservation in self.scaled.reservations
        ):
            if end < first or start > last:
                continue
            if pauses and start <= pauses[-1][1]:
                pauses[-1] = pauses[-1][0], max(end, pauses[-1][1])
            else:
                pauses.append((start, end))
        return pauses

    def node_reservations(self) -> dict[int, list[tuple[Fraction, Fraction]]]:
        """Return when each node is reserved, in order."""
        reserved: dict[int, list[tuple[Fraction, Fraction]]] = defaultdict(list)
        for reservation in self.scaled.reservations:
            nodes = self.scaled.instance.reservations[reservation.index].nodes
            for node in nodes if isinstance(nodes, tuple) else ():
                reserved[node].append((reservation.start, reservation.end))
        return {node: sorted(intervals) for node, intervals in reserved.items()}

    def stages(self) -> list[Stage]:
        """Return the stages with the windows of their nodes, in order."""
        start, last, reserved = self.task.release, self.task.due, self.node_reservations()
        stages = []
        for pause, end in [*self.channel_reservations(), (last, last)]:
            send_by, due = min(pause, last), min(end, last)
            nodes = self.scaled.tasks_only.nodes
            all_windows = (self._node_window(j, start, due, reserved) for j in nodes)
            windows = tuple(window for window in all_windows if self._is_useful(window, send_by))
            if send_by > start or (send_by == start and windows):
                stages.append(Stage(start, send_by, due, windows))
            start = max(start, end)
        return stages

    def _is_useful(self, window: NodeWindow, send_by: Fraction) -> bool:
        """Tell whether a node can receive and compute load in its window."""
        is_late = window.ready > send_by or window.ready >= window.due
        takes_no_time = not uses_port(self.scaled.tasks_only, window.node)
        return not is_late and (window.ready < send_by or takes_no_time)

    def _node_window(
        self,
        node: int,
        start: Fraction,
        due: Fraction,
        reserved: dict[int, list[tuple[Fraction, Fraction]]],
    ) -> NodeWindow:
        ready = max(start, self.scaled.tasks_only.free[node])
        for begin, end in reserved.get(node, ()):
            if begin <= ready < end:
                ready = end
            elif begin > ready:
                return NodeWindow(node, ready, min(due, begin))
        return NodeWindow(node, ready, due)


def _accepted_reservations(
    instance: Instance, grants: Iterable[Grant] | None
) -> tuple[Reservation, ...]:
    """Return the reservations that are accepted, each with the nodes that it gets."""
    if grants is None:
        nodes_of = {reservation.id: reservation.nodes for reservation in instance.reservations}
    else:
        nodes_of = {grant.reservation: grant.nodes for grant in grants if grant.accepted}
    accepted = []
    for reservation in instance.reservations:
        nodes = nodes_of.get(reservation.id, ())
        if not isinstance(nodes, tuple):
            raise NotApplicableError(f"reservation {reservation.id} does not name its nodes")
        if nodes:
            accepted.append(replace(reservation, nodes=nodes))
    return tuple(accepted)


def _find_task(instance: Instance, name: str | None) -> Task:
    for task in instance.tasks:
        if name in (None, task.id):
            return task
    raise NotApplicableError("there is no task" if name is None else f"there is no task {name!r}")
