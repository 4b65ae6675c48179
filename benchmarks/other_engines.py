"""Comparison of the library's answers with another engine: HiGHS, or brute force."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarks.solver_instances import SolverTask
from dlopt import DloptError, Limits, registry, solve
from dlopt.result import Result, Status
from tests import oracles_bag, oracles_coreservation, oracles_dag

OTHERS: Mapping[str, tuple[str, ...]] = {
    "dag": ("milp",),
    "bag": ("milp",),
    "coreservation": ("milp",),
}
"""Methods that ask HiGHS what `exact` asks CP-SAT."""

BRUTE: Mapping[str, Callable[[Any, str], Any]] = {
    "dag": oracles_dag.best,
    "bag": oracles_bag.best,
    "coreservation": oracles_coreservation.optimum,
}
"""Every plan tried."""


def by_other_methods(
    case: SolverTask, instance: Any, found: Result[Any], seconds: float
) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each other method, the verdict, and its answer."""
    for name in OTHERS.get(case.stem, ()):
        try:
            other = solve(
                instance, name, objective=found.objective, limits=Limits(time_s=4 * seconds)
            )
        except DloptError:
            continue
        yield name, _verdict(case.stem, found, other), f"{other.status}: {other.value}"


def by_brute_force(
    case: SolverTask, instance: Any, found: Result[Any]
) -> Iterator[tuple[str, str, str]]:
    """Yield the verdict of brute force, if the instance is small enough for it."""
    if case.tiny and case.stem in BRUTE and found.status is Status.OPTIMAL:
        best = BRUTE[case.stem](instance, found.objective)
        value = found.value
        if case.stem == "bag":
            value = oracles_bag.as_tuple(value, found.objective)
        yield "brute force", "agree" if value == best else "disagree", f"optimum {best}"


def _verdict(stem: str, one: Result[Any], other: Result[Any]) -> str:
    objective = registry.problem(stem).module.OBJECTIVES[one.objective]
    senses = objective.senses or (objective.sense,) * max(1, len(objective.levels))
    tolerance = max(one.tolerance, other.tolerance)
    for proof, plan in ((one, other), (other, one)):
        if plan.value is None:
            continue
        if proof.status is Status.INFEASIBLE:
            return "disagree"
        if proof.bound is None:
            continue
        for sense, value, bound in zip(
            senses, _levels(plan.value), _levels(proof.bound), strict=True
        ):
            better = float(value - bound if sense == "max" else bound - value)
            slack = tolerance * max(1.0, abs(float(bound)))
            if better > slack:
                return "disagree"
            if better < -slack:
                break  # what comes after it is not bounded
    done = all(result.status in (Status.OPTIMAL, Status.INFEASIBLE) for result in (one, other))
    return "agree" if done else "undecided"


def _levels(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
