"""The fast planners make the same decisions and placements as the reference implementations."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.admission import queue
from dlopt.heuristics.admission.engine import Admission
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.strategies import TWINS, few, random_stream, streams

F = Fraction


def places(engine):
    """Return who is where; the floor of a task that waits may be that of an earlier plan."""
    return [
        (planned.task, place.nodes, place.start, place.sent, place.end)
        for planned in engine.placements()
        for place in [planned.placement]
    ]


def assert_equal_decisions(stream, name, **options):
    """Submit a stream to both; decisions, queues and placements are equal all the way."""
    fast = stream.engine(name, **options)
    reference = stream.engine(name, reference=True, **options)
    for task in stream.tasks:
        assert fast.submit(task) == reference.submit(task)
        assert fast.waiting == reference.waiting
        assert places(fast) == places(reference)
    assert fast.plan() == reference.plan()
    return fast, reference


@pytest.mark.property
@pytest.mark.parametrize("name", TWINS)
@few
@given(stream=streams(), stride=st.sampled_from([1, 2, 32]))
def test_exact_numbers(name, stream, stride):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queue, "CHECKPOINT_INTERVAL", stride)
        fast, reference = assert_equal_decisions(stream, name)
    last = stream.tasks[-1].arrival
    for later in (F(1, 2), 7, 400):
        fast.advance(last + later)
        reference.advance(last + later)
        assert fast.waiting == reference.waiting
        assert fast.plan() == reference.plan()


@pytest.mark.parametrize("setup", [False, True])
@pytest.mark.parametrize("stride", [1, 5])
@pytest.mark.parametrize(
    ("name", "least"),
    [
        *((name, 11) for name in ("edf-iit-2", "edf-opr-mn", "fifo-epr-an", "edf-iit-2:literal")),
        *((name, 5) for name in ("mwf-opr-mn", "mwf-epr-mn:literal", "mcdf", "mcdf:literal")),
    ],
)
def test_long_queues_in_exact_numbers(name, least, stride, setup, monkeypatch):
    """All nodes are busy until 400, and 30 tasks wait for them."""
    monkeypatch.setattr(queue, "CHECKPOINT_INTERVAL", stride)
    stream = random_stream(10, nodes=4, tasks=30, number=F, setup=setup, load=20, backlog=400)
    fast, _ = assert_equal_decisions(stream, name)
    assert len(fast.waiting) >= least
    assert len({decision.accepted for decision in fast.decisions}) == 2


@pytest.mark.parametrize("name", TWINS)
def test_floats(name):
    """A hundred tasks on 16 nodes, now and then with a queue; roundings differ."""
    for seed, setup in ((1, False), (2, True)):
        assert_nearly_equal_decisions(random_stream(seed, nodes=16, tasks=100, setup=setup), name)


@pytest.mark.parametrize("name", ["edf-iit-2", "edf-opr-mn", "fifo-epr-an", "edf-anna"])
def test_many_tasks_in_floats(name):
    assert_nearly_equal_decisions(random_stream(3, nodes=64, tasks=300), name)


@pytest.mark.parametrize(
    ("name", "marks"), [("edf-iit-2", 2), ("edf-epr-an", 2), ("fifo-opr-mn", 2), ("mwf-opr-mn", 1)]
)
def test_long_queues_in_floats(name, marks):
    """All nodes are busy until 5000; the queue grows beyond some marks."""
    fast = assert_nearly_equal_decisions(
        random_stream(10, nodes=16, tasks=120, load=8, backlog=5000), name
    )
    assert len(fast.waiting) > marks * queue.CHECKPOINT_INTERVAL


def assert_nearly_equal_decisions(stream, name):
    fast, reference = stream.decided(name), stream.decided(name, reference=True)
    assert [d.accepted for d in fast.decisions] == [d.accepted for d in reference.decisions]
    assert [d.missed for d in fast.decisions] == [d.missed for d in reference.decisions]
    for mine, yours in zip(places(fast), places(reference), strict=True):
        assert mine[:2] == yours[:2]
        assert mine[2:] == pytest.approx(yours[2:], rel=1e-9)
    for mine, yours in zip(fast.plan().chunks, reference.plan().chunks, strict=True):
        assert mine.task == yours.task
        assert mine.load == pytest.approx(yours.load, rel=1e-6, abs=1e-9)
    return fast


def test_marks_are_few_and_each_is_the_state_before_its_task(monkeypatch):
    """Deadlines fall, so that each task goes to the head of the queue."""
    monkeypatch.setattr(queue, "CHECKPOINT_INTERVAL", 3)
    engine = Admission(Cluster(2, 1, 1), ready_times=(100, 100))
    for number in range(20):
        engine.submit(Task(f"t{number}", 0, 1, 1000 - number))
    core = engine.planner
    assert [position for position, _ in core.checkpoints] == list(range(0, 20, 3))
    for position, nodes in core.checkpoints:
        state = core.committed_state.copy()
        for planned in core.waiting[:position]:
            state.clip(planned.placement.not_before)
            state.allocate(planned.placement)
        state.clip(100)
        nodes.clip(100)
        assert (nodes.times, nodes.counts) == (state.times, state.counts)
        assert nodes.channel == state.channel


def test_marks_go_with_what_is_sent(monkeypatch):
    monkeypatch.setattr(queue, "CHECKPOINT_INTERVAL", 2)
    engine = Admission(Cluster(1, 1, 1))
    for number in range(9):
        engine.submit(Task(f"t{number}", 0, 1, 100 + number))
    starts = [planned.placement.start for planned in engine.placements()]
    for count in range(1, 10):
        engine.advance(starts[count - 1] + F(1, 2))
        core = engine.planner
        assert len(core.sent) == count
        assert [at for at, _ in core.checkpoints] == [at for at in range(0, 9, 2) if at > count]
        late = engine.submit(Task(f"late{count}", engine.now, 1, 1))
        assert not late.accepted
