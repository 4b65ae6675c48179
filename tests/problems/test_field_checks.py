"""Fields: what one may hold follows from its annotation."""

import array
import math
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.problems.field_checks import MOST_FAULTS
from tests.problems.sample_records import FINITE, LARGE, Part, Whole, faults_of

F = Fraction


class Level(IntEnum):
    LOW = 2


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("count", 0, "must be at least 1"),
        ("count", 10, "must be at most 9"),
        ("count", 1.0, "must be an integer"),
        ("count", "1", "must be an integer"),
        ("count", True, "must be an integer"),
        ("count", None, "must be an integer"),
        ("count", F(1), "must be an integer"),
        ("count", Decimal(1), "must be an integer"),
        ("count", math.nan, "must be an integer"),
        ("count", np.float64(1), "must be an integer"),
        ("count", np.True_, "must be an integer"),
        ("above", -3, "must be above -3"),
        ("number", math.nan, FINITE),
        ("number", -math.inf, FINITE),
        ("number", True, FINITE),
        ("number", np.False_, FINITE),
        ("number", np.float64("nan"), FINITE),
        ("number", np.complex128(1), FINITE),
        ("number", np.datetime64("2020-01-01"), FINITE),
        ("number", 1j, FINITE),
        ("number", None, FINITE),
        ("number", "one", FINITE),
        ("number", "1/0", FINITE),
        ("number", "1e400", FINITE),
        ("number", b"1", FINITE),
        ("number", Decimal("nan"), FINITE),
        ("number", Decimal("sNaN"), FINITE),
        ("number", Decimal("Infinity"), FINITE),
        ("number", Decimal("1e999999999"), FINITE),
        ("number", 10**400, FINITE),
        ("number", F(10**400, 3), FINITE),
        ("number", [1], FINITE),
        ("number", np.array([1]), FINITE),
        ("number", np.array([1.5]), FINITE),
        ("number", {}, FINITE),
        ("number", math.nextafter(1e100, math.inf), LARGE),
        ("number", -math.nextafter(1e100, math.inf), LARGE),
        ("number", int(1e100) + 1, LARGE),
        ("number", -int(1e100) - 1, LARGE),
        ("number", F(1e100) + F(1, 3), LARGE),
        ("number", F(-(10**110), 3), LARGE),
        ("number", "1e101", LARGE),
        ("maybe", 10**200, LARGE),
        ("costs", -(10**200), LARGE),
        ("costs", -1, "must not be negative"),
        ("costs", "-1/2", "must not be negative"),
        ("costs", F(-1, 10**110), "must not be negative"),
        ("costs", "x", FINITE),
        ("costs", None, FINITE),
        ("costs", {"a": 1}, FINITE),
        ("points", 1, "must be a list"),
        ("points", "12", "must be a list"),
        ("points", None, "must be a list"),
        ("few", (1,), "must be a list of at least 2"),
        ("few", [], "must be a list of at least 2"),
        ("few", 7, "must be a list"),
        ("few", {1: 2}, "must be a list"),
        ("main", 3, "must be an object with named fields"),
        ("main", [("size", 1)], "must be an object with named fields"),
        ("maybe", -1, "must not be negative"),
        ("maybe_list", 3, "must be a list"),
        ("maybe_costs", "x", FINITE),
        ("old_style", 1.5, "must be an integer"),
        ("text", 3, "must be a text"),
        ("text", None, "must be a text"),
        ("text", b"x", "must be a text"),
        ("choice", "up", "must be one of left, right"),
        ("choice", 0, "must be one of left, right"),
        ("choice", ["left"], "must be one of left, right"),
        ("choice", {"left"}, "must be one of left, right"),
    ],
    ids=lambda value: str(value)[:20] if len(str(value)) < 400 else "long",
)
def test_a_value_that_a_field_may_not_hold(field: str, value: object, rule: str) -> None:
    ((path, told, found),) = faults_of(**{field: value})
    assert (path, found) == (field, rule)
    assert told is value


@pytest.mark.parametrize("share", [F(1, 2), F(3, 4), F(1)])
def test_a_fraction_within_its_limits_is_accepted(share: Fraction) -> None:
    assert Part(1, share).share is share


