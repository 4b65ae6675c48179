"""Gaps that are a rounding too short in floats: what is planned there is a valid schedule."""

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dlopt
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task, violations
from tests.examples import share
from tests.heuristics.reference.multistage_engine import multistage

F = Fraction
CLOCKS = [0.0, 1e5, 1.7e9]
"""Instants of a new clock, of one that has run for a day in seconds, and of dates."""

costs = st.sampled_from(
    [(1.0, 3.0), (0.1, 0.7), (1 / 3, 1.0), (0.01, 2.0), (0.0, 1.0), (1e-9, 1.0)]
)
loads = st.builds(
    lambda over, under: over / under, st.integers(1, 20), st.sampled_from([1, 3, 7, 10])
)


def moved(instant, units):
    """Return an instant so many units in the last place earlier."""
    for _ in range(units):
        instant = math.nextafter(instant, -math.inf)
    return instant


def small_and_large(clock, unit, units, small, large, until, io):
    """Return a stream: a task as long as the gap before a reservation, and one that follows it.

    The second node is ready in the middle of the gap.
    """
    cluster = Cluster(2, *unit)
    start = moved(clock + small * (cluster.tau + cluster.chi), units)
    end = start + until
    reservation = Reservation("r", clock, start, end, io_end=start + io * until, nodes=(0,))
    tasks = Task("small", clock, small, 20.0 + until), Task("large", clock, large, 500.0)
    ready = clock, (clock + start) / 2
    return Instance(cluster, tasks, (reservation,), now=clock, ready_times=ready)


def decided(instance, algorithm="multi-stage", reference=False):
    """Return a book to which a stream was submitted."""
    book = multistage(reference)(
        instance.cluster,
        algorithm,
        now=instance.now,
        ready_times=instance.ready_times,
    )
    for one in instance.reservations:
        assert book.reserve(one).accepted
    for task in instance.tasks:
        book.submit(task)
    return book


streams_with_a_gap = st.builds(
    small_and_large,
    st.sampled_from(CLOCKS),
    costs,
    st.sampled_from([0, 1, 1, 2, 3, 5, 9, 30]),
    loads,
    loads,
    st.sampled_from([0.5, 3.0, 11 / 3]),
    st.sampled_from([0.0, 0.0, 0.5, 1.0]),
)


@pytest.mark.property
@share(3 / 4)
@given(streams_with_a_gap, st.sampled_from(["multi-stage", "priced-multi-stage"]))
@example(small_and_large(1.7e9, (1.0, 3.0), 1, 1 / 3, 6.0, 11 / 3, 0.0), "multi-stage")
@example(small_and_large(1e5, (0.01, 2.0), 9, 1.5, 198.0, 11 / 3, 0.5), "multi-stage")
def test_plans_around_gaps_that_are_too_short_are_valid(instance, algorithm):
    """By few units in the last place, of which a chunk may need more; with both planners."""
    books = [decided(instance, algorithm, reference) for reference in (False, True)]
    plans = [book.plan() for book in books]
    assert plans[0] == plans[1]
    assert violations(instance, plans[0], 1e-9) == ()
    assert dlopt.check(*books[0].state()[:2]) == ()


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("units", [0, 1])
def test_a_gap_that_is_a_rounding_too_short_takes_the_whole_load(clock, units):
    """What a gap lacks is not sent after the reservation: it takes no time in floats there."""
    for ninths in range(1, 12):
        instance = small_and_large(clock, (1.0, 3.0), units, ninths / 9, 6.0, 1.0, 0.0)
        chunks = decided(instance).plan().chunks
        small = [chunk for chunk in chunks if chunk.task == "small"]
        assert [(chunk.node, chunk.load) for chunk in small] == [(0, ninths / 9)]
        assert small[0].computation_end <= instance.reservations[0].start


def test_a_transmission_that_takes_less_time_than_floats_can_tell_occupies_the_channel():
    """Else a long one is planned over it, and in exact numbers it waits for that one."""
    instance = small_and_large(1e5, (0.01, 2.0), 9, 1.5, 198.0, 11 / 3, 0.5)
    plan = decided(instance).plan()
    rest = [chunk for chunk in plan.chunks if chunk.task == "small"][-1]
    assert rest.transmission_start >= instance.reservations[0].end
    assert rest.transmission_end == math.nextafter(rest.transmission_start, math.inf)
    assert violations(instance, plan, 1e-9) == ()


@pytest.mark.parametrize("reference", [False, True])
def test_a_computation_that_takes_less_time_than_floats_can_tell_occupies_its_node(reference):
    """Also where what it computes is received at once, so that it occupies no channel."""
    instance = Instance(Cluster(1, 0.0, 1.0), (Task("a", 1.7e9, 1e-9, 20.0),), now=1.7e9)
    (chunk,) = decided(instance, reference=reference).plan().chunks
    assert (chunk.transmission_end, chunk.computation_end) == (1.7e9, math.nextafter(1.7e9, 2e9))


@pytest.mark.parametrize("reference", [False, True])
def test_in_exact_numbers_the_least_that_a_gap_lacks_is_sent_later(reference):
    lacking = F(1, 10**20)
    cluster = Cluster(1, F(1), F(3))
    reservation = Reservation("r", 0, 4 - lacking, 6, io_end=4 - lacking)
    instance = Instance(cluster, (Task("small", 0, 1, 20),), (reservation,))
    first, second = decided(instance, reference=reference).plan().chunks
    assert (first.load, second.load) == (1 - lacking / 4, lacking / 4)
    assert (first.computation_end, second.transmission_start) == (4 - lacking, 6)
