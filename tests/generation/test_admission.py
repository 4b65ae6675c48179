"""Families of streams, as instances; and real logs as streams."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.formats import swf
from dlopt.generation import described, families, generate
from dlopt.generation.log_stream import stream_from_log
from dlopt.generation.paper_workloads import mamat4
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition
from dlopt.io import instance_from_data, instance_hash, instance_to_data
from dlopt.problems import admission, multistage
from dlopt.problems.admission import Instance
from dlopt.problems.validated_record import Units
from dlopt.simulation import simulate
from tests.data import data_folder

NAMES = ("small", "mamat4", "lin5", "waiting")


def made(family: str, **parameters: Any) -> Instance:
    instance = generate("admission", family, **parameters)
    assert isinstance(instance, Instance)
    return instance


def test_the_families_and_what_they_tell_of_themselves() -> None:
    assert tuple(families("admission")) == NAMES
    for family in described("admission"):
        assert family.summary and all(p.help for p in family.parameters), family
        assert "seed" not in [p.name for p in family.parameters]


@pytest.mark.parametrize("family", NAMES)
def test_a_family_makes_instances_that_files_can_hold(family: str) -> None:
    few: dict[str, Any] = {"mamat4": {"horizon": 1e6}, "lin5": {"horizon": 1e5}}.get(family, {})
    first = made(family, seed=1, **few)
    assert instance_from_data(instance_to_data(first)) == first
    assert instance_hash(first) == instance_hash(made(family, seed=1, **few))
    assert instance_hash(first) != instance_hash(made(family, seed=2, **few))
    assert first.name.endswith("-1") and "seed 1" in first.origin


def test_a_family_of_a_workload_has_its_tasks() -> None:
    assert made("mamat4", horizon=1e6, seed=4) == mamat4(horizon=1e6, seed=4).instance()


@pytest.mark.parametrize(
    ("family", "parameters", "told"),
    [
        ("mamat4", {"horizon": 1}, "no task arrives before the horizon"),
        ("mamat4", {"tasks": 3}, "family mamat4 has no parameter 'tasks'"),
        ("mamat4", {"tau": "x"}, "tau=x does not fit"),
        ("small", {"nodes": 0}, "nodes must be an integer from 1 to 1000"),
        ("small", {"tasks": 1001}, "tasks must be an integer from 1 to 1000"),
        ("small", {"span": -1}, "span must be an integer from 0"),
        ("small", {"largest": Fraction(1, 2)}, "largest must be an integer from 1"),
        ("small", {"largest_weight": 0}, "largest_weight must be an integer from 1"),
        ("small", {"parts": 0}, "parts must be an integer from 1"),
        ("small", {"slack": Fraction(1, 2)}, "slack must be at least 1"),
        ("small", {"slack": "x"}, "slack=x does not fit"),
    ],
)
def test_bad_parameters(family: str, parameters: dict[str, Any], told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        made(family, **parameters)


@pytest.mark.property
@given(
    st.integers(1, 5),
    st.integers(1, 8),
    st.sampled_from([0, 1, Fraction(3, 2)]),
    st.sampled_from([1, 4]),
    st.integers(0, 99),
)
def test_small_instances_are_exact_and_no_deadline_is_hopeless(
    nodes: int, tasks: int, setup: Any, parts: int, seed: int
) -> None:
    sizes = {"nodes": nodes, "tasks": tasks, "parts": parts, "seed": seed}
    instance = made("small", theta_cm=setup, theta_cp=setup, **sizes)
    rule = OptimalPartition(1, 2, setup, setup)
    assert instance.exact and len(instance.tasks) == tasks
    for task in instance.tasks:
        for value in (task.arrival, task.load, task.deadline):
            assert Fraction(value * parts).denominator == 1
        assert 0 <= task.arrival <= 12 and 0 < task.load <= 6
        best = rule.execution_time(task.load, rule.n_star(task.load, nodes) or nodes)
        latest = 2 * rule.execution_time(task.load, 1)
        assert best <= task.deadline < latest + 1


@pytest.mark.parametrize("stem", ["admission", "multistage"])
def test_weights_change_nothing_else(stem: str) -> None:
    plain, weighted = (
        generate(stem, "small", tasks=30, seed=3, largest_weight=most) for most in (1, 4)
    )
    assert isinstance(weighted, admission.Instance | multistage.Instance)
    assert isinstance(plain, admission.Instance | multistage.Instance)
    assert plain.weights is None and set(weighted.weights or ()) == {1, 2, 3, 4}
    tasks = tuple(replace(task, weight=1) for task in weighted.tasks)
    assert replace(weighted, tasks=tasks) == plain


# replay

LOG = """; Computer: Toy
; MaxProcs: 4
1 100 -1 50 2 -1 -1 2 80 -1 1 1 1 -1 -1 -1 -1 -1
3 130 -1 12.5 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1
2 110 -1 10 8 -1 -1 8 -1 -1 1 1 1 -1 -1 -1 -1 -1
4 140 -1 0 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1
5 150 -1 7 0 -1 -1 0 20 -1 5 1 1 -1 -1 -1 -1 -1
6 160 -1 -1 2 -1 -1 2 20 -1 5 1 1 -1 -1 -1 -1 -1
6 160 -1 9 2 -1 -1 2 20 -1 2 1 1 -1 -1 -1 -1 -1
"""
TOY = swf.parse(LOG.splitlines())


def test_a_job_is_as_much_work_as_it_was() -> None:
    made = stream_from_log(TOY)
    assert [task.id for task in made.instance.tasks] == ["1", "2", "3"]
    assert [task.arrival for task in made.instance.tasks] == [0, 10, 30]
    assert [task.load for task in made.instance.tasks] == [1, Fraction(4, 5), 0.125]
    assert made.instance.cluster.nodes == 4 and made.instance.cluster.chi == 100
    assert made.left_out == (("without run time", 2), ("without processors", 1))
    assert "Toy" in made.instance.origin and made.instance.units == Units("s")


def test_deadlines_by_execution_times() -> None:
    tasks = stream_from_log(TOY, deadline_factor=3, theta_cm=1, theta_cp=2, tau=2).instance.tasks
    rule = OptimalPartition(2.0, 100.0, 1.0, 2.0)
    # Job 2 had 8 processors where there are 4.
    for task, processors in zip(tasks, (2, 4, 1), strict=True):
        wanted = 3 * rule.execution_time(float(task.load), processors)
        assert task.deadline == pytest.approx(wanted, rel=1e-12)
    slow = stream_from_log(TOY, theta_cm=1000).instance.tasks[0]  # a second node does not help
    assert slow.deadline == pytest.approx(2 * (1000 + 101))


def test_deadlines_by_requested_times() -> None:
    made = stream_from_log(TOY, deadline_rule="requested", deadline_factor=Fraction(1, 2))
    assert [(task.id, task.deadline) for task in made.instance.tasks] == [("1", 40), ("3", 10)]
    assert ("without requested time", 1) in made.left_out
    floating = stream_from_log(TOY, deadline_rule="requested", deadline_factor=0.25, chi=10.0)
    assert [task.deadline for task in floating.instance.tasks] == [20.0, 5.0]
    assert floating.instance.tasks[0].load == 10.0


def test_a_window_of_a_log() -> None:
    made = stream_from_log(TOY, at=105, span=25, machines=16, name="part")
    (task,) = made.instance.tasks
    assert (task.id, task.arrival) == ("2", 5) and made.instance.cluster.nodes == 16
    assert made.left_out == () and made.instance.name == "part"
    assert [task.id for task in stream_from_log(TOY, at=110, span=21).instance.tasks] == ["2", "3"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"deadline_rule": "soon"}, "deadline rules are execution and requested, not 'soon'"),
        ({"deadline_factor": 0}, "deadline_factor must be a positive number, got 0"),
        ({"deadline_factor": float("nan")}, "deadline_factor must be a positive number, got nan"),
        ({"span": -1}, "span must be a positive number, got -1"),
        ({"chi": 0}, "chi must be a positive number, got 0"),
        ({"span": 10**5000}, "span must be a positive number, got 1e"),
        ({"at": float("inf")}, "at must be a finite number"),
        ({"at": 135}, "no job of the log is left: 2 without run time, 1 without processors"),
        ({"at": 999}, "no job of the log is left: none in that time"),
    ],
)
def test_bad_replays(options: dict[str, Any], told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        stream_from_log(TOY, **options)


def test_logs_that_do_not_say_enough() -> None:
    with pytest.raises(NotApplicableError, match="--machines N"):
        stream_from_log(swf.SwfLog((), TOY.jobs))
    with pytest.raises(NotApplicableError, match="no job of the log is left: it has none"):
        stream_from_log(swf.SwfLog(TOY.header, ()))
    with pytest.raises(InvalidInstanceError, match="tau: must not be negative"):
        stream_from_log(TOY, tau=-1)


def test_a_real_log_is_replayed() -> None:
    log = swf.read(data_folder("swf") / "NASA-iPSC-1993-3.1-cln.swf")
    made = stream_from_log(log)
    assert made.left_out == (("without run time", 173),)
    assert len(made.instance.tasks) == 18_066 and made.instance.cluster.nodes == 128
    outcome = simulate(made.instance, "edf-opr-an")
    assert outcome.tasks == 18_066 and outcome.misses == 0
    assert 0.4 < (outcome.reject_ratio or 0) < 0.7
