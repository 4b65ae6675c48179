"""Parts that accept nothing, by hand: what each algorithm gives them."""

from fractions import Fraction

import pytest

from dlopt import solve
from dlopt.heuristics.coreservation.engine import CoReservation
from dlopt.problems.coreservation import (
    Batch,
    Instance,
    Machine,
    Part,
    Request,
    linear,
    staircase,
    violations,
)

F = Fraction
MACHINES = (Machine("m", 10), Machine("away", ((0, 9), (5, 0))))


def asked(name, *parts, priority=1, start=2, end=8):
    return Request(name, 0, start, end, priority, parts)


def shares(instance, name, **options):
    plan = solve(instance, name, **options).solution
    assert violations(instance, plan) == ()
    return [(one.request, one.part, one.machine, one.cpu) for one in plan.shares]


BATCH = Instance(
    MACHINES,
    (
        asked("hard", Part(7), priority=3),
        asked("soft", Part(8, 0, linear()), Part(4, 0, linear(), machine=1)),
    ),
    Batch(1),
)


@pytest.mark.parametrize(
    ("name", "soft"),
    [
        ("rb", []),  # all or nothing
        ("rspb", [3, 0]),
        ("co-rspb", [3, 0]),
        ("co-rsbf", [0, 0]),  # as little as is accepted
        ("co-rsbfr", [3, 0]),  # and then what is left
    ],
)
def test_what_is_left_is_taken_and_the_rest_is_a_share_of_nothing(name, soft):
    """The machine "away" has no room from 5 on; the part that must be there gets nothing of it."""
    found = shares(BATCH, name)
    assert found[0] == ("hard", 0, 0, 7)
    assert [(one[1], one[3]) for one in found[1:]] == list(enumerate(soft))
    assert all(one[2] == 1 for one in found if one[:2] == ("soft", 1))


def test_by_density_what_needs_nothing_comes_first_then_the_urgent_before_the_long():
    """It needs nothing, and takes all there is all the same, where more than the least is given."""
    requests = (
        asked("dense", Part(5), priority=100),
        asked("long", Part(6, 0, linear()), end=40),
        asked("short", Part(6, 0, linear()), end=3),
    )
    instance = Instance((Machine("m", 10),), requests, Batch(1))
    assert shares(instance, "best-fit", order="density") == [
        ("short", 0, 0, 6),
        ("long", 0, 0, 4),
    ]
    least = shares(instance, "best-fit", order="density", allocation="min")
    assert sorted(least) == [("dense", 0, 0, 5), ("long", 0, 0, 0), ("short", 0, 0, 0)]
    full = shares(instance, "best-fit", order="density", allocation="full")
    assert full[0] == ("dense", 0, 0, 5)  # by what is asked for: 100 of 5 before 1 of 6


def test_shares_without_benefit_are_trimmed_to_0():
    """Of a part of 4 with two steps, 2 have half the benefit; 1 has as much as none."""
    part = Part(4, 0, staircase(2))
    for free, cpu, trimmed in ((1, 1, 0), (3, 3, 2), (4, 4, 4)):
        instance = Instance((Machine("m", free),), (asked("a", part),), Batch(1))
        assert shares(instance, "co-rspb") == [("a", 0, 0, cpu)]
        assert shares(instance, "co-rspb", trim=True) == [("a", 0, 0, trimmed)]


def test_holding_nothing_can_be_cancelled_and_leaves_no_trace():
    engine = CoReservation([Machine("m", 0.0)], "co-rspb")
    (one,) = engine.submit([asked("a", Part(0.5, 0, linear()))])
    assert one.accepted and engine.plan().shares[0].cpu == 0
    assert engine.calendar.allocated(0, 0, 99) == ((0, 99, 0.0),)
    engine.cancel("a")
    assert engine.plan().shares == () and engine.decisions == ()
