"""Local search over sequences of chunks around reservations, and windows that are full."""

from fractions import Fraction

import pytest
from hypothesis import given

from dlopt.models.common.sequence_annealing import EFFORT
from dlopt.models.multistage.fixed_sequence_lp import UnsizedChunk, schedule_sequence
from dlopt.models.multistage.full_window_cuts import FullWindows
from dlopt.models.multistage.initial_solution import accepted_reservations, sequence_of
from dlopt.models.multistage.methods import bound_fluid, exact_plan
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.sequence_search import NodeChoices, ReservationSequenceSearch
from dlopt.problems.multistage import violations
from dlopt.result import Limits, Status
from tests.examples import share
from tests.models.multistage.sample_instances import around, plans

FITTING = {
    "a chunk before and one after": around(1, 1, 1, (0, 2, 6), held=((0, 2, 4, 4, (0,)),)),
    "after the reservation": around(2, 1, 1, (0, 2, 9), held=((0, 0, 5, 6, 2),)),
    "two tasks": around(2, 1, 1, (0, 2, 9), (0, 2, 9), held=((0, 2, 3, 6, 1), (1, 7, 8, 9, 1))),
}


def search_of(scaled, effort=EFFORT):
    """Return the search for one chunk a node and gap."""
    return ReservationSequenceSearch(scaled, 1, Limits(), effort, 0, NodeChoices(scaled))


@pytest.mark.parametrize("name", FITTING)
def test_what_is_finished_has_a_schedule(name):
    instance = FITTING[name]
    scaled = ScaledInstance.from_instance(instance)
    search, tasks = search_of(scaled), range(len(scaled.tasks))
    requests = range(len(scaled.tasks) + len(scaled.reservations))
    found = search.finish([], requests)
    grants = search.choices.nodes(range(len(scaled.reservations)))
    plan = schedule_sequence(scaled, found.loaded_chunks, tasks, grants, Limits(), 0)
    assert plan is not None and violations(instance, plan) == ()
    assert {chunk.task for chunk in sequence_of(scaled, plan)} == set(tasks)
    assert accepted_reservations(scaled, plan) == grants


def test_reservations_count_as_much_as_tasks():
    """The task needs the time of the reservation."""
    scaled = ScaledInstance.from_instance(around(1, 1, 1, (0, 3, 6), held=((0, 1, 1, 3, 1),)))
    assert len(search_of(scaled, 200).improve([], []).requests) == 1
    assert search_of(scaled, 200).finish([], [0, 1]) is None


def test_reservations_that_exclude_each_other_are_not_accepted_together():
    scaled = ScaledInstance.from_instance(
        around(2, 1, 1, (0, 1, 9), held=((0, 1, 2, 3, 1), (0, 1, 2, 3, 1)))
    )
    search = search_of(scaled, 500)
    assert not search.allows(frozenset([1, 2]))
    assert len(search.improve([], []).requests) == 1
    found = search.improve([UnsizedChunk(0, 0, 0)], [0])
    assert len(found.requests) == 2 and 0 in found.requests


def test_a_chunk_that_comes_too_late_is_sent_in_a_later_gap():
    scaled = ScaledInstance.from_instance(around(1, 1, 1, (0, 2, 9), held=((0, 2, 3, 4, (0,)),)))
    search = search_of(scaled)
    assert list(search.alternatives(UnsizedChunk(0, 0, 0))) == [
        UnsizedChunk(0, 0, 0),
        UnsizedChunk(0, 0, 1),
    ]
    sized = search.sized([UnsizedChunk(0, 0, 0), UnsizedChunk(0, 0, 0)], frozenset([0, 1]))
    assert [chunk.gap for chunk in sized.sequence] == [0, 1]


def test_an_optimum_is_proven_by_a_full_window():
    instance = around(9, 1, 1, (0, 2, 6), (0, 2, 6), held=((0, 1, 3, 5, (8,)),))
    found = exact_plan(instance, limits=Limits(work=200))
    assert (found.status, found.value, found.proof) == (Status.OPTIMAL, 2, "exact")
    assert bound_fluid(instance).bound == 3


@pytest.mark.property
@share(1)
@given(plans(most=3, tasks=4, state=True, identical=False))
def test_no_plan_has_a_full_window(data):
    instance, plan = data
    scaled = ScaledInstance.from_instance(instance)
    accepted = {one.task for one in plan.decisions if one.accepted}
    accepted |= {one.reservation for one in plan.grants if one.accepted}
    requests = [instance.tasks[one.index].id for one in scaled.tasks]
    requests += [instance.reservations[one.index].id for one in scaled.reservations]
    point = [float(name in accepted) for name in requests]
    assert FullWindows(scaled, range(len(point))).separate(point) == []


def cuts_of(instance, point):
    """Return the columns of the cuts that a point violates."""
    scaled = ScaledInstance.from_instance(instance)
    rows = FullWindows(scaled, range(len(point))).separate(point)
    return [sorted(column for column, _ in terms) for terms, _, _ in rows]


def test_a_port_without_a_pause_leaves_no_time_to_compute():
    """With a fluid of any number of nodes only a limit is missing; time for one more is enough."""
    tasks = (0, 2, 6), (0, 2, 6)
    for end, cuts in ((3, [[0, 1, 2]]), (Fraction(29, 10), [])):
        held = ((0, 1, end, 5, (8,)),)
        assert cuts_of(around(9, 1, 1, *tasks, held=held), [1, 1, 1]) == cuts
    assert cuts_of(around(9, 1, 1, *tasks, held=((0, 1, 3, 5, (8,)),)), [1, 0.5, 1]) == []


def test_a_transmission_of_a_reservation_may_end_a_window():
    """The task is sent before it, and computed meanwhile."""
    held = ((0, 2, 4, 5, (1,)),)
    instance = around(2, 1, Fraction(1, 2), (0, 2, 4), held=held)
    assert cuts_of(instance, [1, 1]) == []
    assert exact_plan(instance).value == 2


def test_what_takes_no_time_to_compute_may_be_sent_until_the_deadline():
    assert cuts_of(around(1, 1, 0, (0, 2, 2)), [1]) == []
    assert exact_plan(around(1, 1, 0, (0, 2, 2))).value == 1
