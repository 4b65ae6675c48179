"""Bid prices around reservations: sound by the test of multi-stage, online, and good for many."""

import copy
import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import MultiStage, Status, registry, solve
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.bid_prices import BidPrices
from dlopt.heuristics.multistage.busy_intervals import BusyIntervals
from dlopt.heuristics.multistage.methods import decide_all
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task, violations
from dlopt.simulation import simulate_mixed
from tests.examples import share
from tests.heuristics.multistage.priced_streams import PRICED, arriving, busy_stream, decided
from tests.heuristics.multistage.strategies import streams
from tests.heuristics.reference.multistage_engine import reference_decisions
from tests.heuristics.reference.multistage_planner import ReferenceBusyIntervals

F = Fraction
ONE_NODE = Cluster(1, tau=0, chi=1)
SMALL_AND_LARGE = tuple(
    sorted(
        [
            *(Task(f"small-{i}", F(i, 2), 1, 2) for i in range(60)),
            *(Task(f"large-{i}", F(i, 2), 6, 20) for i in range(11, 60, 8)),
        ],
        key=lambda task: task.arrival,
    )
)


def test_prices_of_exact_numbers_are_exact(monkeypatch):
    asked = []
    monkeypatch.setattr(BidPrices, "excess", lambda prices, *given, **_: asked.extend(given[:2]))
    head = MultiStage(Cluster(3, tau=1, chi=4), PRICED)
    for number in range(12):
        head.submit(Task(f"t{number}", 5 * number, F(1, 3), 9))
    assert asked and {type(time) for times in asked for time in times} == {Fraction}


def at_start(instance, algorithm, **options):
    state = {"ready_times": instance.ready_times, "channel_ready": instance.channel_ready}
    return MultiStage(instance.cluster, algorithm, **state, **options)


def follow(instance):
    """Require of every decision that the base makes the same one, or the price is too high.

    Returns
    -------
    list of str
        The reasons: of a decision on a task ``of``, of a grant ``conflict``.
    """
    priced, inner = at_start(instance, PRICED), at_start(instance, "multi-stage")
    reasons = []
    for one in arriving(instance):
        fits = inner.ask(one)
        decision = decided(priced, one)
        reasons.append(decision.of if isinstance(one, Task) else decision.conflict)
        if reasons[-1] == "price":
            assert fits.accepted and not decision.accepted
            if isinstance(one, Task):
                assert (decision.missed, decision.by > 0) == (one.id, True)
            else:
                reasons[-1] = "price of a reservation"
        else:
            assert fits == decision
            decided(inner, one)
        assert priced.plan().chunks == inner.plan().chunks
    assert violations(instance, priced.plan()) == ()
    return reasons


@pytest.mark.property
@share(1 / 5)
@given(streams(tasks=24))
def test_the_base_decides_unless_the_price_is_too_high(instance):
    follow(instance)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_the_base_decides_on_streams_with_prices(seed):
    reasons = follow(busy_stream(seed, wanted=25))
    assert min(map(reasons.count, ("price of a reservation", "load"))) >= 1
    assert min(map(reasons.count, ("price", "nodes"))) >= 10


@pytest.mark.parametrize("seed", range(3))
def test_later_arrivals_change_no_earlier_decision(seed):
    instance = busy_stream(seed)
    whole = decide_all(PRICED, instance)
    assert "price" in {decision.of for decision in whole.decisions}
    for count in (15, 30, 50):
        head = MultiStage(instance.cluster, PRICED)
        for one in arriving(instance)[:count]:
            decided(head, one)
        assert head.decisions == whole.decisions[: len(head.decisions)]
        assert head.grants == whole.grants[: len(head.grants)]


def test_what_is_asked_is_decided_so_and_is_not_part_of_the_forecast():
    instance = busy_stream(1)
    head, silent = (MultiStage(instance.cluster, PRICED) for _ in range(2))
    for one in arriving(instance):
        head.ask(Task("asked", one.arrival, 50, 1000))
        asked = head.ask(one)
        assert decided(head, one) == asked == decided(silent, one)


def test_the_reference_implementation_decides_so():
    instance = busy_stream(2)
    fast, reference = decide_all(PRICED, instance), reference_decisions(PRICED, instance)
    assert fast.plan() == reference.plan()


