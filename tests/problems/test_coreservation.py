"""CPU shares: when requests are decided, what a share is worth, what a plan is worth."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.coreservation import (
    OBJECTIVES,
    Batch,
    Decision,
    Instance,
    Machine,
    Part,
    Request,
    Share,
    Solution,
    affine,
    batch_times,
    batches,
    benefit_at,
    default_objective,
    linear,
    objective,
    staircase,
    step,
)
from dlopt.problems.coreservation.usage_profile import UsageProfile
from tests.oracles_coreservation import pieces
from tests.strategies_coreservation import coreservation, lengths, planned, shapes

F = Fraction


def asked(*pairs, batch):
    """Return an instance of requests by arrival and start."""
    requests = tuple(
        Request(f"r{k}", arrival, start, 1000, 1, (Part(1),))
        for k, (arrival, start) in enumerate(pairs)
    )
    return Instance((Machine("m", 9),), requests, batch and Batch(batch))


@pytest.mark.parametrize(
    ("pairs", "batch", "times"),
    [
        ([(0, 60), (10, 90)], 50, [50, 50]),
        # what arrives at the event is for the next one
        ([(49, 200), (50, 200)], 50, [50, 100]),
        # a start before the event moves it forward, for all that wait; the next is 50 later
        ([(10, 200), (20, 45), (30, 200), (69, 200), (70, 200)], 50, [20, 20, 70, 70, 120]),
        # whoever arrives at that instant is decided then, too
        ([(20, 200), (20, 45), (20, 200), (21, 200)], 50, [20, 20, 20, 70]),
        # a start at the event is not before it
        ([(20, 50)], 50, [50]),
        # at the event itself, and before the next one
        ([(50, 50), (51, 200)], 50, [50, 100]),
        # long idle: events go on every 50
        ([(10, 400), (260, 400), (299, 400), (300, 400)], 50, [50, 300, 300, 350]),
        ([(F(1, 2), 400), (F(7, 3), 400)], F(1, 3), [F(2, 3), F(8, 3)]),
        ([(3, 3), (3, 9), (4, 9)], None, [3, 3, 4]),
    ],
)
def test_batches(pairs, batch, times):
    instance = asked(*pairs, batch=batch)
    assert list(batch_times(instance)) == times
    assert [at for at, members in batches(instance) for _ in members] == times
    assert [index for _, members in batches(instance) for index in members] == [*range(len(pairs))]


def by_the_clock(instance):
    """Return batch times by figure 4.1 as it runs: arrivals and events in the order of time."""
    interval, event, waiting, times = instance.batch.interval, instance.batch.interval, [], {}
    left = list(instance.requests)
    while left or waiting:
        if left and left[0].arrival < event:
            now = left[0].arrival
            together = [one for one in left if one.arrival == now]
            left = left[len(together) :]
            waiting += together
            if all(one.start >= event for one in together):
                continue
            event = now
        for one in waiting:
            times[one.id] = event
        waiting, event = [], event + interval
    return [times[one.id] for one in instance.requests]


@pytest.mark.property
@given(coreservation(requests=6), lengths)
def test_batch_times_are_those_of_the_clock(instance, interval):
    requests = instance.requests
    instance = Instance(instance.machines, requests, Batch(interval))
    times = batch_times(instance)
    assert list(times) == by_the_clock(instance)
    assert list(times) == sorted(times)
    assert all(
        one.arrival <= at <= one.start for one, at in zip(instance.requests, times, strict=True)
    )


@pytest.mark.parametrize(
    ("points", "worths"),
    [
        (step(), [0, 0, 0, 0, 1]),
        (linear(), [0, F(1, 4), F(1, 2), F(3, 4), 1]),
        (affine(F(1, 2)), [F(1, 2), F(5, 8), F(3, 4), F(7, 8), 1]),
        (staircase(2), [0, 0, F(1, 2), F(1, 2), 1]),
        (staircase(4), [0, F(1, 4), F(1, 2), F(3, 4), 1]),
    ],
)
def test_the_four_shapes(points, worths):
    assert [benefit_at(points, F(k, 4)) for k in range(5)] == worths
    assert benefit_at(points, -1) == 0 and benefit_at(points, 2) == 1
    assert benefit_at(points, F(1, 5)) <= worths[1]


def test_shapes_refuse_nonsense():
    for least in (2, -1, "a", None, float("nan"), True):
        with pytest.raises(InvalidInstanceError, match="least: must be a number between 0 and 1"):
            affine(least)
    for levels in (0, 2.5, "a", True):
        with pytest.raises(InvalidInstanceError, match="levels: must be an integer from 1, got"):
            staircase(levels)
    assert staircase(1) == step() and affine(0)[0] == (0, 0)


@pytest.mark.property
@given(shapes(), st.fractions(0, 1, max_denominator=12))
def test_a_benefit_is_that_of_its_piece(points, share):
    """The oracle's pieces hold the function, and the function never falls."""
    worth = benefit_at(points, share)
    part = Part(1, F(1, 12), points)
    found = [
        low + (high - low) * (share - begin) / (end - begin) if end > begin else low
        for begin, end, low, high in pieces(part)
        if begin <= share and (share < end or begin == end)
    ]
    if share >= F(1, 12):
        assert found[-1] == worth
    assert benefit_at(points, share / 2) <= worth <= benefit_at(points, 1)


