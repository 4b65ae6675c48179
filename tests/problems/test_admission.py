"""Streams of divisible loads: instances as they stand, decisions, and what a plan is worth.

What an instance may hold is tested in `test_admission_faults`, what a plan may not do in
`test_admission_violations`, `test_admission_twin` and `test_admission_tolerance`.
"""

import math
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems import admission
from dlopt.problems.admission import Chunk, Commitment, Decision, Instance, Solution, Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import floating
from tests import strategies

F = Fraction
CLUSTER = Cluster(2, tau=1, chi=3, theta_cm=F(1, 2), theta_cp=1)
TASKS = (Task("a", 0, 6, 30), Task("b", 1, 2, 8), Task("c", 4, 3, 12))
FRESH = Instance(CLUSTER, TASKS)
BUSY = Instance(
    CLUSTER,
    (*TASKS[:1], replace(TASKS[1], remaining=1), TASKS[2]),
    now=3,
    ready_times=(0, 5),
    channel_ready=2,
    committed=(Commitment("a", 0, 0, 2, 9), Commitment("gone", 1, 2, 1, 4)),
)
PLAN = Solution(
    (Decision("a", True, 0), Decision("b", False, 1), Decision("c", True, 4)),
    (Chunk("a", 0, 6, 0, F(13, 2), F(13, 2), F(51, 2)), Chunk("c", 1, 3, 7, F(21, 2), 11, 21)),
)


@pytest.mark.parametrize(
    "record",
    [BUSY, *BUSY.tasks, *BUSY.committed, PLAN, *PLAN.decisions, *PLAN.chunks],
    ids=lambda record: type(record).__name__,
)
def test_records_are_frozen_and_slotted(record: Any) -> None:
    assert not hasattr(record, "__dict__")
    with pytest.raises(FrozenInstanceError):
        setattr(record, fields(record)[0].name, 1)
    assert hash(record) == hash(replace(record))


@pytest.mark.parametrize("record", [FRESH, BUSY, PLAN], ids=["fresh", "busy", "plan"])
def test_records_come_back_from_plain_data(record: Any) -> None:
    assert type(record).from_data(record.to_data()) == record


def test_plans_are_checked_for_types_only() -> None:
    with pytest.raises(InvalidInstanceError) as caught:
        Decision(3, 1, None, promised="yes", missed=4, by="x", of="load units")
    fields = [fault.path for fault in caught.value.faults]
    assert fields == ["task", "accepted", "at", "promised", "missed", "by", "of"]
    with pytest.raises(
        InvalidInstanceError, match="of: must be one of time, load, price, got 'speed'"
    ):
        Decision("a", False, 0, of="speed")
    with pytest.raises(InvalidInstanceError) as caught:
        Chunk(1, 0.5, "x", 0, True, math.inf, None)
    assert [fault.path for fault in caught.value.faults] == [
        "task",
        "node",
        "load",
        "transmission_end",
        "computation_start",
        "computation_end",
    ]
    with pytest.raises(InvalidInstanceError) as caught:
        Solution((1,), (Decision("a", True, 0),))
    paths = [fault.path for fault in caught.value.faults]
    assert paths[0] == "decisions[0]"
    assert all(path.startswith("chunks[0]") for path in paths[1:])


def test_a_plan_may_say_what_breaks_the_rules() -> None:
    """Negative loads and strange nodes are for the checker, not for the constructor."""
    assert Chunk("?", -1, -2, 5, 4, 3, 2).node == -1
    assert Decision("?", True, -1).at == -1


@pytest.mark.parametrize(
    "change",
    [
        {"cluster": replace(CLUSTER, tau=1.0)},
        {"cluster": replace(CLUSTER, chi=(3, 3.0))},
        {"tasks": (*TASKS[:2], Task("c", 4.0, 3, 12))},
        {"tasks": (*TASKS[:2], Task("c", 4, 3.0, 12))},
        {"tasks": (*TASKS[:2], Task("c", 4, 3, 12.0))},
        {"tasks": (replace(TASKS[0], remaining=0.5), *TASKS[1:])},
        {"now": 3.0},
        {"ready_times": (0, 5.0)},
        {"channel_ready": 2.0},
        {"committed": (Commitment("gone", 1, 2.0, 1, 4),)},
        {"committed": (Commitment("gone", 1, 2, 1.0, 4),)},
        {"committed": (Commitment("gone", 1, 2, 1, 4.0),)},
    ],
)
def test_one_float_makes_an_instance_inexact(change: dict[str, object]) -> None:
    assert FRESH.exact
    assert BUSY.exact
    assert not replace(BUSY, **change).exact


# --- an instance as it stands ---------------------------------------------------------------


def test_a_fresh_cluster_is_free() -> None:
    assert [task.absolute_deadline for task in TASKS] == [30, 9, 16]
    assert FRESH.free_times == (0, 0)
    assert FRESH.channel_free == 0
    assert FRESH.remaining == {"a": 6, "b": 2, "c": 3}
    assert FRESH.promised == frozenset()


