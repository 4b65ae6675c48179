"""Bid-price control of CPU shares: the prices are dual values, and reject only what would fit."""

from __future__ import annotations

import copy
import json
import pickle
import random
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import CoReservation, solve
from dlopt.errors import NotApplicableError
from dlopt.generation.coreservation import min5
from dlopt.heuristics.coreservation.bid_prices import (
    FORECAST_REQUESTS,
    LEAST_FORECAST,
    MARGIN,
    STATE_WEIGHT,
    TARGET_LOAD,
    BidPrices,
    ForecastRequest,
    useful_shares,
)
from dlopt.problems.coreservation import (
    Instance,
    Machine,
    Part,
    Request,
    affine,
    batches,
    benefit_at,
    linear,
    staircase,
    step,
    violations,
)
from tests.examples import share
from tests.strategies_coreservation import parts

F = Fraction
few = share(0.2)
CHEAP = "less than the bid price of its CPU"
COPIES = [
    copy.deepcopy,
    lambda engine: pickle.loads(pickle.dumps(engine)),
    lambda engine: CoReservation.restore(json.loads(json.dumps(engine.snapshot()))),
]


@lru_cache
def busy_stream(seed: int, *, requests: int = 70, number=F) -> Instance:
    """Return a stream that asks for some three times the CPU of two machines."""
    rng, drawn = random.Random(seed), []
    for k in range(requests):
        start = k // 2 + rng.randint(0, 12)
        wanted = tuple(
            Part(
                number(F(rng.randint(2, 18), 2)),
                benefit=rng.choice((step(), step(), linear(), affine(F(1, 4)), staircase(2))),
                machine=rng.choice((None, None, None, 0)),
            )
            for _ in range(rng.randint(1, 2))
        )
        wanted = tuple(
            one if one.benefit == step() else replace(one, cpu_min=number(F(one.cpu) / 4))
            for one in wanted
        )
        window = number(F(start)), number(F(start + rng.randint(1, 6)))
        drawn.append(Request(f"r{k}", number(F(k // 2)), *window, rng.randint(1, 9), wanted))
    return Instance((Machine("a", number(F(10))), Machine("b", number(F(8)))), tuple(drawn))


def decided(instance: Instance, count: int | None = None) -> CoReservation:
    """Return the engine after the first batches of a stream."""
    engine = CoReservation.of(instance, "priced")
    for at, members in batches(instance)[:count]:
        engine.submit([instance.requests[index] for index in members], at=at)
    return engine


def prices_after(requests) -> BidPrices:
    """Return the prices after requests that are decided when they arrive."""
    prices = BidPrices()
    for one in requests:
        prices = prices.with_requests([one], one.arrival)
    return prices


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("number", [F, float])
def test_schedules_are_valid_and_some_requests_are_rejected_for_their_price(seed, number):
    instance = busy_stream(seed, number=number)
    engine = decided(instance)
    plan = engine.plan()
    assert violations(instance, plan) == ()
    reasons = [one.reason for one in plan.decisions if not one.accepted]
    assert sum(CHEAP in reason for reason in reasons) >= 5
    assert any(CHEAP not in reason for reason in reasons)
    assert {share.request for share in plan.shares} == {
        one.request for one in plan.decisions if one.accepted
    }


@pytest.mark.property
@few
@given(st.integers(0, 9), st.integers(1, 69))
def test_later_requests_change_no_earlier_decision(seed, count):
    instance = busy_stream(seed)
    early = decided(instance, count)
    known = len(early.decisions)
    assert decided(instance).decisions[:known] == early.decisions


@pytest.mark.property
@given(
    st.integers(0, 99), st.integers(11, 34), st.sampled_from(COPIES), st.sampled_from([F, float])
)
def test_copies_decide_the_same_later(seed, count, duplicate, number):
    """Also bit by bit in floats: the forecast is saved."""
    instance = busy_stream(seed, number=number)
    engine = decided(instance, count)
    twin = duplicate(engine)
    assert twin.snapshot() == engine.snapshot()
    for at, members in batches(instance)[count : count + 8]:
        batch = [instance.requests[index] for index in members]
        asked = engine.ask(batch, at=at)
        assert engine.submit(batch, at=at) == asked == twin.submit(batch, at=at)
    assert twin.snapshot() == engine.snapshot()


def test_snapshots_without_a_forecast_are_read():
    engine = decided(busy_stream(0), 20)
    assert len(engine.snapshot()["forecast"]) == 20
    data = {name: value for name, value in engine.snapshot().items() if name != "forecast"}
    assert CoReservation.restore(data).snapshot()["forecast"] == []
    assert CoReservation([Machine("m", 1)], "best-fit").snapshot()["forecast"] == []


@pytest.mark.property
@given(st.integers(0, 9), st.floats(0.1, 40), st.floats(0, 20))
def test_the_price_is_the_dual_value_of_the_fluid_program(seed, free, lead):
    """By definition: steps of a larger density fit, and with those of the same they do not."""
    asked = busy_stream(seed).requests
    prices = prices_after(asked)
    price = prices.price(free, 40, lead)
    later = sum(one.start - one.arrival < lead for one in asked) / len(asked)
    later_ones = sum(one.arrival > asked[0].arrival for one in asked)
    span = float(asked[-1].arrival - asked[0].arrival) * len(asked) / later_ones
    capacity = TARGET_LOAD * (40 * later) ** (1 - STATE_WEIGHT) * free**STATE_WEIGHT

    def taken(is_counted) -> float:
        steps = (step for one in prices.forecast for step in one.steps)
        return later / span * sum(one.amount for one in steps if is_counted(-one.negative_density))

    assert taken(lambda density: density > price) <= capacity * (1 + 1e-9)
    if price:
        assert taken(lambda density: density >= price) >= capacity * (1 - 1e-9)


def test_there_is_no_price_without_a_forecast():
    asked = busy_stream(0).requests
    assert BidPrices().price(0, 40, 9) == 0
    assert prices_after(asked[: LEAST_FORECAST - 1]).price(0, 40, 9) == 0
    assert BidPrices().with_requests(asked, 0).price(0, 40, 9) == 0  # in how long is not known
    assert prices_after(asked[:LEAST_FORECAST]).price(0, 40, 9) > 0


@pytest.mark.property
@few
@given(st.lists(st.integers(0, 60), max_size=20))
def test_prices_of_many_batches_are_those_of_all_requests(ends):
    """Requests are added one batch after the other, and the oldest ones are dropped."""
    asked = busy_stream(1, requests=60).requests
    shifts = [(one, 40 * k) for k in range(10) for one in asked]
    many = [
        replace(one, arrival=one.arrival + by, start=one.start + by, end=one.end + by)
        for one, by in shifts
    ]
    prices, last, seen = BidPrices(), 0, []
    for end in [*sorted(10 * end for end in ends), len(many)]:
        at = many[end - 1].arrival if end else 0
        known = many[max(0, end - FORECAST_REQUESTS) : end]
        margin = MARGIN * sum(float(one.end - one.start) for one in known) / max(1, len(known))
        seen += [ForecastRequest.of(one, at, margin) for one in many[last:end]]
        prices, last = prices.with_requests(reversed(many[last:end]), at), end
    whole = BidPrices(seen)
    assert len(whole.forecast) == FORECAST_REQUESTS and prices.forecast == whole.forecast
    assert prices.least_useful_room == whole.least_useful_room
    assert prices.margin == whole.margin == pytest.approx(margin)
    for free, lead in ((3, 4), (9, 9), (16, 12)):
        assert prices.price(free, 18, lead) == whole.price(free, 18, lead)


@pytest.mark.property
@given(parts(2), st.floats(0, 3))
def test_steps_are_the_best_share_at_every_price(part, price):
    """Twin: the largest surplus of all shares, on a fine grid."""
    request = Request("r", 0, 0, 1, 3, (part,))
    steps = ForecastRequest.of(request, 0, 0.5).steps  # of length 2 with its margins
    surplus = sum(max(0.0, (-one.negative_density - price) * one.amount) for one in steps)

    def gain(cpu) -> float:
        return 3 * float(benefit_at(part.benefit, F(cpu) / F(part.cpu))) - 2 * price * float(cpu)

    useful = max(0.0, *(gain(share.cpu) for share in useful_shares(part)))
    assert surplus == pytest.approx(useful, abs=1e-9)
    least, most = F(part.least), F(part.cpu)
    grid = [least + (most - least) * F(k, 24) for k in range(25)]
    assert useful >= max(map(gain, grid)) - 1e-9
    densities = [one.negative_density for one in steps]
    assert densities == sorted(densities) and all(one.amount > 0 for one in steps)


@pytest.mark.property
@share(0.1)
@given(st.integers(0, 9), st.integers(24, 69))
def test_what_is_offered_instead_is_accepted(seed, count):
    instance = busy_stream(seed)
    engine = decided(instance, count)
    refused = {one.request for one in engine.decisions if not one.accepted}
    late = [one for one in instance.requests if one.id in refused and one.start >= engine.now]
    for request in late[-2:]:
        again = replace(request, id="again", arrival=engine.now)
        assert (engine.why(again) is None) is engine.ask(again).accepted
        for offer in engine.offer(again):
            assert engine.ask(offer.submission).accepted
            assert not offer.least


def test_what_does_not_pay_its_price_on_idle_machines_conflicts_with_nothing():
    instance = busy_stream(3)
    engine = decided(instance)
    start = instance.requests[-1].arrival + 13
    poor = Request("poor", engine.now, start, start + 6, F(1, 999), (Part(7),))
    found = engine.why(poor)
    assert found is not None and found.parts == () and CHEAP in found.reason
    assert not engine.ask(poor).accepted
    rich = replace(poor, priority=99)
    assert engine.ask(rich).accepted


def test_a_promise_that_takes_no_more_is_not_asked_its_price_again():
    instance = busy_stream(3)
    engine = decided(instance)
    start = instance.requests[-1].arrival + 13
    rich = Request("rich", engine.now, start, start + 6, 99, (Part(7),))
    (decision,) = engine.submit([rich])
    assert decision.accepted and engine.change(replace(rich, priority=F(1, 999))).accepted
    smaller = replace(rich, priority=F(1, 999), parts=(Part(6),))
    assert engine.change(smaller).accepted
    decision = engine.change(replace(smaller, parts=(Part(8),)))
    assert not decision.accepted and CHEAP in decision.reason
    assert engine.change(replace(smaller, priority=99, parts=(Part(8),))).accepted


def test_allocations_follow_prices_and_no_rule():
    assert CoReservation([Machine("m", 1)], "priced", allocation="max").algorithm.priced
    for rule in ("full", "min"):
        with pytest.raises(NotApplicableError, match="priced chooses allocations by prices"):
            CoReservation([Machine("m", 1)], "priced", allocation=rule)


def test_the_benefit_is_larger_than_that_of_the_papers_algorithms():
    """Figure 5.9 of Min 2001 with 300 requests, on a seed on which nothing was chosen."""
    instance = min5(requests=300, seed=11)
    value = {name: solve(instance, name).value for name in ("co-rspb", "co-rsbfr", "priced")}
    assert value["priced"] > F(21, 20) * max(value["co-rspb"], value["co-rsbfr"])


def test_small_remnants_cost_half_their_price():
    """A part goes to the first machine on which it leaves nothing, or much."""
    engine = decided(busy_stream(3))
    start = engine.now + 40
    part = Part(6)
    for cpu, machine in ((6, 0), (8, 1)):  # 4 are left of 10, for others, and nothing of 8
        request = Request(f"of-{cpu}", engine.now, start, start + 1, 99, (replace(part, cpu=cpu),))
        (decision,) = engine.submit([request])
        assert decision.accepted
        (share,) = [one for one in engine.plan().shares if one.request == request.id]
        assert share.machine == machine
        engine.cancel(request.id)


@pytest.mark.parametrize(
    "part",
    [
        Part(F(1, 3), 0.1, linear()),
        Part(F(1, 3), 0.1, ((0, 0), (F(1, 3), F(1, 2)), (1, 1))),
        Part(0.7, F(1, 3), staircase(3)),
    ],
)
def test_shares_of_fractions_and_floats_are_no_larger_than_asked_for(part):
    assert all(F(part.least) <= F(one.cpu) <= F(part.cpu) for one in useful_shares(part))
    engine = CoReservation([Machine("a", 70)], "priced")
    engine.submit([Request("r", 0, 5, 15, 1, (part,))])
    assert engine.plan().shares[0].cpu == part.cpu
    assert CoReservation.restore(engine.snapshot()).snapshot() == engine.snapshot()


@pytest.mark.parametrize(
    "extreme",
    [
        Request("x", 0, 1, 1 + F(1, 10**400), 1, (Part(1),)),
        Request("x", 0, 1, 2, F(1, 10**400), (Part(1),)),
        Request("x", 0, 1, 2, 10**60, (Part(F(1, 10**50)),)),
        Request("x", 0, 1, 11, 1, (Part(10**100),)),
    ],
)
def test_forecasts_of_extreme_requests_are_saved(extreme):
    engine = CoReservation([Machine("a", 70)], "priced")
    engine.submit([extreme])
    assert CoReservation.restore(json.loads(json.dumps(engine.snapshot()))).ask(extreme)


def test_what_arrived_early_and_is_submitted_late_does_not_change_the_price():
    """The forecast counts the instants of decisions, which clients do not choose."""
    instance = busy_stream(3)
    engine = decided(instance)
    start = instance.requests[-1].arrival + 13
    poor = Request("poor", engine.now, start, start + 6, F(1, 999), (Part(7),))
    assert not engine.ask(poor).accepted and not engine.ask(replace(poor, arrival=0)).accepted
    engine.submit([replace(poor, arrival=0)])
    assert not engine.ask(replace(poor, id="again")).accepted


def test_the_order_in_a_batch_does_not_change_the_price():
    asked = busy_stream(2).requests
    batches_of_ten = [asked[k : k + 10] for k in range(0, len(asked), 10)]
    prices, mirrored = BidPrices(), BidPrices()
    for batch in batches_of_ten:
        prices = prices.with_requests(batch, batch[-1].arrival)
        mirrored = mirrored.with_requests(reversed(batch), batch[-1].arrival)
    assert prices.forecast == mirrored.forecast
    assert prices.price(3, 18, 9) == mirrored.price(3, 18, 9) > 0


def least_accepted(engine: CoReservation, request: Request) -> float:
    """Return the least priority with which a request would be accepted, by bisection."""
    low, high = 0.0, 99.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        if engine.ask(replace(request, priority=middle)).accepted:
            high = middle
        else:
            low = middle
    return high


def between_others(seed: int, length: int) -> tuple[CoReservation, Request]:
    """Return an engine of two equal machines, and a request for all of one of them.

    On the second machine others have everything before its window, and after it.
    """
    instance = replace(busy_stream(seed), machines=(Machine("a", 10), Machine("b", 10)))
    engine = decided(instance)
    start = engine.now + 40
    end = start + length
    for name, since, until in (("before", start - 9, start), ("after", end, end + 9)):
        neighbour = Request(name, engine.now, since, until, 999, (Part(10, machine=1),))
        assert engine.submit([neighbour])[0].accepted
    return engine, Request("between", engine.now, start, end, 99, (Part(10),))


@pytest.mark.parametrize("length", [1, 2, 6])
def test_a_share_next_to_others_is_cheaper_by_its_margins(length):
    """Windows that overlap it in part lose nothing: there is nothing next to it."""
    engine, request = between_others(3, length)
    alone, between = (
        least_accepted(engine, replace(request, parts=(Part(10, machine=machine),)))
        for machine in (0, 1)
    )
    windows = [float(one.end - one.start) for one in engine.requests]
    margin = MARGIN * sum(windows) / len(windows)
    assert alone / between == pytest.approx((length + 2 * margin) / length, rel=0.1)


def test_a_part_goes_to_the_machine_on_which_others_lose_least():
    engine, request = between_others(3, 2)
    assert engine.submit([request])[0].accepted
    (share,) = [one for one in engine.plan().shares if one.request == request.id]
    assert share.machine == 1
