"""What stands in the way of a task: each part is necessary, and together they suffice."""

import random
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Admission
from dlopt.books import ConflictPart
from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.negotiations import (
    ALGORITHMS,
    contents,
    in_floats,
    negotiations,
)
from tests.heuristics.admission.strategies import (
    PROMISING,
    few,
    instants,
    random_stream,
    streams,
)

FROM_IDLE = "fast-edf-iit-minimal"
"""Its test cannot plan again on a busy cluster, but on an idle one."""
SURE = [name for name in ALGORITHMS if name != FROM_IDLE]
START = Fraction(2)
"""Before it no node is ready, so that nothing has begun."""


@st.composite
def backlogs(draw, name, floats):
    """Return a book in which tasks wait at `START` for nodes, and a task that it rejects.

    Returned too are when nodes and channel were ready first.
    """
    number = float if floats else Fraction
    stream = draw(streams(tasks=7, setup=name in PROMISING, state=False, huge=False))
    nodes = stream.cluster.nodes
    drawn = draw(st.lists(instants, min_size=nodes, max_size=nodes))
    ready, channel = [number(START + instant) for instant in drawn], number(draw(instants))
    book = Admission(
        in_floats(stream.cluster) if floats else stream.cluster,
        name,
        ready_times=ready,
        channel_ready=channel,
    )
    *before, task = stream.tasks
    for one in before:
        due = one.deadline + draw(st.sampled_from([0, 10, 20]))
        book.submit(Task(one.id, number(0), number(one.load), number(due)))
    book.advance(number(START))
    for verb in draw(st.lists(st.sampled_from(["fail", "remove"]), max_size=2)):
        if book.nodes:
            book.resources(**{verb: [draw(st.sampled_from(book.nodes))]})
    late = number(START + draw(st.sampled_from([0, 0, 1, 5])))
    task = Task("new", late, number(task.load), number(task.deadline))
    while book.ask(task).accepted:
        task = replace(task, load=task.load * 4)
    return book, task, ready, channel


def rejects(book, name, ready, channel, task, kept):
    """Tell whether an engine rejects a task that starts at `START` with some parts alone."""
    named = {part.id for part in kept if part.kind == "node"}
    ids = {part.id for part in kept if part.kind == "task"}
    now = book.now
    times = [
        instant if str(node) in named else now
        for node, instant in enumerate(ready)
        if str(node) not in named or node in book.nodes
    ]
    if not times:
        return True
    promised = [one for one in before_start(book) if one.id in ids]
    try:
        engine = Admission.of(
            Instance(
                replace(book.cluster, nodes=len(times)),
                (*promised, task),
                now=now,
                ready_times=tuple(times),
                channel_ready=channel if ConflictPart("channel") in kept else now,
            ),
            name,
        )
    except PromiseError:
        return True
    return not engine.ask(task).accepted


def before_start(book):
    """Return the tasks that wait."""
    state = book.state()
    return state.instance.tasks if state else ()


@pytest.mark.property
@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize("name", SURE)
@few
@given(st.data())
def test_each_part_is_necessary_and_all_suffice(name, floats, data):
    """Held against engines that start with some of the parts alone."""
    book, task, ready, channel = data.draw(backlogs(name, floats))
    conflict = book.why(task)
    assert rejects(book, name, ready, channel, task, conflict.parts)
    for part in conflict.parts:
        rest = [one for one in conflict.parts if one != part]
        assert not rejects(book, name, ready, channel, task, rest)


@pytest.mark.property
@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize("name", ALGORITHMS)
@few
@given(st.data())
def test_the_book_stays_what_it_was(name, floats, data):
    found = data.draw(negotiations(name, floats=floats))
    before = contents(found.book)
    try:
        conflict = found.book.why(found.task)
    except NotApplicableError:
        assert name == FROM_IDLE
        return
    finally:
        assert contents(found.book) == before
    assert conflict.reason == found.book.ask(found.task).reason
    assert conflict.irreducible
    accepted = {decision.task for decision in found.book.decisions if decision.accepted}
    for part in conflict.parts:
        assert part.kind != "task" or part.id in accepted
    assert len(set(conflict.parts)) == len(conflict.parts)


def three_nodes(**options):
    return Admission(Cluster(3, tau=1, chi=5), **options)


def parts(head, *task):
    return [str(part) for part in head.why(Task("new", *task)).parts]


def test_a_task_that_is_accepted():
    head = three_nodes()
    assert head.submit(Task("a", 0, 1, 9)).accepted
    assert head.why(Task("b", 0, 1, 99)) is None
    assert head.why(Task("a", 0, 1, 9)) is None


