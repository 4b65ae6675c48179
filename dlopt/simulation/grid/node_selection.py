"""Which node of a LAN promises to be back first with a subtask."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from dlopt.simulation.grid.entities import Node, Rack, Subtask
from dlopt.simulation.grid.policy import Policy


class Choice:
    """How the scheduler of a LAN chooses among its nodes.

    Parameters
    ----------
    rack : Rack
    policy : Policy
    free_at_home : bool
        Whether what was made on a node need not be sent to it.

    Attributes
    ----------
    marks : bool
        Whether nodes that are presumed dead get nothing.
    """

    __slots__ = ("_rack", "_response", "free_at_home", "marks")

    def __init__(self, rack: Rack, policy: Policy, free_at_home: bool) -> None:
        self._rack, self.free_at_home = rack, free_at_home
        self._response = policy.response
        self.marks = policy.dead == "marked"

    def alive(self) -> list[Node]:
        """Return the nodes that may get something."""
        if not self.marks:
            return self._rack.nodes
        return [node for node in self._rack.nodes if node.presumed_since is None]

    def best(self, subtask: Subtask, choice: Iterable[Node], now: Any) -> tuple[Node | None, Any]:
        """Return the node of the least expected response (ESRT), and that response.

        None if it can run on none of them. Complexity: O(nodes).
        """
        trips, best, least = subtask.trips, None, math.inf
        if self._response != "elapsed":  # equation 5: all is added up
            begin = now if self._response == "added" else now - now
            for node in choice:
                wait = node.free - begin if node.free > begin else 0
                response = wait + trips[node.place] + self.carry(subtask, node)
                if response < least:
                    best, least = node, response
        elif self.free_at_home:
            for node in choice:
                wait, carry = node.free - now - node.latency, self.carry(subtask, node)
                response = (wait if wait > carry else carry) + trips[node.place]
                if response < least:
                    best, least = node, response
        else:
            there = now + subtask.data_in * self._rack.unit
            for node in choice:
                free = node.free - node.latency
                back = (free if free > there else there) + trips[node.place]
                if back < least:
                    best, least = node, back
            least -= now
        return best, least + subtask.data_out * self._rack.unit

    def carry(self, subtask: Subtask, node: Node) -> Any:
        """Return how long data takes to a node beyond its latency; less than none at home."""
        if not self.free_at_home or not subtask.data_from:
            return subtask.data_in * node.unit
        needed = [data for source, data in subtask.data_from if source.maker is not node]
        return max(needed) * node.unit if needed else -node.latency

    def arrival(self, subtask: Subtask, node: Node, now: Any) -> Any:
        """Return when data that is sent now is at a node."""
        if not self.free_at_home:
            return now + node.latency + subtask.data_in * node.unit
        return now + (node.latency + self.carry(subtask, node))
