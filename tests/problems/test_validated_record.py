"""Records: every fault is reported at once; what is written as data is read again."""

import dataclasses
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.problems.validated_record import (
    BestKnown,
    Units,
    examine,
    floating,
    numbers_of,
    plain,
)
from tests.problems.sample_records import FINITE, Part, Told, Whole, faults_of

F = Fraction


class Pair(NamedTuple):
    first: F | float
    second: F | float


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


def test_records_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Whole(1).count = 2


def test_to_data_leaves_out_what_is_default() -> None:
    whole = Whole(2, costs=(1, F(1, 3), 0.5), parts=(Part(F(1, 2)), Part(1, mandatory=True)))
    assert whole.to_data() == {
        "count": 2,
        "costs": [1, "1/3", 0.5],
        "parts": [{"size": "1/2"}, {"size": 1, "mandatory": True}],
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


def test_numbers_of_named_tuples_are_numbers_of_the_record() -> None:
    costs, points = Pair(3, 4.5), (Pair(1, 2), Pair(0.5, F(1, 3)))
    assert list(numbers_of(Whole(9, costs=costs, points=points)))[3:9] == [
        3,
        4.5,
        1,
        2,
        0.5,
        F(1, 3),
    ]


def test_a_value_that_json_cannot_spell_is_shown_as_in_python() -> None:
    with pytest.raises(InvalidInstanceError, match=r"time: must be a text, got \{\(1, 2\): None\}"):
        Units.from_data({"time": {(1, 2): None}})


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


def test_units_are_fields_and_a_text_is_the_unit_of_time() -> None:
    for units in ("s", {"time": "s"}, Units("s")):
        assert Told(1, units=units).units == Units("s")
        assert Told.from_data({"load": 1, "units": units}).to_data()["units"] == {"time": "s"}
    assert "units" not in Told(1, units="").to_data()
    with pytest.raises(InvalidInstanceError, match=r"^units\.volume: is not a field"):
        Told.from_data({"load": 1, "units": {"volume": "l"}})


def test_best_known_values() -> None:
    best = BestKnown.from_data({"objective": "c", "plan_class": "k", "value": ["1/2", 3]})
    assert best == BestKnown("c", "k", (F(1, 2), 3))
    assert BestKnown.from_data(best.to_data()) == best
