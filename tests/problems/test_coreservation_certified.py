"""The constraints of certificates of CPU shares: every plan satisfies what is accepted."""

from dataclasses import replace
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
    linear,
    objective,
    violations,
)
from dlopt.problems.coreservation.certified_capacity import FreeCapacity
from dlopt.problems.coreservation.certified_columns import ShareColumns
from dlopt.problems.coreservation.certified_program import ShareProgram
from dlopt.problems.coreservation.certified_rows import ShareRows
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


WANTED = Request("r", 0, 0, 4, 2, (Part(8, 2, linear()), Part(3)))
OTHER = Request("s", 1, 2, 6, 1, (Part(4, machine=0),))
TWO = Instance((Machine("m", 9), Machine("n", ((0, 8), (3, 6)))), (WANTED, OTHER))
ONE = Fraction(1)


def flaw_of(name, names, costs=None, rows=(), integers=(), claim=ONE, groups="01", **remarks):
    """Return the flaw of a program by its names."""
    columns = {label: column for column, label in enumerate(names)}
    constraints = tuple(
        (
            label,
            Constraint(
                {columns[n]: Fraction(a) for n, a in terms.items() if a}, sign, Fraction(side)
            ),
        )
        for label, terms, sign, side in rows
    )
    certificate = Certificate(
        tuple(names),
        frozenset(columns[label] for label in integers),
        {columns[label]: Fraction(cost) for label, cost in (costs or {}).items()},
        constraints,
        claim,
        (),
        {key: str(value) for key, value in remarks.items()},
    )
    return ShareProgram(TWO, name, certificate, ONE, list(groups)).flaw()


ACCEPTANCE = ("x_0", "x_1")
LEAST = ("y_0_0_0_2_2", "y_0_0_1_2_2", "y_0_1_0_3_3", "y_0_1_1_3_3", "y_1_0_0_4_4")
NAMES = (*ACCEPTANCE, *LEAST)
COUNT = {"x_0": -1, "x_1": -1}
RAISED = (*ACCEPTANCE, "y_0_0_0_2_8", "r_0_0_0_2_8", "y_0_0_1_2_6", "r_0_0_1_2_6", *LEAST[2:])
THIRD = Fraction(1, 3)
LATE = ((0, 0), (Fraction(3, 4), 0), (Fraction(3, 4), 1), (1, 1))
BENEFITS = {
    "y_0_0_0_2_8": -THIRD / 4,
    "r_0_0_0_2_8": -THIRD / 8,
    "y_0_0_1_2_6": -THIRD / 4,
    "r_0_0_1_2_6": -THIRD / 8,
    "y_0_1_0_3_3": -THIRD,
    "y_0_1_1_3_3": -THIRD,
    "y_1_0_0_4_4": -THIRD,
}


@pytest.mark.parametrize(
    ("benefit", "capacity", "costs", "found"),
    [
        (linear(), 8, (Fraction(1, 4), Fraction(1, 8)), True),
        (linear(), 8, (0, Fraction(1, 6)), False),  # all at 8 units, and nothing at 2
        (linear(), 6, (0, Fraction(1, 4)), False),  # the same, where no more than 6 are free
        (linear(), 6, (Fraction(1, 4), Fraction(1, 8)), True),
        (LATE, 8, (0, Fraction(1, 6)), False),  # two thirds at 6 units
        (LATE, 8, (0, Fraction(1, 4)), True),
    ],
)
def test_what_is_offered_is_the_benefit_at_every_share(benefit, capacity, costs, found):
    wanted = Request("r", 0, 0, 4, 2, (Part(8, 2, benefit),))
    instance = Instance((Machine("m", capacity),), (wanted,))
    offers = {column: -Fraction(cost) for column, cost in enumerate(costs, 1)}
    names = "x_0", "y_0_0_0_2_8", "r_0_0_0_2_8"
    program = Certificate(names, frozenset(), offers, (), ONE, ())
    flaw = ShareProgram(instance, "benefit", program, ONE, ["0"]).flaw()
    assert (flaw is None) == found


