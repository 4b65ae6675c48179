"""The text that the hash of an instance is of: that of the plain way, one value after another."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import io
from dlopt.arithmetic import Number, canonical
from dlopt.canonical_json import parts_of
from dlopt.problems import admission
from dlopt.problems.validated_record import HEADER_FIELDS, Header, Record

INSTANCES = sorted(Path(__file__).parents[1].glob("instances/*/*.json"))


@dataclass(frozen=True, slots=True)
class Empty(Record):
    """A record of nothing."""


@dataclass(frozen=True, slots=True)
class Part(Record):
    """A record that stands in others."""

    LATER_FIELDS = frozenset({"weight", "comment"})

    number: Number
    text: str | None = None
    parts: tuple[Number, ...] = ()
    weight: Number = 1
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Whole(Header):
    """An instance with a value of every kind."""

    problem: ClassVar[str] = "whole"

    numbers: tuple[Number, ...] = ()
    mixed: tuple[Any, ...] = ()
    one: Part | None = None


def plain(value: Any) -> Any:
    if isinstance(value, Record):
        fields = type(value).__dataclass_fields__  # type: ignore[attr-defined]
        return {
            name: plain(getattr(value, name))
            for name, field in fields.items()
            if field.compare
            and (name not in value.LATER_FIELDS or getattr(value, name) != field.default)
        }
    if isinstance(value, tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        return canonical(value)
    return value


def expected(instance: Header) -> str:
    fields = type(instance).__dataclass_fields__
    data = {key: plain(getattr(instance, key)) for key in fields if key not in HEADER_FIELDS}
    data["problem"] = instance.problem
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def whole(**fields: Any) -> Whole:
    """Return an instance as it is, whatever its fields are."""
    made = Whole()
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


NUMBERS = (
    st.integers(-(10**99), 10**99)
    | st.fractions(-(10**99), 10**99)
    | st.floats(-1e99, 1e99)
    | st.decimals(-1000, 1000, places=3).map(float)
    | st.integers(-(10**6), 10**6).map(lambda number: number / 2**10)
)
PARTS = st.builds(
    Part,
    number=NUMBERS,
    text=st.none() | st.text(),
    parts=st.lists(NUMBERS, max_size=3).map(tuple),
    weight=st.sampled_from([1, 1.0, Fraction(1, 2), 2]),
    comment=st.sampled_from(["", "c"]),
)
ENTRIES = st.recursive(
    NUMBERS | st.none() | st.booleans() | st.text() | PARTS | st.just(Empty()),
    lambda entry: st.lists(entry, max_size=4).map(tuple),
    max_leaves=8,
)


@pytest.mark.property
@given(st.lists(NUMBERS).map(tuple), st.lists(ENTRIES, max_size=6).map(tuple), st.none() | PARTS)
def test_the_text_is_that_of_the_plain_way(
    numbers: tuple[Number, ...], mixed: tuple[Any, ...], one: Part | None
) -> None:
    instance = whole(numbers=numbers, mixed=mixed, one=one)
    assert "".join(parts_of(instance)) == expected(instance)


@pytest.mark.parametrize(
    "number",
    [
        *(
            0.0,
            -0.0,
            0.5,
            -0.5,
            0.1,
            0.3,
            10.3,
            -10.3,
            1.5,
            0.7,
            0.0001,
            1e-5,
            1.2345678901234567e-4,
        ),
        *(123456.75, 1e15 + 0.5, 2.0**53, 2.0**53 + 2, 9.1e15, 1e16, 1e22, 1.5e300, 5e-324),
    ],
)
def test_floats_as_the_decimals_that_they_print(number: float) -> None:
    instance = whole(numbers=(number,))
    assert "".join(parts_of(instance)) == expected(instance)


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 2500])
def test_long_lists_come_in_parts(count: int) -> None:
    instance = whole(mixed=tuple(Part(number / 4) for number in range(count)))
    parts = list(parts_of(instance))
    assert "".join(parts) == expected(instance)
    assert max(part.count('"number"') for part in parts) == min(count, 1000)


@pytest.mark.parametrize("path", INSTANCES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_shipped_instances(path: Path) -> None:
    instance = io.read(path)
    assert "".join(parts_of(instance)) == expected(instance)


def test_a_field_that_was_added_later_changes_no_hash() -> None:
    """The number is the hash of this stream before its tasks could have weights."""
    stream = io.read(INSTANCES[0].parents[1] / "admission" / "two-of-three.json")
    assert isinstance(stream, admission.Instance)
    known = "1f6e30783d6035b2361452fdf8a9893f10bab0ec55f06fd6293e777d6597345f"
    assert io.instance_hash(stream) == known
    first, *others = stream.tasks
    for weight, is_known in ((1.0, True), (2, False)):
        tasks = (replace(first, weight=weight), *others)
        assert (io.instance_hash(replace(stream, tasks=tasks)) == known) is is_known
