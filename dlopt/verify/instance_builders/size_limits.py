"""Sizes of instances, and clusters, for the builders of several problems."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dlopt.arithmetic import Number
from dlopt.problems.cluster import Cluster
from dlopt.verify.choice_sequence import Choices

HAIR = Fraction(1, 10**20)
"""A difference that floats cannot represent next to 1."""

GAPS: tuple[Number, ...] = (0, 0, 0, 1, 1, 2, 3, 6, Fraction(1, 2))
"""Times between one arrival and the next: often 0."""


@dataclass(frozen=True, slots=True)
class Size:
    """Largest size of an instance.

    Parameters
    ----------
    jobs : int
        Largest number of tasks (requests, tasks of graphs).
    machines : int
        Largest number of nodes or machines.
    busy : bool
        For streams: whether tasks may have been promised, and parts of them sent, before it begins.
    """

    jobs: int = 4
    machines: int = 3
    busy: bool = False

    def __post_init__(self) -> None:
        if self.jobs < 1 or self.machines < 1:
            raise ValueError(f"an instance has a job and a machine at least, got {self}")


SMALL = Size()


def cluster(choices: Choices, most: int, *, plain_in: int = 3) -> Cluster:
    """Return a cluster, two times in `plain_in` with identical nodes and no set-up costs."""
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


def execution_time(cluster: Cluster, load: Number, nodes: int, *, equal: bool) -> Number:
    """Return the execution time of a load on free nodes, by optimal or by equal shares.

    The shares disregard set-up costs; deadlines are set near this time.
    """
    tau, chi = Fraction(cluster.tau_of(0)), Fraction(cluster.chi_of(0))
    once = Fraction(cluster.theta_cp) + Fraction(cluster.theta_cm) * nodes
    if equal or not chi:
        return once + load * (tau + chi / nodes)
    if not tau:
        return once + load * chi / nodes
    beta = chi / (tau + chi)
    return once + load * (tau + chi) * (1 - beta) / (1 - beta**nodes)