@pytest.mark.parametrize("order", [1, -1])
def test_a_group_offers_what_its_largest_machine_has_room_for(order):
    """One machine has room for 8 of 8 units, the other for 6 of them."""
    instance = replace(TWO, machines=TWO.machines[::order], requests=(WANTED,))
    for high, found in ((8, None), (6, "part 0 of request 0 may have more benefit on group 0")):
        names = "x_0", f"y_0_0_0_2_{high}", f"r_0_0_0_2_{high}", "y_0_1_0_3_3"
        costs = {1: -ONE / 8, 2: -ONE / 16, 3: -ONE / 2}
        program = Certificate(names, frozenset(), costs, (), ONE, ())
        assert ShareProgram(instance, "benefit", program, ONE, ["0", "0"]).flaw() == found


def test_a_part_that_fills_a_machine_must_be_offered():
    instance = Instance((Machine("m", 8),), (Request("r", 0, 0, 4, 1, (Part(8),)),))
    for units, flaw in ((8, None), (9, "part 0 of request 0 may have more benefit on group 0")):
        names = "x_0", f"y_0_0_0_{units}_{units}"
        program = Certificate(names, frozenset(), {0: -ONE}, (), ONE, ())
        assert ShareProgram(instance, "rejections", program, ONE, ["0"]).flaw() == flaw


def test_requests_with_a_part_that_fits_nowhere_need_no_columns():
    requests = (*TWO.requests, replace(OTHER, id="t", parts=(Part(20), Part(1))))
    program = Certificate(NAMES, frozenset(), {0: -ONE, 1: -ONE}, (), ONE, ())
    instance = replace(TWO, requests=requests)
    assert ShareProgram(instance, "rejections", program, ONE, ["0", "1"]).flaw() is None


def test_each_piece_offers_its_benefit_up_to_the_next_one():
    split = tuple(f"{kind}_0_0_0_{ends}" for ends in ("2_5", "5_8") for kind in "yr")
    names = (*ACCEPTANCE, *split, *RAISED[4:])
    rest = {name: cost for name, cost in BENEFITS.items() if not name.endswith("_2_8")}
    for steep, found in ((8, None), (9, "part 0 of request 0 may have more benefit on group 0")):
        costs = (-THIRD / 4, -THIRD / steep, -THIRD * 5 / 8, -THIRD / 8)
        assert flaw_of("benefit", names, rest | dict(zip(split, costs, strict=True))) == found


def test_programs_that_are_those_of_the_instance():
    assert flaw_of("rejections", NAMES, COUNT, integers=NAMES) is None
    assert flaw_of("rejected-priority", NAMES, {"x_0": -2, "x_1": -1}) is None
    assert flaw_of("benefit", RAISED, BENEFITS) is None
    both = COUNT | {"x_0": -2, "x_1": -2}
    assert flaw_of("rejections-then-benefit", RAISED, both | BENEFITS) is None
    third = {"x_0": -3, "x_1": -3, "m_0": 1}
    assert flaw_of("rejections-then-machines", (*NAMES, "m_0"), third) is None
    levels = {"w": -1} | BENEFITS
    assert flaw_of("benefit-then-rejections", (*RAISED, "w"), levels, rejections=1) is None


