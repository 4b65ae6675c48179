"""What is measured over time, of a LAN and of all."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.problems.dag import Graph, Instance, Lan, Machine, Network, Outage, Task
from dlopt.simulation.grid import (
    MEASURES,
    FailureModel,
    PeriodCounts,
    Policy,
    read_failures,
    simulate_grid,
)

F = Fraction
QUICK = Policy(external_time=0, internal_time=0, bidders=1)
NETWORK = Network("scheduler", "counted", lans=(Lan("l"), Lan("r")))
MACHINES = (Machine("m", 1, 0), Machine("n", 1, 1), Machine("o", 1, 1))
GRAPHS = (
    Graph("g", (Task("t", 15),), absolute_deadline=20, lan=0, input=5),
    Graph("h", (Task("t", 5),), arrival=12, absolute_deadline=13, lan=1),
)


def test_measures_by_lan_and_period() -> None:
    """g runs from 5 to 20 in LAN 0, h from 12 to 17 in LAN 1; periods of 10."""
    instance = Instance(MACHINES, GRAPHS, NETWORK)
    outcome = simulate_grid(instance, policy=QUICK, exact_numbers=True, period=10).outcome
    assert outcome.nodes == (1, 2) and outcome.period == 10
    assert outcome.series("utilization", 0) == ((0, 0.5), (10, 1), (20, 0))
    assert outcome.series("utilization", 1) == ((0, 0), (10, 0.25), (20, 0))
    assert outcome.series("utilization") == ((0, pytest.approx(1 / 6)), (10, 0.5), (20, 0))
    assert outcome.series("met_ratio") == ((0, None), (10, 0), (20, 1))
    assert outcome.series("response", 1) == ((0, None), (10, 5), (20, None))
    assert outcome.series("internal", 0) == ((0, 5), (10, 0), (20, 0))
    assert outcome.series("internal") == ((0, 2.5), (10, 0), (20, 0))
    assert [at for at, _ in outcome.periods] == [0, 10, 20]
    assert {name for name in MEASURES if any(value for _, value in outcome.series(name))} == {
        "met_ratio",
        "response",
        "utilization",
        "internal",
    }


def test_what_is_lost_counts_where_and_when_it_was() -> None:
    failure_model = FailureModel(failures=(Outage(0, 8, 12),))
    instance = Instance(MACHINES, GRAPHS[:1], NETWORK)
    outcome = simulate_grid(
        instance, policy=QUICK, failure_model=failure_model, exact_numbers=True, period=10
    ).outcome
    assert outcome.series("resent", 0)[:2] == ((0, 0), (10, 1))
    assert [tally.wasted for _, _, tally in outcome.cells if tally.wasted] == [3]
    assert PeriodCounts.total(tally for _, _, tally in outcome.cells) == PeriodCounts.total(
        outcome.lans
    )
    assert (outcome.failures, outcome.wasted) == (1, 3)


def test_nothing_happens_before_the_first_arrival() -> None:
    late = Graph("g", (Task("t", 1),), arrival=50, lan=0)
    outcome = simulate_grid(Instance(MACHINES, (late,), NETWORK), until=10).outcome
    assert outcome.series("response") == () == outcome.job_outcomes
    assert outcome.met_ratio is None and outcome.utilization is None


def test_failures_as_files(tmp_path) -> None:
    path = tmp_path / "failures.json"
    path.write_text('[{"machine": 2, "begin": 0.1, "until": "7/2"}, {"machine": 0, "begin": 3}]')
    assert read_failures(path) == (Outage(2, F(1, 10), F(7, 2)), Outage(0, 3))
    for text, words in (
        ("{}", "failures: must be a list"),
        ('[{"machine": 0, "begin": 2, "until": 1}]', r"failures\[0\].until: must not lie before"),
        ('[{"machine": 0, "begin": 2, "end": 1}]', r"failures\[0\].end: is not a field"),
        ("[", "failures.json"),
    ):
        path.write_text(text)
        with pytest.raises(InvalidInstanceError, match=words):
            read_failures(path)
