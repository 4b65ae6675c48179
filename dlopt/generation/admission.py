"""Families of streams of divisible loads, as instances.

Those of the papers are in `dlopt.generation.paper_workloads`, in floats; `small` is for exact
methods.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from typing import Any

from dlopt.arithmetic import Number, exact, simplest
from dlopt.errors import NotApplicableError
from dlopt.generation.distributions import check_counts
from dlopt.generation.paper_workloads import WORKLOADS, Workload
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster

MOST_SMALL = 1000
"""Largest number of nodes or tasks of a small instance; exact answers to larger ones have too many
digits."""


def small(
    *,
    nodes: int = 3,
    tasks: int = 6,
    tau: Number = 1,
    chi: Number = 2,
    theta_cm: Number = 0,
    theta_cp: Number = 0,
    span: int = 12,
    largest: int = 6,
    largest_weight: int = 1,
    slack: Number = 2,
    parts: int = 1,
    seed: int = 0,
) -> Instance:
    """Return a few random tasks in exact numbers, for exact methods and for tests.

    Arrivals, loads and deadlines are uniformly distributed.

    Parameters
    ----------
    nodes : int
        Number of nodes, 1 to 1,000.
    tasks : int
        Number of tasks, 1 to 1,000.
    tau, chi : Number
        Time to transmit (`tau`) and to process (`chi`) one unit of load.
    theta_cm, theta_cp : Number
        Set-up time of a transmission (`theta_cm`) and of a computation (`theta_cp`).
    span : int
        Last instant at which tasks may arrive; the first is 0.
    largest : int
        Largest load of a task.
    largest_weight : int
        Weights of tasks are uniformly distributed integers from 1 to this.
    slack : Number
        Factor of the longest deadlines, at least 1: a deadline is between the least execution time
        of its task and `slack` times its execution time on one node, rounded up.
    parts : int
        Denominator of all numbers: arrivals, loads and deadlines are multiples of 1 / `parts`.
    seed : int

    Returns
    -------
    Instance
    """
    check_counts(MOST_SMALL, nodes=nodes, tasks=tasks)
    for name, value, least in (
        ("span", span, 0),
        ("largest", largest, 1),
        ("largest_weight", largest_weight, 1),
        ("parts", parts, 1),
    ):
        if not isinstance(value, int) or value < least:
            raise NotApplicableError(f"{name} must be an integer from {least}, got {value!r}")
    if slack < 1:
        raise NotApplicableError(f"slack must be at least 1, got {slack}")
    cluster = Cluster(nodes, tau, chi, theta_cm, theta_cp)
    rule = OptimalPartition(*map(exact, (tau, chi, theta_cm, theta_cp)))
    draw, draw_weight = random.Random(f"small {seed}"), random.Random(f"weights {seed}")
    arrivals = sorted(Fraction(draw.randint(0, span * parts), parts) for _ in range(tasks))
    made = []
    for number, arrival in enumerate(arrivals):
        load = Fraction(draw.randint(1, largest * parts), parts)
        most = rule.n_star(load, nodes) or nodes
        soonest = -(-rule.execution_time(load, most) * parts // 1)
        latest = -(-exact(slack) * rule.execution_time(load, 1) * parts // 1)
        deadline = Fraction(draw.randint(int(soonest), int(latest)), parts)
        weight = draw_weight.randint(1, largest_weight)
        made.append(
            Task(str(number), simplest(arrival), simplest(load), simplest(deadline), weight=weight)
        )
    return Instance(
        cluster,
        tuple(made),
        name=f"small-{nodes}x{tasks}-{seed}",
        origin=f"dlopt generate admission --family small, seed {seed}",
    )


def _as_instances(workload: Callable[..., Workload]) -> Callable[..., Instance]:
    """Return the function of a workload as a family of instances."""

    @wraps(workload)
    def family(**parameters: Any) -> Instance:
        stream = workload(**parameters)
        if not len(stream):
            raise NotApplicableError("no task arrives before the horizon")
        return stream.instance()

    return family


FAMILIES: dict[str, Callable[..., Instance]] = {
    "small": small,
    **{name: _as_instances(workload) for name, workload in WORKLOADS.items()},
}