@pytest.mark.parametrize(
    ("name", "change", "flaw"),
    [
        ("rejections", {"names": ("x_2", *NAMES)}, "x_2: the instance has no such column"),
        ("rejections", {"names": (*NAMES, "m_2")}, "m_2: the instance has no such column"),
        ("rejections", {"names": (*NAMES, "w")}, "w: the instance has no such column"),
        ("rejections", {"names": (*NAMES, "y_0_2_0_3_3")}, "y_0_2_0_3_3: the instance has no"),
        ("rejections", {"names": (*NAMES, "y_2_0_0_3_3")}, "y_2_0_0_3_3: the instance has no"),
        ("rejections", {"names": (*NAMES, "y_0_1_2_3_3")}, "y_0_1_2_3_3: the instance has no"),
        ("rejections", {"names": (*NAMES, "y_0_1_0_3_2")}, "y_0_1_0_3_2: the instance has no"),
        ("rejections", {"costs": {"x_0": -1}}, "request 1 does not count as it should"),
        ("rejections", {"costs": COUNT | {"x_0": -2}}, "request 0 does not count as it should"),
        ("rejections", {"names": ("x_0", *LEAST), "costs": {"x_0": -1}}, "request 1 may be acc"),
        ("rejections", {"names": NAMES[:-1]}, "part 0 of request 1 may have more benefit on gr"),
        ("rejections", {"costs": COUNT | {LEAST[0]: 1}}, "part 0 of request 0 may have more ben"),
        ("rejections", {"names": (*ACCEPTANCE, "y_0_0_0_3_3", *LEAST[1:])}, "part 0 of request 0"),
        (
            "rejections-then-machines",
            {"names": (*NAMES, "m_0"), "costs": {"x_0": -3, "x_1": -3, "m_0": 2}},
            "a machine counts for more",
        ),
        (
            "benefit",
            {"names": (*RAISED, "m_0"), "costs": BENEFITS | {"m_0": 1}},
            "a machine counts for",
        ),
        ("benefit", {"integers": ("r_0_0_0_2_8",)}, "shares need not be integers"),
        (
            "rejections-then-benefit",
            {"costs": {"x_0": -2, "x_1": -2}},
            "part 0 of request 0 may have more benefit on group 0",
        ),
        (
            "benefit",
            {"costs": BENEFITS | {"r_0_0_1_2_6": -THIRD / 9}},
            "part 0 of request 0 may have more benefit on group 1",
        ),
        (
            "benefit",
            {"costs": BENEFITS | {"y_0_1_1_3_3": -THIRD / 2}},
            "part 1 of request 0 may have more benefit on group 1",
        ),
        (
            "benefit",
            {
                "names": tuple(n.replace("2_8", "2_7") for n in RAISED),
                "costs": {n.replace("2_8", "2_7"): c for n, c in BENEFITS.items()},
            },
            "part 0 of request 0 may have more benefit on group 0",
        ),
        ("benefit-then-rejections", {}, "it does not state the fewest rejections"),
        ("benefit-then-rejections", {"names": (*RAISED, "w")}, "it does not state the fewest"),
        ("benefit-then-rejections", {"rejections": 1}, "it does not state the fewest"),
        (
            "benefit-then-rejections",
            {"names": (*RAISED, "w"), "rejections": 1},
            "w does not cost -1",
        ),
        (
            "benefit-then-rejections",
            {"names": (*RAISED, "w"), "costs": BENEFITS | {"w": -2}, "rejections": 1},
            "w does not cost -1",
        ),
        (
            "benefit-then-rejections",
            {"names": (*RAISED, "w"), "costs": BENEFITS | {"w": -1}, "rejections": "1/2"},
            "it does not state the fewest",
        ),
    ],
)
def test_programs_that_are_not(name, change, flaw):
    default = (RAISED, BENEFITS) if "benefit" in name else (NAMES, COUNT)
    given = {"names": default[0], "costs": default[1]} | change
    assert (flaw_of(name, **given) or "").startswith(flaw)


@pytest.mark.parametrize(
    ("name", "claim", "value"),
    [
        ("rejections", Fraction(-4, 3), 1),
        ("rejected-priority", Fraction(-4, 3), Fraction(9, 2)),  # 7/2 of 9/2; a multiple of 3/2
        ("rejections-then-machines", Fraction(-9, 2), (0, 2)),
        ("rejections-then-machines", Fraction(-5, 2), (1, 1)),
        ("rejections-then-benefit", Fraction(-7, 3), (1, Fraction(1, 3))),
        ("rejected-priority-then-benefit", Fraction(-7, 3), (3, Fraction(1, 3))),
        ("benefit", Fraction(-2, 3), Fraction(2, 3)),
        ("benefit-then-rejections", Fraction(-2, 3), (Fraction(2, 3), 1)),
    ],
)
def test_a_claim_is_read_as_the_best_value_that_a_plan_can_have(name, claim, value):
    """Counts are integers, and sums of priorities multiples of their common step."""
    requests = (replace(WANTED, priority=3), replace(OTHER, priority=Fraction(3, 2)))
    instance = replace(TWO, requests=requests)
    program = Certificate(("w",), frozenset(), {}, (), claim, (), {"rejections": "1"})
    assert ShareProgram(instance, name, program, ONE, ["0", "1"]).value(claim) == value


