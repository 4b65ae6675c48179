"""Selection of the node of a LAN with the least expected response time of a subtask."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dlopt.arithmetic import Number
from dlopt.simulation.grid.execution_state import LanNodes, Node, Subtask
from dlopt.simulation.grid.policy import Policy


class NodeSelector:
    """Selects among the nodes of a LAN.

    Parameters
    ----------
    lan_nodes : LanNodes
    policy : Policy
    local_data_free : bool
        Whether data need not be sent to the node on which it was produced.

    Attributes
    ----------
    excludes_suspected : bool
        Whether nodes that are suspected failed get no subtasks.
    """

    __slots__ = ("_lan_nodes", "_response", "excludes_suspected", "local_data_free")

    def __init__(self, lan_nodes: LanNodes, policy: Policy, local_data_free: bool) -> None:
        self._lan_nodes, self.local_data_free = lan_nodes, local_data_free
        self._response = policy.response
        self.excludes_suspected = policy.dead == "marked"

    def alive(self) -> list[Node]:
        """Return the nodes that may get subtasks."""
        if not self.excludes_suspected:
            return self._lan_nodes.nodes
        return [node for node in self._lan_nodes.nodes if node.presumed_since is None]

    def best(
        self, subtask: Subtask, choice: Iterable[Node], now: Number
    ) -> tuple[Node | None, Number]:
        """Return the node of least expected response time (ESRT), and that response time.

        None if the subtask can run on none of them. Complexity: O(nodes).
        """
        round_trip_times, best = subtask.round_trip_times, None
        least: Number = math.inf
        if self._response != "elapsed":  # equation 5: all is added up
            begin = now if self._response == "added" else now - now
            for node in choice:
                wait = node.free - begin if node.free > begin else 0
                response = wait + round_trip_times[node.place] + self.data_time(subtask, node)
                if response < least:
                    best, least = node, response
        elif self.local_data_free:
            for node in choice:
                wait, data_time = node.free - now - node.latency, self.data_time(subtask, node)
                response = (wait if wait > data_time else data_time) + round_trip_times[node.place]
                if response < least:
                    best, least = node, response
        else:
            there = now + subtask.data_in * self._lan_nodes.unit
            for node in choice:
                free = node.free - node.latency
                back = (free if free > there else there) + round_trip_times[node.place]
                if back < least:
                    best, least = node, back
            least -= now
        return best, least + subtask.data_out * self._lan_nodes.unit

    def data_time(self, subtask: Subtask, node: Node) -> Number:
        """Return the transfer time of data without the latency; its negative if data is local."""
        if not self.local_data_free or not subtask.data_from:
            return subtask.data_in * node.unit
        needed = [data for source, data in subtask.data_from if source.producer is not node]
        return max(needed) * node.unit if needed else -node.latency

    def arrival(self, subtask: Subtask, node: Node, now: Number) -> Number:
        """Return when data that is sent now arrives at a node."""
        if not self.local_data_free:
            return now + node.latency + subtask.data_in * node.unit
        return now + (node.latency + self.data_time(subtask, node))
