"""The OpenAPI document: valid, complete, and what the service in fact does."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest
import schemathesis

from dlopt import schemas
from dlopt.registry import stems
from dlopt.serve.openapi import openapi_document
from dlopt.service_api.operations import OPERATIONS
from tests.instance_files import ROOT

DOCUMENT = openapi_document()


def test_the_document_is_valid() -> None:
    schemathesis.openapi.from_dict(DOCUMENT).validate()
    assert DOCUMENT["openapi"] == "3.1.0"
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_reference_leads_to_a_record_and_every_record_is_used() -> None:
    text = json.dumps(DOCUMENT)
    used = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert used == set(DOCUMENT["components"]["schemas"])


def test_every_operation_is_described() -> None:
    described = {
        operation["operationId"]: (method.upper(), path)
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    }
    assert described == {op.name: (op.method, op.path) for op in OPERATIONS}


def test_links_lead_from_what_is_made_to_all_that_is_done_with_it() -> None:
    for maker, created, parameter in (
        (("/v1/books/{name}", "put"), "201", {"name": "$request.path.name"}),
        (("/v1/jobs", "post"), "202", {"id": "$response.body#/id"}),
    ):
        links = DOCUMENT["paths"][maker[0]][maker[1]]["responses"][created]["links"]
        (name,) = parameter
        expected = {
            op.name for op in OPERATIONS if [part.name for part in op.path_parameters] == [name]
        }
        expected.discard("create_book")
        assert {link["operationId"] for link in links.values()} == expected
        assert all(link["parameters"] == parameter for link in links.values())


def test_names_of_books_are_described_as_they_are_read() -> None:
    (parameter,) = (
        one
        for one in DOCUMENT["paths"]["/v1/books/{name}"]["get"]["parameters"]
        if one["in"] == "path"
    )
    validator = jsonschema.Draft202012Validator(parameter["schema"])
    assert all(map(validator.is_valid, ("a", "7.b-c_D", "x" * 100)))
    assert not any(map(validator.is_valid, ("", ".a", "a b", "a/b", "x" * 101)))


@pytest.mark.parametrize("stem", stems())
def test_instances_are_described_as_their_files(stem: str) -> None:
    described = DOCUMENT["components"]["schemas"][f"{stem.capitalize()}Instance"]
    own = schemas.instance_schema(stem)
    assert set(described["properties"]) == set(own["properties"])
    assert described["required"] == own["required"]


@pytest.mark.parametrize("stem", stems())
def test_requests_with_shipped_instances_are_valid(stem: str) -> None:
    file = min((ROOT / "instances" / stem).glob("*.json"), key=lambda found: found.stat().st_size)
    request = {"kind": "solve", "method": "exact", "instance": json.loads(file.read_text())}
    validator("#/components/schemas/SolveRequest").validate(request)
    request["instance"]["unknown"] = 1
    with pytest.raises(jsonschema.ValidationError):
        validator("#/components/schemas/SolveRequest").validate(request)


@pytest.mark.parametrize(
    ("record", "kind", "content"),
    [
        ("TaskArguments", "task", {"load": 1, "deadline": 3}),
        ("TaskOrReservation", "reservation", {"start": 1, "end": 3}),
        (
            "RequestOrBatch",
            "request",
            {"start": 1, "end": 3, "priority": 1, "parts": [{"cpu": 5}]},
        ),
    ],
)
def test_what_is_submitted_may_leave_out_when_it_arrives(
    record: str, kind: str, content: dict[str, Any]
) -> None:
    body = validator(f"#/components/schemas/{record}")
    for arrival in ({}, {"arrival": 0}):
        body.validate({kind: {"id": "a"} | content | arrival})
    with pytest.raises(jsonschema.ValidationError):
        body.validate({kind: content})


def validator(reference: str) -> Any:
    return jsonschema.Draft202012Validator({"$ref": reference, **DOCUMENT})
