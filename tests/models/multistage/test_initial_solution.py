"""Hints around reservations are replayed, and plans in floats leave room for reservations."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

import dlopt
from dlopt.models.multistage.fixed_sequence_lp import UnsizedChunk, schedule_loads
from dlopt.models.multistage.initial_solution import replay_hint
from dlopt.models.multistage.rounding_feasibility import is_feasible_when_rounded
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import (
    Chunk,
    Commitment,
    Decision,
    Grant,
    Instance,
    Reservation,
    Solution,
    Task,
    objective,
    violations,
)
from dlopt.result import Status
from tests.models.multistage.sample_instances import around, plans

F = Fraction
# Two reservations of different nodes, r with I/O; the task is sent between them.
TWO = around(2, 1, 1, (0, 2, 20), held=((0, 1, 2, 4, 1), (0, 8, 8, 12, (1,))))
YES = (Decision("a", True, 0),)
GRANTS = Grant("r", True, 0, (0,)), Grant("s", True, 0, (1,))
HINT = Solution(YES, GRANTS, (Chunk("a", 0, 2, 4, 6, 6, 8),))


def replayed(hint, instance=TWO, installments=1):
    found = replay_hint(ScaledInstance.from_instance(instance), hint, installments)
    return None if found is None else found[0]


def grants(*nodes):
    return tuple(replace(g, nodes=own) for g, own in zip(GRANTS, nodes, strict=True))


def test_a_valid_hint_stays_as_it_is():
    assert violations(TWO, HINT) == ()
    assert replayed(HINT) == HINT
    alone = replace(HINT, grants=(GRANTS[0], replace(GRANTS[1], accepted=False, nodes=())))
    assert replayed(alone) == alone


@pytest.mark.parametrize(
    "broken",
    [
        replace(HINT, grants=grants((0, 1), (1,))),
        replace(HINT, grants=grants((), (1,))),
        replace(HINT, grants=grants((2,), (1,))),
        replace(HINT, grants=grants((0,), (0,))),
        replace(HINT, decisions=(replace(YES[0], promised=False),)),
        replace(HINT, chunks=()),
        replace(HINT, chunks=(replace(HINT.chunks[0], node=3),)),
        replace(HINT, chunks=(replace(HINT.chunks[0], node=1, transmission_start=7),)),
    ],
)
def test_what_a_hint_says_must_come_to_a_plan(broken):
    assert replayed(broken) is None


def test_reservations_do_not_share_nodes_or_the_channel():
    for held, good in (
        (((0, 1, 1, 4, 1), (0, 4, 4, 8, 1)), True),
        (((0, 1, 1, 4, 1), (0, 3, 3, 8, 1)), False),
    ):
        instance = around(1, 1, 1, held=held)
        hint = Solution((), grants((0,), (0,)), ())
        assert (replayed(hint, instance) == hint) is good
    for sent, good in ((3, True), (4, False)):
        instance = around(2, 1, 1, held=((0, 1, sent, 5, 1), (0, 3, 4, 8, 1)))
        hint = Solution((), grants((0,), (1,)), ())
        assert (replayed(hint, instance) == hint) is good


def test_what_cannot_be_refused_and_what_cannot_be_held():
    must = replace(TWO.reservations[0], mandatory=True)
    instance = replace(TWO, reservations=(must, TWO.reservations[1]))
    refused = (replace(GRANTS[0], accepted=False, nodes=()), GRANTS[1])
    assert replayed(replace(HINT, grants=refused), instance) is None
    busy = replace(TWO, committed=(Commitment("x", 1, 0, 2, 3),), now=0)
    assert replayed(HINT, busy) is None  # the channel is busy as r begins


def test_chunks_stay_in_their_gap():
    """It has one chunk in each of two gaps; where they are in one, they are too many."""
    half = Chunk("a", 0, 1, 4, 5, 5, 6), Chunk("a", 0, 1, 8, 9, 9, 10)
    apart = replace(HINT, chunks=half)
    assert replayed(apart) == apart
    together = replace(HINT, chunks=(half[0], Chunk("a", 0, 1, 6, 7, 7, 8)))
    assert replayed(together) is None
    assert replayed(together, installments=2) == together


@pytest.mark.property
@given(plans(state=True))
def test_plans_are_replayed(made):
    instance, plan = made
    scaled = ScaledInstance.from_instance(instance)
    found, accepted, held = replay_hint(scaled, plan, max(1, len(plan.chunks)))
    assert violations(instance, found) == ()
    assert objective(instance, found) == scaled.value(accepted, held) >= objective(instance, plan)


# --- plans in floats ------------------------------------------------------------------------

DATE = float(2**46)  # 64 units in the last place are 1
LATE = around(
    2,
    1.0,
    1.0,
    (DATE, 2.0, 40.0),
    held=((DATE, DATE + 8, DATE + 10, DATE + 20, (0,)), (DATE, DATE + 30, DATE + 30, DATE + 34, 1)),
)


def clear(node, start, load=2.0, *, held=None, instance=LATE, stated=None):
    """Return whether a chunk keeps clear that is sent then, and takes what it takes."""
    at = DATE + start
    sent, done = at + load, at + 2 * load
    if stated is not None:
        sent, done = (DATE + instant for instant in stated)
    chunk = Chunk("a", node, load, at, sent, sent, done)
    return is_feasible_when_rounded(
        ScaledInstance.from_instance(instance),
        [chunk],
        {0: (0,), 1: (1,)} if held is None else held,
    )


def test_a_chunk_ends_before_the_reservation_that_it_precedes():
    assert clear(0, 4)
    assert not clear(0, 4, 4.0)  # it would be computed at 12, on a node that is reserved from 8 on
    assert clear(1, 4, 4.0)  # on the other node, sent by 8
    assert not clear(1, 4, 7.0)  # sent by 11, while the channel is reserved
    assert clear(1, 4, 7.0, held={1: (1,)})


def test_a_chunk_is_held_against_what_is_stated_as_well():
    assert not clear(0, 4, stated=(6, 11))
    assert not clear(1, 4, stated=(10, 12))


def test_a_chunk_that_follows_starts_at_the_end_and_no_deadline_is_missed():
    assert clear(0, 20)
    assert not clear(0, 15)  # stated to start within
    assert not clear(0, 18, 10.5)  # from 20 on it would end at 41, and be due at 40
    assert clear(0, 20, 10.0)


@pytest.mark.parametrize(("step", "good"), [(2, True), (1, False)])
def test_chunks_follow_one_another_in_exact_numbers(step, good):
    """Each may overlap the one before by 1; together they reach into the I/O of r."""
    chunks = [
        Chunk("a", 1, 1.0, *(DATE + 2 + k * step + later for later in (0, 1, 1, 2)))
        for k in range(6)
    ]
    assert is_feasible_when_rounded(ScaledInstance.from_instance(LATE), chunks, {0: (0,)}) is good


@pytest.mark.parametrize(("load", "good"), [(2.4, True), (2.95, False)])
def test_the_windows_of_a_model_in_floats_are_wider_than_those_of_plans(load, good):
    """There are 4 between two reservations: 6 in the model, and 5 for a plan."""
    held = tuple((DATE, DATE + k, DATE + k, DATE + end, (0,)) for k, end in ((0, 10), (14, 30)))
    scaled = ScaledInstance.from_instance(around(1, 1.0, 1.0, (DATE, load, 60.0), held=held))
    grants, loads = {0: (0,), 1: (0,)}, [scaled.tasks[0].load]
    plan = schedule_loads(scaled, [UnsizedChunk(0, 0, 1)], loads, [0], grants)
    assert (plan is not None) is good
    if good:
        assert violations(scaled.instance, plan, 1e-6) == ()


@pytest.mark.parametrize("units", [0, 1, 2])
def test_a_chunk_in_a_gap_that_is_a_rounding_too_short_is_replayed(units):
    """As `multi-stage` states it: the whole load, until the reservation begins."""
    start = DATE + 4 / 3 - units * math.ulp(DATE)
    instance = around(
        1, 1.0, 3.0, (DATE, 1 / 3, 20.0), held=((DATE, start, start, start + 4, (0,)),)
    )
    hint = dlopt.solve(instance, "multi-stage").solution
    assert [chunk.load for chunk in hint.chunks] == [1 / 3]
    assert replayed(hint, instance) is not None


def test_a_plan_within_the_wider_windows_is_stated_as_early_as_it_can_be():
    """t0 arrives at 2 and was stated to begin 4.5e-6 before; t1 after it ended too early, too."""
    tasks = (Task("t0", 2.0, 3.0, 18.0), Task("t1", 8.0, 1.0, 4.0))
    start = 14 + 1 / 3
    wanted = Reservation("r", 9.0, start, start + 2, io_end=start, nodes=(0, 1))
    instance = Instance(Cluster(2, tau=2.0, chi=0.0, theta_cm=2.0), tasks, (wanted,))
    found = dlopt.solve(instance)
    assert (found.status, found.value, found.violations) == (Status.OPTIMAL, 3, ())
