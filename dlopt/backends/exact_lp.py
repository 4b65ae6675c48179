"""Exact linear programming: an optimal basis of a floating-point solver is certified in fractions.

The solver is trusted for one thing only, which variables are basic. The basis is solved again
over the rationals (`dlopt.backends.dixon_lifting`), repaired by exact simplex pivots where
tolerances misled the solver (`dlopt.backends.exact_simplex`), and the result is a `Certificate`
that `dlopt.backends.linear_program.verify` has checked without any of that code.

>>> one = Fraction(1)
>>> program = LinearProgram(1, (one,), (((0, 3 * one),),), ((one, None),), ((0 * one, None),))
>>> proof = certify(program, [BasisStatus.BASIC], [BasisStatus.AT_LOWER])  # min x with 3 x >= 1
>>> proof.value, proof.dual
(Fraction(1, 3), (Fraction(1, 3),))
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from math import inf, isinf
from typing import TYPE_CHECKING, Any

from dlopt.backends.exact_simplex import Simplex
from dlopt.backends.linear_program import BasisStatus, Certificate, LinearProgram, verify
from dlopt.errors import SolverError

if TYPE_CHECKING:
    import pulp


def from_pulp(problem: pulp.LpProblem) -> LinearProgram:
    """Convert a PuLP problem exactly; a float is converted to the binary fraction that it is.

    Call it after the solve: PuLP adds a variable of its own to a problem without an objective.
    Integrality is dropped, so fix the discrete decisions by bounds first.

    Notes
    -----
    Build exact problems by `dlopt.backends.pulp.linear`: PuLP's own sums and products round.
    """
    variables = problem.variables()
    index = {id(variable): j for j, variable in enumerate(variables)}
    sense = int(problem.sense)
    costs = [Fraction(0)] * len(variables)
    objective = problem.objective
    for variable, coefficient in objective.items() if objective is not None else ():
        costs[index[id(variable)]] = sense * Fraction(coefficient)
    constraints = problem.constraints()
    sides = [(int(row.sense), -Fraction(row.constant)) for row in constraints]
    return LinearProgram(
        columns=len(variables),
        costs=tuple(costs),
        rows=tuple(
            tuple((index[id(variable)], Fraction(value)) for variable, value in row.items())
            for row in constraints
        ),
        row_bounds=tuple((b if s >= 0 else None, b if s <= 0 else None) for s, b in sides),
        column_bounds=tuple((_bound(v.lowBound), _bound(v.upBound)) for v in variables),
        offset=Fraction(0 if objective is None else objective.constant),
        sense=sense,
    )


def _bound(value: Any) -> Fraction | None:
    return None if value is None or isinf(value) else Fraction(value)


def basis_from_highs(model: Any) -> tuple[list[BasisStatus], list[BasisStatus]]:
    """Return the basis, column and row statuses, of a solved ``highspy.Highs``.

    With PuLP that is the ``solverModel`` of the problem.

    Raises
    ------
    SolverError
        If HiGHS holds no basis, as after an integer solve or an interior point without crossover.
    """
    basis = model.getBasis()
    if not basis.valid:
        raise SolverError("HiGHS holds no valid basis for this problem")
    names = {"kBasic": BasisStatus.BASIC, "kLower": BasisStatus.AT_LOWER}
    names["kUpper"] = BasisStatus.AT_UPPER
    return (
        [names.get(status.name, BasisStatus.FREE) for status in basis.col_status],
        [names.get(status.name, BasisStatus.FREE) for status in basis.row_status],
    )


def certify(
    program: LinearProgram,
    column_status: Sequence[int],
    row_status: Sequence[int],
    *,
    max_pivots: int = 200,
    time_s: float | None = None,
) -> Certificate | None:
    """Return a proof of optimality from a basis, with exact pivots where it is not optimal.

    A basis that is neither primal nor dual feasible is first made dual feasible by shifting
    costs; the dual simplex then makes it primal feasible, the primal simplex with the true costs
    optimal, both by Bland's rule. Dependent columns are replaced by the slacks of their rows.

    Parameters
    ----------
    program : LinearProgram
        The program.
    column_status, row_status : sequence of int
        A `BasisStatus` per column and per row; a status that its bounds contradict is adjusted.
    max_pivots : int
        Largest number of pivots and bound flips.
    time_s : float, optional
        Seconds after which to give up.

    Returns
    -------
    Certificate or None
        None if the program is infeasible or unbounded, or pivots or time ran out. A certificate
        has passed `verify`.
    """
    if (len(column_status), len(row_status)) != (program.columns, len(program.rows)):
        raise ValueError("a basis needs one status per column and per row")
    stop = inf if time_s is None else time.monotonic() + time_s
    try:
        simplex = Simplex(program, [*column_status, *row_status], max_pivots, stop)
        if not (simplex.make_feasible() and simplex.make_optimal()):
            return None
        certificate = simplex.certificate(program)
    except TimeoutError:
        return None
    return certificate if verify(program, certificate) else None
