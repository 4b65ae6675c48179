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


def validator(reference: str) -> Any:
    return jsonschema.Draft202012Validator({"$ref": reference, **DOCUMENT})