@pytest.mark.parametrize(
    ("share", "rule"), [(F(1, 3), "must be at least 1/2"), (F(3, 2), "must be at most 1")]
)
def test_a_fraction_beyond_its_limits_is_refused(share: Fraction, rule: str) -> None:
    assert faults_of(main={"size": 1, "share": share}) == [("main.share", share, rule)]


def test_an_array_where_a_text_is_due_is_a_fault() -> None:
    value = np.array(["left", "right"])
    with pytest.raises(InvalidInstanceError, match=r"^choice: must be one of left, right, got \["):
        Whole(1, choice=value)


def test_extended_floats_are_refused_not_rounded() -> None:
    with pytest.raises(InvalidInstanceError, match="number: must be a finite number"):
        Whole(1, number=np.longdouble(1.5))


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3),
        (-2.5, -2.5),
        (F(1, 3), F(1, 3)),
        ("39/8", F(39, 8)),
        ("4", 4),
        ("0.1", F(1, 10)),
        (Decimal("0.1"), F(1, 10)),
        (Decimal("2.0"), 2),
        (Decimal("1E+3"), 1000),
        (np.float64(1.5), 1.5),
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
        (np.uint8(7), 7),
        (np.array(2), 2),
        (np.array(2.5), 2.5),
        (Level.LOW, 2),
        (1e100, 1e100),
        (10**100, 10**100),
        ("1e100", 10**100),
        (F(10**110, 10**10 + 1), F(10**110, 10**10 + 1)),
        (F(1, 10**110), F(1, 10**110)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("field", ["number", "maybe", "costs", "maybe_costs"])
def test_numbers_of_other_types_become_plain(field: str, value: Any, number: object) -> None:
    if field not in ("number", "maybe_costs"):
        value, number = abs(value) if not isinstance(value, str) else value, abs(number)
    found = getattr(Whole(1, **{field: value}), field)
    assert found == number
    assert type(found) is type(number)


@pytest.mark.parametrize("value", [np.int32(4), np.array(4), Level(2) + 2, np.uint64(4)])
def test_integers_of_other_types_become_plain(value: object) -> None:
    found = Whole(value).count
    assert found == 4
    assert type(found) is int


def test_lists_and_arrays_become_tuples_of_plain_numbers() -> None:
    whole = Whole(
        2,
        costs=np.array([1.5, 2]),
        points=np.array([[1, 2], [3, 4]]),
        parts=[{"size": np.int64(1)}, Part(2)],
        few=np.arange(3),
        maybe_list=array.array("d", [0.5]),
        maybe_costs=[np.float64(1.5), "1/3", 2],
    )
    assert whole.costs == (1.5, 2.0)
    assert whole.points == ((1, 2), (3, 4))
    assert whole.parts == (Part(1), Part(2))
    assert whole.few == (0, 1, 2)
    assert whole.maybe_list == (0.5,)
    assert whole.maybe_costs == (1.5, F(1, 3), 2)
    assert {type(x) for x in (*whole.costs, *whole.maybe_list)} == {float}
    assert {type(x) for x in (*whole.points[0], *whole.few, whole.parts[0].size)} == {int}
    hash(whole)


def test_a_tuple_is_converted_where_only_some_of_it_is_plain() -> None:
    whole = Whole(1, costs=(1, "1/2", np.float64(2.5)))
    assert whole.costs == (1, F(1, 2), 2.5)
    assert [type(cost) for cost in whole.costs] == [int, F, float]


def test_an_array_without_dimensions_is_no_list() -> None:
    assert faults_of(few=np.array(3)) == [("few", np.array(3), "must be a list")]


def test_tuples_that_are_fine_are_kept_as_they_are() -> None:
    costs, part = (1, 2.5, F(1, 3)), Part(1)
    whole = Whole(1, costs=costs, main=part)
    assert whole.costs is costs
    assert whole.main is part


def test_fields_without_a_rule_take_anything() -> None:
    thing = object()
    assert Whole(1, anything=thing).anything is thing
    assert Whole(1, main=None, maybe=None, maybe_list=None, maybe_costs=None).maybe is None
    assert Whole(1, choice="right", text="x", above=-2).choice == "right"
    assert Part(1, mandatory=True).mandatory is True


def test_a_list_in_which_nothing_is_right_ends_early() -> None:
    assert len(faults_of(costs=["x"] * 5_000)) == MOST_FAULTS