CONFLICT = Instance(
    (Machine("m", 4), Machine("n", 4)),
    (Request("r1", 0, 0, 9, 10, (Part(4, 1, linear()),)), Request("r2", 0, 0, 9, 1, (Part(3),))),
)
BOTH = Solution(
    (Decision("r1", True, 0), Decision("r2", True, 0)),
    (Share("r1", 0, 0, 1), Share("r2", 0, 0, 3)),
)
ONE = Solution((Decision("r1", True, 0), Decision("r2", False, 0)), (Share("r1", 0, 0, 4),))


@pytest.mark.parametrize(
    ("name", "both", "one"),
    [
        ("benefit", F(7, 22), F(10, 11)),
        ("rejections", 0, 1),
        ("rejected-priority", 0, 1),
        ("benefit-then-rejections", (F(7, 22), 0), (F(10, 11), 1)),
        ("rejections-then-benefit", (0, F(7, 22)), (1, F(10, 11))),
        ("rejected-priority-then-benefit", (0, F(7, 22)), (1, F(10, 11))),
        ("rejections-then-machines", (0, 1), (1, 1)),
    ],
)
def test_objectives(name, both, one):
    assert objective(CONFLICT, BOTH, name) == both
    assert objective(CONFLICT, ONE, name) == one
    # the objectives are in conflict: what is better by one is worse by the other
    assert OBJECTIVES[name].better(both, one) == (not name.startswith("benefit"))
    assert default_objective(CONFLICT) == "benefit"


def test_an_unknown_objective():
    with pytest.raises(NotApplicableError, match="no objective 'profit'"):
        objective(CONFLICT, BOTH, "profit")


@pytest.mark.property
@given(planned(requests=4))
def test_a_plan_is_worth_between_nothing_and_all(case):
    instance, plan = case
    worth = objective(instance, plan)
    assert 0 <= worth <= 1
    total = sum(one.priority for one in instance.requests)
    rejected = objective(instance, plan, "rejected-priority")
    assert 0 <= rejected <= total and worth <= 1 - F(rejected) / F(total)


windows = st.tuples(st.integers(0, 9), st.integers(1, 5), st.integers(-4, 6)).map(
    lambda one: (one[0], one[0] + one[1], one[2])
)


@pytest.mark.property
@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 6)), max_size=3, unique_by=lambda p: p[0]),
    st.integers(0, 6),
    st.lists(windows.filter(lambda one: one[2] > 0), max_size=3),
    st.lists(windows, min_size=1, max_size=6),
    st.integers(0, 3),
)
def test_a_usage_profile_is_an_array(steps, first, held, added, limit):
    capacity = [(0, first), *sorted(steps)]
    profile = UsageProfile(capacity, held, added)
    instants = range(16)
    free = []
    for instant in instants:
        most = next(value for since, value in reversed(capacity) if since <= instant)
        taken = sum(cpu for start, end, cpu in held if start <= instant < end)
        free.append(max(most - taken, 0))
    load = [0] * len(instants)
    for start, end, cpu in added:
        profile.add(start, end, cpu)
        for instant in range(start, end):
            load[instant] += cpu
        over = [there - room for there, room in zip(load, free, strict=True)]
        for begin, until, _ in added:
            assert profile.peak(begin, until) == max(over[begin:until])
    last = max([0, *(since for since, _ in capacity), *(end for _, end, _ in (*held, *added))])
    told = {
        instant: peak
        for start, end, peak in profile.overloads(limit)
        for instant in range(start, end)
        if max(over[start:end]) == peak
    }
    assert set(told) == {instant for instant in range(last) if over[instant] > limit}
