"""Values as text: of what a method reports, and of what its schedule has."""

from __future__ import annotations

from dlopt.arithmetic import is_finite, to_json
from dlopt.problems.validated_record import Header
from dlopt.registry.method_entries import ProblemModule
from dlopt.result import Value


def value_text(value: Value | None) -> str:
    """Return a value as text, however many digits it has."""
    if isinstance(value, tuple):
        return f"({', '.join(value_text(level) for level in value)})"
    return str(value if value is None or not is_finite(value) else to_json(value))


def wrong_value_text(
    module: ProblemModule,
    instance: Header,
    solution: object,
    objective: str,
    *,
    reported: Value | None,
    actual: Value | None,
) -> str:
    """Return how a reported value differs from that of the schedule, and what that consists of.

    Parameters
    ----------
    module : ProblemModule
        May have a function ``value_explanation(instance, solution, objective)``.
    instance : Instance
    solution : Solution
    objective : str
    reported, actual : Number or tuple of Number, optional

    Examples
    --------
    >>> from dlopt.problems import dag
    >>> instance = dag.Instance((dag.Machine("m"),), (dag.Graph("g", (dag.Task("a", work=2),)),))
    >>> plan = dag.Solution((dag.Placement(0, 0, 0, 0),))
    >>> print(wrong_value_text(dag, instance, plan, "makespan", reported=1, actual=2))
    it reports makespan 1, but the schedule has makespan 2: graph g is complete at 2
    """
    first = f"{objective} {value_text(reported)}" if reported is not None else f"no {objective}"
    second = f"{objective} {value_text(actual)}" if actual is not None else f"no {objective}"
    explain = getattr(module, "value_explanation", None)
    why = None if explain is None or actual is None else explain(instance, solution, objective)
    return f"it reports {first}, but the schedule has {second}" + (f": {why}" if why else "")
