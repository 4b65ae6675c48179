"""The levels of each objective, and their values in the numbers of the instance.

Levels are minimised. In scaled units, responses count from instant 0 and not from the arrivals.

Examples
--------
>>> from dlopt.problems.dag import Graph, Instance, Machine, Task
>>> graph = Graph("g", (Task("a", work=3),), arrival=1, absolute_deadline=2)
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", power=2),), (graph,)))
>>> scaled.scale, level_value(scaled, [1], "tardy-graphs")
(Fraction(2, 3), 1)
>>> to_objective_value(scaled, ("makespan",), [1])
Fraction(5, 2)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import Literal, TypeAlias

from dlopt.arithmetic import ROUNDING, SOLVER, Number, exact
from dlopt.models.common.objective_levels import as_objective_value, match_number_type
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.result import Value, levels_of

ObjectiveLevel: TypeAlias = Literal["makespan", "tardy-graphs", "total-response-time"]

LEVELS: dict[str, tuple[ObjectiveLevel, ...]] = {
    "makespan": ("makespan",),
    "tardy-graphs": ("tardy-graphs",),
    "total-response-time": ("total-response-time",),
    "tardy-then-response-time": ("tardy-graphs", "total-response-time"),
}
"""The levels of each objective, which are minimised one after another."""


def level_value(scaled: ScaledInstance, completions: Sequence[int], level: ObjectiveLevel) -> int:
    """Return the value of a level, in scaled units, given the completions of all graphs."""
    if level == "makespan":
        return max(completions)
    if level == "total-response-time":
        return sum(completions)
    pairs = zip(completions, scaled.due_dates, strict=True)
    return sum(due is not None and end > due for end, due in pairs)


def to_objective_value(
    scaled: ScaledInstance, levels: Sequence[ObjectiveLevel], units: Sequence[int]
) -> Value:
    """Return levels in scaled units as a value of the objective, in the instance's numbers."""
    pairs = zip(levels, units, strict=True)
    value = as_objective_value(_in_instance_units(scaled, level, unit) for level, unit in pairs)
    return match_number_type(value, is_exact=scaled.instance.exact)


def to_scaled_units(
    scaled: ScaledInstance, levels: Sequence[ObjectiveLevel], value: Value
) -> list[int]:
    """Return the levels of a value of the objective in scaled units, rounded down.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> graph = Graph("g", (Task("a", work=3),), arrival=1)
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m", power=2),), (graph,)))
    >>> to_scaled_units(scaled, ("makespan",), Fraction(5, 2))
    [1]
    """
    pairs = zip(levels, levels_of(value), strict=True)
    return [
        int(number)
        if level == "tardy-graphs"
        else floor((exact(number) - _start(scaled, level)) * scaled.scale)
        for level, number in pairs
    ]


def _in_instance_units(scaled: ScaledInstance, level: ObjectiveLevel, units: int) -> Number:
    if level == "tardy-graphs":
        return units
    return _start(scaled, level) + scaled.to_instance_time(units)


def _start(scaled: ScaledInstance, level: ObjectiveLevel) -> Fraction:
    """Return the value of a level at instant 0 of the scaled instance."""
    if level == "makespan":
        return scaled.origin
    arrivals = (scaled.origin - exact(graph.arrival) for graph in scaled.instance.graphs)
    return sum(arrivals, Fraction(0))


def gap_closed(
    scaled: ScaledInstance, levels: Sequence[ObjectiveLevel], value: Value, bound: Value
) -> bool:
    """Tell whether a value equals its bound.

    Of instances in floats they may differ by 1e-6 of a response, or of a makespan since the
    first arrival, and by the rounding of a date.
    """
    triples = zip(levels, levels_of(value), levels_of(bound), strict=True)
    return all(abs(exact(v) - exact(b)) <= _tolerance(scaled, level, v) for level, v, b in triples)


def _tolerance(scaled: ScaledInstance, level: ObjectiveLevel, value: Number) -> Fraction:
    if scaled.instance.exact or level == "tardy-graphs":
        return Fraction(0)
    since = scaled.origin if level == "makespan" else 0
    return exact(SOLVER) * abs(exact(value) - since) + ROUNDING * abs(exact(value))
