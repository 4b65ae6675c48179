"""The simulation of a grid: its events, the nodes, the WAN and the recorders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from dlopt.arithmetic import Number
from dlopt.problems.dag import Graph, Machine, Network, Trace
from dlopt.simulation.engine import EventLoop, Rank
from dlopt.simulation.grid import bids
from dlopt.simulation.grid.competitive import CompetitiveScheduler
from dlopt.simulation.grid.execution_state import Job
from dlopt.simulation.grid.external_scheduler import ExternalScheduler
from dlopt.simulation.grid.internal_scheduler import InternalScheduler
from dlopt.simulation.grid.machines import Machines
from dlopt.simulation.grid.monitor import PeriodMonitor
from dlopt.simulation.grid.policy import FailureModel, Policy
from dlopt.simulation.grid.trace_recorder import TraceRecorder

COMPILATION_THRESHOLD = 500
"""Number of bids from which loading the compiler of `bids_numba` pays off; chosen by hand."""
SCHEDULERS: Mapping[str, type[InternalScheduler]] = {
    "two-level": InternalScheduler,
    "competitive": CompetitiveScheduler,
}
"""The schedulers within a LAN, by `Policy.scheduler`."""
_RANK = Rank.END
"""All events have the same rank: simultaneous ones are processed in the order of scheduling."""


class GridSimulation:
    """One simulation, from the first arrival until no event is left.

    Parameters
    ----------
    machines, network
        As in a `dlopt.problems.dag.Instance`; every machine belongs to a LAN.
    graphs : iterable of (int, Graph)
        With their indices, by arrival; consumed as they arrive.
    policy : Policy
    failure_model : FailureModel
    seed : int
    number : callable
        ``float`` or `dlopt.arithmetic.exact`.
    hops : callable
        The number of links between two LANs.
    message : Number
        Data of a bid, or of the request for one.
    period : float
        Length of the periods of the monitor.
    keep : bool
        Whether to keep the trace.
    until : Number, optional
        End of the simulation.
    """

    def __init__(
        self,
        machines: Sequence[Machine],
        network: Network,
        graphs: Iterable[tuple[int, Graph]],
        *,
        policy: Policy,
        failure_model: FailureModel,
        seed: int,
        number: Callable[[Number], Number],
        hops: Callable[[int, int], int],
        message: Number,
        period: float,
        keep: bool,
        until: Number | None = None,
    ) -> None:
        self.policy, self.seed, self.number = policy, seed, number
        self.hops, self.message, self.until = hops, number(message), until
        self._jobs = (Job(index, graph, number) for index, graph in graphs)
        self._loop: EventLoop[Number] = EventLoop(number(0))
        self.events = 0
        self.meter, self.record = PeriodMonitor(period), TraceRecorder(keep)
        self.local_data_free = network.same_machine == "zero"
        self._routes = self._wan_routes(network)
        self._rest = number(network.latency), 1 / number(network.bandwidth)
        self.machines = Machines(machines, network, failure_model, seed, number, self)
        scheduler = SCHEDULERS[policy.scheduler]
        self.lans = [scheduler(at, nodes, self) for at, nodes in enumerate(self.machines.lans)]
        self._external = [ExternalScheduler(at, self) for at in range(len(self.lans))]
        self.live: dict[int, Job] = {}
        self.most_live = 0
        self._bids: Callable[..., Number | None] = bids.bid
        self._bid_requests = 0
        self._compiles = number is float

    def run(self) -> None:
        """Run until no event is left, or `until`; then close the jobs that are not completed."""
        self.machines.begin()
        self._arrive()
        self._loop.run(until=self.until)
        for job in list(self.live.values()):
            self._close_stalled(job)

    # time ----------------------------------------------------------------------------------------

    @property
    def now(self) -> Number:
        """The time."""
        return self._loop.now

    def later(self, delay: Number, act: Callable[..., None], *given: Any) -> None:
        """Schedule a call after a delay; simultaneous calls are made in the order of scheduling."""
        self.events += 1
        self._loop.at(self.now + delay, _RANK, act, *given)

    def _arrive(self, *arrived: Job) -> None:
        """Process arrivals, and those of the same instant; schedule the next."""
        for job in chain(arrived, self._jobs):
            if job.arrival > self.now:
                self._loop.at(job.arrival, _RANK, self._arrive, job)
                return
            self.live[job.index] = job
            self.most_live = max(self.most_live, len(self.live))
            self.meter.arrived(job.home, self.now)
            self._external[job.home].arrive(job)

    # jobs ----------------------------------------------------------------------------------------

    def complete(self, job: Job) -> None:
        """Send the results of a job home."""
        assert job.lan is not None
        lan, home = job.lan, job.home
        self.meter.external(lan, job.output * self.hops(lan, home), self.now)
        self.later(self.wan(lan, home, job.output), self._results_returned, job)

    def _results_returned(self, job: Job) -> None:
        job.returned = self.now
        self._external[job.home].returned(job)
        met = job.due is None or self.now <= job.due
        self.meter.returned(job.home, self.now, self.now - job.arrival, met)
        self._close(job)

    def fail(self, job: Job, reason: str) -> None:
        """Abandon a job."""
        job.reason = reason
        self._close(job)

    def _close(self, job: Job) -> None:
        del self.live[job.index]
        self.record.over(job)
        for subtask in job.subtasks:  # break reference cycles, so that memory is freed at once
            subtask.after, subtask.data_from, subtask.attempt = [], [], None
        job.subtasks = job.waiting = []

    def _close_stalled(self, job: Job) -> None:
        """Record what an unfinished job waits for."""
        stopped = self._loop.pending
        if job.received is None or job.lan is None:
            reason = "in transit to a LAN"
        elif not job.left:
            reason = "results in transit to the home LAN"
        else:
            reason = self.lans[job.lan].blocking_reason(job)
        self.fail(job, f"stopped at {float(self.now):g}: {reason}" if stopped else reason)

    def bids(self) -> Callable[..., Number | None]:
        """Return the function that computes bids: compiled for many bids in floats, if possible."""
        self._bid_requests += 1
        if self._bid_requests == COMPILATION_THRESHOLD and self._compiles:
            try:
                from dlopt.simulation.grid import bids_numba
            except ImportError:
                return self._bids
            self._bids = bids_numba.bid
        return self._bids

    # WAN -----------------------------------------------------------------------------------------

    def wan(self, source: int, target: int, data: Number) -> Number:
        """Return the transfer time of data between two LANs."""
        if source == target:
            return self.number(0)
        latency, unit = self._routes.get((source, target), self._rest)
        return latency + data * unit

    def _wan_routes(self, network: Network) -> dict[tuple[int, int], tuple[Number, Number]]:
        number = self.number
        routes: dict[tuple[int, int], tuple[Number, Number]] = {}
        for link in network.wan_links:
            route = number(link.latency), 1 / number(link.bandwidth)
            routes[link.source, link.target] = route
        for link in network.wan_links:
            route = number(link.latency), 1 / number(link.bandwidth)
            routes.setdefault((link.target, link.source), route)
        return routes

    # what is kept --------------------------------------------------------------------------------

    def trace(self) -> Trace:
        """Return the trace, if it was kept."""
        return self.record.trace(self.machines.nodes)
