"""Programs of certificates of CPU shares: columns, costs and claims are those of the instance."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.formats.vipr.certificate import Certificate
from dlopt.problems.coreservation import (
    Instance,
    Machine,
    Part,
    Request,
    linear,
)
from dlopt.problems.coreservation.certified_program import ShareProgram
from tests.problems.coreservation_programs import (
    ACCEPTANCE,
    BENEFITS,
    COUNT,
    LATE,
    LEAST,
    NAMES,
    ONE,
    OTHER,
    RAISED,
    THIRD,
    TWO,
    WANTED,
    flaw_of,
)


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
