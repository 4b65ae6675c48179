"""Conversion of a share of a stream of divisible loads to advance reservations.

A task becomes the reservation that would have executed it: from its arrival on, of the fewest nodes
that meet its deadline, for its execution time, with the channel for its transmission time. Source:
Mamat 2011, Algorithm 5.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from dlopt.arithmetic import Number, is_finite, simplest
from dlopt.errors import NotApplicableError
from dlopt.generation.admission import small as small_stream
from dlopt.generation.distributions import positive_float
from dlopt.generation.paper_workloads import mamat4
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition, PartitionRule
from dlopt.problems import admission
from dlopt.problems.multistage import Instance, Reservation, Task


def reserve(
    stream: admission.Instance, *, fraction: Number = 0.3, advance: Number = 0, seed: int = 0
) -> Instance:
    """Return a stream of which a share of the tasks is converted to reservations.

    Parameters
    ----------
    stream : dlopt.problems.admission.Instance
        With identical nodes, idle at first.
    fraction : Number, default 0.3
        Share of the tasks, rounded to the nearest number of them, drawn at random. A task that no
        number of nodes completes by its deadline is not converted.
    advance : Number, default 0
        Time between the request of a reservation and its start; requests before the instant 0 are
        made at 0.
    seed : int, default 0

    Returns
    -------
    Instance
        Reservations have the names of their tasks. Their windows are exact where the stream is.

    Raises
    ------
    NotApplicableError
        If the nodes differ or are busy at first, or a parameter is out of its range.

    Notes
    -----
    The paper computes ``n_min`` by logarithms, which may be off by one; here it is decided by the
    execution time itself.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = (Task("a", 3, 2, 4), Task("b", 5, 2, 4))
    >>> mixed = reserve(admission.Instance(Cluster(2, 1, 1), tasks), fraction=0.5, advance=1)
    >>> mixed.reservations[0].count, mixed.reservations[0].arrival
    (1, 2)
    """
    cluster = stream.cluster
    if not cluster.identical:
        raise NotApplicableError("reservations are made of tasks on identical nodes")
    if stream.promised or stream.committed or max(*stream.free_times, stream.channel_free) > 0:
        raise NotApplicableError("reservations are made of a stream on an idle cluster, from 0 on")
    if not is_finite(fraction) or not 0 <= fraction <= 1:
        raise NotApplicableError(f"fraction must be a number from 0 to 1, got {fraction}")
    if not is_finite(advance) or advance < 0:
        raise NotApplicableError(f"advance must be a number, not negative, got {advance}")
    rule = OptimalPartition.of(cluster)
    draw = random.Random(f"reserve {seed}")
    count = round(fraction * len(stream.tasks))
    chosen = set(draw.sample(range(len(stream.tasks)), count))
    tasks, wanted = [], []
    for number, task in enumerate(stream.tasks):
        one = _reserved(task, rule, cluster.nodes, advance) if number in chosen else None
        if one is None:
            tasks.append(task)
        else:
            wanted.append(one)
    wanted.sort(key=lambda one: one.arrival)
    return Instance(
        cluster,
        tuple(tasks),
        tuple(wanted),
        name=f"{stream.name}-reserved-{float(fraction):g}" if stream.name else "",
        origin=f"{stream.origin}; {float(fraction):g} of the tasks reserved {float(advance):g} "
        f"before, seed {seed}",
        units=stream.units,
    )


def _reserved(task: Task, rule: PartitionRule, nodes: int, advance: Number) -> Reservation | None:
    """Return a task as the reservation that would have executed it, None if no nodes can."""
    fewest = rule.n_min(task.load, task.deadline, nodes)
    if fewest is None:
        return None
    start: Any = task.arrival
    end = start + rule.execution_time(task.load, fewest)
    sent = start + fewest * rule.theta_cm + task.load * rule.tau
    return Reservation(
        task.id,
        simplest(max(start - advance, 0)),
        start,
        simplest(end),
        io_end=simplest(min(sent, end)),
        nodes=fewest,
    )


def small(
    *,
    nodes: int = 3,
    tasks: int = 6,
    tau: Number = 1,
    chi: Number = 2,
    span: int = 12,
    largest: int = 6,
    largest_weight: int = 1,
    slack: Number = 2,
    parts: int = 1,
    fraction: Number = 0.5,
    advance: Number = 2,
    seed: int = 0,
) -> Instance:
    """Return a few random tasks and reservations in exact numbers, for exact methods and tests.

    Arrivals, loads and deadlines are uniformly distributed; random tasks become reservations.

    Parameters
    ----------
    nodes, tasks : int
        Number of nodes and number of tasks, each from 1 to 1,000.
    tau, chi : Number
        Time to transmit (`tau`) and to process (`chi`) one unit of load.
    span : int
        Last instant at which tasks may arrive; the first is 0.
    largest : int
        Largest load of a task.
    largest_weight : int
        Weights of tasks are uniformly distributed integers from 1 to this.
    slack : Number
        Factor of the longest deadlines, at least 1, as in the family ``small`` of `admission`.
    parts : int
        Denominator of all numbers of the tasks.
    fraction : Number
        Fraction of the tasks that become reservations.
    advance : Number
        Time between the request of a reservation and its start.
    seed : int

    Returns
    -------
    Instance
    """
    stream = small_stream(
        nodes=nodes,
        tasks=tasks,
        tau=tau,
        chi=chi,
        span=span,
        largest=largest,
        largest_weight=largest_weight,
        slack=slack,
        parts=parts,
        seed=seed,
    )
    return reserve(stream, fraction=fraction, advance=advance, seed=seed)


def mamat5(
    *,
    system_load: Number = 0.5,
    fraction: Number = 0.3,
    advance: Number = 1,
    dc_ratio: Number = 2,
    nodes: int = 256,
    tau: Number = 1,
    chi: Number = 1000,
    average_load: Number = 2000,
    horizon: Number = 10_000_000,
    loads: str = "redraw",
    deadlines: str = "redraw-deadline",
    seed: int = 0,
) -> Instance:
    """Return the workload of Mamat 2011, section 5.4: the tasks of section 4.5, some reserved.

    Parameters
    ----------
    system_load : Number
        Execution time of a task of average load on one node, divided by the mean inter-arrival
        time and by the number of nodes.
    dc_ratio : Number
        Mean deadline divided by the execution time of a task of average load.
    nodes : int
        Number of nodes, 1 to 1,000,000.
    tau, chi : Number
        Time to transmit (`tau`) and to process (`chi`) one unit of load; there are no set-up times.
    average_load : Number
        Mean of the normal distribution of loads, and its standard deviation.
    horizon : Number
        End of the arrivals: tasks arrive from 0 on and before this instant.
    loads, deadlines : str
        What happens to loads and deadlines that are too small, as in the family ``mamat4`` of
        `admission`.
    fraction : Number
        Fraction of the tasks that become reservations.
    advance : Number
        Time between the request of a reservation and its start, in mean inter-arrival times.
    seed : int

    Returns
    -------
    Instance
    """
    workload = mamat4(
        system_load=system_load,
        dc_ratio=dc_ratio,
        nodes=nodes,
        tau=tau,
        chi=chi,
        theta_cm=0,
        theta_cp=0,
        average_load=average_load,
        horizon=horizon,
        loads=loads,
        deadlines=deadlines,
        seed=seed,
    )
    if not len(workload):
        raise NotApplicableError("no task arrives before the horizon")
    alone = positive_float("average_load", average_load) * (float(tau) + float(chi))
    interval = alone / (positive_float("system_load", system_load) * nodes)
    if not is_finite(advance) or advance < 0:
        raise NotApplicableError(f"advance must be a number, not negative, got {advance}")
    stream = workload.instance()
    return reserve(stream, fraction=fraction, advance=float(advance) * interval, seed=seed)


FAMILIES: dict[str, Callable[..., Instance]] = {"small": small, "mamat5": mamat5}
