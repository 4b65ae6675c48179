"""The objectives of the problem; `objectives` computes their values."""

from __future__ import annotations

from collections.abc import Mapping

from dlopt.arithmetic import Number, least
from dlopt.problems.iit.data import Instance
from dlopt.result import Objective

OBJECTIVES: Mapping[str, Objective] = {
    "completion": Objective("completion", "min"),
    "nodes": Objective("nodes", "min", requires_field="absolute_deadline"),
}


def default_objective(instance: Instance) -> str:
    """Return the objective that is meant where none is named: ``completion``."""
    return "completion"


def origin(instance: Instance, name: str) -> Number:
    """Return the instant that an objective counts from if it is a date, else 0.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (9, 7), load=1)
    >>> origin(instance, "completion"), origin(instance, "nodes")
    (7, 0)
    """
    return least(instance.ready_times) if name == "completion" else 0