def test_an_idle_cluster_would_reject_it():
    conflict = three_nodes().why(Task("a", 0, 9, 9))
    assert conflict.parts == ()
    assert str(conflict).endswith(
        "of the load of task a would miss its deadline, even in an idle system"
    )


def test_one_of_several_promises():
    """Before its deadline, at 12, the others take 8 of the time, and the new task needs 6."""
    head = Admission(Cluster(1, tau=1, chi=1))
    for name, load, due in (("small", 1, 9), ("large", 3, 11), ("later", 1, 30)):
        assert head.submit(Task(name, 0, load, due)).accepted
    assert parts(head, 0, 4, 12) == ["task large"]
    assert parts(head, 0, 5, 12) == ["task large"]
    assert parts(head, 0, 3, 12) == ["task large", "task small"]


def test_all_promises_before_it_may_be_necessary():
    head = Admission(Cluster(1, tau=0, chi=1))
    for number in range(8):
        assert head.submit(Task(f"t{number}", 0, 1, 8)).accepted
    head.submit(Task("behind", 0, 1, 20))
    assert parts(head, 0, Fraction(1, 2), 8) == [f"task t{number}" for number in range(8)]
    assert parts(head, 0, 4, 8) == [f"task t{number}" for number in range(5)]


def test_a_promise_that_would_miss():
    """The new task would be in time: it goes first. The last of the others would be late."""
    head = Admission(Cluster(1, tau=0, chi=1))
    for number, due in enumerate((4, 6, 6)):
        assert head.submit(Task(f"t{number}", 0, 2, due)).accepted
    conflict = head.why(Task("new", 0, 1, 1))
    assert "task t2 would miss" in conflict.reason
    assert {part.id for part in conflict.parts} == {"t0", "t1", "t2"}


@pytest.mark.parametrize("verb", ["fail", "remove"])
def test_nodes_out_of_service(verb):
    head = three_nodes()
    head.resources(**{verb: [1]})
    assert parts(head, 0, 3, 8) == ["node 1"]
    head.resources(repair=[1])
    assert head.why(Task("new", 0, 3, 8)) is None


def test_no_node_is_left():
    head = three_nodes()
    head.resources(fail=[0, 1, 2])
    assert parts(head, 0, 1, 9) == ["node 0", "node 1", "node 2"]


def test_busy_from_the_beginning():
    head = three_nodes(ready_times=[0, 7, 9], channel_ready=0)
    assert parts(head, 0, 3, 8) in (["node 1"], ["node 2"], ["node 1", "node 2"])
    assert parts(three_nodes(channel_ready=4), 0, 3, 8) == ["channel"]
    head.advance(9)
    assert head.why(Task("new", 9, 3, 8)) is None


def test_what_has_begun_is_a_promise():
    head = Admission(Cluster(1, tau=1, chi=1))
    assert head.submit(Task("a", 0, 4, 8)).accepted
    head.advance(5)
    assert parts(head, 5, 1, 3) == ["task a"]
    head.cancel("a")
    assert head.why(Task("new", 5, 1, 3)) is None


@pytest.mark.parametrize("name", ["edf-iit-2", "fast-edf-iit"])
def test_a_long_queue(name):
    stream = random_stream(4, nodes=8, tasks=80, load=1.3, backlog=10**4)
    book = stream.decided(name)
    last = stream.tasks[-1]
    task = replace(last, id="new", arrival=book.now, load=last.load * 40)
    conflict = book.why(task)
    assert conflict.irreducible and conflict.parts


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", ["fast-mwf-iit", "fast-mwf-iit-linear"])
def test_to_cancel_what_waits_is_to_plan_the_others_again(name, seed):
    """MWF ranks by the loads that are left: a task that is half sent loses its place."""
    rng = random.Random(seed)
    book = Admission(Cluster(4, Fraction(1), Fraction(3)), name)
    for number in range(8):
        load, due = Fraction(rng.randint(4, 40), 8), Fraction(rng.randint(40, 120), 4)
        book.submit(Task(f"t{number}", book.now + Fraction(rng.randint(0, 8), 8), load, due))
    begun = {chunk.task for chunk in book.plan().chunks if chunk.transmission_start < book.now}
    waiting = [one.task for one in book.decisions if one.accepted and one.task not in begun]
    assert begun and waiting
    book.cancel(waiting[-1])
    (replanned := deepcopy(book)).resources(fail=[])
    later = [Task(f"n{number}", book.now, Fraction(number, 4), 9) for number in range(1, 20)]
    assert [book.ask(task) for task in later] == [replanned.ask(task) for task in later]