PARTS = {"y_0_0_0_2_8": 1, "y_0_0_1_2_6": 1, "x_0": -1}
LOAD = {"y_0_0_0_2_8": 2, "r_0_0_0_2_8": 1, "y_0_1_0_3_3": 3}
LEVEL_0 = {name: -cost for name, cost in BENEFITS.items()}


@pytest.mark.parametrize(
    ("row", "flaw"),
    [
        (("accepted_0_0_G", PARTS, 1, 0), None),
        (("accepted_0_0_L", PARTS, -1, 0), None),
        (("accepted_0_0", PARTS, -1, -1), "a part may be elsewhere"),
        (("accepted_0_0", PARTS | {"x_0": -2}, 1, 0), "a part may be elsewhere"),
        (("accepted_0_0", {"y_0_0_0_2_8": 1, "x_0": -1}, 1, 0), "a part may be elsewhere"),
        (("accepted_0_0", PARTS | {"y_1_0_0_4_4": 1}, -1, 0), "a part may be elsewhere"),
        (("accepted_0_2", {"x_0": -1}, 1, 0), "there is no such part"),
        (("accepted_0", PARTS, 1, 0), "its name does not say what it is about"),
        (("accepted_0_0_0", PARTS, 1, 0), "its name does not say what it is about"),
        (("piece_0_0_0_2_8", {"r_0_0_0_2_8": 1, "y_0_0_0_2_8": -6}, -1, 0), None),
        (("piece_0_0_0_2_8", {"r_0_0_0_2_8": 1, "y_0_0_0_2_8": -5}, -1, 0), "the increment may be"),
        (("piece_0_0_0_2_8", {"r_0_0_0_2_8": 1, "x_0": -6}, -1, 0), "it is not about an"),
        (("piece_0_0_0_2_8", {"r_0_0_0_2_8": 2, "y_0_0_0_2_8": -6}, -1, 0), "the increment may be"),
        (("piece_0_0_0_2_8", {"r_0_0_0_2_8": 1}, -1, 0), "the increment may be larger"),
        (("piece_0_0_0_2_8", {"r_0_0_0_2_8": 1, "y_0_0_0_2_8": -6}, -1, -1), "its right-hand"),
        (("piece_0_0_0_2_8", {"r_0_0_0_2_8": 1, "y_0_0_0_2_8": -6}, 1, 0), "it has the wrong"),
        (("piece_0_0_0_2_8", {"r_0_0_0_2_8": 1, "y_0_0_0_2_8": -6}, 0, 0), "it has the wrong"),
        (("piece_0_0_0_2_8", {"r_0_0_0_2_8": 1, "y_0_0_0_2_8": 1}, -1, 6), "the increment may be"),
        (("piece_0_0_0_2_8", {"r_0_0_0_2_8": -1, "y_0_0_0_2_8": 1}, -1, 0), "the increment may be"),
        (("piece_0_1_0_3_3", {"y_0_1_0_3_3": 1}, -1, 1), "it is not about an"),
        (("piece_9_0_0_2_8", {}, -1, 0), "it is not about an"),
        (("capacity_0_0", LOAD, -1, 9), None),
        (("capacity_0_0", LOAD, -1, 8), "the machines may hold more"),
        (("capacity_0_0", LOAD, 0, 9), "it has the wrong direction"),
        (("capacity_0_0", LOAD | {"y_0_0_0_2_8": 3}, -1, 9), "it counts a part for more"),
        (("capacity_0_0", LOAD | {"r_0_0_0_2_8": 2}, -1, 9), "it counts a part for more"),
        (("capacity_0_0", LOAD | {"y_0_1_0_3_3": 4}, -1, 9), "it counts a part for more"),
        (("capacity_0_0", LOAD | {"y_1_0_0_4_4": 4}, -1, 9), "it counts what is not there"),
        (("capacity_0_0", LOAD | {"y_0_1_1_3_3": 3}, -1, 9), "it counts what is not there"),
        (("capacity_0_0", LOAD | {"x_1": 1}, -1, 9), "it counts what is not there"),
        (("capacity_0_3", LOAD | {"y_1_0_0_4_4": 4}, -1, 9), "it counts what is not there"),
        (("capacity_0_1", LOAD | {"y_1_0_0_4_4": 4}, -1, 9), None),
        (("capacity_2_0", LOAD, -1, 9), "there is no such group or instant"),
        (("capacity_0_5", LOAD, -1, 9), "there is no such group or instant"),
        (("capacity_0_0", LOAD | {"m_0": -9}, -1, 0), None),
        (("capacity_0_0", LOAD | {"m_0": -8}, -1, 0), "a machine that is used may hold more"),
        (("capacity_0_0", LOAD | {"m_0": 1}, -1, 9), "it counts what is not there"),
        (("count_0_0_2", {"y_0_0_0_2_8": 1, "y_0_1_0_3_3": 1}, -1, 4), None),
        (("count_0_0_2", {"y_0_0_0_2_8": 1, "y_0_1_0_3_3": 1}, -1, 3), "the machines may hold"),
        (("count_0_0_2", {"y_0_0_0_2_8": 2, "y_0_1_0_3_3": 1}, -1, 4), "it counts a part for"),
        (("count_0_0_2", {"y_0_0_0_2_8": 1, "y_0_1_0_3_3": 2}, -1, 4), "it counts a part for"),
        (("count_0_0_2", {"r_0_0_0_2_8": 1}, -1, 4), "it counts a part for more than it takes"),
        (("count_0_0_0", LOAD, -1, 9), "it is divided by 0"),
        (("x_0_L", {"x_0": 1}, -1, 1), None),
        (("x_0_L", {"x_0": 1}, -1, 0), "a variable may be smaller or larger"),
        (("x_0_G", {"x_0": 1}, 1, 1), "a variable may be smaller or larger"),
        (("x_0_G", {"x_0": 1}, 0, 0), "a variable may be smaller or larger"),
        (("x_0_G", {"x_0": 1}, 0, 1), "a variable may be smaller or larger"),
        (("x_0_G", {"x_0": -1}, 1, 0), "it is no bound of a variable"),
        (("r_0_0_1_2_6_L", {"r_0_0_1_2_6": 1}, -1, 4), None),
        (("r_0_0_1_2_6_L", {"r_0_0_1_2_6": 1}, -1, 3), "a variable may be smaller or larger"),
        (("level_0", LEVEL_0 | {"w": Fraction(-1, 2)}, 1, 0), None),
        (("level_0", LEVEL_0 | {"w": -1}, 1, 0), "a plan that improves a level may reach less"),
        (("level_0", LEVEL_0, 1, 1), "there is no such level"),
        (("level_0", LEVEL_0 | {"w": Fraction(-1, 2)}, -1, 0), "there is no such level"),
        (("level_0", LEVEL_0 | {"r_0_0_0_2_8": 0}, 1, 0), "it leaves out what a plan reaches"),
        (("level_0", LEVEL_0 | {"y_0_1_0_3_3": 0}, 1, 0), "it leaves out what a plan reaches"),
        (("level_0", LEVEL_0 | {"x_0": -1}, 1, 0), "it leaves out what a plan reaches"),
        (("level_0", {"w": Fraction(-1, 2)}, 1, 0), "it leaves out what a plan reaches"),
        (("level_1", {"x_0": 1, "x_1": 1, "w": -2}, 1, 0), None),
        (("level_1", {"x_0": 1, "x_1": 1, "w": -3}, 1, 0), "a plan that improves a level may"),
        (("level_1", {"x_0": 1, "w": -2}, 1, 0), "it leaves out what a plan reaches"),
        (("level_2", {"w": -1}, 1, 0), "there is no such level"),
        (("row_0", {"x_0": 1}, -1, 1), "it is no constraint of the plans"),
    ],
)
def test_rows_that_hold_and_rows_that_may_not(row, flaw):
    names = (*RAISED, "m_0", "w")
    costs = BENEFITS | {"w": -1}
    name = "benefit-then-rejections"
    found = flaw_of(name, names, costs, rows=(row,), claim=-ONE / 2, rejections=1)
    assert found == flaw or (flaw and found.startswith(f"{row[0]}: {flaw}")), found


