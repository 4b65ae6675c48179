"""The objectives of the problem; `objectives` and `claimed_values` compute their values."""

from __future__ import annotations

from collections.abc import Mapping

from dlopt.arithmetic import Number, exact
from dlopt.problems.dag.data import Instance
from dlopt.result import Objective

OBJECTIVES: Mapping[str, Objective] = {
    "makespan": Objective("makespan", "min"),
    "tardy-graphs": Objective(
        "tardy-graphs",
        "min",
        requires_field="absolute_deadlines",
        shown_with="absolute_deadlines",
    ),
    "total-response-time": Objective("total-response-time", "min"),
    "tardy-then-response-time": Objective(  # a comparison shows both levels anyway
        "tardy-then-response-time",
        "min",
        ("tardy-graphs", "total-response-time"),
        requires_field="absolute_deadlines",
        shown_in_comparison=False,
    ),
}


def default_objective(instance: Instance) -> str:
    """Return the objective that is meant where none is named: ``makespan``."""
    return "makespan"


def origin(instance: Instance, name: str) -> Number:
    """Return the instant from which an objective counts if it is a date: the first arrival.

    Only ``makespan`` is a date; of the others it is 0.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Machine, Task
    >>> graphs = tuple(Graph(f"g{t}", (Task("t", work=1),), arrival=t) for t in (9, 7))
    >>> instance = Instance((Machine("m"),), graphs)
    >>> origin(instance, "makespan"), origin(instance, "total-response-time")
    (7, 0)
    """
    if name != "makespan":
        return 0
    return min((graph.arrival for graph in instance.graphs), key=exact)
