"""Algorithms with bid-price control by their names: ``priced``, ``priced-edf-iit-2`` and others."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dlopt.arithmetic import Number
from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.algorithm_names import Algorithm, Order
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition

PRICED = "priced"
MOST_NODE_TIME = Fraction(5, 4)
"""Node time on all nodes, per node time on one node, up to which ``priced`` uses all nodes.
Measured on figures 4.6 to 4.12 of Mamat 2011 (docs/better.md)."""

_FEWEST_NODES = Algorithm("edf", "iit", "mn")


@dataclass(frozen=True, slots=True)
class PricedAlgorithm:
    """An algorithm with bid-price control.

    Parameters
    ----------
    base : Algorithm, optional
        Whose admission test decides in the end. By default ``edf-iit-2``; but if all nodes take no
        more time of the channel than one, and hardly more node time (`MOST_NODE_TIME`), each task
        gets all nodes or the fewest (`dlopt.heuristics.admission.node_choosing_queue`).

    Raises
    ------
    NotApplicableError
        If the algorithm promises nothing, or does not keep what it promises.

    Examples
    --------
    >>> PricedAlgorithm.parse("priced-mwf-opr-mn").base.name
    'mwf-opr-mn'
    >>> priced = PricedAlgorithm.parse("priced")
    >>> priced.chosen((1, 1000, 0, 0), 256), priced.chosen((1, 1000, 500, 500), 256).name
    (None, 'edf-iit-2')
    """

    base: Algorithm | None = None

    control: ClassVar[bool] = True
    literal: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.base is not None and (self.base.literal or not self.base.control):
            text = "prices are for algorithms that promise deadlines, and keep them"
            raise NotApplicableError(f"{text}, not for {self.base.name}")

    @classmethod
    def parse(cls, name: str) -> PricedAlgorithm | None:
        """Return the algorithm of a name, or None if it is none of these.

        Raises
        ------
        NotApplicableError
            If what follows ``priced-`` is no algorithm that can be priced.
        """
        if name == PRICED:
            return cls()
        prefix = f"{PRICED}-"
        return cls(Algorithm.parse(name.removeprefix(prefix))) if name.startswith(prefix) else None

    @property
    def name(self) -> str:
        """The name that `parse` reads."""
        return PRICED if self.base is None else f"{PRICED}-{self.base.name}"

    @property
    def order(self) -> Order:
        """The order in which tasks are planned."""
        return "edf" if self.base is None else self.base.order

    def chosen(self, costs: tuple[Number, ...], nodes: int) -> Algorithm | None:
        """Return the base for a cluster, or None if nodes are chosen for each task.

        Parameters
        ----------
        costs : tuple of Number
            ``(tau, chi, theta_cm, theta_cp)``, all of one number type.
        nodes : int
        """
        if self.base is not None:
            return self.base
        tau, chi, theta_cm, theta_cp = costs
        if theta_cm or theta_cp or not chi:
            return _FEWEST_NODES
        rule = OptimalPartition(*costs)
        node_time = nodes * rule.execution_time(1, nodes)
        return None if node_time <= MOST_NODE_TIME * (tau + chi) else _FEWEST_NODES
