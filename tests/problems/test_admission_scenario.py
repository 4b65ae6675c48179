"""Scenarios: what they hold, what is wrong with them, and their files."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.admission import (
    Factor,
    Failure,
    Scenario,
    Trace,
    read_scenario,
    scenario_faults,
    write_scenario,
)
from tests.problems.executed_traces import traces

HEAD = {"scenario": "admission", "version": 1}
GOOD = {
    "name": "two",
    "factors": [{"task": "a", "tau": 0.5, "chi": "3/2"}, {"task": "b"}],
    "failures": [{"node": 1, "from": 2, "until": 3}, {"node": 1, "from": 3}],
}


def written(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data))
    return path


def test_a_file_is_read_as_it_says(tmp_path: Path) -> None:
    scenario = read_scenario(written(tmp_path / "s.json", HEAD | GOOD))
    assert scenario == Scenario(
        (Factor("a", 0.5, Fraction(3, 2)), Factor("b")), (Failure(1, 2, 3), Failure(1, 3))
    )
    assert scenario.name == "two" and scenario.costs_of("b") == (1, 1)
    exact = read_scenario(tmp_path / "s.json", exact_numbers=True)
    assert type(exact.factors[0].tau) is Fraction


def test_nothing_need_happen(tmp_path: Path) -> None:
    assert read_scenario(written(tmp_path / "s.json", HEAD)) == Scenario()


@pytest.mark.property
@given(made=traces())
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[Any, Scenario, Trace]
) -> None:
    path = tmp_path_factory.getbasetemp() / "scenario.json"
    write_scenario(made[1], path)
    assert read_scenario(path) == made[1]
    data = json.loads(path.read_text())
    assert {"scenario", "version"} <= set(data)
    assert all("from" in failure for failure in data.get("failures", []))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ([], "must be a JSON object, got []"),
        ({"version": 1}, "scenario: is missing"),
        (HEAD | {"scenario": "iit"}, "scenario: must be admission, got 'iit'"),
        (HEAD | {"version": True}, "version: must be 1, got true"),
        (HEAD | {"faults": []}, "faults: is not a field (known: factors, failures, name), got []"),
        (HEAD | {"factors": [{"tau": 1}]}, "factors[0].task: is missing"),
        (
            HEAD | {"factors": [{"task": "a", "chi": 0}]},
            "factors[0].chi: must be positive, got 0",
        ),
        (
            HEAD | {"factors": [{"task": "a"}, {"task": "a"}]},
            "factors[1].task: must occur in one factor only, got 'a'",
        ),
        (HEAD | {"failures": 3}, "failures: must be a list, got 3"),
        (
            HEAD | {"failures": [4]},
            "failures[0]: must be an object with named fields, got 4",
        ),
        (HEAD | {"failures": [{"node": 0}]}, "failures[0].from: is missing"),
        (
            HEAD | {"failures": [{"node": -1, "from": 0}]},
            "failures[0].node: must not be negative, got -1",
        ),
        (
            HEAD | {"failures": [{"node": 0, "from": -1}]},
            "failures[0].from: must not be negative, got -1",
        ),
        (
            HEAD | {"failures": [{"node": 0, "from": 5, "until": 5}]},
            "failures[0].until: must lie after from, 5, got 5",
        ),
        (
            HEAD | {"failures": [{"node": 0, "from": 5}, {"node": 0, "from": 1, "until": 6}]},
            "failures[0].from: must not lie within another failure of the node, got 5",
        ),
        (
            HEAD | {"failures": [{"node": 0, "from": 5}, {"node": 0, "from": 9, "until": 10}]},
            "failures[1].from: must not lie within another failure of the node, got 9",
        ),
    ],
)
def test_faults_are_told_in_the_words_of_the_file(tmp_path: Path, data: Any, told: str) -> None:
    path = written(tmp_path / "s.json", data)
    with pytest.raises(InvalidInstanceError) as caught:
        read_scenario(path)
    assert str(caught.value) == f"{path}: {told}"


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    data = {"version": 2, "factors": [{"task": 1}], "failures": [{"node": 0, "begin": 1}]}
    with pytest.raises(InvalidInstanceError) as caught:
        read_scenario(written(tmp_path / "s.json", data))
    assert [fault.path for fault in caught.value.faults] == [
        "scenario",
        "version",
        "factors[0].task",
        "failures[0].begin",
        "failures[0].from",
    ]
    assert scenario_faults(4)[0].rule == "must be an object with named fields"


def test_a_file_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInstanceError, match="cannot be read"):
        read_scenario(tmp_path / "none.json")
    with pytest.raises(NotApplicableError, match="cannot write"):
        write_scenario(Scenario(), tmp_path / "none" / "s.json")


def test_floats_are_compared_as_the_decimals_that_they_print() -> None:
    tenth = Fraction(1, 10)
    assert len(Scenario(failures=(Failure(0, tenth, 1), Failure(0, 0, 0.1))).failures) == 2
    with pytest.raises(InvalidInstanceError, match="must lie after from"):
        Failure(0, tenth, 0.1)
