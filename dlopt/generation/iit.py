"""Families of instances of one divisible load.

All numbers are integers (or fractions, if such parameters are given), so that answers are exact.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from operator import index
from typing import Any

from dlopt.arithmetic import Number, exact, is_number, simplest
from dlopt.errors import NotApplicableError, short_text
from dlopt.generation.distributions import check_count
from dlopt.generation.log_snapshot import synthetic_jobs
from dlopt.problems.cluster import MAX_NODES, Cluster
from dlopt.problems.iit import Instance


def ramp(
    *,
    nodes: int = 16,
    step: Number = 10,
    tau: Number = 1,
    chi: Number = 100,
    theta_cm: Number = 0,
    theta_cp: Number = 0,
    load: Number | None = None,
    slack: Number | None = None,
    spread: Number = 1,
    seed: int = 0,
) -> Instance:
    """Return nodes that become ready one after the other, at intervals of `step`.

    Parameters
    ----------
    nodes : int
        Number of nodes, 1 to 1,000,000.
    step : Number
        Time between two ready times.
    tau, chi : Number
        Time to transmit (`tau`) and to process (`chi`) one unit of load.
    theta_cm, theta_cp : Number
        Set-up time of a transmission (`theta_cm`) and of a computation (`theta_cp`).
    load : Number, optional
        Load to partition; by default as much as all nodes process in the time 10 (tau + chi).
    slack : Number, optional
        If given, the load has a deadline: the last ready time plus `slack` times the time that the
        load would take if all nodes computed without waiting.
    spread : Number, default 1
        Heterogeneity of the nodes: `tau` and `chi` of each node are multiplied by random factors
        from 1 to `spread`, in steps of a tenth; with 1 all nodes are identical.
    seed : int

    Returns
    -------
    Instance
    """
    check_count("nodes", nodes, MAX_NODES)
    if not is_number(step) or step < 0:
        raise NotApplicableError(f"step must be a number, not negative, got {short_text(step)}")
    times = [i * step for i in range(nodes)]
    return _instance("ramp", times, tau, chi, theta_cm, theta_cp, load, slack, spread, seed)


def burst(
    *,
    nodes: int = 16,
    bursts: int = 4,
    span: int = 200,
    tau: Number = 1,
    chi: Number = 100,
    theta_cm: Number = 0,
    theta_cp: Number = 0,
    load: Number | None = None,
    slack: Number | None = None,
    spread: Number = 1,
    seed: int = 0,
) -> Instance:
    """Return nodes that become ready in groups, at `bursts` random instants within `span`.

    The first group is ready at 0. Other parameters are those of `ramp`.
    """
    check_count("nodes", nodes, MAX_NODES)
    if bursts > MAX_NODES:
        raise NotApplicableError(f"bursts must be at most {MAX_NODES}, got {bursts}")
    draw = random.Random(f"burst {seed}")
    instants = [0, *(draw.randint(1, max(1, index(span))) for _ in range(max(1, bursts) - 1))]
    times = [draw.choice(instants) for _ in range(nodes)]
    if 0 not in times:
        times[0] = 0
    return _instance("burst", times, tau, chi, theta_cm, theta_cp, load, slack, spread, seed)


def uniform(
    *,
    nodes: int = 16,
    span: int = 200,
    tau: Number = 1,
    chi: Number = 100,
    theta_cm: Number = 0,
    theta_cp: Number = 0,
    load: Number | None = None,
    slack: Number | None = None,
    spread: Number = 1,
    seed: int = 0,
) -> Instance:
    """Return nodes that become ready at random integer times from 0 to `span`.

    Other parameters are those of `ramp`.
    """
    check_count("nodes", nodes, MAX_NODES)
    draw = random.Random(f"random {seed}")
    times = [draw.randint(0, max(0, index(span))) for _ in range(nodes)]
    return _instance("random", times, tau, chi, theta_cm, theta_cp, load, slack, spread, seed)


def snapshot(
    *,
    nodes: int = 128,
    utilization: Number = Fraction(7, 10),
    mean_run_time: int = 600,
    tau: Number = 1,
    chi: Number = 100,
    theta_cm: Number = 0,
    theta_cp: Number = 0,
    load: Number | None = None,
    slack: Number | None = None,
    spread: Number = 1,
    seed: int = 0,
) -> Instance:
    """Return a cluster as parallel jobs occupy it at some instant.

    Jobs whose sizes are mostly powers of two and whose run times have a heavy-tailed distribution
    arrive at random and start first come, first served; the ready time of a node is the remaining
    time of its job at an instant in steady state. Nothing is taken from a real log.

    Parameters
    ----------
    nodes : int
        Number of nodes, 1 to 10,000.
    utilization : Number
        Share of the cluster that the jobs request, on average.
    mean_run_time : int
        Mean run time of the jobs.
    **others
        Those of `ramp`.
    """
    check_count("nodes", nodes, 10_000)
    times = synthetic_jobs(nodes, float(utilization), mean_run_time, seed)
    return _instance("snapshot", times, tau, chi, theta_cm, theta_cp, load, slack, spread, seed)


FAMILIES: dict[str, Callable[..., Instance]] = {
    "ramp": ramp,
    "burst": burst,
    "random": uniform,
    "snapshot": snapshot,
}


def _instance(
    family: str,
    times: list[Any],
    tau: Number,
    chi: Number,
    theta_cm: Number,
    theta_cp: Number,
    load: Number | None,
    slack: Number | None,
    spread: Number,
    seed: int,
) -> Instance:
    nodes = len(times)
    unit = tau + chi
    amount = 10 * nodes if load is None else load
    deadline = None
    if slack is not None:
        deadline = simplest(exact(max(times)) + exact(slack) * exact(amount) * exact(unit) / nodes)
    cluster = Cluster(
        nodes,
        tau=_spread(tau, spread, nodes, f"tau {seed}"),
        chi=_spread(chi, spread, nodes, f"chi {seed}"),
        theta_cm=theta_cm,
        theta_cp=theta_cp,
    )
    return Instance(
        cluster,
        tuple(times),
        amount,
        absolute_deadline=deadline,
        name=f"{family}-{nodes}-{seed}",
        origin=f"dlopt generate iit --family {family}, seed {seed}",
    )


def _spread(cost: Number, spread: Number, nodes: int, seed: str) -> Number | tuple[Number, ...]:
    tenths = int(10 * spread)
    if tenths <= 10:
        return cost
    draw = random.Random(seed)
    factors = (Fraction(draw.randint(10, tenths), 10) for _ in range(nodes))
    return tuple(simplest(exact(cost) * factor) for factor in factors)
