"""Rows of certificates of CPU shares: every plan satisfies them, and both checkers know them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import check
from dlopt.arithmetic import exact
from dlopt.models.coreservation.proof_target import Target, groups_of_identical_machines
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.problems.coreservation import OBJECTIVES, objective
from dlopt.result import levels_of
from tests.examples import share
from tests.stated_rows import Statement, assert_rows_hold, rows_of
from tests.strategies_coreservation import planned


def place_of(program, part, group, units):
    """Return a place of a part for so many units, with the most benefit, and the units above."""
    found = []
    for place in program.places:
        if (place.part, place.group) == (part, group) and place.segment.low <= units:
            above, cost = Fraction(0), program.costs[place.chosen]
            if place.increment is not None:
                above = min(units - place.segment.low, program.upper[place.increment])
                cost += above * program.costs[place.increment]
            found.append((cost, -place.segment.low, place, above))
    *_, place, above = min(found, key=lambda one: one[:2])
    return place, above


def point_of(program, plan, is_better):
    """Return the columns of a plan; `w` is 1 if it is better than the claim."""
    scaled, point = program.scaled, {}
    numbers = {(scaled.requests[p.request].index, p.index): i for i, p in enumerate(scaled.parts)}
    of_request = {request.id: k for k, request in enumerate(scaled.instance.requests)}
    for one in plan.shares:
        part = numbers[of_request[one.request], one.part]
        units = exact(one.cpu) / scaled.unit
        place, above = place_of(program, part, program.groups[one.machine], units)
        point[place.chosen] = point[scaled.parts[part].request] = Fraction(1)
        if above:
            point[place.increment] = above
        if one.cpu and program.used:
            point[program.used[one.machine]] = Fraction(1)
    if is_better:
        point[program.improvement] = Fraction(1)
    return point


@st.composite
def statements(draw):
    instance, plan = draw(planned(machines=3))
    goal = draw(st.sampled_from(list(OBJECTIVES)))
    assert not check(instance, plan)
    scaled = ScaledInstance.from_instance(instance, goal)
    bounds = tuple(map(exact, levels_of(objective(instance, plan, goal))))
    is_better = goal == "benefit-then-rejections" and bounds[1] < len(instance.requests)
    is_better = is_better and draw(st.booleans())
    if is_better:  # than a claim of one more rejection
        bounds = (bounds[0], bounds[1] + 1)
    machines = len(instance.machines)
    groups = st.sampled_from(
        [list(range(machines)), [0] * machines, groups_of_identical_machines(scaled)]
    )
    target = Target.from_bounds(scaled, bounds)
    program = target.program(draw(groups))
    program.add_capacity()
    largest = list(map(float, program.upper))
    named = [*program.rows, *program.separated_cuts(largest), *program.knapsack_cuts(largest)]
    rows = [row for one in named for row in rows_of(*one[:4])]
    for column, (name, most) in enumerate(zip(program.names, program.upper, strict=True)):
        rows += rows_of(name, [(column, Fraction(1))], Fraction(0), most)
    remarks = {"unit": str(scaled.unit), "groups": " ".join(map(str, program.groups))}
    if target.levels is not None:
        remarks["rejections"] = str(target.levels[1])
    return Statement(
        instance,
        goal,
        remarks,
        tuple(program.names),
        frozenset(program.binaries),
        {column: cost for column, cost in enumerate(program.costs) if cost},
        target.cost,
        tuple(rows),
        point_of(program, plan, is_better),
    ), is_better


@pytest.mark.property
@share(1 / 2)
@given(statements(), st.integers(0, 2**32))
def test_plans_satisfy_the_rows_and_cost_what_is_claimed_of_them(drawn, seed):
    statement, is_better = drawn
    if is_better:
        assert statement.cost < statement.claim
    else:
        assert statement.cost <= statement.claim
    assert_rows_hold(statement, seed, 12)
