"""What a tolerance allows of an executed trace does not add up: on channels, nodes, to failures.

Instants here are counted from 2**46, where 64 units in the last place are 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from dlopt.arithmetic import exact
from dlopt.problems.admission import (
    Decision,
    Dropped,
    Executed,
    Factor,
    Failure,
    Instance,
    Scenario,
    Task,
    Trace,
    violations_executed,
)
from dlopt.problems.admission.checker_times import loads_to_plan
from dlopt.problems.admission.trace_timeline import ReservedTimes, exact_trace
from dlopt.problems.cluster import Cluster
from dlopt.result import Violation
from tests.problems.executed_traces import traces

F = Fraction
EPOCH = 2**46
HALF = F(1, 2)
ONLY_ROUNDING = 1e-30
CALM = Scenario()
NODE, CHANNEL = Cluster(1, 0, HALF), Cluster(20, HALF, 0)
IMPOSSIBLE = {"earlier-than-possible"}


def at(instant: Any) -> Fraction:
    return EPOCH + F(instant)


def stream(
    cluster: Cluster, chunks: Iterable[Executed], promised: bool = True, **state: Any
) -> tuple[Instance, Trace]:
    """Return tasks of load 1, one a chunk, that arrive at once, and what was executed of them."""
    chunks = tuple(chunks)
    tasks = tuple(Task(chunk.task, EPOCH, 1, 100) for chunk in chunks)
    said = tuple(Decision(task.id, True, EPOCH, promised=promised) for task in tasks)
    return Instance(cluster, tasks, **state), Trace(said, chunks)


def found(
    made: tuple[Instance, Trace], scenario: Scenario = CALM, tolerance: float = ONLY_ROUNDING
) -> tuple[Violation, ...]:
    return violations_executed(made[0], scenario, made[1], tolerance)


def kinds(made: tuple[Instance, Trace], scenario: Scenario = CALM) -> set[str]:
    return {one.kind for one in found(made, scenario)}


def on_node(index: int, start: Any, took: Any = HALF, node: int = 0) -> Executed:
    return Executed(f"t{index}", node, 1, *[at(start)] * 3, at(start) + took)


def on_channel(index: int, start: Any, took: Any = HALF, **lost: Any) -> Executed:
    end = at(start) + took
    return Executed(f"t{index}", index, 1, at(start), end, end, end, **lost)


BOTH = pytest.mark.parametrize(("cluster", "made"), [(NODE, on_node), (CHANNEL, on_channel)])
Made = Callable[..., Executed]


@BOTH
@pytest.mark.parametrize("start", [0, 30])
def test_many_short_tasks_at_one_instant(cluster: Cluster, made: Made, start: int) -> None:
    """Each pair may overlap by its whole length; twenty cannot be done at once.

    Nor can they later, though node and channel were idle before: a plan may be done earlier, but
    what happened did not.
    """
    together = [made(index, start) for index in range(20)]
    assert kinds(stream(cluster, together[:3])) == set()
    first, *others = found(stream(cluster, together))
    text = f"task t3 on node {together[3].node}"
    assert first == Violation(
        "earlier-than-possible", text, at(start) + HALF, at(start) + 2, F(3, 2)
    )
    assert len(others) == 16 and {one.kind for one in others} == IMPOSSIBLE
    one_by_one = [made(index, start + index * HALF) for index in range(20)]
    assert kinds(stream(cluster, one_by_one)) == set()


@pytest.mark.parametrize("deadline", [1.1e-5, 1e-4, 1.0])
def test_many_short_tasks_at_a_date_in_floats(deadline: float) -> None:
    """Seconds since 1970: 64 units in the last place are 24 millionths, and each task takes 10."""
    start = 1.7e9
    tasks = tuple(Task(f"t{k}", start, 1.0, deadline) for k in range(20))
    said = tuple(Decision(task.id, True, start) for task in tasks)
    chunks = tuple(Executed(task.id, 0, 1.0, *[start] * 3, start + 1e-5) for task in tasks)
    instance = Instance(Cluster(1, 0.0, 1e-5), tasks)
    broken = violations_executed(instance, CALM, Trace(said, chunks), 1e-9)
    assert {one.kind for one in broken} == IMPOSSIBLE


@BOTH
def test_true_costs_count_and_not_the_estimates(cluster: Cluster, made: Made) -> None:
    """Tasks are sent one estimate after the other; with twice the cost each overlaps the next."""
    for factor, expected in ((1, set()), (F(3, 2), IMPOSSIBLE)):
        chunks = [made(index, index * HALF, factor * HALF) for index in range(9)]
        scenario = Scenario(tuple(Factor(chunk.task, factor, factor) for chunk in chunks))
        assert kinds(stream(cluster, chunks), scenario) == expected


@BOTH
def test_set_up_times_count(cluster: Cluster, made: Made) -> None:
    setup = Cluster(cluster.nodes, cluster.tau, cluster.chi, F(1, 4), F(1, 4))
    for gap, expected in ((F(1), set()), (HALF, IMPOSSIBLE)):
        chunks = [
            Executed(f"t{index}", chunk.node, 1, start, sent, sent, sent + F(1, 4) + computed)
            for index in range(9)
            for chunk in [made(index, 0)]
            for start in [at(index * gap)]
            for sent in [start + F(1, 4) + exact(cluster.tau_of(0))]
            for computed in [exact(cluster.chi_of(0))]
        ]
        assert kinds(stream(setup, chunks)) == expected


def test_loads_that_are_a_little_less_gain_nothing() -> None:
    """A billionth of the load of one task is ten times its deadline."""
    instance = Instance(Cluster(1, 0, F(1, 10)), (Task("a", 0, 10**11, 1), Task("b", 0, 1, 1)))
    said = tuple(Decision(task.id, True, 0, promised=False) for task in instance.tasks)
    a = Executed("a", 0, 10**11 - 50, 0, 0, 0, 10**10 - 5)
    b = Executed("b", 0, 1, 10**10, 10**10, 10**10, 10**10 + F(1, 10))
    crumb = Executed("a", 0, 50, *[10**10 + 1] * 3, 10**10 + 6)
    for trace, expected in (
        (Trace(said, (a, b)), IMPOSSIBLE),
        (Trace(said, (a, b), (Dropped("a", 50, 1),)), set()),
        (Trace(said, (crumb, b), (Dropped("a", 10**11 - 50, 1),)), set()),
        (Trace(said, (crumb, b), (Dropped("a", 10**11, 1),)), set()),  # it may be left out
    ):
        broken = violations_executed(instance, CALM, trace, 1e-9)
        assert {one.kind for one in broken} == expected


@pytest.mark.parametrize("state", [{"ready_times": (at(1),)}, {"channel_ready": at(1)}])
@BOTH
def test_nothing_starts_before_node_and_channel_are_ready(
    cluster: Cluster, made: Made, state: dict[str, Any]
) -> None:
    """The first may start by 1 too early; the second no more by half of its length as well."""
    if "ready_times" in state:
        state = {"ready_times": state["ready_times"] * cluster.nodes}
    in_a_row, together = ([made(0, 0), made(1, second)] for second in (HALF, 0))
    assert kinds(stream(cluster, in_a_row, **state)) == set()
    assert kinds(stream(cluster, together)) == set()
    assert kinds(stream(cluster, together, **state)) == IMPOSSIBLE


def test_nothing_starts_before_it_arrives() -> None:
    """All start at 0; if the second arrives at 1 only, the third can start at 3/2."""
    chunks = tuple(on_node(index, 0) for index in range(3))
    for arrival, expected in ((0, set()), (1, IMPOSSIBLE)):
        tasks = tuple(
            Task(chunk.task, at(arrival if index == 1 else 0), 1, 100)
            for index, chunk in enumerate(chunks)
        )
        said = tuple(Decision(task.id, True, EPOCH) for task in tasks)
        ordered = tuple(sorted(tasks, key=lambda task: exact(task.arrival)))
        assert kinds((Instance(NODE, ordered), Trace(said, chunks))) == expected


def test_computations_start_when_they_are_stated_to() -> None:
    """The first computes only at 10; what follows then is no earlier."""
    first = Executed("t0", 0, 1, at(0), at(0), at(10), at(10) + HALF)
    behind = [on_node(index, 10) for index in range(1, 4)]
    assert kinds(stream(NODE, [first, *behind[:2]])) == set()
    assert kinds(stream(NODE, [first, *behind])) == IMPOSSIBLE


def test_promised_deadlines_are_missed_by_no_more_than_once() -> None:
    """Each may end by 1 too late, or overlap the one before; not both."""
    for late, promised, expected in (
        (0, True, set()),
        (F(3, 4), True, IMPOSSIBLE),
        (F(3, 4), False, set()),
    ):
        begin = 99 + late
        made = stream(
            NODE, [on_node(0, begin), on_node(1, begin), on_node(2, begin + HALF)], promised
        )
        assert kinds(made) == expected


# --- failures -------------------------------------------------------------------------------

LONG = Cluster(1, 0, 4)


def up_from_ten(length: Any) -> Scenario:
    return Scenario(failures=(Failure(0, EPOCH, at(10)), Failure(0, at(10) + length, at(50))))


@pytest.mark.parametrize(
    ("early", "late", "expected"),
    [(F(3, 4), 0, set()), (0, F(3, 4), set()), (F(3, 4), F(3, 4), IMPOSSIBLE)],
)
def test_the_time_between_two_failures_is_exceeded_once(
    early: Fraction, late: Fraction, expected: set[str]
) -> None:
    """A chunk of length 4 may start by 1 before its node is up, or end by 1 after it fails."""
    made = stream(LONG, [on_node(0, 10 - early, 4)])
    broken = found(made, up_from_ten(4 - early - late))
    assert {one.kind for one in broken} == expected
    if expected:
        fails = at(10) + 4 - early - late
        resource = "task t0 on node 0"
        assert broken == (Violation("earlier-than-possible", resource, fails, at(14), F(3, 2)),)


def test_a_node_that_stays_down_is_reached_into_once() -> None:
    """The last ends 3/4 after its node fails, as stated; in exact numbers, 3/2."""
    forever = Scenario(failures=(Failure(0, at(10)),))
    starts = [9, 9, F(39, 4), F(41, 4), F(41, 4)]
    chunks = [on_node(index, start) for index, start in enumerate(starts)]
    assert kinds(stream(NODE, chunks)) == set()
    assert kinds(stream(NODE, chunks[:-1]), forever) == set()
    assert kinds(stream(NODE, chunks), forever) == IMPOSSIBLE


def test_a_chunk_belongs_to_the_nearer_end_of_a_short_failure() -> None:
    """Stated to start in the second half of it, a chunk starts as the node is up again."""
    short = Scenario(failures=(Failure(0, at(10), at(F(21, 2))),))
    cluster = Cluster(1, 0, F(1, 8))
    for start, moved in ((F(41, 4), at(F(21, 2))), (10, at(10))):
        instance, trace = stream(cluster, [on_node(0, start, F(1, 8))])
        (one,) = exact_trace(instance, short, trace, {"t0": F(1)})
        assert one.start == moved
        assert (one.into is None) is (start > 10)
        assert kinds((instance, trace), short) == set()


@pytest.mark.parametrize(("begin", "reach"), [(F(3, 2), (3, 4)), (F(1, 2), (F(1, 2), 2))])
def test_what_reaches_into_several_reservations_is_measured_by_the_furthest(
    begin: Fraction, reach: tuple[Fraction, Fraction]
) -> None:
    """It is sent until 2, in spite of the channel, and computed until 4, in spite of the node."""
    instance, trace = stream(Cluster(1, 1, 1), [Executed("t0", 0, 2, *map(at, (0, 2, 2, 4)))])
    reserved = ReservedTimes(((at(begin), at(7)),), {0: ((at(3), at(7)),)})
    (one,) = exact_trace(instance, CALM, trace, {"t0": F(2)}, reserved)
    assert (one.into, one.until) == tuple(map(at, reach))


def test_what_is_lost_frees_channel_and_node_as_it_is_lost() -> None:
    half = at(HALF)
    cluster = Cluster(2, 1, 1)
    lost = Executed("t0", 0, 1, *(at(k) for k in (0, 1, 1, 2)), lost=half)
    other = Executed("t1", 1, 1, *(half + k for k in (0, 1, 1, 2)))
    again = Executed("t0", 0, 1, *(half + k for k in (1, 2, 2, 3)))
    scenario = Scenario(failures=(Failure(0, half, half + F(1, 4)),))
    instance, trace = stream(cluster, [lost, other])
    trace = Trace(trace.decisions, (lost, other, again))
    assert kinds((instance, trace), scenario) == set()
    course = exact_trace(instance, scenario, trace, {"t0": F(1), "t1": F(1)})
    assert [one.start for one in course] == [at(0), half, half + 1]


def test_what_is_lost_waits_for_the_channel_as_well() -> None:
    """The fourth starts at 1/8, if the others were sent by then; that is not before 3/2."""
    lost = on_channel(3, F(1, 8), lost=at(HALF))
    scenario = Scenario(failures=(Failure(3, at(HALF)),))
    for before, expected in ((2, set()), (3, IMPOSSIBLE)):
        chunks = [*(on_channel(index, 0) for index in range(before)), lost]
        instance, trace = stream(CHANNEL, chunks, promised=False)
        gone = (Dropped("t3", 1, at(HALF)),)
        assert kinds((instance, Trace(trace.decisions, trace.chunks, gone)), scenario) == expected


def test_what_is_lost_as_it_starts_waits_for_nothing() -> None:
    """A node fails just as something is sent to it, while the channel serves another."""
    half, cluster = at(HALF), Cluster(2, 1, 1)
    first = Executed("t0", 1, 1, *(at(k) for k in (0, 1, 1, 2)))
    lost = Executed("t1", 0, 1, *(half + k for k in (0, 1, 1, 2)), lost=half)
    again = Executed("t1", 0, 1, *(half + k for k in (1, 2, 2, 3)))
    scenario = Scenario(failures=(Failure(0, half, half + F(1, 4)),))
    instance, trace = stream(cluster, [first, lost])
    assert kinds((instance, Trace(trace.decisions, (first, lost, again))), scenario) == set()


# --- no false alarms ------------------------------------------------------------------------


@pytest.mark.parametrize("chi", [0.1, 1 / 3, 1e-5, 0.7])
@pytest.mark.parametrize("begin", [0.0, 1.7e9])
def test_thousands_of_chunks_that_are_added_up_in_floats(chi: float, begin: float) -> None:
    """Every sum is rounded, and mostly to the same side."""
    tasks = tuple(Task(f"t{number}", begin, 1.0, 0.5) for number in range(3000))
    chunks, now = [], begin
    for task in tasks:
        chunks.append(Executed(task.id, 0, 1.0, now, now, now, now + chi))
        now += chi
    said = tuple(Decision(task.id, True, begin, promised=False) for task in tasks)
    instance = Instance(Cluster(1, 0.0, chi), tasks)
    assert violations_executed(instance, CALM, Trace(said, tuple(chunks)), 1e-9) == ()


@pytest.mark.property
@given(traces())
def test_what_can_have_happened_is_its_own_timeline(made: tuple[Any, Any, Trace]) -> None:
    instance, scenario, trace = made
    assert violations_executed(instance, scenario, trace, 1e-9) == ()
    needs = loads_to_plan(instance)
    for part in trace.dropped:
        needs[part.task] -= exact(part.load)
    for one in exact_trace(instance, scenario, trace, needs):
        chunk = one.chunk
        assert (one.start, one.end) == (chunk.transmission_start, chunk.computation_end)
        assert one.into is None and one.chunks == 1
