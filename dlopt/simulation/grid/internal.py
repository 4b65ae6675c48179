"""The scheduler of a LAN: it sends the subtasks of its jobs to its nodes."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any, Protocol

from dlopt.simulation.grid import bids
from dlopt.simulation.grid.entities import (
    DONE,
    LOST,
    OVER,
    QUEUED,
    READY,
    RETURNS,
    RUNS,
    SENT,
    TRAVELS,
    Attempt,
    Job,
    Node,
    Rack,
    Subtask,
)
from dlopt.simulation.grid.machines import Machines
from dlopt.simulation.grid.monitor import Meter
from dlopt.simulation.grid.node_selection import Choice
from dlopt.simulation.grid.policy import Policy
from dlopt.simulation.grid.trace_recorder import Record


class Surroundings(Protocol):
    """What a scheduler needs of the grid that it stands in."""

    policy: Policy
    meter: Meter
    record: Record
    machines: Machines
    number: Callable[[Any], Any]
    free_at_home: bool

    @property
    def now(self) -> Any:
        """The time."""
        ...

    def later(self, delay: Any, act: Callable[..., None], *given: Any) -> None:
        """Do something after a while."""

    def bids(self) -> Callable[..., Any]:
        """Return how bids are made."""
        ...

    def complete(self, job: Job) -> None:
        """Send the results of a job home."""

    def fail(self, job: Job, reason: str) -> None:
        """Give up a job."""


class InternalScheduler:
    """The scheduler of a LAN, on its gateway.

    Subtasks are ready once the results of their predecessors are here; the one of the earliest
    deadline less b-level goes first, to the node that promises the least response.
    """

    def __init__(self, index: int, nodes: list[Node], grid: Surroundings) -> None:
        self.index, self.nodes, self.grid, self.policy = index, nodes, grid, grid.policy
        self.rack = Rack(nodes)
        self.choice = Choice(self.rack, self.policy, grid.free_at_home)
        self.jobs: dict[int, Job] = {}
        self.incoming: dict[int, Job] = {}  # assigned to this LAN, and on their way
        self.ready: list[tuple[Any, Subtask]] = []
        self.due = False  # a mapping is under way

    # events --------------------------------------------------------------------------------------

    def award(self, job: Job) -> None:
        """Hear of a job that was assigned to this LAN; its data may be here already."""
        if job.received is None:
            for subtask in job.subtasks:
                subtask.trips = self.rack.trips(subtask)
            self.incoming[job.index] = job

    def accept(self, job: Job) -> None:
        """Take a job whose input is here."""
        if job.reason:
            return
        self.incoming.pop(job.index, None)
        job.received = self.grid.now
        self.jobs[job.index] = job
        for subtask in job.subtasks:
            subtask.trips = self.rack.trips(subtask)
            if not subtask.missing:
                self._ready(subtask)
        self._request()

    def delivered(self, attempt: Attempt) -> None:
        """Take a result."""
        node, subtask, now = attempt.node, attempt.subtask, self.grid.now
        attempt.known, attempt.state = now, OVER
        self.grid.meter.internal(self.index, subtask.sent_out, now)
        if not attempt.stray:
            self._release(attempt)
        else:
            subtask.strays.remove(attempt)
            if node.presumed_since is not None and self.policy.recovery == "told":
                self._alive(node)  # it lives
        useful = subtask.state != DONE and not subtask.job.reason
        attempt.fate = "done" if useful else "ignored"
        node.busy += attempt.end - attempt.start
        self.grid.meter.busy(self.index, attempt.start, attempt.end, useful)
        if useful:
            subtask.maker = node
            self._done(subtask)
        self._request()

    def trap(self, attempt: Attempt) -> None:
        """Presume the node of a subtask dead that is not back in time; take all off it."""
        if attempt.freed is not None:
            return
        node, now = attempt.node, self.grid.now
        self.grid.meter.trap(self.index, now, node.up)
        if node.presumed_since is None:
            node.presumed_since = now
        held, node.held = node.held, []
        self._take(held)
        if self.policy.pull_back == "restores":
            node.free = now
        working = node.running is not None or any(one.state == RETURNS for one in held)
        if node.up and not working and self.policy.recovery == "told":
            self._alive(node)  # it gives back what it has, and so is heard of
        self._request()

    def back(self, node: Node) -> None:
        """Hear of a node that is up again, and has lost what it held."""
        if self.policy.recovery == "silent":
            return
        lost = [one for one in node.held if one.state == LOST]
        node.held = [one for one in node.held if one.state != LOST]
        self._take(lost)
        self._alive(node)
        self._refresh(node, self.grid.now, 0)
        self._request()

    # mapping -------------------------------------------------------------------------------------

    def map(self) -> None:
        """Send what is ready to nodes that have a place."""
        self.due = False
        aside: list[tuple[Any, Subtask]] = []
        skips, size = self.policy.full == "skip", self.policy.queue_size
        while self.ready:
            subtask = self.ready[0][1]
            if subtask.state != READY or subtask.job.reason:
                heappop(self.ready)
                continue
            if skips:
                choice = [node for node in self.choice.alive() if len(node.held) < size]
                if not choice:
                    break
            else:
                choice = self.choice.alive()
            node, response = self.choice.best(subtask, choice, self.grid.now)
            if node is None:
                aside.append(heappop(self.ready))  # it runs only on nodes that have no place now
            elif len(node.held) >= size:
                break
            else:
                heappop(self.ready)
                self._send(subtask, node, response)
        self.ready.extend(aside)
        heapify(self.ready)

    def _send(self, subtask: Subtask, node: Node, response: Any) -> None:
        now, time = self.grid.now, subtask.time_on(node)
        attempt = Attempt(subtask, node, now)
        attempt.arrived = self.choice.arrival(subtask, node, now)
        attempt.duration = attempt.estimate = time
        start = node.free
        if self.policy.free_time != "behind":
            start = max(start, attempt.arrived if self.policy.free_time == "now" else now)
        node.free = start + time
        attempt.expected_known = node.free + node.latency + subtask.data_out * node.unit
        attempt.due = now + response * self.policy.trap
        subtask.state, subtask.attempt = SENT, attempt
        subtask.tries += 1
        node.held.append(attempt)
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
        subtask.state = READY
        heappush(self.ready, (subtask.rank, subtask))

    def _done(self, subtask: Subtask) -> None:
        job, now = subtask.job, self.grid.now
        current, subtask.state = subtask.attempt, DONE
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

    def _take(self, attempts: list[Attempt]) -> None:
        """Take attempts off their node's queue, so that their subtasks can be sent again."""
        for attempt in attempts:
            attempt.freed = self.grid.now
            if attempt.state in (RUNS, RETURNS):
                attempt.stray = True
                attempt.subtask.strays.append(attempt)
            else:
                self._end(attempt, "lost" if attempt.state == LOST else "pulled-back")
        for attempt in attempts:
            subtask = attempt.subtask
            if subtask.attempt is attempt and subtask.state == SENT and not subtask.job.reason:
                subtask.attempt = None
                self._again(subtask)

    def _again(self, subtask: Subtask) -> None:
        job = subtask.job
        job.lost += 1
        if subtask.tries >= self.policy.attempts:
            name = job.graph.tasks[subtask.index].id
            self.give_up(job, f"{name} was sent {subtask.tries} times in vain")
        else:
            self._ready(subtask)

    def _end(self, attempt: Attempt, fate: str) -> None:
        if attempt.state in (TRAVELS, QUEUED, RUNS):
            self.grid.machines.stop(attempt)
        attempt.state, attempt.fate = OVER, fate

    def _withdraw(self, attempt: Attempt) -> None:
        """Take an attempt back that is no longer needed."""
        if attempt.state == RETURNS:
            return  # its result is on its way, and will be ignored
        at = attempt.node.held.index(attempt)
        del attempt.node.held[at]
        attempt.freed = self.grid.now
        self._end(attempt, "lost" if attempt.state == LOST else "withdrawn")
        if attempt.start is not None:
            self._refresh(attempt.node, self.grid.now, at)
        else:
            self._shorten(attempt)

    def give_up(self, job: Job, reason: str) -> None:
        """Give up a job: nothing of it is sent any more, and what waits is withdrawn."""
        job.reason = reason
        del self.jobs[job.index]
        for subtask in job.subtasks:
            attempt = subtask.attempt
            if subtask.state == SENT and attempt is not None and attempt.freed is None:
                self._withdraw(attempt)
        self.grid.fail(job, reason)

    def _release(self, attempt: Attempt) -> None:
        """Take an attempt off the queue whose result is here."""
        held = attempt.node.held
        at = held.index(attempt)
        del held[at]
        attempt.freed = self.grid.now
        self._refresh(attempt.node, attempt.end, at)

    def _refresh(self, node: Node, free: Any, at: int) -> None:
        """Say anew when a node is free: it was so then, but for what it holds from `at` on."""
        if self.policy.pull_back == "keeps" or self.policy.free_time == "behind":
            return
        waits = self.policy.free_time == "now"  # for data that is on its way
        for one in node.held[at:]:
            if one.state != RETURNS:
                free = (max(free, one.arrived) if waits else free) + one.estimate
        node.free = free

    def _shorten(self, attempt: Attempt) -> None:
        """Take what an attempt would have needed off what its node is busy."""
        if self.policy.pull_back == "restores":
            attempt.node.free = max(self.grid.now, attempt.node.free - attempt.estimate)

    def _alive(self, node: Node) -> None:
        if node.presumed_since is not None:
            self.grid.record.presumed(node, node.presumed_since, self.grid.now)
            node.presumed_since = None

    # what is asked -------------------------------------------------------------------------------

    def can_run(self, job: Job) -> bool:
        """Tell whether every subtask of a job can run on some node here."""
        return bids.can_run(self.rack, job)

    def bid(self, job: Job) -> Any:
        """Return how long a job would take here from now on; None if no node is alive for it."""
        ask = self.grid.bids()
        jobs = (*self.jobs.values(), *self.incoming.values())
        return ask(self.rack, self.grid.now, self.choice.marks, jobs, job)

    def waits(self, job: Job) -> str:
        """Return what a job waits for."""
        return bids.waits(self.rack, self.index, job)
