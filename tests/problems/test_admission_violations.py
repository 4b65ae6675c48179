"""What a plan of a stream of loads may not do: the smallest bad plans, and corrupted ones."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.problems import admission
from dlopt.problems.admission import Chunk, Commitment, Decision, Instance, Solution, Task
from dlopt.problems.cluster import Cluster
from dlopt.result import Violation
from tests import strategies
from tests.examples import share
from tests.problems.admission_corruptions import CORRUPTIONS, Corruption

F = Fraction
YES, NO = Decision("a", True, 0), Decision("a", False, 0)
ONE = Instance(Cluster(1, tau=1, chi=2, theta_cm=3, theta_cp=4), (Task("a", 0, 6, 30),))
CHUNK = Chunk("a", 0, 6, 0, 9, 9, 25)
TWO = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 1, 9), Task("b", 0, 1, 9)))
ALL = (YES, Decision("b", True, 0))
OLD = replace(TWO, now=2, tasks=(Task("a", 0, 1, 9), Task("b", 2, 1, 9)))

# --- one smallest plan for every kind -------------------------------------------------------

SMALLEST: dict[str, tuple[Instance, Solution, tuple[Violation, ...]]] = {
    "unknown-task": (
        ONE,
        Solution((NO, Decision("b", True, 0)), (Chunk("c", 0, 6, 0, 9, 9, 25),)),
        (Violation("unknown-task", "task b"), Violation("unknown-task", "task c", amount=6)),
    ),
    "unknown-node": (
        TWO,
        Solution(
            ALL,
            (
                Chunk("a", 0, 1, 0, 1, 1, 2),
                Chunk("b", 1, 1, 1, 2, 2, 3),
                Chunk("b", 2, F(1, 2), 2, 3, 3, 4),
            ),
        ),
        (Violation("unknown-node", "node 2", amount=F(1, 2)),),
    ),
    "undecided": (ONE, Solution((), ()), (Violation("undecided", "task a"),)),
    "duplicate-decision": (
        ONE,
        Solution((NO, NO), ()),
        (Violation("duplicate-decision", "task a", amount=2),),
    ),
    "wrong-decision-time": (
        ONE,
        Solution((Decision("a", False, F(1, 3)),), ()),
        (Violation("wrong-decision-time", "task a", F(1, 3), amount=F(1, 3)),),
    ),
    "promised-task-rejected": (
        replace(ONE, now=1),
        Solution((NO,), ()),
        (Violation("promised-task-rejected", "task a"),),
    ),
    "rejected-task-served": (
        ONE,
        Solution((NO,), (CHUNK,)),
        (Violation("rejected-task-served", "task a", amount=1),),
    ),
    "channel-overlap": (
        TWO,
        Solution(
            ALL, (Chunk("a", 0, 1, 0, 1, 1, 2), Chunk("b", 1, 1, F(1, 3), F(4, 3), 2, 3))
        ),
        (Violation("channel-overlap", "channel", F(1, 3), 1, F(2, 3)),),
    ),
    "channel-not-ready": (
        replace(TWO, channel_ready=1),
        Solution(ALL, (Chunk("a", 0, 1, F(1, 2), F(3, 2), 2, 3), Chunk("b", 1, 1, 3, 4, 4, 5))),
        (Violation("channel-not-ready", "channel", F(1, 2), 1, F(1, 2)),),
    ),
    "node-overlap": (
        TWO,
        Solution(ALL, (Chunk("a", 0, 1, 0, 1, 1, 2), Chunk("b", 0, 1, 1, 2, 2, 3))),
        (Violation("node-overlap", "node 0", 1, 2, 1),),
    ),
    "node-not-ready": (
        replace(ONE, ready_times=(2,)),
        Solution((YES,), (CHUNK,)),
        (Violation("node-not-ready", "node 0", 0, 2, 2),),
    ),
    "starts-before-arrival": (
        replace(ONE, tasks=(Task("a", 1, 6, 30),)),
        Solution((Decision("a", True, 1),), (CHUNK,)),
        (Violation("starts-before-arrival", "task a on node 0", 0, 1, 1),),
    ),
    "computes-before-received": (
        ONE,
        Solution((YES,), (replace(CHUNK, computation_start=7, computation_end=23),)),
        (Violation("computes-before-received", "task a on node 0", 7, 9, 2),),
    ),
    "transmission-duration": (
        ONE,
        Solution((YES,), (replace(CHUNK, transmission_end=6),)),
        (Violation("transmission-duration", "task a on node 0", 0, 6, 3),),
    ),
    "computation-duration": (
        ONE,
        Solution((YES,), (replace(CHUNK, computation_end=29),)),
        (Violation("computation-duration", "task a on node 0", 9, 29, 4),),
    ),
    "negative-load": (
        TWO,
        Solution(
            (YES, Decision("b", False, 0)),
            (Chunk("a", 0, 2, 0, 2, 2, 4), Chunk("a", 1, -1, 3, 2, 3, 2)),
        ),
        (Violation("negative-load", "task a on node 1", 3, 2, 1),),
    ),
    "load-not-conserved": (
        TWO,
        Solution(
            ALL, (Chunk("a", 0, 1, 0, 1, 1, 2), Chunk("b", 1, F(2, 3), 1, F(5, 3), 2, F(8, 3)))
        ),
        (Violation("load-not-conserved", "task b", amount=F(1, 3)),),
    ),
    "deadline": (
        replace(ONE, tasks=(Task("a", 0, 6, 24),)),
        Solution((YES,), (CHUNK,)),
        (Violation("deadline", "task a", 24, 25, 1),),
    ),
}  # fmt: skip


EXACT_KINDS = admission.KINDS[:-1]
"""What can be broken in exact numbers; the last kind is of plans in floats only."""


@pytest.mark.parametrize("kind", EXACT_KINDS)
def test_the_smallest_plan_of_each_kind(kind: str) -> None:
    instance, plan, expected = SMALLEST[kind]
    found = admission.violations(instance, plan)
    assert found == expected
    assert {violation.kind for violation in found} == {kind}


def test_every_kind_has_a_smallest_plan_and_a_corruption() -> None:
    assert admission.KINDS[-1] == "earlier-than-possible"
    assert set(SMALLEST) == set(EXACT_KINDS)
    assert {kind for case in CORRUPTIONS for kind in case.kinds} == set(EXACT_KINDS)
    assert len(set(admission.KINDS)) == len(admission.KINDS)


def test_smallest_valid_plans() -> None:
    assert admission.violations(ONE, Solution((YES,), (CHUNK,))) == ()
    assert (
        admission.violations(replace(ONE, tasks=(Task("a", 0, 6, 25),)), SMALLEST["deadline"][1])
        == ()
    )
    assert admission.violations(ONE, Solution((NO,), ())) == ()
    assert (
        admission.violations(
            TWO, Solution(ALL, (Chunk("a", 0, 1, 0, 1, 1, 2), Chunk("b", 0, 1, 2, 3, 3, 4)))
        )
        == ()
    )


# --- who is decided when --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "kinds"),
    [
        (0, []),
        (F(1, 2), []),
        (2, []),
        (F(-1, 9), ["wrong-decision-time"]),
        (F(19, 9), ["wrong-decision-time"]),
    ],
)
def test_what_arrived_before_now_was_decided_before_now(at: Fraction, kinds: list[str]) -> None:
    plan = Solution(
        (Decision("a", True, at), Decision("b", False, 2)), (Chunk("a", 0, 1, 2, 3, 3, 4),)
    )
    assert [violation.kind for violation in admission.violations(OLD, plan)] == kinds


def test_a_task_that_arrives_now_is_still_open() -> None:
    assert OLD.promised == {"a"}
    chunk = Chunk("a", 0, 1, 2, 3, 3, 4)
    late = Solution((YES, Decision("b", False, F(5, 2))), (chunk,))
    assert [v.kind for v in admission.violations(OLD, late)] == ["wrong-decision-time"]
    for accepted in (True, False):
        broken = Solution((Decision("a", True, 0, promised=accepted),) * 1, ())
        kinds = [v.kind for v in admission.violations(OLD, broken)]
        assert kinds == [
            "undecided",
            *([] if accepted else ["promised-task-rejected"]),
            "load-not-conserved",
        ]


def test_a_promised_task_that_is_rejected_needs_no_chunks() -> None:
    plan = Solution((NO, Decision("b", False, 2)), ())
    assert admission.violations(OLD, plan) == (Violation("promised-task-rejected", "task a"),)


def test_only_promised_deadlines_are_held_against_a_plan() -> None:
    short = replace(ONE, tasks=(Task("a", 0, 6, 24),))
    assert admission.violations(short, Solution((replace(YES, promised=False),), (CHUNK,))) == ()


def test_a_task_without_a_decision_is_told_once() -> None:
    assert admission.violations(ONE, Solution((), (CHUNK,))) == (Violation("undecided", "task a"),)


def test_a_task_of_which_nothing_remains_needs_no_chunks() -> None:
    done = replace(OLD, tasks=(Task("a", 0, 1, 1, remaining=0), *OLD.tasks[1:]))
    plan = Solution((YES, Decision("b", False, 2)), ())
    assert admission.violations(done, plan) == ()
    by_chunks = replace(OLD, committed=(Commitment("a", 0, 1, 1, 3),))
    assert admission.violations(by_chunks, plan) == ()


# --- the state ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "kinds"),
    [
        ({}, []),
        ({"now": 1}, ["channel-not-ready", "node-not-ready"]),
        ({"ready_times": (1, 1)}, ["node-not-ready"]),
        ({"channel_ready": 1}, ["channel-not-ready"]),
        ({"committed": (Commitment("gone", 1, 0, 1, 1),)}, ["channel-not-ready"]),
        ({"committed": (Commitment("gone", 0, 0, 0, 1),)}, ["node-not-ready"]),
    ],
)
def test_nothing_is_sent_before_cluster_and_channel_are_free(
    state: dict[str, object], kinds: list[str]
) -> None:
    instance = replace(TWO, **state)
    decisions = (YES, Decision("b", False, 0)) if not instance.now else ALL
    chunks = (Chunk("a", 0, 1, F(1, 2), F(3, 2), F(3, 2), F(5, 2)),)
    if instance.now:
        chunks = (*chunks, Chunk("b", 1, 1, 2, 3, 3, 4))
    found = admission.violations(instance, Solution(decisions, chunks))
    assert [violation.kind for violation in found] == kinds
    assert all(v.end == 1 and v.amount == F(1, 2) for v in found)


def test_huge_numbers_are_told() -> None:
    instance = Instance(Cluster(1, tau=1e100, chi=1e100), (Task("a", 0, 1e100, 1e100),))
    found = admission.violations(instance, Solution((YES,), (Chunk("a", 0, 1e100, 0, 1, 1, 2),)))
    assert [str(violation) for violation in found] == [
        "transmission-duration on task a on node 0 in [0, 1] by 1e+200",
        "computation-duration on task a on node 0 in [1, 2] by 1e+200",
    ]


# --- the checker by mutation ----------------------------------------------------------------


@pytest.mark.property
@given(strategies.admission_plans(identical=False, state=True, unpromised=True))
def test_plans_that_are_laid_out_are_valid(made: tuple[Instance, Solution]) -> None:
    assert admission.violations(*made) == ()


@pytest.mark.parametrize("case", CORRUPTIONS, ids=lambda case: case.name)
@pytest.mark.property
@share(1 / 2)
@given(st.data())
def test_a_corrupted_plan_is_caught(case: Corruption, data: st.DataObject) -> None:
    state = data.draw(st.booleans()) or "promised-task-rejected" in case.kinds
    instance, plan = data.draw(strategies.admission_plans(identical=False, state=state))
    broken = case.corrupt(data.draw, instance, plan)
    found = admission.violations(broken.instance, broken.plan)
    assert not Counter(broken.expected) - Counter(found)
    if broken.alone:
        assert not Counter(found) - Counter(broken.expected)
    assert {violation.kind for violation in broken.expected} <= set(case.kinds)


@pytest.mark.property
@given(st.data())
def test_the_order_of_decisions_and_chunks_does_not_matter(data: st.DataObject) -> None:
    instance, plan = data.draw(strategies.admission_plans(identical=False))
    case = data.draw(st.sampled_from([case for case in CORRUPTIONS if case.name != "taken_back"]))
    broken = case.corrupt(data.draw, instance, plan)
    shuffled = Solution(
        tuple(data.draw(st.permutations(broken.plan.decisions))),
        tuple(data.draw(st.permutations(broken.plan.chunks))),
    )
    before = admission.violations(broken.instance, broken.plan)
    after = admission.violations(broken.instance, shuffled)
    assert Counter(v.kind for v in after) == Counter(v.kind for v in before)
