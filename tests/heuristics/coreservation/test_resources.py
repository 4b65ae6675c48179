"""Machines that are added or removed, fail or are repaired: which promises are kept, and where."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlopt
from dlopt import CoReservation, check
from dlopt.books import Consequences
from dlopt.calendar import Span
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.coreservation import machine_search
from dlopt.heuristics.coreservation.algorithm_names import parse
from dlopt.heuristics.coreservation.engine_state import EngineState, Entry, new_calendar
from dlopt.heuristics.coreservation.reassignment import MAX_EXCHANGED
from dlopt.problems.coreservation import (
    Decision,
    Holding,
    Instance,
    Machine,
    Part,
    Request,
    linear,
)
from tests.examples import share
from tests.oracles_coreservation import is_feasible

F = Fraction


def wanted(name, start, end, *parts, arrival=0, priority=1):
    return Request(name, arrival, start, end, priority, parts)


def places(engine):
    return {(one.request, one.part): (one.machine, one.cpu) for one in engine.plan().shares}


def machines(*capacities):
    return [Machine(f"m{j}", capacity) for j, capacity in enumerate(capacities)]


def test_added_machines_get_the_next_numbers():
    engine = CoReservation(machines(10))
    assert engine.resources(add=machines(0, 20)[1:]) == Consequences()
    assert engine.submit([wanted("a", 5, 15, Part(15))])[0].accepted
    assert places(engine) == {("a", 0): (1, 15)}
    engine.resources(remove=[1], add=[Machine("new", 30)])
    assert [machine.id for machine in engine.machines] == ["m0", "m1", "new"]
    assert places(engine) == {("a", 0): (2, 15)}


def test_nothing_new_is_placed_on_a_removed_machine_and_what_has_begun_goes_on():
    engine = CoReservation(machines(10, 10), "first-fit")
    engine.submit(
        [
            wanted("a", 5, 15, Part(6)),
            wanted("b", 10, 15, Part(4)),
            wanted("soft", 10, 15, Part(3, 0, linear(), 0)),
        ]
    )
    assert places(engine)["soft", 0] == (0, 0)
    engine.advance(8)
    assert engine.resources(remove=[0]) == Consequences(broken=("soft",), moved=("b",))
    assert places(engine) == {("a", 0): (0, 6), ("b", 0): (1, 4)}
    instance, plan = engine.state()
    assert instance.machines[0].capacity == ((0, 6), (15, 0)) and check(instance, plan) == ()
    fixed = wanted("c", 20, 25, Part(1, machine=0))
    assert engine.ask(fixed).reason == "part 0 needs 1, machine m0 is out of service"
    engine.resources(remove=[1])
    assert engine.ask(wanted("c", 20, 25, Part(1))).reason == (
        "part 0 needs 1, every machine is out of service"
    )
    engine.cancel("a")
    assert engine.state() is None


def test_a_failure_breaks_what_has_begun_and_moves_what_has_not():
    engine = CoReservation(machines(10, 10), "first-fit", holdings=[Holding(0, 0, 30, 2)])
    both = wanted("both", 5, 15, Part(1, machine=0), Part(1, machine=1))
    engine.submit([wanted("a", 5, 15, Part(6)), both, wanted("b", 10, 15, Part(1), Part(2))])
    engine.advance(8)
    assert (places(engine)["b", 0], places(engine)["b", 1]) == ((0, 1), (1, 2))
    assert engine.resources(fail=[0]) == Consequences(broken=("a", "both"), moved=("b",))
    assert places(engine) == {("b", 0): (1, 1), ("b", 1): (1, 2)}
    assert engine.calendar.smallest_free(0, 8, 30) == -2
    assert engine.ask(wanted("c", 20, 25, Part(1, machine=0))).reason == (
        "part 0 needs 1, machine m0 has only 0 left in [20, 25)"
    )
    assert engine.resources(repair=[0]) == Consequences()
    assert engine.calendar.capacity(0) == ((8, 10),)
    assert engine.submit([wanted("c", 20, 25, Part(8, machine=0), arrival=8)])[0].accepted


def test_what_holds_nothing_on_a_failed_machine_is_kept():
    engine = CoReservation(machines(10, 10), "first-fit")
    engine.submit([wanted("full", 5, 15, Part(10)), wanted("none", 5, 15, Part(3, 0, linear(), 0))])
    engine.advance(6)
    assert engine.resources(fail=[0]).broken == ("full",)
    assert places(engine) == {("none", 0): (0, 0)} and check(*engine.state()) == ()


def test_repair_gives_the_steps_of_the_capacity_that_are_left():
    engine = CoReservation(machines(((0, 5), (10, 7), (20, 3)), 1))
    engine.advance(2)
    engine.resources(fail=[0])
    assert engine.calendar.capacity(0) == ((2, 0),)
    engine.advance(12)
    engine.resources(repair=[0])
    assert engine.calendar.capacity(0) == ((12, 7), (20, 3))


def test_bad_changes_change_nothing():
    engine = CoReservation(machines(10, 10, 10))
    engine.submit([wanted("a", 5, 15, Part(6))])
    engine.resources(fail=[1], remove=[2])
    before = engine.snapshot()
    with pytest.raises(InvalidInstanceError) as caught:
        engine.resources(
            add=[Machine("m0", 1), Machine("x", 1), Machine("x", 1)],
            remove=[3, 2, -1, True],
            fail=[1, 0, 0, 0.5],
            repair=[0, 2, "1"],
        )
    assert [(fault.path, fault.rule) for fault in caught.value.faults] == [
        ("add[0].id", "must be given to one of the machines only"),
        ("add[2].id", "must be given to one of the machines only"),
        ("remove[0]", "must be one of the machines 0 to 2"),
        ("remove[1]", "must not have been removed"),
        ("remove[2]", "must be one of the machines 0 to 2"),
        ("remove[3]", "must be one of the machines 0 to 2"),
        ("fail[0]", "must not have failed already"),
        ("fail[2]", "must be given once"),
        ("fail[3]", "must be one of the machines 0 to 2"),
        ("repair[0]", "must be given once"),
        ("repair[1]", "must not have been removed"),
        ("repair[2]", "must be one of the machines 0 to 2"),
    ]
    for wrong in ({"add": [3]}, {"add": 3}, {"fail": 1}, {"remove": "1"}, {"repair": None}):
        with pytest.raises(NotApplicableError):
            engine.resources(**wrong)
    with pytest.raises(InvalidInstanceError, match=r"repair\[0\]: must have failed before, got 0"):
        engine.resources(repair=[0])
    assert engine.snapshot() == before


def test_a_removed_machine_may_fail_while_it_is_in_use():
    engine = CoReservation(machines(10))
    engine.submit([wanted("a", 5, 15, Part(6))])
    engine.advance(6)
    assert engine.resources(remove=[0]) == Consequences()
    assert engine.resources(fail=[0]) == Consequences(broken=("a",))


def test_higher_priorities_are_kept_first():
    engine = CoReservation(machines(10, 10), "first-fit")
    engine.submit([wanted("low", 5, 15, Part(6), priority=1)])
    engine.submit([wanted("high", 5, 15, Part(6), priority=2)])
    assert places(engine) == {("low", 0): (0, 6), ("high", 0): (1, 6)}
    assert engine.resources(fail=[1]) == Consequences(broken=("low",), moved=("high",))


def test_among_equal_priorities_as_few_as_possible_and_the_last_ones_are_broken():
    engine = CoReservation(machines(10, 10), "first-fit")
    engine.submit(
        [wanted("large", 5, 15, Part(9)), wanted("a", 5, 15, Part(5)), wanted("b", 5, 15, Part(5))]
    )
    assert engine.resources(fail=[1]) == Consequences(broken=("large",), moved=("a", "b"))
    engine = CoReservation(machines(10, 10), "first-fit")
    engine.submit([wanted(name, 5, 15, Part(4)) for name in "abcd"])
    assert engine.resources(fail=[0]).broken == ("c", "d")


def test_whatever_is_not_in_conflict_stays_where_it_is():
    engine = CoReservation(machines(10, 10, 10), "first-fit")
    engine.submit([wanted(name, 5, 15, Part(4), priority=2) for name in "ab"])
    engine.submit([wanted(name, 5, 15, Part(4)) for name in "cd"])
    engine.submit([wanted(name, 5, 15, Part(4), priority=2) for name in "ef"])
    before = places(engine)
    assert engine.resources(fail=[1]) == Consequences(broken=("c", "d"))
    assert places(engine) == {one: before[one] for one in before if one[0] in "abef"}


@pytest.mark.parametrize("priority", [1, 2])
def test_what_is_kept_may_make_room_for_more(priority):
    """Two requests of 5 on machines of their own leave no room for 8, unless they share one."""
    engine = CoReservation(machines(10, 10, 10), "worst-fit")
    five = [wanted(name, 5, 15, Part(5), priority=priority) for name in "ab"]
    engine.submit([*five, wanted("c", 5, 15, Part(8))])
    assert places(engine) == {("a", 0): (0, 5), ("b", 0): (1, 5), ("c", 0): (2, 8)}
    done = engine.resources(fail=[2])
    assert done.broken == () and "c" in done.moved and done.least
    assert check(*engine.state()) == ()


def test_of_very_many_each_is_kept_in_turn():
    count = MAX_EXCHANGED + 4
    engine = CoReservation(machines(count, count), "first-fit")
    engine.submit([wanted(f"r{k}", 5, 15, Part(2)) for k in range(count)])
    done = engine.resources(fail=[0])
    assert len(done.broken) == count // 2 and not done.least
    assert set(done.broken) == {f"r{k}" for k in range(count // 2)}
    assert check(*engine.state()) == ()


def test_of_more_than_are_searched_for_none_is_said_to_be_the_least():
    """Of two priorities, each with few enough, together with too many."""
    half = MAX_EXCHANGED // 2 + 2
    engine = CoReservation(machines(3 * half, half), "first-fit")
    engine.submit([wanted(f"high{k}", 5, 15, Part(2), priority=2) for k in range(half)])
    engine.submit([wanted(f"low{k}", 5, 15, Part(2)) for k in range(half)])
    assert places(engine)["low0", 0] == (0, 2) and places(engine)[f"low{half - 1}", 0] == (1, 2)
    done = engine.resources(fail=[1])
    assert not done.least and len(done.broken) == half - half // 2
    assert all(name.startswith("low") for name in done.broken)


@pytest.mark.parametrize("nodes", [0, 3])
def test_a_search_that_is_cut_off_proves_nothing(monkeypatch, nodes):
    monkeypatch.setattr(machine_search, "MAX_NODES", nodes)
    engine = CoReservation(machines(10, 10, 10), "first-fit")
    engine.submit([wanted(f"r{k}", 5, 15, Part(6)) for k in range(3)])
    done = engine.resources(fail=[2])
    assert done.broken == ("r2",) and not done.least


def test_what_is_the_same_on_equal_machines_is_searched_for_once(monkeypatch):
    """Five machines have room for five of six requests of more than a half, in 5! ways.

    The others, at other times, have 5! ways for each of those ways.
    """
    monkeypatch.setattr(machine_search, "MAX_NODES", 60)
    engine = CoReservation(machines(*[100] * 6), "first-fit")
    for start in (5, 15):
        engine.submit([wanted(f"{start}.{k}", start, start + 10, Part(51 + k)) for k in range(5)])
    engine.submit([wanted(f"r{k}", 25, 35, Part(60 - k)) for k in range(6)])
    assert engine.resources(fail=[5]) == Consequences(broken=("r5",))


def can_be_placed(requests, free):
    """Tell by brute force whether requests of one part fit; `free` is by machine and instant."""
    if not requests:
        return True
    first, *rest = requests
    (part,) = first.parts
    for j in range(len(free)) if part.machine is None else [part.machine]:
        less = [list(of_machine) for of_machine in free]
        for instant in range(first.start, first.end):
            less[j][instant] -= part.cpu
        if min(less[j][first.start : first.end]) >= 0 and can_be_placed(rest, less):
            return True
    return False


def test_the_search_finds_machines_if_and_only_if_there_are_some():
    """Also where others hold shares, and one has no choice."""
    rng, answers = random.Random(0), []
    for _ in range(400):
        capacities = [rng.choice([6, 8]) for _ in range(3)]
        held = Holding(rng.randrange(3), 2, rng.randint(3, 9), rng.randint(0, 3))
        requests = []
        for k in range(7):
            start, machine = rng.randint(0, 6), rng.choice([0, None]) if k == 0 else None
            part = Part(rng.choice([3, 4]), machine=machine)
            requests.append(wanted(f"r{k}", start, start + rng.randint(1, 5), part))
        calendar = new_calendar(machines(*capacities), [held], 0, None)
        free = [[calendar.smallest_free(j, t, t + 1) for t in range(12)] for j in range(3)]
        state = EngineState(parse("first-fit"), machines(*capacities), [held], calendar)
        promises = [
            machine_search.Promise(
                Entry(one, one, Decision(one.id, True, 0)),
                {0: Span(-1, 0, one.start, one.end, one.parts[0].cpu)},
                (2, 0),
            )
            for one in requests
        ]
        search = machine_search.MachineSearch(state)
        found = search.places(calendar, promises)
        answers.append(found is not None)
        assert search.is_complete and answers[-1] == can_be_placed(requests, free)
        assert len(calendar) == 1 + (len(requests) if answers[-1] else 0)
    assert {True, False} == set(answers)


@st.composite
def promised(draw, priorities=(1, 2)):
    """Return an engine with small promises, of which some have begun, and what they are."""
    capacities = draw(st.lists(st.integers(5, 10), min_size=2, max_size=3))
    name = draw(st.sampled_from(["first-fit", "worst-fit", "co-rspb", "co-rsbf", "rspb"]))
    engine, requests = CoReservation(machines(*capacities), name), []
    for k in range(6):
        start = draw(st.integers(1, 5))
        parts = [Part(draw(st.integers(1, 6))) for _ in range(draw(st.integers(1, 2)))]
        request = wanted(
            f"r{k}",
            start,
            start + draw(st.integers(1, 4)),
            *parts,
            priority=draw(st.sampled_from(priorities)),
        )
        if engine.submit([request])[0].accepted:
            requests.append(request)
    return engine, requests


def left(engine, requests, failed):
    """Return the instance of promises, with their shares, on machines of which one has failed."""
    held = places(engine)
    hard = [
        replace(
            one,
            parts=tuple(Part(held[one.id, part][1]) for part in range(len(one.parts))),
        )
        for one in requests
    ]
    working = tuple(
        replace(machine, capacity=0) if j == failed else machine
        for j, machine in enumerate(engine.machines)
    )
    return Instance(working, tuple(hard))


@pytest.mark.property
@share(1 / 4)
@given(promised(), st.integers(0, 1))
def test_no_plan_keeps_more(state, failed):
    """By brute force, class by class: with those of higher priority, no more can be kept."""
    engine, requests = state
    if not requests:
        return
    instance = left(engine, requests, failed)
    done = engine.resources(fail=[failed])
    assert done.least
    assert set(engine.calendar.allocated(failed, 0, 20)) == {(0, 20, 0)}
    kept = ()
    for priority in (2, 1):
        members = [k for k, one in enumerate(requests) if one.priority == priority]
        now_kept = tuple(k for k in members if requests[k].id not in done.broken)
        assert is_feasible(instance, kept + now_kept)
        if len(now_kept) < len(members):
            for more in combinations(members, len(now_kept) + 1):
                assert not is_feasible(instance, kept + more)
        kept += now_kept


@pytest.mark.property
@share(1 / 6)
@given(promised(priorities=(1,)), st.integers(0, 1))
def test_the_exact_model_keeps_no_more(state, failed):
    engine, requests = state
    if not requests:
        return
    instance = left(engine, requests, failed)
    done = engine.resources(fail=[failed])
    best = dlopt.solve(instance, "exact", objective="rejections")
    assert best.status is dlopt.Status.OPTIMAL
    assert len(done.broken) == best.value


@pytest.mark.property
@share(1 / 4)
@given(promised(priorities=(1,)), st.integers(1, 5), st.integers(0, 1))
def test_what_has_begun_counts_too(state, now, failed):
    """The exact model may take back what has begun elsewhere; it keeps no fewer than the engine."""
    engine, _ = state
    engine.advance(now)
    instance, plan = engine.state()
    if instance is None:
        return
    done = engine.resources(fail=[failed])
    after = engine.state()
    assert after.instance is None or check(*after) == ()
    working = replace(
        instance,
        machines=tuple(
            replace(machine, capacity=0) if j == failed else machine
            for j, machine in enumerate(instance.machines)
        ),
    )
    best = dlopt.solve(working, "exact", objective="rejections")
    assert len(done.broken) >= best.value
    held = {one.request: one.machine for one in plan.shares}
    for name in done.broken:
        assert name in held
