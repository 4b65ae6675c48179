"""The JSON Schemas of the bodies, and of all that an operation takes, as one object."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, TypeAlias

from dlopt.schemas import record_schemas
from dlopt.service_api import health_and_faults
from dlopt.service_api.definitions import DEFINITIONS
from dlopt.service_api.operations import (
    EVENT_STREAM,
    OPERATIONS,
    OPERATIONS_BY_NAME,
    Operation,
)

JsonSchema: TypeAlias = dict[str, Any]

_COMPONENTS = "#/components/schemas/"
TOOL_OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        operation.name: operation
        for operation in OPERATIONS
        if operation.tag != "service" and operation.media_type != EVENT_STREAM
    }
)
"""The operations on books and jobs that answer once, by name."""


@cache
def record_components() -> JsonSchema:
    """Return the schemas of all records that stand in bodies, by name; nobody may change them."""
    described = {health_and_faults.Problem, health_and_faults.FaultList}
    for operation in OPERATIONS:
        given = (*operation.bodies, operation.options, operation.response)
        described |= {record for record in given if record is not None and record is not dict}
    schemas = record_schemas(sorted(described, key=lambda record: record.__name__))
    for problem, record in DEFINITIONS.items():
        _add_fields(schemas[record.__name__], {"problem": {"const": problem}}, ["problem"])
    _allow_arrivals_now(schemas)
    return schemas


def _allow_arrivals_now(schemas: JsonSchema) -> None:
    """Let what is submitted have schemas of its own: a book of the wall clock says when it arrives.

    In an instance every task has an arrival.
    """
    submissions = {
        "AdmissionTask": "NewTask",
        "Reservation": "NewReservation",
        "Request": "NewRequest",
    }
    for name, new_name in submissions.items():
        new = copy.deepcopy(schemas[name])
        new["required"].remove("arrival")
        new["title"] = new_name
        new["description"] += (
            "\n\nIn a book with the wall clock, `arrival` may be left out: it is now."
        )
        schemas[new_name] = new
    for record in {
        *OPERATIONS_BY_NAME["book_submit"].bodies,
        *OPERATIONS_BY_NAME["book_hold"].bodies,
    }:
        text = json.dumps(schemas[record.__name__])
        for name, new_name in submissions.items():
            text = text.replace(f'"{_COMPONENTS}{name}"', f'"{_COMPONENTS}{new_name}"')
        schemas[record.__name__] = json.loads(text)


def body_schemas(operation: Operation) -> list[JsonSchema]:
    """Return the schemas of the bodies of which a request has one, options among their fields."""
    if operation.options is None:
        return [reference(record) for record in operation.bodies]
    components = record_components()
    options = components[operation.options.__name__]
    choices = [copy.deepcopy(components[record.__name__]) for record in operation.bodies]
    for choice in choices:
        _add_fields(choice, options["properties"], options.get("required", []))
    return choices


def reference(record: type) -> JsonSchema:
    """Return the schema that refers to a record, or allows every object for ``dict``."""
    return {"type": "object"} if record is dict else {"$ref": f"{_COMPONENTS}{record.__name__}"}


@cache
def input_schema(name: str) -> JsonSchema:
    """Return the schema of all that an operation takes from path, query and body, as one object.

    Where a body is one of several records, it has the fields of all of them: an assistant gives
    those of one. Those that every record needs are required.

    Parameters
    ----------
    name : str
        One of `TOOL_OPERATIONS`.

    Examples
    --------
    >>> schema = input_schema("book_confirm")
    >>> list(schema["properties"]), schema["required"]
    (['name', 'id', 'kind'], ['name', 'id'])
    """
    operation = OPERATIONS_BY_NAME[name]
    places = [one for one in operation.parameters if one.place == "query"]
    properties: JsonSchema = {
        one.name: {**one.schema, "description": one.description}
        for one in (*operation.path_parameters, *places)
    }
    bodies = [_simplified(_resolved(body)) for body in body_schemas(operation)]
    for field in dict.fromkeys(name for body in bodies for name in body["properties"]):
        found = [body["properties"][field] for body in bodies if field in body["properties"]]
        choices = list({json.dumps(schema): schema for schema in found}.values())
        properties[field] = choices[0] if len(choices) == 1 else {"anyOf": choices}
    required = [set(body.get("required", [])) for body in bodies]
    needed = {one.name for one in operation.path_parameters}
    needed |= set.intersection(*required) if required else set()
    schema: JsonSchema = {
        "type": "object",
        "properties": properties,
        "required": [field for field in properties if field in needed],
        "additionalProperties": False,
    }
    definitions = dict(_definitions(schema, set()))
    if definitions:
        schema["$defs"] = definitions
    text = json.dumps(schema).replace(_COMPONENTS, "#/$defs/")
    made: JsonSchema = json.loads(text)
    return made


def _resolved(schema: JsonSchema) -> JsonSchema:
    if "$ref" not in schema:
        return schema
    found: JsonSchema = record_components()[schema["$ref"].removeprefix(_COMPONENTS)]
    return found


def _simplified(node: Any) -> Any:
    """Return a schema as assistants read it: without titles, and with numbers in a few words.

    An optional field is left out rather than null.
    """
    if isinstance(node, list):
        return [_simplified(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    made = {
        key: _simplified(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }
    choices = made.pop("anyOf", None)
    if choices is None:
        return made
    if made.get("default", 0) is None:
        del made["default"]
        choices = [choice for choice in choices if choice != {"type": "null"}]
    if [choice.get("type") for choice in choices] == ["integer", "number", "string"]:
        return {"type": ["number", "string"], **made}
    return {**choices[0], **made} if len(choices) == 1 else {"anyOf": choices, **made}


def _definitions(schema: JsonSchema, known: set[str]) -> Iterator[tuple[str, JsonSchema]]:
    """Yield the records that a schema refers to, directly or not."""
    for name in re.findall(rf'"{_COMPONENTS}([^"]+)"', json.dumps(schema)):
        if name not in known:
            known.add(name)
            found = _simplified(record_components()[name])
            yield name, found
            yield from _definitions(found, known)


def _add_fields(schema: JsonSchema, fields: JsonSchema, required: list[str]) -> None:
    schema["properties"] = {**fields, **schema["properties"]}
    schema["required"] = [*required, *schema.get("required", [])]
