"""Answers of LP and MILP solvers: final ones, and what HiGHS knows in the middle of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pulp

from dlopt.arithmetic import Number
from dlopt.backends.scales import Scaling, times_power
from dlopt.backends.versions import version_of
from dlopt.result import Status


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of a solver to a model.

    Parameters
    ----------
    status : Status
        ``OPTIMAL`` is the solver's claim (floating point, not certified); with `proven` it is
        certified in fractions. ``UNKNOWN``: there is neither a claim nor a proof, see
        `dlopt.backends.pulp.UNPROVEN`.
    value, bound : Number or None
        Objective value of the assignment, and the dual bound, in the sense of the model.
    assignment : mapping of str to Number
        Value of each variable by name; empty if there is none.
    proven : bool
        Whether an exact dual solution certifies value and bound, which then are fractions.
    solver, version : str
    """

    status: Status
    value: Number | None
    bound: Number | None
    assignment: Mapping[str, Number]
    proven: bool
    solver: str
    version: str | None

    def __getitem__(self, variable: pulp.LpVariable) -> Any:
        return self.assignment[variable.name]


Report: TypeAlias = Callable[[Outcome], object]
"""Is called with what a solver knows while it still searches."""


class HighsUnits:
    """The units and the sense of a model, for numbers of HiGHS, which minimises a scaled one.

    Parameters
    ----------
    problem : pulp.LpProblem
    scaling : Scaling or None
        None if HiGHS reads the model as it is.
    """

    def __init__(self, problem: pulp.LpProblem, scaling: Scaling | None) -> None:
        self._sign = -1 if problem.sense == pulp.LpMaximize else 1
        unit = 0 if scaling is None else -scaling.objective
        self._unit = unit
        self._names = [variable.name for variable in problem.variables()]
        self._powers = [0] * len(self._names) if scaling is None else scaling.columns

    def value(self, number: float) -> float:
        """Return a value of the objective."""
        return self._sign * times_power(number, self._unit)

    def bound(self, number: float) -> float | None:
        """Return a dual bound; None if there is none."""
        bound = self.value(number)
        return bound if abs(bound) < 1e100 else None

    def assignment(self, point: Iterable[float]) -> dict[str, Number]:
        """Return the value of each variable."""
        columns = zip(self._names, point, self._powers, strict=True)
        return {name: times_power(x, power) for name, x, power in columns}


def reporter(units: HighsUnits, solver: str, report: Report) -> Callable[[Any], None]:
    """Return what reports better assignments and bounds of a branch and bound, for `highs.run`."""
    last = Outcome(Status.LIMIT, None, None, {}, False, solver, version_of(solver))

    def look(known: Any) -> None:
        nonlocal last
        better = replace(last, bound=units.bound(known.mip_dual_bound))
        if len(known.mip_solution):
            value, point = units.value(known.mip_primal_bound), known.mip_solution
            better = replace(
                better, status=Status.FEASIBLE, value=value, assignment=units.assignment(point)
            )
        if (better.value, better.bound) != (last.value, last.bound):
            last = better
            report(last)

    return look
