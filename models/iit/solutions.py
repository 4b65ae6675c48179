"""Schedules of one divisible load, from the chunks that a model gives, and what they consist of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dlopt.arithmetic import Number, exact
from dlopt.problems.earliest_schedule import earliest_plan, number_field
from dlopt.problems.iit.data import Instance, Solution


def plan_of_chunks(instance: Instance, chunks: Sequence[tuple[int, Number]]) -> Solution:
    """Return the earliest schedule of chunks whose loads add up but for rounding.

    Parameters
    ----------
    instance : Instance
    chunks : sequence of (int, Number)
        Node and load of each, in the order of transmission; some load is positive.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)
    >>> [str(chunk.load) for chunk in plan_of_chunks(instance, [(1, 0.25), (0, 0.5)]).chunks]
    ['1', '2']
    """
    nodes = [node for node, load in chunks if load > 0]
    loads = [exact(load) for _, load in chunks if load > 0]
    factor, cast = exact(instance.load) / sum(loads), number_field(instance)
    return earliest_plan(instance, nodes, [cast(load * factor) for load in loads])


def is_in_class(hint: Solution | None, installments: int) -> bool:
    """Tell whether a hint is in the plan class that is searched; others prove nothing."""
    if hint is None:
        return False
    chunks = Counter(chunk.node for chunk in hint.chunks)
    return max(chunks.values()) <= installments and all(chunk.load > 0 for chunk in hint.chunks)


def count_nodes(plan: Solution) -> int:
    """Return the number of nodes that a schedule uses."""
    return len({chunk.node for chunk in plan.chunks})
