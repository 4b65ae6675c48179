"""The engine as other planners use it: batches, cancellations, the clock, bad input."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlopt
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.coreservation.engine import CoReservation, run_batches
from dlopt.problems.coreservation import (
    Holding,
    Instance,
    Machine,
    Part,
    Request,
    batches,
    linear,
    violations,
)
from tests.oracles_coreservation import room
from tests.strategies_coreservation import coreservation

F = Fraction
NAMES = ("rb", "rspb", "co-rspb", "co-rsbf", "co-rsbfr", "first-fit", "priced")


def wanted(name, start, end, *parts, arrival=0, priority=1):
    return Request(name, arrival, start, end, priority, parts)


def loads(engine, machine):
    """Return from when on each amount of a machine is reserved."""
    calendar = engine.calendar
    steps = calendar.allocated(machine, calendar.now, calendar.now + 10**6)
    return tuple((since, load) for since, _, load in steps)


def test_it_is_public():
    assert dlopt.CoReservation is CoReservation


@pytest.mark.property
@given(coreservation(requests=5), st.sampled_from(NAMES))
def test_batch_by_batch_it_decides_as_the_method(instance, name):
    engine = CoReservation.of(instance, name)
    for at, members in batches(instance):
        engine.submit([instance.requests[index] for index in members], at=at)
    assert engine.plan() == dlopt.solve(instance, name).solution
    assert engine.plan().decisions == engine.decisions


@pytest.mark.property
@given(coreservation(requests=5), st.sampled_from(NAMES))
def test_the_calendar_is_the_sum_of_all_reservations(instance, name):
    engine = run_batches(instance, name)
    windows = {one.id: (one.start, one.end) for one in instance.requests}
    plan, now = engine.plan(), engine.now
    for index in range(len(instance.machines)):
        for since, load in loads(engine, index):
            held = sum(
                share.cpu
                for share in plan.shares
                if share.machine == index
                and windows[share.request][0] <= since < windows[share.request][1]
            )
            others = sum(
                one.cpu
                for one in instance.holdings
                if one.machine == index and one.start <= since < one.end
            )
            assert load == held + others and since >= now
            assert held <= max(room(instance, index, since), 0)


@pytest.mark.property
@given(coreservation(parts_each=1), st.sampled_from(NAMES), st.data())
def test_what_is_cancelled_is_as_if_it_had_never_been(instance, name, data):
    """The plan of the others stays valid; the calendar has theirs alone."""
    engine = CoReservation.of(instance, name)
    gone = set()
    for at, members in batches(instance):
        engine.submit([instance.requests[index] for index in members], at=at)
        running = [
            one.id
            for one in instance.requests[: members[-1] + 1]
            if one.id not in gone and one.end > at
        ]
        held = [one.request for one in engine.decisions if one.accepted and one.request in running]
        if held and data.draw(st.booleans()):
            drawn = data.draw(st.sampled_from(held))
            engine.cancel(drawn)
            gone.add(drawn)
    left = tuple(one for one in instance.requests if one.id not in gone)
    plan = engine.plan()
    assert [one.request for one in plan.decisions] == [one.id for one in left]
    if left:
        found = violations(Instance(instance.machines, left, None, instance.holdings), plan)
        assert {one.kind for one in found} <= {
            "wrong-decision-time"
        }  # batches are others without it
    for one in left:
        if one.end > engine.now and any(share.request == one.id for share in plan.shares):
            engine.cancel(one.id)
    empty = CoReservation.of(instance, name, now=engine.now)
    for index in range(len(instance.machines)):
        assert loads(engine, index) == loads(empty, index)


def test_cancelling_half_way_frees_what_is_left():
    engine = CoReservation([Machine("m", 10)], "rb")
    engine.submit([wanted("a", 0, 20, Part(6), Part(3))])
    engine.advance(12)
    engine.cancel("a")
    assert engine.decisions == () and engine.plan().shares == ()
    (again,) = engine.submit([wanted("b", 12, 20, Part(10), arrival=12)])
    assert again.accepted and again.at == 12
    with pytest.raises(NotApplicableError, match="request a holds nothing that can be cancelled"):
        engine.cancel("a")
    engine.advance(20)
    with pytest.raises(NotApplicableError, match="request b holds nothing"):
        engine.cancel("b")
    with pytest.raises(
        InvalidInstanceError, match=r"requests\[0\].id: was accepted before, and cancelled"
    ):
        engine.submit([wanted("a", 30, 40, Part(1))])


def test_what_was_promised_is_not_touched_by_a_later_batch():
    engine = CoReservation([Machine("m", 10)], "co-rsbfr")
    soft = Part(10, 2, linear())
    engine.submit([wanted("a", 5, 9, soft)])
    before = engine.plan().shares
    (later,) = engine.submit([wanted("b", 5, 9, soft, priority=100)])
    assert not later.accepted and engine.plan().shares == before


def test_the_decisions_come_in_the_order_of_the_requests():
    engine = CoReservation([Machine("m", 10)])
    batch = [wanted("low", 1, 2, Part(6)), wanted("high", 1, 2, Part(6), priority=5)]
    assert [(one.request, one.accepted) for one in engine.submit(batch, at=1)] == [
        ("low", False),
        ("high", True),
    ]
    assert engine.submit([]) == () and engine.now == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_rejected_batch_leaves_the_clock(name):
    engine, silent = (CoReservation([Machine("m", 10)], name, now=1) for _ in range(2))
    (no,) = engine.submit([wanted("a", 7, 9, Part(11), Part(2), arrival=4)])
    assert (no.accepted, no.at, engine.now) == (False, 4, 1)
    twin = CoReservation.restore(engine.snapshot())
    batch = [wanted("b", 2, 9, Part(10), arrival=2), wanted("c", 2, 9, Part(10), arrival=2)]
    decided = silent.submit(batch)
    assert engine.submit(batch) == twin.submit(batch) == decided
    assert sum(one.accepted for one in decided) == 1
    assert engine.now == twin.now == 2 and twin.snapshot() == engine.snapshot()
    assert engine.plan().shares == silent.plan().shares
    assert engine.archive().decisions == () and engine.decisions == (no, *decided)


def test_holdings_may_come_one_by_one():
    holdings = [Holding(0, 0, 30, 6), Holding(0, 5, 20, 1)]
    engine = CoReservation([Machine("m", 10)], holdings=iter(holdings))
    assert engine.calendar.smallest_free(0, 0, 30) == 3
    assert engine.snapshot() == CoReservation([Machine("m", 10)], holdings=holdings).snapshot()


def test_it_starts_later_and_beside_holdings():
    held = [Holding(0, 0, 30, 6), Holding(0, 0, 10, 4), Holding(0, 20, 30, 9)]
    engine = CoReservation([Machine("m", 10)], now=10, holdings=held)
    assert loads(engine, 0) == ((10, 6), (20, 15), (30, 0))
    first, second = engine.submit(
        [wanted("a", 10, 20, Part(4)), wanted("b", 10, 21, Part(F(1, 9)))]
    )
    assert first.accepted and second.reason == (
        "part 0 needs 1/9, no machine has more than 0 left in [10, 21)"
    )


def test_numbers_stay_what_they_are():
    exact = CoReservation([Machine("m", 1)], "co-rspb")
    exact.submit([wanted("a", F(1, 3), 2, Part(3, F(1, 7), linear()))])
    assert exact.plan().shares[0].cpu == 1 and exact.decisions[0].at == 0
    floating = CoReservation([Machine("m", 0.3)], "co-rspb")
    floating.submit(
        [wanted("a", 0.5, 2.0, Part(0.1)), wanted("b", 0.5, 2.0, Part(1.0, 0.1, linear()))]
    )
    shares = [share.cpu for share in floating.plan().shares]
    assert shares == [0.1, 0.2]
    assert isinstance(floating.decisions[0].at, float)


def test_bad_input():
    with pytest.raises(NotApplicableError, match="machines are needed"):
        CoReservation([])
    with pytest.raises(NotApplicableError, match="unknown algorithm"):
        CoReservation([Machine("m", 1)], "nonsense")
    with pytest.raises(InvalidInstanceError, match=r"holdings\[0\].machine: must be one of"):
        CoReservation([Machine("m", 1)], holdings=[Holding(1, 0, 1, 1)])
    for now in (-1, float("nan"), "now"):
        with pytest.raises(InvalidInstanceError, match="now: must be a finite number from 0 on"):
            CoReservation([Machine("m", 1)], now=now)
    engine = CoReservation([Machine("m", 10)], now=5)
    with pytest.raises(NotApplicableError, match="a request is needed, not a str"):
        engine.submit(["a"])
    for single in (wanted("a", 6, 9, Part(1)), "a", None):
        with pytest.raises(NotApplicableError, match="a sequence of requests is needed, not a"):
            engine.submit(single)
    with pytest.raises(InvalidInstanceError, match="at: must be a finite number, got 'x'"):
        engine.submit([], at="x")
    with pytest.raises(NotApplicableError, match="machines are needed"):
        CoReservation(Machine("m", 1))
    with pytest.raises(NotApplicableError, match="holdings are needed"):
        CoReservation([Machine("m", 1)], holdings=[3])
    with pytest.raises(InvalidInstanceError, match="now: must be a finite number, not before 5"):
        engine.advance(4)
    wrong = [
        wanted("a", 6, 9, Part(1), arrival=6),
        wanted("a", 4, 9, Part(1, machine=1)),
    ]
    with pytest.raises(InvalidInstanceError) as caught:
        engine.submit(wrong, at=F(9, 2))
    assert [(fault.path, fault.rule) for fault in caught.value.faults] == [
        ("at", "must not lie before now, 5"),
        ("requests[0].arrival", "must not lie after the decision, 9/2"),
        ("requests[1].id", "must be given to one request only"),
        ("requests[1].start", "must not lie before the decision, 9/2"),
        ("requests[1].parts[0].machine", "must be one of the machines 0 to 0"),
    ]
    assert engine.decisions == () and loads(engine, 0) == ((5, 0),)
