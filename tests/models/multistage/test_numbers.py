"""Streams in floats and dates: what fits in exact numbers is found, and proven, in floats, too."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, solve
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task, violations
from tests import oracles_multistage as oracle
from tests.examples import share

thousandths = st.integers(1, 9_999).map(lambda n: n / 1000)
EPOCH = 1_700_000_000.0


@st.composite
def decimals(draw):
    """Few tasks and reservations in decimals of three digits, from 0 or from a date of today."""
    origin = draw(st.sampled_from((0.0, EPOCH)))

    def instant(*spans):
        return round(origin + sum(spans), 3)

    tasks, reservations = [], []
    nodes = draw(st.integers(1, 2))
    for index in range(draw(st.integers(1, 3 - nodes))):
        arrival = instant(draw(thousandths))
        tasks.append(Task(f"t{index}", arrival, draw(thousandths), 2 * draw(thousandths)))
    for index in range(draw(st.integers(1, 2))):  # more make brute force slow
        arrival, wait, length = draw(thousandths), draw(thousandths), draw(thousandths)
        start, end = instant(arrival, wait), instant(arrival, wait, length)
        reservations.append(Reservation(f"r{index}", instant(arrival), start, end))
    tasks.sort(key=lambda task: task.arrival)
    reservations.sort(key=lambda reservation: reservation.arrival)
    cluster = Cluster(nodes, tau=1, chi=draw(st.integers(1, 2)))
    return Instance(cluster, tuple(tasks), tuple(reservations), now=origin)


def stated(instance):
    """Return the instance in the exact decimals that floats stand for."""

    def exactly(record, *fields):
        values = {name: Fraction(str(getattr(record, name))) for name in fields}
        return replace(record, **values)

    return replace(
        instance,
        tasks=tuple(exactly(task, "arrival", "load", "deadline") for task in instance.tasks),
        reservations=tuple(
            exactly(one, "arrival", "start", "end") for one in instance.reservations
        ),
        now=Fraction(instance.now),
    )


@pytest.mark.property
@share(1 / 8)
@given(instance=decimals())
def test_floats_accept_what_brute_force_accepts_in_their_decimals(instance):
    found = solve(instance, objective="accepted")
    assert found.status is Status.OPTIMAL
    assert found.value >= oracle.most(stated(instance))
    assert violations(instance, found.solution, found.tolerance) == ()


@pytest.mark.parametrize("origin", [0.0, EPOCH])
def test_chunks_between_reservations_are_found_in_floats(origin):
    """The windows of the models are so wide that a chunk within them ends too late."""
    tasks = (
        Task("t0", origin + 7.046, 16.136, 212.226),
        Task("t1", origin + 16.160, 17.391, 250.608),
        Task("t2", origin + 45.250, 15.932, 154.287),
    )
    wanted = (
        Reservation("r1", origin + 1.871, origin + 39.895, origin + 85.971),
        Reservation("r0", origin + 29.544, origin + 46.180, origin + 82.646),
    )
    instance = Instance(Cluster(2, tau=1, chi=10), tasks, wanted, now=origin)
    found = solve(instance, objective="accepted")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 4, 4)
    assert violations(instance, found.solution, found.tolerance) == ()
