"""The cluster that divisible loads run on, shared by the problems of that family."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, cast

from annotated_types import Ge, Le

from dlopt.arithmetic import Number, is_exact
from dlopt.errors import Fault, repeated
from dlopt.problems.validated_record import Items, NonNegative, Record

MAX_NODES = 1_000_000
"""Nodes; a file with more is rejected as a mistake. Chosen by hand: a million ready times still fit
into memory as Python numbers."""


@dataclass(frozen=True, slots=True)
class Cluster(Record):
    """A head node that sends to one of its nodes at a time (one port).

    To send `x` units of load to a node takes ``theta_cm + x tau``; the node then computes them
    for ``theta_cp + x chi``. It does not compute while it receives.

    Parameters
    ----------
    nodes : int
        Number of nodes, 1 to 1,000,000.
    tau : Number or tuple of Number, shape (nodes,)
        Unit transmission time; a tuple where the nodes differ.
    chi : Number or tuple of Number, shape (nodes,)
        Unit processing time; a tuple where the nodes differ.
    theta_cm, theta_cp : Number, default 0
        Set-up time of each transmission and of each computation.
    node_names : tuple of str, shape (nodes,), optional
        What charts and tables call the nodes; they take no part in equality and hashes.

    Raises
    ------
    InvalidInstanceError
        If a field has the wrong type or sign, if a tuple has not one entry a node, or if some
        node takes no time at all (``tau = chi = 0``).

    Notes
    -----
    Model: Mamat 2011, section 3.2 and equation (4.2); different nodes are an extension.

    Examples
    --------
    >>> cluster = Cluster(3, tau=1, chi=(2, 2, 4))
    >>> cluster.chi_of(2), cluster.identical
    (4, False)
    """

    nodes: Annotated[int, Ge(1), Le(MAX_NODES)]
    tau: NonNegative | Items[NonNegative]
    chi: NonNegative | Items[NonNegative]
    theta_cm: NonNegative = 0
    theta_cp: NonNegative = 0
    node_names: Items[str] | None = field(default=None, compare=False, kw_only=True)

    @classmethod
    def list_lengths(cls, known: Mapping[str, Any]) -> Mapping[str, int]:
        """Return the required lengths of the lists of costs and names."""
        return (
            dict.fromkeys(("tau", "chi", "node_names"), known["nodes"]) if "nodes" in known else {}
        )

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields: equal names, and nodes that take no time."""
        yield from repeated("node_names", known.get("node_names") or ())
        tau, chi = known.get("tau"), known.get("chi")
        if tau is None or chi is None:
            return
        if not isinstance(tau, tuple) and not isinstance(chi, tuple):
            if tau == chi == 0:
                yield Fault("chi", chi, "must be positive where tau is 0")
            return
        length = len(tau) if isinstance(tau, tuple) else len(chi)
        pairs = zip(_broadcast(tau, length), _broadcast(chi, length), strict=False)
        for node, (send, compute) in enumerate(pairs):
            if send == compute == 0:
                path = f"chi[{node}]" if isinstance(chi, tuple) else "chi"
                yield Fault(path, compute, f"must be positive where tau[{node}] is 0")

    @property
    def identical(self) -> bool:
        """Whether all nodes have the same `tau` and the same `chi`."""
        return all(
            not isinstance(costs, tuple) or len(set(costs)) == 1 for costs in (self.tau, self.chi)
        )

    @property
    def has_setup_costs(self) -> bool:
        """Whether a transmission or a computation has a set-up time."""
        return self.theta_cm > 0 or self.theta_cp > 0

    def tau_of(self, node: int) -> Number:
        """Return the unit transmission time of a node."""
        costs = self.tau
        return costs[node] if isinstance(costs, tuple) else cast(Number, costs)

    def chi_of(self, node: int) -> Number:
        """Return the unit processing time of a node."""
        costs = self.chi
        return costs[node] if isinstance(costs, tuple) else cast(Number, costs)

    def costs_of(self, node: int) -> tuple[Number, Number, Number, Number]:
        """Return ``(tau, chi, theta_cm, theta_cp)`` of a node."""
        return self.tau_of(node), self.chi_of(node), self.theta_cm, self.theta_cp

    @property
    def exact(self) -> bool:
        """Whether no cost is a float."""
        costs = (self.tau, self.chi, self.theta_cm, self.theta_cp)
        return is_exact(x for cost in costs for x in (cost if isinstance(cost, tuple) else (cost,)))


def _broadcast(costs: Number | tuple[Number, ...], length: int) -> tuple[Number, ...]:
    return costs if isinstance(costs, tuple) else (costs,) * length
