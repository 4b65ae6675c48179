"""What the simulated cluster keeps of tasks, chunks and nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dlopt.generation.workload import Workload, costs_of
from dlopt.problems.admission import Scenario
from dlopt.simulation.feedback.policy import Policy, Strategy


class Job:
    """A task, as the scheduler sees it and as it is.

    Attributes
    ----------
    rank : tuple
        Place in the queue: earliest deadline first, ties in the order of arrival.
    true, known : tuple of float
        Unit costs (transmission, computation): real, and those that the scheduler computes with.
    rest : float
        What is not sent.
    running : int
        Chunks under way.
    lacking : bool
        Whether some of the load was given up, so that the task cannot be done any more.
    settled : bool
        Whether it is known if the deadline was met.
    begun : float or None
        When the first chunk was sent.
    """

    __slots__ = (
        "_pace",
        "arrival",
        "begun",
        "deadline",
        "due",
        "known",
        "lacking",
        "load",
        "number",
        "rank",
        "rest",
        "running",
        "settled",
        "true",
    )

    def __init__(
        self,
        number: int,
        arrival: float,
        load: float,
        deadline: float,
        true: tuple[float, float],
        known: tuple[float, float],
    ) -> None:
        self.number = number
        self.arrival = arrival
        self.load = load
        self.deadline = deadline
        self.due = arrival + deadline
        self.rank = (self.due, number)
        self.true, self.known = true, known
        self.rest = load
        self.running = 0
        self.lacking = self.settled = False
        self.begun: float | None = None
        self._pace = (0, 0.0)

    def execution_time(self, load: float, nodes: int) -> float:
        """Return how long a load of the task takes on all nodes, as the scheduler knows, (7.1)."""
        if self._pace[0] != nodes:
            tau, chi = self.known
            self._pace = nodes, (tau + chi) / _weight(chi / (tau + chi), nodes)
        return load * self._pace[1]


class Chunk:
    """A part of a job on its way; `expected` is when the scheduler thinks that it ends."""

    __slots__ = ("end", "expected", "job", "load", "lost", "node", "received", "start")

    def __init__(self, job: Job, node: int, start: float, load: float) -> None:
        self.job, self.node, self.start, self.load = job, node, start, load
        self.received = start + load * job.true[0]
        self.end = self.received + load * job.true[1]
        self.expected = start + load * (job.known[0] + job.known[1])
        self.lost: float | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """A part of a job that was given up."""

    job: Job
    load: float
    at: float


def jobs_of(
    workload: Workload, scenario: Scenario, strategy: Strategy, policy: Policy
) -> Iterator[Job]:
    """Yield the tasks of a stream by arrival, each with what the strategy knows of its costs."""
    tau, chi = (float(cost) for cost in costs_of(workload.cluster)[:2])
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
        yield Job(number, float(arrival), float(load), float(deadline), true, known)


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
