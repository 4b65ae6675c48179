"""How late the latest task is at the least, and programs over orders that leave plans alone."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from dlopt.backends.time_budget import Budget
from dlopt.models.admission import feasibility
from dlopt.models.multistage import min_max_lateness
from dlopt.models.multistage.methods import feasible_together
from dlopt.models.multistage.min_max_lateness import MinMaxLateness
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.sequencing_milp import SequencingMilp
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import violations
from dlopt.result import Limits, Status
from tests.examples import share
from tests.models.multistage.sample_instances import around, mixed

AT_ONCE = around(1, 1, 1, (0, 1, 1), held=((0, 0, 0, 1, (0,)),))
EITHER = around(2, 1, 2, (0, 2, 4), held=((0, 2, 4, 9, (1,)),))
WORDS = re.compile(r"minimum maximum lateness Lmax (=|<=) ([^;]+)")


def reported_lateness(instance, **options):
    """Return whether the reported lateness is the minimum, and the lateness."""
    found = feasible_together(instance, **options)
    assert found.status is Status.INFEASIBLE
    words = WORDS.match(found.reason)
    return words[1] == "=", Fraction(words[2])


def later(instance, late):
    """Return the instance with all deadlines moved."""
    tasks = tuple(replace(task, deadline=task.deadline + late) for task in instance.tasks)
    return replace(instance, tasks=tasks)


@pytest.mark.parametrize(
    ("instance", "least"),
    [
        (EITHER, Fraction(2, 3)),
        # Behind the deadline there is one gap more.
        (around(1, 1, 1, (0, 2, 2), held=((0, 3, 3, 5, (0,)),)), Fraction(4)),
        (around(1, 1, 1, (0, 1, 1), (0, 1, 1)), Fraction(3)),
        # No chunk has to be kept off: the first gap begins when the reservation ends.
        (
            replace(
                around(1, 1, 1, (0, 1, 1), held=((0, 0, 0, 1, (0,)),)), cluster=Cluster(1, 0, 1)
            ),
            Fraction(1),
        ),
        # What must be sent by a start is computed beyond it.
        (around(2, 1, 1, (0, 3, 4), held=((0, 1, 2, 2, 1), (0, 3, 3, 4, 1))), Fraction(3, 4)),
    ],
)
def test_the_minimum_lateness_is_reported(instance, least):
    assert reported_lateness(instance) == (True, least)
    plan = feasible_together(later(instance, least)).solution
    assert plan is not None and violations(later(instance, least), plan) == ()
    assert feasible_together(later(instance, least - Fraction(1, 50))).status is Status.INFEASIBLE


def test_a_sufficient_lateness_is_reported_where_the_milp_is_too_large(monkeypatch):
    monkeypatch.setattr(feasibility, "SMALL_CHUNKS_TWO_NODES", 1)
    least, late = reported_lateness(EITHER)
    assert not least and late >= Fraction(2, 3)
    assert feasible_together(later(EITHER, late)).status is Status.OPTIMAL


def test_no_lateness_is_reported_where_no_deadline_would_help(monkeypatch):
    both = around(1, 1, 1, (0, 1, 4), held=((0, 1, 1, 3, (0,)), (0, 2, 2, 5, (0,))))
    assert WORDS.match(feasible_together(both).reason) is None
    monkeypatch.setattr(min_max_lateness, "MAX_CHUNKS", 0)
    assert WORDS.match(feasible_together(EITHER).reason) is None


def test_no_lateness_is_reported_of_a_sequence_that_does_not_fit():
    """Both tasks are sent to before the reservation, but the first one's set-up ends after it."""
    late = around(2, 1, 1, (0, 1, 4), (0, 1, 12), held=((0, 2, 2, 3, (1,)),))
    costly = replace(late, cluster=Cluster(2, 1, 1, theta_cm=3))
    question = MinMaxLateness(
        ScaledInstance.from_instance(costly, accept_all=True), 1, Budget(Limits()), 0, "HiGHS"
    )
    assert question.sufficient({0: (1,)}) is None
    found = feasible_together(costly)
    assert found.status is Status.INFEASIBLE and WORDS.match(found.reason) is None


def test_a_sequence_that_is_not_found_leaves_the_sufficient_lateness(monkeypatch):
    question = MinMaxLateness(
        ScaledInstance.from_instance(EITHER, accept_all=True), 1, Budget(Limits()), 0, "HiGHS"
    )
    loose = question.sufficient({0: (1,)})
    monkeypatch.setattr(min_max_lateness.FixedSequenceLp, "solve", lambda *_: None)
    assert question.minimum(loose) == loose


def test_a_sequence_without_chunks_of_a_task_has_no_lateness(monkeypatch):
    scaled = ScaledInstance.from_instance(EITHER, accept_all=True)
    question = MinMaxLateness(scaled, 1, Budget(Limits()), 0, "HiGHS")
    monkeypatch.setattr(min_max_lateness, "sequence_by_deadline", lambda *_: [])
    assert question.sufficient({0: (1,)}) is None


def test_a_milp_at_a_limit_gives_no_minimum_lateness(monkeypatch):
    question = MinMaxLateness(
        ScaledInstance.from_instance(EITHER, accept_all=True), 1, Budget(Limits()), 0, "HiGHS"
    )
    solve = SequencingMilp.solve

    def cut_short(*args):
        found = solve(*args)
        return found._replace(outcome=replace(found.outcome, status=Status.LIMIT))

    monkeypatch.setattr(SequencingMilp, "solve", cut_short)
    assert question.minimum(Fraction(1)) is None


@pytest.mark.parametrize("count", [1, 2])
def test_an_absent_chunk_does_not_end_a_present_one(count):
    """One chunk is sent across a start, in a gap where others could be: of a node or its twin."""
    across = around(3, 1, 0, (0, 3, 4), held=((0, 2, 2, 9, (2,)),))
    instance = replace(across, cluster=Cluster(3, 1, 0, theta_cm=1))
    found = (
        SequencingMilp(ScaledInstance.from_instance(instance), count)
        .build()
        .solve(Limits(), "HiGHS", 0)
    )
    assert (found.accepted, len(found.grants)) == ((0,), 1)
    alone = replace(across, cluster=Cluster(3, 1, 0, theta_cm=1), ready_times=(0, 9, 9))
    found = (
        SequencingMilp(ScaledInstance.from_instance(alone), count)
        .build()
        .solve(Limits(), "HiGHS", 0)
    )
    assert (found.accepted, len(found.sequence)) == ((0,), 1)


def test_what_a_value_needs_is_mandatory():
    scaled = ScaledInstance.from_instance(replace(EITHER, task_weight=3))
    assert not scaled.with_value_at_least(Fraction(1)).has_mandatory
    needed = scaled.with_value_at_least(Fraction(2))
    assert [job.mandatory for job in needed.tasks] == [True]
    assert [one.mandatory for one in needed.reservations] == [False]
    assert [one.mandatory for one in scaled.with_value_at_least(Fraction(4)).reservations] == [True]


@pytest.mark.property
@share(1 / 4)
@given(mixed(most=2, tasks=1))
def test_with_so_much_time_everything_fits(instance):
    found = feasible_together(instance)
    words = WORDS.match(found.reason or "")
    if words is None:
        return
    late = Fraction(words[2])
    assert late > 0
    after = feasible_together(later(instance, late))
    assert after.status is Status.OPTIMAL
    if words[1] == "=":
        before = feasible_together(later(instance, late * Fraction(99, 100)))
        assert before.status is Status.INFEASIBLE
