"""What operations take, as one object: what the service accepts is valid."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from dlopt.service_api.input_schemas import TOOL_OPERATIONS, input_schema
from tests.instance_files import ROOT

INSTANCE = json.loads((ROOT / "instances/iit/three-nodes.json").read_text())
REQUEST = {"id": "r", "arrival": 0, "start": 5, "end": 15, "priority": 1, "parts": [{"cpu": 60}]}
TASK = {"id": "a", "arrival": 0, "load": "53/8", "deadline": 20.5}
CLUSTER = {"nodes": 4, "tau": 1, "chi": 3}
VALID: list[tuple[str, dict[str, Any]]] = [
    ("create_book", {"name": "a", "problem": "admission", "cluster": CLUSTER}),
    (
        "create_book",
        {"name": "a", "problem": "coreservation", "machines": [{"id": "m", "capacity": 9}]},
    ),
    ("book_submit", {"name": "a", "task": TASK}),
    ("book_submit", {"name": "a", "requests": [REQUEST, REQUEST], "at": "1/2"}),
    ("book_hold", {"name": "a", "request": REQUEST, "ttl_s": 30}),
    ("book_offer", {"name": "a", "task": TASK, "k": 2}),
    ("book_cancel", {"name": "a", "id": "r", "kind": "task"}),
    ("book_resources", {"name": "a", "add": 2, "fail": [0]}),
    ("book_resources", {"name": "a", "add": [{"id": "m", "capacity": 9}]}),
    ("book_log", {"name": "a", "after": 1, "limit": 2}),
    ("submit_job", {"kind": "solve", "instance": INSTANCE, "limits": {"time_s": 2}}),
    ("submit_job", {"validate": "only", "hash": "0"}),
    ("submit_job", {"kind": "solve", "hash": "0", "certified": True}),
    ("submit_job", {"kind": "compare", "hash": "0", "certified": True, "options": {"a.b": 2}}),
]
INVALID: list[tuple[str, dict[str, Any]]] = [
    ("book_submit", {"task": TASK}),
    ("book_submit", {"name": "a", "task": {**TASK, "load": 0}}),
    ("book_submit", {"name": "a", "requests": REQUEST}),
    ("book_hold", {"name": "a", "task": TASK}),
    ("book_hold", {"name": "a", "task": TASK, "ttl_s": 0}),
    ("book_plan", {"name": "a", "task": TASK}),
    ("submit_job", {"instance": {**INSTANCE, "unknown": 1}}),
    ("submit_job", {"validate": "yes"}),
    ("submit_job", {"hash": "0", "certified": "yes"}),
]


@pytest.mark.parametrize("name", TOOL_OPERATIONS)
def test_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(input_schema(name))


def test_an_optional_field_is_left_out_rather_than_null() -> None:
    kind = input_schema("book_cancel")["properties"]["kind"]
    assert (kind.get("type"), kind.get("enum")) == ("string", ["task", "reservation"])


@pytest.mark.parametrize(("name", "arguments"), VALID)
def test_what_the_service_accepts_is_valid(name: str, arguments: dict[str, Any]) -> None:
    jsonschema.validate(arguments, input_schema(name))


@pytest.mark.parametrize(("name", "arguments"), INVALID)
def test_what_it_refuses_is_not(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(arguments, input_schema(name))
