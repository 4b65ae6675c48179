"""Free times and loads to plan in the initial state, as the checkers compute them: in fractions.

No model and no heuristic uses this module, and no checker uses `free_times`, `channel_free` or
`remaining` of an instance: an error in one shows in the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Protocol

from dlopt.arithmetic import Number, exact
from dlopt.problems.admission.data import Commitment, Task
from dlopt.problems.cluster import Cluster


class InitialState(Protocol):
    """The initial state of a cluster, as instances of this family have it."""

    @property
    def cluster(self) -> Cluster:
        """The cluster."""

    @property
    def now(self) -> Number:
        """The instant."""

    @property
    def ready_times(self) -> Sequence[Number]:
        """When nodes are ready; empty if all are."""

    @property
    def channel_ready(self) -> Number:
        """When the channel is ready."""

    @property
    def committed(self) -> Sequence[Commitment]:
        """The committed chunks."""


class StreamState(InitialState, Protocol):
    """Tasks that arrive while a cluster is in its initial state."""

    @property
    def tasks(self) -> Sequence[Task]:
        """The tasks."""


def node_free_times(state: InitialState) -> list[Fraction]:
    """Return when each node can be sent to, whatever the schedule.

    Examples
    --------
    >>> from dlopt.problems.admission import Commitment, Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> sent = Commitment("a", node=1, start=0, load=2, end=6)
    >>> instance = Instance(
    ...     Cluster(3, tau=1, chi=2), (Task("b", 3, 1, 9),), 3, (0, 0, 8), committed=(sent,)
    ... )
    >>> [int(instant) for instant in node_free_times(instance)], int(channel_free_time(instance))
    ([3, 6, 8], 3)
    """
    now = exact(state.now)
    free = [now for _ in range(state.cluster.nodes)]
    for node, ready in enumerate(state.ready_times):
        free[node] = max(now, exact(ready))
    for chunk in state.committed:
        free[chunk.node] = max(free[chunk.node], exact(chunk.end))
    return free


def channel_free_time(state: InitialState) -> Fraction:
    """Return when the channel can be used: what is committed has been sent by then."""
    cluster = state.cluster
    free = max(exact(state.now), exact(state.channel_ready))
    for chunk in state.committed:
        sending = exact(cluster.theta_cm) + exact(chunk.load) * exact(cluster.tau_of(chunk.node))
        free = max(free, exact(chunk.start) + sending)
    return free


def loads_to_plan(instance: StreamState) -> dict[str, Fraction]:
    """Return the load of each task that a schedule must process: what is not committed.

    Examples
    --------
    >>> from dlopt.problems.admission import Commitment, Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = Task("a", 0, 5, 9), Task("b", 0, 5, 9, remaining=1), Task("c", 3, 5, 9)
    >>> sent = Commitment("a", node=0, start=0, load=2, end=6)
    >>> instance = Instance(Cluster(1, tau=1, chi=2), tasks, now=3, committed=(sent,))
    >>> [int(load) for load in loads_to_plan(instance).values()]
    [3, 1, 5]
    """
    loads = {task.id: exact(task.load) for task in instance.tasks}
    for chunk in instance.committed:
        if chunk.task in loads:
            loads[chunk.task] -= exact(chunk.load)
    for task in instance.tasks:
        stated = task.remaining
        loads[task.id] = max(loads[task.id], Fraction(0)) if stated is None else exact(stated)
    return loads


def without_negligible_loads(
    tasks: Iterable[Task], loads: Mapping[str, Fraction], tolerance: Fraction
) -> dict[str, Fraction]:
    """Return the loads of tasks, 0 where a tolerance lets all of it be left out.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> tasks = (Task("a", 0, 5, 9), Task("b", 0, 5, 9))
    >>> loads = {"a": Fraction(1), "b": Fraction(5)}
    >>> [int(load) for load in without_negligible_loads(tasks, loads, Fraction(1, 5)).values()]
    [0, 5]
    """
    return {
        task.id: loads[task.id] if loads[task.id] > tolerance * exact(task.load) else Fraction(0)
        for task in tasks
    }


def promised_before(instance: StreamState) -> frozenset[str]:
    """Return the tasks that no schedule may reject: those that arrived before `now`."""
    now = exact(instance.now)
    return frozenset(task.id for task in instance.tasks if exact(task.arrival) < now)
