"""Interface to HiGHS without PuLP, for a linear program that is re-solved as its bounds change.

>>> one = Fraction(1)
>>> bounds = (Fraction(0), one), (Fraction(0), one)
>>> row = (0, one), (1, 2 * one)
>>> program = LinearProgram(2, (-one, -one), (row,), ((None, 2 * one),), bounds)
>>> LinearSolver(program).solve().point  # maximise x + y subject to x + 2 y <= 2
[1.0, 0.5]
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import inf
from typing import Any

from dlopt.backends.linear_program import LinearProgram, Row
from dlopt.backends.output_redirection import solver_output_to_stderr
from dlopt.backends.scales import (
    Scaling,
    add_scaled_row,
    is_readable,
    scaled_program,
    scaling_of,
    times_power,
)
from dlopt.backends.solver_settings import current_settings
from dlopt.errors import SolverError
from dlopt.interruption import ended_by
from dlopt.result import Limits, Status

NAME = "HiGHS"
MIP_FEASIBILITY_TOLERANCE = 1e-9
"""Primal and dual feasibility tolerance of the LPs in a HiGHS branch and bound; with the default,
1e-7, its bound was wrong in the sixth digit. HiGHS accepts nothing below 1e-10."""


@dataclass(frozen=True, slots=True)
class LpSolution:
    """The answer of HiGHS to a linear program, in floats.

    Parameters
    ----------
    status : Status
        ``OPTIMAL``, ``INFEASIBLE`` or ``LIMIT``.
    point : sequence of float
        An optimal solution; empty if there is none.
    multipliers : sequence of float
        One per row: the dual solution of an optimum, the dual ray of an infeasible program if
        HiGHS has one; else empty.
    """

    status: Status
    point: Sequence[float] = ()
    multipliers: Sequence[float] = ()


def run(
    model: Any, report: Callable[[Any], object] | None = None, *, integral: bool = True
) -> None:
    """Run HiGHS on a model; it ends early if the work around it is given up.

    What it prints by itself in a branch and bound goes to standard error.

    Parameters
    ----------
    model : highspy.Highs
    report : callable, optional
        Called from time to time in a branch and bound, and after each better point, with what
        HiGHS says of it (``highspy.cb.HighsCallbackOutput``).
    integral : bool, default True
        Whether the model may have integral variables.
    """
    from highspy import cb

    kinds = cb.HighsCallbackType
    mip = kinds.kCallbackMipInterrupt, kinds.kCallbackMipImprovingSolution
    is_ended, given = threading.Event(), current_settings()

    def look(kind: Any, message: str, known: Any, reply: Any, data: Any) -> None:
        if kind != kinds.kCallbackMipImprovingSolution and is_ended.is_set():
            reply.user_interrupt = True
        if report is not None and kind in mip:
            report(known)
        if given.log is not None and kind == kinds.kCallbackLogging:
            given.log(message)

    for name, value in given.highs.items():
        model.setOptionValue(name, value)
    model.setCallback(look, None)
    if given.log is not None:
        model.setOptionValue("output_flag", True)  # to the callback, and not to the console
        model.startCallback(kinds.kCallbackLogging)
    for kind in (*mip, kinds.kCallbackSimplexInterrupt, kinds.kCallbackIpmInterrupt):
        model.startCallback(kind)
    printing = solver_output_to_stderr() if integral else contextlib.nullcontext()
    with ended_by(is_ended.set), printing:
        model.run()
    model.setCallback(None, None)
    if given.log is not None:
        model.setOptionValue("output_flag", False)


class FloatSolver:
    """HiGHS for small linear programs in floats, each solved from the start.

    Parameters
    ----------
    seed : int

    Examples
    --------
    >>> FloatSolver(0).minimise([1.0], [0.0], [([0], [2.0])], [3.0])
    [1.5]
    """

    def __init__(self, seed: int) -> None:
        import highspy
        import numpy as np

        self.highspy, self.numpy = highspy, np
        highspy.Highs.resetGlobalScheduler(True)
        self.model = highspy.Highs()
        options = {"output_flag": False, "threads": 1, "presolve": "off"}
        for name, value in (options | {"random_seed": seed % 2**31}).items():
            self.model.setOptionValue(name, value)

    def minimise(
        self,
        costs: Sequence[float],
        lower: Sequence[float],
        rows: Sequence[tuple[Sequence[int], Sequence[float]]],
        sides: Sequence[float],
    ) -> Sequence[float]:
        """Return an optimal point with ``x >= lower`` and ``rows x >= sides``; empty without one.

        Each row has its columns and their coefficients.
        """
        np, arrays = self.numpy, self.highspy.HighsLp()
        arrays.num_col_, arrays.num_row_ = len(costs), len(rows)
        arrays.col_cost_, arrays.col_lower_ = np.array(costs), np.array(lower)
        arrays.col_upper_ = np.full(len(costs), inf)
        arrays.row_lower_, arrays.row_upper_ = np.array(sides), np.full(len(rows), inf)
        matrix = arrays.a_matrix_
        matrix.format_ = self.highspy.MatrixFormat.kRowwise
        matrix.start_ = np.cumsum([0, *(len(columns) for columns, _ in rows)]).astype(np.int32)
        columns = chain.from_iterable(columns for columns, _ in rows)
        matrix.index_ = np.fromiter(columns, np.int32)
        matrix.value_ = np.fromiter(chain.from_iterable(values for _, values in rows), float)
        self.model.passModel(arrays)
        self.model.run()
        if self.model.getModelStatus() != self.highspy.HighsModelStatus.kOptimal:
            return []
        point: list[float] = list(self.model.getSolution().col_value)
        return point


class LinearSolver:
    """A linear program inside HiGHS; each solve warm-starts from the last basis.

    Parameters
    ----------
    program : LinearProgram
        Its objective is minimised.
    seed : int
    stop : float
        Instant of the monotonic clock at which a solve is interrupted.
    interior : bool
        Whether to solve by an interior point method without crossover: faster where bases are
        large, but its optimum is no vertex and no solve is warm-started.

    Raises
    ------
    SolverError
        If HiGHS is missing.
    """

    def __init__(
        self, program: LinearProgram, seed: int = 0, stop: float = inf, *, interior: bool = False
    ) -> None:
        try:
            import highspy
        except ImportError as error:
            raise SolverError("HiGHS is missing: pip install 'highspy>=1.12,<1.13'") from error
        import numpy as np

        self.highspy, self.numpy, self.stop = highspy, np, stop
        # HiGHS has one thread pool per process and refuses to change its size without a reset.
        highspy.Highs.resetGlobalScheduler(True)
        self.model = highspy.Highs()
        options = {
            "output_flag": False,
            "random_seed": seed % 2**31,
            "threads": 1,
            "parallel": "off",
        }
        if interior:
            options |= {"solver": "ipm", "run_crossover": "off"}
        for name, value in options.items():
            self.model.setOptionValue(name, value)
        self.units = self._scaling_of(program)
        self.model.passModel(self._highs_lp(program))
        self.version = str(self.model.version())
        self.solves, self.has_integers = 0, False

    def solve(self) -> LpSolution:
        """Solve the program with its present bounds and rows."""
        statuses = self.highspy.HighsModelStatus
        # Presolve pays off in the first solve only; without it an infeasible program has a ray.
        for presolve in ("off",) if self.solves else ("choose", "off"):
            self.solves += 1
            self.model.setOptionValue("presolve", presolve)
            self._set_time_limit()
            run(self.model, integral=self.has_integers)
            status = self.model.getModelStatus()
            if status == statuses.kOptimal:
                answer = self.model.getSolution()
                point, multipliers = self._in_original_units(answer.col_value, answer.row_dual)
                return LpSolution(Status.OPTIMAL, point, multipliers)
        if status == statuses.kInfeasible:
            _, has_ray, ray = self.model.getDualRay()
            _, multipliers = self._in_original_units((), ray.tolist() if has_ray else ())
            return LpSolution(Status.INFEASIBLE, (), multipliers)
        return LpSolution(Status.LIMIT)

    def solve_integral(
        self, columns: Sequence[int], limits: Limits
    ) -> tuple[float | None, Sequence[float]]:
        """Solve the program with some columns integral, by the branch and cut of HiGHS.

        Parameters
        ----------
        columns : sequence of int
        limits : Limits
            `work` counts branch-and-bound nodes.

        Returns
        -------
        tuple of (float or None, sequence of float)
            The dual bound of HiGHS (floating point, not certified), None if there is none; an
            optimal solution, empty if none was reached.
        """
        for column in columns:
            self.model.changeColIntegrality(column, self.highspy.HighsVarType.kInteger)
        self.has_integers = True
        self.model.setOptionValue("presolve", "choose")
        self.model.setOptionValue("mip_rel_gap", 0.0)
        for side in ("primal", "dual"):
            self.model.setOptionValue(f"{side}_feasibility_tolerance", MIP_FEASIBILITY_TOLERANCE)
        if limits.work is not None:
            self.model.setOptionValue("mip_max_nodes", limits.work)
        # Unlike linear programs, branch and bound begins at 0 on its clock.
        self.model.setOptionValue("time_limit", max(self.stop - time.monotonic(), 0.0))
        run(self.model)
        info = self.model.getInfo()
        bound = float(info.mip_dual_bound) if info.valid else -inf  # 0 after an error
        point: Sequence[float] = ()
        if self.model.getModelStatus() == self.highspy.HighsModelStatus.kOptimal:
            point, _ = self._in_original_units(self.model.getSolution().col_value, ())
        if self.units is not None:
            bound = times_power(bound, -self.units.objective)
        return (bound if abs(bound) < inf else None), point

    def set_bounds(self, column: int, lower: float, upper: float) -> None:
        """Change the bounds of a variable."""
        power = 0 if self.units is None else -self.units.columns[column]
        self.model.changeColBounds(column, times_power(lower, power), times_power(upper, power))

    def set_upper(self, columns: Sequence[int], upper: float) -> None:
        """Set the bounds of some variables to 0 and a common upper bound."""
        if self.units is not None:
            for column in columns:
                self.set_bounds(column, 0.0, upper)
            return
        np, count = self.numpy, len(columns)
        places = np.asarray(columns, np.int32)
        self.model.changeColsBounds(count, places, np.zeros(count), np.full(count, upper))

    def add(self, row: Row) -> None:
        """Add a constraint."""
        terms, lower, upper = row
        if self.units is not None:
            self.units, (terms, lower, upper) = add_scaled_row(self.units, row)
        self.model.addRow(
            -inf if lower is None else float(lower),
            inf if upper is None else float(upper),
            len(terms),
            self.numpy.array([j for j, _ in terms], dtype=self.numpy.int32),
            self.numpy.array([float(a) for _, a in terms]),
        )

    def _set_time_limit(self) -> None:
        if self.stop < inf:
            left = max(self.stop - time.monotonic(), 0.0)
            self.model.setOptionValue("time_limit", self.model.getRunTime() + left)

    def _scaling_of(self, program: LinearProgram) -> Scaling | None:
        pairs = (*program.row_bounds, *program.column_bounds)
        coefficients = chain(program.costs, (a for terms in program.rows for _, a in terms))
        if is_readable(coefficients, (end for pair in pairs for end in pair)):
            return None
        # Which columns will be integral is not known yet: binaries have the bounds 0 and 1.
        unit = Fraction(0), Fraction(1)
        unscaled = {j for j, ends in enumerate(program.column_bounds) if ends == unit}
        return scaling_of(program, unscaled)

    def _in_original_units(
        self, point: Sequence[float], multipliers: Sequence[float]
    ) -> tuple[Sequence[float], Sequence[float]]:
        """Return a point and multipliers in the units of the program as it was given."""
        if self.units is None:
            return point, multipliers
        return (
            [times_power(x, power) for x, power in zip(point, self.units.columns, strict=False)],
            [
                times_power(y, power - self.units.objective)
                for y, power in zip(multipliers, self.units.rows, strict=False)
            ],
        )

    def _highs_lp(self, program: LinearProgram) -> Any:
        np = self.numpy
        if self.units is not None:
            program = scaled_program(program, self.units)

        def sides(bounds: Sequence[tuple[Fraction | None, Fraction | None]]) -> tuple[Any, Any]:
            lower = [-inf if low is None else float(low) for low, _ in bounds]
            upper = [inf if high is None else float(high) for _, high in bounds]
            return np.array(lower), np.array(upper)

        arrays = self.highspy.HighsLp()
        arrays.num_col_, arrays.num_row_ = program.columns, len(program.rows)
        arrays.col_cost_ = np.array([float(cost) for cost in program.costs])
        arrays.col_lower_, arrays.col_upper_ = sides(program.column_bounds)
        arrays.row_lower_, arrays.row_upper_ = sides(program.row_bounds)
        matrix = arrays.a_matrix_
        matrix.format_ = self.highspy.MatrixFormat.kRowwise
        lengths = [len(row) for row in program.rows]
        matrix.start_ = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        terms = [term for row in program.rows for term in row]
        matrix.index_ = np.array([j for j, _ in terms], dtype=np.int32)
        matrix.value_ = np.array([float(a) for _, a in terms])
        return arrays
