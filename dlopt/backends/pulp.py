"""The door to LP and MILP solvers, through PuLP.

HiGHS is the default. It and OR-Tools both ship a library named libhighs, and only matching
versions live in one process: hence the pins in the project file.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

import pulp

from dlopt.arithmetic import Number
from dlopt.backends import exact_lp, external
from dlopt.backends.linear_program import BasisStatus
from dlopt.backends.output import solver_output_to_stderr
from dlopt.backends.scales import Scales, in_units, is_readable, scales, times_power
from dlopt.errors import NotApplicableError, SolverError
from dlopt.result import Limits, Status

DEFAULT = "HiGHS"
"""Name of the default solver, as PuLP knows it."""

UNPROVEN = "no optimum was proven, in time, of a program whose numbers lie far apart"
"""What the status ``UNKNOWN`` of a linear program says."""


Term: TypeAlias = tuple[Number, pulp.LpVariable]
"""A coefficient and a variable."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a solver says of a model.

    Parameters
    ----------
    status : Status
        ``OPTIMAL`` is the solver's own word; with `proven` it is a rational proof. ``UNKNOWN``
        says that neither is to be had, see `UNPROVEN`.
    value, bound : Number or None
        Objective of the assignment, and what no assignment is better than, in the sense of the
        model.
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


