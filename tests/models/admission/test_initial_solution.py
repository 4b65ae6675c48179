"""Hints are replayed: a valid one stays as it is, and nothing that another one says is believed."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.models.admission.initial_solution import replay_hint
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.problems.admission import Chunk, Commitment, Decision, Solution, objective, violations
from dlopt.problems.validated_record import floating
from tests.models.admission.sample_instances import stream
from tests.problems.chunk_edits import moved
from tests.strategies import admission_plans

F = Fraction
ONE = stream(2, 1, 1, (0, 2, 9), (1, 1, 9))
YES = Decision("a", True, 0), Decision("b", True, 1)
CHUNKS = Chunk("a", 0, 2, 0, 2, 2, 4), Chunk("b", 1, 1, 3, 4, 4, 5)
HINT = Solution(YES, CHUNKS)


def replayed(hint, instance=ONE, installments=1):
    found = replay_hint(ScaledInstance.from_instance(instance), hint, installments)
    return None if found is None else found[0]


def with_chunk(**changes):
    return replace(HINT, chunks=(CHUNKS[0], replace(CHUNKS[1], **changes)))


def sent(chunk):
    return chunk.task, chunk.node, chunk.load, chunk.transmission_start


def test_a_valid_hint_stays_as_it_is():
    assert replayed(HINT) == HINT
    assert replayed(replace(HINT, chunks=CHUNKS[::-1])) == HINT


@pytest.mark.parametrize(
    "broken",
    [
        with_chunk(load=F(1, 2)),
        with_chunk(load=2),
        with_chunk(load=-1),
        with_chunk(node=2),
        with_chunk(node=-1),
        with_chunk(task="c"),
        with_chunk(transmission_start=11),
        replace(HINT, chunks=CHUNKS[:1]),
        replace(HINT, chunks=(*CHUNKS, replace(CHUNKS[1], load=0))),
        replace(HINT, decisions=(YES[0], replace(YES[1], accepted=False))),
        replace(HINT, decisions=(YES[0], replace(YES[1], promised=False))),
    ],
)
def test_what_a_hint_says_must_come_to_a_plan(broken):
    assert replayed(broken) is None


def test_chunks_that_overlap_are_sent_one_after_the_other():
    """The second starts while the channel is busy, and states no durations that can be."""
    early = with_chunk(transmission_start=1, transmission_end=1, computation_end=2)
    assert violations(ONE, early)
    plan = replayed(early)
    assert plan.chunks == (CHUNKS[0], Chunk("b", 1, 1, 2, 3, 3, 4))
    assert violations(ONE, plan) == ()


def test_promises_are_kept():
    before = replace(ONE, now=1)
    assert replayed(replace(HINT, decisions=YES[1:], chunks=CHUNKS[1:]), before) is None


def test_what_is_settled_already_is_accepted_without_its_chunks():
    done = replace(ONE, committed=(Commitment("a", 0, 0, 2, 4),))
    plan = replayed(HINT, done)
    assert [chunk.task for chunk in plan.chunks] == ["b"]
    assert [decision.accepted for decision in plan.decisions] == [True, True]
    assert violations(done, plan) == ()


@pytest.mark.property
@given(admission_plans(state=True), st.data())
def test_plans_are_replayed_and_moved_ones_come_to_plans_or_to_none(made, data):
    instance, plan = made
    scaled, known = ScaledInstance.from_instance(instance), len(plan.chunks)
    found, accepted = replay_hint(scaled, plan, known)
    assert violations(instance, found) == ()
    assert objective(instance, found) == scaled.value(accepted) >= objective(instance, plan)
    assert set(map(sent, found.chunks)) == {sent(chunk) for chunk in plan.chunks if chunk.load}
    if known:
        place = data.draw(st.integers(0, known - 1))
        by = data.draw(st.sampled_from([F(-3), F(-1, 2), F(1, 2), F(3)]))
        chunks = list(plan.chunks)
        chunks[place] = moved(chunks[place], by)
        other = replay_hint(scaled, replace(plan, chunks=tuple(chunks)), known)
        assert other is None or violations(instance, other[0]) == ()


@pytest.mark.property
@given(admission_plans(state=True))
def test_plans_in_floats_are_replayed(made):
    instance, plan = (floating(one) for one in made)
    if violations(instance, plan, 1e-9) == ():
        found = replay_hint(ScaledInstance.from_instance(instance), plan, max(1, len(plan.chunks)))
        assert found is None or violations(instance, found[0], 1e-9) == ()