def test_levels_are_those_of_an_objective_that_has_them():
    row = ("level_0", {"x_0": 1}, 1, 0)
    assert "there is no such level" in flaw_of("rejections", NAMES, COUNT, rows=(row,))


@pytest.mark.parametrize(("cpu", "together"), [(7, 9), (8, 17)])
def test_a_group_holds_what_the_machines_hold_that_are_large_enough(cpu, together):
    large = ("y_0_0_0_8_8", "y_0_1_0_3_3", "y_1_0_0_4_4")
    one = Request("r", 0, 0, 4, 2, (Part(8), Part(3)))
    instance = Instance((Machine("m", 9), Machine("n", cpu)), (one, OTHER))
    costs = {0: -ONE, 1: -ONE}

    def flaw(side):
        rows = (("capacity_0_0", Constraint({2: Fraction(8)}, -1, Fraction(side))),)
        program = Certificate((*ACCEPTANCE, *large), frozenset(), costs, rows, ONE, ())
        return ShareProgram(instance, "rejections", program, ONE, ["0", "0"]).flaw()

    assert flaw(together) is None
    assert flaw(together - 1) == "capacity_0_0: the machines may hold more"


def flaw_of_group(names, rows):
    """Return the flaw of rows, where both machines are one group; it has no other flaw."""
    program = Certificate(names, frozenset(), {}, rows, ONE, ())
    columns = ShareColumns(TWO, program, ONE, "00", with_levels=False)
    assert not columns.unknown
    return ShareRows(columns, FreeCapacity(TWO)).flaw()