def optimise(
    problem: pulp.LpProblem,
    limits: Limits,
    *,
    solver: str = DEFAULT,
    seed: int = 0,
    exact: bool = False,
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
        Turn the solver's basis into a rational proof. Linear programs with HiGHS only; where the
        basis does not lead to one, the floating answer is returned.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name.
    SolverError
        If the solver is not installed, or fails.

    Notes
    -----
    The status is ``UNKNOWN``, without value, bound and assignment, if the numbers of a linear
    program lie so far apart that HiGHS reads them in other units only, and its basis leads to no
    proof; see `UNPROVEN`.
    """
    if solver == DEFAULT:
        return _highs(problem, limits, seed, exact)
    return _other(problem, limits, solver)


def refuse_unknown(solver: str) -> None:
    """Raise if PuLP knows no solver of that name.

    Raises
    ------
    NotApplicableError
    """
    if solver not in pulp.listSolvers():
        raise NotApplicableError(
            f"PuLP knows no solver {solver!r}: {', '.join(pulp.listSolvers())}"
        )


def linear(terms: Iterable[Term]) -> pulp.LpAffineExpression:
    """Return the sum of coefficients times variables, without rounding.

    PuLP's own sums and products start from the float 0.0 (``lpSum``, a zero coefficient), and so
    turn fractions into floats before a solver or a proof sees them.

    Parameters
    ----------
    terms : iterable of (Number, LpVariable)
        A variable may stand there more than once.
    """
    coefficients: dict[Any, Number] = {}
    for coefficient, variable in terms:
        coefficients[variable] = coefficients.get(variable, 0) + coefficient
    return pulp.LpAffineExpression(coefficients, constant=0)


def in_floats(proof: Outcome) -> Outcome:
    """Return a proven optimum as one in floats, for a model whose numbers are floats.

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


_LARGEST = 1e15
"""HiGHS refuses a row with a larger coefficient, and says so to its caller only."""
_TIGHTER = 1e-7
"""Tolerance of the last attempt, which keeps clear of the usual 1e-6."""


def _highs(
    problem: pulp.LpProblem,
    limits: Limits,
    seed: int,
    exact: bool,
    attempts: int = 3,
    scaled: bool = False,
) -> Outcome:
    import highspy

    # Feasibility tolerances stay at their defaults: tighter ones have made HiGHS answer wrongly.
    options: dict[str, Any] = {"random_seed": seed}
    if attempts == 1:
        options["mip_feasibility_tolerance"] = _TIGHTER
    if limits.work is not None:
        options["mip_max_nodes"] = limits.work
        options["simplex_iteration_limit"] = limits.work
    # HiGHS keeps one pool of threads a process and refuses to change its size on the way.
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
    asked, units, told = _in_units(problem, scaled)
    # PuLP has no word for a node limit; HiGHS says it below. Nor has it one for a row that HiGHS
    # refuses, and then reads beyond the last.
    with contextlib.suppress(KeyError, IndexError), solver_output_to_stderr():
        _run(asked, command)
    model = problem.solverModel = asked.solverModel
    refused = asked.numConstraints() - model.getNumRow()
    if refused:
        raise SolverError(f"HiGHS refuses {refused} row(s), whose coefficients reach {_LARGEST:g}")
    said = model.getModelStatus()
    known = highspy.HighsModelStatus
    statuses = {
        known.kOptimal: Status.OPTIMAL,
        known.kInfeasible: Status.INFEASIBLE,
        known.kTimeLimit: Status.LIMIT,
        known.kIterationLimit: Status.LIMIT,
        known.kSolutionLimit: Status.LIMIT,
        known.kInterrupt: Status.LIMIT,
    }
    if said == known.kSolveError and attempts > 1:
        # Its branch and bound loses its way now and then; from another seed it does not. Or it
        # calls its own optimum an error, which is beyond the tolerance by a rounding error.
        return _highs(problem, limits, seed + 1, exact, attempts - 1, scaled)
    if said not in statuses:
        if units is None and not scaled:
            return _highs(problem, limits, seed, exact, attempts, scaled=True)
        raise SolverError(f"HiGHS ended with {model.modelStatusToString(said)!r}")
    status = statuses[said]
    if status is Status.OPTIMAL and (exact or units is not None) and not problem.isMIP():
        proof = _prove(problem, limits, told)
        if proof is not None:
            return proof if exact else in_floats(proof)
        if units is not None:
            # Other units leave terms out: the point of an optimum then is none of the program's,
            # and its value is a bound by the word of a solver that did not see the whole program.
            version = str(problem.solverModel.version())
            return Outcome(Status.UNKNOWN, None, None, {}, False, DEFAULT, version)
    return _claimed(problem, status, limits, units)


def _claimed(
    problem: pulp.LpProblem, status: Status, limits: Limits, units: Scales | None
) -> Outcome:
    """Return what HiGHS says, in floats, in the units of the problem."""
    model, mixed = problem.solverModel, bool(problem.isMIP())
    info, version = model.getInfo(), str(model.version())
    has_plan = info.primal_solution_status == 2  # kSolutionStatusFeasible
    sign = -1 if problem.sense == pulp.LpMaximize else 1
    unit = 0 if units is None else -units.objective
    value = sign * times_power(info.objective_function_value, unit) if has_plan else None
    bound = _finite(sign * times_power(info.mip_dual_bound, unit)) if mixed else None
    if status is Status.OPTIMAL and not mixed:
        bound = value
    if status is Status.OPTIMAL and mixed and limits.gap > 0 and value != bound:
        status = Status.FEASIBLE
    values: dict[str, Number] = {}
    if has_plan:
        names = [variable.name for variable in problem.variables()]
        powers = [0] * len(names) if units is None else units.columns
        point = zip(model.getSolution().col_value, powers, strict=True)
        values = dict(zip(names, (times_power(x, power) for x, power in point), strict=True))
    return Outcome(status, value, bound, values, False, DEFAULT, version)


def _in_units(
    problem: pulp.LpProblem, always: bool
) -> tuple[pulp.LpProblem, Scales | None, Sequence[int]]:
    """Return a problem in units that HiGHS can read, itself if it can be read as it stands.

    The last of the three says which rows of the problem those of the returned one are.
    """
    rows, variables = problem.constraints(), problem.variables()
    ends = [end for one in variables for end in (one.lowBound, one.upBound)]
    ends += [row.constant for row in rows]
    coefficients = chain.from_iterable(row.values() for row in (problem.objective or {}, *rows))
    if not problem.objective or (not always and is_readable(coefficients, ends)):
        return problem, None, range(len(rows))
    program = exact_lp.from_pulp(problem)
    units = scales(program, {j for j, one in enumerate(variables) if one.cat == pulp.LpInteger})
    program = in_units(program, units)
    twin = pulp.LpProblem(problem.name, problem.sense)
    own = [
        twin.add_variable(one.name, low, high, one.cat)
        for one, (low, high) in zip(variables, program.column_bounds, strict=True)
    ]
    prices = zip(program.costs, own, strict=True)
    twin.setObjective(linear((program.sense * cost, one) for cost, one in prices))
    told = []
    for at, (terms, (low, high)) in enumerate(zip(program.rows, program.row_bounds, strict=True)):
        row = linear((a, own[j]) for j, a in terms)
        if low is None and high is None:  # all that it says is too small beside the rest
            continue
        told.append(at)
        if low is not None and low == high:
            twin += row == high
        elif high is not None:
            twin += row <= high
        else:
            twin += row >= low
    return twin, units, told


def _prove(problem: pulp.LpProblem, limits: Limits, told: Sequence[int]) -> Outcome | None:
    """Return the optimum with a proof in fractions, from the basis of the rows that were told."""
    program = exact_lp.from_pulp(problem)
    columns, found = exact_lp.statuses_from_highs(problem.solverModel)
    rows = [BasisStatus.BASIC] * len(program.rows)
    for at, row_status in zip(told, found, strict=True):
        rows[at] = row_status
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


def _other(problem: pulp.LpProblem, limits: Limits, solver: str) -> Outcome:
    refuse_unknown(solver)
    options: dict[str, Any] = {"msg": False}
    if limits.time_s is not None:
        options["timeLimit"] = limits.time_s
    if limits.gap > 0:
        options["gapRel"] = limits.gap
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        # PuLP warns of what its next version will do without.
        try:
            command = pulp.getSolver(solver, **options)
        except TypeError as error:
            raise SolverError(f"{solver} does not take these limits: {error}") from error
        if not command.available():
            raise SolverError(f"the solver {solver} is not installed")
        with external.kept(command):
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
    # PuLP does not pass on the bound of other solvers: only an optimum has one.
    bound = value if status is Status.OPTIMAL else None
    values = {v.name: v.varValue or 0.0 for v in problem.variables()} if has_plan else {}
    return Outcome(status, value, bound, values, False, solver, None)


def _run(problem: pulp.LpProblem, command: Any) -> None:
    try:
        problem.solve(command)
    except pulp.PulpSolverError as error:
        raise SolverError(f"{command.name} failed: {error}") from error


def _finite(number: float) -> float | None:
    return number if abs(number) < 1e100 else None
