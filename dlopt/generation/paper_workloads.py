"""Random streams of divisible loads, as in the simulations of the papers.

A `Workload` is the input of a simulation, in plain floats; `Workload.instance` converts it to an
instance. Arrivals, loads and deadlines are drawn from separate random streams, so that equal seeds
at different system loads, or with different deadlines, give equal loads.

The papers do not say what happens to a load that is drawn negative, or to a deadline that no
schedule can meet. What they leave open is a parameter here, and its effect is reported: the
realised load, and the number of redraws.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from dlopt.arithmetic import Number
from dlopt.errors import NotApplicableError
from dlopt.generation.distributions import (
    MOST_TASKS,
    check_choice,
    check_count,
    cluster_of,
    execution_time,
    normal_loads,
    poisson_arrivals,
    positive_float,
    single_node_time,
)
from dlopt.generation.workload import Workload, node_time

__all__ = ["WORKLOADS", "Workload", "lin5", "mamat4", "waiting"]

_MOST_DRAWS = 100_000
"""Redraws of one task after which the parameters are rejected."""

_LARGEST_BURST = 10
"""Largest number of tasks of a burst in Lin et al. 2005."""


def mamat4(
    *,
    system_load: Number = 0.5,
    dc_ratio: Number = 2,
    nodes: int = 256,
    tau: Number = 1,
    chi: Number = 1000,
    theta_cm: Number = 500,
    theta_cp: Number = 500,
    average_load: Number = 1000,
    horizon: Number = 10_000_000,
    loads: str = "redraw",
    deadlines: str = "redraw-deadline",
    reference: str = "all",
    seed: int = 0,
) -> Workload:
    """Return the workload of Mamat 2011, section 4.5.

    Tasks arrive in a Poisson process; loads are normally and deadlines uniformly distributed.

    Parameters
    ----------
    system_load : Number
        Execution time of a task of average load on one node, divided by the mean inter-arrival
        time and by the number of nodes (4.11). Inter-arrival times are exponential.
    dc_ratio : Number
        Mean deadline divided by the execution time of a task of average load. Deadlines are
        uniform between half and three halves of their mean.
    nodes : int
        Number of nodes, 1 to 1,000,000.
    tau, chi : Number
        Time to transmit (`tau`) and to process (`chi`) one unit of load.
    theta_cm, theta_cp : Number
        Set-up time of a transmission (`theta_cm`) and of a computation (`theta_cp`).
    average_load : Number
        Mean of the normal distribution of loads, and its standard deviation.
    horizon : Number
        End of the arrivals: tasks arrive from 0 on and before this instant.
    loads : {"redraw", "absolute"}
        What happens to loads that are not positive: they are drawn again (redraw), which makes the
        mean load 1.288 times `average_load`, or lose their sign (absolute), 1.167 times.
    deadlines : {"redraw-deadline", "redraw-task", "raise"}
        What happens to a deadline that is not larger than the execution time of its task: it is
        drawn again (with the load, if no deadline is long enough), it is always drawn again with
        the load (redraw-task), or it is raised to that execution time.
    reference : {"all", "best"}
        Nodes of the execution times that deadlines are compared with: all nodes in (4.6), as
        printed, or the best number, min(N, n*), beyond which the formula has no plan.
    seed : int

    Returns
    -------
    Workload
        Its realised load is the execution time of all tasks on one node, by that of all nodes.

    Raises
    ------
    NotApplicableError
        If a parameter is out of its range, or no deadline can do.

    Examples
    --------
    >>> stream = mamat4(system_load=0.5, horizon=1_000_000)
    >>> len(stream), round(stream.realised_load, 3)
    (141, 0.747)
    """
    check_choice("loads", loads, ("redraw", "absolute"))
    check_choice("deadlines", deadlines, ("redraw-deadline", "redraw-task", "raise"))
    check_choice("reference", reference, ("all", "best"))
    cluster = cluster_of(nodes, tau, chi, theta_cm, theta_cp)
    mean, ratio = positive_float("average_load", average_load), positive_float("dc_ratio", dc_ratio)
    share, end = positive_float("system_load", system_load), positive_float("horizon", horizon)
    time = execution_time(cluster, reference)
    interval = single_node_time(cluster)(mean) / (share * nodes)
    low, high = ratio * time(mean) / 2, 3 * ratio * time(mean) / 2
    if deadlines != "raise" and time(0.0) >= high:
        raise NotApplicableError(f"dc_ratio={ratio:g} leaves no deadline that a task can meet")
    arrivals = tuple(poisson_arrivals(random.Random(f"mamat4 arrivals {seed}"), interval, end))
    draw_load = normal_loads(random.Random(f"mamat4 loads {seed}"), mean, loads)
    draw = random.Random(f"mamat4 deadlines {seed}").random
    drawn, due = [], []
    again = [0, 0]
    for _ in arrivals:
        for _ in range(_MOST_DRAWS):
            load, tries = draw_load()
            again[0] += tries
            least = time(load)
            deadline = low + draw() * (high - low)
            if deadline > least:
                break
            if deadlines == "raise":
                deadline = least
                break
            again[1] += 1
            if deadlines == "redraw-deadline" and least < high:
                # Uniform among those that do, as if drawn until one of them came.
                deadline = least + (1 - draw()) * (high - least)
                break
            again[0] += 1
        else:
            raise NotApplicableError(f"dc_ratio={ratio:g} leaves hardly a task in time")
        drawn.append(load)
        due.append(deadline)
    return Workload(
        cluster,
        arrivals,
        tuple(drawn),
        tuple(due),
        horizon=end,
        name=f"mamat4-{share:g}-{seed}",
        origin=f"drawn as in Mamat 2011, 4.5: mamat4, system load {share:g}, seed {seed}",
        system_load=share,
        realised_load=node_time(cluster, drawn, end),
        redrawn_loads=again[0],
        redrawn_deadlines=again[1],
    )


def lin5(
    *,
    system_load: Number = 0.5,
    nodes: int = 10,
    tau: Number = 10,
    chi: Number = 10,
    theta_cm: Number = 0,
    theta_cp: Number = 0,
    average_load: Number = 100,
    horizon: Number = 1_000_000,
    loads: str = "redraw",
    interval: str = "printed",
    seed: int = 0,
) -> Workload:
    """Return the workload of Lin et al. 2005, section 6.1: bursts of 1 to 10 tasks.

    A deadline is uniform between the least execution time of its task, on min(N, n*) nodes, and
    that on one node. The bursts come at random, at exponential intervals.

    Parameters
    ----------
    system_load : Number
        Least execution time of a task of average load, divided by the mean time between bursts.
    nodes : int
        Number of nodes, 1 to 1,000,000.
    tau, chi : Number
        Time to transmit (`tau`) and to process (`chi`) one unit of load.
    theta_cm, theta_cp : Number
        Set-up time of a transmission (`theta_cm`) and of a computation (`theta_cp`).
    average_load : Number
        Mean of the normal distribution of loads, and its standard deviation.
    horizon : Number
        End of the arrivals: tasks arrive from 0 on and before this instant.
    loads : {"redraw", "absolute"}
        What happens to loads that are not positive: they are drawn again, or lose their sign.
    interval : {"printed", "definition"}
        Mean time between bursts: as printed, which ignores that a burst has 5.5 tasks on average,
        so that the realised load is 5.5 times the nominal one; or by the printed definition of the
        system load, 5.5 times as long.
    seed : int

    Returns
    -------
    Workload
        Its realised load is the least execution time of all tasks, by the horizon.

    Raises
    ------
    NotApplicableError
        If a parameter is out of its range.

    Examples
    --------
    >>> printed, defined = (lin5(interval=word) for word in ("printed", "definition"))
    >>> round(printed.realised_load, 2), round(defined.realised_load, 2)
    (3.48, 0.62)
    """
    check_choice("loads", loads, ("redraw", "absolute"))
    check_choice("interval", interval, ("printed", "definition"))
    cluster = cluster_of(nodes, tau, chi, theta_cm, theta_cp)
    mean, share = (
        positive_float("average_load", average_load),
        positive_float("system_load", system_load),
    )
    end = positive_float("horizon", horizon)
    fastest, alone = execution_time(cluster, "best"), single_node_time(cluster)
    every = fastest(mean) / share
    if interval == "definition":
        every *= (1 + _LARGEST_BURST) / 2
    times = random.Random(f"lin5 arrivals {seed}")
    arrivals = tuple(
        instant
        for instant in poisson_arrivals(times, every, end, _LARGEST_BURST)
        for _ in range(times.randint(1, _LARGEST_BURST))
    )
    draw_load = normal_loads(random.Random(f"lin5 loads {seed}"), mean, loads)
    draw = random.Random(f"lin5 deadlines {seed}")
    drawn, due, again, least_work = [], [], 0, 0.0
    for _ in arrivals:
        load, tries = draw_load()
        again += tries
        least = fastest(load)
        least_work += least
        drawn.append(load)
        due.append(least + draw.random() * max(alone(load) - least, 0.0))
    return Workload(
        cluster,
        arrivals,
        tuple(drawn),
        tuple(due),
        horizon=end,
        name=f"lin5-{share:g}-{seed}",
        origin=f"drawn as in Lin et al. 2005, 6.1: lin5, system load {share:g}, seed {seed}",
        system_load=share,
        realised_load=least_work / end,
        redrawn_loads=again,
    )


def waiting(
    *,
    tasks: int = 3000,
    nodes: int = 512,
    tau: Number = 1,
    chi: Number = 1000,
    theta_cm: Number = 0,
    theta_cp: Number = 0,
    average_load: Number = 1000,
    slack: Number = 4,
    seed: int = 0,
) -> Workload:
    """Return one huge task, and tasks that all wait for it, as in Mamat 2011, 6.4.2.

    The huge task uses all nodes that help, and until it is completed no other can start. The others
    arrive one time unit apart, and their deadlines are so long that all are admitted. The paper
    gives no further detail. (Under EPR, which takes longer, the huge task is rejected, and it
    alone.)

    Parameters
    ----------
    tasks : int
        Number of waiting tasks.
    nodes : int
        Number of nodes, 1 to 1,000,000.
    tau, chi : Number
        Time to transmit (`tau`) and to process (`chi`) one unit of load.
    theta_cm, theta_cp : Number
        Set-up time of a transmission (`theta_cm`) and of a computation (`theta_cp`).
    average_load : Number
        Mean of the normal distribution of the loads of waiting tasks, and its standard deviation;
        loads are drawn again until they are positive.
    slack : Number
        Length of the deadlines of waiting tasks: uniform from `slack` to twice `slack` times the
        total execution time of all of them on all nodes, counted from when they can start.
    seed : int

    Returns
    -------
    Workload

    Raises
    ------
    NotApplicableError
        If a parameter is out of its range.

    Examples
    --------
    >>> stream = waiting(tasks=300)
    >>> len(stream), stream.arrivals[:3]
    (301, (0.0, 1.0, 2.0))
    """
    check_count("tasks", tasks, MOST_TASKS - 1)
    cluster = cluster_of(nodes, tau, chi, theta_cm, theta_cp)
    mean, room = positive_float("average_load", average_load), positive_float("slack", slack)
    fastest = execution_time(cluster, "best")
    draw_load = normal_loads(random.Random(f"waiting loads {seed}"), mean, "redraw")
    draw = random.Random(f"waiting deadlines {seed}")
    loads, again = [], 0
    for _ in range(tasks):
        load, tries = draw_load()
        again += tries
        loads.append(load)
    huge = mean
    while fastest(huge) < 2 * tasks:
        huge *= 2
    begun = fastest(huge) * (1 + 2**-20)  # what rounding may cost
    work = sum(map(fastest, loads))
    due = [begun + room * work * (1 + draw.random()) - number for number in range(1, tasks + 1)]
    return Workload(
        cluster,
        tuple(float(number) for number in range(tasks + 1)),
        (huge, *loads),
        (begun, *due),
        horizon=float(tasks),
        name=f"waiting-{tasks}-{seed}",
        origin=f"drawn as in Mamat 2011, 6.4.2: waiting, {tasks} tasks, seed {seed}",
        redrawn_loads=again,
    )


WORKLOADS: dict[str, Callable[..., Workload]] = {"mamat4": mamat4, "lin5": lin5, "waiting": waiting}
"""The workloads by name."""
