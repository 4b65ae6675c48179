"""Equal finish times on heterogeneous nodes that are served in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence

from dlopt.arithmetic import Number
from dlopt.problems.earliest_schedule import number_field
from dlopt.problems.iit.data import Instance


def service_orders(instance: Instance) -> dict[str, list[int]]:
    """Return the orders of service to try, by name.

    By ready time; by link speed (optimal where all nodes are ready at once and no set-up costs
    arise, a classic of divisible load theory); and by when a node could be done alone.
    """
    cluster, ready = instance.cluster, instance.ready_times
    nodes = range(cluster.nodes)
    unit = [cluster.tau_of(i) + cluster.chi_of(i) for i in nodes]
    return {
        "ready": sorted(nodes, key=lambda i: (ready[i], cluster.tau_of(i), i)),
        "link": sorted(nodes, key=lambda i: (cluster.tau_of(i), ready[i], i)),
        "alone": sorted(nodes, key=lambda i: (ready[i] + instance.load * unit[i], i)),
    }


def equal_finish(instance: Instance, order: Sequence[int]) -> tuple[list[int], list[Number]]:
    """Divide the load so that the nodes used, served in this order, end at the same instant.

    A node that could not even start before that instant is skipped.

    Returns
    -------
    nodes : list of int
        Those that get a load, in the order of service.
    loads : list of Number

    Notes
    -----
    For a trial instant the loads follow one after the other; their sum is piecewise linear and
    grows with the instant. The instant is found by secant steps on the linear segment, safeguarded
    by a bracket. Guarantee: none, save that the plan is valid. Complexity: O(n) a step.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=(1, 2), chi=(2, 1)), (0, 0), load=4)
    >>> nodes, loads = equal_finish(instance, order=(0, 1))
    >>> nodes, [str(load) for load in loads]
    ([0, 1], ['12/5', '8/5'])
    """
    cast = number_field(instance)
    cluster = instance.cluster
    theta_cm, overhead = cast(cluster.theta_cm), cast(cluster.theta_cm) + cast(cluster.theta_cp)
    first = min(instance.ready_times)
    node_costs = [
        (i, cast(instance.ready_times[i] - first), cast(cluster.tau_of(i)), cast(cluster.chi_of(i)))
        for i in order
    ]

    def divide(xi: Number) -> tuple[list[int], list[Number], Number]:
        """Return nodes, loads, and d(sum of loads)/d(xi) while the same nodes lead blocks."""
        nodes, loads = [], []
        channel: Number | None = None
        moved = rate = cast(0)
        for node, ready, tau, chi in node_costs:
            start, shift = ready, cast(0)
            if channel is not None and channel > ready:
                start, shift = channel, moved
            room = xi - start - overhead
            if room <= 0:
                continue
            slope = (1 - shift) / (tau + chi)
            load = room / (tau + chi)
            channel = start + theta_cm + load * tau
            moved = shift + slope * tau
            nodes.append(node)
            loads.append(load)
            rate += slope
        return nodes, loads, rate

    load = cast(instance.load)
    low = min(ready for _, ready, _, _ in node_costs) + overhead
    high = min(ready + load * (tau + chi) for _, ready, tau, chi in node_costs) + overhead
    trial = high
    for _ in range(60):
        nodes, loads, rate = divide(trial)
        excess = sum(loads) - load
        if excess == 0 or not low < high:
            break
        low, high = (low, trial) if excess > 0 else (trial, high)
        step = trial - excess / rate if rate > 0 else low
        trial = step if low < step < high else (low + high) / 2
    nodes, loads, _ = divide(trial)
    total = sum(loads)
    if total < load:
        nodes, loads, _ = divide(high)
        total = sum(loads)
    if not total > 0:  # the load is lost in rounding, compared with the set-up times
        alone = min(node_costs, key=lambda cost: cost[1] + load * (cost[2] + cost[3]))
        return [alone[0]], [load]
    # Shrinking loads keeps the schedule feasible; the factor is 1 if the search ended.
    factor = load / total
    return nodes, [share * factor for share in loads]
