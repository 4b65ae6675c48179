"""`Workload`: a stream of divisible loads in plain floats, the input of simulations."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from dlopt.errors import NotApplicableError
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Workload:
    """A stream of tasks for a cluster of identical nodes, which may be busy at first.

    Parameters
    ----------
    cluster : Cluster
    arrivals : tuple of float
        Ascending.
    loads : tuple of float
        Positive; of a promised task, what is still to be sent of it.
    deadlines : tuple of float
        Relative to the arrivals.
    horizon : float
        End of the span in which tasks arrive.
    begin : float, default 0
        Start of that span.
    name, origin : str
    system_load : float, optional
        What was asked for.
    realised_load : float, optional
        What the tasks that were drawn amount to, in the sense of the workload's source.
    redrawn_loads, redrawn_deadlines : int
        How many were drawn again, each as often as it was.
    promised : int, default 0
        How many tasks, the first ones, arrived before `begin` and are accepted already.
    ready : tuple of float, shape (nodes,), optional
        When each node becomes free; by default at `begin`.
    channel : float, default 0
        When the head node can send again.
    ids : tuple of str, optional
        Names of the tasks; by default their numbers from 0.

    Raises
    ------
    NotApplicableError
        If lengths differ, nodes differ, arrivals descend, or a number has the wrong sign.

    Examples
    --------
    >>> stream = Workload(Cluster(2, 1, 9), (0.0, 3.0), (1.0, 2.0), (20.0, 9.0), horizon=10.0)
    >>> stream.realised_load is None, stream.instance().tasks[1].absolute_deadline
    (True, 12.0)
    """

    cluster: Cluster
    arrivals: tuple[float, ...]
    loads: tuple[float, ...]
    deadlines: tuple[float, ...]
    horizon: float
    begin: float = 0.0
    name: str = ""
    origin: str = ""
    system_load: float | None = None
    realised_load: float | None = None
    redrawn_loads: int = 0
    redrawn_deadlines: int = 0
    promised: int = 0
    ready: tuple[float, ...] = ()
    channel: float = 0.0
    ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        lengths = {len(self.arrivals), len(self.loads), len(self.deadlines)}
        if len(lengths) != 1:
            raise NotApplicableError("arrivals, loads and deadlines must be equally many")
        if not self.cluster.identical:
            raise NotApplicableError("a workload is for identical nodes")
        if self.ids and len(self.ids) != len(self.arrivals):
            raise NotApplicableError("names and tasks must be equally many")
        if self.ready and len(self.ready) != self.cluster.nodes:
            raise NotApplicableError("ready times and nodes must be equally many")
        instants = (self.begin, self.horizon, self.channel, *self.ready)
        for numbers in (self.arrivals, self.loads, self.deadlines, instants):
            if not all(map(math.isfinite, numbers)):
                raise NotApplicableError("a workload has finite numbers only")
        if not 0 <= self.promised <= len(self):
            raise NotApplicableError("no more tasks can be promised than there are")
        before, later = self.arrivals[: self.promised], self.arrivals[self.promised :]
        if not _ascending((self.begin, *later, self.horizon)):
            raise NotApplicableError("arrivals must ascend, from begin to horizon")
        if not _ascending(before) or max(before, default=-math.inf) > self.begin:
            raise NotApplicableError("promised tasks arrived before begin, in ascending order")
        if min(self.loads, default=1) <= 0 or min(self.deadlines, default=0) < 0:
            raise NotApplicableError("loads must be positive, deadlines not negative")

    def __len__(self) -> int:
        return len(self.arrivals)

    @property
    def span(self) -> float:
        """The time during which tasks arrive."""
        return self.horizon - self.begin

    @classmethod
    def of(cls, instance: Workload | Instance) -> Workload:
        """Return the stream of an instance, in floats; a workload as it is.

        It spans from first to last arrival; if the cluster is busy when the first task arrives,
        or promised tasks are left, from ``now`` to the last arrival. Promised tasks of which
        everything is committed are left out.

        Raises
        ------
        NotApplicableError
            If its nodes differ, or something else is given.
        """
        if isinstance(instance, Workload):
            return instance
        if not isinstance(instance, Instance):
            kind = type(instance).__name__
            raise NotApplicableError(f"a workload or an instance is needed, not a {kind}")
        cluster, promised, left = instance.cluster, instance.promised, instance.remaining
        if not cluster.identical:
            raise NotApplicableError("a workload is for identical nodes")
        new = [task for task in instance.tasks if task.id not in promised]
        tasks = [task for task in instance.tasks if task.id in promised and left[task.id] > 0]
        before = len(tasks)
        tasks += new
        begin = float(instance.now)
        busy = before > 0 or not new
        if new:
            busy |= max(*instance.free_times, instance.channel_free) > new[0].arrival
        if not busy:
            begin = float(new[0].arrival)
        horizon = float(new[-1].arrival) if new else begin
        plain = Cluster(cluster.nodes, *(float(cost) for cost in cluster.costs_of(0)))
        loads = tuple(float(left[task.id]) for task in tasks)
        return cls(
            plain,
            tuple(float(task.arrival) for task in tasks),
            loads,
            tuple(float(task.deadline) for task in tasks),
            horizon=horizon,
            begin=begin,
            name=instance.name,
            origin=instance.origin,
            realised_load=node_time(plain, loads[before:], horizon - begin),
            promised=before,
            ready=tuple(map(float, instance.free_times)) if busy else (),
            channel=float(instance.channel_free) if busy else 0.0,
            ids=tuple(task.id for task in tasks),
        )

    @property
    def idle(self) -> bool:
        """Whether nothing is promised at first, and nodes and channel are free."""
        return not self.promised and max(self.channel, *self.free_times) <= self.begin

    @property
    def free_times(self) -> tuple[float, ...]:
        """When each node is free."""
        return self.ready or (self.begin,) * self.cluster.nodes

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tasks."""
        return self.ids or tuple(map(str, range(len(self))))

    def tasks(self) -> tuple[Task, ...]:
        """Return the tasks."""
        columns = zip(self.names, self.arrivals, self.loads, self.deadlines, strict=True)
        return tuple(Task(*values) for values in columns)

    def instance(self) -> Instance:
        """Return the workload as an instance.

        Raises
        ------
        InvalidInstanceError
            If there is no task.
        """
        return Instance(
            self.cluster,
            self.tasks(),
            now=0 if self.idle else self.begin,
            ready_times=self.ready,
            channel_ready=self.channel,
            name=self.name,
            origin=self.origin,
        )


def node_time(cluster: Cluster, loads: Iterable[float], span: float) -> float | None:
    """Return the execution times of loads on one node, by the time of all nodes in a span."""
    tau, chi, theta_cm, theta_cp = map(float, cluster.costs_of(0))
    work = sum(load * (tau + chi) + theta_cm + theta_cp for load in loads)
    return work / (cluster.nodes * span) if span > 0 else None


def _ascending(instants: Iterable[float]) -> bool:
    return all(earlier <= later for earlier, later in pairwise(instants))
