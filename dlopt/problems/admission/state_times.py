"""Free times and loads to plan in the initial state, for methods: in their own number type.

No checker uses this module, see `dlopt.problems.admission.checker_times`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dlopt.arithmetic import Number
from dlopt.problems.admission.initial_state import later_of
from dlopt.problems.cluster import Cluster


def _identity(number: Number) -> Any:
    return number


class InitialState(Protocol):
    """The initial state of a cluster, as the instances of this family have it."""

    @property
    def cluster(self) -> Cluster:
        """The cluster."""

    @property
    def now(self) -> Number:
        """The instant."""

    @property
    def ready_times(self) -> Sequence[Number]:
        """When nodes are ready."""

    @property
    def channel_ready(self) -> Number:
        """When the channel is ready."""

    @property
    def committed(self) -> Sequence[Any]:
        """The committed chunks."""


class InitialStateWithTasks(InitialState, Protocol):
    """A state, and the tasks that are to be planned."""

    @property
    def tasks(self) -> Sequence[Any]:
        """The tasks."""


def free_times_of(state: InitialState) -> tuple[Any, ...]:
    """Return when each node can be sent to."""
    free = [later_of(instant, state.now) for instant in state.ready_times]
    free = free or [state.now] * state.cluster.nodes
    for chunk in state.committed:
        free[chunk.node] = later_of(free[chunk.node], chunk.end)
    return tuple(free)


def channel_free_of(instance: InitialState, number: Callable[[Number], Any] = _identity) -> Any:
    """Return when the channel can be used, computed in the number type of `number`."""
    cluster = instance.cluster
    sent = [
        number(chunk.start)
        + number(cluster.theta_cm)
        + number(chunk.load) * number(cluster.tau_of(chunk.node))
        for chunk in instance.committed
    ]
    return max((number(instance.now), number(instance.channel_ready), *sent))


def remaining_of(
    instance: InitialStateWithTasks, number: Callable[[Number], Any] = _identity
) -> dict[str, Any]:
    """Return what is still to be planned, computed in the number type of `number`."""
    done: dict[str, Any] = defaultdict(int)
    for chunk in instance.committed:
        done[chunk.task] += number(chunk.load)
    return {
        task.id: max(number(task.load) - done[task.id], 0)
        if task.remaining is None
        else number(task.remaining)
        for task in instance.tasks
    }
