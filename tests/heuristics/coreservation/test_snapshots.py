"""Engines as plain data: what comes back is the same, and what is wrong is said."""

import copy
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import CoReservation
from dlopt.errors import DloptError, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.coreservation.algorithm_names import NAMES
from dlopt.problems.coreservation import Holding, Machine, Part, Request, batches, linear
from tests.strategies_coreservation import any_numbers

F = Fraction
SOUND = tuple(name for name in NAMES if ":" not in name)


def wanted(name, start, end, *parts, arrival=0, priority=1):
    return Request(name, arrival, start, end, priority, parts)


def engine_of_everything():
    engine = CoReservation(
        [Machine("m", ((0, 10), (50, 4))), Machine("n", F(21, 2)), Machine("o", 3)],
        "co-rsbfr",
        trim=True,
        holdings=[Holding(0, 0, 30, F(1, 3))],
    )
    soft = Part(8, 2, linear(), 0)
    engine.submit([wanted("a", 5, 15, soft, soft), wanted("no", 5, 9, Part(99))])
    engine.submit([wanted("b", 20, 30, Part(2, machine=0)), wanted("gone", 20, 30, Part(2))])
    engine.cancel("gone")
    engine.advance(8)
    engine.finished("a", 12)
    engine.resources(fail=[1], remove=[2])
    return engine


def test_a_snapshot_is_plain_data_and_comes_back():
    engine = engine_of_everything()
    saved = engine.snapshot()
    assert json.loads(json.dumps(saved)) == saved
    again = CoReservation.restore(json.loads(json.dumps(saved)))
    assert again.snapshot() == saved and again.plan() == engine.plan()
    assert again.now == 8 and again.machines == engine.machines
    assert again.requests == engine.requests and again.state() == engine.state()
    later = [wanted("c", 40, 60, Part(5, 1, linear()), arrival=8)]
    assert again.submit(later) == engine.submit(later) and again.plan() == engine.plan()
    assert again.resources(repair=[1]) == engine.resources(repair=[1])
    assert again.snapshot() == engine.snapshot()


@pytest.mark.property
@given(any_numbers(requests=5), st.sampled_from(SOUND), st.data())
def test_every_later_decision_is_equal(instance, name, data):
    """In exact numbers, floats and mixtures, in any unit and from any epoch."""
    engine = CoReservation.of(instance, name)
    moment = data.draw(st.integers(0, 5))
    twin = None
    for index, (at, members) in enumerate(batches(instance)):
        if index == moment:
            twin = CoReservation.restore(json.loads(json.dumps(engine.snapshot())))
        batch = [instance.requests[member] for member in members]
        answers = []
        for each in filter(None, (engine, twin)):
            try:
                answers.append(each.submit(batch, at=at))
            except InvalidInstanceError as error:  # floats and fractions stand in another order
                answers.append(str(error))
        assert answers[0] == answers[-1]
    if twin is not None:
        assert repr(twin.plan()) == repr(engine.plan())
        assert twin.snapshot() == engine.snapshot()


capacities = st.integers(4, 6)
parts_of_equal_shares = st.lists(st.integers(0, 3), min_size=2, max_size=3, unique=True).map(
    lambda least: tuple(Part(9, cpu, linear()) for cpu in least)
)
other_parts = st.lists(
    st.builds(Part, capacities, st.integers(0, 2), st.just(linear())), min_size=1
)
any_parts = parts_of_equal_shares | other_parts.map(tuple)


@st.composite
def requests(draw, parts=any_parts):
    """Return a request that begins at 2 at the earliest."""
    name = draw(st.sampled_from("abcd"))
    start, end = draw(st.integers(2, 4)), draw(st.integers(5, 9))
    return wanted(name, start, end, *draw(parts), priority=draw(st.integers(1, 2)))


