"""All nodes for every task: the queue of numbers decides as the queue of nodes does."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.admission import all_nodes_queue
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.all_nodes_queue import ServiceInterval, StreamLog
from dlopt.heuristics.admission.queue import PlannedQueue
from dlopt.heuristics.admission.records import QueuedTask

NAMES = tuple(
    f"{stem}{slip}"
    for stem in ("edf-opr-an", "edf-epr-an", "fifo-opr-an", "fifo-epr-an", "edf-anna", "fifo-anna")
    for slip in ("", ":literal")
)


def on_nodes(
    algorithm: Algorithm, costs: tuple[Any, ...], nodes: int, stream: list[Any], free: Any
) -> StreamLog:
    """Decide as the engine does, task by task."""
    queue, log = PlannedQueue(algorithm, costs, [free] * nodes, free * 0), StreamLog()
    for number, (arrival, load, deadline) in enumerate(stream):
        queue.advance(arrival)
        log.queued += len(queue.waiting)
        log.longest = max(log.longest, len(queue.waiting))
        key = (number if algorithm.order == "fifo" else deadline, number)
        refused = queue.try_admit(QueuedTask(key, str(number), arrival, load, deadline))
        log.accepted.append(refused is None)
    plan = [*queue.sent, *queue.waiting]
    log.served = [ServiceInterval(task.key[1], place.start, place.end) for task, place in plan]
    return log


def both(
    name: str, costs: tuple[Any, ...], nodes: int, stream: list[Any], free: Any
) -> tuple[StreamLog | None, StreamLog]:
    algorithm = Algorithm.parse(name)
    arrivals, loads, deadlines = map(list, zip(*stream, strict=True))
    times = all_nodes_queue.execution_times(algorithm, costs, nodes, loads)
    fast = (
        None
        if times is None
        else all_nodes_queue.serve(algorithm, arrivals, times, deadlines, free)
    )
    return fast, on_nodes(algorithm, costs, nodes, stream, free)


def stream_of(draw: random.Random, cast: Any, scale: Any, tasks: int, slack: int) -> list[Any]:
    clock, stream = cast(0), []
    for _ in range(tasks):
        clock += cast(draw.choice([0, 0, 1, 2, 5]) * scale)
        deadline = clock + cast(draw.randint(0, slack) * scale)
        stream.append((clock, cast(draw.randint(1, 5) * scale), deadline))
    return stream


numbers = st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(7, 2)])


@pytest.mark.property
@given(
    st.sampled_from(NAMES),
    st.tuples(st.integers(0, 3), st.integers(1, 4), st.just(0), st.integers(0, 2)),
    st.sampled_from([1, 2, 3, 8]),
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(1, 5), st.integers(0, 40)),
        min_size=1,
        max_size=25,
    ),
    numbers,
    st.integers(0, 3),
    st.booleans(),
)
def test_decisions_and_times_are_those_of_the_nodes(
    name: str,
    costs: tuple[int, ...],
    nodes: int,
    tasks: list[tuple[int, int, int]],
    scale: Fraction,
    free: int,
    floating: bool,
) -> None:
    cast: Any = float if floating else Fraction
    clock, stream = cast(0), []
    for gap, load, slack in tasks:
        clock += cast(gap * scale)
        stream.append((clock, cast(load * scale), clock + cast(slack * scale)))
    charges = tuple(cast(cost * scale) for cost in costs)
    fast, slow = both(name, charges, nodes, stream, cast(free))
    assert fast == slow if fast is not None else floating


@pytest.mark.parametrize("name", NAMES)
def test_long_streams_too(name: str) -> None:
    draw = random.Random(f"serial {name}")
    for cast, slack in ((float, 12), (float, 200), (Fraction, 20)):
        tasks = 1500 if cast is float else 150
        stream = stream_of(draw, cast, 1, tasks, slack)
        fast, slow = both(name, (cast(1), cast(3), cast(0), cast(1)), 100, stream, cast(0))
        assert fast == slow and len(slow.served) > tasks // 50
        busier = stream_of(draw, cast, 5, tasks, slack)
        fast, slow = both(name, (cast(0), cast(1), cast(0), cast(0)), 2, busier, cast(3))
        assert fast == slow


def test_tasks_that_have_left_are_dropped_from_the_lists() -> None:
    # Twice as many as are kept come and go one by one; then some wait in reverse order.
    alone = [(float(10 * i), 1.0, 10.0 * i + 9) for i in range(1200)]
    last = alone[-1][0] + 10
    crowd = [(last, 1.0, last + 100 - i) for i in range(9)]
    for name in ("edf-opr-an", "fifo-epr-an", "edf-anna", "fifo-anna"):
        fast, slow = both(name, (1.0, 1.0, 0.0, 0.0), 3, alone + crowd, 0.0)
        assert fast == slow and fast is not None and fast.longest == 8


@pytest.mark.parametrize(
    ("name", "costs"),
    [
        ("edf-opr-mn", (1, 2, 0, 0)),  # not all nodes
        ("edf-iit-an", (1, 2, 0, 0)),  # inserted idle times
        ("edf-opr-an", (1, 2, 1, 0)),  # set-up costs: n* may be less
        ("edf-opr-an", (1, 0, 0, 0)),  # one node is enough
    ],
)
def test_where_a_task_would_not_get_all_nodes_there_is_no_such_queue(
    name: str, costs: tuple[int, ...]
) -> None:
    exactly = tuple(map(Fraction, costs))
    algorithm = Algorithm.parse(name)
    assert all_nodes_queue.execution_times(algorithm, exactly, 4, [Fraction(3)]) is None
    assert all_nodes_queue.execution_times(algorithm, exactly, 4, []) in (None, [])


def test_where_rounding_lets_the_channel_outlast_the_nodes_there_is_none_either() -> None:
    costs, loads = (3.0, 2.0, 0.0, 0.0), [0.1 * i for i in range(1, 200)]
    algorithm = Algorithm.parse("edf-opr-an")
    assert all_nodes_queue.execution_times(algorithm, costs, 100, loads) is None
    literal = Algorithm.parse("edf-opr-an:literal")  # it does not wait for the channel
    times = all_nodes_queue.execution_times(literal, costs, 100, loads)
    assert times is not None and any(3.0 * x > t for x, t in zip(loads, times, strict=True))
