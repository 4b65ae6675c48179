"""The schema of instance files: it accepts what the reader accepts, but for what none can say."""

import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import io, registry
from dlopt.arithmetic import parse
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.field_checks import LARGEST
from dlopt.problems.iit import Instance
from dlopt.problems.validated_record import Header
from dlopt.schemas import instance_schema
from tests.instance_files import ROOT, SHIPPED, VALID, instances
from tests.problems.sample_instances import INSTANCES
from tests.problems.wrong_values import full_data, with_wrong, wrong_fields

SCHEMA = instance_schema("iit")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.mark.parametrize("stem", registry.stems())
def test_the_shipped_schema_is_the_one_that_the_records_make(stem: str) -> None:
    shipped = (ROOT / "schemas" / f"{stem}.schema.json").read_text()
    made = json.loads(json.dumps(instance_schema(stem)))
    assert json.loads(shipped) == made  # else: make it anew by `dlopt schema STEM`


@pytest.mark.parametrize("stem", registry.stems())
def test_shipped_instances_of_all_problems_fit_their_schemas(stem: str) -> None:
    validator = jsonschema.Draft202012Validator(instance_schema(stem))
    for path in sorted((ROOT / "instances" / stem).rglob("*.json")):
        validator.validate(json.loads(path.read_text()))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$schema"]
    assert SCHEMA["required"] == ["problem", "version", "cluster", "ready_times", "load"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_instances_fit_the_schema(path: Path) -> None:
    VALIDATOR.validate(json.loads(path.read_text()))


@pytest.mark.property
@given(instances())
def test_what_is_written_fits_the_schema(instance: Instance) -> None:
    VALIDATOR.validate(json.loads(json.dumps(io.instance_to_data(instance))))


def accepted(data: object) -> bool:
    try:
        io.instance_from_data(data)
    except InvalidInstanceError:
        return False
    return True


def put(path: tuple[str | int, ...], value: object) -> Any:
    """Return the valid data with one value set; `...` drops the field."""
    data = json.loads(json.dumps(VALID))
    part = data
    for key in path[:-1]:
        part = part[key]
    if value is ...:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("path", "value"),
    [(("problem",), wrong) for wrong in (..., "bag", 1, None)]
    + [(("version",), wrong) for wrong in (..., 2, 0, "1", None, [1])],
    ids=str,
)
def test_reader_and_schema_both_refuse(path: tuple[str | int, ...], value: object) -> None:
    data = put(path, value)
    assert not accepted(data)
    assert not VALIDATOR.is_valid(data)


BEYOND_SCHEMAS = (math.nan, math.inf, -math.inf, 1e101, 10**400, "1e400", "-1/2", 4.0)
"""Wrong values that no schema excludes: what is not JSON or too large, signs of texts, and whole
numbers written as decimals."""


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance.problem)
def test_the_schema_refuses_what_the_annotations_exclude(instance: Header) -> None:
    validator = jsonschema.Draft202012Validator(instance_schema(instance.problem))
    data = {"problem": instance.problem, "version": 1, **full_data(instance)}
    assert validator.is_valid(data)
    for wrong in wrong_fields(instance):
        if wrong[1] not in BEYOND_SCHEMAS:
            assert not validator.is_valid(with_wrong(data, wrong)), wrong


FINE: list[tuple[tuple[str | int, ...], list[object]]] = [
    (("name",), [..., "", "ü"]),
    (("cluster", "tau"), [0, 1.5, "3/2", " 3 / 2 ", ".5", "5.", "1e3", "-0", [1, 0.5, "1/3"]]),
    (("cluster", "theta_cm"), [..., 0, "1/2", "+1/2", "7/007"]),
    (("ready_times",), [["0", 1.5, "8/3"]]),
    (("load",), [0.1, "1/10", "1e-9999"]),
    (("absolute_deadline",), [..., None, 4.5, "9/2"]),
    (("best_known",), [..., []]),
    (("best_known", 0, "value"), [..., None, -1, "1/2", [1, 0.5, "1/2"], []]),
]


@pytest.mark.parametrize(
    ("path", "value"), [(path, value) for path, fine in FINE for value in fine], ids=str
)
def test_reader_and_schema_both_accept(path: tuple[str | int, ...], value: object) -> None:
    data = put(path, value)
    assert accepted(data)
    assert VALIDATOR.is_valid(data)


@pytest.mark.property
@given(st.text(alphabet="0123456789/.eE+- \t_\u0661x", max_size=10) | st.text(max_size=5))
def test_reader_and_schema_read_the_same_numbers(text: str) -> None:
    """All but how large they are, which no pattern can say."""
    data = put(("best_known", 0, "value"), text)
    assert accepted(data) is (VALIDATOR.is_valid(data) and abs(parse(text)) <= LARGEST)


def test_rules_between_fields_are_for_the_reader_alone() -> None:
    """What no schema can say: lengths, ties between fields, signs of numbers written as text."""
    for path, value in (
        (("ready_times",), [0, 1]),
        (("cluster", "tau"), [1, 2]),
        (("cluster", "theta_cm"), "-1/2"),
        (("absolute_deadline",), "0"),
        (("load",), "0/3"),
        (("cluster", "nodes"), 3.0),
    ):
        data = put(path, value)
        assert VALIDATOR.is_valid(data)
        assert not accepted(data)


def test_a_schema_of_no_problem() -> None:
    with pytest.raises(NotApplicableError, match="no problem 'iti'"):
        instance_schema("iti")