numbers = st.sets(st.integers(0, 5), max_size=3).map(sorted)
calls = st.one_of(
    st.tuples(st.just("submit"), st.lists(requests(), min_size=1, max_size=2)),
    st.tuples(st.sampled_from(["add", "fail", "remove", "repair"]), numbers),
    st.tuples(st.sampled_from(["cancel", "advance", "change", "finished"]), requests()),
)
few_calls = st.lists(calls, max_size=2)


@st.composite
def calls_around_a_failure(draw):
    """Return calls: a request gets all of each of several machines, and all of these fail."""
    sizes = st.lists(capacities, min_size=2, max_size=3)
    alone = draw(requests(parts_of_equal_shares))
    return (
        *draw(few_calls),
        ("submit", [alone]),
        *draw(few_calls),
        ("add", draw(sizes)),
        ("fail", [0, 1, 2]),
        *draw(few_calls),
    )


def outcome_of(engine, call):
    """Return the answer to a call, or the message of the error."""
    verb, one = call
    try:
        if verb == "add":
            first = engine.machine_count
            added = [Machine(f"m{first + k}", capacity) for k, capacity in enumerate(one)]
            return engine.resources(add=added)
        if verb in ("fail", "remove", "repair"):
            return engine.resources(**{verb: [j for j in one if j < engine.machine_count]})
        arguments = {"cancel": ["id"], "advance": ["start"], "finished": ["id", "end"]}
        given_ = [getattr(one, name) for name in arguments[verb]] if verb in arguments else [one]
        return getattr(engine, verb)(*given_)
    except DloptError as error:
        return str(error)


@pytest.mark.property
@given(st.sampled_from(SOUND), capacities, st.integers(2, 3), calls_around_a_failure())
def test_a_book_that_is_restored_before_each_call_gives_equal_answers(name, cpu, count, verbs):
    """In the order of the parts, too, where parts of equal shares were placed in another one."""
    engine = CoReservation([Machine(f"m{j}", cpu) for j in range(count)], name)
    for call in verbs:
        again = CoReservation.restore(json.loads(json.dumps(engine.snapshot())))
        assert outcome_of(again, call) == outcome_of(engine, call)
        assert again.snapshot() == engine.snapshot()


@pytest.mark.parametrize("name", ["co-rspb", "co-rsbfr", "priced"])
def test_parts_with_equal_shares_are_moved_in_their_order(name):
    """The part that accepts less is placed last; both get all that a machine has."""
    engine = CoReservation([Machine("a", 4), Machine("b", 4)], name)
    engine.submit([wanted("r", 5, 9, Part(6, 2, linear()), Part(6, 3, linear()))])
    assert [share.machine for share in engine.plan().shares] == [1, 0]
    engine.resources(add=[Machine("c", 4), Machine("d", 6)])
    again = CoReservation.restore(json.loads(json.dumps(engine.snapshot())))
    for book in (engine, again):
        assert book.resources(fail=[0, 1]).moved == ("r",)
        assert [(share.machine, share.cpu) for share in book.plan().shares] == [(2, 4), (3, 4)]
    assert again.snapshot() == engine.snapshot()


def edited(*path, value=None, drop=False):
    """Return the snapshot with another value at a place."""
    saved = copy.deepcopy(engine_of_everything().snapshot())
    place = saved
    for step in path[:-1]:
        place = place[step]
    if drop:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return saved


