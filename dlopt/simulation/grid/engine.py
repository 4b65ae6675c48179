"""The grid in motion: SimPy's clock, the nodes, the WAN, and what is kept of it all."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dlopt.errors import MissingExtraError
from dlopt.problems.dag import Graph, Machine, Network
from dlopt.problems.dag.trace import Course, Outage, Run, Trace
from dlopt.simulation.grid.external import ExternalScheduler
from dlopt.simulation.grid.internal import InternalScheduler
from dlopt.simulation.grid.meter import Meter
from dlopt.simulation.grid.parts import (
    LOST,
    QUEUED,
    RETURNS,
    RUNS,
    TRAVELS,
    Attempt,
    Job,
    Node,
)
from dlopt.simulation.grid.policy import Hazards, Policy

if TYPE_CHECKING:
    from simpy import Environment, Event

_MASK = 2**64 - 1


def chance(*keys: int) -> float:
    """Return a number from 0 to 1 that depends on the keys alone, and looks random.

    So a subtask meets the same fate whatever was drawn before: policies are compared under the
    same hazards. (SplitMix64 over the keys.)

    Examples
    --------
    >>> round(chance(1, 2), 3), round(chance(2, 1), 3)
    (0.738, 0.877)
    """
    state = 0
    for key in keys:
        state = (state ^ (key & _MASK)) + 0x9E3779B97F4A7C15 & _MASK
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        state = (state ^ state >> 27) * 0x94D049BB133111EB & _MASK
        state ^= state >> 31
    return (state >> 11) / 2**53


@dataclass(frozen=True, slots=True)
class Ended:
    """What is kept of a job that is over; see `dlopt.simulation.grid.parts.Job`."""

    index: int
    id: str
    home: int
    lan: int | None
    arrival: Any
    due: Any
    decided: Any
    received: Any
    returned: Any
    lost: int
    reason: str


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
        self.policy, self.hazards, self.seed, self.number = policy, hazards, seed, number
        self.hops, self.message, self.until, self._keep = hops, number(message), until, keep
        self._graphs = iter(graphs)
        self._clock = _environment(number(0))
        self.events = 0
        self.meter = Meter(period)
        self.free_at_home = network.same_machine == "zero"
        self._way = self._wan_ways(network)
        self._rest = number(network.latency), 1 / number(network.bandwidth)
        self.nodes = self._nodes(machines, network)
        places: list[list[Node]] = [[] for _ in network.lans]
        for node in self.nodes:
            node.place = len(places[node.lan])
            places[node.lan].append(node)
        self.lans = [InternalScheduler(at, nodes, self) for at, nodes in enumerate(places)]
        self._external = [ExternalScheduler(at, self) for at in range(len(places))]
        self.live: dict[int, Job] = {}
        self.ended: list[Ended] = []
        self.most_live = 0
        self._attempts: list[Attempt] = []
        self._down: list[Outage] = []
        self._presumed: list[Outage] = []
        self._rate = float(hazards.failure_rate)
        self._slow = tuple(number(end) for end in hazards.slowdown)

    def run(self) -> None:
        """Run until nothing more can happen, or the time is over; then say what is left."""
        for failure in sorted(self.hazards.failures, key=lambda one: one.begin):
            node = self.nodes[failure.machine]
            begin = self.number(failure.begin)
            until = None if failure.until is None else self.number(failure.until)
            self.later(begin, self._fail_node, node, until)
            if until is not None:
                self.later(until, self._recover, node)
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
        self.ended.append(
            Ended(
                job.index,
                job.graph.id,
                job.home,
                job.lan,
                job.arrival,
                job.due,
                job.decided,
                job.received,
                job.returned,
                job.lost,
                job.reason,
            )
        )
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

    # nodes ---------------------------------------------------------------------------------------

    def _nodes(self, machines: Sequence[Machine], network: Network) -> list[Node]:
        number, made = self.number, []
        for index, machine in enumerate(machines):
            assert machine.lan is not None
            lan = network.lans[machine.lan]
            latency = number(lan.latency) + number(machine.delay)
            unit = 1 / number(lan.bandwidth)
            made.append(Node(index, 0, machine, latency, unit, number(machine.power)))
        return made

    def travels(self, attempt: Attempt) -> None:
        """Let what was sent travel to its node."""
        attempt.node.queue.append(attempt)
        self.later(attempt.arrived - self.now, self._arrived, attempt)

    def _arrived(self, attempt: Attempt) -> None:
        if attempt.state != TRAVELS:
            return
        if not attempt.node.up:
            attempt.state = LOST
            attempt.node.queue.remove(attempt)
            return
        attempt.state = QUEUED
        self._start(attempt.node)

    def _start(self, node: Node) -> None:
        """Start what is first in the queue of a node, if it is there and the node is free."""
        queue = node.queue
        if not node.up or node.running is not None or not queue or queue[0].state != QUEUED:
            return
        attempt = queue.popleft()
        node.running, attempt.state, attempt.start = attempt, RUNS, self.now
        subtask = attempt.subtask
        keys = self.seed, subtask.job.index, subtask.index, subtask.tries
        low, high = self._slow
        if high != low or low != 1:
            attempt.duration *= low + (high - low) * self.number(chance(1, *keys))
        if self._rate and chance(2, *keys) < self._rate:
            part = self.number(chance(3, *keys))
            self.later(attempt.duration * part, self._break, attempt, keys)
        else:
            self.later(attempt.duration, self._finish, attempt)

    def _finish(self, attempt: Attempt) -> None:
        node = attempt.node
        if node.running is not attempt:
            return
        node.running, attempt.state, attempt.end = None, RETURNS, self.now
        out = node.latency + attempt.subtask.data_out * node.unit
        self.later(out, self.lans[node.lan].delivered, attempt)
        self._start(node)

    def _break(self, attempt: Attempt, keys: tuple[int, ...]) -> None:
        """Let a node fail while it runs a subtask."""
        node = attempt.node
        if node.running is not attempt:
            return
        low, high = (self.number(end) for end in self.hazards.recovery)
        down = low + (high - low) * self.number(chance(4, *keys))
        self._fail_node(node, self.now + down)
        self.later(down, self._recover, node)

    def _fail_node(self, node: Node, until: Any) -> None:
        """Let a node fail: what runs or waits there is lost."""
        if not node.up:
            never = until is None or node.back_at is None
            node.back_at = None if never else max(node.back_at, until)
            return
        node.up, node.back_at, node.down_since = False, until, self.now
        self.meter.failure(node.lan, self.now)
        if node.running is not None:
            self._cut(node.running)
            node.running = None
        for attempt in list(node.queue):
            if attempt.state == QUEUED:
                attempt.state = LOST
                node.queue.remove(attempt)

    def _cut(self, attempt: Attempt) -> None:
        """Let a run end before it is done."""
        node = attempt.node
        attempt.end = self.now
        self.meter.busy(node.lan, attempt.start, attempt.end, False)
        if attempt.stray:
            attempt.subtask.strays.remove(attempt)
            attempt.fate = "lost"
        attempt.state = LOST

    def _recover(self, node: Node) -> None:
        if node.up or node.back_at is None or self.now < node.back_at:
            return
        self._down.append(Outage(node.index, node.down_since, self.now))
        node.up = True
        self.lans[node.lan].back(node)
        self._start(node)

    def stop(self, attempt: Attempt) -> None:
        """Take what was sent off its node, if it has not ended there."""
        node = attempt.node
        if attempt.state == RUNS:
            self._cut(attempt)
            node.running = None
            self.later(self.number(0), self._start, node)
        else:
            node.queue.remove(attempt)
            if node.queue:
                self.later(self.number(0), self._start, node)

    # what is kept --------------------------------------------------------------------------------

    def note(self, attempt: Attempt) -> None:
        """Keep what was sent."""
        if self._keep:
            self._attempts.append(attempt)

    def presumed(self, node: Node, begin: Any, until: Any) -> None:
        """Keep that a node was presumed dead."""
        if self._keep:
            self._presumed.append(Outage(node.index, begin, until))

    def trace(self) -> Trace:
        """Return what happened, for whoever wants to check it."""
        down, presumed = list(self._down), list(self._presumed)
        for node in self.nodes:
            if not node.up:
                down.append(Outage(node.index, node.down_since))
            if node.presumed_since is not None:
                presumed.append(Outage(node.index, node.presumed_since))
        courses = [
            Course(job.index, job.lan, job.decided, job.received, job.returned, job.reason)
            for job in sorted(self.ended, key=lambda job: job.index)
        ]
        return Trace(tuple(courses), tuple(map(_run, self._attempts)), tuple(down), tuple(presumed))


def _run(attempt: Attempt) -> Run:
    subtask = attempt.subtask
    return Run(
        subtask.job.index,
        subtask.index,
        attempt.node.index,
        attempt.sent,
        attempt.fate,  # type: ignore[arg-type]
        attempt.start,
        attempt.end,
        attempt.known,
        attempt.freed,
    )


def _environment(start: Any) -> Environment:
    """Return SimPy's clock."""
    try:
        from simpy import Environment
    except ImportError as error:
        raise MissingExtraError("simpy", "sim") from error
    return Environment(start)
