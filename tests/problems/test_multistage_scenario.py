"""Scenarios of streams with reservations: what they may say of an instance, and their files."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import (
    Factor,
    Failure,
    Instance,
    Reservation,
    Scenario,
    Trace,
    TrueEnd,
    read_scenario,
    scenario_faults,
    violations_executed,
    write_scenario,
)

SCENARIO = Scenario(
    (Factor("b", chi=Fraction(3, 2)),), (Failure(2, 6, 11),), ends=(TrueEnd("u", 11),)
)


@pytest.mark.parametrize(
    ("scenario", "text"),
    [
        (Scenario(ends=(TrueEnd("x", 9),)), "must be a reservation of the instance"),
        (Scenario(ends=(TrueEnd("r", 4),)), "must lie after the start, 4"),
        (Scenario(ends=(TrueEnd("o", 4),)), "that is not over at first"),
        (Scenario(ends=(TrueEnd("p", 2),)), "must lie after now, 3"),
        (Scenario((Factor("x"),)), "must be a task of the instance"),
        (Scenario(failures=(Failure(9, 1),)), "must be one of the nodes 0 to 1"),
    ],
)
def test_a_scenario_fits_its_instance(scenario: Scenario, text: str) -> None:
    wanted = (
        Reservation("o", 0, 1, 3, nodes=(0,)),
        Reservation("p", 0, 1, 5, nodes=(1,)),
        Reservation("r", 3, 4, 8),
    )
    instance = Instance(Cluster(2, 1, 1), (), wanted, now=3)
    trace = Trace((), ())
    with pytest.raises(InvalidInstanceError, match=text):
        violations_executed(instance, scenario, trace)


def test_scenarios_are_read_as_they_are_written(tmp_path: Any) -> None:
    file = tmp_path / "truth.json"
    write_scenario(SCENARIO, file)
    assert read_scenario(file, exact_numbers=True) == SCENARIO
    assert '"scenario": "multistage"' in file.read_text()
    twice = {"ends": [{"reservation": "r", "end": 3}] * 2}
    assert [str(fault) for fault in scenario_faults(twice)] == [
        "ends[1].reservation: must occur in one end only, got 'r'"
    ]
