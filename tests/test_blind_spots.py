"""The CP-SAT model with which `exact` is compared finds the optima, and the verdicts are right."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from benchmarks import blind_spots, plain_cpsat
from benchmarks.blind_spots import CASES, FORM, in_time, is_worse, measured, verdict
from benchmarks.rows import kept
from benchmarks.timing import Report
from dlopt.generation.coreservation import small
from dlopt.generation.packed_requests import near_equal
from tests.oracles_coreservation import optimum


def test_settings_have_names_of_their_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 40


def row(own: Any, other: Any, objective: str = "rejections") -> dict[str, Any]:
    """Return a row of values and bounds."""
    answers = [
        {"value": value, "bound": bound, "proven": value == bound, "spent": 21.0}
        for value, bound in (own, other)
    ]
    return {
        "family": f"made up {objective}",
        "requests": 9,
        "seed": 0,
        "seconds": 20.0,
        "known": None,
        "exact": answers[0],
        "plain": answers[1],
    }


def test_what_is_worse() -> None:
    assert verdict(row(("1", "0"), ("1", "0"))) == "-"
    assert verdict(row(("2", "0"), ("1", "0"))) == "value"
    assert verdict(row(("2", "0"), ("1", "1"))) == "value, bound"
    assert verdict(row(("1", "1"), (None, None))) == "-"
    assert verdict(row((None, "1"), ("9", "1"))) == "value"
    assert verdict(row(("1/2", "3/4"), ("1/3", "2/3"), "benefit")) == "bound"
    assert not is_worse("1", str(1 + Fraction(1, 10**10)), maximise=True)
    late = row(("1", "1"), ("1", "1"))
    assert in_time(late) and not in_time(late | {"seconds": 15.0})


def test_targets_are_missed_and_met(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(False)
    blind_spots.table(report, [row(("1", "1"), ("1", "0")), row(("2", "0"), ("1", "1"))], 20.0)
    assert [target["passed"] for target in report.targets] == [False, False, True]
    assert "1 of 2" in capsys.readouterr().out


def test_a_row_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, asked = CASES[0], list[str]()
    answer = {"value": "0", "bound": "0", "proven": True, "spent": 0.1}

    def answered(instance: Any, objective: str, seconds: float) -> dict[str, Any]:
        asked.append(objective)
        return answer

    monkeypatch.setattr(blind_spots, "answer_of_exact", answered)
    monkeypatch.setattr(blind_spots, "answer_of_reference", answered)
    for _ in range(2):
        with kept(tmp_path / "rows", FORM) as rows:
            first = measured(rows, case, 1, 0.5)
    assert (first["known"], first["requests"], first["exact"]) == ("0", 18, answer)
    assert asked == ["rejections"] * 2


def test_an_answer_of_exact_as_a_row() -> None:
    found = blind_spots.answer_of_exact(near_equal(machines=3), "rejections", 60.0)
    assert (found["value"], found["bound"], found["proven"]) == ("1", "1", True)


@pytest.mark.parametrize("seed", range(4))
def test_the_plain_model_proves_the_optimum(seed: int) -> None:
    instance = small(requests=4, machines=2, span=6, capacity=5, seed=seed)
    for objective in ("benefit", "rejections"):
        found = plain_cpsat.solve(instance, objective, 10.0)
        assert found.proven and found.value == found.bound == optimum(instance, objective)
