"""Interface to CP-SAT, the constraint programming solver of OR-Tools.

CP-SAT computes in integers: its proofs hold for the integer model, and for the problem only if
the model is an exact scaling of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

from dlopt.backends.solver_settings import current_settings
from dlopt.backends.versions import version_of
from dlopt.errors import SolverError
from dlopt.interruption import ended_by
from dlopt.result import Limits, Status

NAME = "CP-SAT"

SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "keep_all_feasible_solutions_in_presolve": True,
        "presolve_inclusion_work_limit": 0,
        "use_disjunctive_constraint_in_cumulative": False,
    }
)
"""Parameters for every model, because CP-SAT 9.15.6755 with its defaults proves false bounds.

1. Presolve loses solutions: OR-Tools issue 5274 has a model of 33 variables that is infeasible with
   presolve and has an optimum without, and three variables are enough. The steps that may remove
   solutions are left out.
2. The presolve step that detects inclusion between constraints makes a linear model's proven
   optimum worse than a solution (OR-Tools issue 5293, which names this workaround).
3. The disjunctive constraints that presolve and search derive from the mutually exclusive jobs of a
   cumulative constraint are wrong where an interval is absent but its end is bounded by a
   makespan; with presolve off, too.

The tests have a model for each. One flaw is left that no model of this library can trigger: where
all intervals of a constraint are absent, the linear relaxation may bound the makespan from below
by the least of their starts. Here every job that a makespan covers does run. `python -m
benchmarks.solver_claims` solves the models again under other settings; run it, and reconsider these
parameters, whenever OR-Tools changes.
"""

MAX_EXACT_FLOAT = 2**53
"""Up to this magnitude every integer is exactly a float (IEEE 754 doubles)."""

WIDE_DOMAIN = 2**20
"""Number of values from which the domain of a variable in the objective counts as wide.

A model with such an objective is searched by bisection of its range. Without it one thread may
improve the objective by one at a time: in a model with seven variables, one of them with
36,000,000,033 values, it found 28,000 solutions a second and did not end (`tests/backends`).
"""

_BISECTION_CONFLICTS = 100
"""Conflicts per bisection step of a wide objective; chosen by hand: the model named at
`WIDE_DOMAIN` is solved, and objectives with narrow domains are not searched in this way."""


SECONDS_PER_EFFORT = 60
"""Seconds after which a unit of deterministic time is over in any case.

Chosen by hand: a unit takes about a second, and 20 or more on a machine that is overloaded. In a
model with two variables of some 10^11 values, CP-SAT counted .26 units while it propagated for 15
minutes (`tests/models/coreservation`).
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of CP-SAT to a model.

    Parameters
    ----------
    status : Status
        ``OPTIMAL`` and ``INFEASIBLE`` are proven, for the integers of the model.
    value, bound : int or None
        Objective value of the assignment, and the dual bound, both exact integers; None if there
        is no assignment, or no objective.
    value_of : callable or None
        Gives the value of an expression in the assignment; None if there is no assignment.
    version : str or None
    """

    status: Status
    value: int | None
    bound: int | None
    value_of: Callable[[Any], int] | None
    version: str | None


Report: TypeAlias = Callable[[Outcome], object]
"""Is called with what CP-SAT knows while it still searches."""


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
    report: Report | None = None,
) -> Outcome:
    """Solve a model.

    Parameters
    ----------
    model : ortools.sat.python.cp_model.CpModel
    limits : Limits
        `work` counts conflicts.
    seed : int
    effort : float, optional
        Limit on CP-SAT's deterministic time, whose unit is roughly a second: unlike a time limit
        it gives the same answer in every run. Where CP-SAT does not count what it does, as when
        bounds of wide domains approach each other step by step, time ends it
        (`SECONDS_PER_EFFORT`).
    searches : sequence of str
        Names of CP-SAT subsolvers, one per thread; by default CP-SAT chooses.
    report : callable, optional
        Called from the threads of CP-SAT, while it searches, with what it knows by then: after
        each better assignment, and each better bound.

    Raises
    ------
    SolverError
        If OR-Tools is missing, or rejects the model as invalid, or if the constant of the objective
        is too large for the float to which OR-Tools converts it.

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
    _set_parameters(solver.parameters, model, limits, seed)
    solver.parameters.subsolvers.extend(searches[: solver.parameters.num_workers])
    if effort is not None:
        solver.parameters.max_deterministic_time = effort
        if limits.time_s is None:
            solver.parameters.max_time_in_seconds = SECONDS_PER_EFFORT * effort
    statuses = {
        cp_model.OPTIMAL: Status.OPTIMAL,
        cp_model.FEASIBLE: Status.FEASIBLE,
        cp_model.INFEASIBLE: Status.INFEASIBLE,
        cp_model.UNKNOWN: Status.LIMIT,
    }
    if model.has_objective() and abs(model.proto.objective.offset) >= MAX_EXACT_FLOAT:
        raise SolverError("the constant of the objective is too large for CP-SAT")
    solver.log_callback = current_settings().log
    with ended_by(solver.stop_search):
        solver_status = solver.solve(model, _reporter(model, solver, report))
    if solver_status not in statuses:
        fault = model.validate() or solver.solution_info()  # of the model, or of a parameter
        raise SolverError(f"CP-SAT calls the model or a parameter invalid: {fault}")
    status, version = statuses[solver_status], version_of(NAME)
    if status not in (Status.OPTIMAL, Status.FEASIBLE):
        return Outcome(status, None, None, None, version)
    if not model.has_objective():
        return Outcome(status, None, None, solver.value, version)
    value, bound = _objective(model, solver.response_proto)
    if status is Status.OPTIMAL and value != bound:
        status = Status.FEASIBLE  # within a gap
    return Outcome(status, value, bound, solver.value, version)


