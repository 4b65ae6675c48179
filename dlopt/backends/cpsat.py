"""The door to CP-SAT, through OR-Tools.

It works in integers: what is proven holds for the integers it was given, and for the problem only
if they say the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dlopt.backends.versions import version_of
from dlopt.errors import SolverError
from dlopt.result import Limits, Status

NAME = "CP-SAT"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What CP-SAT says of a model.

    Parameters
    ----------
    status : Status
        ``OPTIMAL`` and ``INFEASIBLE`` are proven, for the integers of the model.
    value, bound : int or None
        Objective of the assignment, and what no assignment is better than; None where there is
        none, or no objective.
    value_of : callable or None
        Value of an expression in the assignment; None if there is no assignment.
    version : str or None
    """

    status: Status
    value: int | None
    bound: int | None
    value_of: Callable[[Any], int] | None
    version: str | None


def new_model() -> Any:
    """Return an empty ``CpModel``.

    Raises
    ------
    SolverError
        If OR-Tools is missing.
    """
    return _cp_model().CpModel()


def optimise(
    model: Any,
    limits: Limits,
    *,
    seed: int = 0,
    effort: float | None = None,
    searches: Sequence[str] = (),
) -> Outcome:
    """Solve a model.

    Parameters
    ----------
    model : ortools.sat.python.cp_model.CpModel
    limits : Limits
        `work` counts conflicts.
    seed : int
    effort : float, optional
        Most deterministic time, of the order of seconds: unlike a time limit it gives the same
        answer at every run.
    searches : sequence of str
        Names of CP-SAT's own searches, one a thread; by default its choice.

    Raises
    ------
    SolverError
        If OR-Tools is missing, or calls the model invalid.

    Examples
    --------
    >>> model = new_model()
    >>> x = model.new_int_var(0, 9, "x")
    >>> _ = model.add(2 * x <= 7)
    >>> model.maximize(x)
    >>> found = optimise(model, Limits())
    >>> str(found.status), found.value, found.bound, found.value_of(x)
    ('optimal', 3, 3, 3)
    """
    cp_model = _cp_model()
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = min(limits.threads, os.cpu_count() or 1)
    parameters.subsolvers.extend(searches[: parameters.num_workers])
    parameters.random_seed = seed % 2**31
    parameters.relative_gap_limit = limits.gap
    parameters.catch_sigint_signal = False  # its handler aborts the process outside the main thread
    if limits.time_s is not None:
        parameters.max_time_in_seconds = limits.time_s
    elif parameters.num_workers > 1:
        parameters.interleave_search = True  # threads that race would answer as chance has it
    if limits.work is not None:
        parameters.max_number_of_conflicts = limits.work
    if effort is not None:
        parameters.max_deterministic_time = effort
    statuses = {
        cp_model.OPTIMAL: Status.OPTIMAL,
        cp_model.FEASIBLE: Status.FEASIBLE,
        cp_model.INFEASIBLE: Status.INFEASIBLE,
        cp_model.UNKNOWN: Status.LIMIT,
    }
    said = solver.solve(model)
    if said not in statuses:
        raise SolverError(f"CP-SAT calls the model invalid: {model.validate()}")
    status, version = statuses[said], version_of(NAME)
    if status not in (Status.OPTIMAL, Status.FEASIBLE):
        return Outcome(status, None, None, None, version)
    if not model.has_objective():
        return Outcome(status, None, None, solver.value, version)
    value, bound = round(solver.objective_value), round(solver.best_objective_bound)
    if status is Status.OPTIMAL and value != bound:
        status = Status.FEASIBLE  # within a gap
    return Outcome(status, value, bound, solver.value, version)


def _cp_model() -> Any:
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise SolverError("OR-Tools is missing: pip install 'ortools>=9.15,<9.16'") from error
    return cp_model