@pytest.mark.property
@given(st.data())
@share(1 / 2)
def test_busy_times_are_equal_in_both_implementations(data):
    windows = st.lists(st.integers(0, 20), min_size=2, max_size=8, unique=True).map(sorted)
    flat = [busy[: len(busy) // 2 * 2] for busy in data.draw(st.tuples(*[windows] * 3))]
    pairs = [list(zip(busy[::2], busy[1::2], strict=True)) for busy in flat]
    start, end = sorted(data.draw(st.tuples(st.integers(0, 20), st.integers(0, 20))))
    busy = BusyIntervals(flat[0], flat[1:])
    reference = ReferenceBusyIntervals(pairs[0], [intervals[::-1] for intervals in pairs[1:]])
    instants = [i for i in range(start, end) if busy.channel_busy(i, i + 1)]
    nodes = [i for i in range(start, end) for node in (0, 1) if busy.node_busy(node, i, i + 1)]
    assert busy.busy_times(start, end) == reference.busy_times(start, end)
    assert busy.busy_times(start, end) == (len(instants), len(nodes))


def test_small_tasks_are_not_lost_for_large_ones():
    window = Reservation("r", 0, 20, 23)
    instance = Instance(ONE_NODE, SMALL_AND_LARGE, (window,))
    found = solve(instance, PRICED)
    assert (found.status, found.value) == (Status.FEASIBLE, 29)
    accepted = {one.task for one in found.solution.decisions if one.accepted}
    assert all(name.startswith("small") for name in accepted)
    assert solve(instance, "multi-stage").value == 20


def with_forecast(*loads):
    """Return a book of one node at 20, for which a task has arrived at each instant before."""
    data = MultiStage(ONE_NODE, PRICED, now=20).snapshot()
    forecast = [
        {"arrival": arrival, "deadline": 10, "channel": 0, "nodes": load}
        for arrival, load in enumerate(loads)
    ]
    return MultiStage.restore(data | {"forecast": forecast})


@pytest.mark.parametrize(
    ("window", "load", "accepted"),
    [
        (None, 5, True),  # no price: the tasks of the forecast take 24 of 28
        ((24, 28), 5, False),  # 10 less, so that some of those of load 4 would be rejected
        ((24, 28), 4, True),
        ((29, 33), 5, True),  # beyond the horizon
        ((27, 33), 5, True),  # 1 within it takes 5/2 of 28
        ((26, 33), 5, False),
    ],
)
def test_what_is_reserved_within_the_horizon_raises_the_price(window, load, accepted):
    """The horizon is 8: of 20 units the target is 28, of which reservations of 4 take 10."""
    head = with_forecast(*[F(1, 2), F(1, 2), 4, F(1, 2), F(1, 2)] * 4)
    if window is not None:
        assert head.reserve(Reservation("r", 20, *window)).accepted
    decision = head.submit(Task("asked", 20, load, 30))
    assert decision.of == (None if accepted else "price")


@pytest.mark.parametrize("mandatory", [False, True])
def test_a_reservation_that_takes_too_much_is_refused_unless_it_is_mandatory(mandatory):
    head = MultiStage(ONE_NODE, PRICED)
    for task in SMALL_AND_LARGE[:40]:
        head.submit(task)
    before = head.snapshot()["forecast"]
    window = Reservation("long", 20, 40, 10**6, mandatory=mandatory)
    asked = head.ask(window)
    grant = head.reserve(window)
    assert (grant, grant.accepted) == (asked, mandatory)
    length = 10**6 - 40
    seen = {"arrival": 20, "deadline": length, "channel": 0, "nodes": length, "advance": 20}
    assert head.snapshot()["forecast"] == [*before, *([] if mandatory else [seen])]
    if not mandatory:
        assert (grant.conflict, grant.nodes) == ("price", ())
        assert grant.reason == "it takes more time than the bid prices allow"
        assert head.reserve(replace(window, arrival=21, end=41)).accepted


def test_what_is_offered_for_a_reservation_that_takes_too_much_is_accepted():
    """It is shorter, and no smaller concession is proven to be impossible."""
    head = MultiStage(ONE_NODE, PRICED)
    for task in SMALL_AND_LARGE[:40]:
        head.submit(task)
    window = Reservation("long", 20, 40, 140)
    (offer,) = head.offer(window)
    assert (offer.dimension, offer.least) == ("end", False)
    assert head.ask(offer.submission).accepted and 40 < offer.value <= 41
    words = "it takes more time than the bid prices allow, even in an idle system"
    assert str(head.why(window)) == words


def test_what_is_promised_before_is_loaded_whatever_the_price():
    """A long reservation after many short ones: no decision is made on it."""
    short = [Reservation(f"r{i}", i, i, i + 1, nodes=(0,)) for i in range(20)]
    long = Reservation("long", 20, 30, 10**6, nodes=(0,))
    head = MultiStage.of(Instance(ONE_NODE, (), (*short, long), now=25), PRICED)
    assert head.grants[-1].accepted and head.snapshot()["forecast"] == []


def test_a_book_that_was_saved_before_reservations_had_prices_is_restored():
    """Its forecast has tasks alone, without the fields that came later."""
    old = {"arrival": 0, "deadline": 10, "channel": 0, "nodes": 1}
    data = MultiStage(ONE_NODE, PRICED, now=20).snapshot()
    again = MultiStage.restore(data | {"forecast": [old] * 12})
    assert again.snapshot()["forecast"] == [old] * 12
    assert again.reserve(Reservation("r", 20, 20, 21)).accepted


def test_without_nodes_nothing_is_forecast():
    head = MultiStage(Cluster(2, 1, 1), PRICED)
    for index in range(12):
        head.submit(Task(f"t{index}", 0, 1, 9))
    forecast = head.snapshot()["forecast"]
    head.resources(fail=[0, 1])
    assert not head.submit(Task("none", 1, 1, 9)).accepted
    assert head.snapshot()["forecast"] == forecast
    head.resources(repair=[1])
    assert head.submit(Task("again", 1, F(1, 4), 9)).accepted
    assert len(head.snapshot()["forecast"]) == 13


def test_offers_are_made_for_reservations_only():
    head = MultiStage(ONE_NODE, PRICED)
    task, window = Task("a", 0, 3, 1), Reservation("r", 0, 2, 6)
    assert not head.submit(task).accepted
    for verb in (head.offer, head.why):
        with pytest.raises(NotApplicableError, match="no counter-offers to tasks: its prices"):
            verb(task)
    assert head.reserve(window).accepted
    other = Reservation("q", 0, 4, 8)
    assert [offer.dimension for offer in head.offer(other)] == ["start"]
    assert str(head.why(other)) == "too few of its nodes are free; in the way: reservation r"


@pytest.mark.parametrize("number", [F, float])
def test_a_restored_book_has_the_same_prices(number):
    instance = busy_stream(2)
    head = MultiStage(instance.cluster, PRICED, exact_numbers=number is F)
    requests = arriving(instance)
    for one in requests[:30]:
        decided(head, one)
    again = MultiStage.restore(json.loads(json.dumps(head.snapshot())))
    copied = copy.deepcopy(head)
    for one in requests[30:]:
        assert decided(head, one) == decided(again, one) == decided(copied, one)
    assert "price" in {decision.of for decision in head.decisions[-20:]}
    assert again.snapshot() == head.snapshot()


def test_a_book_goes_on_with_its_prices_after_a_cancellation():
    """Its planner is another one then; its forecast is the same."""
    head, other = (MultiStage(ONE_NODE, PRICED) for _ in range(2))
    for task in SMALL_AND_LARGE[:40]:
        assert head.submit(task) == other.submit(task)
    window = Reservation("r", SMALL_AND_LARGE[39].arrival, 500, 501)
    assert head.reserve(window).accepted and other.reserve(window).accepted
    head.cancel("r")
    answers = [(head.submit(task), other.submit(task)) for task in SMALL_AND_LARGE[40:]]
    assert all(one == two for one, two in answers)
    assert [one.of for one, _ in answers if one.task.startswith("large")] == ["price"] * 3


def test_a_forecast_is_for_prices_only():
    head = MultiStage(ONE_NODE, PRICED)
    head.submit(Task("a", 0, 3, 9))
    saved = head.snapshot() | {"algorithm": "multi-stage"}
    with pytest.raises(InvalidInstanceError, match="must have bid prices to have a forecast"):
        MultiStage.restore(saved)


def test_a_simulation_decides_as_the_engine():
    instance = busy_stream(0)
    head = decide_all(PRICED, instance)
    outcome = simulate_mixed(instance, PRICED, check=True)
    rejected = sum(not decision.accepted for decision in head.decisions)
    refused = sum(not grant.accepted for grant in head.grants)
    assert (outcome.method, outcome.violations, outcome.misses) == (PRICED, 0, 0)
    assert (outcome.rejected, outcome.refused) == (rejected, refused)


def test_a_queue_has_prices_of_its_own():
    instance = busy_stream(0)
    one, two = (MultiStage(instance.cluster, PRICED).planner for _ in range(2))
    assert isinstance(one.prices, BidPrices) and one.prices is not two.prices


def test_the_registered_method():
    entry = registry.method("multistage", PRICED)
    assert (entry.kind, entry.claim, entry.plan_class) == ("heuristic", "sound", "any")
