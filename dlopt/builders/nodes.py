"""The nodes of a cluster, added by name, for the problems with divisible loads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Self

from dlopt.arithmetic import Number
from dlopt.builders.names import Described, Names, naming
from dlopt.problems.cluster import Cluster


class _Node(NamedTuple):
    ready_time: Number
    tau: Number
    chi: Number


@dataclass(kw_only=True)
class NodesBuilder(Described):
    """What builders of instances with a cluster share.

    Parameters
    ----------
    name, origin : str
        Of the instance.
    units : Units or str
        Of its numbers; a text is the unit of time.
    tau, chi : Number
        Unit transmission and processing time of the nodes that do not say otherwise.
    theta_cm, theta_cp : Number, default 0
        Set-up time of each transmission and of each computation.
    """

    tau: Number
    chi: Number
    theta_cm: Number = 0
    theta_cp: Number = 0
    _node_names: Names = field(default_factory=lambda: Names("node"), init=False, repr=False)
    _nodes: list[_Node] = field(default_factory=list, init=False, repr=False)

    def add_node(
        self,
        name: str,
        *,
        ready_time: Number = 0,
        tau: Number | None = None,
        chi: Number | None = None,
    ) -> Self:
        """Add a node: when it becomes free, and its costs if they differ from the others'."""
        node = _Node(ready_time, self.tau if tau is None else tau, self.chi if chi is None else chi)
        with naming(f"node {name}"):
            Cluster(1, node.tau, node.chi, self.theta_cm, self.theta_cp)
            self._node_names.add(name)
        self._nodes.append(node)
        return self

    def cluster(self) -> Cluster:
        """Return the cluster; its costs are lists only where nodes differ from the usual ones."""
        tau: Number | tuple[Number, ...] = self.tau
        chi: Number | tuple[Number, ...] = self.chi
        if any((node.tau, node.chi) != (self.tau, self.chi) for node in self._nodes):
            tau, chi = (tuple(n.tau for n in self._nodes), tuple(n.chi for n in self._nodes))
        setups, names = (self.theta_cm, self.theta_cp), tuple(self._node_names)
        return Cluster(len(self._nodes), tau, chi, *setups, node_names=names)

    def ready_times(self) -> tuple[Number, ...]:
        """Return when each node becomes free."""
        return tuple(node.ready_time for node in self._nodes)
