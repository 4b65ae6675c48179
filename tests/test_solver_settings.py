"""Logs of solvers, and parameters that are handed through to them."""

from __future__ import annotations

from typing import Any

import pytest

import dlopt
from dlopt import NotApplicableError, solve
from dlopt.backends import highs
from dlopt.backends.solver_settings import SolverSettings, solver_settings

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
    ("parameters", "told"),
    [
        ({"speed": 9}, "neither CP-SAT nor HiGHS has a parameter 'speed'"),
        ({3: 9}, "neither CP-SAT nor HiGHS has a parameter 3"),
        ({"num_workers": 9}, "solver parameter 'num_workers' is set by dlopt"),
        ({"mip_rel_gap": 0.1}, "solver parameter 'mip_rel_gap' is set by dlopt"),
        ({"presolve_inclusion_work_limit": 1}, "is set by dlopt, from its own arguments or so"),
        ({"linearization_level": "high"}, "CP-SAT takes no 'high' for its parameter 'lineariz"),
        ({"mip_heuristic_effort": 7}, "HiGHS takes no 7 for its parameter 'mip_heuristic_effort'"),
    ],
)
def test_parameters_that_are_refused(parameters: dict[Any, Any], told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        solve(BY_HIGHS, solver_parameters=parameters)


def test_what_has_no_solver_has_no_log() -> None:
    with pytest.raises(NotApplicableError, match="opr is a heuristic: it runs no solver"):
        solve(BY_HIGHS, "opr", solver_log=True)
    with pytest.raises(NotApplicableError, match="solver_log is a callable or a bool, not a str"):
        solve(BY_HIGHS, solver_log="yes")  # type: ignore[arg-type]