def test_a_cluster_as_it_stands() -> None:
    """Nodes wait for what they compute, the channel for what it sends: 0 + 1/2 + 2, 2 + 1/2 + 1."""
    assert BUSY.free_times == (9, 5)
    assert BUSY.channel_free == F(7, 2)
    assert BUSY.remaining == {"a": 4, "b": 1, "c": 3}
    assert BUSY.promised == {"a", "b"}


@pytest.mark.parametrize(
    ("change", "free_times", "channel_free"),
    [
        ({"now": 10}, (10, 10), 10),
        ({"ready_times": ()}, (9, 4), F(7, 2)),
        ({"ready_times": (11, 1)}, (11, 4), F(7, 2)),
        ({"channel_ready": 4}, (9, 5), 4),
        ({"committed": ()}, (3, 5), 3),
        ({"committed": (), "channel_ready": 0, "ready_times": ()}, (3, 3), 3),
    ],
)
def test_when_nodes_and_channel_are_free(
    change: dict[str, object], free_times: object, channel_free: object
) -> None:
    instance = replace(BUSY, **change)
    assert (instance.free_times, instance.channel_free) == (free_times, channel_free)


def test_nodes_that_differ_are_sent_to_at_their_own_speed() -> None:
    cluster = Cluster(2, tau=(1, 4), chi=(3, 1), theta_cm=F(1, 2))
    assert replace(BUSY, cluster=cluster).channel_free == F(13, 2)


def test_what_remains_of_a_load() -> None:
    more = (Commitment("a", 0, 0, 2, 9), Commitment("a", 1, 1, 3, 9), Commitment("b", 1, 1, 2, 9))
    assert replace(BUSY, committed=more).remaining == {"a": 1, "b": 1, "c": 3}
    with pytest.raises(InvalidInstanceError, match="less than what is committed of it, 10"):
        replace(BUSY, committed=more * 2)
    assert replace(BUSY, tasks=TASKS, committed=more).remaining["b"] == 0


def test_the_state_of_an_instance_in_floats_is_in_floats() -> None:
    rounded = floating(BUSY)
    assert (rounded.channel_free, rounded.free_times) == (3.5, (9.0, 5.0))
    assert rounded.remaining == {"a": 4.0, "b": 1.0, "c": 3.0}
    numbers = (rounded.channel_free, *rounded.free_times, *rounded.remaining.values())
    assert {type(number) for number in numbers} == {float}


# --- decisions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "reason"),
    [
        (Decision("a", True, 0), None),
        (Decision("a", True, 0, missed="a", by=3, of="time"), None),
        (Decision("a", False, 0), "rejected"),
        (Decision("a", False, 0, by=3, of="time"), "rejected"),
        (Decision("a", False, 0, missed="b"), "task b would miss its deadline"),
        (Decision("a", False, 0, missed="b", of="load"), "task b would miss its deadline"),
        (
            Decision("a", False, 0, missed="b", by=F(7, 2), of="time"),
            "task b would miss its deadline by 7/2",
        ),
        (
            Decision("a", False, 0, missed="b", by=F(7, 2)),
            "task b would miss its deadline by 7/2",
        ),
        (
            Decision("a", False, 0, missed="a", by=0.25, of="load"),
            "0.25 of the load of task a would miss its deadline",
        ),
    ],
)
def test_the_reason_of_a_rejection(decision: Decision, reason: str | None) -> None:
    assert decision.reason == reason


# --- what a plan is worth -------------------------------------------------------------------


def test_objectives() -> None:
    amounts = ("accepted", "accepted-load", "accepted-weight")
    assert {key: goal.name for key, goal in admission.OBJECTIVES.items()} == {
        key: key for key in (*amounts, "reject-ratio", "utilization", "misses")
    }
    most = [goal.name for goal in admission.OBJECTIVES.values() if goal.sense == "max"]
    assert most == [*amounts, "utilization"]
    assert {goal.requires_field for goal in admission.OBJECTIVES.values()} == {None}
    assert admission.default_objective(FRESH) == "accepted"
    with pytest.raises(
        NotApplicableError,
        match="admission has no objective 'speed': accepted, accepted-load, accepted-weight",
    ):
        admission.objective(FRESH, PLAN, "speed")


def worth(instance: Instance, plan: Solution) -> dict[str, object]:
    return {name: admission.objective(instance, plan, name) for name in admission.OBJECTIVES}


def test_what_a_plan_is_worth() -> None:
    """The nodes receive and compute 51/2 of the 2 x 30; the second waits for 1/2 in between."""
    assert worth(FRESH, PLAN) == {
        "accepted": 2,
        "accepted-load": 9,
        "accepted-weight": 2,
        "reject-ratio": F(1, 3),
        "utilization": (F(51, 2) + F(7, 2) + 10) / 60,
        "misses": 0,
    }
    assert admission.objective(FRESH, PLAN) == 2
    for name in ("accepted", "accepted-load", "accepted-weight", "misses"):
        assert type(admission.objective(FRESH, PLAN, name)) is int


def test_what_an_empty_plan_is_worth() -> None:
    none = dict.fromkeys(admission.OBJECTIVES, 0)
    assert worth(FRESH, Solution((), ())) == {**none, "reject-ratio": 0}
    rejected = Solution(tuple(Decision(task.id, False, task.arrival) for task in TASKS), ())
    assert worth(FRESH, rejected) == {**none, "reject-ratio": 1}


