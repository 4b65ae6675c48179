"""The dispatcher by itself: what counts as rounding, and what is late."""

from fractions import Fraction

import pytest

from dlopt.heuristics.admission.fast.dispatcher import Dispatcher, QueueEntry, SortedTaskQueue
from dlopt.heuristics.admission.records import QueuedTask


def sent(load, due, start=0.0):
    """Return what is sent of a task that a node can do at 1 unit of load an instant."""
    line = SortedTaskQueue()
    line.insert(QueueEntry(QueuedTask((due, 0), "a", start, load, due), load))
    made = Dispatcher((start * 0, start * 0 + 1, 0, 0), (start,), start, start, line)
    made.run()
    return [(part.load, part.end) for part in made.sent], made.unfinished


@pytest.mark.parametrize("late", [0.0, 4e-10])
def test_a_task_that_is_late_by_rounding_is_sent_whole(late):
    """Half of what a check in floats allows, which is 1e-9 of the deadline."""
    assert sent(1.0 + late, 1.0) == ([(1.0 + late, 1.0 + late)], [])


@pytest.mark.parametrize("late", [7e-10, 2e-9, 3.9e-9])
def test_what_a_check_would_not_allow_is_left(late):
    parts, (lost,) = sent(1.0 + late, 1.0)
    assert parts == [(1.0, 1.0)]
    assert lost.load == pytest.approx(late, rel=1e-3)


@pytest.mark.parametrize(("ulps", "whole"), [(0, True), (24, True), (60, False), (200, False)])
def test_at_a_date_it_is_units_in_the_last_place(ulps, whole):
    late = ulps * 2.0**-22
    epoch = 1.7e9
    parts, lost = sent(1.0 + late, epoch + 1, epoch)
    assert (len(parts), bool(lost)) == (1, not whole)
    assert parts[0][1] == epoch + 1 + late * whole


def test_exact_numbers_have_no_rounding():
    more = Fraction(1, 10**30)
    parts, (lost,) = sent(1 + more, Fraction(1), Fraction(0))
    assert (parts, lost.load) == ([(1, 1)], more)
