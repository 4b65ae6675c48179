"""Stopping criteria on the command line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cli.conftest import INSTANCES, Command

INSTANCE = INSTANCES.parent / "bag" / "braun-24.json"


def test_solve_stops_at_a_target() -> None:
    """In a process of its own: the solver may not hear of it, and then the command ends itself."""
    words = ["solve", str(INSTANCE), "--target-value", "1e9", "--method", "milp", "--json"]
    done = subprocess.run([sys.executable, "-m", "dlopt", *words], capture_output=True, check=True)
    data = json.loads(done.stdout)
    assert (data["stopped_by"], data["status"]) == ("target-value", "feasible")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--target-value", "low"), "--target-value: "),
        (("--target-value", "1,2"), "target_value (--target-value) must be a number for makespan"),
        (("--no-improvement", "0"), "no_improvement_s (--no-improvement) must be a positive"),
    ],
)
def test_bad_criteria(dlopt: Command, words: tuple[str, ...], told: str) -> None:
    done = dlopt("solve", INSTANCE, *words, code=2)
    assert told in done.err
