"""The scheduler of a LAN: it sends the subtasks of its jobs to its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from typing import Any, Protocol

from dlopt.simulation.grid.meter import Meter
from dlopt.simulation.grid.parts import (
    DONE,
    LOST,
    OVER,
    QUEUED,
    READY,
    RETURNS,
    RUNS,
    SENT,
    TRAVELS,
    WAITING,
    Attempt,
    Job,
    Node,
    Subtask,
    times_on,
)
from dlopt.simulation.grid.policy import Policy


class Surroundings(Protocol):
    """What a scheduler needs of the grid that it stands in."""

    policy: Policy
    meter: Meter
    number: Callable[[Any], Any]
    free_at_home: bool

    @property
    def now(self) -> Any:
        """The time."""
        ...

    def later(self, delay: Any, act: Callable[..., None], *given: Any) -> None:
        """Do something after a while."""

    def note(self, attempt: Attempt) -> None:
        """Keep what was sent."""

    def presumed(self, node: Node, begin: Any, until: Any) -> None:
        """Keep that a node was presumed dead."""

    def travels(self, attempt: Attempt) -> None:
        """Let what was sent travel to its node."""

    def stop(self, attempt: Attempt) -> None:
        """Take what was sent off its node, if it has not ended there."""

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
        self.jobs: dict[int, Job] = {}
        self.ready: list[tuple[Any, Subtask]] = []
        self.due = False  # a mapping is under way

    # events --------------------------------------------------------------------------------------

    def accept(self, job: Job) -> None:
        """Take a job whose input is here."""
        if job.reason:
            return
        job.received = self.grid.now
        self.jobs[job.index] = job
        number = self.grid.number
        for subtask in job.subtasks:
            subtask.times = times_on(subtask, self.nodes, number)
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
        self.grid.meter.trap(self.index, node.up)
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
                choice = [node for node in self._alive_nodes() if len(node.held) < size]
                if not choice:
                    break
            else:
                choice = self._alive_nodes()
            node, response = self._best(subtask, choice)
            if node is None:
                aside.append(heappop(self.ready))  # it runs only on nodes that have no place now
            elif len(node.held) >= size:
                break
            else:
                heappop(self.ready)
                self._send(subtask, node, response)
        self.ready.extend(aside)
        heapify(self.ready)

    def _alive_nodes(self) -> list[Node]:
        if self.policy.dead == "unmarked":
            return self.nodes
        return [node for node in self.nodes if node.presumed_since is None]

    def _best(self, subtask: Subtask, choice: Iterable[Node]) -> tuple[Node | None, Any]:
        """Return the node of the least expected response, and that response."""
        now, times, best, least = self.grid.now, subtask.times, None, None
        data, result = subtask.data_in, subtask.data_out
        printed, at_home = self.policy.response == "printed", self.grid.free_at_home
        for node in choice:
            time = times[node.place]
            if time is None:
                continue
            carry = self._carry(subtask, node) if at_home else node.latency + data * node.unit
            out = node.latency + result * node.unit
            if printed:
                response = node.free + time + carry + out
            else:
                wait = node.free - now
                response = (wait if wait > carry else carry) + time + out
            if least is None or response < least:
                best, least = node, response
        return best, least

    def _carry(self, subtask: Subtask, node: Node) -> Any:
        """Return how long the data takes to a node; what was made there need not travel."""
        if not subtask.data_from:
            return node.latency + subtask.data_in * node.unit
        needed = [data for source, data in subtask.data_from if source.maker is not node]
        return node.latency + max(needed) * node.unit if needed else self.grid.number(0)

    def _send(self, subtask: Subtask, node: Node, response: Any) -> None:
        now, time = self.grid.now, subtask.times[node.place]
        attempt = Attempt(subtask, node, now)
        attempt.arrived = (
            now + self._carry(subtask, node)
            if self.grid.free_at_home
            else (now + node.latency + subtask.data_in * node.unit)
        )
        attempt.duration = time
        start = node.free
        if self.policy.free_time == "now":
            start = max(start, attempt.arrived)
        node.free = attempt.expected_end = start + time
        attempt.expected_known = node.free + node.latency + subtask.data_out * node.unit
        attempt.due = now + response * self.policy.trap
        subtask.state, subtask.attempt = SENT, attempt
        subtask.tries += 1
        node.held.append(attempt)
        self.grid.note(attempt)
        self.grid.meter.sent(self.index, subtask.sent_in, now, subtask.tries > 1)
        self.grid.travels(attempt)
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
            self.grid.stop(attempt)
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
        if self.policy.pull_back == "keeps" or self.policy.free_time == "printed":
            return
        for one in node.held[at:]:
            if one.state != RETURNS:
                free = max(free, one.arrived) + one.subtask.times[node.place]
        node.free = free

    def _shorten(self, attempt: Attempt) -> None:
        """Take what an attempt would have needed off what its node is busy."""
        if self.policy.pull_back == "restores":
            time = attempt.subtask.times[attempt.node.place]
            attempt.node.free = max(self.grid.now, attempt.node.free - time)

    def _alive(self, node: Node) -> None:
        if node.presumed_since is not None:
            self.grid.presumed(node, node.presumed_since, self.grid.now)
            node.presumed_since = None

    # what is asked -------------------------------------------------------------------------------

    def can_run(self, job: Job) -> bool:
        """Tell whether every subtask of a job can run on some node here."""
        if not self.nodes:
            return False
        return all(
            task.work is not None
            or any((task.costs or ())[node.index] is not None for node in self.nodes)
            for task in job.graph.tasks
        )

    def bid(self, job: Job) -> Any:
        """Return how long a job would take here from now on; None if no node is alive for it.

        What waits here and the job are placed in order of priority, each subtask where it ends
        first. What is on its way to here does not count: nobody has told.
        """
        now, number = self.grid.now, self.grid.number
        nodes = [(node, node.place) for node in self._alive_nodes()]
        free = [node.free if node.free > now else now for node in self.nodes]
        expected: dict[Subtask, Any] = {}
        last = now
        waiting = [
            one
            for other in (*self.jobs.values(), job)
            for one in other.waiting
            if one.state <= READY
        ]
        waiting.sort(key=lambda one: one.rank)
        for subtask in waiting:
            ready = now
            for source, _ in subtask.data_from:
                if source.state == DONE:
                    continue
                known = expected.get(source)
                if known is None:
                    assert source.attempt is not None
                    known = source.attempt.expected_known
                if known > ready:
                    ready = known
            mine = subtask.job is job
            times = times_on(subtask, self.nodes, number) if mine else subtask.times
            data, out = subtask.data_in, subtask.data_out
            best = least = None
            for node, place in nodes:
                time = times[place]
                if time is None:
                    continue
                start = ready + node.latency + data * node.unit
                if free[place] > start:
                    start = free[place]
                end = start + time + node.latency + out * node.unit
                if least is None or end < least:
                    best, least = place, end
            if least is None or best is None:
                if mine:
                    return None
                expected[subtask] = now
                continue
            expected[subtask] = least
            node = self.nodes[best]
            free[best] = least - node.latency - out * node.unit
            if mine and least > last:
                last = least
        return last - now

    def waits(self, job: Job) -> str:
        """Return what a job waits for: the first subtask that nothing but nodes holds up."""
        graph = job.graph
        for subtask in job.waiting:
            name = graph.tasks[subtask.index].id
            if subtask.state == READY:
                dead = sum(node.presumed_since is not None for node in self.nodes)
                return (
                    f"{name} is ready and waits for a node of LAN {self.index}: "
                    f"{dead} of {len(self.nodes)} presumed dead"
                )
            if subtask.state == SENT and subtask.attempt is not None:
                node = subtask.attempt.node
                what = "up" if node.up else "down"
                return f"{name} waits for machine {node.machine.id}, which is {what}"
        names = (graph.tasks[one.index].id for one in job.waiting if one.state == WAITING)
        return f"{next(names, 'nothing')} waits for what comes before it"
