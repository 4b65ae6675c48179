"""Logs of solvers, and parameters that are handed through to them."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dlopt
from dlopt import Limits, NotApplicableError, solve
from dlopt.backends import highs
from dlopt.backends.linear_program import LinearProgram
from dlopt.backends.solver_parameters import CPSAT_PARAMETERS, HIGHS_PARAMETERS
from dlopt.backends.solver_settings import SolverSettings, solver_settings

BY_CPSAT = dlopt.load("dag/topcuoglu-10")
BY_HIGHS = dlopt.load("iit/three-nodes")
SMALL = dlopt.load("dag/lans")
BY_SETUP_COSTS = dlopt.load("iit/four-nodes-setup")
BEST = Fraction(1259, 106)


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
        ({"speed": 9}, "'speed' cannot be set; `dlopt solve --list-solver-parameters` lists"),
        ({3: 9}, "3 cannot be set"),
        ({"linearisation_level": 2}, r"set; did you mean linearization_level\? `dlopt solve"),
        ({"linearization_level": "high"}, "must be an integer from 0 to 2, not 'high'"),
        ({"linearization_level": 3}, "must be an integer from 0 to 2, not 3"),
        ({"linearization_level": True}, "must be an integer from 0 to 2, not True"),
        ({"linearization_level": 1.0}, "must be an integer from 0 to 2, not 1.0"),
        ({"use_lns": 1}, "must be true or false, not 1"),
        ({"mip_heuristic_effort": 7}, "must be a number from 0 to 1, not 7"),
        ({"mip_heuristic_effort": float("nan")}, "must be a number from 0 to 1, not nan"),
        ({"mip_heuristic_effort": [1]}, r"must be a number from 0 to 1, not \[1\]"),
        ({"mip_heuristic_effort": float("inf")}, "must be a number from 0 to 1, not inf"),
        ({"mip_heuristic_effort": 10**400}, "must be a number from 0 to 1, not 1000"),
        ({"max_num_cuts": 10**5000}, "must be an integer from 0 to 100000, not "),
        ({"solution_pool_size": 0}, "must be an integer from 1 to 100, not 0"),
    ],
)
def test_parameters_that_are_refused(parameters: dict[Any, Any], message: str) -> None:
    with pytest.raises(NotApplicableError, match=message):
        solve(BY_HIGHS, solver_parameters=parameters)


# With each of the first six, a worse value of an instance in the library was called optimal: the
# hint was fixed, nodes were pruned by the caller's bound, another model was solved, or none. The
# rest follows from other arguments.
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
        ("num_workers", 9),
        ("presolve_inclusion_work_limit", 1),
        ("mip_rel_gap", 0.1),
    ],
)
def test_parameters_that_would_make_proofs_false_are_refused(name: str, value: Any) -> None:
    with pytest.raises(NotApplicableError, match=f"'{name}' cannot be set"):
        solve(BY_CPSAT, solver_parameters={name: value})


@pytest.mark.parametrize("name", CPSAT_PARAMETERS)
def test_optima_are_proven_with_every_parameter_of_cp_sat(name: str) -> None:
    allowed = CPSAT_PARAMETERS[name]
    for value in (allowed.low, allowed.high):
        lines: list[str] = []
        result = solve(SMALL, solver_log=lines.append, solver_parameters={name: value})
        assert (result.solver, result.status, result.value) == ("CP-SAT", "optimal", 16)
        stated = [line for line in lines if line.startswith("Parameters:")]
        assert stated and all(f" {name}: " in line for line in stated)


@pytest.mark.parametrize("name", HIGHS_PARAMETERS)
def test_optima_are_proven_with_every_parameter_of_highs(name: str) -> None:
    import highspy

    model, allowed = highspy.Highs(), HIGHS_PARAMETERS[name]
    model.setOptionValue("output_flag", False)
    for value in (allowed.low, allowed.high):
        with solver_settings(SolverSettings(highs={name: value})):
            highs.run(model)
        assert model.getOptionValue(name)[1] == value
        result = solve(BY_SETUP_COSTS, solver_parameters={name: value})
        assert (result.solver, result.status, result.value) == ("HiGHS", "optimal", BEST)


def test_the_documentation_lists_every_parameter() -> None:
    text = (Path(__file__).parents[1] / "docs" / "results.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (CP-SAT|HiGHS) \| (.+?) \| (.+) \|$", text, re.MULTILINE)
    listed = {
        (solver, name): values
        for solver, values, names in rows
        for name in re.findall(r"`(\w+)`", names)
    }
    tables = {"CP-SAT": CPSAT_PARAMETERS, "HiGHS": HIGHS_PARAMETERS}
    assert listed == {
        (solver, name): str(values)
        for solver, table in tables.items()
        for name, values in table.items()
    }


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
