"""Plans in floats around reservations: what is allowed once does not add up."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import (
    Chunk,
    Decision,
    Grant,
    Instance,
    Reservation,
    Solution,
    Task,
    violations,
)

F = Fraction
TOLERANCE = 1e-2


def row(count, cluster, window, lengths, *, sent=None):
    """Return an instance of equal tasks before or behind a reservation, and its decisions."""
    tasks = tuple(Task(f"t{k}", 0, 1, 1000) for k in range(count))
    start, end = window
    one = Reservation("r", 0, start, end, io_end=start if sent is None else sent, nodes=(0,))
    instance = Instance(cluster, tasks, (one,))
    chunks = []
    for k, (begin, received, done) in enumerate(lengths):
        chunks.append(Chunk(f"t{k}", 0, 1, begin, received, received, done))
    said = tuple(Decision(task.id, True, 0) for task in tasks)
    return instance, Solution(said, (Grant("r", True, 0, (0,)),), tuple(chunks))


def kinds(instance, plan):
    return [(found.kind, found.resource) for found in violations(instance, plan, TOLERANCE)]


def test_computations_squeezed_before_a_reservation() -> None:
    """Ten of one second each within nine: each overlap is a ninth of what is allowed in sum."""
    step = F(9, 10)
    squeezed = [(k * step, k * step, k * step + 1) for k in range(10)]
    instance, plan = row(10, Cluster(1, 0, 1), (F(91, 10), 19), squeezed)
    assert kinds(instance, plan) == [("earlier-than-possible", "node 0")]
    fits = [(k, k, k + 1) for k in range(10)]
    assert kinds(*row(10, Cluster(1, 0, 1), (10, 20), fits)) == []
    assert kinds(*row(10, Cluster(1, 0, 1), (F(995, 100), 20), fits)) == []  # once is allowed


def test_transmissions_squeezed_before_a_reservation_of_the_channel() -> None:
    step = F(9, 10)
    squeezed = [(k * step, k * step + 1, k * step + 1) for k in range(10)]
    window = (F(91, 10), 19)
    instance, plan = row(10, Cluster(1, 1, 0), window, squeezed, sent=19)
    instance = replace(instance, cluster=Cluster(2, 1, 0))
    plan = replace(plan, grants=(Grant("r", True, 0, (0,)),))
    assert ("earlier-than-possible", "channel") in kinds(instance, plan)


def test_chunks_behind_a_reservation_wait_for_its_end() -> None:
    """Two reservations with nine seconds between them, in which ten seconds are claimed."""
    step = F(9, 10)
    squeezed = [(10 + k * step, 10 + k * step, 11 + k * step) for k in range(10)]
    instance, plan = row(10, Cluster(1, 0, 1), (0, 10), squeezed)
    later = Reservation("s", 0, F(191, 10), 29, io_end=F(191, 10), nodes=(0,))
    instance = replace(instance, reservations=(*instance.reservations, later))
    plan = replace(plan, grants=(*plan.grants, Grant("s", True, 0, (0,))))
    assert kinds(instance, plan) == [("earlier-than-possible", "node 0")]


def test_transmissions_behind_a_reservation_of_the_channel_wait_for_its_end() -> None:
    step = F(9, 10)
    squeezed = [(10 + k * step, 11 + k * step, 11 + k * step) for k in range(10)]
    instance, plan = row(10, Cluster(2, 1, 0), (0, 10), squeezed, sent=10)
    chunks = tuple(replace(chunk, node=1) for chunk in plan.chunks)
    later = Reservation("s", 0, F(191, 10), 29, io_end=29, nodes=(0,))
    instance = replace(instance, reservations=(*instance.reservations, later))
    grants = (*plan.grants, Grant("s", True, 0, (0,)))
    found = kinds(instance, replace(plan, chunks=chunks, grants=grants))
    assert found == [("earlier-than-possible", "channel")]


@pytest.mark.parametrize("tolerance", [0, TOLERANCE])
def test_without_tasks_there_is_no_timeline(tolerance: float) -> None:
    one = Reservation("r", 0, 1, 2, nodes=(0,))
    instance = Instance(Cluster(1, 1, 1), (), (one,))
    plan = Solution((), (Grant("r", True, 0, (0,)),), ())
    assert violations(instance, plan, tolerance) == ()


def test_a_rejected_reservation_is_in_nobodys_way_and_crumbs_may_be_left_out() -> None:
    instance, plan = row(1, Cluster(1, 1, 1), (1, 2), [(0, 1, 2)])
    plan = replace(plan, grants=(Grant("r", False, 0),))
    assert kinds(instance, plan) == []
    crumb = replace(instance.tasks[0], remaining=F(1, 1000))
    other = Task("u", 1, 1, 1000)
    crumbs = replace(instance, tasks=(crumb, other), reservations=(), now=F(1, 2))
    said = (*plan.decisions, Decision("u", True, 1))
    assert kinds(crumbs, Solution(said, (), (Chunk("u", 0, 1, 1, 2, 2, 3),))) == []


def test_what_may_be_left_out_of_a_task_takes_no_time_before_a_reservation() -> None:
    """The chunk states none of a remaining load that is less than the tolerance."""
    task = Task("t", 0, 1, 10**4, remaining=F(1, 200))
    window = Reservation("r", 1, 5, 15, io_end=5, nodes=(0,))
    instance = Instance(Cluster(1, 0, 1000), (task,), (window,), now=1)
    chunk = Chunk("t", 0, 0, 5, 5, 5, 5)
    plan = Solution((Decision("t", True, 1),), (Grant("r", True, 1, (0,)),), (chunk,))
    assert kinds(instance, plan) == []
    more = replace(instance, tasks=(replace(task, remaining=F(1, 50)),))
    assert ("load-not-conserved", "task t") in kinds(more, plan)
