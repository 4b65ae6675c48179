"""The linear program of one divisible load, built directly for HiGHS and for GLOP."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import highspy
import numpy as np
from ortools.linear_solver import pywraplp

from dlopt.problems.cluster import Cluster

Solved: TypeAlias = tuple[float, float, float | None]
"""Seconds to build and to solve a program, and its optimum."""


@dataclass(frozen=True)
class DirectProgram:
    """The linear program of `dlopt.models.iit.fixed_sequence_lp`, handed to a solver without PuLP.

    Variables are the starts ``s_0..``, the loads ``x_0..`` and ``T``. Both calls return the
    seconds that building and solving took, and the optimum; None if the solver gives up.
    """

    cluster: Cluster
    ready: list[float]
    load: float

    def highs(self, **options: Any) -> Solved:
        """Solve with HiGHS; the program is passed as arrays."""
        begun = time.perf_counter()
        n, infinity = len(self.ready), highspy.kHighsInf
        tau, unit = self.cluster.tau_of(0), self.cluster.tau_of(0) + self.cluster.chi_of(0)
        overhead = self.cluster.theta_cm + self.cluster.theta_cp
        p = np.arange(n)
        port = np.stack([p[1:], p[:-1], n + p[:-1]], axis=1).ravel()
        results = np.stack([np.full(n, 2 * n), p, n + p], axis=1).ravel()
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = 2 * n + 1, 2 * n
        program.col_cost_ = np.append(np.zeros(2 * n), 1.0)
        program.col_lower_ = np.concatenate([self.ready, np.zeros(n + 1)])
        program.col_upper_ = np.full(2 * n + 1, infinity)
        program.row_lower_ = np.concatenate(
            [np.full(n - 1, self.cluster.theta_cm), np.full(n, overhead), [self.load]]
        )
        program.row_upper_ = np.append(np.full(2 * n - 1, infinity), self.load)
        matrix = program.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kRowwise
        matrix.start_ = np.append(np.arange(0, 6 * n - 2, 3), 7 * n - 3).astype(np.int32)
        matrix.index_ = np.concatenate([port, results, n + p]).astype(np.int32)
        matrix.value_ = np.concatenate(
            [np.tile([1.0, -1.0, -tau], n - 1), np.tile([1.0, -1.0, -unit], n), np.ones(n)]
        )
        model = highspy.Highs()
        model.setOptionValue("output_flag", False)
        for name, value in options.items():
            model.setOptionValue(name, value)
        model.passModel(program)
        built = time.perf_counter()
        model.run()
        solved = time.perf_counter()
        done = model.getModelStatus() == highspy.HighsModelStatus.kOptimal
        optimum = model.getInfo().objective_function_value if done else None
        return built - begun, solved - built, optimum

    def glop(self, parameters: str = "") -> Solved:
        """Solve with GLOP."""
        begun = time.perf_counter()
        n = len(self.ready)
        tau, unit = self.cluster.tau_of(0), self.cluster.tau_of(0) + self.cluster.chi_of(0)
        overhead = self.cluster.theta_cm + self.cluster.theta_cp
        model = pywraplp.Solver.CreateSolver("GLOP")
        infinity = model.infinity()
        start = [model.NumVar(ready, infinity, "") for ready in self.ready]
        load = [model.NumVar(0, infinity, "") for _ in self.ready]
        end = model.NumVar(0, infinity, "")
        for p in range(n - 1):
            row = model.Constraint(self.cluster.theta_cm, infinity)
            row.SetCoefficient(start[p + 1], 1)
            row.SetCoefficient(start[p], -1)
            row.SetCoefficient(load[p], -tau)
        for p in range(n):
            row = model.Constraint(overhead, infinity)
            row.SetCoefficient(end, 1)
            row.SetCoefficient(start[p], -1)
            row.SetCoefficient(load[p], -unit)
        row = model.Constraint(self.load, self.load)
        for variable in load:
            row.SetCoefficient(variable, 1)
        model.Objective().SetCoefficient(end, 1)
        model.Objective().SetMinimization()
        if parameters:
            model.SetSolverSpecificParametersAsString(parameters)
        built = time.perf_counter()
        done = model.Solve() == pywraplp.Solver.OPTIMAL
        solved = time.perf_counter()
        return built - begun, solved - built, model.Objective().Value() if done else None

    def ways(self) -> dict[str, Callable[[], Solved]]:
        """Return the ways to solve it, of which the fastest counts."""
        return {
            "HiGHS simplex": self.highs,
            "HiGHS no presolve": lambda: self.highs(presolve="off"),
            "HiGHS interior point": lambda: self.highs(solver="ipm", run_crossover="off"),
            "GLOP": self.glop,
            "GLOP dual": lambda: self.glop("use_dual_simplex: true"),
        }
