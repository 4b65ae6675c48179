"""Which cells there are, and what is refused before any work."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from dlopt import InvalidInstanceError, Limits, NotApplicableError, Status, read
from dlopt.batch import NamedInstance, instance_files, plan_runs, read_item
from dlopt.batch.metrics import evaluate, group_by_label
from dlopt.batch.record_reading import record_from_line
from dlopt.batch.runs import solve_run
from tests.batch.conftest import INSTANCES

THREE = read(INSTANCES / "three-nodes.json")
SLIP = read(INSTANCES / "counterexamples" / "opr-literal-timeline.json")
BAG = read(INSTANCES.parent / "bag" / "small-etc.json")


def test_everything_times_everything() -> None:
    limits = (Limits(1), Limits(2))
    plan = plan_runs([THREE], ["opr", "exact"], limits=limits, seeds=[3, 4])
    assert [(c.key.method, c.key.limits.time_s, c.key.seed) for c in plan.runs] == [
        (method, time, seed) for method in ("opr", "exact") for time in (1, 2) for seed in (3, 4)
    ]
    assert [run.hard_timeout_s for run in plan.runs][::2] == [62, 64] * 2
    assert len({run.key for run in plan.runs}) == 8
    assert pickle.loads(plan.runs[0].payload) == THREE


def test_all_methods_and_objectives_that_apply() -> None:
    names = {run.key.method for run in plan_runs([THREE]).runs}
    assert {"opr", "exact", "bound-fluid"} <= names and not any(":literal" in n for n in names)
    assert any(":literal" in c.key.method for c in plan_runs([SLIP], literal=True).runs)
    every = plan_runs([THREE, read(INSTANCES / "four-nodes.json")], ["exact"], objectives="all")
    assert [(c.instance, c.key.objective) for c in every.runs] == [
        ("three-nodes", "completion"),  # without a deadline there is no number of nodes
        ("four-nodes", "completion"),
        ("four-nodes", "nodes"),
    ]


def test_methods_belong_to_problems() -> None:
    plan = plan_runs([THREE, BAG], ["opr", "min-min"])
    assert [(c.key.problem, c.key.method) for c in plan.runs] == [
        ("iit", "opr"),
        ("bag", "min-min"),
    ]


def test_what_does_not_apply_is_told() -> None:
    plan = plan_runs([read(INSTANCES / "different-6.json")], ["opr", "exact"])
    assert [run.key.method for run in plan.runs] == ["exact"]
    assert [(left.instance, left.method) for left in plan.skipped] == [("different-6", "opr")]


def test_options_go_to_the_methods_that_have_them() -> None:
    plan = plan_runs([BAG], ["kpb", "min-min"], options={"k": "50"})
    assert [dict(run.key.options) for run in plan.runs] == [
        {"k": plan.runs[0].key.options[0][1]},
        {},
    ]
    assert plan.runs[0].key.options[0][1] != "50"  # a number, as the method declares


def test_equal_instances_are_solved_once() -> None:
    plan = plan_runs([THREE, NamedInstance(THREE, "again", "x")], ["opr"])
    assert len(plan.runs) == 1 and plan.duplicates == (("again", "three-nodes"),)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"methods": ["exakt"]}, "no method 'exakt'"),
        ({"methods": ["min-min"]}, "min-min is a method of none of the problems given"),
        ({"objectives": ["beauty"]}, "no method and instance have the objective 'beauty'"),
        ({"options": {"depth": 3}}, "no method has the option 'depth'"),
        ({"options": {"opr.depth": 3}}, r"opr has no option 'depth' \(known: assignment"),
        ({"options": {"opr.assignment": 3}, "methods": ["epr"]}, "opr is not among the methods"),
        ({"hard_timeout_s": 0}, "hard-timeout must be positive"),
    ],
)
def test_names_that_nothing_answers_to(flags: dict[str, object], told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        plan_runs([THREE], **flags)  # type: ignore[arg-type]


def test_files_and_families(tmp_path: Path) -> None:
    data = json.loads((INSTANCES / "three-nodes.json").read_text()) | {"name": ""}
    (tmp_path / "b").mkdir()
    for name, origin in (
        ("z.json", "dlopt generate iit --family ramp, seed 3"),
        ("b/a.json", "drawn as in Min 2001, 4.5: min-4, seed 1"),
        ("b/c.json", "worked by hand: seeds, of flowers"),
    ):
        (tmp_path / name).write_text(json.dumps(data | {"origin": origin}))
    items = [read_item(file) for file in instance_files([tmp_path])]
    assert [item[1:] for item in items] == [("z", "ramp"), ("a", "min-4"), ("c", "b")]
    (tmp_path / "none").mkdir()
    with pytest.raises(InvalidInstanceError, match=r"none: has no \.json file"):
        list(instance_files([tmp_path / "none"]))


def test_how_numbers_are_read_makes_other_cells() -> None:
    as_float = read_item(INSTANCES / "three-nodes.json", "float")
    (run,) = plan_runs([as_float], ["opr"], numbers="float").runs
    (other,) = plan_runs([THREE], ["opr"]).runs
    assert run.key.hash == other.key.hash and run.key != other.key


def test_runs_with_certificates_only_are_other_runs() -> None:
    (plain,) = plan_runs([THREE], ["edf-iit-2"]).runs
    (certified,) = plan_runs([THREE], ["edf-iit-2"], certified=True).runs
    assert plain.key != certified.key == replace(plain.key, certified=True)
    claimed, stated = solve_run(plain).record, solve_run(certified).record
    assert (claimed.status, claimed.bound, claimed.proof) == (
        Status.OPTIMAL,
        claimed.value,
        "exact",
    )
    assert (stated.status, stated.bound, stated.proof) == (Status.FEASIBLE, None, None)
    assert stated.value == claimed.value and "claimed, not certified" in (stated.reason or "")
    for record in (claimed, stated):
        assert record_from_line(record.to_line()) == record
    assert "certified" not in claimed.to_data()  # lines of such runs are those of older releases
    labels = group_by_label(evaluate([claimed, stated]))
    assert list(labels) == ["edf-iit-2", "edf-iit-2, certified"]
    assert list(group_by_label(evaluate([stated]))) == ["edf-iit-2"]


def test_a_line_that_says_otherwise_than_true_or_false() -> None:
    (run,) = plan_runs([THREE], ["opr"]).runs
    data = json.loads(solve_run(run).record.to_line()) | {"certified": "yes"}
    with pytest.raises(InvalidInstanceError, match="certified: must be true or false"):
        record_from_line(json.dumps(data).encode())
