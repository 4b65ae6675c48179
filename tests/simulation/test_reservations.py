"""Mixed streams: tasks and reservations, decided on, measured, checked."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from dlopt.errors import NotApplicableError
from dlopt.generation.multistage import small
from dlopt.generation.paper_workloads import Workload, mamat4
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.heuristics.multistage.methods import decide_all
from dlopt.io import read
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task, objective
from dlopt.simulation import (
    MixedOutcome,
    MixedRun,
    ReservationMix,
    simulate,
    simulate_many,
    simulate_mixed,
)
from dlopt.simulation.reservations import mamat5
from tests.examples import share
from tests.instance_files import ROOT
from tests.models.multistage.sample_instances import around, mixed

FEW = {"horizon": 400_000, "nodes": 64}
# One node: a is sent in [0, 2) and computed until 4; r holds the node in [4, 8), s in [6, 9).
ONE = Instance(
    Cluster(1, 1, 1),
    (Task("a", 0, 2, 4), Task("b", 1, 2, 5), Task("c", 2, 2, 20)),
    (Reservation("r", 1, 4, 8), Reservation("s", 2, 6, 9)),
)


def test_what_is_counted_of_a_stream_by_hand() -> None:
    """The span is [0, 6): the node works for 4 and is reserved for 2 of it; c waits."""
    run = MixedRun(ONE)
    found = run.checked()
    assert (found.tasks, found.accepted, found.rejected, found.misses) == (3, 2, 1, 0)
    assert (found.reservations, found.granted, found.refused) == (2, 1, 1)
    assert found.reject_ratio == pytest.approx(1 / 3)
    assert found.reservation_reject_ratio == 0.5
    assert found.total_reject_ratio == 2 / 5
    assert found.utilization == 1.0
    assert found.drain == 6.0  # c is done at 12
    assert (found.mean_queue, found.longest_queue, found.violations) == (0.0, 0, 0)
    assert run.rejected() == [(1.0, 1)]
    assert run.waiting() == [(2.0, 1), (8.0, 0)]
    assert (found.system_load, found.realised_load, found.promised) == (None, None, 0)


@pytest.mark.property
@share(1 / 2)
@given(mixed(most=3, tasks=3, wanted=3, setup=False, state=True))
def test_decisions_are_those_of_the_method(instance: Instance) -> None:
    """Queues are looked at before every task; that changes no decision and no chunk."""
    try:
        plan = decide_all("multi-stage", instance).plan()
    except PromiseError:
        with pytest.raises(PromiseError):
            MixedRun(instance)
        return
    run = MixedRun(instance)
    assert run.solution == plan
    outcome = run.checked()
    assert outcome.violations == outcome.misses == 0
    yes = outcome.accepted + outcome.granted
    told = sum(one.arrival < instance.now for one in (*instance.tasks, *instance.reservations))
    assert yes + told == objective(instance, plan, "accepted-tasks") + objective(
        instance, plan, "accepted-reservations"
    )


def test_without_reservations_it_is_the_simulation_of_tasks() -> None:
    """Measures mean the same: of tasks that take all nodes until they are done, they agree."""
    stream = Workload(Cluster(1, 1.0, 3.0), (0.0, 1.0, 4.0), (2.0, 2.0, 1.0), (9.0, 16.0, 20.0), 10)
    plain = simulate(stream, "edf-iit-2")
    found = simulate_mixed(ReservationMix(0).of(stream), workload=stream)
    for name in ("tasks", "accepted", "reject_ratio", "misses", "drain", "mean_queue", "workload"):
        assert getattr(found, name) == getattr(plain, name)
    assert found.longest_queue == plain.longest_queue == 1
    assert found.utilization == pytest.approx(plain.utilization)
    assert found.reservation_reject_ratio is None
    assert found.total_reject_ratio == found.reject_ratio


def test_a_literal_that_misses_is_told() -> None:
    file = ROOT / "instances" / "multistage" / "counterexamples" / "multi-stage-literal-f5.json"
    run = MixedRun(read(file), "multi-stage:literal-F5")
    assert run.outcome.misses > 0 and run.outcome.miss_ratio
    assert run.checked().violations == len(run.violations) > 0
    sound = simulate_mixed(read(file), check=True)
    assert (sound.misses, sound.violations) == (0, 0)


def test_load_that_is_lost_is_a_miss() -> None:
    file = ROOT / "instances" / "multistage" / "counterexamples" / "multi-stage-literal-f6.json"
    run = MixedRun(read(file), "multi-stage:literal-F6")
    assert "load-not-conserved" in {violation.kind for violation in run.violations}
    assert run.outcome.misses == 1


def test_promises_are_served_and_not_counted() -> None:
    held = ((0, 3, 4, 6, (0,)), (5, 20, 21, 22, 1))
    busy = around(2, 1, 1, (0, 2, 9), (5, 1, 9), held=held, now=4, ready_times=(4, 6))
    run = MixedRun(busy)
    assert (run.outcome.tasks, run.outcome.reservations, run.outcome.promised) == (1, 1, 1)
    assert (run.outcome.accepted, run.outcome.granted) == (1, 1)
    assert run.workload.begin == 4.0
    assert run.violations == ()


def test_reservations_alone_and_promises_alone() -> None:
    only = Instance(Cluster(1, 1, 1), (), (Reservation("r", 0, 4, 8), Reservation("s", 1, 8, 9)))
    found = simulate_mixed(only)
    assert (found.tasks, found.reject_ratio, found.mean_queue) == (0, None, None)
    assert (found.granted, found.utilization, found.drain) == (2, 1.0, 1.0)
    over = Instance(Cluster(1, 1, 1), (), (Reservation("r", 0, 2, 8, nodes=(0,)),), now=3)
    assert simulate_mixed(over).utilization is None


def test_a_share_of_a_stream_is_reserved() -> None:
    stream = mamat5(**FEW, seed=3)
    assert stream.name == "mamat5-0.5-3"
    at_once = ReservationMix(0.5).of(stream, seed=1)
    assert len(at_once.reservations) == pytest.approx(len(stream) / 2, abs=1)
    assert all(one.arrival == one.start for one in at_once.reservations)
    early = ReservationMix(Fraction(1, 2), advance=2, intervals=True).of(stream, seed=1)
    interval = (stream.arrivals[-1] - stream.arrivals[0]) / (len(stream) - 1)
    ahead = {one.start - one.arrival for one in early.reservations if one.arrival}
    assert ahead and all(time == pytest.approx(2 * interval) for time in ahead)
    assert {one.id for one in early.reservations} == {one.id for one in at_once.reservations}


def test_many_streams_see_the_same_reservations_on_any_number_of_processes() -> None:
    names = ["multi-stage", "multi-stage:literal-M3"]
    found = [
        simulate_many(
            "mamat5",
            names,
            loads=[0.4, 0.9],
            seeds=[1, 2],
            processes=processes,
            check=True,
            parameters=FEW,
            reservation_mix=ReservationMix(0.4, 1, intervals=True),
        )
        for processes in (1, 2)
    ]
    assert found[0] == found[1]
    first, *_ = found[0]
    streams = [mamat5(system_load=0.4, seed=seed, **FEW) for seed in (1, 2)]
    reservation_mix = ReservationMix(0.4, 1, intervals=True)
    for seed, stream, outcome in zip((1, 2), streams, first.outcomes, strict=True):
        assert isinstance(outcome, MixedOutcome)
        made = reservation_mix.of(stream, seed)
        assert outcome == simulate_mixed(made, workload=stream, check=True)
        assert outcome.violations == 0 and outcome.reservations > 0
        assert (outcome.system_load, outcome.realised_load) == (0.4, stream.realised_load)
        assert pickle.loads(pickle.dumps(outcome)) == outcome
    mean = first.estimate("reservation_reject_ratio")
    assert mean is not None and 0 <= mean.mean <= 1


def test_without_reservations_methods_of_both_kinds_see_the_same_tasks() -> None:
    one, two = simulate_many("mamat5", ["edf-iit-2", "multi-stage"], seeds=[1], parameters=FEW)
    assert one.outcomes[0].tasks == two.outcomes[0].tasks
    assert two.outcomes[0].reservations == 0  # type: ignore[attr-defined]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(NotApplicableError, match="edf-iit-2 knows no reservations"):
        simulate_many("mamat5", ["multi-stage", "edf-iit-2"], reservation_mix=ReservationMix(0.1))
    with pytest.raises(NotApplicableError, match="set-up costs"):
        simulate_many("mamat4", ["multi-stage"], seeds=[1], parameters=FEW)
    with pytest.raises(NotApplicableError, match="fraction must be"):
        simulate_many("mamat5", ["multi-stage"], seeds=[1], reservation_mix=ReservationMix(2))
    with pytest.raises(NotApplicableError, match="no task arrives"):
        ReservationMix().of(replace(mamat4(horizon=1), arrivals=(), loads=(), deadlines=()))
    with pytest.raises(NotApplicableError, match="unknown algorithm 'edf-iit-2'"):
        simulate_mixed(ONE, "edf-iit-2")
    with pytest.raises(NotApplicableError, match="not a Workload"):
        MixedRun(mamat5(**FEW))  # type: ignore[arg-type]


def test_exact_instances_are_decided_and_checked_exactly() -> None:
    instance = small(seed=4, tasks=8, parts=3)
    run = MixedRun(instance)
    assert instance.exact and run.violations == ()
    assert all(isinstance(chunk.load, int | Fraction) for chunk in run.solution.chunks)
