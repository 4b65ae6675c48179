"""The constraints of certificates of CPU shares: every plan satisfies what is accepted."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.arithmetic import FLOATING, ROUNDING, exact
from dlopt.formats.vipr.certificate import Certificate, Constraint
from dlopt.models.coreservation.proof_program import ProofProgram
from dlopt.models.coreservation.proof_target import Target
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.problems.coreservation import (
    OBJECTIVES,
    Decision,
    Instance,
    Machine,
    Part,
    Request,
    Share,
    Solution,
    objective,
    violations,
)
from dlopt.problems.coreservation.certified_capacity import FreeCapacity
from dlopt.problems.coreservation.certified_program import ShareProgram
from dlopt.result import levels_of
from tests.examples import share
from tests.oracles_coreservation import free
from tests.strategies_coreservation import any_numbers, coreservation, planned


def point_of(instance, plan, program):
    """Return the values of all columns in a plan, but of `w`."""
    costs = dict(zip(program.names, program.costs, strict=True))
    index = {request.id: k for k, request in enumerate(instance.requests)}
    point = dict.fromkeys(program.names, Fraction(0))
    for decision in plan.decisions:
        if decision.accepted:
            point[f"x_{index[decision.request]}"] = Fraction(1)
    for held in plan.shares:
        units = exact(held.cpu) / program.scaled.unit
        if held.cpu and f"m_{held.machine}" in point:
            point[f"m_{held.machine}"] = Fraction(1)
        best = None
        start = f"{index[held.request]}_{held.part}_{program.groups[held.machine]}_"
        for name in program.names:
            if name.startswith(f"y_{start}"):
                low, high = map(int, name.split("_")[4:])
                extra = min(units - low, high - low)
                gain = -costs[name] - costs.get(f"r{name[1:]}", 0) * extra
                if low <= units and (best is None or gain > best[0]):
                    best = gain, name, extra
        _, name, extra = best
        point[name] = Fraction(1)
        if f"r{name[1:]}" in point:
            point[f"r{name[1:]}"] = extra
    return point


def program_of(draw, instance, plan, name):
    """Return a program over random groups, with all rows that count, and its target."""
    scaled = ScaledInstance.from_instance(instance, name)
    value = tuple(map(exact, levels_of(objective(instance, plan, name))))
    if name == "benefit-then-rejections":
        value = value[0], value[1] + draw(st.integers(0, 1))
    groups = [draw(st.integers(0, 1)) for _ in instance.machines]
    target = Target.from_bounds(scaled, value)
    program = ProofProgram(scaled, groups, target.weight, target.levels)
    program.add_capacity()
    for group, instant, places in program.loads:
        divisor = draw(st.integers(1, 9))
        program.rows.append(program.count_row(group, instant, places, divisor))
    return program, target


def stated(program, rows, claim, **remarks):
    """Return the program as a certificate states it, without steps."""
    columns = {name: column for column, name in enumerate(program.names)}
    constraints = [
        (name, Constraint({j: a for j, a in terms.items() if a}, sign, side))
        for name, terms, sign, side in rows
    ]
    costs = {columns[name]: c for name, c in zip(program.names, program.costs, strict=True) if c}
    return Certificate(
        tuple(program.names),
        frozenset(program.binaries),
        costs,
        tuple(constraints),
        claim,
        (),
        {key: str(value) for key, value in remarks.items()},
    )


def one_sided(program):
    """Return all rows as (name, terms, sign, side)."""
    rows = []
    for row in program.rows:
        terms = dict(row.terms)
        rows += [(row.name, terms, 1, row.lower)] if row.lower is not None else []
        rows += [(row.name, terms, -1, row.upper)] if row.upper is not None else []
    return rows


@pytest.mark.property
@share(1 / 2)
@given(st.data(), planned(), st.sampled_from(sorted(OBJECTIVES)))
def test_every_plan_is_a_point_with_its_value(data, found, name):
    instance, plan = found
    assert not violations(instance, plan)
    program, target = program_of(data.draw, instance, plan, name)
    point = point_of(instance, plan, program)
    cost = sum(c * point[name] for name, c in zip(program.names, program.costs, strict=True))
    assert cost == target.cost
    if target.levels is not None:
        better = target.levels[1] > objective(instance, plan, name)[1]
        point["w"] = Fraction(better)
    for _, terms, sign, side in one_sided(program):
        left = sum(a * point[program.names[j]] for j, a in terms.items())
        assert (left - side) * sign >= 0


@pytest.mark.property
@share(2)
@given(st.data(), planned(), st.sampled_from(sorted(OBJECTIVES)))
def test_no_plan_violates_what_is_accepted(data, found, name):
    """Some rows are altered: where they are accepted all the same, the plan satisfies them."""
    instance, plan = found
    draw = data.draw
    program, target = program_of(draw, instance, plan, name)
    rows = one_sided(program)
    for _ in range(draw(st.integers(0, 3)) if rows else 0):
        at = draw(st.integers(0, len(rows) - 1))
        label, terms, sign, side = rows[at]
        change = draw(st.sampled_from(("side", "term", "sign", "name", "column")))
        by = draw(st.sampled_from((Fraction(-1), Fraction(1), Fraction(1, 2), Fraction(-3))))
        if change == "side":
            side += by
        elif change == "sign":
            sign = -sign
        elif change == "name":
            label = rows[draw(st.integers(0, len(rows) - 1))][0]
        else:
            columns = [*terms] if change == "term" and terms else range(len(program.names))
            column = draw(st.sampled_from(list(columns)))
            terms = terms | {column: terms.get(column, 0) + by}
        rows[at] = label, terms, sign, side
    remarks = {} if target.levels is None else {"rejections": target.levels[1]}
    certificate = stated(program, rows, target.cost, **remarks)
    groups = [str(group) for group in program.groups]
    flaw = ShareProgram(instance, name, certificate, program.scaled.unit, groups).flaw()
    assert flaw is None or rows != one_sided(program)
    if flaw is None:
        point = point_of(instance, plan, program)
        if target.levels is not None:
            point["w"] = Fraction(target.levels[1] > objective(instance, plan, name)[1])
        for _, terms, sign, side in rows:
            left = sum(a * point[program.names[j]] for j, a in terms.items())
            assert (left - side) * sign >= 0


def test_a_machine_that_no_part_may_use_counts_in_its_group():
    """It has no column, so that what it has free counts whether it is used or not."""
    pinned = Request("r", 0, 0, 1, 1, (Part(1, machine=0),))
    instance = Instance((Machine("m", 1), Machine("other", 1)), (pinned,))
    name = "rejections-then-machines"
    scaled = ScaledInstance.from_instance(instance, name)
    program = ProofProgram(scaled, [0, 0], Fraction(3))
    program.add_capacity()
    rows = one_sided(program)
    certificate = stated(program, rows, Fraction(1))
    assert ShareProgram(instance, name, certificate, scaled.unit, ["0", "0"]).flaw() is None
    assert any(side == 1 and len(terms) == 2 for _, terms, _, side in rows)


@pytest.mark.property
@share(1 / 4)
@given(coreservation())
def test_free_cpu_is_what_holdings_leave(instance):
    capacity = FreeCapacity(instance)
    for machine in range(len(instance.machines)):
        for instant, amount in zip(capacity.instants, capacity.free[machine], strict=True):
            assert amount == free(instance, machine, instant)


@pytest.mark.property
@share(1 / 4)
@given(any_numbers())
def test_free_cpu_in_floats_is_what_the_models_range_over(instance):
    for name in ("rejections", "benefit"):
        scaled = ScaledInstance.from_instance(instance, name)
        largest = max(map(max, scaled.free))  # no more than all parts together need
        for exactly, row in zip(FreeCapacity(instance).free, scaled.free, strict=True):
            assert [min(amount // scaled.unit, largest) for amount in exactly] == list(row)


def test_free_cpu_in_floats_is_what_a_check_allows():
    """Three shares as small as it accepts, on a machine as overloaded as it accepts."""
    short = 1 - exact(FLOATING) - ROUNDING
    overload = exact(FLOATING) + 10**6 * ROUNDING  # the least CPU asked for is 1, the most 10^6
    whole = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(1.0),)) for k in range(3))
    large = Request("s", 0, 0, 1, 1, (Part(10**6),))

    def instance(capacity):
        return Instance((Machine("m", capacity),), (*whole, large))

    def found(share, capacity):
        decisions = [Decision(one.id, one is not large, 0) for one in (*whole, large)]
        shares = tuple(Share(one.id, 0, 0, share) for one in whole)
        plan = Solution(tuple(decisions), shares)
        return {one.kind for one in violations(instance(capacity), plan, FLOATING)}

    least = 3 * short - overload
    assert found(short, least) == set()
    assert found(short, least - Fraction(1, 10**15)) == {"overload"}
    assert found(short - Fraction(1, 10**15), least) == {"share-below-minimum"}
    assert FreeCapacity(instance(least)).free == [[3, 3]]
