"""Interface to LP and MILP solvers, through PuLP.

HiGHS is the default. It and OR-Tools both ship a library named libhighs, and only matching
versions can be loaded in one process: hence the pinned versions in the project file.

>>> problem = pulp.LpProblem("knapsack", pulp.LpMaximize)
>>> x, y = (problem.add_variable(name, 0, 1, pulp.LpInteger) for name in "xy")
>>> problem.setObjective(linear([(3, x), (2, y)]))
>>> problem += linear([(2, x), (2, y)]) <= 3
>>> outcome = optimise(problem, Limits())
>>> str(outcome.status), outcome.value, outcome[x]
('optimal', 3.0, 1.0)
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

import pulp

from dlopt.arithmetic import Number
from dlopt.backends import exact_lp, external, highs
from dlopt.backends.linear_program import BasisStatus
from dlopt.backends.outcomes import HighsUnits, reporter
from dlopt.backends.outcomes import Outcome as Outcome
from dlopt.backends.outcomes import Report as Report
from dlopt.backends.scales import Scaling, is_readable, scaled_program, scaling_of
from dlopt.errors import NotApplicableError, SolverError
from dlopt.result import Limits, Status

DEFAULT = "HiGHS"
"""Name of the default solver, as PuLP knows it."""

UNPROVEN = "optimality not proven: the coefficients differ by too many orders of magnitude"
"""Reason for the status ``UNKNOWN`` of a linear program."""

UNCERTIFIED = "dual bound (floating point, not certified)"
"""What the bound of a MILP is called after the name of its solver, where results state a proof."""

Term: TypeAlias = tuple[Number, pulp.LpVariable]
"""A coefficient and a variable."""


def optimise(
    problem: pulp.LpProblem,
    limits: Limits,
    *,
    solver: str = DEFAULT,
    seed: int = 0,
    exact: bool = False,
    presolve: bool = True,
    report: Report | None = None,
) -> Outcome:
    """Solve a model.

    Parameters
    ----------
    problem : pulp.LpProblem
        Coefficients may be fractions; solvers read them as floats.
    limits : Limits
    solver : str
        Any name that ``pulp.listSolvers()`` gives.
    seed : int
    exact : bool
        Certify the solver's basis in rational arithmetic (linear programs with HiGHS only); where
        that fails, the floating-point answer is returned.
    presolve : bool
        Let HiGHS transform the program first. HiGHS 1.12 has called false optima of programs with
        big-M constraints, of some with presolve, of others without.
    report : callable, optional
        Called with what HiGHS knows in the middle of a branch and bound: after each better
        assignment, and each better bound. Other solvers report nothing.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name.
    SolverError
        If the solver is not installed, or fails.

    Notes
    -----
    The status is ``UNKNOWN``, without value, bound and assignment, if the coefficients of a linear
    program differ by so many orders of magnitude that HiGHS can only read a scaled program, and
    its basis cannot be certified; see `UNPROVEN`.
    """
    if solver == DEFAULT:
        return solve_by_highs(problem, limits, seed, exact, presolve=presolve, report=report)
    return _solve_by_pulp(problem, limits, solver)


def refuse_unknown(solver: str) -> None:
    """Raise if PuLP knows no solver of that name.

    Raises
    ------
    NotApplicableError
    """
    # To list them, PuLP makes one of each, and looks for its command in all folders of the path.
    if solver != DEFAULT and solver not in pulp.listSolvers():
        raise NotApplicableError(
            f"PuLP knows no solver {solver!r}: {', '.join(pulp.listSolvers())}"
        )


def linear(terms: Iterable[Term]) -> pulp.LpAffineExpression:
    """Return the sum of coefficients times variables, without rounding.

    PuLP's own sums and products start from the float 0.0 (``lpSum``, a zero coefficient), and so
    convert fractions to floats before a solver or a certificate gets them.

    Parameters
    ----------
    terms : iterable of (Number, LpVariable)
        A variable may occur more than once.
    """
    coefficients: dict[Any, Number] = {}
    for coefficient, variable in terms:
        coefficients[variable] = coefficients.get(variable, 0) + coefficient
    return pulp.LpAffineExpression(coefficients, constant=0)


def in_floats(proof: Outcome) -> Outcome:
    """Return a certified optimum rounded to floats, for a model whose numbers are floats.

    Raises
    ------
    SolverError
        If a number is larger than any float.
    """
    try:
        values = {name: float(value) for name, value in proof.assignment.items()}
        value = None if proof.value is None else float(proof.value)
    except OverflowError as error:
        raise SolverError("the optimum is larger than any float") from error
    return replace(proof, value=value, bound=value, assignment=values, proven=False)


MAX_COEFFICIENT = 1e15
"""HiGHS refuses a row with a larger coefficient; PuLP does not report it."""
LAST_ATTEMPT_TOLERANCE = 1e-7
"""MIP feasibility tolerance of the last attempt, stricter than the default of 1e-6, with which
HiGHS may reject its own optimum by a rounding error."""


def _highs_command(limits: Limits, seed: int, *, strict: bool, presolve: bool) -> pulp.HiGHS:
    """Return HiGHS with its options, `strict` with those of the last attempt."""
    import highspy

    # Feasibility tolerances stay at their defaults: tighter ones have made HiGHS answer wrongly.
    options: dict[str, Any] = {"random_seed": seed}
    if not presolve:
        options["presolve"] = "off"
    if strict:
        options["mip_feasibility_tolerance"] = LAST_ATTEMPT_TOLERANCE
    if limits.work is not None:
        options["mip_max_nodes"] = limits.work
        options["simplex_iteration_limit"] = limits.work
    # HiGHS has one thread pool per process and refuses to change its size without a reset.
    highspy.Highs.resetGlobalScheduler(True)
    command = pulp.HiGHS(
        msg=False,
        threads=min(limits.threads, os.cpu_count() or 1),
        timeLimit=limits.time_s,
        gapRel=limits.gap,
        gapAbs=0.0,
        **options,
    )
    if not command.available():
        raise SolverError("HiGHS is not available: pip install 'highspy>=1.12,<1.13'")
    return command


def solve_by_highs(
    problem: pulp.LpProblem,
    limits: Limits,
    seed: int,
    exact: bool,
    attempts: int = 3,
    scaled: bool = False,
    *,
    presolve: bool = True,
    report: Report | None = None,
) -> Outcome:
    """Solve a model by HiGHS; again with another seed, or scaled, where it ends in an error."""
    import highspy

    command = _highs_command(limits, seed, strict=attempts == 1, presolve=presolve)
    solved, scaling, row_indices = _scaled_problem(problem, scaled)
    units = HighsUnits(problem, scaling)
    reported = None if report is None else reporter(units, DEFAULT, report)
    command.callSolver = lambda lp: highs.run(lp.solverModel, reported)
    again = partial(solve_by_highs, problem, limits, exact=exact, presolve=presolve, report=report)
    # PuLP has no status for a node limit (KeyError); it is read from HiGHS below. Nor does it know
    # that HiGHS refused a row, and then reads beyond the last one (IndexError).
    with contextlib.suppress(KeyError, IndexError):
        _run(solved, command)
    model = problem.solverModel = solved.solverModel
    refused = solved.numConstraints() - model.getNumRow()
    if refused:
        raise SolverError(
            f"HiGHS refuses {refused} row(s), whose coefficients reach {MAX_COEFFICIENT:g}"
        )
    model_status = model.getModelStatus()
    known = highspy.HighsModelStatus
    statuses = {
        known.kOptimal: Status.OPTIMAL,
        known.kInfeasible: Status.INFEASIBLE,
        known.kTimeLimit: Status.LIMIT,
        known.kIterationLimit: Status.LIMIT,
        known.kSolutionLimit: Status.LIMIT,
        known.kInterrupt: Status.LIMIT,
    }
    if model_status == known.kSolveError and attempts > 1:
        # Its branch and bound fails now and then; with another seed it does not. Or it reports
        # its own optimum as an error, because it violates the tolerance by a rounding error.
        return again(seed + 1, attempts=attempts - 1, scaled=scaled)
    if model_status not in statuses:
        if scaling is None and not scaled:
            return again(seed, attempts=attempts, scaled=True)
        raise SolverError(f"HiGHS ended with {model.modelStatusToString(model_status)!r}")
    status = statuses[model_status]
    if status is Status.OPTIMAL and (exact or scaling is not None) and not problem.isMIP():
        proof = _certified_outcome(problem, limits, row_indices)
        if proof is not None:
            return proof if exact else in_floats(proof)
        if scaling is not None:
            # Scaling omits small terms: the optimal point is then none of the program's, and its
            # value an uncertified bound of a solver that did not get the whole program.
            version = str(problem.solverModel.version())
            return Outcome(Status.UNKNOWN, None, None, {}, False, DEFAULT, version)
    return _solver_outcome(problem, status, limits, units)


def _solver_outcome(
    problem: pulp.LpProblem, status: Status, limits: Limits, units: HighsUnits
) -> Outcome:
    """Return the answer of HiGHS, in floats, in the units of the problem."""
    model, mixed = problem.solverModel, bool(problem.isMIP())
    info, version = model.getInfo(), str(model.version())
    has_plan = info.primal_solution_status == 2  # kSolutionStatusFeasible
    value = units.value(info.objective_function_value) if has_plan else None
    bound = units.bound(info.mip_dual_bound) if mixed else None
    if status is Status.OPTIMAL and not mixed:
        bound = value
    if status is Status.OPTIMAL and mixed and limits.gap > 0 and value != bound:
        status = Status.FEASIBLE
    values = units.assignment(model.getSolution().col_value) if has_plan else {}
    return Outcome(status, value, bound, values, False, DEFAULT, version)


def _scaled_problem(
    problem: pulp.LpProblem, always: bool
) -> tuple[pulp.LpProblem, Scaling | None, Sequence[int]]:
    """Return a scaled problem that HiGHS can read, or the problem itself if it is readable.

    The last of the three gives, for each row of the returned problem, its index in the original.
    """
    rows, variables = problem.constraints(), problem.variables()
    ends = [end for variable in variables for end in (variable.lowBound, variable.upBound)]
    ends += [row.constant for row in rows]
    coefficients = chain.from_iterable(row.values() for row in (problem.objective or {}, *rows))
    if not problem.objective or (not always and is_readable(coefficients, ends)):
        return problem, None, range(len(rows))
    program = exact_lp.from_pulp(problem)
    integral = {j for j, variable in enumerate(variables) if variable.cat == pulp.LpInteger}
    scaling = scaling_of(program, integral)
    program = scaled_program(program, scaling)
    scaled = pulp.LpProblem(problem.name, problem.sense)
    columns = [
        scaled.add_variable(variable.name, low, high, variable.cat)
        for variable, (low, high) in zip(variables, program.column_bounds, strict=True)
    ]
    costs = zip(program.costs, columns, strict=True)
    scaled.setObjective(linear((program.sense * cost, column) for cost, column in costs))
    row_indices = []
    for index, (terms, (low, high)) in enumerate(
        zip(program.rows, program.row_bounds, strict=True)
    ):
        row = linear((a, columns[j]) for j, a in terms)
        if low is None and high is None:  # its small terms were omitted, and nothing is left
            continue
        row_indices.append(index)
        if low is not None and low == high:
            scaled += row == high
        elif high is not None:
            scaled += row <= high
        else:
            scaled += row >= low
    return scaled, scaling, row_indices


def _certified_outcome(
    problem: pulp.LpProblem, limits: Limits, row_indices: Sequence[int]
) -> Outcome | None:
    """Return the optimum with a proof in fractions, from the basis of the solved problem."""
    program = exact_lp.from_pulp(problem)
    columns, row_statuses = exact_lp.basis_from_highs(problem.solverModel)
    rows = [BasisStatus.BASIC] * len(program.rows)
    for index, row_status in zip(row_indices, row_statuses, strict=True):
        rows[index] = row_status
    certificate = exact_lp.certify(program, columns, rows, time_s=limits.time_s)
    if certificate is None:
        return None
    names = (variable.name for variable in problem.variables())
    return Outcome(
        Status.OPTIMAL,
        certificate.value,
        certificate.value,
        dict(zip(names, certificate.primal, strict=True)),
        True,
        DEFAULT,
        str(problem.solverModel.version()),
    )


def _solve_by_pulp(problem: pulp.LpProblem, limits: Limits, solver: str) -> Outcome:
    refuse_unknown(solver)
    options: dict[str, Any] = {"msg": False}
    if limits.time_s is not None:
        options["timeLimit"] = limits.time_s
    if limits.gap > 0:
        options["gapRel"] = limits.gap
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        # PuLP warns of solver interfaces that its next version drops.
        try:
            command = pulp.getSolver(solver, **options)
        except TypeError as error:
            raise SolverError(f"{solver} does not take these limits: {error}") from error
        if not command.available():
            raise SolverError(f"the solver {solver} is not installed")
        with external.managed_process(command):
            _run(problem, command)
    solution = {
        pulp.LpSolutionOptimal: Status.OPTIMAL,
        pulp.LpSolutionIntegerFeasible: Status.FEASIBLE,
        pulp.LpSolutionInfeasible: Status.INFEASIBLE,
        pulp.LpSolutionNoSolutionFound: Status.LIMIT,
    }
    if problem.sol_status not in solution:
        raise SolverError(f"{solver} ended with {pulp.LpStatus[problem.status]!r}")
    status = solution[problem.sol_status]
    has_plan = status in (Status.OPTIMAL, Status.FEASIBLE)
    value = float(pulp.value(problem.objective)) if has_plan else None
    if status is Status.OPTIMAL and limits.gap > 0 and problem.isMIP():
        status = Status.FEASIBLE
    # PuLP does not return the dual bound of other solvers: only an optimum has one.
    bound = value if status is Status.OPTIMAL else None
    values = {v.name: v.varValue or 0.0 for v in problem.variables()} if has_plan else {}
    return Outcome(status, value, bound, values, False, solver, None)


def _run(problem: pulp.LpProblem, command: Any) -> None:
    try:
        problem.solve(command)
    except pulp.PulpSolverError as error:
        raise SolverError(f"{command.name} failed: {error}") from error
