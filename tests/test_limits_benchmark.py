"""The benchmark of time and memory limits, on tiny instances."""

from __future__ import annotations

import pytest

from benchmarks import limits
from benchmarks.limits import LimitedRun, MethodRow, passes, run, summary
from dlopt import generate, registry

TINY = {"iit": (("random", {"nodes": 4}), ("random", {"nodes": 3, "theta_cm": 1}))}


def test_every_problem_has_large_instances() -> None:
    assert set(limits.LARGE) == set(registry.stems())


def test_a_table_of_methods(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LARGE", TINY)
    assert limits.main(["--methods", "opr,exact", "--time-limit", "20"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("random nodes=4, random nodes=3 theta_cm=1")
    assert [line.split()[:2] for line in lines[1:3]] == [["PASS", "opr"], ["PASS", "exact"]]
    assert lines[2].count("optimal") == 2
    assert tuple(lines[3:5]) == limits.HEADER
    assert lines[5].startswith("| iit | 2 | 2 | 2 | - | -")
    assert lines[6] == "2 methods, 0 FAIL"


def test_a_method_that_is_too_slow_or_too_large_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LARGE", TINY)
    monkeypatch.setattr(limits, "MOST_MB", 1)
    assert limits.main(["--methods", "opr"]) == 1
    told = capsys.readouterr().out
    assert "  FAIL  opr" in told and "1 methods, 1 FAIL" in told


def test_what_a_method_does_not_take_is_said() -> None:
    assert run(generate("bag", "small"), "milp", 20).outcome == "does not apply"
    assert run(generate("bag", "small"), "none", 20).outcome == "does not apply"


@pytest.mark.parametrize(
    ("found", "passed"),
    [
        (LimitedRun(2.9, 100, "optimal"), True),
        (LimitedRun(3.1, 100, "optimal"), False),
        (LimitedRun(1, 3000, "optimal"), False),
        (LimitedRun(1, 100, "ERROR SolverError: no"), False),
        (LimitedRun(0, 0, "died (-9)"), False),
    ],
)
def test_limits_of_time_and_memory(found: LimitedRun, passed: bool) -> None:
    assert passes(found, 2) == passed
    assert passes(LimitedRun(21.9, 100, "optimal"), 20) and not passes(
        LimitedRun(22.1, 100, "optimal"), 20
    )


def test_a_problem_is_summed_up() -> None:
    rows = [MethodRow("a", True, -1.0, 50.0, ""), MethodRow("b", False, 4.0, 1500.0, "")]
    assert summary("iit", rows) == "| iit | 3 | 2 | 1 | `b` | +4.00 s | 1,500 MB |"
