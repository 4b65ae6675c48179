"""The heterogeneous view of EDF-IIT-1: an early-ready node is modelled as a faster node.

Of `n` identical nodes with ready times ``r_1 <= ... <= r_n``, all are assumed to be ready at
``r_n``; node `i` makes up for its earlier ready time by a smaller unit processing time

    chi_i = chi E / (E + r_n - r_i),     E = E(load, n) of the optimal partitioning rule.

The load is divided so that in this view all nodes end at the same instant, the *promise*. In
truth they start earlier and compute longer. Lin, Lu, Deogun and Goddard (ICPP 2007) published the
algorithm; the dissertation only cites it, so the formula above is this library's reading.

The promise is kept. Let ``E'`` be the execution time in the view; then ``E' <= E``, for faster
nodes need no longer. Node `i` computes ``load_i (chi - chi_i) = load_i chi_i (r_n - r_i) / E``
longer than in the view. As ``load_i chi_i <= E'``, that is at most ``r_n - r_i``; and its
transmission starts at least that much earlier, for it waits either for its own ready time or for
sends that follow without a gap on a node that is ready no later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dlopt.arithmetic import Number, field
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition
from dlopt.problems.cluster import Cluster


@dataclass(frozen=True, slots=True)
class HeterogeneousView:
    """Loads of a prefix of the nodes, and the completion time that is promised for them."""

    promise: Number
    loads: tuple[Number, ...]


def heterogeneous_view(
    cluster: Cluster, ready: Sequence[Number], load: Number, n: int
) -> HeterogeneousView | None:
    """Divide a load over the first `n` nodes in the heterogeneous view.

    Parameters
    ----------
    cluster : Cluster
        Of identical nodes.
    ready : sequence of Number
        Ready times, ascending.
    load : Number
    n : int
        1 to ``len(ready)``.

    Returns
    -------
    HeterogeneousView or None
        None if set-up costs leave some node no load.

    Notes
    -----
    Guarantee: the plan that sends these loads in this order, each as early as it can be, ends no
    later than the promise. Complexity: O(n).

    Examples
    --------
    >>> view = heterogeneous_view(Cluster(2, tau=1, chi=1), (0, 1), load=3, n=2)
    >>> view.promise
    Fraction(34, 7)
    """
    costs = cluster.costs_of(0)
    cast = field((*ready, load, *costs))
    tau, chi, theta_cm, theta_cp = (cast(cost) for cost in costs)
    last, work = cast(ready[n - 1]), cast(load)
    rule = OptimalPartition(tau, chi, theta_cm, theta_cp)
    execution = rule.execution_time(work, n)
    unit_times = [chi * execution / (execution + (last - ready[i])) for i in range(n)]
    # Every load is linear in the first: load_i = slope_i x - offset_i.
    slope, offset = cast(1), cast(0)
    slopes, offsets = [slope], [offset]
    for before, after in pairwise(unit_times):
        slope = slope * before / (tau + after)
        offset = (offset * before + theta_cm) / (tau + after)
        slopes.append(slope)
        offsets.append(offset)
    first = (work + sum(offsets)) / sum(slopes)
    loads = tuple(s * first - o for s, o in zip(slopes, offsets, strict=True))
    if loads[-1] <= 0:
        return None
    promise = last + theta_cm + theta_cp + first * (tau + unit_times[0])
    return HeterogeneousView(promise, loads)
