"""Values that are checked all at once have the answer that each has by itself."""

from __future__ import annotations

import math
from collections import OrderedDict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import Fault, InvalidInstanceError
from dlopt.problems.field_checks import LONG
from dlopt.problems.validated_record import Record, Units, examine
from tests.examples import share
from tests.problems.sample_records import Part, Whole

NUMBERS = st.one_of(
    st.sampled_from(
        [0, 1, -1, 9, 10, 0.5, -0.5, 1e100, 1e101, math.inf, math.nan, 10**400, Fraction(1, 3)]
    ),
    st.sampled_from(["1/3", "x", True, None, [1], np.float64(0.5), np.int64(3)]),
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "count": NUMBERS,
    "number": NUMBERS,
    "costs": NUMBERS | st.lists(NUMBERS, max_size=2),
    "points": st.lists(st.lists(NUMBERS, max_size=2), max_size=2) | NUMBERS,
    "parts": st.lists(
        st.fixed_dictionaries({"size": NUMBERS}, optional={"share": NUMBERS, "mandatory": NUMBERS})
        | st.builds(Part, st.just(2))
        | NUMBERS,
        max_size=2,
    ),
    "few": st.lists(NUMBERS, max_size=3).map(tuple),
    "main": st.just({"size": 1}) | st.builds(Part, st.just(1)) | NUMBERS,
    "maybe": NUMBERS,
    "maybe_list": st.lists(NUMBERS, max_size=2) | NUMBERS,
    "text": st.sampled_from(["", "a", 1, None]),
    "choice": st.sampled_from(["left", "right", "up", 1, ["left"]]),
    "colour": st.just(1),
}
GOOD: dict[str, Any] = {
    "count": 3,
    "number": 0.5,
    "costs": [1, 2.5],
    "points": [[1, 2], [3]],
    "parts": [{"size": 1}, {"size": "1/3", "share": 1}],
    "few": (1, 2),
    "maybe": None,
    "text": "a",
    "choice": "right",
}


def one_by_one(rows: list[Any]) -> list[Record] | tuple[Fault, ...]:
    """Return the records of rows, or the faults of the first that has one."""
    records: list[Record] = []
    for row in rows:
        faults = examine(Whole, row)[1]
        if faults:
            return faults
        records.append(Whole.from_data(row))
    return records


def at_once(rows: list[Any]) -> list[Whole] | tuple[Fault, ...]:
    try:
        return Whole.list_from_data(rows)
    except InvalidInstanceError as error:
        return error.faults


@pytest.mark.property
@share(1 / 2)
@given(st.data())
def test_rows_with_edits_have_the_answers_of_each(data: st.DataObject) -> None:
    rows = [dict(GOOD) for _ in range(LONG)]
    for _ in range(data.draw(st.integers(0, 3))):
        row = data.draw(st.sampled_from(rows))
        name = data.draw(st.sampled_from(sorted(FIELDS)))
        if data.draw(st.booleans()):
            row[name] = data.draw(FIELDS[name])
        else:
            row.pop(name, None)
    expected, found = one_by_one(rows), at_once(rows)
    assert repr(found) == repr(expected)  # with the types of numbers; NaN is not equal to itself


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e101, -1, 10**400, "x", True])
@pytest.mark.parametrize("place", [0, 3, LONG - 1])
def test_one_bad_number_among_many_is_found(bad: object, place: int) -> None:
    costs: list[object] = [1.5] * LONG
    costs[place] = bad
    with pytest.raises(InvalidInstanceError) as error:
        Whole(1, costs=costs)
    assert [(fault.path, fault.value) for fault in error.value.faults] == [(f"costs[{place}]", bad)]


def test_huge_integers_are_integers() -> None:
    whole = Whole(1, fresh=[10**400] * LONG)
    assert whole.fresh == (10**400,) * LONG


def test_a_tuple_that_is_fine_is_kept_as_it_is() -> None:
    costs, parts = (1, 2.5) * LONG, (Part(1),) * LONG
    whole = Whole(9, costs=costs)
    assert whole.costs is costs
    assert not examine(Whole, {"count": 9, "parts": parts[:9]})[1]


def test_mappings_that_are_no_dictionaries_are_read_like_them() -> None:
    parts = [OrderedDict(size=1) for _ in range(LONG)]
    assert Whole(9, parts=parts).parts == (Part(1),) * LONG


def test_rules_between_fields_hold_in_each_row() -> None:
    rows: list[Any] = [dict(GOOD) for _ in range(LONG)]
    rows[2] |= {"count": 1}
    with pytest.raises(InvalidInstanceError, match="parts: must be no more than count"):
        Whole.list_from_data(rows)


@pytest.mark.parametrize("row", [[], ["time"], None, 1, {"time": 1}])
def test_rows_that_are_no_records_are_refused(row: Any) -> None:
    with pytest.raises(InvalidInstanceError) as one:
        Units.from_data(row)
    with pytest.raises(InvalidInstanceError) as found:
        Units.list_from_data([row])
    assert found.value.faults == one.value.faults


def test_no_rows_are_no_records() -> None:
    assert Whole.list_from_data([]) == []
