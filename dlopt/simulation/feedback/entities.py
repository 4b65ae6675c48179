"""State of the simulated cluster: tasks, chunks and abandoned loads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dlopt.generation.workload import Workload
from dlopt.problems.admission import Scenario
from dlopt.simulation.feedback.policy import Policy, Strategy


@dataclass(slots=True, eq=False)
class TaskState:
    """A task, as the scheduler knows it and as it is.

    Attributes
    ----------
    rank : tuple
        Place in the queue: earliest deadline first, ties in the order of arrival.
    true, known : tuple of float
        Unit costs (transmission, computation): real, and those that the scheduler computes with.
    rest : float
        The load that is not sent yet.
    running : int
        Number of chunks in progress.
    incomplete : bool
        Whether a part of the load was abandoned, so that the task cannot be completed.
    settled : bool
        Whether it is known if the deadline was met.
    begun : float or None
        When the first chunk was sent.
    """

    number: int
    arrival: float
    load: float
    deadline: float
    true: tuple[float, float]
    known: tuple[float, float]
    due: float = field(init=False)
    rank: tuple[float, int] = field(init=False)
    rest: float = field(init=False)
    running: int = 0
    incomplete: bool = False
    settled: bool = False
    begun: float | None = None
    _pace: tuple[int, float] = (0, 0.0)

    def __post_init__(self) -> None:
        self.due = self.arrival + self.deadline
        self.rank, self.rest = (self.due, self.number), self.load

    def execution_time(self, load: float, nodes: int) -> float:
        """Return the execution time of a load on all nodes, by the known costs, (7.1)."""
        if self._pace[0] != nodes:
            tau, chi = self.known
            self._pace = nodes, (tau + chi) / _weight(chi / (tau + chi), nodes)
        return load * self._pace[1]


class Chunk:
    """A part of a task in progress; `expected` is its end by the known costs."""

    __slots__ = ("end", "expected", "job", "load", "lost", "node", "received", "start")

    def __init__(self, job: TaskState, node: int, start: float, load: float) -> None:
        self.job, self.node, self.start, self.load = job, node, start, load
        self.received = start + load * job.true[0]
        self.end = self.received + load * job.true[1]
        self.expected = start + load * (job.known[0] + job.known[1])
        self.lost: float | None = None


@dataclass(frozen=True, slots=True)
class AbandonedLoad:
    """A part of a task that was abandoned."""

    job: TaskState
    load: float
    at: float


def task_states(
    workload: Workload, scenario: Scenario, strategy: Strategy, policy: Policy
) -> Iterator[TaskState]:
    """Yield the tasks of a stream by arrival, each with the costs that the strategy knows."""
    tau, chi = (float(cost) for cost in workload.cluster.costs_of(0)[:2])
    factors = {f.task: (float(f.tau), float(f.chi)) for f in scenario.factors}
    columns = zip(
        workload.names, workload.arrivals, workload.loads, workload.deadlines, strict=True
    )
    for number, (name, arrival, load, deadline) in enumerate(columns):
        of_tau, of_chi = factors.get(name, (1.0, 1.0))
        true = (tau * of_tau, chi * of_chi)
        known = {
            "estimates": (tau, chi),
            "truth": true,
            "worst": (tau * policy.worst, chi * policy.worst),
        }[strategy.known]
        yield TaskState(number, float(arrival), float(load), float(deadline), true, known)


def weighted_mean(instants: list[float], beta: float) -> float:
    """Return the mean of ascending instants, the k-th weighted by ``beta^k``.

    Examples
    --------
    >>> weighted_mean([0.0, 3.0], 0.5)
    1.0
    """
    total = weight = 0.0
    power = 1.0
    for instant in instants:
        total += power * instant
        weight += power
        power *= beta
    return total / weight


def _weight(beta: float, nodes: int) -> float:
    """Return ``1 + beta + ... + beta^(nodes-1)``."""
    return (1 - beta**nodes) / (1 - beta) if beta < 1 else float(nodes)
