"""Executed traces with reservations: a valid one by hand, and one planted fault for each rule."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt.problems import admission
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import (
    EXECUTED_KINDS,
    BrokenPromise,
    BrokenReservation,
    Decision,
    Dropped,
    Executed,
    ExecutedReservation,
    Factor,
    Failure,
    Grant,
    Instance,
    Move,
    Reservation,
    Scenario,
    Task,
    Trace,
    TrueEnd,
    violations,
    violations_executed,
)
from dlopt.problems.multistage.trace import occupancy

F = Fraction
# Node 2 fails in [6, 11): it ends r, and s gets node 1 instead. The true end of u is late, so that
# t cannot have node 0. The chunk of b computes longer than estimated.
INSTANCE = Instance(
    Cluster(3, tau=1, chi=1),
    (Task("a", 0, 2, 4), Task("b", 0, 2, 7)),
    (
        Reservation("r", 0, 4, 8, io_end=5),
        Reservation("s", 1, 9, 12, io_ratio=F(1, 3)),
        Reservation("u", 1, 6, 9, nodes=(0,)),
        Reservation("t", 2, 9, 10, nodes=(0,)),
        Reservation("v", 3, 9, 10, nodes=3),
    ),
)
SCENARIO = Scenario(
    (Factor("b", chi=F(3, 2)),),
    (Failure(2, 6, 11), Failure(2, 12, 13)),
    ends=(TrueEnd("u", 11), TrueEnd("s", 11)),
)
TRACE = Trace(
    (Decision("a", True, 0), Decision("b", True, 0)),
    (Executed("a", 0, 2, 0, 2, 2, 4), Executed("b", 1, 2, 2, 4, 4, 7)),
    grants=(
        Grant("r", True, 0, (2,)),
        Grant("s", True, 1, (2,)),
        Grant("u", True, 1, (0,)),
        Grant("t", True, 2, (0,)),
        Grant("v", False, 3),
    ),
    reservations=(
        ExecutedReservation("r", (2,), 4, 5, 8, lost=6),
        ExecutedReservation("s", (1,), 9, 10, 11),
        ExecutedReservation("u", (0,), 6, 6, 11),
    ),
    moves=(Move("s", (1,), 6, "failure"),),
    broken_reservations=(
        BrokenReservation("r", 6, "failure"),
        BrokenReservation("t", 9, "overrun"),
    ),
)
R, S, U = TRACE.reservations
BROKEN_R, BROKEN_T = TRACE.broken_reservations


def kinds(trace: Trace, scenario: Scenario = SCENARIO, tolerance: float = 0) -> set[str]:
    return {one.kind for one in violations_executed(INSTANCE, scenario, trace, tolerance)}


@pytest.mark.parametrize("tolerance", [0, 1e-9])
def test_a_trace_that_can_have_happened(tolerance: float) -> None:
    assert violations_executed(INSTANCE, SCENARIO, TRACE, tolerance) == ()
    assert occupancy(TRACE).grants == TRACE.grants


def test_of_several_moves_the_last_one_counts() -> None:
    moves = (Move("s", (1,), 9, "overrun"), Move("s", (0,), 6, "failure"))
    assert violations_executed(INSTANCE, SCENARIO, replace(TRACE, moves=moves)) == ()


def grants(index: int, **changes: Any) -> dict[str, Any]:
    changed = list(TRACE.grants)
    changed[index] = replace(changed[index], **changes)
    return {"grants": tuple(changed)}


def used(index: int, **changes: Any) -> dict[str, Any]:
    changed = list(TRACE.reservations)
    changed[index] = replace(changed[index], **changes)
    return {"reservations": tuple(changed)}


def broken(*records: BrokenReservation) -> dict[str, Any]:
    return {"broken_reservations": records}


def moved(**changes: Any) -> dict[str, Any]:
    return {"moves": (replace(TRACE.moves[0], **changes),)}


V = ExecutedReservation("v", (0, 1, 2), 9, 9, 10)
ON_U = Executed("a", 0, 2, 4, 6, 6, 8)
ON_R = Executed("a", 0, 2, 4, 6, 6, 8)

FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "undecided": ("reservation-undecided", {"grants": TRACE.grants[:-1]}),
    "decided twice": (
        "duplicate-reservation-decision",
        {"grants": (*TRACE.grants, TRACE.grants[-1])},
    ),
    "decided late": ("wrong-reservation-decision-time", grants(4, at=5)),
    "granted on too many nodes": ("wrong-reservation-nodes", grants(1, nodes=(1, 2))),
    "granted on no node": ("wrong-reservation-nodes", grants(1, nodes=(7,))),
    "an unknown grant": ("unknown-reservation", {"grants": (*TRACE.grants, Grant("x", False, 0))}),
    "an unknown use": (
        "unknown-reservation",
        {"reservations": (*TRACE.reservations, replace(S, reservation="x", nodes=()))},
    ),
    "an unknown move": ("unknown-reservation", moved(reservation="x")),
    "an unknown broken promise": (
        "unknown-reservation",
        broken(BROKEN_R, BROKEN_T, replace(BROKEN_T, reservation="x")),
    ),
    "left out": ("reservation-not-kept", {"reservations": (R, S)}),
    "lost without a word": ("reservation-not-kept", broken(BROKEN_T)),
    "lost at another instant than it was said": (
        "reservation-not-kept",
        broken(replace(BROKEN_R, at=5), BROKEN_T),
    ),
    "broken after it should have begun": (
        "reservation-not-kept",
        broken(BROKEN_R, replace(BROKEN_T, at=10)),
    ),
    "used though refused": (
        "reservation-without-promise",
        {"reservations": (*TRACE.reservations, V)},
    ),
    "used twice": ("reservation-without-promise", {"reservations": (R, S, S, U)}),
    "used though broken before": (
        "reservation-without-promise",
        {"reservations": (*TRACE.reservations, ExecutedReservation("t", (0,), 9, 9, 10))},
    ),
    "begun late": ("wrong-reservation-window", used(1, start=F(19, 2))),
    "ended as it was reserved, not as it truly does": ("wrong-reservation-window", used(1, end=12)),
    "input that ends late": ("wrong-reservation-window", used(1, io_end=F(21, 2))),
    "on the nodes before the move": ("wrong-reservation-nodes", used(1, nodes=(2,))),
    "on one of its nodes twice": ("wrong-reservation-nodes", used(1, nodes=(1, 1))),
    "on a node that is down": ("starts-during-failure", used(1, nodes=(2,))),
    "through a failure": ("continues-through-failure", used(0, lost=None)),
    "lost before the failure": ("lost-without-failure", used(0, lost=5)),
    "lost on nodes that do not fail": ("lost-without-failure", used(2, lost=7)),
    "a chunk on a reserved node": (
        "reservation-node-overlap",
        {"chunks": (ON_U, TRACE.chunks[1])},
    ),
    "a chunk during the input of a reservation": (
        "reservation-channel-overlap",
        {"chunks": (ON_R, TRACE.chunks[1])},
    ),
    "two reservations on a node": ("reservation-node-overlap", used(1, nodes=(0,))),
    "moved when nothing happened": ("moved-without-cause", moved(at=5)),
    "moved for another cause": ("moved-without-cause", moved(at=9)),
    "moved after it began": ("moved-without-cause", moved(at=12)),
    "moved before it was granted": ("moved-without-cause", moved(at=0)),
    "moved to the wrong number of nodes": ("wrong-reservation-nodes", moved(nodes=(0, 1))),
    "moved though it named its nodes": (
        "moved-without-cause",
        {"moves": (*TRACE.moves, Move("u", (0,), 6, "failure"))},
    ),
    "moved though it is broken": (
        "moved-without-cause",
        {
            "moves": (*TRACE.moves, Move("t", (0,), 9, "overrun")),
            **broken(BROKEN_R, BrokenReservation("t", 6, "failure")),
        },
    ),
    "broken when nothing happened": (
        "broken-without-cause",
        broken(BROKEN_R, replace(BROKEN_T, at=8)),
    ),
    "broken by a failure though it is lost": (
        "broken-without-cause",
        broken(replace(BROKEN_R, cause="overrun"), BROKEN_T),
    ),
    "broken under way by what others do": (
        "broken-without-cause",
        broken(BROKEN_R, BROKEN_T, BrokenReservation("s", 11, "overrun")),
    ),
    "broken though refused": (
        "broken-without-promise",
        broken(BROKEN_R, BROKEN_T, BrokenReservation("v", 6, "failure")),
    ),
    "broken twice": ("broken-without-promise", broken(BROKEN_R, BROKEN_R, BROKEN_T)),
    "broken before it was granted": (
        "broken-without-promise",
        broken(BROKEN_R, replace(BROKEN_T, at=1)),
    ),
    "a task that is late": (
        "deadline",
        {"chunks": (TRACE.chunks[0], replace(TRACE.chunks[1], computation_end=8))},
    ),
    "a task broken for no cause": (
        "broken-without-cause",
        {"broken": (BrokenPromise("b", 5, "failure"),)},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_planted_fault_is_found(name: str) -> None:
    kind, changes = FAULTS[name]
    assert kind in EXECUTED_KINDS
    assert kind in kinds(replace(TRACE, **changes))
    assert kind in kinds(replace(TRACE, **changes), tolerance=1e-9)


def test_every_rule_of_reservations_is_planted() -> None:
    # A mandatory reservation that is refused has a test of its own.
    planted = {kind for kind, _ in FAULTS.values()} | {"guaranteed-reservation-rejected"}
    own = set(EXECUTED_KINDS) - set(admission.EXECUTED_KINDS)
    assert own <= planted and {"lost-without-failure", "broken-without-promise"} <= planted


def test_a_mandatory_reservation_is_not_refused() -> None:
    wanted = replace(INSTANCE.reservations[4], mandatory=True)
    firm = replace(INSTANCE, reservations=(*INSTANCE.reservations[:4], wanted))
    found = violations_executed(firm, SCENARIO, TRACE)
    assert [one.kind for one in found] == ["guaranteed-reservation-rejected"]


def test_a_reservation_that_ends_late_excuses_a_task_that_waits_for_it() -> None:
    cluster, wanted = Cluster(1, tau=1, chi=1), Reservation("r", 0, 1, 3)
    instance = Instance(cluster, (Task("a", 0, 1, 5),), (wanted,))
    late = Scenario(ends=(TrueEnd("r", 4),))
    trace = Trace(
        (Decision("a", True, 0),),
        (Executed("a", 0, 1, 4, 5, 5, 6),),
        broken=(BrokenPromise("a", 3, "overrun"),),
        grants=(Grant("r", True, 0, (0,)),),
        reservations=(ExecutedReservation("r", (0,), 1, 1, 4),),
    )
    assert violations_executed(instance, late, trace) == ()
    silent = replace(trace, broken=())
    assert [one.kind for one in violations_executed(instance, late, silent)] == ["deadline"]
    early = replace(trace, broken=(BrokenPromise("a", 2, "overrun"),))
    found = {one.kind for one in violations_executed(instance, late, early)}
    assert found == {"broken-without-cause"}
    given_up = replace(trace, chunks=(), dropped=(Dropped("a", 1, 3),))
    assert violations_executed(instance, late, given_up) == ()


def test_what_was_over_before_the_beginning_is_not_looked_at() -> None:
    over = Reservation("r", 0, 1, 2, nodes=(0,))
    under_way = Reservation("s", 0, 1, 5, nodes=(1,))
    instance = Instance(Cluster(2, 1, 1), (), (over, under_way), now=3)
    granted = (Grant("r", True, 0, (0,)), Grant("s", True, 0, (1,)))
    down = Scenario(failures=(Failure(1, 0, 2), Failure(1, F(5, 2))))
    lost = ExecutedReservation("s", (1,), 1, 1, 5, lost=3)
    trace = Trace((), (), grants=granted, reservations=(lost,))
    named = replace(trace, broken_reservations=(BrokenReservation("s", 3, "failure"),))
    assert violations_executed(instance, down, named) == ()
    assert [one.kind for one in violations_executed(instance, down, trace)] == [
        "reservation-not-kept"
    ]


def test_without_tasks_nothing_is_known_of_one() -> None:
    instance = Instance(Cluster(1, 1, 1), (), (Reservation("r", 0, 1, 3),))
    trace = Trace(
        (Decision("a", True, 0),),
        (Executed("a", 0, 1, 4, 5, 5, 6),),
        (Dropped("a", 1, 3),),
        (BrokenPromise("a", 3, "overrun"),),
        grants=(Grant("r", True, 0, (0,)),),
        reservations=(ExecutedReservation("r", (0,), 1, 1, 3),),
    )
    found = violations_executed(instance, Scenario(), trace, 1e-9)
    assert [one.kind for one in found] == ["unknown-task"] * 4


def test_a_late_end_is_a_cause_only_if_the_reservation_reached_it() -> None:
    """One of two reservations is lost before it could end late."""
    wanted = (Reservation("r", 0, 1, 3, nodes=(0,)), Reservation("s", 0, 3, 4, nodes=(1,)))
    instance = Instance(Cluster(2, 1, 1), (), wanted)
    scenario = Scenario(failures=(Failure(0, 2),), ends=(TrueEnd("r", 5),))
    trace = Trace(
        (),
        (),
        grants=(Grant("r", True, 0, (0,)), Grant("s", True, 0, (1,))),
        reservations=(ExecutedReservation("r", (0,), 1, 1, 5, lost=2),),
        broken_reservations=(
            BrokenReservation("r", 2, "failure"),
            BrokenReservation("s", 3, "overrun"),
        ),
    )
    found = violations_executed(instance, scenario, trace)
    assert [one.kind for one in found] == ["broken-without-cause"]


def test_overlaps_do_not_add_up_before_a_reservation() -> None:
    """Each of many chunks overlaps the next by less than the tolerance."""
    count, tolerance = 40, 1e-3
    tasks = tuple(Task(f"t{n}", 0, 1, 100) for n in range(count))
    wanted = Reservation("r", 0, 38, 60)
    instance = Instance(Cluster(1, tau=0, chi=1), tasks, (wanted,))
    step = 37 / (count - 1)
    chunks = tuple(
        Executed(f"t{n}", 0, 1, n * step, n * step, n * step, n * step + 1) for n in range(count)
    )
    trace = Trace(
        tuple(Decision(task.id, True, 0) for task in tasks),
        chunks,
        grants=(Grant("r", True, 0, (0,)),),
        reservations=(ExecutedReservation("r", (0,), 38, 38, 60),),
    )
    found = violations_executed(instance, Scenario(), trace, tolerance)
    assert {one.kind for one in found} == {"earlier-than-possible"}
    one_by_one = [Executed(f"t{n}", 0, 1, n, n, n, n + 1) for n in range(38)]
    one_by_one += [Executed(f"t{n}", 0, 1, n + 22, n + 22, n + 22, n + 23) for n in (38, 39)]
    valid = replace(trace, chunks=tuple(one_by_one))
    assert violations_executed(instance, Scenario(), valid, tolerance) == ()


@pytest.mark.parametrize("on", ["channel", "node"])
@pytest.mark.parametrize(("load", "found"), [(19, set()), (19.115, {"earlier-than-possible"})])
def test_what_is_allowed_does_not_add_up_before_a_reservation(
    on: str, load: float, found: set[str]
) -> None:
    """The second chunk starts early by a little, and ends late by a little."""
    tasks = (Task("a", 0, 19, 100), Task("b", 0, load, 100))
    start, end = 18.905, 18.905 + load
    if on == "channel":
        cluster, nodes, until = Cluster(3, tau=1, chi=0), (2,), 50
        times = (0, 19, 19, 19), (start, end, end, end)
    else:
        cluster, nodes, until = Cluster(1, tau=0, chi=1), (0,), 38
        times = (0, 0, 0, 19), (start, start, start, end)
    wanted = Reservation("r", 0, 38, 60, io_end=until, nodes=nodes)
    trace = Trace(
        tuple(Decision(task.id, True, 0) for task in tasks),
        tuple(
            Executed(task.id, min(place, cluster.nodes - 1), task.load, *instants)
            for place, (task, instants) in enumerate(zip(tasks, times, strict=True))
        ),
        grants=(Grant("r", True, 0, nodes),),
        reservations=(ExecutedReservation("r", nodes, 38, until, 60),),
    )
    instance = Instance(cluster, tasks, (wanted,))
    assert {one.kind for one in violations_executed(instance, Scenario(), trace, 1e-3)} == found


def test_a_reservation_without_input_leaves_the_channel_to_chunks() -> None:
    wanted = Reservation("r", 0, 1, 3, nodes=(1,))
    instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 2, 9),), (wanted,))
    trace = Trace(
        (Decision("a", True, 0),),
        (Executed("a", 0, 2, 0, 2, 2, 4),),
        grants=(Grant("r", True, 0, (1,)),),
        reservations=(ExecutedReservation("r", (1,), 1, 1, 3),),
    )
    assert violations_executed(instance, Scenario(), trace, 1e-9) == ()
    assert violations(instance, occupancy(trace), 1e-9) == ()


def test_chunks_may_follow_the_input_of_a_reservation() -> None:
    wanted = Reservation("r", 0, 1, 3, io_end=2, nodes=(1,))
    instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 1, 9),), (wanted,))
    trace = Trace(
        (Decision("a", True, 0),),
        (Executed("a", 0, 1, 2, 3, 3, 4),),
        grants=(Grant("r", True, 0, (1,)),),
        reservations=(ExecutedReservation("r", (1,), 1, 2, 3),),
    )
    assert violations_executed(instance, Scenario(), trace, 1e-9) == ()
    early = replace(trace, chunks=(Executed("a", 0, 1, 1.9999, 2.9999, 2.9999, 3.9999),))
    found = violations_executed(instance, Scenario(), early, 1e-4)
    assert found == () and violations_executed(instance, Scenario(), early, 0) != ()
