"""The earliest schedule of loads that are sent in a given order.

Heuristics and models build schedules here; the checker (`dlopt.problems.iit.violations`) does not
use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dlopt.arithmetic import FLOATING, ROUNDING, Number, NumberField, exact, is_exact
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit.data import Chunk, Instance, Solution


def number_field(instance: Instance) -> Any:
    """Return the number type to compute the solution of an instance in."""
    return exact if instance.exact else float


def by_ready_time(instance: Instance) -> tuple[list[int], list[Number]]:
    """Return the nodes in the order of their ready times (ties by index), and those times."""
    ready = instance.ready_times
    order = sorted(range(len(ready)), key=ready.__getitem__)
    return order, [ready[node] for node in order]


def earliest_plan(
    instance: Instance,
    nodes: Iterable[int],
    loads: Sequence[Number],
    not_before: Number | None = None,
) -> Solution:
    """Send the loads to the nodes in the given order, each as early as channel and node allow.

    A node that occurs in the order again is sent its next chunk when it has computed the last. A
    transmission that takes no time neither waits for the channel nor occupies it.

    Parameters
    ----------
    instance : Instance
    nodes : iterable of int
        In the order of transmission; those beyond the last load get nothing.
    loads : sequence of Number
        Positive.
    not_before : Number, optional
        No transmission starts earlier: OPR and EPR wait for the last of their nodes.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (0, 2), load=3)
    >>> [chunk.computation_end for chunk in earliest_plan(instance, (0, 1), (1, 2)).chunks]
    [Fraction(2, 1), Fraction(6, 1)]
    """
    cast = exact if instance.exact and is_exact(loads) else float
    return Solution(
        earliest_chunks(instance.cluster, instance.ready_times, nodes, loads, not_before, cast)
    )


def earliest_chunks(
    cluster: Cluster,
    ready_times: Sequence[Number],
    nodes: Iterable[int],
    loads: Sequence[Number],
    not_before: Number | None,
    cast: NumberField,
) -> tuple[Chunk, ...]:
    """Return the chunks of `earliest_plan`, computed in a number type.

    Parameters
    ----------
    cluster : Cluster
    ready_times : sequence of Number, shape (nodes,)
    nodes, loads, not_before
        See `earliest_plan`.
    cast : callable
        Converts to the number type.
    """
    theta_cm, theta_cp = cast(cluster.theta_cm), cast(cluster.theta_cp)
    first: Any = None if not_before is None else cast(not_before)
    channel, chunks = first, []
    free: dict[int, Any] = {}
    for node, load in zip(nodes, loads, strict=False):
        ready = free[node] if node in free else cast(ready_times[node])
        tau = cast(cluster.tau_of(node))
        uses_channel = theta_cm > 0 or tau > 0
        earliest = channel if uses_channel else first
        start = ready if earliest is None or earliest < ready else earliest
        received = start + theta_cm + load * tau
        if uses_channel:
            channel = received
        free[node] = end = received + theta_cp + load * cast(cluster.chi_of(node))
        chunks.append(Chunk(node, load, start, received, received, end))
    return tuple(chunks)


def last_result(plan: Solution) -> Any:
    """Return the completion time of a schedule: when its last chunk is computed."""
    return max(chunk.computation_end for chunk in plan.chunks)


def slack(instance: Instance) -> Any:
    """Return by how much a schedule may miss the deadline by rounding: 0 in exact numbers.

    In floats it is half of what `dlopt.problems.iit.violations` allows a formula.
    """
    if instance.exact:
        return 0
    return FLOATING / 2 * span(instance) + abs(float(instance.absolute_deadline or 0)) * 2.0**-47


def surely_missed(instance: Instance, completion: Number) -> bool:
    """Tell whether a minimum completion time proves that every schedule misses the deadline.

    In floats, by more than twice what `dlopt.problems.iit.violations` allows a formula: once
    against the deadline, and once against the exact timeline.
    """
    deadline = exact(instance.absolute_deadline or 0)
    missed = exact(completion) - deadline
    if instance.exact:
        return missed > 0
    spare = 4 * FLOATING * span(instance)
    return missed > exact(spare) + 4 * ROUNDING * deadline


def span(instance: Instance) -> float:
    """Return roughly how long after the first ready time one node alone completes the load."""
    cluster, ready = instance.cluster, instance.ready_times
    first = exact(min(ready))
    nodes = [ready.index(min(ready))] if cluster.identical else range(cluster.nodes)
    setups, load = float(cluster.theta_cm) + float(cluster.theta_cp), float(instance.load)
    return min(
        float(exact(ready[node]) - first)
        + setups
        + load * (float(cluster.tau_of(node)) + float(cluster.chi_of(node)))
        for node in nodes
    )
