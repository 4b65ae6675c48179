"""An incumbent to start from, where the caller has none: its completion time clamps the models."""

from __future__ import annotations

from dlopt.arithmetic import exact, least
from dlopt.problems.earliest_schedule import (
    by_ready_time,
    earliest_plan,
    last_result,
    number_field,
)
from dlopt.problems.iit.data import Instance, Solution

BISECTION_STEPS = 40
"""After so many halvings the completion time is closer than the models' tolerance of 1e-6."""


def fill_nodes_in_ready_order(instance: Instance, max_nodes: int) -> Solution:
    """Fill nodes in the order of their ready times up to a common end, found by bisection.

    Parameters
    ----------
    instance : Instance
    max_nodes : int
        Use at most so many nodes.

    Returns
    -------
    Solution
        One chunk per node. The bisection runs in floats, but the chunks are scheduled again with
        the instance's numbers, so that the solution is feasible whatever rounding did, and exact
        for exact instances. It proves nothing: the models take its completion time as an upper
        bound, and prove the lower bound themselves.

    Notes
    -----
    Complexity: O(N log N).

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(3, tau=1, chi=2), (0.0, 1.0, 4.0), load=3.0)
    >>> solution = fill_nodes_in_ready_order(instance, max_nodes=3)
    >>> round(max(chunk.computation_end for chunk in solution.chunks), 6)
    4.875
    """
    cluster, total = instance.cluster, float(instance.load)
    theta_cm = float(cluster.theta_cm)
    overhead = theta_cm + float(cluster.theta_cp)
    order, ready_times = by_ready_time(instance)
    ready_and_costs = [
        (float(ready), float(cluster.tau_of(node)), float(cluster.chi_of(node)))
        for node, ready in zip(order[:max_nodes], ready_times, strict=False)
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
    low, high = first, first + overhead + total * (tau + chi)  # the first node alone ends by then
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if sum(loads_by(middle)) >= total else (middle, high)
    # A load so small, compared with set-up times, that rounding loses it goes to the first node.
    loads = [exact(load) for load in loads_by(high)] or [exact(1)]
    factor = exact(instance.load) / sum(loads)  # at most 1 but for rounding: nothing ends later
    cast = number_field(instance)
    return earliest_plan(instance, order, [cast(load * factor) for load in loads])


def best_single_node(instance: Instance) -> Solution:
    """Return the schedule on the node that alone ends first.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=(5, 2)), (0, 1), load=3)
    >>> [chunk.node for chunk in best_single_node(instance).chunks]
    [1]
    """
    nodes, ready = range(instance.cluster.nodes), instance.ready_times
    candidates = [ready.index(least(ready))] if instance.cluster.identical else nodes
    return min((earliest_plan(instance, [i], [instance.load]) for i in candidates), key=last_result)
