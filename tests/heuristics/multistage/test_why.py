"""What stands in the way of a task or a reservation: each part is necessary, and all suffice."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from dlopt import MultiStage
from dlopt.books import ConflictPart
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.heuristics.multistage import negotiating_reservation_engine
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task
from tests.examples import share
from tests.heuristics.multistage.book_calls import BOTH_NUMBERS, ONE, TWO, book
from tests.heuristics.multistage.negotiations import accepts, contents, negotiations, numbers
from tests.heuristics.multistage.strategies import streams

F = Fraction
few = share(1 / 2)
KINDS = pytest.mark.parametrize("kind", ["task", "reservation"])
START = F(2)
"""Before it no node is ready, so that nothing has begun."""


def with_numbers(number, record, **changes):
    """Return a cluster, a task or a reservation with changes, in floats or in fractions."""
    record = replace(record, **changes)
    values = {name: getattr(record, name) for name in record.__dataclass_fields__}
    times = {name: value for name, value in values.items() if type(value) in (int, F)}
    times.pop("nodes", None)
    return replace(record, **{name: number(value) for name, value in times.items()})


@st.composite
def backlogs(draw, kind, number):
    """Return a book whose promises wait at `START`, and what it rejects.

    Returned too are when nodes and channel were ready first.
    """
    stream = draw(streams(tasks=5, most=5))
    ready = [number(START + draw(st.integers(0, 4))) for _ in range(stream.cluster.nodes)]
    channel = number(draw(st.integers(0, 6)))
    cluster = with_numbers(number, stream.cluster)
    head = MultiStage(cluster, ready_times=ready, channel_ready=channel)
    asked = []
    for one in draw(st.permutations([*stream.tasks, *stream.reservations])):
        if isinstance(one, Task):
            due = one.deadline + draw(st.sampled_from([2, 10, 20]))
            asked.append(with_numbers(number, one, arrival=0, deadline=due))
        else:
            window = {"start": START + one.start, "end": START + one.end}
            asked.append(with_numbers(number, one, arrival=0, **window))
    of_kind = [one for one in asked if isinstance(one, Task) == (kind == "task")]
    if not of_kind:
        reject()
    for one in asked:
        if one is not of_kind[-1]:
            (head.submit if isinstance(one, Task) else head.reserve)(one)
    head.advance(number(START))
    for verb in draw(st.lists(st.sampled_from(["fail", "remove"]), max_size=1)):
        head.resources(**{verb: [draw(st.sampled_from(head.nodes))]})
    new = replace(of_kind[-1], id="new", arrival=number(START))
    for _ in range(5):
        if not accepts(head, new):
            return head, new, ready, channel
        new = (
            replace(new, load=new.load * 4)
            if kind == "task"
            else replace(new, start=number(START), end=new.end + 6)
        )
    return reject()


def rejects(head, new, ready, channel, kept):
    """Tell whether an engine that starts at `START` with some parts alone rejects the new one."""
    index, times = {}, []
    for node, instant in enumerate(ready):
        named = ConflictPart("node", str(node)) in kept
        if not named or node in head.nodes:
            index[node] = len(times)
            times.append(instant if named else head.now)
    if not times:
        return True
    if isinstance(new, Reservation) and isinstance(new.nodes, tuple):
        if not index.keys() >= set(new.nodes):
            return True
        new = replace(new, nodes=tuple(index[node] for node in new.nodes))
    state = head.state()
    tasks = state.instance.tasks if state else ()
    reservations = [
        replace(one, nodes=tuple(index[state.nodes[place]] for place in one.nodes))
        for one in (state.instance.reservations if state else ())
    ]
    asked = (new,)  # what arrives now is not promised
    instance = Instance(
        replace(head.cluster, nodes=len(times)),
        (
            *(one for one in tasks if ConflictPart("task", one.id) in kept),
            *(asked if isinstance(new, Task) else ()),
        ),
        (
            *(one for one in reservations if ConflictPart("reservation", one.id) in kept),
            *(asked if isinstance(new, Reservation) else ()),
        ),
        now=head.now,
        ready_times=tuple(times),
        channel_ready=channel if ConflictPart("channel") in kept else head.now,
    )
    try:
        return not accepts(MultiStage.of(instance), new)
    except PromiseError:
        return True


@pytest.mark.property
@KINDS
@pytest.mark.parametrize("number", [F, float])
@few
@given(st.data())
def test_each_part_is_necessary_and_all_suffice(kind, number, data):
    """Held against engines that start with some of the parts alone."""
    head, new, ready, channel = data.draw(backlogs(kind, number))
    conflict = head.why(new)
    assert conflict.irreducible
    assert rejects(head, new, ready, channel, conflict.parts)
    for part in conflict.parts:
        rest = [one for one in conflict.parts if one != part]
        assert not rejects(head, new, ready, channel, rest)


@pytest.mark.property
@KINDS
@few
@given(st.data(), numbers)
def test_the_book_stays_what_it_was(kind, data, number):
    head, new = data.draw(negotiations(kind, number))
    before = contents(head)
    conflict = head.why(new)
    assert contents(head) == before
    assert conflict.reason == head.ask(replace(new, **voluntary(new))).reason
    assert conflict.irreducible and len(set(conflict.parts)) == len(conflict.parts)
    promised = {
        "task": {one.task for one in head.decisions if one.accepted},
        "reservation": {one.reservation for one in head.grants if one.accepted},
    }
    for part in conflict.parts:
        assert part.id in promised.get(part.kind, {part.id})


def voluntary(new):
    """Return the changes that make a reservation one that may be refused."""
    return {"mandatory": False} if isinstance(new, Reservation) else {}


def parts(head, new):
    return [str(part) for part in head.why(new).parts]


@BOTH_NUMBERS
def test_a_reservation_that_is_refused_for_nodes(number):
    """The short one in another window is not in the way."""
    head = book(TWO, Reservation("r", 0, 2, 6), Reservation("s", 0, 8, 9), number=number)
    new = Reservation("q", 0, 4, 7, nodes=2)
    conflict = head.why(new)
    assert str(conflict) == "too few of its nodes are free; in the way: reservation r"
    assert not head.reserve(new).accepted
    assert head.why(new) == conflict
    head.cancel("r")
    assert head.reserve(replace(new, id="again")).accepted


def test_a_reservation_that_is_refused_for_the_channel():
    head = book(TWO, Reservation("r", 0, 2, 6, io_end=5))
    conflict = head.why(Reservation("q", 0, 4, 8, io_end=5))
    assert list(map(str, conflict.parts)) == ["reservation r"]
    assert conflict.reason == head.ask(Reservation("q", 0, 4, 8, io_end=5)).reason
    assert "channel" in conflict.reason
    late = MultiStage(TWO, channel_ready=5)
    assert parts(late, Reservation("q", 0, 4, 8, io_end=5)) == ["channel"]


def test_a_reservation_that_is_refused_for_a_task():
    """Of two tasks that wait, the one that is due before it starts is not in the way."""
    head = book(ONE, Task("early", 0, 1, 2), Task("late", 0, 2, 8))
    conflict = head.why(Reservation("q", 0, 3, 9))
    assert list(map(str, conflict.parts)) == ["task late"]
    assert "late" in conflict.reason


def test_a_reservation_that_is_refused_for_a_task_that_has_begun():
    head = book(ONE, Task("a", 0, 2, 8))
    head.advance(1)
    assert parts(head, Reservation("q", 1, 3, 9)) == ["task a"]


def test_a_reservation_whose_node_has_failed():
    head = book(TWO)
    head.resources(fail=[1])
    assert parts(head, Reservation("q", 0, 3, 9, nodes=2)) == ["node 1"]
    assert parts(head, Reservation("q", 0, 3, 9, nodes=(1,))) == ["node 1"]
    busy = MultiStage(TWO, ready_times=[4, 0])
    assert parts(busy, Reservation("q", 0, 3, 9, nodes=2)) == ["node 0"]


def test_a_reservation_of_more_nodes_than_there_are():
    conflict = book(TWO).why(Reservation("q", 0, 3, 9, nodes=3))
    assert conflict.parts == () and "even in an idle system" in str(conflict)


def test_a_mandatory_reservation():
    head = book(ONE, Reservation("r", 0, 2, 6))
    assert parts(head, Reservation("q", 0, 4, 8, mandatory=True)) == ["reservation r"]


@BOTH_NUMBERS
def test_a_task_that_is_rejected_because_of_a_reservation(number):
    head = book(ONE, Reservation("r", 0, 2, 6), Reservation("s", 0, 8, 9), number=number)
    new = Task("a", number(0), number(2), number(6))
    assert parts(head, new) == ["reservation r"]
    head.cancel("r")
    assert head.submit(new).accepted


def test_a_task_and_a_reservation_that_have_the_same_identity():
    head = book(ONE, Reservation("a", 0, 4, 6), Task("a", 0, 2, 4))
    assert parts(head, Task("new", 0, 1, 6)) == ["reservation a", "task a"]


def test_a_reservation_that_has_begun_on_a_node_that_was_removed():
    """Its I/O still holds the channel."""
    head = book(TWO, Reservation("r", 0, 0, 8, io_end=6))
    head.advance(1)
    head.resources(remove=[1])
    assert parts(head, Task("a", 1, 2, 4)) == ["reservation r"]


def test_a_search_that_is_broken_off(monkeypatch):
    head = book(Cluster(8, tau=0, chi=1), *(Reservation(f"r{n}", 0, 2, 6) for n in range(8)))
    new = Reservation("q", 0, 4, 8)
    assert len(head.why(replace(new, nodes=8)).parts) == 1
    monkeypatch.setattr(negotiating_reservation_engine, "MAX_PLANNED_TASKS", 100)
    conflict = head.why(new)
    assert not conflict.irreducible and len(conflict.parts) > 1
