"""The printed algorithms: each flaw is seen on its instance, and found again by chance."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.multistage import algorithm_names, engine
from dlopt.heuristics.multistage.busy_intervals import ReservedWindow, TimedChunk
from dlopt.heuristics.multistage.literal_algorithms_3_4 import (
    CapacityEstimate,
    PlanningTask,
    estimate_capacity,
    partition_load,
)
from dlopt.heuristics.multistage.literal_stream import FLAWS, LiteralPlanner
from dlopt.heuristics.multistage.methods import decide_all
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task, objective, violations
from tests.heuristics.multistage.strategies import first_broken, streams
from tests.heuristics.reference.multistage_engine import reference_decisions

F = Fraction
FOLDER = Path(__file__).parents[3] / "instances" / "multistage" / "counterexamples"
CAUGHT = {
    "F1": {"load-not-conserved"},
    "F2": {"reservation-channel-overlap"},
    "F3": {"reservation-channel-overlap", "reservation-node-overlap"},
    "F4": {"load-not-conserved"},
    "F5": {"deadline"},
    "F6": {"negative-load", "load-not-conserved"},
    "F7": {"node-not-ready"},
    "F8": {"reservation-node-overlap"},
    "F9": {"starts-before-arrival"},
    "M1": {"node-overlap"},
    "M2": {"reservation-channel-overlap", "reservation-node-overlap"},
    "M3": {"reservation-channel-overlap"},
}
ACCEPTED = {"F5": 2, "F6": 2, "F7": 2, "F8": 3, "F9": 1, "M1": 3, "M2": 2, "M3": 2}
"""What the repaired algorithm accepts on each instance; where not said, the reservation alone."""
SEEDS = {"F5": 2, "F8": 1, "M2": 2, "M3": 2, "F7": 2}


def counterexample(flaw):
    data = json.loads((FOLDER / f"multi-stage-literal-{flaw.lower()}.json").read_text())
    assert data.pop("problem") == "multistage" and data.pop("version") == 1
    return Instance.from_data(data)


@pytest.mark.parametrize("flaw", FLAWS)
def test_each_flaw_is_caught_and_the_repair_is_right(flaw):
    instance = counterexample(flaw)
    plan = decide_all(f"multi-stage:literal-{flaw}", instance).plan()
    assert {one.kind for one in violations(instance, plan)} == CAUGHT[flaw]
    assert violations(instance, decide_all("multi-stage:literal", instance).plan())
    for decide in (decide_all, reference_decisions):
        plan = decide("multi-stage", instance).plan()
        assert violations(instance, plan) == ()
        assert objective(instance, plan) == ACCEPTED.get(flaw, 1)


@pytest.mark.parametrize("flaw", ["literal", *FLAWS])
def test_each_flaw_is_found_again(flaw):
    name = "multi-stage:literal" if flaw == "literal" else f"multi-stage:literal-{flaw}"
    found, _ = first_broken(name, SEEDS.get(flaw, 1), 1000, violations)
    assert found is not None
    assert violations(found, decide_all("multi-stage", found).plan()) == ()


@pytest.mark.property
@given(streams())
def test_without_any_flaw_nothing_is_broken(instance):
    """So what a flaw breaks is broken by that flaw."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            engine, "make_planner", lambda _, *state, **options: LiteralPlanner("none", *state)
        )
        assert violations(instance, decide_all("multi-stage", instance).plan()) == ()


@pytest.mark.property
@given(streams(), st.sampled_from(["literal", *FLAWS]))
def test_whatever_is_printed_is_a_plan(instance, flaw):
    """It may be a wrong one; decisions are made at arrivals, and all are there."""
    head = decide_all(algorithm_names.Algorithm(flaw).name, instance)
    head.advance(1000)
    assert head.waiting == ()
    plan = head.plan()
    assert [one.task for one in plan.decisions] == [task.id for task in instance.tasks]
    wanted = [one.id for one in instance.reservations]
    assert [one.reservation for one in plan.grants] == wanted
    kinds = {one.kind for one in violations(instance, plan)}
    assert not kinds & {
        "wrong-decision-time",
        "undecided",
        "wrong-reservation-nodes",
        "unknown-node",
    }


def test_the_printed_estimate_line_by_line():
    """Two nodes and three reservations: one overlooked, one inside, one after the deadline."""
    windows = [
        ReservedWindow(8, 9, 12, (0,)),
        ReservedWindow(1, 3, 4, (1,)),
        ReservedWindow(4, 5, 6, (1,)),
    ]
    task = PlanningTask(arrival=2, now=2, load=F(2), deadline=7)
    found = estimate_capacity((F(1), F(1)), windows, [F(0), F(2)], task)
    assert found.order == (0, 1)
    assert found.available == {0: 0, 1: 3}
    # node 0: 7 - 2 - (1 - 1) - 3 = 2; node 1: 7 - 3 - 0 - 1 - 1 = 2
    assert found.shares == (1, 1)
    assert found.fewest(F(2)) == 2
    assert found.fewest(F(3)) is None


def test_the_printed_partition_stage_by_stage():
    windows = [ReservedWindow(F(4), F(6), F(7), (1,))]
    found = CapacityEstimate((0, 1), {0: F(0), 1: F(1)}, (F(9), F(9)))
    task = PlanningTask(arrival=0, now=0, load=F(5), deadline=F(12))
    stage_chunks = partition_load((F(1), F(1)), windows, found, 2, task)
    assert [(stage, chunk.node, chunk.load, chunk.start) for stage, chunk in stage_chunks] == [
        (0, 0, 3, 0),
        (0, 1, F(1, 2), 3),
        (1, 0, F(3, 2), 6),
    ]


def test_the_printed_partition_sends_nothing_in_a_stage_without_time():
    """The node comes from one reservation at the instant at which the next one begins."""
    windows = [ReservedWindow(F(2), F(4), F(4), (0,)), ReservedWindow(F(4), F(5), F(5), (0,))]
    task = PlanningTask(arrival=0, now=0, load=F(2), deadline=F(20))
    stage_chunks = partition_load(
        (F(1), F(1)), windows, CapacityEstimate((0,), {0: F(0)}, (F(9),)), 1, task
    )
    assert stage_chunks == [(0, TimedChunk(0, 1, 0, 1, 2)), (2, TimedChunk(0, 1, 5, 6, 7))]


def test_a_task_that_no_chunk_is_planned_of_is_forgotten():
    """F4 promises what it cannot place; later tasks are decided as if it were gone."""
    head = engine.MultiStage(Cluster(1, 1, 1), "multi-stage:literal-F4", ready_times=(1,))
    assert head.reserve(Reservation("r", 0, 1, 4, io_end=2, nodes=(0,))).accepted
    assert head.submit(Task("t", 0, 1, 4)).accepted
    head.advance(0)
    assert head.waiting == ()
    assert head.submit(Task("u", 0, 1, 6)).accepted
    assert head.waiting == ("u",)
    assert [chunk.task for chunk in head.plan().chunks] == ["u"]


def test_a_busy_channel_is_a_window_for_the_printed_ones_too():
    head = engine.MultiStage(Cluster(1, 1, 1), "multi-stage:literal-M2", channel_ready=3)
    assert head.reserve(Reservation("r", 0, 2, 4, io_end=3)).conflict == "channel"
    assert head.submit(Task("t", 0, 1, 5)).accepted
    (chunk,) = head.plan().chunks
    assert chunk.transmission_start == 3


def test_names():
    assert [algorithm_names.parse(name).name for name in algorithm_names.NAMES] == list(
        algorithm_names.NAMES
    )
    assert len(algorithm_names.NAMES) == 15
