"""Rounding may state a long chunk a little before the short one that it follows."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dlopt import solve
from dlopt.problems import admission, bag, dag, iit, multistage
from dlopt.problems.cluster import Cluster
from dlopt.problems.transmission_sequence import in_stated_order

EARLY = 138.79999999999998
"""The float before 138.8."""
DUE = 28.1
TASKS = (
    admission.Task("t19", 117.5, 4.6, 18.8),
    admission.Task("t23", 134.7, 8.2, DUE),
    admission.Task("t24", 137.1, 8.3, 24.5),
)
ALL_NODES = [
    f"{order}-{rule}" for order in ("fifo", "edf") for rule in ("opr-an", "iit-an", "anna")
]


@pytest.mark.parametrize("method", ALL_NODES)
def test_shares_that_take_no_time_in_floats_keep_their_order(method: str) -> None:
    """The last nodes get some 1e-17 of a load, sent in no time at the end of its task."""
    found = solve(admission.Instance(Cluster(4, 0.5, 8e-07), TASKS), method)
    assert found.value == 3 and not found.violations


def chunk(node: int, load: float, start: float, end: float) -> iit.Chunk:
    return iit.Chunk(node, load, start, end, end, end)


def test_a_short_chunk_comes_before_the_long_one_that_follows_it() -> None:
    short, long = chunk(1, 1e-17, 138.8, 138.8), chunk(0, 4.0, EARLY, 142.8)
    before = chunk(2, 4.0, 134.8, 138.8)
    pairs = [(one, Fraction(0)) for one in (long, short, before)]
    assert [c.node for c, _ in in_stated_order(pairs)] == [2, 1, 0]


def test_a_node_has_an_order_of_its_own() -> None:
    """A long computation does not go first for its short transmission."""
    short = iit.Chunk(0, 1e-17, 138.8, 138.8, 138.8, 138.8)
    long = iit.Chunk(0, 1e-17, EARLY, EARLY, EARLY, 150.0)
    other = chunk(1, 1.0, 138.8, 139.8)
    pairs = [(one, Fraction(0)) for one in (other, long, short)]
    assert [c.computation_end for c, _ in in_stated_order(pairs)] == [138.8, 150.0, 139.8]


def test_one_load_whose_last_share_takes_no_time() -> None:
    cluster = Cluster(2, tau=(1, 1), chi=(0, 0))
    instance = iit.Instance(cluster, (134.8, 134.8), load=8.0)
    short = chunk(1, 1e-17, 138.8, 138.8)
    before, after = chunk(1, 4.0, 134.8, 138.8), chunk(0, 4.0, EARLY, 142.8)
    solution = iit.Solution((after, short, before))
    assert iit.violations(instance, solution, 1e-9) == ()
    sooner = iit.Solution((chunk(0, 4.0, EARLY - 1, 141.8), short, before))
    assert iit.violations(instance, sooner, 1e-9)


def test_around_reservations_too() -> None:
    cluster = Cluster(2, tau=1, chi=0)
    tasks = (multistage.Task("a", 134.8, 4.0, 9.0), multistage.Task("b", 134.8, 4.0, 9.0))
    held = multistage.Reservation("r", 100.0, 142.8, 150.0, nodes=(0,))
    instance = multistage.Instance(cluster, tasks, (held,))
    chunks = (
        admission.Chunk("b", 0, 4.0, EARLY, 142.8, 142.8, 142.8),
        admission.Chunk("a", 1, 1e-17, 138.8, 138.8, 138.8, 138.8),
        admission.Chunk("a", 1, 4.0, 134.8, 138.8, 138.8, 138.8),
    )
    yes = tuple(admission.Decision(name, True, 134.8) for name in "ab")
    grants = (multistage.Grant("r", True, 100.0, (0,)),)
    solution = multistage.Solution(yes, grants, chunks)
    assert multistage.violations(instance, solution, 1e-9) == ()


def test_a_bag_with_a_task_that_takes_no_time() -> None:
    instance = bag.Instance(etc=((1e-17,), (4.0,), (138.8,)))
    placed = (("t1", EARLY, 142.8), ("t0", 138.8, 138.8), ("t2", 0.0, 138.8))
    solution = bag.Solution(tuple(bag.Placement(name, 0, a, b) for name, a, b in placed))
    assert bag.violations(instance, solution, 1e-9) == ()


def test_a_graph_with_a_task_that_takes_no_time() -> None:
    tasks = tuple(dag.Task(str(k), work=work) for k, work in enumerate((1e-17, 4.0, 138.8)))
    instance = dag.Instance((dag.Machine("m"),), (dag.Graph("g", tasks),))
    starts = ((1, EARLY), (0, 138.8), (2, 0.0))
    solution = dag.Solution(tuple(dag.Placement(0, task, 0, start) for task, start in starts))
    assert dag.violations(instance, solution, 1e-9) == ()
