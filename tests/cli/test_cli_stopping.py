"""Stopping criteria on the command line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from dlopt.backends.solver_parameters import CPSAT_PARAMETERS, HIGHS_PARAMETERS
from tests.cli.conftest import INSTANCES, Command

INSTANCE = INSTANCES.parent / "bag" / "braun-24.json"


def test_solve_stops_at_a_target() -> None:
    """In a process of its own: the solver may not hear of it, and then the command ends itself."""
    words = ["solve", str(INSTANCE), "--target-value", "1e9", "--method", "milp", "--json"]
    done = subprocess.run([sys.executable, "-m", "dlopt", *words], capture_output=True, check=True)
    data = json.loads(done.stdout)
    assert (data["stopped_by"], data["status"]) == ("target-value", "feasible")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target-value", "low"), "--target-value: "),
        (("--target-value", "1,2"), "target_value (--target-value) must be a number for makespan"),
        (("--no-improvement", "0"), "no_improvement_s (--no-improvement) must be a positive"),
    ],
)
def test_bad_criteria(dlopt: Command, words: tuple[str, ...], message: str) -> None:
    done = dlopt("solve", INSTANCE, *words, code=2)
    assert message in done.err


def test_solver_log_and_parameters(dlopt: Command) -> None:
    file = INSTANCES.parent / "dag" / "topcuoglu-10.json"
    words = ("--solver-log", "--solver-parameter", "linearization_level=2", "--json")
    done = dlopt("solve", file, *words)
    assert done.json["status"] == "optimal" and "linearization_level: 2" in done.err


def test_the_parameters_that_can_be_set_are_listed(dlopt: Command) -> None:
    lines = dlopt("solve", "--list-solver-parameters").out.splitlines()
    assert [line.split()[1] for line in lines] == [*CPSAT_PARAMETERS, *HIGHS_PARAMETERS]
    assert lines[0].split() == ["CP-SAT", "add_cg_cuts", "true", "or", "false"]
    for name, values in {**CPSAT_PARAMETERS, **HIGHS_PARAMETERS}.items():
        assert any(name in line.split() and line.endswith(f" {values}") for line in lines)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "speed=1",
            "solver parameter 'speed' cannot be set; `dlopt solve --list-solver-parameters`",
        ),
        ("use_lms=true", "cannot be set; did you mean use_lns"),
        ("speed", "--solver-parameter takes K=V, got 'speed'"),
        ("cp_model_presolve=maybe", "'cp_model_presolve' must be true or false, not 'maybe'"),
    ],
)
def test_bad_parameters(dlopt: Command, given: str, message: str) -> None:
    assert message in dlopt("solve", INSTANCE, "--solver-parameter", given, code=2).err
