"""What a tolerance allows of a trace of a grid does not add up: on machines, and along data.

Instants here are counted from 2**46, where 64 units in the last place are 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt.problems.dag import Edge, Graph, Instance, Lan, Machine, Network, Task
from dlopt.problems.dag.trace import Course, Outage, Run, Trace
from dlopt.problems.dag.trace_checker import violations_executed
from dlopt.result import Violation

F = Fraction
EPOCH = 2**46
HALF, MOST = F(1, 2), F(3, 4)
ONLY_ROUNDING = 1e-30
LOCAL = Network("scheduler", "counted", lans=(Lan("l"), Lan("r")))
IMPOSSIBLE = {"earlier-than-possible"}


def at(instant: Any) -> Fraction:
    return EPOCH + F(instant)


def graph(works: Sequence[Any], edges: Sequence[Edge] = (), **more: Any) -> Graph:
    tasks = tuple(Task(f"t{index}", work) for index, work in enumerate(works))
    return Graph("g", tasks, tuple(edges), arrival=EPOCH, lan=0, **more)


def instance(given: Graph, machines: int = 1, network: Network = LOCAL) -> Instance:
    return Instance(tuple(Machine(f"m{k}", lan=0) for k in range(machines)), (given,), network)


def run(task: int, machine: int, *times: Any, fate: Any = "done") -> Run:
    """Return a run that is sent, starts, ends and is known then."""
    sent, start, end, known = (at(time) for time in times)
    return Run(0, task, machine, sent, fate, start, end, known, known)


def came(*runs: Run, returned: Any = None, **more: Any) -> Trace:
    home = max(run.known for run in runs) if returned is None else at(returned)  # type: ignore[type-var]
    course = replace(Course(0, 0, EPOCH, EPOCH, home), **more.pop("course", {}))
    return Trace((course,), runs, **more)


def found(
    given: Instance, trace: Trace, tolerance: float = ONLY_ROUNDING, **options: Any
) -> tuple[Violation, ...]:
    return violations_executed(given, trace, tolerance=tolerance, **options)


def kinds(given: Instance, trace: Trace, **options: Any) -> set[str]:
    return {one.kind for one in found(given, trace, **options)}


@pytest.mark.parametrize("start", [0, 30])
def test_many_short_tasks_at_one_instant(start: int) -> None:
    """Each pair may overlap by its whole length; twenty cannot be done at once."""

    def together(number: int, step: Any) -> tuple[Instance, Trace]:
        begun = [start + index * step for index in range(number)]
        runs = [run(k, 0, 0, s, s + HALF, s + HALF) for k, s in enumerate(begun)]
        return instance(graph([HALF] * number)), came(*runs)

    assert kinds(*together(3, 0)) == set()
    assert kinds(*together(20, HALF)) == set()
    first, *others = found(*together(20, 0))
    text = "task 3 of graph 0"
    assert first == Violation(
        "earlier-than-possible", text, at(start), at(start) + F(3, 2), F(3, 2)
    )
    assert {one.kind for one in others} == IMPOSSIBLE
    assert [one.resource for one in others] == [
        *(f"task {index} of graph 0" for index in range(4, 20)),
        "graph 0",
    ]


@pytest.mark.parametrize(("tolerance", "work"), [(1e-9, 1.0), (1e-15, 1e-5)])
def test_many_short_tasks_at_a_date_in_floats(tolerance: float, work: float) -> None:
    """A billionth of the seconds since 1970 is 1.7 s, and 64 units in the last place are 24e-6."""
    start, number = 1.7e9, 20
    given = replace(graph([work] * number), arrival=start)
    course = Course(0, 0, start, start, start + work)
    runs = tuple(Run(0, k, 0, start, "done", start, *[start + work] * 3) for k in range(number))
    assert kinds(instance(given), Trace((course,), runs), tolerance=tolerance) == IMPOSSIBLE


@pytest.mark.parametrize(("hops", "expected"), [(1, set()), (2, IMPOSSIBLE)])
def test_results_that_are_known_too_early_do_not_add_up(hops: int, expected: set[str]) -> None:
    """Each task is sent before the result of the one before by 3/4 of what is allowed."""
    step = 1 - MOST
    edges = [Edge(k, k + 1, data=0) for k in range(hops)]
    runs = [run(k, k, k * step, k * step, k * step + 1, k * step + 1) for k in range(hops + 1)]
    given = instance(graph([1] * (hops + 1), edges), machines=hops + 1)
    assert kinds(given, came(*runs)) == expected


@pytest.mark.parametrize(
    ("to", "fro", "expected"), [(MOST, 0, set()), (0, MOST, set()), (MOST, MOST, IMPOSSIBLE)]
)
def test_transfers_that_are_too_short_do_not_add_up(
    to: Fraction, fro: Fraction, expected: set[str]
) -> None:
    """Data takes 1 to the machine, and its result 1 back."""
    network = replace(LOCAL, lans=(Lan("l", latency=1),))
    one = run(0, 0, 0, 1 - to, 2 - to, 3 - to - fro)
    assert kinds(instance(graph([1]), network=network), came(one)) == expected


@pytest.mark.parametrize(
    ("to", "sent", "fro"),
    [(MOST, 0, 0), (0, MOST, 0), (0, 0, MOST), (MOST, MOST, 0), (0, MOST, MOST)],
)
def test_ways_of_graphs_that_are_too_short_do_not_add_up(to: Any, sent: Any, fro: Any) -> None:
    """A graph goes to another LAN in 2, is run there in 1, and is home after 2 more."""
    network = replace(LOCAL, lans=(Lan("l"), Lan("r")), latency=2)
    given = Instance((Machine("m", lan=1),), (graph([1]),), network)
    start = 2 - to - sent
    course = Course(0, 1, EPOCH, at(2 - to), at(start + 3 - fro))
    one = run(0, 0, start, start, start + 1, start + 1)
    expected = IMPOSSIBLE if to + sent + fro > 1 else set()
    assert kinds(given, Trace((course,), (one,))) == expected


def test_a_graph_that_nobody_decided_on_is_received_from_its_arrival_on() -> None:
    one = run(0, 0, 0, 0, 1, 1)
    assert kinds(instance(graph([1])), came(one, course={"decided": None})) == set()
    late = Trace((), (replace(one, fate="unfinished", end=None, known=None, freed=None),))
    assert kinds(instance(graph([1])), late, until=EPOCH) == set()


@pytest.mark.parametrize(
    ("early", "late", "expected"),
    [(MOST, 0, set()), (0, MOST, set()), (MOST, MOST, IMPOSSIBLE)],
)
def test_the_time_between_two_outages_is_exceeded_once(
    early: Fraction, late: Fraction, expected: set[str]
) -> None:
    """A task of 4 may start by 1 before its machine is up, or end by 1 after it fails."""
    start, fails = 10 - early, 14 - early - late
    down = (Outage(0, EPOCH, at(10)), Outage(0, at(fails), at(50)))
    trace = came(run(0, 0, start, start, start + 4, start + 4), down=down)
    assert kinds(instance(graph([4])), trace) == expected


@pytest.mark.parametrize(("number", "expected"), [(4, set()), (20, IMPOSSIBLE)])
def test_runs_that_may_be_faster_take_at_least_their_least_time(
    number: int, expected: set[str]
) -> None:
    """All run in one half; none takes less than a quarter."""
    runs = [run(k, 0, 0, 0, HALF, HALF) for k in range(number)]
    given, trace = instance(graph([HALF] * number)), came(*runs)
    assert kinds(given, trace, slowdown=(HALF, 1)) == expected
    assert kinds(given, trace) == IMPOSSIBLE


@pytest.mark.parametrize(("before", "expected"), [(2, set()), (3, IMPOSSIBLE)])
def test_a_run_that_is_lost_waits_for_its_machine_as_well(before: int, expected: set[str]) -> None:
    """It is stated to start at 0, and is lost at 1/4; it is done later on another machine."""
    runs = [run(k, 0, 0, 0, HALF, HALF) for k in range(before)]
    fails, back = at(F(1, 4)), at(F(5, 8))
    lost = Run(0, before, 0, EPOCH, "lost", EPOCH, fails, None, back)
    again = run(before, 1, F(5, 8), F(5, 8), F(9, 8), F(9, 8))
    down = (Outage(0, fails, back),)
    given = instance(graph([HALF] * (before + 1)), machines=2)
    assert kinds(given, came(*runs, lost, again, returned=F(9, 8), down=down)) == expected


def test_a_run_that_is_lost_as_it_starts_holds_nothing() -> None:
    """Three runs wait for one another in exact numbers; the machine fails just as one starts."""
    runs = [run(k, 0, 0, 0, HALF, HALF) for k in range(3)]
    begin, back = at(HALF), at(F(5, 8))
    lost = Run(0, 3, 0, EPOCH, "lost", begin, begin, None, back)
    again = run(3, 1, F(5, 8), F(5, 8), F(9, 8), F(9, 8))
    down = (Outage(0, begin, back),)
    given = instance(graph([HALF] * 4), machines=2)
    assert kinds(given, came(*runs, lost, again, returned=F(9, 8), down=down)) == set()


def test_a_run_that_has_not_ended_holds_its_machine() -> None:
    """The second is done while the first is still under way."""
    under = Run(0, 0, 0, EPOCH, "unfinished", EPOCH)
    given = instance(graph([4, 1]))
    course = Course(0, 0, EPOCH, EPOCH, reason="stopped")
    other = run(1, 0, 0, 1, 2, 2)
    trace = Trace((course,), (under, other))
    assert "machine-overlap" in kinds(given, trace, until=at(2), tolerance=0)
    alone = replace(trace, runs=(under,))
    assert kinds(given, alone, until=at(2), tolerance=0) == set()
    assert kinds(given, alone, until=at(2)) == set()


def test_a_graph_that_is_still_on_its_way_waits_for_nothing() -> None:
    given = Instance((Machine("m", lan=1),), (graph([1]),), replace(LOCAL, latency=9))
    course = Course(0, 1, EPOCH, reason="stopped")
    assert kinds(given, Trace((course,), ()), until=at(2)) == set()


@pytest.mark.parametrize("work", [0.1, 1 / 3, 1e-5, 0.7])
@pytest.mark.parametrize("begin", [0.0, 1.7e9])
def test_thousands_of_runs_that_are_added_up_in_floats(work: float, begin: float) -> None:
    number, now, runs = 2000, begin, []
    for task in range(number):
        runs.append(Run(0, task, 0, begin, "done", now, *[now + work] * 3))
        now += work
    given = replace(graph([work] * number), arrival=begin)
    trace = Trace((Course(0, 0, begin, begin, now),), tuple(runs))
    assert kinds(instance(given), trace, tolerance=1e-15) == set()


@pytest.mark.parametrize(("early", "expected"), [(MOST, set()), (1 + MOST, IMPOSSIBLE)])
def test_a_task_waits_for_all_that_it_needs(early: Fraction, expected: set[str]) -> None:
    """Two tasks of one machine come before a third, which starts after the later of them."""
    given = instance(graph([1, 1, 1], [Edge(0, 2, data=0), Edge(1, 2, data=0)]), machines=2)
    first, second = run(0, 0, 0, 0, 1, 1), run(1, 0, 1 - early, 1 - early, 2 - early, 2 - early)
    done = 2 - early
    third = run(2, 1, done, done, done + 1, done + 1)
    assert kinds(given, came(first, second, third)) == expected


def test_a_result_that_is_ignored_is_no_result_of_its_task() -> None:
    """A slow machine is presumed dead; the task runs again elsewhere, and both results come."""
    given = instance(graph([3]), machines=2)
    late = replace(run(0, 0, 0, 0, 6, 6, fate="ignored"), freed=at(3))
    trace = came(late, run(0, 1, 3, 3, 6, 6), presumed=(Outage(0, at(3), at(6)),), returned=6)
    assert kinds(given, trace, slowdown=(1, 3)) == set()
    # The first run may take 3 to 9, and its result counts for nothing.
    sooner = replace(late, end=at(3), known=at(3))
    assert kinds(given, replace(trace, runs=(sooner, *trace.runs[1:])), slowdown=(1, 3)) != set()


def test_a_short_run_is_before_the_long_one_that_is_stated_to_start_a_little_earlier() -> None:
    """The long one starts as the short one ends, rounded down; else it would be first."""
    short, little = F(1, 8), F(1, 16)
    given = instance(graph([short, 4]))
    first = run(0, 0, 0, 5, 5 + short, 5 + short)
    second = run(1, 0, 0, 5 - little, 9 + short, 9 + short)
    assert kinds(given, came(first, second)) == set()
    much = run(1, 0, 0, 3, 7 + short, 7 + short)
    assert kinds(given, came(first, much)) == {"not-first-in-first-out"}


def test_a_run_that_is_under_way_comes_after_a_short_one_that_it_follows() -> None:
    """Its start is rounded to a little before the end of the short one."""
    given, short = instance(graph((F(1, 8), 5))), run(0, 0, 0, 1, F(5, 4), F(5, 4))
    under_way = Run(0, 1, 0, EPOCH, "unfinished", at(1))
    trace = Trace((Course(0, 0, EPOCH, EPOCH, reason="stopped"),), (short, under_way))
    assert found(given, trace, until=at(3)) == ()


@pytest.mark.parametrize("until", [2, F(3, 2)])  # the second is the first, rounded
def test_a_run_that_was_sent_as_an_outage_ended_may_be_lost(until: Any) -> None:
    """So others may start before it, and nobody waits for it."""
    lost = Run(0, 0, 0, at(2), "unfinished")
    other = Run(0, 1, 0, at(3), "done", at(3), at(5), at(5), at(5))
    course, outage = Course(0, 0, EPOCH, EPOCH, reason="stopped"), Outage(0, at(1), at(until))
    trace = Trace((course,), (lost, other), (outage,))
    assert found(instance(graph((2, 2))), trace, until=at(5)) == ()
