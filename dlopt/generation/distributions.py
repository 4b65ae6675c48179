"""Distributions of the papers' workloads, and checks of their parameters."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from dlopt.arithmetic import Number, is_finite, shown
from dlopt.errors import NotApplicableError, short_text
from dlopt.heuristics.admission.beta_powers import ExecutionTimes
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition
from dlopt.problems.cluster import MAX_NODES, Cluster

MOST_TASKS = 10_000_000
"""Largest expected number of tasks of a workload; larger ones are considered a mistake."""


def cluster_of(nodes: int, *costs: Number) -> Cluster:
    """Return a cluster with costs ``tau, chi, theta_cm, theta_cp`` in floats."""
    check_count("nodes", nodes, MAX_NODES)
    return Cluster(nodes, *map(float, costs))


def single_node_time(cluster: Cluster) -> Callable[[float], float]:
    """Return the execution time on one node as a function of the load."""
    tau, chi, theta_cm, theta_cp = map(float, cluster.costs_of(0))
    return lambda load: load * (tau + chi) + theta_cm + theta_cp


def execution_time(cluster: Cluster, reference: str) -> Callable[[float], float]:
    """Return the execution time on all nodes, or on min(N, n*), as a function of the load."""
    rule = OptimalPartition(*map(float, cluster.costs_of(0)))
    nodes = cluster.nodes
    if reference == "all" or rule.theta_cm == 0:
        setup = rule.execution_time(0.0, nodes)  # linear in the load
        slope = rule.execution_time(1.0, nodes) - setup
        return lambda load: setup + slope * load
    durations = ExecutionTimes(rule, nodes)

    def best(load: float) -> Any:
        return durations.of(load)(durations.n_star(load))

    return best


def poisson_arrivals(
    draw: random.Random, interval: float, end: float, tasks_each: int = 1
) -> Iterator[float]:
    """Yield the arrivals of a Poisson process before an end.

    Raises
    ------
    NotApplicableError
        If too many tasks are expected, with so many at each arrival.
    """
    expected = tasks_each * end / interval
    if not expected < MOST_TASKS:
        raise NotApplicableError(f"that is about {expected:.3g} tasks, more than {MOST_TASKS}")
    instant = draw.expovariate(1 / interval)
    while instant < end:
        yield instant
        instant += draw.expovariate(1 / interval)


def normal_loads(draw: random.Random, mean: float, rule: str) -> Callable[[], tuple[float, int]]:
    """Return a function that draws a positive load, and returns it with its number of redraws."""

    def drawn() -> tuple[float, int]:
        load, tries = draw.gauss(mean, mean), 0
        if rule == "absolute":
            load = abs(load)
        while load <= 0:
            load, tries = draw.gauss(mean, mean), tries + 1
        return load, tries

    return drawn


def positive_float(name: str, value: Number) -> float:
    """Return a parameter as a float; raise `NotApplicableError` unless it is positive."""
    if isinstance(value, str) or not is_finite(value) or value <= 0:
        text = value if isinstance(value, str) else shown(value, 15)  # it may have many digits
        raise NotApplicableError(f"{name} must be a positive number, got {text}")
    return float(value)


def check_count(name: str, value: int, most: int) -> None:
    """Raise `NotApplicableError` unless a parameter is an integer from 1 to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise NotApplicableError(
            f"{name} must be an integer from 1 to {most}, got {short_text(value)}"
        )


def check_counts(most: int, /, **counts: int) -> None:
    """Raise `NotApplicableError` unless all parameters are integers from 1 to `most`."""
    for name, value in counts.items():
        check_count(name, value, most)


def check_choice(name: str, word: str, words: tuple[str, ...]) -> None:
    """Raise `NotApplicableError` unless a parameter is one of the given words."""
    if word not in words:
        raise NotApplicableError(f"{name} must be one of {', '.join(words)}, got {word!r}")
