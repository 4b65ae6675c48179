"""Rows of certificates of CPU shares: those of every plan are accepted, and no others."""

from fractions import Fraction

import pytest

from dlopt.formats.vipr.certificate import Certificate, Constraint
from dlopt.problems.coreservation import (
    Instance,
    Machine,
    Part,
    Request,
)
from dlopt.problems.coreservation.certified_capacity import FreeCapacity
from dlopt.problems.coreservation.certified_columns import ShareColumns
from dlopt.problems.coreservation.certified_program import ShareProgram
from dlopt.problems.coreservation.certified_rows import ShareRows
from tests.problems.coreservation_programs import (
    ACCEPTANCE,
    BENEFITS,
    COUNT,
    NAMES,
    ONE,
    OTHER,
    RAISED,
    TWO,
    flaw_of,
)

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