@pytest.mark.parametrize(
    ("terms", "together"),
    [
        ({0: 9}, 9),  # n has 8
        ({0: 9, 4: 9}, 9),
        ({0: 9, 3: 3}, 17),
        ({1: 2, 2: 1}, 17),
    ],
)
def test_small_parts_may_be_on_all_machines_of_a_group(terms, together):
    names = ("y_0_0_0_9_9", "y_0_0_0_2_8", "r_0_0_0_2_8", "y_0_1_0_3_3", "y_0_1_0_9_9")

    def flaw(side):
        coefficients = {column: Fraction(a) for column, a in terms.items()}
        row = "capacity_0_0", Constraint(coefficients, -1, Fraction(side))
        return flaw_of_group(names, (row,))

    assert flaw(together) is None
    assert flaw(together - 1) == "capacity_0_0: the machines may hold more"


@pytest.mark.parametrize(
    ("piece", "length"), [("2_8", 6), ("2_20", 7), ("9_20", 0), ("10_12", 0), ("20_30", 0)]
)
def test_an_increment_is_as_long_as_the_largest_machine_of_a_group_allows(piece, length):
    """Of the two machines one has room for 9 units, the other for 6."""
    names = (f"y_0_0_0_{piece}", f"r_0_0_0_{piece}")

    def flaw(side):
        row = f"{names[1]}_L", Constraint({1: ONE}, -1, Fraction(side))
        return flaw_of_group(names, (row,))

    assert flaw(length) is None
    assert flaw(length - 1) == f"{names[1]}_L: a variable may be smaller or larger"


def test_rows_of_requests_without_a_column_are_refused():
    """One that fits nowhere needs none, and no row may be about it."""
    row = "accepted_0_0", Constraint({0: ONE}, 1, Fraction(0))
    assert flaw_of_group(("y_0_0_0_2_8",), (row,)) == "accepted_0_0: there is no such part"
