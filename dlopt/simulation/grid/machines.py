"""The true state of the machines of a grid: what they run, failures and recoveries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dlopt.arithmetic import Number
from dlopt.problems.dag import Machine, Network
from dlopt.simulation.grid.execution_state import Attempt, AttemptState, Node
from dlopt.simulation.grid.monitor import PeriodMonitor
from dlopt.simulation.grid.policy import FailureModel
from dlopt.simulation.grid.trace_recorder import TraceRecorder

_MASK = 2**64 - 1
"""Reduces integers to 64 bits."""


def hashed_uniform(*keys: int) -> float:
    """Return a pseudo-random number in [0, 1) that depends on the keys alone (SplitMix64).

    So the random events of a subtask do not depend on earlier draws: policies are compared under
    common random numbers.

    Examples
    --------
    >>> round(hashed_uniform(1, 2), 3), round(hashed_uniform(2, 1), 3)
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
    """Interface of the scheduler of a LAN to its machines."""

    def delivered(self, attempt: Attempt) -> None:
        """Process a result."""

    def back(self, node: Node) -> None:
        """Process the recovery of a node."""


class MachineEnvironment(Protocol):
    """Interface of the grid to its machines."""

    meter: PeriodMonitor
    record: TraceRecorder

    @property
    def now(self) -> Number:
        """The time."""
        ...

    @property
    def lans(self) -> Sequence[Scheduler]:
        """The schedulers of all LANs."""
        ...

    def later(self, delay: Number, act: Callable[..., None], *given: Any) -> None:
        """Schedule a call after a delay."""


class Machines:
    """All machines of a grid.

    Parameters
    ----------
    machines, network
        As in a `dlopt.problems.dag.Instance`; every machine belongs to a LAN.
    failure_model : FailureModel
    seed : int
        Of the random failures and execution times.
    number : callable
        ``float`` or `dlopt.arithmetic.exact`.
    grid : MachineEnvironment
    """

    def __init__(
        self,
        machines: Sequence[Machine],
        network: Network,
        failure_model: FailureModel,
        seed: int,
        number: Callable[[Number], Number],
        grid: MachineEnvironment,
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
        self._rate = float(failure_model.failure_rate)
        self._slow = tuple(number(end) for end in failure_model.slowdown)
        self._recovery = tuple(number(end) for end in failure_model.recovery)
        self._failures = sorted(failure_model.failures, key=lambda one: one.begin)

    def begin(self) -> None:
        """Schedule the failures with given times."""
        for failure in self._failures:
            node, begin = self.nodes[failure.machine], self._number(failure.begin)
            until = None if failure.until is None else self._number(failure.until)
            self.grid.later(begin, self.fail_node, node, until)
            if until is not None:
                self.grid.later(until, self._recover, node)

    def travels(self, attempt: Attempt) -> None:
        """Send the data of an attempt to its node."""
        attempt.node.queue.append(attempt)
        self.grid.later(attempt.arrived - self.grid.now, self._arrived, attempt)

    def _arrived(self, attempt: Attempt) -> None:
        if attempt.state != AttemptState.IN_TRANSIT:
            return
        if not attempt.node.up:
            attempt.state = AttemptState.LOST
            attempt.node.queue.remove(attempt)
            return
        attempt.state = AttemptState.QUEUED
        self.start_next(attempt.node)

    def start_next(self, node: Node) -> None:
        """Start the first attempt in the queue of a free node, if it has arrived."""
        queue = node.queue
        if (
            not node.up
            or node.running is not None
            or not queue
            or queue[0].state != AttemptState.QUEUED
        ):
            return
        attempt = queue.popleft()
        node.running, attempt.state, attempt.start = attempt, AttemptState.RUNNING, self.grid.now
        subtask = attempt.subtask
        keys = self._seed, subtask.job.index, subtask.index, subtask.tries
        low, high = self._slow
        if high != low or low != 1:
            attempt.duration *= low + (high - low) * self._number(hashed_uniform(1, *keys))
        if self._rate and hashed_uniform(2, *keys) < self._rate:
            part = self._number(hashed_uniform(3, *keys))
            self.grid.later(attempt.duration * part, self._fail_during_run, attempt, keys)
        else:
            self.grid.later(attempt.duration, self._finish, attempt)

    def _finish(self, attempt: Attempt) -> None:
        node = attempt.node
        if node.running is not attempt:
            return
        node.running, attempt.state, attempt.end = None, AttemptState.RETURNING, self.grid.now
        out = node.latency + attempt.subtask.data_out * node.unit
        self.grid.later(out, self.grid.lans[node.lan].delivered, attempt)
        self.start_next(node)

    def _fail_during_run(self, attempt: Attempt, keys: tuple[int, ...]) -> None:
        """Let a node fail while it runs an attempt."""
        node = attempt.node
        if node.running is not attempt:
            return
        low, high = self._recovery
        down = low + (high - low) * self._number(hashed_uniform(4, *keys))
        self.fail_node(node, self.grid.now + down)
        self.grid.later(down, self._recover, node)

    def fail_node(self, node: Node, until: Number) -> None:
        """Let a node fail: its running and queued attempts are lost."""
        if not node.up:
            never = until is None or node.back_at is None
            node.back_at = None if never else max(node.back_at, until)
            return
        node.up, node.back_at, node.down_since = False, until, self.grid.now
        self.grid.meter.failure(node.lan, self.grid.now)
        if node.running is not None:
            self._interrupt(node.running)
            node.running = None
        for attempt in list(node.queue):
            if attempt.state == AttemptState.QUEUED:
                attempt.state = AttemptState.LOST
                node.queue.remove(attempt)

    def _interrupt(self, attempt: Attempt) -> None:
        """End a run before it is complete."""
        node = attempt.node
        attempt.end = self.grid.now
        self.grid.meter.busy(node.lan, attempt.start, attempt.end, False)
        if attempt.is_duplicate:
            attempt.subtask.duplicate_attempts.remove(attempt)
            attempt.fate = "lost"
        attempt.state = AttemptState.LOST

    def _recover(self, node: Node) -> None:
        if node.up or node.back_at is None or self.grid.now < node.back_at:
            return
        self.grid.record.down(node, node.down_since, self.grid.now)
        node.up = True
        self.grid.lans[node.lan].back(node)
        self.start_next(node)

    def stop(self, attempt: Attempt) -> None:
        """Remove an attempt from its node, if it has not ended there."""
        node = attempt.node
        if attempt.state == AttemptState.RUNNING:
            self._interrupt(attempt)
            node.running = None
            self.grid.later(self._number(0), self.start_next, node)
        else:
            node.queue.remove(attempt)
            if node.queue:
                self.grid.later(self._number(0), self.start_next, node)
