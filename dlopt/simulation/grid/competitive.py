"""Competitive scheduling: every graph schedules itself and sees only the load of the others.

Dynamic, competitive scheduling of multiple DAGs (Iverson and Özgüner 1998), as Chen 2001, section
2.3.3, describes it: there is no central scheduler; each graph schedules its own subtasks without
knowing the others: it sees only the current load of the network. The original schedules with a
variant of DLS and predicts arrivals; section 2.3.3 does not mention that.

What that paragraph leaves open is chosen so that schedulers, not grids, are compared: a graph stays
in one LAN, which it finds as an external scheduler does, by asking its home and others at random;
data goes through gateways, queues of machines are limited, and machines that do not respond in time
are suspected failed, as under the schedulers of the thesis.

- *Load*: the subtasks that have been sent to a machine, and those that are ready for it and wait
  at the gateway because its queue is full. Subtasks that are not ready yet, and the decisions of
  other graphs, are unknown.
- *Mapping*: when a graph is received by its LAN, it maps all of its subtasks: by decreasing static
  b-level, each to the machine from which its result is back first under the current load. The
  mapping is final, except for subtasks that were lost or wait for a machine suspected failed: once
  such a subtask can be sent again, it is mapped to the machine from which it would be back first.
- *Choice of a LAN*: the one in which that list schedule ends first, with transfers there and back.
  A graph has no memory of earlier ones: estimates are not corrected.
- *Order*: a subtask is sent to its machine when it is ready; where several wait for a place in its
  queue, the one that was ready first; of simultaneous ones of a graph the one of larger b-level.
"""

from __future__ import annotations

from collections import deque
from itertools import chain

from dlopt.arithmetic import Number
from dlopt.simulation.grid.bids import list_schedule_length, node_free_times
from dlopt.simulation.grid.execution_state import Job, Node, QueueKey, Subtask, SubtaskState
from dlopt.simulation.grid.internal_scheduler import InternalScheduler, SchedulerEnvironment


class CompetitiveScheduler(InternalScheduler):
    """The gateway of a LAN in which every graph schedules itself.

    Complexity: O(nodes + waiting) for the load, O(subtasks x nodes) for a mapping or a bid.
    """

    def __init__(self, index: int, nodes: list[Node], grid: SchedulerEnvironment) -> None:
        super().__init__(index, nodes, grid)
        self.queues: list[deque[tuple[QueueKey, Subtask]]] = [deque() for _ in nodes]
        """What is ready for each node, and was not sent there yet, in order."""

    def accept(self, job: Job) -> None:
        """Accept a graph whose input has arrived; it maps its subtasks."""
        free, chosen = self._free(), dict[Subtask, Node]()
        super().accept(job)
        list_schedule_length(self.lan_nodes, self.grid.now, free, job.waiting, job, chosen)
        for subtask, node in chosen.items():
            subtask.mapped_node = node

    def bid(self, job: Job) -> Number | None:
        """Return the length of the list schedule of a graph; None if no node is available."""
        return list_schedule_length(self.lan_nodes, self.grid.now, self._free(), job.waiting, job)

    def map(self) -> None:
        """Send ready subtasks to the nodes to which they are mapped, if these have free places."""
        self.due = False
        waiting, self.ready = self.ready, []
        for node, queue in zip(self.nodes, self.queues, strict=True):
            if self.choice.excludes_suspected and node.presumed_since is not None:
                waiting += queue
                queue.clear()
        unmapped = [entry for entry in sorted(waiting) if not self._enqueue(*entry)]
        for key, subtask in unmapped:
            self._remap(subtask)
            if not self._enqueue(key, subtask):
                self.ready.append((key, subtask))
        for node, queue in zip(self.nodes, self.queues, strict=True):
            while queue and len(node.assigned) < self.policy.queue_size:
                _, subtask = queue.popleft()
                if _waits(subtask):
                    response = self.choice.best(subtask, [node], self.grid.now)[1]
                    self._send(subtask, node, response)

    def _enqueue(self, key: QueueKey, subtask: Subtask) -> bool:
        """Queue a subtask for its node; return whether it has one that is not excluded."""
        node = subtask.mapped_node
        if node is None or (self.choice.excludes_suspected and node.presumed_since is not None):
            return False
        self.queues[node.place].append((key, subtask))
        return True

    def _remap(self, subtask: Subtask) -> None:
        """Map a single subtask, if some node is available for it."""
        chosen: dict[Subtask, Node] = {}
        list_schedule_length(
            self.lan_nodes, self.grid.now, self._free(), [subtask], subtask.job, chosen
        )
        subtask.mapped_node = chosen.get(subtask)

    def _free(self) -> list[Number]:
        """Return `node_free_times` under the load of sent and ready subtasks."""
        free = node_free_times(self.lan_nodes, self.grid.now, self.choice.excludes_suspected)
        for _, subtask in chain(self.ready, *self.queues):
            node = subtask.mapped_node
            if node is not None and _waits(subtask):
                free[node.place] += subtask.time_on(node)
        return free

    def _request(self) -> None:
        if not self.due and (self.ready or any(self.queues)):
            self.due = True
            self.grid.later(self.grid.number(self.policy.internal_time), self.map)

    def _ready(self, subtask: Subtask) -> None:
        subtask.state = SubtaskState.READY
        self.ready.append(((self.grid.now, subtask.job.index, subtask.rank), subtask))

    def _resend(self, subtask: Subtask) -> None:
        subtask.mapped_node = None
        super()._resend(subtask)


def _waits(subtask: Subtask) -> bool:
    """Return whether a subtask is still to be sent: not done, and its graph is not abandoned."""
    return subtask.state == SubtaskState.READY and not subtask.job.reason
