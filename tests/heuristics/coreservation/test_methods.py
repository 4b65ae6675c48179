"""What holds of the algorithms on any instance."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Limits, Status, registry, solve
from dlopt.arithmetic import is_exact
from dlopt.errors import NotApplicableError
from dlopt.heuristics.coreservation import methods
from dlopt.heuristics.coreservation.algorithm_names import ALLOCATION_RULES, ORDERS, parse
from dlopt.problems.coreservation import (
    OBJECTIVES,
    Batch,
    Instance,
    Machine,
    Part,
    Request,
    affine,
    benefit_at,
    linear,
    objective,
    staircase,
    violations,
)
from dlopt.problems.validated_record import numbers_of
from tests.oracles_coreservation import optima, optimum
from tests.strategies_coreservation import coreservation

F = Fraction
SOUND = [
    entry.name
    for entry in registry.methods("coreservation")
    if entry.kind == "heuristic" and entry.claim == "sound"
]
BENIGN = [
    entry.name
    for entry in registry.methods("coreservation")
    if entry.kind == "heuristic" and entry.claim == "none"
]

PAPER = ("rb", "rspb", "co-rspb", "co-rsbf", "co-rsbfr")
OTHERS = sorted({*SOUND, *BENIGN} - {*PAPER, "portfolio"})
SCALED = ("rspb", "co-rsbfr", "worst-fit")


def accepted(plan):
    return {decision.request for decision in plan.decisions if decision.accepted}


@pytest.mark.property
@pytest.mark.parametrize(
    "names",
    [[name] for name in PAPER] + [OTHERS],
    ids=["rb", "rspb", "co-rspb", "co-rsbf", "co-rsbfr", "others"],
)
@given(coreservation(), st.data())
def test_no_rule_is_broken_and_no_optimum_beaten(names, instance, data):
    name = data.draw(st.sampled_from(names))
    found, best = solve(instance, name), optima(instance)
    plan = found.solution
    assert found.status is Status.FEASIBLE and found.violations == ()
    for goal in OBJECTIVES.values():
        assert not goal.better(objective(instance, plan, goal.name), best[goal.name])
    assert 0 <= found.value <= 1
    assert is_exact(numbers_of(plan))
    assert {share.request for share in plan.shares} == accepted(plan)
    for decision in plan.decisions:
        assert (decision.reason is None) == decision.accepted
    # the same again, whatever the objective
    assert solve(instance, name, objective="rejections").solution == plan


@pytest.mark.property
@given(coreservation(requests=2), st.sampled_from(sorted(OBJECTIVES)))
def test_the_portfolio_is_no_worse_than_the_fits_and_no_better_than_the_optimum(instance, name):
    goal, found = OBJECTIVES[name], solve(instance, "portfolio", objective=name)
    assert not goal.better(found.value, optimum(instance, name))
    one = solve(instance, "worst-fit", objective=name, order="ascending", trim=True)
    assert not goal.better(one.value, found.value)


@pytest.mark.property
@given(coreservation(), st.sampled_from(ORDERS), st.sampled_from(ALLOCATION_RULES), st.booleans())
def test_every_order_and_allocation_is_sound(instance, order, allocation, trim):
    for name in ("first-fit", "best-fit", "worst-fit"):
        options = {"order": order, "allocation": allocation, "trim": trim}
        found = solve(instance, name, **options)
        assert not OBJECTIVES["benefit"].better(found.value, optimum(instance))


@pytest.mark.property
@given(coreservation(hard=True, requests=5))
def test_rspb_of_hard_parts_is_rb_by_priority(instance):
    assert solve(instance, "rspb").solution == solve(instance, "rb", order="priority").solution


@pytest.mark.property
@given(coreservation(requests=5))
def test_what_is_named_after_the_papers_is_a_fit_in_an_order(instance):
    for name, options in (
        ("co-rspb", {"order": "priority"}),
        ("co-rsbf", {"order": "descending", "allocation": "min"}),
    ):
        assert solve(instance, name).solution == solve(instance, "best-fit", **options).solution


@pytest.mark.property
@given(coreservation(requests=5, together=True))
def test_in_one_batch_refining_accepts_the_same_and_gives_no_less(instance):
    plain, refined = solve(instance, "co-rsbf"), solve(instance, "co-rsbfr")
    trimmed = solve(instance, "co-rsbfr", trim=True)
    assert accepted(plain.solution) == accepted(refined.solution) == accepted(trimmed.solution)
    assert refined.value >= plain.value and trimmed.value >= plain.value


@pytest.mark.property
@given(coreservation(), st.integers(2, 5))
def test_units_of_time_and_cpu_do_not_matter(instance, factor):
    longer = replace(
        instance,
        machines=tuple(
            replace(
                one, capacity=tuple((since * factor, value / F(3)) for since, value in one.steps)
            )
            for one in instance.machines
        ),
        batch=instance.batch and Batch(instance.batch.interval * factor),
        holdings=tuple(
            replace(one, start=one.start * factor, end=one.end * factor, cpu=one.cpu / F(3))
            for one in instance.holdings
        ),
        requests=tuple(
            replace(
                one,
                arrival=one.arrival * factor,
                start=one.start * factor,
                end=one.end * factor,
                parts=tuple(
                    replace(part, cpu=part.cpu / F(3), cpu_min=part.least / F(3))
                    for part in one.parts
                ),
            )
            for one in instance.requests
        ),
    )
    for name in SCALED:
        here, there = solve(instance, name), solve(longer, name)
        assert here.value == there.value
        assert [share.cpu for share in here.solution.shares] == [
            3 * share.cpu for share in there.solution.shares
        ]


def floating(instance):
    """Return the instance in floats; windows stay exact so that batches are the same."""
    return replace(
        instance,
        machines=tuple(
            replace(one, capacity=tuple((since, value / 7.0) for since, value in one.steps))
            for one in instance.machines
        ),
        holdings=tuple(replace(one, cpu=one.cpu / 7.0) for one in instance.holdings),
        requests=tuple(
            replace(
                one,
                parts=tuple(
                    replace(part, cpu=part.cpu / 7.0, cpu_min=part.least / 7.0)
                    for part in one.parts
                ),
            )
            for one in instance.requests
        ),
    )


@pytest.mark.property
@given(coreservation(batched=False))
def test_floats_break_no_rule_by_a_single_bit(instance):
    """Capacities are kept without any tolerance, for all sums are exact."""
    instance = floating(instance)
    for name in SCALED:
        plan = solve(instance, name).solution
        assert violations(instance, plan) == ()
        trimmed = "trim" in {
            option.name for option in registry.method("coreservation", name).options
        }
        if trimmed:
            assert violations(instance, solve(instance, name, trim=True).solution) == ()


def one_batch(machines, *requests, batch=1):
    return Instance(
        tuple(Machine(f"m{j}", capacity) for j, capacity in enumerate(machines)),
        tuple(Request(f"r{k}", 0, 2, 9, p, parts) for k, (p, parts) in enumerate(requests)),
        batch and Batch(batch),
    )


def shares(instance, name, **options):
    plan = solve(instance, name, **options).solution
    return [(share.request, share.part, share.machine, share.cpu) for share in plan.shares]


@pytest.mark.parametrize(
    ("name", "machines"),
    [("first-fit", [0, 0, 1]), ("best-fit", [2, 1, 1]), ("worst-fit", [0, 1, 0])],
)
def test_fits(name, machines):
    """Parts of 7/2 on machines of 9, 7 and 4."""
    instance = one_batch((9, 7, 4), *[(1, (Part(F(7, 2)),))] * 3)
    assert [machine for _, _, machine, _ in shares(instance, name)] == machines


def test_the_lowest_load_is_an_average():
    """m0 is loaded more at the peak, m1 on average."""
    long = Request("long", 0, 2, 12, 1, (Part(3, machine=1),))
    short = Request("short", 0, 2, 4, 1, (Part(5, machine=0),))
    new = Request("new", 0, 2, 12, 1, (Part(2),))
    instance = Instance((Machine("m0", 9), Machine("m1", 9)), (long, short, new), Batch(1))
    assert shares(instance, "rspb")[-1] == ("new", 0, 0, 2)
    assert shares(instance, "worst-fit")[-1] == ("new", 0, 1, 2)


@pytest.mark.parametrize(
    ("order", "first"),
    [
        ("arrival", "r0"),
        ("priority", "r3"),
        ("density", "r2"),
        ("ascending", "r2"),
        ("descending", "r1"),
    ],
)
def test_orders(order, first):
    instance = one_batch(
        (9,), (2, (Part(7),)), (1, (Part(9),)), (3, (Part(5),)), (4, (Part(3), Part(4)))
    )
    assert shares(instance, "first-fit", order=order)[0][0] == first


def test_parts_without_a_choice_come_first_then_the_largest():
    parts = (Part(3), Part(5), Part(4, machine=0))
    assert shares(one_batch((9, 4), (1, parts)), "best-fit") == [
        ("r0", 0, 1, 3),
        ("r0", 1, 0, 5),
        ("r0", 2, 0, 4),
    ]


def test_what_a_part_takes():
    soft = Part(8, 2, linear())
    instance = one_batch((5, 6), (1, (soft,)))
    assert shares(instance, "best-fit") == [("r0", 0, 1, 6)]
    assert shares(instance, "best-fit", allocation="min") == [("r0", 0, 0, 2)]
    assert shares(instance, "best-fit", allocation="full") == []


def test_the_greatest_benefit_on_the_first_machine_that_gives_it():
    soft = Part(8, 2, staircase(2))
    assert shares(one_batch((3, 5, 6), (1, (soft,))), "co-rspb") == [("r0", 0, 1, 5)]
    assert shares(one_batch((3, 5, 6), (1, (soft,))), "co-rspb", trim=True) == [("r0", 0, 1, 4)]


@pytest.mark.parametrize(
    ("part", "given", "trimmed"),
    [
        (Part(8, 2, staircase(2)), 5, 4),
        (Part(8, 2, staircase(2)), 3, 2),
        (Part(8, 1, linear()), 5, 5),
        (Part(8, 1, affine(F(1, 2))), 5, 5),
        (Part(8, 1, ((0, 0), (F(1, 2), 1), (1, 1))), 8, 4),
        (Part(8, 6, ((0, 0), (F(1, 2), 1), (1, 1))), 8, 6),
        (Part(8.0, 1.0, ((0, 0), (F(1, 3), 0), (F(1, 3), 1), (1, 1))), 8.0, 2.666666666666667),
    ],
)
def test_trimming(part, given, trimmed):
    """A trimmed share is worth the same, and anything less is not."""
    instance = one_batch((given,), (1, (part,)))
    ((_, _, _, cpu),) = shares(instance, "co-rspb", trim=True)
    assert cpu == trimmed
    whole = F(part.cpu)
    worth = benefit_at(part.benefit, F(cpu) / whole)
    assert worth == benefit_at(part.benefit, F(given) / whole)
    less = F(cpu) - F(1, 2**40)
    assert cpu == part.least or benefit_at(part.benefit, less / whole) < worth


def test_a_share_above_every_capacity_is_a_rejection_with_its_reason():
    instance = one_batch((50, 70), (3, (Part(90),)), (2, (Part(60, machine=0),)), (1, (Part(60),)))
    plan = solve(instance, "co-rspb").solution
    assert [decision.reason for decision in plan.decisions] == [
        "part 0 needs 90, more than any machine has",
        "part 0 needs 60, more than machine m0 has",
        None,
    ]
    assert solve(instance, "co-rspb").reason == (
        "first rejection: request r0: part 0 needs 90, more than any machine has"
    )


def test_undoing_is_written_down():
    """The parts of r0 that found a place before the last one did not."""
    instance = one_batch((9,), (2, (Part(5), Part(4), Part(1))), (1, (Part(9),)))
    plan = solve(instance, "co-rspb").solution
    assert [(change.request, change.cpu) for change in plan.changes] == [
        ("r0", 5),
        ("r0", 4),
        ("r0", -5),
        ("r0", -4),
        ("r1", 9),
    ]
    assert solve(one_batch((9,), (1, (Part(9),))), "co-rspb").solution.changes == ()


def test_refining_moves_then_extends():
    """a moves to m1, where it has all; then b has all of m0."""
    a, b = Part(6, 2, linear()), Part(5, 2, linear(), machine=0)
    instance = one_batch((4, 6), (1, (a, b)))
    assert shares(instance, "co-rsbf") == [("r0", 0, 0, 2), ("r0", 1, 0, 2)]
    assert shares(instance, "co-rsbfr") == [("r0", 0, 1, 6), ("r0", 1, 0, 4)]


def test_a_part_is_extended_once_another_has_left():
    """b cannot grow while a is beside it; a leaves after b was looked at."""
    a, b = Part(6, 2, linear()), Part(4, 2, linear(), machine=0)
    instance = one_batch((4, 6), (1, (b, a)))
    assert shares(instance, "co-rsbfr") == [("r0", 0, 0, 4), ("r0", 1, 1, 6)]


def test_the_portfolio_takes_the_best_and_heeds_the_clock():
    instance = one_batch((10, 10, 10), *[(1, (Part(cpu),)) for cpu in (4, 4, 3, 3, 3, 3)])
    values = {
        solve(instance, name, order=order).value
        for name, order in product(("first-fit", "best-fit", "worst-fit"), ORDERS)
    }
    assert solve(instance, "portfolio").value == max(values) == 1
    assert solve(instance, "portfolio", limits=Limits(time_s=1e-9)).value == 1


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute 'second_fit'"):
        methods.second_fit  # noqa: B018
    with pytest.raises(NotApplicableError, match="unknown algorithm 'second-fit'"):
        parse("second-fit")
    with pytest.raises(NotApplicableError, match="unknown order 'random'"):
        parse("first-fit", order="random")
    with pytest.raises(NotApplicableError, match="unknown allocation 'half'"):
        parse("first-fit", allocation="half")
