"""Proven bounds of a scaled instance as values of results, in the numbers of the instance."""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import ROUNDING, SOLVER, Number, exact, simplest
from dlopt.models.dag.cpsat import ObjectiveLevel
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.problems.dag.data import Instance
from dlopt.result import Value


def as_objective_value(
    scaled: ScaledInstance, levels: tuple[ObjectiveLevel, ...], units: list[int]
) -> Value:
    """Return bounds in scaled units as a value of the objective: one number, or one a level.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Machine, Task
    >>> graph = Graph("g", (Task("a", work=3),), arrival=1)
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m", power=2),), (graph,)))
    >>> scaled.scale, as_objective_value(scaled, ("makespan",), [1])
    (Fraction(2, 3), Fraction(5, 2))
    """
    values = tuple(
        _level_value(scaled, level, unit) for level, unit in zip(levels, units, strict=True)
    )
    return values if len(values) > 1 else values[0]


def _level_value(scaled: ScaledInstance, level: ObjectiveLevel, units: int) -> Number:
    if level == "late-graphs":
        return units
    if level == "makespan":
        return simplest(scaled.origin + scaled.to_instance_time(units))
    arrivals = (exact(graph.arrival) - scaled.origin for graph in scaled.instance.graphs)
    return simplest(scaled.to_instance_time(units) - sum(arrivals, Fraction(0)))


def gap_closed(
    scaled: ScaledInstance, levels: tuple[ObjectiveLevel, ...], value: Value, bound: Value
) -> bool:
    """Tell whether a value equals its bound.

    Of instances in floats they may differ by 1e-6 of a response, or of a makespan since the
    first arrival, and by the rounding of a date.
    """
    triples = zip(levels, _as_levels(value), _as_levels(bound), strict=True)
    return all(
        _excess_difference(scaled, level, exact(v), exact(b)) <= 0 for level, v, b in triples
    )


def _excess_difference(
    scaled: ScaledInstance, level: ObjectiveLevel, value: Fraction, bound: Fraction
) -> Fraction:
    """Return the difference of a value and its bound, less the tolerance."""
    difference = abs(value - bound)
    if scaled.instance.exact or level == "late-graphs":
        return difference
    since = scaled.origin if level == "makespan" else 0
    return difference - exact(SOLVER) * abs(value - since) - ROUNDING * abs(value)


def match_number_type(instance: Instance, value: Value) -> Value:
    """Return a value in the numbers of the instance: exact, or floats and counts."""
    if isinstance(value, tuple):
        return tuple(_match_number(instance, level) for level in value)
    return _match_number(instance, value)


def _match_number(instance: Instance, value: Number) -> Number:
    return value if instance.exact or isinstance(value, int) else float(value)


def _as_levels(value: Value) -> tuple[Number, ...]:
    return value if isinstance(value, tuple) else (value,)
