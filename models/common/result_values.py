"""What is proven of a case, as results state it: in the numbers of the instance."""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import ROUNDING, SOLVER, Number, exact, simplest
from dlopt.models.dag.cpsat import Level
from dlopt.models.dag.scaled_instance import Case
from dlopt.problems.dag.data import Instance
from dlopt.result import Value


def stated(case: Case, levels: tuple[Level, ...], units: list[int]) -> Value:
    """Return bounds as the objective states them."""
    found = tuple(_level(case, level, unit) for level, unit in zip(levels, units, strict=True))
    return found if len(found) > 1 else found[0]


def _level(case: Case, level: Level, units: int) -> Number:
    if level == "late-graphs":
        return units
    if level == "makespan":
        return simplest(case.origin + case.time(units))
    since = (exact(graph.arrival) - case.origin for graph in case.instance.graphs)
    return simplest(case.time(units) - sum(since, Fraction(0)))


def meet(case: Case, levels: tuple[Level, ...], value: Value, bound: Value) -> bool:
    """Tell whether a value and its bound are the same.

    Of instances in floats they may differ by 1e-6 of a response, or of a makespan since the
    first arrival, and by the rounding of a date.
    """
    triples = zip(levels, _tuple(value), _tuple(bound), strict=True)
    return all(_off(case, level, exact(v), exact(b)) <= 0 for level, v, b in triples)


def _off(case: Case, level: Level, value: Fraction, bound: Fraction) -> Fraction:
    """Return by how much a value and its bound differ more than they may."""
    off = abs(value - bound)
    if case.instance.exact or level == "late-graphs":
        return off
    since = case.origin if level == "makespan" else 0
    return off - exact(SOLVER) * abs(value - since) - ROUNDING * abs(value)


def in_kind(instance: Instance, value: Value) -> Value:
    """Return a value in the numbers of the instance: exact, or floats and counts."""
    if isinstance(value, tuple):
        return tuple(_one(instance, level) for level in value)
    return _one(instance, value)


def _one(instance: Instance, value: Number) -> Number:
    return value if instance.exact or isinstance(value, int) else float(value)


def _tuple(value: Value) -> tuple[Number, ...]:
    return value if isinstance(value, tuple) else (value,)
