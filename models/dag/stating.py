"""What is proven of a case, as results state it: in the numbers of the instance."""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import Number, exact, simplest
from dlopt.models.dag.case import Case
from dlopt.models.dag.program import Level
from dlopt.problems.dag.data import Instance
from dlopt.result import Value


def stated(case: Case, levels: tuple[Level, ...], units: list[int]) -> Value:
    """Return bounds as the objective states them."""
    found = tuple(_level(case, level, unit) for level, unit in zip(levels, units, strict=True))
    return found if len(found) > 1 else found[0]


def _level(case: Case, level: Level, units: int) -> Number:
    if level == "late-graphs":
        return units
    arrivals = sum((exact(graph.arrival) for graph in case.instance.graphs), Fraction(0))
    return simplest(case.time(units) - (arrivals if level == "response" else 0))


def meet(value: Value, bound: Value, tolerance: float) -> bool:
    """Tell whether a value and its bound are the same, within a relative tolerance."""
    pairs = zip(_tuple(value), _tuple(bound), strict=True)
    return all(abs(exact(v) - exact(b)) <= exact(tolerance) * abs(exact(v)) for v, b in pairs)


def in_kind(instance: Instance, value: Value) -> Value:
    """Return a value in the numbers of the instance: exact, or floats and counts."""
    if isinstance(value, tuple):
        return tuple(_one(instance, level) for level in value)
    return _one(instance, value)


def _one(instance: Instance, value: Number) -> Number:
    return value if instance.exact or isinstance(value, int) else float(value)


def _tuple(value: Value) -> tuple[Number, ...]:
    return value if isinstance(value, tuple) else (value,)
