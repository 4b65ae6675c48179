"""Brute force: slow, obvious, and sharing nothing with what it judges."""

from fractions import Fraction
from itertools import combinations, permutations, product

from dlopt.arithmetic import exact
from dlopt.problems.iit import Instance


def completion_in_order(instance: Instance, order: tuple[int, ...]) -> Fraction | None:
    """Return the least completion when every node of `order` gets one positive chunk.

    All loads together must be `instance.load`. The optimum of the fixed order is a vertex: find
    it by trying, for every chunk but the first, whether it starts when its node is ready or when
    the channel is free, and for every chunk whether it ends last. Every combination gives one
    linear system; the best solution that satisfies all inequalities wins.
    """
    best = None
    count = len(order)
    for waits in range(2 ** (count - 1)):
        leads = (True, *(bool(waits >> k & 1) for k in range(count - 1)))
        xi = _all_end_together(instance, order, leads)
        if xi is not None and (best is None or xi < best):
            best = xi
    return best


def _all_end_together(instance, order, leads):
    """Return the completion of one pattern in which all chunks end together, if it is valid."""
    cluster = instance.cluster
    theta_cm, theta_cp = exact(cluster.theta_cm), exact(cluster.theta_cp)
    # Every load and every instant is a + b xi; loads sum to the load at one xi.
    pieces, channel = [], None
    for node, leader in zip(order, leads, strict=True):
        tau, chi = exact(cluster.tau_of(node)), exact(cluster.chi_of(node))
        start = (exact(instance.ready_times[node]), Fraction(0)) if leader else channel
        load = (
            -(start[0] + theta_cm + theta_cp) / (tau + chi),
            (1 - start[1]) / (tau + chi),
        )
        pieces.append((node, start, load))
        channel = (start[0] + theta_cm + tau * load[0], start[1] + tau * load[1])
    constant = sum(load[0] for _, _, load in pieces)
    slope = sum(load[1] for _, _, load in pieces)
    if slope == 0:
        return None
    xi = (exact(instance.load) - constant) / slope
    free = None
    for node, start, load in pieces:
        begun, amount = start[0] + start[1] * xi, load[0] + load[1] * xi
        if amount <= 0 or begun < instance.ready_times[node]:
            return None
        if free is not None and begun < free:
            return None
        free = begun + theta_cm + exact(cluster.tau_of(node)) * amount
    return xi


def least_completion(instance: Instance, most: int | None = None) -> Fraction:
    """Return the least completion over all sets and orders of identical nodes.

    With identical nodes an optimal plan ends everywhere together (move load from the last to end
    to one that ends earlier), so that `completion_in_order` misses nothing.
    """
    nodes = range(instance.cluster.nodes)
    most = instance.cluster.nodes if most is None else most
    values = [
        completion_in_order(instance, order)
        for count in range(1, most + 1)
        for chosen in combinations(nodes, count)
        for order in permutations(chosen)
    ]
    return min(value for value in values if value is not None)


def fewest_nodes(instance: Instance) -> int | None:
    """Return the fewest identical nodes that meet the deadline, or None."""
    for most in range(1, instance.cluster.nodes + 1):
        if least_completion(instance, most) <= instance.absolute_deadline:
            return most
    return None


def least_largest_sum(sizes, parts):
    """Return the least largest sum of a partition into parts, some of which may be empty."""
    return min(
        max(
            sum(size for size, own in zip(sizes, places, strict=True) if own == part)
            for part in range(parts)
        )
        for places in product(range(parts), repeat=len(sizes))
    )
