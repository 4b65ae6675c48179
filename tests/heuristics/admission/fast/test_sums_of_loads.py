"""What sums of loads say of promised tasks and a new one, against loading them one by one."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Admission
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm
from dlopt.heuristics.admission.fast.planner import FastPlanner
from dlopt.heuristics.admission.records import QueuedTask
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.strategies import instants, loads

COSTS = (Fraction(1), Fraction(2), Fraction(0), Fraction(0))


def planner(test, ready, channel, order="edf"):
    return FastPlanner(FastAlgorithm(test, order=order), COSTS, ready, channel, Fraction(0))


def queued(number, load, due):
    return QueuedTask((due, number), f"t{number}", Fraction(0), load, due)


@pytest.mark.property
@pytest.mark.parametrize("test", ["r1", "r2"])
@given(
    st.lists(st.tuples(loads, instants), max_size=6),
    st.tuples(loads, instants),
    st.lists(instants, min_size=1, max_size=4),
    instants,
)
def test_the_same_decision(test, promised, new, ready, channel):
    tasks = [queued(number, load, 3 * due) for number, (load, due) in enumerate(promised)]
    last = queued(len(tasks), new[0], 3 * new[1])
    by_sums = planner(test, ready, channel).rejects_sum(tasks, last)
    loaded = planner(test, ready, channel)
    refused = loaded.load_promised(tasks, Fraction(0)) or loaded.would_reject(last)
    assert by_sums is (refused is not None)


def test_what_sums_do_not_say():
    """What the simulation sends, or what is sent before the task arrives."""
    zero, new = Fraction(0), queued(0, Fraction(1), Fraction(9))
    assert planner("replay", [zero], zero).rejects_sum([], new) is None
    assert planner("r2", [zero], zero, order="mwf").rejects_sum([], new) is None
    assert planner("r2", [zero], zero).rejects_sum([], new._replace(arrival=Fraction(1))) is None


@pytest.mark.parametrize("compiled", [False, True])
def test_to_ask_rounds_as_to_submit(compiled):
    """The node has just time for the load, and sums of floats depend on their order."""
    if compiled:
        pytest.importorskip("numba")
    book = Admission(Cluster(1, tau=1.0, chi=3.0), "fast-edf-iit", compiled=compiled)
    task = Task("a", arrival=0.3, load=0.1, deadline=0.4)
    assert book.ask(task) == book.submit(task)
