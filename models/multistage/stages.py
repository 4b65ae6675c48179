"""What is free for a single task, and when: the stages of the channel, the windows of nodes.

In stage ``(T, E, F)`` the channel is free on ``[T, E]``; at E, a reservation takes it until F, or
``E = F`` is the deadline. In it, node `j` can be used in ``[r_j, d_j]``: from when it is free until
F, or until its own next reservation. Reservations whose I/O touches are one pause of the channel;
one without I/O divides two stages.

Source: Mamat 2011, section 5.2, with windows that are clipped to arrival and deadline.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from dlopt.errors import NotApplicableError
from dlopt.models.admission.fixed_sequence_lp import takes_port
from dlopt.models.admission.scaled_instance import Job
from dlopt.models.multistage.scaled_instance import Case
from dlopt.problems.admission.data import Task
from dlopt.problems.multistage.data import Grant, Instance, Reservation


class Window(NamedTuple):
    """A node, and when it can be used in a stage."""

    node: int
    ready: Fraction
    due: Fraction


class Stage(NamedTuple):
    """A stage: the channel is free from `start` to `sent`, results are due at `due`."""

    start: Fraction
    sent: Fraction
    due: Fraction
    windows: tuple[Window, ...]


@dataclass(frozen=True, slots=True)
class Timetable:
    """A single task, and the reservations around it.

    Parameters
    ----------
    case : Case
        Of one task; its bookings name their nodes.
    """

    case: Case

    @classmethod
    def of(
        cls, instance: Instance, task: str | None = None, grants: Iterable[Grant] | None = None
    ) -> Timetable:
        """State what is free for a task, and leave the other tasks out.

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
        held = _held(instance, grants)
        left = replace(_task(instance, task), remaining=None)
        if left.arrival < instance.now:
            left = replace(left, remaining=left.load)
        alone = replace(instance, tasks=(left,), reservations=held)
        return cls(Case.of(alone, "accepted", everyone=True))

    @property
    def job(self) -> Job:
        """The task."""
        return self.case.jobs[0]

    def pauses(self) -> list[tuple[Fraction, Fraction]]:
        """Return when the channel is reserved from the release to the deadline, in order."""
        first, last = self.job.release, self.job.due
        pauses: list[tuple[Fraction, Fraction]] = []
        for start, end in sorted((one.start, one.sent) for one in self.case.bookings):
            if end < first or start > last:
                continue
            if pauses and start <= pauses[-1][1]:
                pauses[-1] = pauses[-1][0], max(end, pauses[-1][1])
            else:
                pauses.append((start, end))
        return pauses

    def holds(self) -> dict[int, list[tuple[Fraction, Fraction]]]:
        """Return when each node is reserved, in order."""
        holds: dict[int, list[tuple[Fraction, Fraction]]] = defaultdict(list)
        for one in self.case.bookings:
            given = self.case.instance.reservations[one.index].nodes
            for node in given if isinstance(given, tuple) else ():
                holds[node].append((one.start, one.end))
        return {node: sorted(intervals) for node, intervals in holds.items()}

    def stages(self) -> list[Stage]:
        """Return the stages with the windows of their nodes, in order."""
        start, last, holds = self.job.release, self.job.due, self.holds()
        stages = []
        for pause, end in [*self.pauses(), (last, last)]:
            sent, due = min(pause, last), min(end, last)
            windows = (self._window(j, start, due, holds) for j in self.case.stream.nodes)
            there = tuple(one for one in windows if self._helps(one, sent))
            if sent > start or (sent == start and there):
                stages.append(Stage(start, sent, due, there))
            start = max(start, end)
        return stages

    def _helps(self, window: Window, sent: Fraction) -> bool:
        """Tell whether a node can get and compute something: if sending takes no time, at once."""
        late = window.ready > sent or window.ready >= window.due
        return not late and (window.ready < sent or not takes_port(self.case.stream, window.node))

    def _window(
        self,
        node: int,
        start: Fraction,
        due: Fraction,
        holds: dict[int, list[tuple[Fraction, Fraction]]],
    ) -> Window:
        ready = max(start, self.case.stream.free[node])
        for begin, end in holds.get(node, ()):
            if begin <= ready < end:
                ready = end
            elif begin > ready:
                return Window(node, ready, min(due, begin))
        return Window(node, ready, due)


def _held(instance: Instance, grants: Iterable[Grant] | None) -> tuple[Reservation, ...]:
    """Return the reservations that are accepted, each with the nodes that it gets."""
    if grants is None:
        nodes = {one.id: one.nodes for one in instance.reservations}
    else:
        nodes = {grant.reservation: grant.nodes for grant in grants if grant.accepted}
    held = []
    for one in instance.reservations:
        given = nodes.get(one.id, ())
        if not isinstance(given, tuple):
            raise NotApplicableError(f"reservation {one.id} does not name its nodes")
        if given:
            held.append(replace(one, nodes=given))
    return tuple(held)


def _task(instance: Instance, name: str | None) -> Task:
    for task in instance.tasks:
        if name in (None, task.id):
            return task
    raise NotApplicableError("there is no task" if name is None else f"there is no task {name!r}")
