"""The machines of a grid in truth: what they run, when they fail, when they are up again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dlopt.problems.dag import Machine, Network
from dlopt.simulation.grid.entities import LOST, QUEUED, RETURNS, RUNS, TRAVELS, Attempt, Node
from dlopt.simulation.grid.monitor import Meter
from dlopt.simulation.grid.policy import Hazards
from dlopt.simulation.grid.trace_recorder import Record

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


class Scheduler(Protocol):
    """What machines need of the scheduler of their LAN."""

    def delivered(self, attempt: Attempt) -> None:
        """Take a result."""

    def back(self, node: Node) -> None:
        """Hear of a node that is up again."""


class Ground(Protocol):
    """What machines need of the grid that they stand in."""

    meter: Meter
    record: Record

    @property
    def now(self) -> Any:
        """The time."""
        ...

    @property
    def lans(self) -> Sequence[Scheduler]:
        """The schedulers of all LANs."""
        ...

    def later(self, delay: Any, act: Callable[..., None], *given: Any) -> None:
        """Do something after a while."""


class Machines:
    """All machines of a grid.

    Parameters
    ----------
    machines, network
        As of a `dlopt.problems.dag.Instance`; every machine stands in a LAN.
    hazards : Hazards
    seed : int
        Of the hazards.
    number : callable
        ``float`` or `dlopt.arithmetic.exact`.
    grid : Ground
    """

    def __init__(
        self,
        machines: Sequence[Machine],
        network: Network,
        hazards: Hazards,
        seed: int,
        number: Callable[[Any], Any],
        grid: Ground,
    ) -> None:
        self.grid, self._seed, self._number = grid, seed, number
        self.nodes: list[Node] = []
        self.lans: list[list[Node]] = [[] for _ in network.lans]
        for index, machine in enumerate(machines):
            assert machine.lan is not None  # see `check_fits`
            lan, mates = network.lans[machine.lan], self.lans[machine.lan]
            latency = number(lan.latency) + number(machine.delay)
            unit, power = 1 / number(lan.bandwidth), number(machine.power)
            self.nodes.append(Node(index, len(mates), machine, latency, unit, power))
            mates.append(self.nodes[-1])
        self._rate = float(hazards.failure_rate)
        self._slow = tuple(number(end) for end in hazards.slowdown)
        self._recovery = tuple(number(end) for end in hazards.recovery)
        self._failures = sorted(hazards.failures, key=lambda one: one.begin)

    def begin(self) -> None:
        """Let fail at their times the machines that are said to."""
        for failure in self._failures:
            node, begin = self.nodes[failure.machine], self._number(failure.begin)
            until = None if failure.until is None else self._number(failure.until)
            self.grid.later(begin, self._fail_node, node, until)
            if until is not None:
                self.grid.later(until, self._recover, node)

    def travels(self, attempt: Attempt) -> None:
        """Let what was sent travel to its node."""
        attempt.node.queue.append(attempt)
        self.grid.later(attempt.arrived - self.grid.now, self._arrived, attempt)

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
        node.running, attempt.state, attempt.start = attempt, RUNS, self.grid.now
        subtask = attempt.subtask
        keys = self._seed, subtask.job.index, subtask.index, subtask.tries
        low, high = self._slow
        if high != low or low != 1:
            attempt.duration *= low + (high - low) * self._number(chance(1, *keys))
        if self._rate and chance(2, *keys) < self._rate:
            part = self._number(chance(3, *keys))
            self.grid.later(attempt.duration * part, self._break, attempt, keys)
        else:
            self.grid.later(attempt.duration, self._finish, attempt)

    def _finish(self, attempt: Attempt) -> None:
        node = attempt.node
        if node.running is not attempt:
            return
        node.running, attempt.state, attempt.end = None, RETURNS, self.grid.now
        out = node.latency + attempt.subtask.data_out * node.unit
        self.grid.later(out, self.grid.lans[node.lan].delivered, attempt)
        self._start(node)

    def _break(self, attempt: Attempt, keys: tuple[int, ...]) -> None:
        """Let a node fail while it runs a subtask."""
        node = attempt.node
        if node.running is not attempt:
            return
        low, high = self._recovery
        down = low + (high - low) * self._number(chance(4, *keys))
        self._fail_node(node, self.grid.now + down)
        self.grid.later(down, self._recover, node)

    def _fail_node(self, node: Node, until: Any) -> None:
        """Let a node fail: what runs or waits there is lost."""
        if not node.up:
            never = until is None or node.back_at is None
            node.back_at = None if never else max(node.back_at, until)
            return
        node.up, node.back_at, node.down_since = False, until, self.grid.now
        self.grid.meter.failure(node.lan, self.grid.now)
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
        attempt.end = self.grid.now
        self.grid.meter.busy(node.lan, attempt.start, attempt.end, False)
        if attempt.stray:
            attempt.subtask.strays.remove(attempt)
            attempt.fate = "lost"
        attempt.state = LOST

    def _recover(self, node: Node) -> None:
        if node.up or node.back_at is None or self.grid.now < node.back_at:
            return
        self.grid.record.down(node, node.down_since, self.grid.now)
        node.up = True
        self.grid.lans[node.lan].back(node)
        self._start(node)

    def stop(self, attempt: Attempt) -> None:
        """Take what was sent off its node, if it has not ended there."""
        node = attempt.node
        if attempt.state == RUNS:
            self._cut(attempt)
            node.running = None
            self.grid.later(self._number(0), self._start, node)
        else:
            node.queue.remove(attempt)
            if node.queue:
                self.grid.later(self._number(0), self._start, node)
