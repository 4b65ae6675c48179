"""Random streams with uncertain execution times, and failures of nodes."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from dlopt.arithmetic import Number
from dlopt.errors import NotApplicableError
from dlopt.generation.distributions import check_count, positive_float
from dlopt.generation.paper_workloads import mamat4
from dlopt.generation.workload import Workload
from dlopt.problems.admission import Factor, Failure, Scenario
from dlopt.problems.cluster import MAX_NODES


def mamat7(
    *,
    load_from: Number = 0.3,
    load_to: Number = 1.5,
    dc_ratio: Number = 10,
    nodes: int = 16,
    tau: Number = 1,
    chi: Number = 100,
    average_load: Number = 200,
    horizon: Number = 18_000_000,
    least_factor: Number = 0.1,
    most_factor: Number = 2,
    loads: str = "redraw",
    deadlines: str = "redraw-deadline",
    seed: int = 0,
) -> tuple[Workload, Scenario]:
    """Return the workload of Mamat 2011, section 7.3: a growing load, and uncertain costs.

    The tasks are those of `mamat4`; their arrivals are transformed so that the rate grows linearly.

    Parameters
    ----------
    load_from, load_to : Number
        System load at the beginning and at the end; equal for a constant load. The paper gives
        neither.
    dc_ratio : Number
        The paper does not give it. At 2, the default of chapter 4, a fifth of the tasks is late on
        an idle cluster, which its figures exclude.
    nodes, tau, chi, average_load, horizon, loads, deadlines
        See `mamat4`; there are no set-up costs.
    least_factor, most_factor : Number
        True costs over estimated ones are uniform between these, independently for transmission and
        computation.
    seed : int

    Returns
    -------
    workload : Workload
        Its system load is the mean.
    scenario : Scenario
        The factors.

    Raises
    ------
    NotApplicableError
        If a parameter is out of its range.

    Examples
    --------
    >>> workload, scenario = mamat7(horizon=1_000_000)
    >>> middle = sum(arrival < 500_000 for arrival in workload.arrivals)
    >>> len(workload), middle
    (770, 248)
    >>> scenario.factors[0].task, 0.1 <= scenario.factors[0].chi <= 2
    ('0', True)
    """
    first, last = positive_float("load_from", load_from), positive_float("load_to", load_to)
    low, high = (
        positive_float("least_factor", least_factor),
        positive_float("most_factor", most_factor),
    )
    if low > high:
        raise NotApplicableError(f"least_factor={low:g} exceeds most_factor={high:g}")
    even = mamat4(
        system_load=(first + last) / 2,
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
    name = f"mamat7-{first:g}-{last:g}-{seed}"
    shifted = (even.horizon * _when(at / even.horizon, first, last) for at in even.arrivals)
    workload = replace(
        even,
        arrivals=tuple(min(at, even.horizon) for at in shifted),
        name=name,
        origin=f"drawn as in Mamat 2011, 7.3: mamat7, loads {first:g} to {last:g}, seed {seed}",
    )
    draw = random.Random(f"mamat7 factors {seed}").uniform
    factors = tuple(Factor(task, draw(low, high), draw(low, high)) for task in workload.names)
    return workload, Scenario(factors, name=name)


def outage(
    nodes: int, begin: Number, until: Number | None = None, *, share: Number = 0.4
) -> tuple[Failure, ...]:
    """Return the failure of a share of the nodes, those of the highest indices, at one instant.

    Parameters
    ----------
    nodes : int
        Of the cluster.
    begin : Number
    until : Number, optional
        When they are back; by default never.
    share : Number, default 0.4
        Between 0 and 1; the number of nodes is rounded.

    Examples
    --------
    >>> [failure.node for failure in outage(16, 9_000_000)]
    [10, 11, 12, 13, 14, 15]
    """
    check_count("nodes", nodes, MAX_NODES)
    if not 0 <= share <= 1:
        raise NotApplicableError(f"share must lie between 0 and 1, got {share}")
    failing = round(float(share) * nodes)
    return tuple(Failure(node, begin, until) for node in range(nodes - failing, nodes))


def _when(part: float, first: float, last: float) -> float:
    """Return when that share of the arrivals has occurred, in a unit span with a linear rate."""
    slope = last - first
    wanted = part * (first + last) / 2
    # The root of `first t + slope t^2 / 2 = wanted`, in the form that allows a slope of 0.
    return 2 * wanted / (first + math.sqrt(first * first + 2 * slope * wanted))
