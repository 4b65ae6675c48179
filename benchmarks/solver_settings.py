"""Cross-check of solver claims: CP-SAT and HiGHS under other settings, and SCIP.

While the context `watched` lasts, every model is kept for which CP-SAT or HiGHS proves an optimum,
infeasibility, or a bound. Each claim can be checked by solving the model again.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest import mock

import highspy
from ortools.linear_solver.python import model_builder

from dlopt.backends import cpsat, pulp
from dlopt.result import Limits, Status

SLACK = 1e-5
"""Relative difference of two answers of solvers that work in floats, which is none."""

PROVEN = (Status.OPTIMAL, Status.INFEASIBLE)


@dataclass(frozen=True, slots=True)
class SolverAnswer:
    """The answer of a solver to a model."""

    status: Status
    found: bool
    value: float | None = None
    bound: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SolverClaim:
    """The claim of a solver about a model, and the ways to check it."""

    solver: str
    claimed: SolverAnswer
    sign: int
    slack: float
    again: Mapping[str, Callable[[float], SolverAnswer]]

    def verdict(self, other: SolverAnswer) -> str:
        """Return ``agree``, ``disagree``, or ``undecided`` if the other proves nothing."""
        for proof, plan in ((self.claimed, other), (other, self.claimed)):
            if plan.found and proof.status is Status.INFEASIBLE:
                return "disagree"
            if plan.value is not None and proof.bound is not None:
                slack = self.slack * max(1.0, abs(proof.bound)) if self.slack else 0
                if self.sign * (plan.value - proof.bound) > slack:
                    return "disagree"
        return "agree" if other.status in PROVEN else "undecided"


@dataclass(frozen=True, slots=True)
class CpSatSetting:
    """Parameters of CP-SAT for a cross-check."""

    changes: Mapping[str, Any] = field(default_factory=dict)
    own: bool = True
    seed: int = 0


SAME = "as it is"
CP_SAT: Mapping[str, CpSatSetting] = {
    SAME: CpSatSetting(),
    "another seed": CpSatSetting(seed=7),
    "no presolve": CpSatSetting({"cp_model_presolve": False}),
    "OR-Tools' own": CpSatSetting(own=False),
    "removing solutions": CpSatSetting({"keep_all_feasible_solutions_in_presolve": False}),
    "inclusions": CpSatSetting({"presolve_inclusion_work_limit": 100_000_000}),
    "disjunctive": CpSatSetting({"use_disjunctive_constraint_in_cumulative": True}),
    "no symmetry": CpSatSetting({"symmetry_level": 0}),
    "no linear program": CpSatSetting({"linearization_level": 0}),
    "more of it": CpSatSetting({"linearization_level": 2}),
}
"""Settings of CP-SAT for cross-checks."""
PRESOLVE = "HiGHS, presolve"
"""A cross-check of linear and mixed-integer programs."""
NO_PRESOLVE = "HiGHS, no presolve"
"""Another one."""
SCIP = "SCIP"
"""A third."""


@contextlib.contextmanager
def watched() -> Iterator[list[SolverClaim]]:
    """Collect the claims of CP-SAT and HiGHS while the context lasts."""
    claims: list[SolverClaim] = []
    by_cp_sat, by_highs = cpsat.optimise, pulp.solve_by_highs

    def ask_cp_sat(model: Any, limits: Limits, **options: Any) -> cpsat.Outcome:
        begun = time.perf_counter()
        outcome = by_cp_sat(model, limits, **options)
        if outcome.status in PROVEN or outcome.bound is not None:
            answer = _answer(outcome, time.perf_counter() - begun)
            claims.append(_of_cp_sat(model.clone(), answer))
        return outcome

    def ask_highs(
        problem: Any, limits: Limits, seed: int, exact: bool, attempts: int = 3, **options: bool
    ) -> pulp.Outcome:
        outcome = by_highs(problem, limits, seed, exact, attempts, **options)
        if attempts == 3 and not outcome.proven:  # else it asks itself again
            answer = _highs_answer(problem.solverModel, 0.0)
            if answer.status in PROVEN or answer.bound is not None:
                claims.append(_of_highs(problem.solverModel.getLp(), answer))
        return outcome

    with (
        mock.patch.object(cpsat, "optimise", ask_cp_sat),
        mock.patch.object(pulp, "solve_by_highs", ask_highs),
    ):
        yield claims


def _of_cp_sat(model: Any, answer: SolverAnswer) -> SolverClaim:
    sign = 1 if model.has_objective() and model.proto.objective.scaling_factor < 0 else -1

    def under(setting: CpSatSetting) -> Callable[[float], SolverAnswer]:
        return lambda seconds: ask(model, setting, seconds)

    again = {name: under(setting) for name, setting in CP_SAT.items()}
    return SolverClaim(cpsat.NAME, answer, sign, 0.0, again)


def ask(model: Any, setting: CpSatSetting, seconds: float) -> SolverAnswer:
    """Solve a model with CP-SAT under another setting."""
    settings = {**(cpsat.SETTINGS if setting.own else {}), **setting.changes}
    begun = time.perf_counter()
    with mock.patch.object(cpsat, "SETTINGS", MappingProxyType(settings)):
        outcome = cpsat.optimise(model, Limits(time_s=seconds), seed=setting.seed)
    return _answer(outcome, time.perf_counter() - begun)


def _answer(outcome: cpsat.Outcome, seconds: float) -> SolverAnswer:
    found = outcome.value_of is not None
    return SolverAnswer(outcome.status, found, outcome.value, outcome.bound, seconds)


def _of_highs(program: Any, answer: SolverAnswer) -> SolverClaim:
    sign = 1 if program.sense_ == highspy.ObjSense.kMaximize else -1

    def by_highs(presolve: str, seconds: float) -> SolverAnswer:
        model = _highs(program)
        model.setOptionValue("presolve", presolve)
        model.setOptionValue("mip_rel_gap", 0.0)
        model.setOptionValue("time_limit", seconds)
        begun = time.perf_counter()
        model.run()
        return _highs_answer(model, time.perf_counter() - begun)

    def by_scip(seconds: float) -> SolverAnswer:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "program.mps")
            _highs(program).writeModel(path)
            model = model_builder.Model()
            model.import_from_mps_file(path)
        solver = model_builder.Solver("scip")
        solver.set_time_limit_in_seconds(seconds)
        begun = time.perf_counter()
        solve_status = solver.solve(model)
        spent = time.perf_counter() - begun
        kinds = model_builder.SolveStatus
        known = {kinds.OPTIMAL: Status.OPTIMAL, kinds.FEASIBLE: Status.FEASIBLE}
        if solve_status in known:
            numbers = solver.objective_value, solver.best_objective_bound
            return SolverAnswer(known[solve_status], True, *numbers, spent)
        status = Status.INFEASIBLE if solve_status == kinds.INFEASIBLE else Status.LIMIT
        return SolverAnswer(status, False, seconds=spent)

    again = {
        PRESOLVE: partial(by_highs, "on"),
        NO_PRESOLVE: partial(by_highs, "off"),
        SCIP: by_scip,
    }
    return SolverClaim(pulp.DEFAULT, answer, sign, SLACK, again)


def _highs(program: Any) -> Any:
    highspy.Highs.resetGlobalScheduler(True)
    model = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, "parallel": "off"}.items():
        model.setOptionValue(name, value)
    model.passModel(program)
    return model


def _highs_answer(model: Any, seconds: float) -> SolverAnswer:
    """Return the answer of HiGHS to its model."""
    kinds, info = highspy.HighsModelStatus, model.getInfo()
    known = {kinds.kOptimal: Status.OPTIMAL, kinds.kInfeasible: Status.INFEASIBLE}
    status = known.get(model.getModelStatus(), Status.LIMIT)
    found = status is not Status.INFEASIBLE and info.primal_solution_status == 2
    value = info.objective_function_value if found else None
    mixed = any(kind != highspy.HighsVarType.kContinuous for kind in model.getLp().integrality_)
    bound = info.mip_dual_bound if mixed else value if status is Status.OPTIMAL else None
    failed = model.getModelStatus() == kinds.kSolveError or status is Status.INFEASIBLE
    known_bound = bound is not None and abs(bound) < inf and not failed
    return SolverAnswer(status, found, value, bound if known_bound else None, seconds)
