"""The checker of CPU shares, by mutation: corrupt a valid plan in each way, require that kind."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt.arithmetic import exact
from dlopt.problems.coreservation import (
    KINDS,
    Batch,
    Change,
    Decision,
    Holding,
    Instance,
    Machine,
    Part,
    Request,
    Share,
    Solution,
    batch_times,
    linear,
    violations,
)
from tests.oracles_coreservation import free
from tests.strategies_coreservation import planned

F = Fraction
INSTANCE = Instance(
    (Machine("m", ((0, 10), (20, 4))), Machine("n", 6)),
    (
        Request("a", 0, 6, 12, 2, (Part(6), Part(4, 1, linear(), machine=1))),
        Request("b", 3, 10, 25, 1, (Part(8, 2, linear()),)),
        Request("c", 4, 12, 14, 1, (Part(5),)),
    ),
    Batch(5),
    (Holding(1, 0, 7, 2),),
)
PLAN = Solution(
    (Decision("a", True, 5), Decision("b", True, 3), Decision("c", False, 5, "too much")),
    (Share("a", 0, 0, 6), Share("a", 1, 1, 4), Share("b", 0, 0, 4)),
)
STEPS = (
    Change("a", 0, 0, 6),
    Change("b", 0, 0, 2),
    Change("a", 1, 1, 4),
    Change("b", 0, 0, -2),
    Change("b", 0, 0, 4),
)
A, B, C = PLAN.decisions


def _with(plan, place, **changes):
    changed = replace(plan.shares[place], **changes)
    return replace(plan, shares=(*plan.shares[:place], changed, *plan.shares[place + 1 :]))


def found(tolerance=0, instance=INSTANCE, **changes):
    return violations(instance, replace(PLAN, **changes), tolerance)


def shares(place, **changes):
    """Return the shares with one of them changed."""
    return {"shares": _with(PLAN, place, **changes).shares}


def test_a_valid_plan():
    assert found() == () == found(changes=STEPS)


@pytest.mark.parametrize(
    ("kind", "changes", "text"),
    [
        ("undecided", {"decisions": (A, B)}, "undecided on request c"),
        ("duplicate-decision", {"decisions": (A, A, B, C)}, "duplicate-decision on request a by 2"),
        (
            "unknown-request",
            {"decisions": (A, B, C, Decision("d", False, 5))},
            "unknown-request on request d",
        ),
        (
            "unknown-request",
            {"shares": (*PLAN.shares, Share("d", 0, 0, 5))},
            "unknown-request on request d",
        ),
        (
            "wrong-decision-time",
            {"decisions": (A, replace(B, at=F(5, 2)), C)},
            "wrong-decision-time on request b at 5/2 by -1/2",
        ),
        (
            "wrong-decision-time",
            {"decisions": (replace(A, at=6), B, C)},
            "wrong-decision-time on request a at 6 by 1",
        ),
        ("part-missing", {"shares": PLAN.shares[1:]}, "part-missing on part 0 of request a"),
        (
            "duplicate-part",
            {"shares": (*PLAN.shares, Share("b", 0, 1, 2))},
            "duplicate-part on part 0 of request b by 2",
        ),
        (
            "unknown-part",
            {"shares": (*PLAN.shares, Share("b", 1, 1, 2))},
            "unknown-part on part 1 of request b",
        ),
        (
            "rejected-request-allocated",
            {"shares": (*PLAN.shares, Share("c", 0, 1, 5))},
            "rejected-request-allocated on request c in [12, 14] by 5",
        ),
        ("unknown-machine", shares(0, machine=2), "unknown-machine on part 0 of request a by 2"),
        ("unknown-machine", shares(2, machine=-1), "unknown-machine on part 0 of request b by -1"),
        (
            "wrong-machine",
            shares(1, machine=0, cpu=F(0)),
            "wrong-machine on part 1 of request a by 0",
        ),
        (
            "share-below-minimum",
            shares(2, cpu=F(3, 2)),
            "share-below-minimum on part 0 of request b by 1/2",
        ),
        (
            "share-above-maximum",
            shares(1, cpu=F(9, 2)),
            "share-above-maximum on part 1 of request a by 1/2",
        ),
        ("overload", shares(2, cpu=5), "overload on machine m in [10, 12] by 1"),
        ("overload", shares(2, cpu=5), "overload on machine m in [20, 25] by 1"),
        ("overload", shares(0, machine=1), "overload on machine n in [6, 12] by 6"),
        (
            "transient-overload",
            {"changes": (*STEPS[:3], STEPS[4], STEPS[3])},
            "transient-overload on machine m in [10, 25] by 2",
        ),
        (
            "history-mismatch",
            {"changes": STEPS[:3]},
            "history-mismatch on part 0 of request b, machine 0 by 2",
        ),
        (
            "history-mismatch",
            {"changes": (*STEPS, Change("a", 0, 7, 1))},
            "history-mismatch on part 0 of request a, machine 7 by -1",
        ),
        (
            "history-mismatch",
            {"changes": (*STEPS, Change("c", 0, 1, 1))},
            "history-mismatch on part 0 of request c, machine 1 by -1",
        ),
    ],
)
def test_each_corruption_is_told(kind, changes, text):
    told = found(**changes)
    assert kind in KINDS and text in [str(one) for one in told if one.kind == kind]


def test_kinds_are_all_seen():
    cases = test_each_corruption_is_told.pytestmark[0].args[1]
    assert {kind for kind, _, _ in cases} == set(KINDS)


def test_what_ends_at_an_instant_is_free_for_what_starts_then():
    two = tuple(Request(name, 0, s, s + 10, 1, (Part(70),)) for name, s in (("p", 10), ("q", 20)))
    instance = Instance((Machine("m", 100),), two)
    both = tuple(Share(name, 0, 0, 70) for name in "pq")
    plan = Solution(tuple(Decision(name, True, 0) for name in "pq"), both)
    assert violations(instance, plan) == ()
    longer = replace(instance, requests=(replace(two[0], end=F(41, 2)), two[1]))
    assert [str(one) for one in violations(longer, plan)] == [
        "overload on machine m in [20, 41/2] by 40"
    ]


def test_where_holdings_exceed_the_capacity_nothing_is_left_and_nothing_is_owed():
    crowded = replace(INSTANCE, holdings=(Holding(1, 0, 30, 9),))
    assert [str(one) for one in found(instance=crowded)] == [
        "overload on machine n in [6, 12] by 4"
    ]
    without = replace(crowded, requests=(replace(INSTANCE.requests[0], parts=(Part(6),)),))
    plan = Solution((A,), (Share("a", 0, 0, 6),))
    assert violations(without, plan) == ()


@pytest.mark.parametrize("scale", [1, 1000])
def test_tolerances_are_relative_to_what_is_asked_for(scale):
    part = Part(8 * scale, 2 * scale, linear())
    one = Request("r", 0, 10 * scale, 26 * scale, 1, (part,))
    instance = Instance((Machine("m", 4 * scale),), (one,))

    def kinds(cpu, at=0):
        plan = Solution((Decision("r", True, at),), (Share("r", 0, 0, cpu),))
        return {v.kind for v in violations(instance, plan, 1e-6)}

    slack = F(1, 10**6) + F(1, 2**46)
    below, above = 2 * scale * (1 - slack), 4 * scale + slack * 8 * scale
    longest = F(1, 10**6) * 16 * scale
    tiny = F(1, 10**30)
    assert kinds(below) == kinds(above) == kinds(4 * scale, longest) == set()
    assert kinds(below - tiny) == {"share-below-minimum"}
    assert kinds(above + tiny) == {"overload"}
    assert kinds(4 * scale, longest * (1 + F(1, 2**45))) == {"wrong-decision-time"}
    assert kinds(8 * scale * (1 + slack) + tiny) == {"overload", "share-above-maximum"}


def test_without_a_tolerance_nothing_is_forgiven():
    tiny = F(1, 10**30)
    assert {one.kind for one in found(**shares(2, cpu=4 + tiny))} == {"overload"}
    assert {one.kind for one in found(decisions=(replace(A, at=5 + tiny), B, C))} == {
        "wrong-decision-time"
    }
    assert {one.kind for one in found(**shares(1, cpu=4 + tiny))} == {
        "share-above-maximum",
        "overload",
    }


def test_one_unit_too_many_on_the_way_is_too_many():
    one = tuple(Request(name, 0, 0, 1, 1, (Part(1),)) for name in "ab")
    instance = Instance((Machine("m", 1),), one, Batch(1))
    plan = Solution((Decision("a", False, 0), Decision("b", True, 0)), (Share("b", 0, 0, 1),))
    steps = (Change("a", 0, 0, 1), Change("b", 0, 0, 1), Change("a", 0, 0, -1))
    (broken,) = violations(instance, replace(plan, changes=steps))
    assert str(broken) == "transient-overload on machine m in [0, 1] by 1"
    assert violations(instance, replace(plan, changes=(steps[0], steps[2], steps[1]))) == ()


@pytest.mark.property
@given(planned(requests=4))
def test_plans_that_fit_are_valid(case):
    instance, plan = case
    assert violations(instance, plan) == ()
    steps = tuple(Change(one.request, one.part, one.machine, one.cpu) for one in plan.shares)
    assert violations(instance, replace(plan, changes=steps)) == ()
    # in any other order, too, and by way of anything smaller
    small = [replace(change, cpu=F(change.cpu) / 3) for change in reversed(steps)]
    assert violations(instance, replace(plan, changes=(*small, *small, *small))) == ()


@pytest.mark.property
@given(planned(requests=4), st.data())
def test_every_corruption_of_any_plan_is_found(case, data):
    instance, plan = case
    assume(plan.shares)
    place = data.draw(st.integers(0, len(plan.shares) - 1))
    share = plan.shares[place]
    request = next(one for one in instance.requests if one.id == share.request)
    part = request.parts[share.part]
    tiny = F(1, 10**9)
    others = plan.shares[:place] + plan.shares[place + 1 :]
    decided = [one for one in plan.decisions if one.request != request.id]
    latest = dict(zip((one.id for one in instance.requests), batch_times(instance), strict=True))
    corrupted = {
        "part-missing": replace(plan, shares=others),
        "duplicate-part": replace(plan, shares=(*plan.shares, share)),
        "share-below-minimum": _with(plan, place, cpu=exact(part.least) - tiny),
        "share-above-maximum": _with(plan, place, cpu=exact(part.cpu) + tiny),
        "unknown-machine": _with(plan, place, machine=len(instance.machines)),
        "unknown-part": _with(plan, place, part=len(request.parts)),
        "undecided": replace(plan, decisions=tuple(decided)),
        "rejected-request-allocated": replace(
            plan, decisions=(*decided, Decision(request.id, False, 0))
        ),
        "wrong-decision-time": replace(
            plan, decisions=(*decided, Decision(request.id, True, latest[request.id] + tiny))
        ),
        "history-mismatch": replace(
            plan, changes=(Change(share.request, share.part, share.machine, share.cpu / 2),)
        ),
    }
    if part.machine is not None and len(instance.machines) > 1:
        corrupted["wrong-machine"] = _with(plan, place, machine=1 - part.machine)
    for kind, plan_ in corrupted.items():
        assert kind in {one.kind for one in violations(instance, plan_)}


@pytest.mark.property
@given(planned(requests=4))
def test_a_plan_overloads_exactly_where_there_is_too_little(case):
    """Every plan twice over, against a count at every instant at which anything changes."""
    instance, plan = case
    windows = {one.id: (one.start, one.end) for one in instance.requests}
    twice = replace(plan, shares=tuple(replace(one, cpu=2 * one.cpu) for one in plan.shares))
    told = [one for one in violations(instance, twice) if one.kind == "overload"]
    instants = {instant for window in windows.values() for instant in window}
    instants |= {since for machine in instance.machines for since, _ in machine.steps}
    instants |= {instant for one in instance.holdings for instant in (one.start, one.end)}
    for index, machine in enumerate(instance.machines):
        for instant in instants:
            load = sum(
                one.cpu
                for one in twice.shares
                if one.machine == index
                and windows[one.request][0] <= instant < windows[one.request][1]
            )
            over = load - free(instance, index, instant)
            there = [
                one
                for one in told
                if one.resource == f"machine {machine.id}" and one.start <= instant < one.end
            ]
            assert len(there) == (over > 0) and all(one.amount >= over for one in there)


def test_a_large_request_forgives_small_ones_nothing():
    wide = Request("w", 0, 0, 9, 1, (Part(1e9, machine=0),))
    small = [Request(name, 0, 0, 9, 1, (Part(1.0, machine=1),)) for name in "ab"]
    instance = Instance((Machine("m0", 1e9), Machine("m1", 1.0)), (wide, *small))
    decisions = tuple(Decision(name, True, 0) for name in "wab")
    held = (Share("w", 0, 0, 1e9), Share("a", 0, 1, 1.0), Share("b", 0, 1, 1.0))
    assert {one.kind for one in violations(instance, Solution(decisions, held), 1e-9)} == {
        "overload"
    }


def test_every_rule_that_a_share_breaks_is_listed():
    instance = Instance(
        (Machine("m", 9), Machine("n", 9)),
        (Request("r", 0, 0, 1, 1, (Part(8, 2, linear(), machine=0),)),),
    )

    def kinds(*given):
        plan = Solution((Decision("r", True, 0),), given)
        return sorted(one.kind for one in violations(instance, plan))

    assert kinds(Share("r", 1, 7, 1)) == ["part-missing", "unknown-machine", "unknown-part"]
    assert kinds(Share("r", 0, 7, 1)) == ["share-below-minimum", "unknown-machine", "wrong-machine"]
    assert kinds(Share("r", 0, 1, 10)) == ["overload", "share-above-maximum", "wrong-machine"]


def test_nothing_is_no_share_however_much_is_asked_for():
    """What is allowed below the least CPU is relative to that, not to the CPU."""
    part = Part(10**12, 1, linear())
    instance = Instance((Machine("m", 0.5),), (Request("r", 0, 0, 1, 1, (part,)),))
    for cpu in (0, -1, F(1, 2), 1 - F(1, 10**8)):
        plan = Solution((Decision("r", True, 0),), (Share("r", 0, 0, cpu),))
        assert [one.kind for one in violations(instance, plan, 1e-9)] == ["share-below-minimum"]
