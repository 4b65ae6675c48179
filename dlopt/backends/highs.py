"""HiGHS without PuLP: a linear program that is solved again and again as its bounds change."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import inf
from typing import Any

from dlopt.backends.linear_program import LinearProgram, Row
from dlopt.backends.scales import Scales, in_units, is_readable, scales, times_power, with_row
from dlopt.errors import SolverError
from dlopt.result import Limits, Status

NAME = "HiGHS"
_FINE = 1e-9
"""By how much linear programs may miss a rule where HiGHS branches."""


@dataclass(frozen=True, slots=True)
class Relaxed:
    """What HiGHS says of a linear program, in floats.

    Parameters
    ----------
    status : Status
        ``OPTIMAL``, ``INFEASIBLE`` or ``LIMIT``.
    point : sequence of float
        Of an optimum.
    multipliers : sequence of float
        One a row: of an optimum its dual solution, of an infeasible program a ray, if there is
        one; else empty.
    """

    status: Status
    point: Sequence[float] = ()
    multipliers: Sequence[float] = ()


class LinearSolver:
    """A program inside HiGHS, which starts each solve from the basis of the one before.

    Parameters
    ----------
    program : LinearProgram
        Its objective is minimised.
    seed : int
    stop : float
        Instant of the monotonic clock at which a solve is broken off.
    interior : bool
        Whether to solve by an interior point method, which ends at no vertex: faster where bases
        are large, but no solve starts from the one before.

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
        # HiGHS keeps one pool of threads a process and refuses to change its size on the way.
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
        self.units = self._units_of(program)
        self.model.passModel(self._arrays(program))
        self.version = str(self.model.version())
        self.solves = 0

    def solve(self) -> Relaxed:
        """Solve the program as it stands."""
        kinds = self.highspy.HighsModelStatus
        # Presolve pays for the first solve only; without it an infeasible program has a ray.
        for presolve in ("off",) if self.solves else ("choose", "off"):
            self.solves += 1
            self.model.setOptionValue("presolve", presolve)
            self._keep_time()
            self.model.run()
            said = self.model.getModelStatus()
            if said == kinds.kOptimal:
                found = self.model.getSolution()
                point, multipliers = self._back(found.col_value, found.row_dual)
                return Relaxed(Status.OPTIMAL, point, multipliers)
        if said == kinds.kInfeasible:
            _, there, ray = self.model.getDualRay()
            return Relaxed(Status.INFEASIBLE, (), self._back((), ray.tolist() if there else ())[1])
        return Relaxed(Status.LIMIT)

    def solve_integral(
        self, columns: Sequence[int], limits: Limits
    ) -> tuple[float | None, Sequence[float]]:
        """Solve the program with some columns integral, by the solver's own branch and bound.

        Parameters
        ----------
        columns : sequence of int
        limits : Limits
            `work` counts nodes.

        Returns
        -------
        tuple of (float or None, sequence of float)
            What HiGHS calls a bound of the objective; an optimum, empty if it was not reached.
        """
        kinds = self.highspy.HighsModelStatus
        for column in columns:
            self.model.changeColIntegrality(column, self.highspy.HighsVarType.kInteger)
        self.model.setOptionValue("presolve", "choose")
        self.model.setOptionValue("mip_rel_gap", 0.0)
        for rule in ("primal", "dual"):  # by its own the bound may be wrong in the sixth digit
            self.model.setOptionValue(f"{rule}_feasibility_tolerance", _FINE)
        if limits.work is not None:
            self.model.setOptionValue("mip_max_nodes", limits.work)
        self._keep_time()
        self.model.run()
        bound = float(self.model.getInfo().mip_dual_bound)
        done = self.model.getModelStatus() == kinds.kOptimal
        point = self._back(self.model.getSolution().col_value, ())[0] if done else ()
        if self.units is not None:
            bound = times_power(bound, -self.units.objective)
        return (bound if abs(bound) < inf else None), point

    def set_bounds(self, column: int, lower: float, upper: float) -> None:
        """Change the bounds of a variable."""
        power = 0 if self.units is None else -self.units.columns[column]
        self.model.changeColBounds(column, times_power(lower, power), times_power(upper, power))

    def set_upper(self, columns: Sequence[int], upper: float) -> None:
        """Change the upper bounds of some variables, whose lower ones are 0."""
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
            self.units, (terms, lower, upper) = with_row(self.units, row)
        self.model.addRow(
            -inf if lower is None else float(lower),
            inf if upper is None else float(upper),
            len(terms),
            self.numpy.array([j for j, _ in terms], dtype=self.numpy.int32),
            self.numpy.array([float(a) for _, a in terms]),
        )

    def _keep_time(self) -> None:
        if self.stop < inf:
            left = max(self.stop - time.monotonic(), 0.0)
            self.model.setOptionValue("time_limit", self.model.getRunTime() + left)

    def _units_of(self, program: LinearProgram) -> Scales | None:
        pairs = (*program.row_bounds, *program.column_bounds)
        coefficients = chain(program.costs, (a for terms in program.rows for _, a in terms))
        if is_readable(coefficients, (end for pair in pairs for end in pair)):
            return None
        # Which columns are to be integral is not known yet: binaries are among those up to 1.
        unit = Fraction(0), Fraction(1)
        kept = {j for j, ends in enumerate(program.column_bounds) if ends == unit}
        return scales(program, kept)

    def _back(
        self, point: Sequence[float], multipliers: Sequence[float]
    ) -> tuple[Sequence[float], Sequence[float]]:
        """Return a point and multipliers of the program as it was given."""
        if self.units is None:
            return point, multipliers
        return (
            [times_power(x, power) for x, power in zip(point, self.units.columns, strict=False)],
            [
                times_power(y, power - self.units.objective)
                for y, power in zip(multipliers, self.units.rows, strict=False)
            ],
        )

    def _arrays(self, program: LinearProgram) -> Any:
        np = self.numpy
        if self.units is not None:
            program = in_units(program, self.units)

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
