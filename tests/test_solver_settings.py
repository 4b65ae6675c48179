"""Logs of solvers, and parameters that are handed through to them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import dlopt
from dlopt import Limits, NotApplicableError, SolverError, solve
from dlopt.backends import highs
from dlopt.backends.linear_program import LinearProgram
from dlopt.backends.solver_settings import (
    CPSAT_RESERVED,
    HIGHS_RESERVED,
    SolverSettings,
    solver_settings,
)

BY_CPSAT = dlopt.load("dag/topcuoglu-10")
BY_HIGHS = dlopt.load("iit/three-nodes")


def test_the_log_of_cp_sat_and_its_parameters() -> None:
    lines: list[str] = []
    parameters = {"linearization_level": 2}
    result = solve(BY_CPSAT, solver_log=lines.append, solver_parameters=parameters)
    assert result.solver == "CP-SAT" and result == solve(BY_CPSAT)
    assert any(line.startswith("Starting CP-SAT") for line in lines)
    (stated,) = (line for line in lines if line.startswith("Parameters:"))
    assert "linearization_level: 2" in stated


def test_the_log_of_highs() -> None:
    lines: list[str] = []
    assert solve(BY_HIGHS, solver_log=lines.append) == solve(BY_HIGHS)
    assert any(line.startswith("LP has") for line in lines)


def test_parameters_reach_highs() -> None:
    import highspy

    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    with solver_settings(SolverSettings(highs={"mip_heuristic_effort": 0.25})):
        highs.run(model)
    assert model.getOptionValue("mip_heuristic_effort")[1] == 0.25


def test_true_prints_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    solve(BY_HIGHS, solver_log=True)
    assert "LP has" in capfd.readouterr().out


def test_without_being_asked_nothing_is_logged(capfd: pytest.CaptureFixture[str]) -> None:
    solve(BY_CPSAT)
    solve(BY_HIGHS)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("instance", [BY_CPSAT, BY_HIGHS], ids=["CP-SAT", "HiGHS"])
def test_what_the_log_raises_is_raised_once_the_solver_has_ended(instance: Any) -> None:
    lines: list[str] = []

    def refuse(line: str) -> None:
        lines.append(line)
        raise KeyError("no room")

    with pytest.raises(KeyError, match="no room"):
        solve(instance, solver_log=refuse)
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"speed": 9}, "neither CP-SAT nor HiGHS has a parameter 'speed'"),
        ({3: 9}, "neither CP-SAT nor HiGHS has a parameter 3"),
        ({"num_workers": 9}, "solver parameter 'num_workers' is set by dlopt"),
        ({"mip_rel_gap": 0.1}, "solver parameter 'mip_rel_gap' is set by dlopt"),
        ({"presolve_inclusion_work_limit": 1}, "is set by dlopt, from its own arguments or so"),
        ({"linearization_level": "high"}, "CP-SAT takes no 'high' for its parameter 'lineariz"),
        ({"mip_heuristic_effort": 7}, "HiGHS takes no 7 for its parameter 'mip_heuristic_effort'"),
        ({"mip_heuristic_effort": [1]}, r"HiGHS takes no \[1\] for its parameter"),
    ],
)
def test_parameters_that_are_refused(parameters: dict[Any, Any], message: str) -> None:
    with pytest.raises(NotApplicableError, match=message):
        solve(BY_HIGHS, solver_parameters=parameters)


def test_a_parameter_out_of_its_range_is_named() -> None:
    with pytest.raises(SolverError, match="parameter 'solution_pool_size' should be in"):
        solve(BY_CPSAT, solver_parameters={"solution_pool_size": 0})


# With each of the first six, a worse value of an instance in the library was called optimal: the
# hint was fixed, nodes were pruned by the caller's bound, another model was solved, or none.
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fix_variables_to_their_hinted_value", True),
        ("objective_bound", -1e9),
        ("small_matrix_value", 0.9),
        ("user_bound_scale", -25),
        ("user_objective_scale", -25),
        ("read_solution_file", "missing.sol"),
        ("kkt_tolerance", 0.1),
    ],
)
def test_parameters_that_would_make_proofs_false_are_refused(name: str, value: Any) -> None:
    with pytest.raises(NotApplicableError, match=f"'{name}' is set by dlopt"):
        solve(BY_CPSAT, solver_parameters={name: value})


def test_what_is_reserved_are_parameters_of_the_solvers() -> None:
    import highspy
    from ortools.sat.python import cp_model

    parameters, model = cp_model.CpSolver().parameters, highspy.Highs()
    model.setOptionValue("output_flag", False)
    assert [name for name in CPSAT_RESERVED if not hasattr(parameters, name)] == []
    types = {name: model.getOptionType(name)[0] for name in HIGHS_RESERVED}
    assert set(types.values()) == {highspy.HighsStatus.kOk}, types


def test_an_error_of_highs_gives_no_bound() -> None:
    one = Fraction(1)
    unit = Fraction(0), one
    program = LinearProgram(2, (-one, -one), (((0, one), (1, one)),), ((None, one),), (unit, unit))
    unreadable = SolverSettings(highs={"read_solution_file": "missing.sol"})
    assert highs.LinearSolver(program).solve_integral((0, 1), Limits())[0] == -1
    with solver_settings(unreadable):
        assert highs.LinearSolver(program).solve_integral((0, 1), Limits()) == (None, ())


def test_what_has_no_solver_has_no_log() -> None:
    with pytest.raises(NotApplicableError, match="opr is a heuristic: it runs no solver"):
        solve(BY_HIGHS, "opr", solver_log=True)
    with pytest.raises(NotApplicableError, match="solver_log is a callable or a bool, not a str"):
        solve(BY_HIGHS, solver_log="yes")  # type: ignore[arg-type]
