"""Data frames of results, comparisons and batches."""

from __future__ import annotations

import sys
from fractions import Fraction

import pytest

import dlopt
from dlopt.batch import plan_runs, to_frame
from dlopt.batch.runs import solve_run
from tests.once import solve


def test_a_frame_has_the_plan_with_floats_for_fractions() -> None:
    frame = solve(dlopt.load("iit/three-nodes"), "exact").to_frame()
    assert list(frame["node"]) == [0, 1, 2]
    assert frame["load"].dtype == float and frame["load"].sum() == pytest.approx(3)
    assert frame["computation_end"].max() == 4.875


def test_a_table_is_chosen_by_name() -> None:
    result = solve(dlopt.load("multistage/maintenance"), "multi-stage")
    assert list(result.to_frame("decisions")["task"]) == ["a", "b", "c"]
    assert len(result.to_frame()) == len(result.solution.chunks)
    with pytest.raises(dlopt.NotApplicableError, match="known: chunks, decisions, grants"):
        result.to_frame("placements")


def test_without_a_plan_there_is_no_frame() -> None:
    result = solve(dlopt.load("iit/three-nodes"), "bound-fluid")
    with pytest.raises(dlopt.NotApplicableError, match="there is no plan"):
        result.to_frame()


def test_a_comparison_has_a_row_for_each_method() -> None:
    frame = dlopt.compare(dlopt.load("iit/three-nodes"), ["opr", "exact"]).to_frame()
    assert list(frame["method"]) == ["opr", "exact"]
    assert list(frame["value"]) == [6.4, 4.875]
    assert frame["gap_to_optimum"][0] == pytest.approx(0.3128, abs=1e-4)
    assert frame["gap_to_bound"].isna().all()


def test_a_batch_is_one_frame() -> None:
    instances = [dlopt.load("iit/three-nodes"), dlopt.load("iit/late-node")]
    runs = plan_runs(instances, ["opr", "exact"], limits=[dlopt.Limits(time_s=60)]).runs
    records = [solve_run(run).record for run in runs]
    frame = to_frame(records)
    assert len(frame) == 4 and set(frame["instance"]) == {"three-nodes", "late-node"}
    assert frame["value"].dtype == float
    assert set(frame["limit_time_s"]) == {60}
    assert "limits" not in frame and "options" not in frame
    assert list(frame["hash"]) == [record.key.hash for record in records]


def test_options_are_columns() -> None:
    runs = plan_runs([dlopt.load("bag/small-etc")], ["kpb"], options={"k": 50}).runs
    assert list(to_frame(solve_run(run).record for run in runs)["option_k"]) == [50]


def test_lexicographic_values_stay_together() -> None:
    frame = dlopt.compare(dlopt.load("bag/small-grid"), ["gds"]).to_frame()
    assert frame["value"][0] == (2, 4)


def test_a_fraction_beyond_floats_stays_itself() -> None:
    from dlopt.presentation.frames import in_frame

    huge = Fraction(10**400, 3)
    assert in_frame(huge) == huge


def test_without_pandas_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    result = solve(dlopt.load("iit/three-nodes"), "opr")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(dlopt.MissingExtraError, match=r"pip install 'dlopt\[frames\]'"):
        result.to_frame()
