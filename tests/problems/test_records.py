"""Records: what a field may hold follows from its annotation, and every fault is told at once."""

import array
import dataclasses
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Optional

import numpy as np
import pytest
from annotated_types import Ge, Gt, Le, MinLen
from hypothesis import given
from hypothesis import strategies as st

from dlopt.arithmetic import Number
from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.problems.records import (
    BestKnown,
    Header,
    NonNegative,
    Positive,
    Record,
    examine,
    floating,
    numbers_of,
    plain,
)

F = Fraction
FINITE = 'must be a finite number or a text "p/q"'
LARGE = "must lie between -1e+100 and 1e+100"


@dataclasses.dataclass(frozen=True, slots=True)
class Part(Record):
    size: Positive
    share: Annotated[Number, Ge(F(1, 2)), Le(1)] = 1
    mandatory: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Whole(Record):
    count: Annotated[int, Ge(1), Le(9)]
    above: Annotated[int, Gt(-3)] = 0
    number: Number = 0
    costs: NonNegative | tuple[NonNegative, ...] = 0
    points: tuple[tuple[Number, ...], ...] = ()
    parts: tuple[Part, ...] = ()
    few: Annotated[tuple[int, ...], MinLen(2)] = (0, 0)
    main: Part | None = None
    maybe: NonNegative | None = None
    maybe_list: tuple[Number, ...] | None = None
    maybe_costs: Number | tuple[Number, ...] | None = None
    old_style: Optional[int] = None  # noqa: UP045
    noted: Annotated[int, "what it is"] = 0
    text: str = ""
    choice: Literal["left", "right"] = "left"
    anything: object = None
    fresh: tuple[int, ...] = dataclasses.field(default_factory=tuple)

    @classmethod
    def relations(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        if len(known.get("parts", ())) > known.get("count", 9):
            yield Fault("parts", len(known["parts"]), "must be no more than count")


@dataclasses.dataclass(frozen=True, slots=True)
class Told(Header):
    problem: ClassVar[str] = "told"

    load: Positive
    whole: Whole | None = None


def faults_of(**fields: object) -> list[tuple[str, object, str]]:
    """Return the faults of a whole, found alike by constructor and reader."""
    fields = {"count": 1, **fields}
    with pytest.raises(InvalidInstanceError) as built:
        Whole(**fields)
    with pytest.raises(InvalidInstanceError) as read:
        Whole.from_data(fields)
    assert built.value.faults == read.value.faults == examine(Whole, fields)[1]
    assert built.value.source is None
    return [(fault.path, fault.value, fault.rule) for fault in built.value.faults]


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
        ("number", F(1e100) + F(1, 3), LARGE),
        ("number", "1e101", LARGE),
        ("maybe", 10**200, LARGE),
        ("costs", -(10**200), LARGE),
        ("costs", -1, "must not be negative"),
        ("costs", "-1/2", "must not be negative"),
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


def test_an_array_where_a_text_is_due_is_a_fault() -> None:
    value = np.array(["left", "right"])
    with pytest.raises(InvalidInstanceError, match=r"^choice: must be one of left, right, got \["):
        Whole(1, choice=value)


def test_extended_floats_are_refused_not_rounded() -> None:
    with pytest.raises(InvalidInstanceError, match="number: must be a finite number"):
        Whole(1, number=np.longdouble(1.5))


@pytest.mark.parametrize(
    ("fields", "path", "rule"),
    [
        ({"costs": [1, -1]}, "costs[1]", "must not be negative"),
        ({"costs": [1, [2]]}, "costs[1]", FINITE),
        ({"costs": (True,)}, "costs[0]", FINITE),
        ({"points": [[1, 2], [3, "x"]]}, "points[1][1]", FINITE),
        ({"points": [1]}, "points[0]", "must be a list"),
        ({"parts": [{"size": 1}, {"size": 0}]}, "parts[1].size", "must be positive"),
        ({"parts": [{"size": 1, "share": F(1, 3)}]}, "parts[0].share", "must be at least 1/2"),
        ({"parts": [{"size": 1, "share": 2}]}, "parts[0].share", "must be at most 1"),
        ({"parts": [{"size": 1, "mandatory": 1}]}, "parts[0].mandatory", "must be true or false"),
        ({"parts": [7]}, "parts[0]", "must be an object with named fields"),
        ({"parts": [{}]}, "parts[0].size", "is missing"),
        (
            {"parts": [{"size": 1, "colour": 2}]},
            "parts[0].colour",
            "is not a field (known: size, share, mandatory)",
        ),
        ({"main": {"size": None}}, "main.size", FINITE),
        ({"few": (1, 2.5)}, "few[1]", "must be an integer"),
        ({"maybe_list": [1, None]}, "maybe_list[1]", FINITE),
        ({"maybe_costs": [1, "x"]}, "maybe_costs[1]", FINITE),
        ({"parts": [{"size": 1}] * 2}, "parts", "must be no more than count"),
    ],
)
def test_the_path_of_a_nested_fault(fields: dict[str, object], path: str, rule: str) -> None:
    ((found, _, told),) = faults_of(**fields)
    assert (found, told) == (path, rule)


def test_all_faults_are_told_at_once_in_the_order_of_the_fields() -> None:
    data = {
        "colour": 1,
        "text": 5,
        "parts": [{"size": -1, "mandatory": "yes"}, {"weight": 2}],
        "costs": [-1, 0, "x"],
        7: 8,
    }
    _, found = examine(Whole, data, "order[3]")
    part = "is not a field (known: size, share, mandatory)"
    known = ", ".join(field.name for field in dataclasses.fields(Whole))
    whole = f"is not a field (known: {known})"
    assert [(fault.path, fault.value, fault.rule) for fault in found] == [
        ("order[3].count", MISSING, "is missing"),
        ("order[3].costs[0]", -1, "must not be negative"),
        ("order[3].costs[2]", "x", FINITE),
        ("order[3].parts[0].size", -1, "must be positive"),
        ("order[3].parts[0].mandatory", "yes", "must be true or false"),
        ("order[3].parts[1].size", MISSING, "is missing"),
        ("order[3].parts[1].weight", 2, part),
        ("order[3].text", 5, "must be a text"),
        ("order[3].colour", 1, whole),
        ("order[3].7", 8, whole),
    ]


def test_relations_are_told_beside_other_faults_with_their_path() -> None:
    _, found = examine(Whole, {"count": 1, "parts": [{"size": 1}] * 2, "text": 1}, "whole")
    assert [fault.path for fault in found] == ["whole.text", "whole.parts"]


@pytest.mark.parametrize("data", [None, 3, "text", [], [("count", 1)], {1}])
def test_what_is_no_object(data: object) -> None:
    assert examine(Whole, data) == (
        {},
        (Fault("", data, "must be an object with named fields"),),
    )
    with pytest.raises(InvalidInstanceError, match="must be an object with named fields"):
        Whole.from_data(data)


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


def test_records_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Whole(1).count = 2


def test_to_data_leaves_out_what_is_default() -> None:
    whole = Whole(2, costs=(1, F(1, 3), 0.5), parts=(Part(F(1, 2)), Part(1, mandatory=True)))
    assert whole.to_data() == {
        "count": 2,
        "costs": [1, "1/3", 0.5],
        "parts": [{"size": "1/2"}, {"size": 1, "mandatory": True}],
        "fresh": [],
    }
    told = Told(3, name="a", best_known=(BestKnown("completion", "single", value=F(1, 3)),))
    assert told.to_data() == {
        "name": "a",
        "load": 3,
        "best_known": [{"objective": "completion", "plan_class": "single", "value": "1/3"}],
    }
    assert plain((F(4), "x", None, (True,))) == [4, "x", None, [True]]


@pytest.mark.property
@given(
    st.builds(
        Whole,
        st.integers(3, 9),
        number=st.integers() | st.fractions() | st.floats(-1e9, 1e9),
        costs=st.integers(0, 9) | st.lists(st.fractions(0, 9), max_size=3),
        points=st.lists(st.lists(st.fractions(), max_size=2), max_size=2),
        parts=st.lists(
            st.builds(Part, st.fractions(1, 5), st.fractions(F(1, 2), 1), st.booleans()),
            max_size=3,
        ),
        main=st.none() | st.builds(Part, st.floats(0.5, 2)),
        maybe=st.none() | st.integers(0),
        maybe_list=st.none() | st.lists(st.integers(), max_size=2),
        text=st.text(),
        choice=st.sampled_from(["left", "right"]),
    )
)
def test_what_is_written_as_data_is_read_again(whole: Whole) -> None:
    assert Whole.from_data(whole.to_data()) == whole


def test_numbers_of_a_record_leave_out_its_header_and_truth_values() -> None:
    best = BestKnown("completion", "single", value=99, bound=98)
    whole = Whole(2, number=F(1, 2), costs=(3, 4.5), main=Part(6, 1, mandatory=True), text="7")
    told = Told(1, whole, name="5", best_known=(best,))
    assert sorted(numbers_of(told)) == sorted([1, 2, 0, F(1, 2), 3, 4.5, 0, 0, 6, 1, 0])
    assert list(numbers_of(best)) == [99, 98]


def test_a_record_in_floats_keeps_counts_and_texts() -> None:
    best = BestKnown("completion", "single", value=F(1, 2))
    part = Part(F(1, 4), 1, mandatory=True)
    whole = Whole(
        2, number=3, costs=(1, F(1, 2)), points=((1, 2.5),), parts=(part,), main=part,
        maybe_costs=F(1, 8), text="7", noted=5,
    )  # fmt: skip
    told = floating(Told(F(1, 3), whole, name="5", best_known=(best,)))
    assert told.load == 1 / 3
    assert (told.name, told.best_known) == ("5", (best,))
    found = told.whole
    assert found == whole
    assert [type(x) for x in (found.number, *found.costs, *found.points[0])] == [float] * 5
    assert [type(x) for x in (found.main.size, found.parts[0].share)] == [float] * 2
    assert type(found.maybe_costs) is float
    assert [type(x) for x in (found.count, *found.few, found.noted)] == [int] * 4
    assert found.main.mandatory is True
    assert found.maybe is None
    assert found.text == "7"


def test_a_number_whose_float_breaks_its_rule_is_told() -> None:
    with pytest.raises(InvalidInstanceError, match=r"^load: must be positive, got 0\.0$"):
        floating(Told(F(1, 10**400)))


def test_the_header_is_no_part_of_equality() -> None:
    one, other = Told(1, name="a", origin="b", units="c"), Told(1)
    assert one == other
    assert hash(one) == hash(other)
    assert one != Told(2, name="a")


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"objective": "completion"}, "plan_class"),
        ({"objective": "completion", "plan_class": "all"}, "plan_class"),
        ({"objective": 1, "plan_class": "k"}, "objective"),
        ({"objective": "c", "plan_class": "any", "value": "x"}, "value"),
        ({"objective": "c", "plan_class": "any", "value": [1, True]}, "value[1]"),
        ({"objective": "c", "plan_class": "any", "bound": math.inf}, "bound"),
        ({"objective": "c", "plan_class": "any", "method": 2}, "method"),
        ({"objective": "c", "plan_class": "any", "proof": 2}, "proof"),
    ],
)
def test_best_known_values_are_checked_too(data: dict[str, object], path: str) -> None:
    with pytest.raises(InvalidInstanceError) as caught:
        Told.from_data({"load": 1, "best_known": [data]})
    assert [fault.path for fault in caught.value.faults] == [f"best_known[0].{path}"]


def test_best_known_values() -> None:
    best = BestKnown.from_data({"objective": "c", "plan_class": "k", "value": ["1/2", 3]})
    assert best == BestKnown("c", "k", (F(1, 2), 3))
    assert BestKnown.from_data(best.to_data()) == best
