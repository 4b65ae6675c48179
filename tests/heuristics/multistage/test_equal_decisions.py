"""The fast planner makes the same decisions and plans as the reference implementation."""

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Reservation, Task, violations
from tests.examples import share
from tests.heuristics.multistage.strategies import streams
from tests.heuristics.reference.multistage_engine import ReferenceMultiStage, multistage

F = Fraction


def arriving(instance):
    both = (*instance.reservations, *instance.tasks)
    return sorted(both, key=lambda one: one.arrival)


def tell(engine, one):
    return engine.submit(one) if isinstance(one, Task) else engine.reserve(one)


@pytest.mark.property
@given(streams(tasks=8), st.lists(st.sampled_from([0, F(1, 2), 2]), min_size=12, max_size=12))
def test_exact_numbers(instance, pauses):
    """Equal answers, queues and plans all the way; each plan is valid."""
    state = {"ready_times": instance.ready_times, "channel_ready": instance.channel_ready}
    fast = MultiStage(instance.cluster, **state)
    reference = ReferenceMultiStage(instance.cluster, **state)
    for one, pause in zip(arriving(instance), pauses, strict=False):
        if fast.now > one.arrival:
            continue
        assert tell(fast, one) == tell(reference, one)
        assert fast.waiting == reference.waiting
        assert fast.plan() == reference.plan()
        fast.advance(fast.now + pause)
        reference.advance(reference.now + pause)
        assert fast.waiting == reference.waiting


def busy(number, reference=False):
    """Return a cluster that is busy until 50, with reservations behind, and 25 tasks that wait."""
    head = multistage(reference)(
        Cluster(4, number(1), number(5)),
        ready_times=[number(50 + k) for k in range(4)],
    )
    said = []
    for k in range(12):
        start = number(52 + 17 * k)
        wanted = Reservation(
            f"r{k}", 0, start, start + number(3 + k % 4), io_ratio=F(k % 3, 2), nodes=1 + k % 3
        )
        said.append(head.reserve(wanted))
    for k in range(25):
        load = number(F(3 + k * 7 % 11, 2))
        said.append(head.submit(Task(f"t{k}", 0, load, number(80 + k * 37 % 150))))
    for k in range(6):
        start = number(60 + 20 * k)
        said.append(head.reserve(Reservation(f"late{k}", 1, start, start + 2, nodes=(k % 4,))))
    return head, said


def test_a_long_queue_in_exact_numbers():
    (fast, mine), (reference, yours) = busy(F), busy(F, reference=True)
    assert mine == yours
    assert fast.plan() == reference.plan()
    assert len(fast.waiting) >= 15
    assert len({one.accepted for one in mine}) == 2


def test_a_long_queue_in_floats():
    """The same numbers bit by bit; those of the exact engine but for rounding."""
    (fast, mine), (reference, yours) = busy(float), busy(float, reference=True)
    exact, known = busy(F)
    assert mine == yours
    assert fast.plan() == reference.plan()
    assert [one.accepted for one in mine] == [one.accepted for one in known]
    assert fast.waiting == exact.waiting
    assert {type(chunk.load) for chunk in fast.plan().chunks} == {float}
    for one, other in zip(fast.plan().chunks, exact.plan().chunks, strict=True):
        assert (one.task, one.node) == (other.task, other.node)
        assert one.load == pytest.approx(float(other.load), rel=1e-9)
        assert one.computation_end == pytest.approx(float(other.computation_end), rel=1e-12)


def random_queue(seed, number, reference):
    """Return a cluster with 24 tasks and 8 reservations told to it while it is busy."""
    rng = random.Random(seed)
    nodes = rng.randint(2, 8)
    ready = [number(rng.choice([30, 30, 31, 40])) for _ in range(nodes)]
    head = multistage(reference)(
        Cluster(nodes, number(1), number(rng.choice([2, 9]))),
        ready_times=ready,
    )
    said = []
    for k in range(32):
        arrival = number(k // 4)
        if k % 4 == 3:
            start = number(rng.randint(30, 200))
            end = start + number(rng.randint(1, 20))
            ratio = rng.choice([0, F(1, 4), F(1, 2)])
            said.append(
                head.reserve(
                    Reservation(
                        f"r{k}", arrival, start, end, io_ratio=ratio, nodes=rng.randint(1, nodes)
                    )
                )
            )
        else:
            load = number(F(rng.randint(1, 40), rng.choice([1, 3])))
            said.append(head.submit(Task(f"t{k}", arrival, load, number(rng.randint(40, 160)))))
    return head, said


@pytest.mark.property
@given(st.integers(0, 10**6), st.sampled_from([F, float]))
@share(1 / 5)
def test_many_tasks_that_wait(seed, number):
    """Queues of ten to twenty tasks: equal answers and plans, bit by bit in floats, too."""
    (fast, mine), (reference, yours) = (random_queue(seed, number, one) for one in (False, True))
    assert mine == yours
    assert fast.waiting == reference.waiting
    assert fast.plan() == reference.plan()


@pytest.mark.property
@given(streams(tasks=8))
def test_what_waits_keeps_its_plan_when_planned_again(instance):
    """A decision concerns no task before the new one, at whatever instant it is made."""
    state = {"ready_times": instance.ready_times, "channel_ready": instance.channel_ready}
    head = MultiStage(instance.cluster, **state)
    for one in arriving(instance):
        before = {chunk.task: chunk for chunk in reversed(head.plan().chunks)}
        answer = tell(head, one)
        after = {chunk.task: chunk for chunk in reversed(head.plan().chunks)}
        if isinstance(one, Task) and answer.accepted:
            due = {task.id: task.absolute_deadline for task in instance.tasks}
            first = [name for name in before if due[name] <= due[one.id]]
            assert all(before[name] == after[name] for name in first)
        starts = [after[name].transmission_start for name in head.waiting]
        assert starts == sorted(starts)
    assert violations(instance, head.plan()) == ()
