"""What the builders of several problems share: how large an instance may be, and clusters."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlopt.problems.cluster import Cluster
from dlopt.verify.choice_sequence import Choices

HAIR = Fraction(1, 10**20)
"""Less than floats can tell beside 1."""

GAPS: tuple[Any, ...] = (0, 0, 0, 1, 1, 2, 3, 6, Fraction(1, 2))
"""Between one arrival and the next: often at the same instant."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large an instance may be.

    Parameters
    ----------
    jobs : int
        Tasks (requests, tasks of graphs) at most.
    machines : int
        Nodes or machines at most.
    busy : bool
        Of streams: whether tasks may be promised, and parts of them sent, before it begins.
    """

    jobs: int = 4
    machines: int = 3
    busy: bool = False

    def __post_init__(self) -> None:
        if self.jobs < 1 or self.machines < 1:
            raise ValueError(f"an instance has a job and a machine at least, got {self}")


SMALL = Size()


def cluster(choices: Choices, most: int, *, plain_in: int = 3) -> Cluster:
    """Return a cluster, two times in `plain_in` of identical nodes without set-up costs."""
    nodes = choices.integer(1, most)
    kind = choices.pick(
        ["plain"] * max(1, plain_in - 1) + ["set-up", "heterogeneous" if nodes > 1 else "set-up"]
    )
    tau = choices.number([1, 1, 1, 2, 0, 3, 4, Fraction(1, 2)])
    chi = choices.number([1, 1, 2, 2, 3, 0, 4, 5]) if tau else choices.number([1, 2, 3])
    if kind == "plain":
        return Cluster(nodes, tau, chi)
    if kind == "set-up":
        return Cluster(nodes, tau, chi, choices.integer(0, 5), choices.integer(0, 3))
    taus = tuple(tau + choices.integer(0, 2) for _ in range(nodes))
    chis = tuple(chi + choices.integer(0, 2) for _ in range(nodes))
    return Cluster(nodes, taus, chis, choices.number([0, 0, 1]), choices.number([0, 0, 1]))


def parts_time(cluster: Cluster, load: Any, nodes: int, *, equal: bool) -> Any:
    """Return how long so many free nodes take for a load, by optimal or by equal shares.

    Without regard to set-up costs in the shares; deadlines are set near it.
    """
    tau, chi = Fraction(cluster.tau_of(0)), Fraction(cluster.chi_of(0))
    once = Fraction(cluster.theta_cp) + Fraction(cluster.theta_cm) * nodes
    if equal or not chi:
        return once + load * (tau + chi / nodes)
    if not tau:
        return once + load * chi / nodes
    beta = chi / (tau + chi)
    return once + load * (tau + chi) * (1 - beta) / (1 - beta**nodes)
