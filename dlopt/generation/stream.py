"""A stream of divisible loads, in plain floats: what a simulation needs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from dlopt.arithmetic import Number
from dlopt.errors import NotApplicableError
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Workload:
    """A stream of tasks for an idle cluster of identical nodes.

    Parameters
    ----------
    cluster : Cluster
    arrivals : tuple of float
        Ascending.
    loads : tuple of float
        Positive.
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

    def __post_init__(self) -> None:
        lengths = {len(self.arrivals), len(self.loads), len(self.deadlines)}
        if len(lengths) != 1:
            raise NotApplicableError("arrivals, loads and deadlines must be equally many")
        if not self.cluster.identical:
            raise NotApplicableError("a workload is for identical nodes")
        for numbers in (self.arrivals, self.loads, self.deadlines, (self.begin, self.horizon)):
            if not all(map(math.isfinite, numbers)):
                raise NotApplicableError("a workload has finite numbers only")
        span = (self.begin, *self.arrivals, self.horizon)
        if any(later < earlier for earlier, later in pairwise(span)):
            raise NotApplicableError("arrivals must ascend, from begin to horizon")
        if min(self.loads, default=1) <= 0 or min(self.deadlines, default=0) < 0:
            raise NotApplicableError("loads must be positive, deadlines not negative")

    def __len__(self) -> int:
        return len(self.arrivals)

    @property
    def span(self) -> float:
        """How long tasks arrive."""
        return self.horizon - self.begin

    @classmethod
    def of(cls, instance: Instance) -> Workload:
        """Return the stream of an instance, in floats; it spans from first to last arrival.

        Raises
        ------
        NotApplicableError
            If its nodes differ, or its cluster is not idle when the first task arrives.
        """
        cluster, tasks = instance.cluster, instance.tasks
        begin, horizon = float(tasks[0].arrival), float(tasks[-1].arrival)
        busy = max(*instance.free_times, instance.channel_free) > tasks[0].arrival
        if busy or instance.promised:
            text = "a workload starts on an idle cluster; this one is busy, or promised tasks"
            raise NotApplicableError(text)
        if not cluster.identical:
            raise NotApplicableError("a workload is for identical nodes")
        plain = Cluster(cluster.nodes, *(float(cost) for cost in costs_of(cluster)))
        loads = tuple(float(task.load) for task in tasks)
        return cls(
            plain,
            tuple(float(task.arrival) for task in tasks),
            loads,
            tuple(float(task.deadline) for task in tasks),
            horizon=horizon,
            begin=begin,
            name=instance.name,
            origin=instance.origin,
            realised_load=node_time(plain, loads, horizon - begin),
        )

    def tasks(self) -> tuple[Task, ...]:
        """Return the tasks, named by their numbers from 0."""
        columns = zip(self.arrivals, self.loads, self.deadlines, strict=True)
        return tuple(Task(str(number), *values) for number, values in enumerate(columns))

    def instance(self) -> Instance:
        """Return the workload as an instance.

        Raises
        ------
        InvalidInstanceError
            If there is no task.
        """
        return Instance(self.cluster, self.tasks(), name=self.name, origin=self.origin)


def costs_of(cluster: Cluster) -> tuple[Number, Number, Number, Number]:
    """Return ``(tau, chi, theta_cm, theta_cp)`` of a cluster of identical nodes."""
    return cluster.tau_of(0), cluster.chi_of(0), cluster.theta_cm, cluster.theta_cp


def node_time(cluster: Cluster, loads: Iterable[float], span: float) -> float | None:
    """Return the execution times of loads on one node, by the time of all nodes in a span."""
    tau, chi, theta_cm, theta_cp = map(float, costs_of(cluster))
    work = sum(load * (tau + chi) + theta_cm + theta_cp for load in loads)
    return work / (cluster.nodes * span) if span > 0 else None
