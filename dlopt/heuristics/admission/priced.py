"""The registered method with bid-price control, applied to a whole stream."""

from __future__ import annotations

from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.methods import identical_nodes, stream
from dlopt.heuristics.admission.priced_algorithm import PricedAlgorithm
from dlopt.problems.admission.data import Instance, Solution
from dlopt.result import Result

__all__ = ["identical_nodes", "priced"]


def priced(instance: Instance, *, objective: str | None = None, base: str = "") -> Result[Solution]:
    """Decide on the tasks of an instance in the order of their arrivals, with bid prices.

    Parameters
    ----------
    instance : Instance
        With identical nodes.
    objective : str, optional
        See `dlopt.registry`.
    base : str, default ""
        The algorithm whose admission test decides in the end, one that keeps its promises and
        plans; by default chosen for the cluster, see `PricedAlgorithm`.

    Notes
    -----
    Guarantee: every promise is kept, for no task is accepted that the base rejects. No later task
    has a part in a decision. There is no competitive ratio, as of no deterministic algorithm: see
    docs/better.md. Complexity: that of the base, and O(n + 500) a decision with `n` waiting.

    Source: bid-price control, Talluri and van Ryzin 2004, chapter 3; see
    `dlopt.heuristics.admission.bid_prices`.

    Examples
    --------
    >>> from dlopt.heuristics.admission.methods import edf_opr_mn
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> small = [Task(f"small-{i}", i / 2, load=1, deadline=2) for i in range(60)]
    >>> large = [Task(f"large-{i}", i / 2, load=6, deadline=20) for i in range(11, 60, 8)]
    >>> tasks = tuple(sorted([*small, *large], key=lambda task: task.arrival))
    >>> stream = Instance(Cluster(1, tau=0, chi=1), tasks)
    >>> edf_opr_mn(stream).value, priced(stream).value
    (20, 31)
    """
    policy = PricedAlgorithm(Algorithm.parse(base) if base else None)
    return stream(policy, instance, objective=objective)
