"""Graphs that compete: each schedules its own subtasks, and knows only the load of the others.

Dynamic, competitive scheduling of multiple DAGs (Iverson and Özgüner 1998), as Chen 2001, section
2.3.3, describes it: there is no central scheduler; each graph schedules its own subtasks without
knowing the others: it sees only the current load of the network. The original schedules
with a variant of DLS and predicts arrivals; section 2.3.3 says nothing of that.

What that paragraph leaves open is chosen so that schedulers, not grids, are compared: a graph stays
in one LAN, which it finds as an external scheduler does, by asking its home and others at random;
data goes through gateways, queues of machines are limited, and machines that are silent for too
long are presumed dead, as under the schedulers of the thesis.

- *Load*: the subtasks that have been sent to a machine, and those that are ready for it and wait
  at the gateway since its queue is full. What is not ready yet, and what other graphs are about to
  do, nobody sees.
- *Mapping*: when a graph is received by its LAN, it maps all of its subtasks: by falling static
  b-level, each to the machine from which its result is back first, given the load just then. That
  is not taken back, but for what was lost or waits for a machine presumed dead: it goes, once it
  can be sent again, to the machine from which it would be back first then.
- *Choice of a LAN*: the one in which that list ends first, with transfers there and back. A graph
  has no memory of earlier ones: estimates are not corrected.
- *Order*: a subtask is sent to its machine when it is ready; where several wait for a place, the
  one that was ready first; of one graph at one instant the one of the larger b-level.
"""

from __future__ import annotations

from collections import deque
from itertools import chain
from typing import Any

from dlopt.simulation.grid.bids import free_from, lay_out
from dlopt.simulation.grid.entities import READY, Job, Node, Subtask
from dlopt.simulation.grid.internal import InternalScheduler, Surroundings


class CompetitiveScheduler(InternalScheduler):
    """The gateway of a LAN in which every graph schedules itself.

    Complexity: O(nodes + what waits) for the load; O(subtasks x nodes) for a graph to be mapped, or
    for it to ask how long it would take.
    """

    def __init__(self, index: int, nodes: list[Node], grid: Surroundings) -> None:
        super().__init__(index, nodes, grid)
        self.queues: list[deque[tuple[Any, Subtask]]] = [deque() for _ in nodes]
        """What is ready for each node, and was not sent there yet, in order."""

    def accept(self, job: Job) -> None:
        """Take a graph whose input is here, which maps its subtasks."""
        free, chosen = self._free(), dict[Subtask, Node]()
        super().accept(job)
        lay_out(self.rack, self.grid.now, free, job.waiting, job, chosen)
        for subtask, node in chosen.items():
            subtask.planned = node

    def bid(self, job: Job) -> Any:
        """Return how long the list schedule of a graph is here; None if no node is alive for it."""
        return lay_out(self.rack, self.grid.now, self._free(), job.waiting, job)

    def map(self) -> None:
        """Send what is ready to the nodes that it was mapped to, if they have a place."""
        self.due = False
        waiting, self.ready = self.ready, []
        for node, queue in zip(self.nodes, self.queues, strict=True):
            if self.choice.marks and node.presumed_since is not None:
                waiting += queue
                queue.clear()
        unmapped = [entry for entry in sorted(waiting) if not self._enqueue(*entry)]
        for key, subtask in unmapped:
            self._map_again(subtask)
            if not self._enqueue(key, subtask):
                self.ready.append((key, subtask))
        for node, queue in zip(self.nodes, self.queues, strict=True):
            while queue and len(node.held) < self.policy.queue_size:
                _, subtask = queue.popleft()
                if _waits(subtask):
                    response = self.choice.best(subtask, [node], self.grid.now)[1]
                    self._send(subtask, node, response)

    def _enqueue(self, key: Any, subtask: Subtask) -> bool:
        """Let a subtask wait for its node; tell whether it has one that may get something."""
        node = subtask.planned
        if node is None or (self.choice.marks and node.presumed_since is not None):
            return False
        self.queues[node.place].append((key, subtask))
        return True

    def _map_again(self, subtask: Subtask) -> None:
        """Map a subtask by itself, if some node is alive for it."""
        chosen: dict[Subtask, Node] = {}
        lay_out(self.rack, self.grid.now, self._free(), [subtask], subtask.job, chosen)
        subtask.planned = chosen.get(subtask)

    def _free(self) -> list[Any]:
        """Return when nodes are free, as `free_from`, of what was sent and of what is ready."""
        free = free_from(self.rack, self.grid.now, self.choice.marks)
        for _, subtask in chain(self.ready, *self.queues):
            node = subtask.planned
            if node is not None and _waits(subtask):
                free[node.place] += subtask.time_on(node)
        return free

    def _request(self) -> None:
        if not self.due and (self.ready or any(self.queues)):
            self.due = True
            self.grid.later(self.grid.number(self.policy.internal_time), self.map)

    def _ready(self, subtask: Subtask) -> None:
        subtask.state = READY
        self.ready.append(((self.grid.now, subtask.job.index, subtask.rank), subtask))

    def _again(self, subtask: Subtask) -> None:
        subtask.planned = None
        super()._again(subtask)


def _waits(subtask: Subtask) -> bool:
    """Tell whether a subtask is still to be sent: no other run was done, no graph given up."""
    return subtask.state == READY and not subtask.job.reason
