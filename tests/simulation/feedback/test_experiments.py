"""From identification to comparison."""

from __future__ import annotations

from typing import Any

import pytest

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.generation.uncertain_times import mamat7
from dlopt.simulation.feedback import (
    STRATEGIES,
    ExperimentSetting,
    Policy,
    compare_strategies,
    measure_over_time,
)

SHORT = ExperimentSetting(periods=60, load_from=1.2, load_to=1.2)


def test_feedback_holds_the_set_point_where_nothing_else_does() -> None:
    calls: list[tuple[int, int]] = []
    found = compare_strategies(
        SHORT, seeds=(1, 2), progress=lambda done, total: calls.append((done, total))
    )
    assert calls == [(done, 10) for done in range(11)]
    assert found.design.meets(SHORT.specification)
    ratios = {
        name: sum(run.between(1 / 3, 1).miss_ratio or 0.0 for run in runs) / 2
        for name, runs in found.runs.items()
    }
    assert list(ratios) == list(STRATEGIES)
    assert 0.03 < ratios["feedback"] < 0.07 and ratios["no-feedback"] > 0.12
    assert ratios["ideal"] == ratios["worst-case"] == 0
    assert all(
        run.workload.name == "mamat7-1.2-1.2-2" for run in (r[1] for r in found.runs.values())
    )


def test_equal_seeds_give_equal_studies() -> None:
    short = ExperimentSetting(periods=40, period=30_000)
    first, second = (compare_strategies(short, ["feedback"], seeds=[3]) for _ in range(2))
    assert (first.model, first.design, first.validation) == (
        second.model,
        second.design,
        second.validation,
    )
    assert first.runs["feedback"][0].periods == second.runs["feedback"][0].periods
    assert compare_strategies(short, ["feedback"], seeds=[4]).model != first.model


def test_nodes_fail_in_the_middle_and_may_come_back() -> None:
    _, scenario = ExperimentSetting(periods=20, failing=0.4, recovery=0.75).stream(0)
    assert [(f.node, f.begin, f.until) for f in scenario.failures] == [
        (node, 1_000_000, 1_500_000) for node in range(10, 16)
    ]
    _, scenario = ExperimentSetting(periods=20, failing=0.4).stream(0)
    assert all(failure.until is None for failure in scenario.failures)
    _, same = ExperimentSetting(periods=20).stream(0)
    assert scenario.factors == same.factors and same.failures == ()


def test_a_stream_of_ones_own() -> None:
    given = mamat7(load_from=1.2, load_to=1.2, horizon=4_050_000, seed=9)
    setting = ExperimentSetting(given=given)
    found = compare_strategies(setting, ["feedback", "ideal"], seeds=(0,))
    assert found.runs["ideal"][0].workload is given[0]
    assert len(found.runs["ideal"][0].periods) == 41 == len(setting.identification_run(0).periods)
    twice = ExperimentSetting(given=setting.stream(0), failing=0.4)
    failing = ExperimentSetting(given=twice.stream(0), failing=0.4)
    with pytest.raises(InvalidInstanceError, match="within another failure"):
        failing.stream(0)


def test_the_course_of_a_measure() -> None:
    runs = [SHORT.run("no-feedback", None, seed) for seed in (0, 1)]
    pieces = measure_over_time(runs, "miss_ratio", 6)
    assert [middle for middle, _ in pieces] == [5, 15, 25, 35, 45, 55]
    first = [run.between(0, 1 / 6).miss_ratio for run in runs]
    assert pieces[0][1].mean == pytest.approx(sum(x for x in first if x is not None) / 2)
    assert pieces[0][1].half_width is not None
    assert len(measure_over_time(runs, "bound", 1000)) == 60
    empty = ExperimentSetting(periods=2, load_from=1e-9, load_to=1e-9)
    assert measure_over_time([empty.run("ideal", None, 0)], "miss_ratio") == ()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"periods": 1}, "periods must be an integer from 2 on, got 1"),
        ({"periods": True}, "periods must be an integer from 2 on, got True"),
        ({"periods": 9.5}, "periods must be an integer from 2 on, got 9.5"),
        ({"set_point": 0}, "set_point must lie between 0 and 1, got 0"),
        ({"recovery": 0.4}, "recovery must lie between 0.5 and 1, got 0.4"),
        ({"failing": 1.5}, "failing must lie between 0 and 1, got 1.5"),
        ({"least_bound": 2}, "least_bound must be positive and below most_bound, got 2 and 1.5"),
        ({"excited_from": 0}, "excited_from must be positive and below excited_to, got 0 and 1.2"),
    ],
)
def test_bad_settings(options: dict[str, Any], told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        ExperimentSetting(**options)


def test_bad_studies() -> None:
    with pytest.raises(NotApplicableError, match="no strategy 'best'"):
        compare_strategies(SHORT, ["best"])
    for empty in ({"strategies": []}, {"seeds": []}):
        with pytest.raises(NotApplicableError, match="at least one strategy and one seed"):
            compare_strategies(SHORT, **empty)  # type: ignore[arg-type]
    idle = ExperimentSetting(periods=20, identified_at=0.01)
    with pytest.raises(NotApplicableError, match="move too little"):
        compare_strategies(idle)


def test_a_margin_below_the_worst_costs_cannot_be_controlled() -> None:
    """With m = 1 half of the chunks of a task end late whatever the bound."""
    setting = ExperimentSetting(periods=60, policy=Policy(margin=1))
    run = setting.identification_run(5)
    assert (run.total.miss_ratio or 0) > 0.3