def _set_parameters(parameters: Any, model: Any, limits: Limits, seed: int) -> None:
    """Set the parameters of a solver."""
    given = current_settings()
    parameters.log_search_progress, parameters.log_to_stdout = given.log is not None, False
    for name, setting in (*given.cpsat.items(), *SETTINGS.items()):
        setattr(parameters, name, setting)
    parameters.num_workers = min(limits.threads, os.cpu_count() or 1)
    parameters.random_seed = seed % 2**31
    parameters.relative_gap_limit = limits.gap
    parameters.catch_sigint_signal = False  # its handler aborts the process outside the main thread
    if limits.time_s is not None:
        parameters.max_time_in_seconds = limits.time_s
    elif parameters.num_workers > 1:
        parameters.interleave_search = True  # racing threads would make the answer random
    if limits.work is not None:
        parameters.max_number_of_conflicts = limits.work
    if model.has_objective() and _has_wide_objective(model):
        parameters.binary_search_num_conflicts = _BISECTION_CONFLICTS


def _reporter(model: Any, solver: Any, report: Report | None) -> Any:
    """Let a solver report each better assignment and bound; return its solution callback."""
    if report is None or not model.has_objective():
        return None
    from ortools.sat.python import cp_model, cp_model_helper

    version = version_of(NAME)
    last, tell = Outcome(Status.LIMIT, None, None, None, version), report

    class Reporter(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            nonlocal last
            response = self.response_proto
            value, bound = _objective(model, response)
            value_of = partial(cp_model_helper.ResponseHelper.value, response)
            last = Outcome(Status.FEASIBLE, value, bound, value_of, version)
            tell(last)

    def report_bound(bound: float) -> None:
        nonlocal last
        if abs(bound) < MAX_EXACT_FLOAT:
            last = replace(last, bound=round(bound))
            tell(last)

    solver.best_bound_callback = report_bound
    return Reporter()


def _has_wide_objective(model: Any) -> bool:
    """Return whether an objective of two or more variables has one with a wide domain."""
    indices = model.proto.objective.vars
    if len(indices) < 2:
        return False
    domains = (model.proto.variables[index].domain for index in indices)
    # The domain of a protobuf message does not support the index -1: hence max and min.
    return any(max(domain) - min(domain) >= WIDE_DOMAIN for domain in domains)


def _objective(model: Any, response: Any) -> tuple[int, int]:
    """Return the objective value of the assignment and the dual bound, both in integers.

    CP-SAT reports both as floats too, which are rounded beyond 2^53.
    """
    goal = model.proto.objective
    sign, constant = (-1 if goal.scaling_factor < 0 else 1), round(goal.offset)
    terms = list(zip(goal.vars, goal.coeffs, strict=True))
    value = sum(factor * response.solution[index] for index, factor in terms)
    bound = response.inner_objective_lower_bound
    if value < bound:  # it contradicts itself: fall back on the bound of the variables' domains
        domains = [(model.proto.variables[index].domain, factor) for index, factor in terms]
        bound = sum(min(factor * end for end in domain) for domain, factor in domains)
    return sign * (value + constant), sign * (bound + constant)


def _cp_model() -> Any:
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise SolverError("OR-Tools is missing: pip install 'ortools>=9.15,<9.16'") from error
    return cp_model
