"""What the engine can be asked: decisions that are not made, alternatives, and reasons."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Book, CoReservation
from dlopt.books import Conflict, ConflictPart
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.coreservation.algorithm_names import NAMES
from dlopt.problems.coreservation import Holding, Machine, Part, Request, batches, linear
from tests.strategies_coreservation import coreservation, parts

F = Fraction
SOUND = tuple(name for name in NAMES if ":" not in name)
UNPRICED = tuple(name for name in SOUND if name != "priced")


def wanted(name, start, end, *parts, arrival=0, priority=1):
    return Request(name, arrival, start, end, priority, parts)


def refused(engine, error, match, verb, *arguments, **named):
    before = engine.snapshot()
    with pytest.raises(error, match=match):
        getattr(engine, verb)(*arguments, **named)
    assert engine.snapshot() == before


def full_machine():
    """Return an engine with a machine of 10, of which 8 are taken in [5, 15)."""
    engine = CoReservation([Machine("m", 10)])
    engine.submit([wanted("a", 5, 15, Part(8))])
    return engine


def test_it_is_a_book():
    assert isinstance(full_machine(), Book)


@pytest.mark.property
@given(coreservation(requests=5), st.sampled_from(SOUND))
def test_asking_gives_the_decision_of_submitting_and_changes_nothing(instance, name):
    engine = CoReservation.of(instance, name)
    for at, members in batches(instance):
        batch = [instance.requests[index] for index in members]
        before = engine.snapshot()
        asked = engine.ask(batch, at=at)
        if len(batch) == 1:
            assert (engine.ask(batch[0], at=at),) == asked
        assert engine.snapshot() == before
        assert engine.submit(batch, at=at) == asked
        assert engine.ask(batch) == asked  # what is known keeps its decision


def test_what_is_wrong_with_a_question_is_wrong_with_a_submission():
    engine = full_machine()
    engine.advance(4)
    refused(
        engine,
        InvalidInstanceError,
        r"requests\[0\].start: must",
        "ask",
        wanted("b", 3, 9, Part(1)),
    )
    refused(engine, NotApplicableError, "a sequence of requests is needed", "ask", None)
    refused(engine, NotApplicableError, "a request is needed, not a str", "ask", ["a"])
    refused(engine, InvalidInstanceError, "at: must be a finite", "ask", [], at=float("nan"))


def test_offers_of_each_dimension():
    engine = full_machine()
    small = wanted("b", 2, 12, Part(4))
    assert engine.offer(wanted("b", 2, 12, Part(2))) == ()
    cpu, end, start = engine.offer(small)
    assert (cpu.dimension, cpu.value, cpu.concession) == ("cpu", F(1, 2), F(1, 2))
    assert (end.dimension, end.value, end.concession) == ("end", 5, F(7, 12))
    assert (start.dimension, start.value, start.concession) == ("start", 15, F(13, 2))
    assert engine.offer(small, k=1) == (cpu,)
    for one in (cpu, end, start):
        assert one.least and engine.ask(one.submission).accepted
    assert start.submission == replace(small, start=15, end=25)
    assert end.submission == replace(small, end=5)
    assert cpu.submission == replace(small, parts=(Part(2),))


def test_no_part_is_offered_less_than_it_accepts():
    engine = full_machine()
    assert "cpu" not in {
        one.dimension for one in engine.offer(wanted("b", 2, 12, Part(6, 3, linear())))
    }
    broker = CoReservation([Machine("m", 10)], "rb")
    broker.submit([wanted("a", 5, 15, Part(8))])
    soft = wanted("b", 2, 12, Part(6, 1, linear()))
    (cpu,) = [one for one in broker.offer(soft) if one.dimension == "cpu"]
    assert cpu.value == F(1, 3) and cpu.submission.parts == (Part(2, 1, linear()),)
    hard = wanted("b", 2, 12, Part(6, 6))
    (cpu,) = [one for one in broker.offer(hard) if one.dimension == "cpu"]
    assert cpu.submission.parts == (Part(2, 2),)


def test_where_nothing_is_ever_free_there_is_no_offer():
    engine = CoReservation([Machine("m", ((0, 4), (5, 0)))])
    later = engine.offer(wanted("a", 6, 9, Part(5)))
    assert later == ()
    (cpu,) = [one for one in engine.offer(wanted("a", 1, 4, Part(5))) if one.dimension == "cpu"]
    assert cpu.value == F(4, 5)


def test_what_was_rejected_is_offered_to_come_again():
    engine = full_machine()
    request = wanted("b", 6, 12, Part(4))
    assert not engine.submit([request])[0].accepted
    for one in engine.offer(request):
        assert engine.ask(one.submission).accepted
    engine.advance(3)
    engine.cancel("a")
    assert engine.submit([request]) == engine.decisions and not engine.decisions[0].accepted
    (wait,) = engine.offer(request)
    assert (wait.dimension, wait.value, wait.submission.arrival) == ("wait", 3, 3)
    assert engine.submit([wait.submission])[0].accepted
    assert engine.offer(wait.submission) == () and engine.why(wait.submission) is None


def test_at_the_instant_of_a_rejection_there_is_nothing_to_wait_for():
    engine = full_machine()
    request = wanted("b", 6, 12, Part(4))
    engine.submit([request])
    engine.cancel("a")
    assert engine.offer(request) == () and engine.why(request) is None


def test_bad_questions_for_offers():
    engine = full_machine()
    for k in (0, -1, True, 1.5):
        refused(engine, NotApplicableError, "k must be", "offer", wanted("b", 2, 12, Part(4)), k=k)
    other = wanted("a", 6, 9, Part(1))
    refused(engine, InvalidInstanceError, "id: was accepted before", "offer", other)
    refused(engine, InvalidInstanceError, "id: was accepted before", "why", other)
    refused(engine, NotApplicableError, "a request is needed", "why", "a")
    engine.cancel("a")
    refused(engine, InvalidInstanceError, "id: was accepted before, and canc", "offer", other)


@st.composite
def busy(draw, *, parts_each=1):
    """Return an engine with some requests, and one that arrives now."""
    instance = draw(coreservation(requests=5, parts_each=2, together=True))
    name = draw(st.sampled_from(UNPRICED))
    engine = CoReservation(instance.machines, name, holdings=instance.holdings)
    engine.submit(instance.requests)
    count = len(instance.machines)
    asked = draw(st.lists(parts(count), min_size=1, max_size=parts_each))
    start = draw(st.integers(0, 6))
    return engine, Request("new", 0, start, start + draw(st.integers(1, 5)), 1, tuple(asked))


@pytest.mark.property
@given(busy())
def test_no_smaller_concession_is_accepted(given_engine):
    """Where an offer is said to be the least: instants in between, and a little more CPU."""
    engine, request = given_engine
    before = engine.snapshot()
    offers = {one.dimension: one for one in engine.offer(request)}
    if engine.ask(request).accepted:
        assert offers == {}
        return
    assert all(one.least and engine.ask(one.submission).accepted for one in offers.values())
    length = request.end - request.start
    steps = [F(k, 6) for k in range(1, 6 * 40)]
    later = [request.start + step for step in steps]
    for start in later:
        asked = replace(request, start=start, end=start + length)
        accepted = engine.ask(asked).accepted
        assert not accepted or ("start" in offers and start >= offers["start"].value)
    for step in steps:
        if step < length:
            asked = replace(request, end=request.start + step)
            if engine.ask(asked).accepted:
                assert "end" in offers and asked.end <= offers["end"].value
    (part,) = request.parts
    for factor in (F(k, 48) for k in range(1, 48)):
        cpu = part.cpu * factor
        least = cpu if part.hard and part.cpu_min is not None else part.cpu_min
        if least is None or least <= cpu:
            asked = replace(request, parts=(replace(part, cpu=cpu, cpu_min=least),))
            if engine.ask(asked).accepted:
                assert "cpu" in offers and factor <= offers["cpu"].value
    assert engine.snapshot() == before


@pytest.mark.property
@given(busy(parts_each=3))
def test_offers_for_several_parts_are_accepted(given_engine):
    engine, request = given_engine
    millionth = F(1, 10**6)
    for one in engine.offer(request):
        assert engine.ask(one.submission).accepted
        if one.least:
            continue
        if one.dimension == "start":
            start = one.value * (1 - millionth)
            closer = replace(request, start=start, end=start + request.end - request.start)
            assert start <= request.start or not engine.ask(closer).accepted
        if one.dimension == "end":
            closer = replace(request, end=one.value * (1 + millionth))
            assert closer.end >= request.end or not engine.ask(closer).accepted
        if one.dimension == "cpu":
            factor = one.value * (1 + millionth)
            larger = tuple(
                replace(part, cpu=part.cpu * factor, cpu_min=None if part.hard else part.cpu_min)
                for part in request.parts
            )
            assert factor >= 1 or not engine.ask(replace(request, parts=larger)).accepted


def test_offers_in_floats_are_accepted_as_they_are():
    engine = CoReservation([Machine("m", 0.3), Machine("n", 0.2)])
    engine.submit([wanted("a", 0.5, 2.0, Part(0.25))])
    offers = engine.offer(wanted("c", 0.1, 1.7, Part(0.7)))
    assert {one.dimension for one in offers} == {"cpu"}
    for request in (wanted("c", 0.1, 1.7, Part(0.25)), wanted("c", 0.1, 1.7, Part(0.3), Part(0.2))):
        offers = engine.offer(request)
        assert {one.dimension for one in offers} == {"cpu", "start", "end"}
        assert all(engine.ask(one.submission).accepted for one in offers)


def test_why_names_what_is_necessary():
    held = [Holding(0, 0, 30, 1)]
    machines = [Machine("m", ((0, 10), (20, 4))), Machine("n", 3)]
    engine = CoReservation(machines, holdings=held)
    engine.submit(
        [wanted("a", 5, 15, Part(5)), wanted("b", 5, 15, Part(2)), wanted("c", 1, 3, Part(9))]
    )
    assert engine.why(wanted("new", 5, 15, Part(4))) is None
    found = engine.why(wanted("new", 5, 15, Part(5)))
    assert [str(part) for part in found.parts] == ["holding 0", "request a"]
    engine.submit([wanted("nothing", 5, 15, Part(9, 0, linear(), 1))])
    assert len(engine.why(wanted("new", 5, 15, Part(5))).parts) == 2
    reduced = engine.why(wanted("new", 20, 25, Part(5)))
    assert reduced == Conflict(
        (ConflictPart("machine", "0"),),
        "part 0 needs 5, no machine has more than 4 left in [20, 25)",
    )
    engine.resources(fail=[0], remove=[1])
    gone = engine.why(wanted("new", 20, 25, Part(2)))
    assert [str(part) for part in gone.parts] == ["machine 0", "machine 1"]
    assert engine.why(wanted("new", 20, 25, Part(11))).parts == ()
    assert str(engine.why(wanted("new", 20, 25, Part(11)))).endswith("even in an idle system")


@pytest.mark.property
@given(busy(parts_each=2), st.booleans())
def test_conflicts_are_irreducible(given_engine, fails):
    """An engine that has just the parts rejects; without any one of them it accepts."""
    engine, request = given_engine
    if fails:
        engine.resources(fail=[0])
    found = engine.why(request)
    if found is None:
        assert engine.ask(request).accepted
        return
    windows = {one.id: one for one in engine.requests}
    shares = engine.plan().shares
    held = [Holding.from_data(one) for one in engine.snapshot()["holdings"]]

    def rejects(parts):
        names = {part.id for part in parts if part.kind == "request"}
        reduced = {int(part.id) for part in parts if part.kind == "machine"}
        holdings = [held[int(part.id)] for part in parts if part.kind == "holding"]
        holdings += [
            Holding(one.machine, windows[one.request].start, windows[one.request].end, one.cpu)
            for one in shares
            if one.request in names
        ]
        machines = [
            machine
            if number in reduced
            else replace(machine, capacity=max(v for _, v in machine.steps))
            for number, machine in enumerate(engine.machines)
        ]
        algorithm = engine.snapshot()["algorithm"]
        idle = CoReservation(machines, algorithm, holdings=holdings)
        if fails and 0 in reduced:
            idle.resources(fail=[0])
        return not idle.ask(request).accepted

    assert rejects(found.parts)
    for part in found.parts:
        assert not rejects([one for one in found.parts if one != part])


@pytest.mark.parametrize("verb", ["offer", "why", "change"])
def test_printed_algorithms_answer_no_questions_that_need_soundness(verb):
    engine = CoReservation([Machine("m", 10)], "co-rspb:literal-leak")
    request = wanted("r", 5, 9, Part(6), Part(6))
    engine.submit([request])
    assert engine.ask(wanted("s", 5, 9, Part(4))).accepted
    with pytest.raises(NotApplicableError, match="co-rspb:literal-leak is printed with errata"):
        getattr(engine, verb)(request)


def test_batches_are_asked_for_as_wholes():
    engine = CoReservation([Machine("m", 10)])
    batch = [wanted("low", 1, 2, Part(6)), wanted("high", 1, 2, Part(6), priority=5)]
    assert [one.accepted for one in engine.ask(batch, at=1)] == [False, True]
    assert engine.ask([]) == () and engine.now == 0