def test_accepted_tasks_count_with_their_weights() -> None:
    """Task a and c are accepted, b is rejected."""
    weights = {"a": F(7, 2), "b": 100, "c": 2}
    tasks = tuple(replace(task, weight=weights[task.id]) for task in TASKS)
    weighted = replace(FRESH, tasks=tasks)
    assert FRESH.weights is None
    assert weighted.weights == tuple(weights[task.id] for task in TASKS)
    assert worth(weighted, PLAN) == {**worth(FRESH, PLAN), "accepted-weight": F(11, 2)}
    for weight in (0, -1, float("nan")):
        with pytest.raises(InvalidInstanceError, match="weight"):
            replace(TASKS[0], weight=weight)


def test_a_miss_without_a_promise_is_no_acceptance() -> None:
    """Task c ends at 21, after 16; a at 51/2, before 30."""
    hopes = replace(PLAN, decisions=tuple(replace(d, promised=False) for d in PLAN.decisions))
    found = worth(FRESH, hopes)
    assert (found["accepted"], found["accepted-load"], found["misses"]) == (1, 6, 1)
    assert found["reject-ratio"] == F(1, 3)
    just = replace(FRESH, tasks=(*TASKS[:2], replace(TASKS[2], deadline=17)))
    assert (worth(just, hopes)["accepted"], worth(just, hopes)["misses"]) == (2, 0)


def test_a_promise_that_is_broken_is_not_a_miss() -> None:
    """It is a violation; no plan that leaves the library has it."""
    assert worth(FRESH, PLAN)["misses"] == 0
    assert [violation.kind for violation in admission.violations(FRESH, PLAN)] == ["deadline"]


def test_the_last_end_of_a_task_counts_wherever_it_stands() -> None:
    parts = (Chunk("c", 0, 1, 4, 5, 5, 17), Chunk("c", 1, 2, 4, 5, 5, 15))
    for chunks in (parts, parts[::-1]):
        plan = Solution((Decision("c", True, 4, promised=False),), chunks)
        assert worth(FRESH, plan)["misses"] == 1


def test_strangers_are_worth_nothing() -> None:
    strange = (Decision("d", True, 0), Decision("e", False, 0))
    more = replace(PLAN, decisions=(*PLAN.decisions, *strange))
    assert worth(FRESH, more) == worth(FRESH, PLAN)


def test_the_last_decision_on_a_task_is_the_one_that_counts() -> None:
    twice = replace(PLAN, decisions=(*PLAN.decisions, Decision("a", False, 0)))
    assert worth(FRESH, twice)["accepted"] == 1
    assert worth(FRESH, twice)["reject-ratio"] == F(2, 3)


def test_utilization_is_a_share_of_the_time_that_there_is() -> None:
    """Work after the last deadline or before `now` is work at another time."""
    one = Instance(Cluster(1, tau=1, chi=1), (Task("a", 2, 9, 4),))
    late = Solution((Decision("a", True, 2, promised=False),), (Chunk("a", 0, 9, 2, 11, 11, 20),))
    assert worth(one, late)["utilization"] == 1
    two = replace(late, chunks=(Chunk("a", 0, 1, 5, 6, 6, 7), Chunk("a", 0, 8, 7, 15, 15, 23)))
    assert worth(one, two)["utilization"] == F(1, 4)
    assert worth(replace(one, now=4), late)["utilization"] == 1
    assert worth(replace(one, now=4), two)["utilization"] == F(1, 2)
    early = replace(late, chunks=(Chunk("a", 0, 1, 0, 1, 1, 2),))
    assert worth(one, early)["utilization"] == 0
    for over in (replace(one, now=6), replace(one, tasks=(Task("a", 2, 9, 0),))):
        assert worth(over, late)["utilization"] == 0


def test_what_a_plan_in_floats_is_worth_is_exact() -> None:
    rounded = replace(floating(FRESH), tasks=(Task("a", 0.0, 0.1, 30.0), Task("b", 0.0, 0.2, 30.0)))
    plan = Solution(
        (Decision("a", True, 0.0), Decision("b", True, 0.0)),
        (Chunk("a", 0, 0.1, 0.0, 0.1, 0.2, 0.3),),
    )
    assert worth(rounded, plan)["accepted-load"] == F(3, 10)
    busy = F(1, 5) / 60
    assert worth(rounded, plan)["utilization"] == busy


@pytest.mark.property
@given(strategies.admission_plans(identical=False, state=True, unpromised=True))
def test_values_of_valid_plans(made: tuple[Instance, Solution]) -> None:
    instance, plan = made
    found = worth(instance, plan)
    rejected = sum(not decision.accepted for decision in plan.decisions)
    assert found["accepted"] + rejected + found["misses"] == len(instance.tasks)
    assert found["reject-ratio"] == F(rejected, len(instance.tasks))
    assert 0 <= found["utilization"] <= 1
    assert found["accepted-load"] <= sum(task.load for task in instance.tasks)
