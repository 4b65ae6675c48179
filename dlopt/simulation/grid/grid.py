"""The grid in motion: SimPy's clock, the nodes, the WAN, and what is kept of it all."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dlopt.errors import MissingExtraError
from dlopt.problems.dag import Graph, Machine, Network, Trace
from dlopt.simulation.grid import bids
from dlopt.simulation.grid.competitive import CompetitiveScheduler
from dlopt.simulation.grid.entities import Job
from dlopt.simulation.grid.external import ExternalScheduler
from dlopt.simulation.grid.internal import InternalScheduler
from dlopt.simulation.grid.machines import Machines
from dlopt.simulation.grid.monitor import Meter
from dlopt.simulation.grid.policy import Hazards, Policy
from dlopt.simulation.grid.trace_recorder import Record

if TYPE_CHECKING:
    from simpy import Environment, Event

MANY = 500
"""So many bids are worth that a compiler is loaded."""
SCHEDULERS: Mapping[str, type[InternalScheduler]] = {
    "two-level": InternalScheduler,
    "competitive": CompetitiveScheduler,
}
"""What schedules within a LAN, by `Policy.scheduler`."""


class Engine:
    """One simulation, from the first arrival until nothing more can happen.

    Parameters
    ----------
    machines, network
        As of a `dlopt.problems.dag.Instance`; every machine stands in a LAN.
    graphs : iterable of (int, Graph)
        With their indices, by arrival; they are taken from it as they arrive.
    policy : Policy
    hazards : Hazards
    seed : int
    number : callable
        ``float`` or `dlopt.arithmetic.exact`.
    hops : callable
        How many links there are between two LANs.
    message : Number
        The data of a bid, or of the request for one.
    period : float
        Length of the periods of the meter.
    keep : bool
        Whether to keep the trace.
    until : Number, optional
        Stop then.
    """

    def __init__(
        self,
        machines: Sequence[Machine],
        network: Network,
        graphs: Iterable[tuple[int, Graph]],
        *,
        policy: Policy,
        hazards: Hazards,
        seed: int,
        number: Callable[[Any], Any],
        hops: Callable[[int, int], int],
        message: Any,
        period: float,
        keep: bool,
        until: Any = None,
    ) -> None:
        self.policy, self.seed, self.number = policy, seed, number
        self.hops, self.message, self.until = hops, number(message), until
        self._graphs = iter(graphs)
        self._clock = _environment(number(0))
        self.events = 0
        self.meter, self.record = Meter(period), Record(keep)
        self.free_at_home = network.same_machine == "zero"
        self._way = self._wan_ways(network)
        self._rest = number(network.latency), 1 / number(network.bandwidth)
        self.machines = Machines(machines, network, hazards, seed, number, self)
        scheduler = SCHEDULERS[policy.scheduler]
        self.lans = [scheduler(at, nodes, self) for at, nodes in enumerate(self.machines.lans)]
        self._external = [ExternalScheduler(at, self) for at in range(len(self.lans))]
        self.live: dict[int, Job] = {}
        self.most_live = 0
        self._bids, self._asked = bids.bid, 0
        self._compiles = number is float

    def run(self) -> None:
        """Run until nothing more can happen, or the time is over; then say what is left."""
        self.machines.begin()
        self._clock.process(self._arrivals())
        self._clock.run(self.until)
        for job in list(self.live.values()):
            self._stuck(job)

    # time ----------------------------------------------------------------------------------------

    @property
    def now(self) -> Any:
        """The time."""
        return self._clock.now

    def later(self, delay: Any, act: Callable[..., None], *given: Any) -> None:
        """Do something after a while; what is due at one instant happens in order of its making."""
        self.events += 1
        timeout = self._clock.timeout(delay)
        timeout.callbacks.append(lambda _: act(*given))

    def _arrivals(self) -> Generator[Event, None, None]:
        for index, graph in self._graphs:
            wait = self.number(graph.arrival) - self.now
            if wait > 0:
                yield self._clock.timeout(wait)
            job = Job(index, graph, self.number)
            self.live[index] = job
            self.most_live = max(self.most_live, len(self.live))
            self.meter.arrived(job.home, self.now)
            self._external[job.home].arrive(job)

    # jobs ----------------------------------------------------------------------------------------

    def complete(self, job: Job) -> None:
        """Send the results of a job home."""
        assert job.lan is not None
        lan, home = job.lan, job.home
        self.meter.external(lan, job.output * self.hops(lan, home), self.now)
        self.later(self.wan(lan, home, job.output), self._at_home, job)

    def _at_home(self, job: Job) -> None:
        job.returned = self.now
        self._external[job.home].returned(job)
        met = job.due is None or self.now <= job.due
        self.meter.returned(job.home, self.now, self.now - job.arrival, met)
        self._over(job)

    def fail(self, job: Job, reason: str) -> None:
        """Give up a job."""
        job.reason = reason
        self._over(job)

    def _over(self, job: Job) -> None:
        del self.live[job.index]
        self.record.over(job)
        for subtask in job.subtasks:  # no circle is left for the collector to find
            subtask.after, subtask.data_from, subtask.attempt = [], [], None
        job.subtasks = job.waiting = []

    def _stuck(self, job: Job) -> None:
        """Say what a job waits for that can go on no more."""
        stopped = self.until is not None and self._clock.peek() < math.inf
        if job.received is None or job.lan is None:
            reason = "it was on its way to a LAN"
        elif not job.left:
            reason = "its results were on their way home"
        else:
            reason = self.lans[job.lan].waits(job)
        self.fail(job, f"stopped at {float(self.now):g}: {reason}" if stopped else reason)

    def bids(self) -> Callable[..., Any]:
        """Return how bids are made: once there are many, and of floats, compiled if possible."""
        self._asked += 1
        if self._asked == MANY and self._compiles:
            try:
                from dlopt.simulation.grid import bids_numba
            except ImportError:
                return self._bids
            self._bids = bids_numba.bid
        return self._bids

    # WAN -----------------------------------------------------------------------------------------

    def wan(self, source: int, target: int, data: Any) -> Any:
        """Return how long data takes from a LAN to another."""
        if source == target:
            return self.number(0)
        latency, unit = self._way.get((source, target), self._rest)
        return latency + data * unit

    def _wan_ways(self, network: Network) -> dict[tuple[int, int], tuple[Any, Any]]:
        number, ways = self.number, {}
        for link in network.wan_links:
            way = number(link.latency), 1 / number(link.bandwidth)
            ways[link.source, link.target] = way
        for link in network.wan_links:
            way = number(link.latency), 1 / number(link.bandwidth)
            ways.setdefault((link.target, link.source), way)
        return ways

    # what is kept --------------------------------------------------------------------------------

    def trace(self) -> Trace:
        """Return what happened, if it was kept."""
        return self.record.trace(self.machines.nodes)


def _environment(start: Any) -> Environment:
    """Return SimPy's clock."""
    try:
        from simpy import Environment
    except ImportError as error:
        raise MissingExtraError("simpy", "sim") from error
    return Environment(start)
