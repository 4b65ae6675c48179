"""The families of instances of one divisible load that are measured, of any size.

Every instance has ``tau = 1`` and load ``10 N``. But for one family ``chi = N``, so that at any
size `N` the nodes get loads of the same order and ready times decide who leads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dlopt.generation.iit import snapshot, uniform
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance


def at_random(n: int) -> Instance:
    """Return nodes that become ready at random times; all get a load."""
    return uniform(nodes=n, chi=n, span=10 * n)


def set_up_costs(n: int) -> Instance:
    """Return `at_random` with set-up costs."""
    return uniform(nodes=n, chi=n, span=10 * n, theta_cm=1, theta_cp=3)


def papers_costs(n: int) -> Instance:
    """Return nodes with the costs of the papers, ``chi = 100 tau``, whatever their number."""
    return uniform(nodes=n)


def left_by_jobs(n: int) -> Instance:
    """Return ready times as parallel jobs leave them: many idle nodes, groups, a long tail."""
    times: list[Any] = []
    while len(times) < n:
        part = min(10_000, n - len(times))
        seed = len(times) // 10_000
        times += snapshot(nodes=part, chi=n, mean_run_time=5 * n, seed=seed).ready_times
    return Instance(Cluster(n, tau=1, chi=n), tuple(times), 10 * n)


FAMILIES: dict[str, Callable[[int], Instance]] = {
    "random": at_random,
    "snapshot": left_by_jobs,
    "set-up costs": set_up_costs,
}


def in_floats(instance: Instance) -> Instance:
    """Return the same instance of identical nodes in floats."""
    costs = instance.cluster
    cluster = Cluster(
        costs.nodes,
        tau=float(costs.tau_of(0)),
        chi=float(costs.chi_of(0)),
        theta_cm=float(costs.theta_cm),
        theta_cp=float(costs.theta_cp),
    )
    ready = tuple(map(float, instance.ready_times))
    return replace(instance, cluster=cluster, ready_times=ready, load=float(instance.load))
