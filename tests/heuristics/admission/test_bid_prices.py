"""Bid prices are optimal duals of the fluid program of the last arrivals."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.admission import bid_prices
from dlopt.heuristics.admission.bid_prices import (
    BidPrices,
    Demand,
    ForecastTask,
    ResourceTimes,
    critical_time,
)

F = Fraction


@st.composite
def weighted_times(draw):
    """Return what tasks take for a unit of weight, ascending, and in all."""
    pairs = draw(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4)), min_size=1, max_size=9))
    return sorted(Demand(F(time, weight), time) for time, weight in pairs)


IDLE = ResourceTimes(0, 0)
QUARTER = F(1, 4)


def most_accepted(needed, capacity):
    """Return the optimum of the fluid program: the cheapest tasks, the last of them in part."""
    weight, left = F(0), F(capacity)
    for per_weight, time, *_ in needed:
        share = min(F(1), left / time)
        weight, left = weight + share * time / per_weight, left - share * time
    return weight


@given(weighted_times(), st.integers(0, 50))
def test_the_price_is_an_optimal_dual_value(needed, capacity):
    """Weak duality bounds the optimum for every price; for this one with equality."""
    critical = critical_time(needed, capacity)
    price = 0 if critical is None else 1 / critical
    values = (max(0, time / per_weight - price * time) for per_weight, time, *_ in needed)
    assert price * capacity + sum(values) == most_accepted(needed, capacity)
    assert (critical is None) == (sum(one.time for one in needed) <= capacity)


@given(weighted_times(), st.integers(-9, 50), st.integers(0, 9))
def test_more_capacity_lowers_the_price(needed, capacity, more):
    before, after = critical_time(needed, capacity), critical_time(needed, capacity + more)
    assert after is None or (before is not None and before <= after)


def test_nothing_is_rejected_without_a_forecast():
    prices, unlimited = BidPrices(), BidPrices()
    for number in range(10):
        asked = ResourceTimes(99, 99)
        assert prices.excess(asked, asked, number) is None
        assert prices.horizon == 0
        prices.observe(ForecastTask(number, 1, ResourceTimes(1, 1)))
        unlimited.observe(ForecastTask(number, 0, ResourceTimes(1, 1)))
    assert prices.horizon == F(4, 5)
    assert prices.excess(asked, asked, 10) == 98
    assert unlimited.excess(asked, asked, 10) is None  # nobody could be in time


def forecast(*, channel=(), nodes=(), deadline=10):
    """Return prices after tasks that arrive at 0, 1, ... and take so much."""
    prices = BidPrices()
    for arrival, (one, other) in enumerate(zip(channel, nodes, strict=True)):
        prices.observe(ForecastTask(F(arrival), F(deadline), ResourceTimes(F(one), F(other))))
    return prices


def test_the_capacity_is_what_the_promises_leave():
    """Of 20 units the target is 28, of which promises of 4 in the horizon of 8 take 10."""
    prices = forecast(channel=(1, 3) * 10, nodes=(0, 0) * 10)
    assert sum((1, 3) * 10) > 28
    assert prices.excess(ResourceTimes(3, 0), IDLE, F(20)) is None
    assert prices.excess(ResourceTimes(F(7, 2), 0), IDLE, F(20)) == F(1, 2)
    assert prices.excess(ResourceTimes(3, 0), ResourceTimes(4, 0), F(20)) is None  # 18 are left
    busy = ResourceTimes(8, 0)
    assert prices.excess(ResourceTimes(1, 0), busy, F(20)) is None  # 8 are left
    assert prices.excess(ResourceTimes(3, 0), busy, F(20)) == 2
    for more in (9, 12, 10**9):  # than fills the horizon
        assert prices.excess(ResourceTimes(1, 0), ResourceTimes(more, 0), F(20)) is None
        assert prices.excess(ResourceTimes(3, 0), ResourceTimes(more, 0), F(20)) == 2


def test_each_resource_has_its_price():
    prices = forecast(channel=(0, 0) * 10, nodes=(1, 3) * 10)
    assert prices.excess(ResourceTimes(99, 3), IDLE, F(20)) is None
    assert prices.excess(ResourceTimes(0, 5), IDLE, F(20)) == 2
    assert prices.excess(ResourceTimes(99, 3), ResourceTimes(99, 0), F(20)) is None
    assert prices.excess(ResourceTimes(0, 3), ResourceTimes(0, 8), F(20)) == 2


def test_at_the_beginning_the_span_is_that_of_the_deadlines():
    """Ten tasks arrive at once: there is time until they are due. With twice as many it is half."""
    prices = BidPrices()
    for _ in range(10):
        prices.observe(ForecastTask(F(0), F(10), ResourceTimes(F(1), F(0))))
    assert prices.excess(ResourceTimes(9, 0), IDLE, 0) is None  # 10 of 14
    for _ in range(10):
        prices.observe(ForecastTask(F(0), F(10), ResourceTimes(F(1, 4), F(0))))
    assert prices.excess(ResourceTimes(9, 0), IDLE, 0) == 8  # 12.5 of 7
    assert prices.excess(ResourceTimes(9, 0), IDLE, 9) is None  # 12.5 of 12.6


def test_more_may_wait_where_tasks_that_wait_take_no_more():
    """The horizon of 8 but for two tasks of 2, so that the target is 3/2; a quarter, if twice."""
    prices, busy = forecast(channel=(1, 3) * 10, nodes=(0, 0) * 10), ResourceTimes(8, 0)
    asked = ResourceTimes(3, 0)
    over = [prices.excess(asked, busy, F(20), growth=one) for one in (None, 1, F(11, 10), 2)]
    assert over == [2, None, 2, 2]  # 8, 10, 8.3 and 8 are left for ten tasks of 1
    large = forecast(channel=(2, 4) * 10, nodes=(0, 0) * 10)  # two of 3 fill most of the horizon
    assert large.excess(ResourceTimes(4, 0), busy, F(20), growth=1) == 2


def test_a_heavy_task_may_take_more():
    """Twenty tasks of weight 2 take 3 units, as twenty of weight 1 take 1; of 40 units 56 count."""
    prices = BidPrices()
    for arrival in range(40):
        heavy = arrival % 2
        times = ResourceTimes(F(3 if heavy else 1), F(0))
        prices.observe(ForecastTask(F(arrival), F(10), times, F(1 + heavy)))
    assert [prices.excess(ResourceTimes(3, 0), IDLE, F(40), weight) for weight in (1, 2)] == [
        F(3, 2),
        None,
    ]
    assert prices.excess(ResourceTimes(4, 0), IDLE, F(40), F(2)) == 1
    light = forecast(channel=(1, 3) * 20, nodes=(0, 0) * 20)
    assert light.excess(ResourceTimes(3, 0), IDLE, F(40)) is None


def urgent(*, channel=QUARTER, nodes=QUARTER, deadline=1 + QUARTER, weight=1):
    """Return prices after 40 tasks that can wait for 1, one in each time unit."""
    prices = BidPrices()
    for arrival in range(40):
        times = ResourceTimes(F(channel), F(nodes))
        prices.observe(ForecastTask(F(arrival), F(deadline), times, F(weight)))
    return prices


def test_what_cannot_wait_is_blocked():
    """Of the 5 that are too early one server serves 5 / (1 + 5 / 4 / 6) = 120 / 29."""
    block = ResourceTimes(F(6), F(0))
    over = [urgent().excess(block, IDLE, F(40), F(weight)) for weight in (4, F(120, 29), 5)]
    assert over == [6 - 4 * 6 / F(120, 29), None, None]
    assert urgent(weight=2).excess(block, IDLE, F(40), F(8)) == over[0]
    assert urgent().excess(ResourceTimes(F(1), F(1)), IDLE, F(40)) is None  # they can wait


def test_only_the_channel_is_blocked_unless_a_task_has_all_nodes():
    asked = ResourceTimes(F(0), F(6))
    assert urgent().excess(asked, IDLE, F(40)) is None
    assert urgent().excess(asked, IDLE, F(40), all_nodes=True) == 6 - 6 / F(120, 29)


def weight_blocked(tasks, hold, free, span):
    """Return the expected weight of tasks that need more than `free` of the nodes, and too early.

    What of it the nodes would serve is left out, by Erlang's loss formula.
    """
    early = [
        (weight, needed, (hold - (deadline - needed)) / span)
        for deadline, needed, weight in tasks
        if needed > free * deadline and 0 <= deadline - needed < hold
    ]
    load = sum(needed * count for _, needed, count in early) / hold
    return sum(weight * count for weight, _, count in early) / (1 + load)


@given(
    tasks=st.lists(
        st.tuples(st.integers(1, 12), st.integers(1, 9), st.integers(1, 3)), min_size=1, max_size=20
    ),
    task=st.tuples(st.integers(1, 20), st.integers(1, 9), st.integers(1, 3)),
    since=st.integers(0, 40),
)
def test_a_task_blocks_what_needs_more_nodes_than_are_left(tasks, task, since):
    """On all nodes that is whatever cannot wait; on the fewest, what needs more than the others."""
    prices = BidPrices()
    for deadline, needed, weight in tasks:
        times = ResourceTimes(F(0), F(needed))
        prices.observe(ForecastTask(F(0), F(deadline), times, F(weight)))
    deadline, needed, weight = task
    asked = ForecastTask(F(since), F(deadline), ResourceTimes(F(0), F(needed)), F(weight))
    span = max(F(since), F(sum(one for one, _, _ in tasks), len(tasks)))
    smaller = sum(other for _, other, of in tasks if F(other, of) < F(needed, weight))
    free = 1 - F(needed, deadline) - smaller / span
    on_all = weight_blocked(tasks, F(needed), 0, span)
    on_fewest = weight_blocked(tasks, F(deadline), free, span)
    less = needed < deadline and on_fewest < on_all
    assert prices.blocks_less_on_fewest(asked) is less


def test_the_mean_share_of_nodes_that_tasks_need():
    assert BidPrices().mean_node_share == 0
    assert forecast(channel=(1, 3) * 10, nodes=(1, 3) * 10).mean_node_share == F(1, 5)
    assert forecast(channel=(1, 3), nodes=(20, 30)).mean_node_share == 1
    assert forecast(channel=(1,), nodes=(1,), deadline=0).mean_node_share == 0


@pytest.mark.parametrize(
    "other",
    [
        urgent(channel=0),  # they do not need it
        urgent(deadline=F(1, 5)),  # they are late anyway
        urgent(channel=6, deadline=7),  # they take as much
    ],
)
def test_what_is_not_lost_is_not_counted(other):
    assert other.excess(ResourceTimes(F(6), F(0)), IDLE, F(40)) is None


@pytest.mark.parametrize(("advance", "lost"), [(0, True), (4, True), (6, False)])
def test_a_reservation_is_blocked_only_before_it_is_requested(advance, lost):
    prices = BidPrices()
    for arrival in range(40):
        times = ResourceTimes(F(1, 4), F(0))
        prices.observe(ForecastTask(F(arrival), F(1, 4), times, advance=F(advance)))
    over = prices.excess(ResourceTimes(F(6), F(0)), IDLE, F(40), F(1))
    assert (over is not None) is lost


@pytest.mark.parametrize(
    ("advance", "starts", "accepted"),
    [
        (0, 0, False),  # 40 of 28 are asked for
        (2, 0, False),  # within the horizon of 8 three quarters are still to come: 30
        (3, 0, True),  # five eighths: 25
        (9, 0, True),  # all of them are promises, or were refused
        (3, 1, False),  # where they begin later more of them are to come
        (9, 4, True),
        (9, 9, False),
    ],
)
def test_reservations_are_forecast_as_far_as_they_are_still_to_come(advance, starts, accepted):
    prices = BidPrices()
    for arrival in range(20):
        times = ResourceTimes(F(0), F(2))
        prices.observe(ForecastTask(F(arrival), F(10), times, advance=F(advance)))
    over = prices.excess(ResourceTimes(F(0), F(3)), IDLE, F(20), advance=F(starts))
    assert over == (None if accepted else 1)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4)), min_size=12, max_size=20))
def test_prices_do_not_depend_on_the_unit_of_weight(tasks):
    plain, scaled = BidPrices(), BidPrices()
    for arrival, (time, weight) in enumerate(tasks):
        times = ResourceTimes(F(time), F(time, 2))
        plain.observe(ForecastTask(F(arrival), F(3), times, F(weight)))
        scaled.observe(ForecastTask(F(arrival), F(3), times, F(7 * weight)))
    for needed in (1, 4, 9):
        asked, now = ResourceTimes(F(needed), F(needed)), F(len(tasks))
        assert plain.excess(asked, IDLE, now, F(2)) == scaled.excess(asked, IDLE, now, F(14))


def test_nothing_is_rejected_for_a_rounding():
    """Where weights are loads, all take the same for a unit of weight, but for the last digit."""
    prices = BidPrices()
    loads = [0.1 + 0.37 * number for number in range(60)]
    for arrival, load in enumerate(loads):
        times = ResourceTimes(load * 0.7, load * 7.7 / 3)
        prices.observe(ForecastTask(float(arrival), 9.0, times, load))
    assert sum(loads) * 0.7 > 60 * 7 / 5  # there is a price
    for load in loads:
        times = ResourceTimes(load * 0.7, load * 7.7 / 3)
        assert prices.excess(times, IDLE, 60.0, load) is None


def test_the_oldest_arrivals_are_removed(monkeypatch):
    monkeypatch.setattr(bid_prices, "FORECAST_TASKS", 4)
    monkeypatch.setattr(bid_prices, "LEAST_FORECAST", 4)
    kept = forecast(channel=(9, 1, 9, 1, 2, 3, 1), nodes=(0, 5, 0, 9, 8, 1, 1))
    other = BidPrices()
    for arrival, one, two in ((3, 1, 9), (4, 2, 8), (5, 3, 1), (6, 1, 1)):
        other.observe(ForecastTask(F(arrival), F(10), ResourceTimes(F(one), F(two))))
    for busy in range(15):
        for needed in (1, 2, 3, 9):
            for state in (ResourceTimes(busy, 0), ResourceTimes(0, busy)):
                asked = ResourceTimes(needed, needed)
                assert kept.excess(asked, state, F(7)) == other.excess(asked, state, F(7))


@pytest.mark.parametrize("scale", [F(1, 7), 60])
def test_prices_do_not_depend_on_the_unit_of_time(scale):
    prices, scaled = forecast(channel=(1, 3) * 10, nodes=(2, 1) * 10), BidPrices()
    for arrival, (one, two) in enumerate(((1, 2), (3, 1)) * 10):
        found = ResourceTimes(one * scale, two * scale)
        scaled.observe(ForecastTask(arrival * scale, 10 * scale, found))
    for busy in range(15):
        asked, state = (F(5, 2), F(3, 2)), (busy, busy / F(2))
        over = prices.excess(ResourceTimes(*asked), ResourceTimes(*state), F(20))
        asked, state = ([scale * one for one in pair] for pair in (asked, state))
        again = scaled.excess(ResourceTimes(*asked), ResourceTimes(*state), 20 * scale)
        assert again == (None if over is None else scale * over)