def faults_of(saved):
    with pytest.raises(InvalidInstanceError) as caught:
        CoReservation.restore(saved)
    return [f"{fault.path}: {fault.rule}" for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("saved", "fault"),
    [
        ([], "snapshot: must be an object"),
        (edited("now", drop=True), "now: is missing"),
        (edited("color", value=1), "color: is not a field"),
        (edited("version", value=2), "version: must be 1"),
        (edited("problem", value="admission"), "problem: must be 'coreservation'"),
        (edited("trim", value=3), "trim: must be true or false"),
        (edited("now", value=float("nan")), "now: must be a finite number"),
        (edited("algorithm", value="best"), "algorithm: must be known with these options"),
        (edited("order", value="best"), "algorithm: must be known with these options"),
        (edited("algorithm", value="rb:literal-slots"), "algorithm: must be one that keeps"),
        (edited("machines", 0, "id", value="n"), "machines[1].id: must be given once"),
        (edited("failed", 0, value=3), "failed[0]: must be one of the machines 0 to 2"),
        (edited("removed", value=[1, 1]), "removed[1]: must be given once"),
        (edited("holdings", 0, "machine", value=3), "holdings[0].machine: must be one of"),
        (edited("requests", 0, "request", "start", value=-1), "requests[0].request.start: must"),
        (edited("requests", 0, "request", "id", value="b"), "requests[2].request.id: must be"),
        (edited("requests", 0, "at", value=9), "requests[0].at: must not lie after now, 8"),
        (edited("requests", 0, "end", value=5), "requests[0].end: must lie after the start, 5"),
        (
            edited("requests", 2, "request", "parts", 0, "machine", value=7),
            "requests[2].request.parts[0].machine: must be one of",
        ),
        (edited("requests", 0, "accepted", value=False), "shares[1].request: must be accepted"),
        (edited("requests", 1, "accepted", value=True), "requests[1].request.parts[0]: must have"),
        (edited("shares", 0, "request", value="x"), "shares[0].request: must be one of"),
        (edited("shares", 1, "part", value=2), "shares[1].part: must be one of the parts 0 to 1"),
        (edited("shares", 1, "part", value=1), "shares[2].part: must be given once"),
        (edited("shares", 0, "machine", value=-1), "shares[0].machine: must be one of"),
        (edited("shares", 1, "cpu", value=9), "shares[1].cpu: must be between 2 and 8"),
        (edited("shares", 2, "machine", value=1), "shares[2].machine: must be the machine of"),
        (edited("changes", value=[]), "changes: must add up to the shares"),
        (edited("changes", 0, "cpu", value=5), "changes: must add up to the shares"),
        (edited("changes", 0, "request", value="x"), "changes[0].request: must be one of"),
        (edited("revised", value=["x"]), "revised[0]: must be one of the requests"),
        (edited("withdrawn", 0, "request", value="b"), "withdrawn[0].request: must not be among"),
        (edited("withdrawn", 0, "ending", value="lost"), "withdrawn[0].ending: must be one of"),
        (edited("machines", 0, "capacity", value=1), "shares[0].cpu: must be at most"),
    ],
)
def test_what_is_wrong_with_a_snapshot_is_said(saved, fault):
    found = faults_of(saved)
    assert any(one.startswith(fault) for one in found), found


def test_all_faults_are_said_at_once():
    saved = edited("shares", 1, "cpu", value=9)
    saved["revised"], saved["failed"] = ["x"], [4]
    assert len(faults_of(saved)) >= 3


def test_printed_algorithms_are_copied_but_not_saved():
    engine = CoReservation([Machine("m", 10)], "co-rspb:literal-leak")
    engine.submit([wanted("r", 5, 9, Part(6), Part(6))])
    for verb in ("snapshot", "state"):
        with pytest.raises(NotApplicableError, match="is printed with errata"):
            getattr(engine, verb)()
    for verb, given_ in (("finished", ("r", 9)), ("resources", ())):
        with pytest.raises(NotApplicableError, match="is printed with errata"):
            getattr(engine, verb)(*given_)
    twin = copy.deepcopy(engine)
    later = [wanted("s", 5, 9, Part(4))]
    assert twin.submit(later) == engine.submit(later) and twin.plan() == engine.plan()


def test_a_book_of_floats_whose_clock_is_a_fraction():
    engine = CoReservation([Machine("a", 70.0)])
    engine.advance(Fraction(7, 6))
    (decision,) = engine.submit([Request("r", Fraction(7, 6), 5, 15, 1, (Part(60),))])
    again = CoReservation.restore(json.loads(json.dumps(engine.snapshot())))
    assert again.decisions == (decision,) and again.now == engine.now
