"""Sizes of instances, and clusters, for the builders of several problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dlopt.arithmetic import Number, integer_argument
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
        For streams: whether every second one begins with tasks that were promised, and parts of
        them sent, before; else one of twelve does.
    plain : bool
        Whether instances have the common features only, as the builders name them, and none begins
        with promised tasks unless `busy` is set.

    Raises
    ------
    NotApplicableError
        If a number is no integer, or less than 1.
    """

    jobs: int = 4
    machines: int = 3
    busy: bool = False
    plain: bool = False

    def __post_init__(self) -> None:
        for name in ("jobs", "machines"):
            object.__setattr__(self, name, integer_argument(name, getattr(self, name), 1))


SMALL = Size()


def rare(choices: Choices, size: Size, one_in: int = 2) -> bool:
    """Return whether an instance, or a part of it, gets features beyond the common ones."""
    return not size.plain and choices.chance(one_in)


def partly_none(
    choices: Choices, times: Sequence[Number | None], one_in: int = 4
) -> tuple[Number | None, ...]:
    """Return the times of a task on each machine, some of them None, where it cannot run.

    One of them is kept, so that the task can run somewhere.
    """
    gone = [choices.chance(one_in) for _ in times]
    if all(gone):
        gone[choices.integer(0, len(times) - 1)] = False
    return tuple(None if none else time for none, time in zip(gone, times, strict=True))


def cluster(choices: Choices, most: int, *, plain_in: int = 3) -> Cluster:
    """Return a cluster, mostly with identical nodes and no set-up costs.

    One in `plain_in` has set-up costs, and as many have nodes that differ: in both costs of a
    unit of load, or in one of them.
    """
    nodes = choices.integer(1, most)
    kind = choices.pick(
        ["plain"] * max(1, plain_in - 1) + ["heterogeneous" if nodes > 1 else "set-up", "set-up"]
    )
    tau = choices.number([1, 1, 1, 2, 0, 3, 4, Fraction(1, 2)])
    chi = choices.number([1, 1, 2, 2, 3, 0, 4, 5]) if tau else choices.number([1, 2, 3])
    if kind == "plain":
        return Cluster(nodes, tau, chi)
    if kind == "set-up":
        return Cluster(nodes, tau, chi, choices.integer(0, 5), choices.integer(0, 3))
    costs = heterogeneous(choices, nodes, tau, chi)
    return Cluster(nodes, *costs, choices.number([0, 0, 1]), choices.number([0, 0, 1]))


def heterogeneous(
    choices: Choices, nodes: int, tau: Number, chi: Number
) -> tuple[Number | tuple[Number, ...], Number | tuple[Number, ...]]:
    """Return unit transmission and processing times, of which one or both differ by node."""
    which = choices.pick(["both", "both", "tau", "chi"])
    taus = tuple(tau + choices.integer(0, 2) for _ in range(nodes))
    chis = tuple(chi + choices.integer(0, 2) for _ in range(nodes))
    return tau if which == "chi" else taus, chi if which == "tau" else chis


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
