"""Streams at dates, in floats: what is decided does not depend on the epoch of the clock."""

from dataclasses import replace

import pytest

import dlopt
from dlopt.heuristics.admission.time_origin import from_origin, origin_of
from dlopt.problems.admission import Commitment, Instance, Task
from dlopt.problems.cluster import Cluster
from dlopt.result import Status

EPOCH = 1_700_000_000


def back_to_back(epoch, count=1200):
    """Return tasks of a millisecond that one node does one after the other."""
    tasks = (Task(f"t{i}", epoch + i * 0.0005, 1.0, 0.8) for i in range(count))
    return Instance(Cluster(1, 0.0, 0.001), tuple(tasks))


@pytest.mark.parametrize("algorithm", ["edf-iit-2", "fifo-opr-an", "fast-edf-iit"])
def test_rounding_at_a_date_does_not_add_up(algorithm):
    """Else a thousand chunks, each a third of a unit in the last place short, gain 70 us."""
    dated = back_to_back(float(EPOCH))
    found = dlopt.solve(dated, algorithm)
    assert found.status is Status.FEASIBLE
    assert dlopt.check(dated, found.solution) == ()
    assert found.value == dlopt.solve(back_to_back(0.0), algorithm).value == 1200
    assert [said.at for said in found.solution.decisions] == [t.arrival for t in dated.tasks]


def test_the_origin_is_the_second_of_the_first_arrival():
    instance = Instance(Cluster(2, 1, 1), (Task("a", EPOCH + 0.5, 1, 4),))
    assert origin_of(instance) == EPOCH
    assert origin_of(replace(instance, tasks=(Task("a", EPOCH, 1, 4),))) == 0  # exact numbers
    assert origin_of(replace(instance, tasks=(Task("a", 2.5, 1, 4),))) == 0  # it is near
    old = Commitment("b", 0, EPOCH - 1, 1, EPOCH + 1)
    assert origin_of(replace(instance, now=EPOCH, committed=(old,))) == 0


def test_what_was_ready_before_the_origin_is_ready_at_it():
    instance = Instance(
        Cluster(2, 1, 1),
        (Task("a", EPOCH + 0.5, 1, 4),),
        now=EPOCH + 1,
        ready_times=(0, EPOCH + 2),
        channel_ready=EPOCH + 3,
    )
    moved = from_origin(instance, EPOCH)
    assert (moved.tasks[0].arrival, moved.now, moved.channel_ready) == (0.5, 1, 3)
    assert moved.ready_times == (0, 2)
    found = dlopt.solve(instance, "edf-iit-2")
    assert dlopt.check(instance, found.solution) == ()
    (first, *_) = found.solution.chunks
    assert (first.transmission_start, found.solution.decisions[0].accepted) == (EPOCH + 3, True)
