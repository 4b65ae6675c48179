"""Streams with reservations executed at true costs, with failures: promises, traces, measures."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt import MultiStage, check
from dlopt.arithmetic import Number
from dlopt.books import Consequences
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.generation.uncertain_times import RandomScenario
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.problems.admission import missed
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import (
    BrokenPromise,
    BrokenReservation,
    Dropped,
    ExecutedReservation,
    Factor,
    Failure,
    Instance,
    Move,
    Reservation,
    Scenario,
    Task,
    TrueEnd,
)
from dlopt.simulation import (
    ExecutedMixedOutcome,
    ExecutedMixedRun,
    MixedRun,
    ReservationMix,
    simulate_many,
)
from dlopt.simulation.mixed_execution import MixedExecution
from dlopt.simulation.reservations import mamat5
from tests.examples import share
from tests.models.multistage.sample_instances import mixed
from tests.simulation.test_executed_stream import ANY_FACTOR, IN_TIME
from tests.simulation.test_executed_stream import scenarios as task_scenarios

F = Fraction


@st.composite
def scenarios(draw: Any, instance: Instance, factors: Any, failing: bool) -> Scenario:
    """Draw true costs, true ends of reservations, and failures."""
    of_tasks = draw(task_scenarios(instance, factors, failing))
    ends = []
    for one in instance.reservations:
        if one.end > instance.now and draw(st.booleans()):
            end = one.start + (one.end - one.start) * draw(factors)
            if end > instance.now:
                ends.append(TrueEnd(one.id, end))
    return Scenario(of_tasks.factors, of_tasks.failures, ends=tuple(ends))


@st.composite
def streams(draw: Any, **options: Any) -> Instance:
    """Draw a stream, in which a task may have the name of a reservation."""
    found: Instance = draw(mixed(most=3, tasks=5, wanted=4, setup=False, **options))
    names = dict(zip((one.id for one in found.reservations), "abc", strict=False))
    if not draw(st.booleans()):
        return found
    named = (replace(one, id=names.get(one.id, one.id)) for one in found.reservations)
    return replace(found, reservations=tuple(named))


def executed(instance: Instance, scenario: Scenario | None = None) -> ExecutedMixedRun:
    try:
        return ExecutedMixedRun(instance, scenario=scenario)
    except PromiseError:
        assume(False)  # a mandatory reservation has no place
        raise


@pytest.mark.property
@share(1 / 4)
@given(st.data())
def test_what_ends_early_breaks_no_promise(data: st.DataObject) -> None:
    instance = data.draw(streams())
    run = executed(instance, data.draw(scenarios(instance, IN_TIME, failing=False)))
    assert run.violations == ()
    assert run.trace.broken == run.trace.dropped == run.trace.broken_reservations == ()
    assert run.trace.moves == () and run.outcome.misses == 0


@pytest.mark.property
@share(1 / 2)
@given(st.data())
def test_every_promise_that_is_not_kept_was_named(data: st.DataObject) -> None:
    instance = data.draw(streams())
    run = executed(instance, data.draw(scenarios(instance, ANY_FACTOR, failing=True)))
    assert run.violations == ()
    if instance.stream is not None:
        assert missed(instance.stream, run.trace) <= {one.task for one in run.trace.broken}
    outcome = run.outcome
    broken = outcome.reservations_broken_by_failures + outcome.reservations_broken_by_overruns
    assert broken == len(run.trace.broken_reservations)
    lost = [one for one in run.trace.reservations if one.lost is not None]
    assert outcome.granted - broken <= len(run.trace.reservations) - len(lost)
    assert 0 <= outcome.reclaimed_time <= outcome.freed_time


@pytest.mark.property
@share(1 / 4)
@given(st.data())
def test_floats_are_executed_by_the_rules_too(data: st.DataObject) -> None:
    instance = data.draw(streams())
    scenario = data.draw(scenarios(instance, ANY_FACTOR, failing=True))
    assert executed(replace(instance, now=0.0), scenario).violations == ()


@pytest.mark.property
@share(1 / 4)
@given(st.data())
def test_without_a_scenario_it_is_the_plain_simulation(data: st.DataObject) -> None:
    instance = data.draw(streams())
    run = executed(instance)
    plain = MixedRun(instance)
    assert run.violations == ()
    assert run.solution.decisions == plain.solution.decisions
    assert run.trace.grants == plain.solution.grants
    assert sorted(map(repr, run.solution.chunks)) == sorted(map(repr, plain.solution.chunks))
    before, after = plain.checked(), run.checked()
    for measure in ("accepted", "granted", "refused", "misses", "longest_queue", "violations"):
        assert getattr(before, measure) == getattr(after, measure)
    assert after.drain == pytest.approx(before.drain)
    assert after.total_reject_ratio == before.total_reject_ratio
    assert plain.rejected() == run.rejected() and plain.waiting() == run.waiting()


@pytest.mark.property
@share(1 / 4)
@given(st.data())
def test_a_busy_cluster_keeps_what_it_promised(data: st.DataObject) -> None:
    instance = data.draw(streams(state=True))
    scenario = data.draw(scenarios(instance, ANY_FACTOR, failing=False))
    try:
        run = ExecutedMixedRun(instance, scenario=scenario)
    except NotApplicableError:
        return  # the algorithm finds no plan for what is promised
    assert run.violations == ()


class RestoredBook(MultiStage):
    """A book that states its plan at every instant, and goes on from what was saved of it."""

    def advance(self, now: Number) -> None:
        super().advance(now)
        state = self.state()
        assert state is None or check(state.instance, state.plan) == ()
        saved = json.loads(json.dumps(self.snapshot()))
        vars(self).update(vars(MultiStage.restore(saved)))


@pytest.mark.property
@share(1 / 4)
@given(st.data())
def test_the_plan_of_the_book_is_valid_all_the_time_and_survives(data: st.DataObject) -> None:
    instance = data.draw(streams())
    scenario = data.draw(scenarios(instance, ANY_FACTOR, failing=True))
    run = executed(instance, scenario)
    done = MixedExecution(RestoredBook.of(instance), instance, scenario)
    done.run()
    assert tuple(one.executed() for one in done.chunks) == run.trace.chunks
    assert tuple(done.broken_reservations) == run.trace.broken_reservations
    assert tuple(done.moves) == run.trace.moves


# Node 1 fails in [3, 10): it ends r; s, which was to follow there, gets node 0 and ends early. Task
# a computes longer than estimated, so that n has to give way.
BY_HAND = Instance(
    Cluster(2, tau=0, chi=1),
    (Task("a", 0, 2, 9), Task("s", 6, 1, 5)),
    (
        Reservation("r", 0, 2, 6),
        Reservation("n", 0, 3, 5, nodes=(0,)),
        Reservation("s", 0, 7, 11),
        Reservation("x", 8, 8, 9, nodes=2),
    ),
)
HAPPENS = Scenario(
    (Factor("a", chi=2),), (Failure(1, 3, 10),), ends=(TrueEnd("s", 9), TrueEnd("x", 30))
)


def test_by_hand() -> None:
    run = ExecutedMixedRun(BY_HAND, scenario=HAPPENS)
    trace, outcome = run.trace, run.outcome
    assert [grant.accepted for grant in trace.grants] == [True, True, True, False]
    assert trace.reservations == (
        ExecutedReservation("r", (1,), 2, 2, 6, lost=3),
        ExecutedReservation("s", (0,), 7, 7, 9),
    )
    assert trace.broken_reservations == (
        BrokenReservation("n", 2, "overrun"),
        BrokenReservation("r", 3, "failure"),
    )
    assert trace.moves == (Move("s", (0,), 3, "failure"),)
    assert [(one.task, one.transmission_start, one.computation_end) for one in trace.chunks] == [
        ("a", 0, 4),
        ("s", 6, 7),
    ]
    assert run.checked().violations == 0
    assert (outcome.reservations, outcome.granted, outcome.refused, outcome.moved) == (4, 3, 1, 1)
    assert (outcome.reservation_reject_ratio, outcome.total_reject_ratio) == (1 / 4, 1 / 6)
    assert outcome.reservations_broken_by_failures == 1
    assert outcome.reservations_broken_by_overruns == 1
    assert (outcome.lost_time, outcome.freed_time, outcome.reclaimed_time) == (1, 2, 0)
    assert (outcome.accepted, outcome.broken, outcome.misses) == (2, 0, 0)
    # The span is [0, 8): the nodes are used for 4, 1, 1 and 1 of it.
    assert outcome.utilization == 7 / 16 and outcome.drain == 1


def test_a_task_and_a_reservation_of_one_name_are_told_apart() -> None:
    """The failure breaks the task alone, the reservation alone, or both."""
    cluster = Cluster(2, tau=0, chi=1)
    task, wanted = Task("x", 0, 8, 4), Reservation("x", 0, 5, 9, nodes=(1,))
    failing = Scenario(failures=(Failure(1, 1, 7),))
    elsewhere = replace(wanted, nodes=(0,))
    only_task = ExecutedMixedRun(Instance(cluster, (task,), (elsewhere,)), scenario=failing)
    assert only_task.trace.broken == (BrokenPromise("x", 1, "failure"),)
    assert only_task.trace.dropped == (Dropped("x", 8, 1),)
    assert only_task.trace.broken_reservations == ()
    both = ExecutedMixedRun(Instance(cluster, (task,), (wanted,)), scenario=failing)
    assert both.trace.broken == (BrokenPromise("x", 1, "failure"),)
    assert both.trace.broken_reservations == (BrokenReservation("x", 1, "failure"),)
    idle = Instance(cluster, (replace(task, load=2),), (wanted,))
    alone = ExecutedMixedRun(idle, scenario=failing)
    assert alone.trace.broken == () and len(alone.trace.broken_reservations) == 1
    assert only_task.violations == both.violations == alone.violations == ()


def test_a_reservation_that_ends_late_moves_another_and_delays_a_task() -> None:
    cluster = Cluster(2, tau=0, chi=1)
    wanted = (Reservation("r", 0, 1, 3, nodes=(1,)), Reservation("q", 0, 3, 5))
    instance = Instance(cluster, (Task("a", 0, 3, 7),), wanted)
    run = ExecutedMixedRun(instance, scenario=Scenario(ends=(TrueEnd("r", 6),)))
    assert [(one.reservation, one.nodes, one.at) for one in run.trace.moves] == [("q", (0,), 3)]
    assert run.trace.broken == run.trace.broken_reservations == () and run.violations == ()


def test_a_reservation_that_ends_early_leaves_its_node_to_a_task() -> None:
    instance = Instance(
        Cluster(1, tau=0, chi=1), (Task("a", 3, 1, 2),), (Reservation("r", 0, 1, 5),)
    )
    assert not ExecutedMixedRun(instance).trace.decisions[0].accepted
    run = ExecutedMixedRun(instance, scenario=Scenario(ends=(TrueEnd("r", 2),)))
    assert [(one.task, one.computation_end) for one in run.trace.chunks] == [("a", 4)]
    assert (run.outcome.freed_time, run.outcome.reclaimed_time) == (3, 1)
    assert run.violations == ()


def test_reservations_are_decided_before_tasks_that_arrive_with_them() -> None:
    wanted = Reservation("r", 1, 2, 4)
    instance = Instance(Cluster(1, tau=0, chi=1), (Task("a", 1, 2, 3),), (wanted,))
    run = ExecutedMixedRun(instance)
    assert run.trace.grants[0].accepted and not run.trace.decisions[0].accepted
    assert MixedRun(instance).solution.decisions == run.trace.decisions


def test_small_chunks_that_end_early_do_not_divide_the_time_before_a_reservation() -> None:
    """Without a least chunk this goes on for ever: each early end leaves time for another one."""
    tasks = (Task("a", 0, 8, 40), Task("b", 0, 8, 41))
    instance = Instance(Cluster(2, tau=2, chi=F(1, 2)), tasks, (Reservation("r", 0, 14, 19),))
    factors = (Factor("a", tau=F(5, 8)), Factor("b", tau=F(5, 8), chi=F(13, 8)))
    run = ExecutedMixedRun(instance, scenario=Scenario(factors))
    assert run.violations == () and len(run.trace.chunks) < 100


class BoundedBook(MultiStage):
    """A book that never has more chunks to send than two for each node."""

    def progress(self, *chunk: Any, **ends: Number) -> Consequences:
        done = super().progress(*chunk, **ends)
        assert len(self.upcoming_chunks()) <= 2 * self.cluster.nodes
        return done


@pytest.mark.parametrize("nodes", [8, 16])
def test_late_chunks_do_not_divide_a_task_into_ever_more_chunks(nodes: int) -> None:
    """Its small chunks are planned again with the others, and are no obstacles to these.

    Where they are not, 16 nodes have more than 700 chunks of the task to send at one time.
    """
    task = Task("a", 0, 2742 * nodes // 16, 231_000)
    wanted = Reservation("r", 0, 168_500, 506_000, nodes=nodes // 2, io_end=173_200)
    instance = Instance(Cluster(nodes, tau=1, chi=1000), (task,), (wanted,))
    factor = Factor("a", tau=F(17, 20), chi=F(103, 100))
    scenario = Scenario((factor,), (Failure(nodes - 6, 7_800, 120_000),))
    done = MixedExecution(BoundedBook.of(instance), instance, scenario)
    done.run()
    assert nodes - 1 <= len(done.chunks) <= 2 * nodes


def test_what_was_promised_before_is_executed_too() -> None:
    over = Reservation("o", 0, 0, 1, nodes=(0,))
    under_way, later = Reservation("u", 0, 1, 5, nodes=(1,)), Reservation("l", 0, 4, 6, nodes=(0,))
    instance = Instance(
        Cluster(2, 1, 1), (Task("a", 0, 1, 9, remaining=1),), (over, under_way, later), now=2
    )
    run = ExecutedMixedRun(instance, scenario=Scenario(failures=(Failure(1, 1, 3),)))
    assert [one.reservation for one in run.trace.reservations] == ["u", "l"]
    assert run.trace.broken_reservations == (BrokenReservation("u", 2, "failure"),)
    assert run.outcome.reservations == 0 and run.outcome.reservation_reject_ratio is None
    assert run.violations == ()


def test_reservations_alone_are_executed() -> None:
    instance = Instance(Cluster(1, 1, 1), (), (Reservation("r", 0, 1, 3),))
    run = ExecutedMixedRun(instance, scenario=Scenario(ends=(TrueEnd("r", 2),)))
    assert run.outcome.freed_time == 1 and run.violations == () and run.waiting() == []


def test_what_does_not_fit_is_refused() -> None:
    instance = Instance(Cluster(1, 1, 1), (Task("a", 2, 1, 9),), now=1, ready_times=(4,))
    with pytest.raises(InvalidInstanceError, match="must be a reservation of the instance"):
        ExecutedMixedRun(instance, scenario=Scenario(ends=(TrueEnd("b", 3),)))
    with pytest.raises(NotApplicableError, match="fails while it is busy"):
        ExecutedMixedRun(instance, scenario=Scenario(failures=(Failure(0, 3),)))
    with pytest.raises(NotApplicableError, match="does not keep what it promises"):
        ExecutedMixedRun(instance, "multi-stage:literal")
    with pytest.raises(NotApplicableError, match="a scenario of multistage is needed"):
        ExecutedMixedRun(instance, scenario={})  # type: ignore[arg-type]
    with pytest.raises(NotApplicableError, match="a multistage instance is needed"):
        ExecutedMixedRun(3)  # type: ignore[arg-type]


def test_a_mandatory_reservation_on_a_node_that_is_down_ends_the_run() -> None:
    wanted = Reservation("r", 2, 3, 5, nodes=(0,), mandatory=True)
    instance = Instance(Cluster(1, 1, 1), (), (wanted,))
    with pytest.raises(PromiseError, match="mandatory reservation r"):
        ExecutedMixedRun(instance, scenario=Scenario(failures=(Failure(0, 1),)))


def test_scenarios_are_drawn_for_each_stream_of_a_comparison() -> None:
    drawn = RandomScenario(500_000, 50_000, 0.5, 1.5)
    points = simulate_many(
        "mamat5",
        ["multi-stage"],
        seeds=[1, 2],
        check=True,
        parameters={"horizon": 800_000, "nodes": 32},
        reservation_mix=ReservationMix(0.5, 20_000),
        scenario=drawn,
    )
    (point,) = points
    for outcome in point.outcomes:
        assert isinstance(outcome, ExecutedMixedOutcome) and outcome.violations == 0
        assert outcome.reservations > 0
    assert any(one.freed_time for one in point.outcomes if isinstance(one, ExecutedMixedOutcome))
    with pytest.raises(NotApplicableError, match="multi-stage:literal does not keep"):
        simulate_many("mamat5", "multi-stage:literal", scenario=drawn)


def test_the_same_seed_draws_the_same_ends() -> None:
    stream = mamat5(horizon=2_000_000, nodes=32, seed=1)
    instance = ReservationMix(0.5).of(stream, 1)
    drawn = RandomScenario(500_000, 50_000, 0.5, 1, share=0.5)
    scenario = drawn.of_mixed(instance, stream, 1)
    assert scenario == drawn.of_mixed(instance, stream, 1) != drawn.of_mixed(instance, stream, 2)
    assert 0 < len(scenario.ends) < len(instance.reservations)
    ends = {one.id: one.end for one in instance.reservations}
    assert all(one.end <= ends[one.reservation] for one in scenario.ends)
    assert RandomScenario().of_mixed(instance, stream) == Scenario()
    over = Reservation("o", 0, 0, 1, nodes=(0,))
    busy = replace(instance, reservations=(over, *instance.reservations), now=2.0)
    later = replace(drawn, share=1).of_mixed(busy, stream, 1)
    assert "o" not in {one.reservation for one in later.ends}
