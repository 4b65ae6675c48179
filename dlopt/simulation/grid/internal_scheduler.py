"""The internal scheduler of a LAN: it maps the subtasks of its jobs to its nodes."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any, Protocol

from dlopt.arithmetic import Number
from dlopt.simulation.grid import bids
from dlopt.simulation.grid.execution_state import (
    Attempt,
    AttemptState,
    Job,
    LanNodes,
    Node,
    QueueKey,
    Subtask,
    SubtaskState,
)
from dlopt.simulation.grid.machines import Machines
from dlopt.simulation.grid.monitor import PeriodMonitor
from dlopt.simulation.grid.node_selection import NodeSelector
from dlopt.simulation.grid.policy import Policy
from dlopt.simulation.grid.trace_recorder import TraceRecorder


class SchedulerEnvironment(Protocol):
    """Interface of the grid to its internal schedulers."""

    policy: Policy
    meter: PeriodMonitor
    record: TraceRecorder
    machines: Machines
    number: Callable[[Number], Number]
    local_data_free: bool

    @property
    def now(self) -> Number:
        """The time."""
        ...

    def later(self, delay: Number, act: Callable[..., None], *given: Any) -> None:
        """Schedule a call after a delay."""

    def bids(self) -> Callable[..., Number | None]:
        """Return the function that computes bids."""
        ...

    def complete(self, job: Job) -> None:
        """Send the results of a job home."""

    def fail(self, job: Job, reason: str) -> None:
        """Abandon a job."""


class InternalScheduler:
    """The scheduler of a LAN, on its gateway.

    A subtask is ready once the results of its predecessors are in the LAN; the one with the
    earliest deadline less b-level goes first, to the node of least expected response time.
    """

    def __init__(self, index: int, nodes: list[Node], grid: SchedulerEnvironment) -> None:
        self.index, self.nodes, self.grid, self.policy = index, nodes, grid, grid.policy
        self.lan_nodes = LanNodes(nodes)
        self.choice = NodeSelector(self.lan_nodes, self.policy, grid.local_data_free)
        self.jobs: dict[int, Job] = {}
        self.incoming: dict[int, Job] = {}  # assigned to this LAN, and on their way
        self.ready: list[tuple[QueueKey, Subtask]] = []
        self.due = False  # a mapping is under way

    # events --------------------------------------------------------------------------------------

    def award(self, job: Job) -> None:
        """Register a job that was assigned to this LAN; its data may have arrived already."""
        if job.received is None:
            for subtask in job.subtasks:
                subtask.round_trip_times = self.lan_nodes.round_trip_times(subtask)
            self.incoming[job.index] = job

    def accept(self, job: Job) -> None:
        """Accept a job whose input has arrived."""
        if job.reason:
            return
        self.incoming.pop(job.index, None)
        job.received = self.grid.now
        self.jobs[job.index] = job
        for subtask in job.subtasks:
            subtask.round_trip_times = self.lan_nodes.round_trip_times(subtask)
            if not subtask.missing:
                self._ready(subtask)
        self._request()

    def delivered(self, attempt: Attempt) -> None:
        """Process the result of an attempt."""
        node, subtask, now = attempt.node, attempt.subtask, self.grid.now
        attempt.known, attempt.state = now, AttemptState.OVER
        self.grid.meter.internal(self.index, subtask.sent_out, now)
        if not attempt.is_duplicate:
            self._release(attempt)
        else:
            subtask.duplicate_attempts.remove(attempt)
            if node.presumed_since is not None and self.policy.recovery == "reported":
                self._clear_suspicion(node)  # it has responded
        useful = subtask.state != SubtaskState.DONE and not subtask.job.reason
        attempt.fate = "done" if useful else "ignored"
        node.busy += attempt.end - attempt.start
        self.grid.meter.busy(self.index, attempt.start, attempt.end, useful)
        if useful:
            subtask.producer = node
            self._done(subtask)
        self._request()

    def trap(self, attempt: Attempt) -> None:
        """Suspect the node of an overdue attempt of failure; take back all that it was sent."""
        if attempt.freed is not None:
            return
        node, now = attempt.node, self.grid.now
        self.grid.meter.trap(self.index, now, node.up)
        if node.presumed_since is None:
            node.presumed_since = now
        assigned, node.assigned = node.assigned, []
        self.take_back(assigned)
        if self.policy.pull_back == "restores":
            node.free = now
        working = node.running is not None or any(
            one.state == AttemptState.RETURNING for one in assigned
        )
        if node.up and not working and self.policy.recovery == "reported":
            self._clear_suspicion(node)  # it returns its attempts, and thus responds
        self._request()

    def back(self, node: Node) -> None:
        """Process the message of a node that has recovered, and has lost what it had."""
        if self.policy.recovery == "silent":
            return
        lost = [one for one in node.assigned if one.state == AttemptState.LOST]
        node.assigned = [one for one in node.assigned if one.state != AttemptState.LOST]
        self.take_back(lost)
        self._clear_suspicion(node)
        self._update_free_time(node, self.grid.now, 0)
        self._request()

    # mapping -------------------------------------------------------------------------------------

    def map(self) -> None:
        """Send ready subtasks to nodes with a free place."""
        self.due = False
        postponed: list[tuple[QueueKey, Subtask]] = []
        skips, size = self.policy.full == "skip", self.policy.queue_size
        while self.ready:
            subtask = self.ready[0][1]
            if subtask.state != SubtaskState.READY or subtask.job.reason:
                heappop(self.ready)
                continue
            if skips:
                choice = [node for node in self.choice.alive() if len(node.assigned) < size]
                if not choice:
                    break
            else:
                choice = self.choice.alive()
            node, response = self.choice.best(subtask, choice, self.grid.now)
            if node is None:
                postponed.append(heappop(self.ready))  # all nodes that can run it are full
            elif len(node.assigned) >= size:
                break
            else:
                heappop(self.ready)
                self._send(subtask, node, response)
        self.ready.extend(postponed)
        heapify(self.ready)

    def _send(self, subtask: Subtask, node: Node, response: Number) -> None:
        now, time = self.grid.now, subtask.time_on(node)
        attempt = Attempt(subtask, node, now)
        attempt.arrived = self.choice.arrival(subtask, node, now)
        attempt.duration = attempt.estimate = time
        start = node.free
        if self.policy.free_time != "not-advanced":
            start = max(start, attempt.arrived if self.policy.free_time == "now" else now)
        node.free = start + time
        attempt.expected_known = node.free + node.latency + subtask.data_out * node.unit
        attempt.due = now + response * self.policy.trap
        subtask.state, subtask.attempt = SubtaskState.SENT, attempt
        subtask.tries += 1
        node.assigned.append(attempt)
        self.grid.record.sent(attempt)
        self.grid.meter.sent(self.index, subtask.sent_in, now, subtask.tries > 1)
        self.grid.machines.travels(attempt)
        self.grid.later(attempt.due - now, self.trap, attempt)

    # what changes --------------------------------------------------------------------------------

    def _request(self) -> None:
        if not self.due and self.ready:
            self.due = True
            self.grid.later(self.grid.number(self.policy.internal_time), self.map)

    def _ready(self, subtask: Subtask) -> None:
        subtask.state = SubtaskState.READY
        heappush(self.ready, (subtask.rank, subtask))

    def _done(self, subtask: Subtask) -> None:
        job, now = subtask.job, self.grid.now
        current, subtask.state = subtask.attempt, SubtaskState.DONE
        if current is not None and current.freed is None:
            self._withdraw(current)
        for target in subtask.after:
            target.missing -= 1
            if not target.missing:
                self._ready(target)
        job.left -= 1
        job.last_known = now
        if not job.left:
            del self.jobs[job.index]
            self.grid.complete(job)

    def take_back(self, attempts: list[Attempt]) -> None:
        """Take attempts back, so that their subtasks can be sent again."""
        for attempt in attempts:
            attempt.freed = self.grid.now
            if attempt.state in (AttemptState.RUNNING, AttemptState.RETURNING):
                attempt.is_duplicate = True
                attempt.subtask.duplicate_attempts.append(attempt)
            else:
                self._end(attempt, "lost" if attempt.state == AttemptState.LOST else "pulled-back")
        for attempt in attempts:
            subtask = attempt.subtask
            if (
                subtask.attempt is attempt
                and subtask.state == SubtaskState.SENT
                and not subtask.job.reason
            ):
                subtask.attempt = None
                self._resend(subtask)

    def _resend(self, subtask: Subtask) -> None:
        job = subtask.job
        job.lost += 1
        if subtask.tries >= self.policy.attempts:
            name = job.graph.tasks[subtask.index].id
            self.give_up(job, f"{name} failed in all {subtask.tries} attempts")
        else:
            self._ready(subtask)

    def _end(self, attempt: Attempt, fate: str) -> None:
        if attempt.state in (AttemptState.IN_TRANSIT, AttemptState.QUEUED, AttemptState.RUNNING):
            self.grid.machines.stop(attempt)
        attempt.state, attempt.fate = AttemptState.OVER, fate

    def _withdraw(self, attempt: Attempt) -> None:
        """Cancel an attempt that is no longer needed."""
        if attempt.state == AttemptState.RETURNING:
            return  # its result is in transit, and will be ignored
        at = attempt.node.assigned.index(attempt)
        del attempt.node.assigned[at]
        attempt.freed = self.grid.now
        self._end(attempt, "lost" if attempt.state == AttemptState.LOST else "withdrawn")
        if attempt.start is not None:
            self._update_free_time(attempt.node, self.grid.now, at)
        else:
            self._reduce_free_time(attempt)

    def give_up(self, job: Job, reason: str) -> None:
        """Abandon a job: no further subtask is sent, and waiting attempts are cancelled."""
        job.reason = reason
        del self.jobs[job.index]
        for subtask in job.subtasks:
            attempt = subtask.attempt
            if subtask.state == SubtaskState.SENT and attempt is not None and attempt.freed is None:
                self._withdraw(attempt)
        self.grid.fail(job, reason)

    def _release(self, attempt: Attempt) -> None:
        """Remove an attempt whose result has arrived."""
        assigned = attempt.node.assigned
        at = assigned.index(attempt)
        del assigned[at]
        attempt.freed = self.grid.now
        self._update_free_time(attempt.node, attempt.end, at)

    def _update_free_time(self, node: Node, free: Number, at: int) -> None:
        """Recompute when a node is free, from an instant and the attempts from position `at` on."""
        if self.policy.pull_back == "keeps" or self.policy.free_time == "not-advanced":
            return
        waits_for_data = self.policy.free_time == "now"
        for one in node.assigned[at:]:
            if one.state != AttemptState.RETURNING:
                free = (max(free, one.arrived) if waits_for_data else free) + one.estimate
        node.free = free

    def _reduce_free_time(self, attempt: Attempt) -> None:
        """Subtract the execution time of an attempt from the time when its node is free."""
        if self.policy.pull_back == "restores":
            attempt.node.free = max(self.grid.now, attempt.node.free - attempt.estimate)

    def _clear_suspicion(self, node: Node) -> None:
        if node.presumed_since is not None:
            self.grid.record.presumed(node, node.presumed_since, self.grid.now)
            node.presumed_since = None

    # what is asked -------------------------------------------------------------------------------

    def can_run(self, job: Job) -> bool:
        """Return whether every subtask of a job can run on some node of the LAN."""
        return bids.can_run(self.lan_nodes, job)

    def bid(self, job: Job) -> Number | None:
        """Return the expected time of a job in this LAN; None if no node is available for it."""
        ask = self.grid.bids()
        jobs = (*self.jobs.values(), *self.incoming.values())
        return ask(self.lan_nodes, self.grid.now, self.choice.excludes_suspected, jobs, job)

    def blocking_reason(self, job: Job) -> str:
        """Return what a job waits for."""
        return bids.blocking_reason(self.lan_nodes, self.index, job)
