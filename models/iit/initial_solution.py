"""A plan to start from, where the caller has none: its completion clamps the models."""

from __future__ import annotations

from dlopt.arithmetic import exact
from dlopt.problems.earliest_schedule import by_ready_time, earliest_plan, number_field
from dlopt.problems.iit.data import Instance, Solution

_HALVINGS = 40
"""After these, the end is as close as the models' tolerance can tell."""


def filled(instance: Instance, most: int) -> Solution:
    """Fill nodes in the order of their ready times until a common end, found by halving.

    Parameters
    ----------
    instance : Instance
    most : int
        Use this many nodes at the most.

    Returns
    -------
    Solution
        One chunk a node. It is halved in floats, but its times are replayed, so that it is a
        plan whatever rounding did, exact in exact numbers. It is no proof of anything: the
        models take its completion as an upper bound, and prove the lower one themselves.

    Notes
    -----
    Complexity: O(N log N).

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> plan = filled(Instance(Cluster(3, tau=1, chi=2), (0.0, 1.0, 4.0), load=3.0), most=3)
    >>> round(max(chunk.computation_end for chunk in plan.chunks), 6)
    4.875
    """
    cluster, total = instance.cluster, float(instance.load)
    theta_cm = float(cluster.theta_cm)
    overhead = theta_cm + float(cluster.theta_cp)
    order, ready_times = by_ready_time(instance)
    ready_and_costs = [
        (float(ready), float(cluster.tau_of(node)), float(cluster.chi_of(node)))
        for node, ready in zip(order[:most], ready_times, strict=False)
    ]

    def loads_by(end: float) -> list[float]:
        """Return the loads of the nodes up to the first that cannot start before `end`."""
        loads: list[float] = []
        channel = ready_and_costs[0][0]
        for ready, tau, chi in ready_and_costs:
            start = max(channel, ready)
            load = (end - start - overhead) / (tau + chi)
            if load <= 0:
                break
            loads.append(load)
            channel = start + theta_cm + load * tau
        return loads

    first, tau, chi = ready_and_costs[0]
    low, high = first, first + overhead + total * (tau + chi)  # by then that node can do it all
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if sum(loads_by(middle)) >= total else (middle, high)
    # If the load is lost in rounding beside the set-up times, the first node does it.
    loads = [exact(load) for load in loads_by(high)] or [exact(1)]
    factor = exact(instance.load) / sum(loads)  # at most 1 but for rounding: nothing ends later
    cast = number_field(instance)
    return earliest_plan(instance, order, [cast(load * factor) for load in loads])
