"""The OpenAPI 3.1 document, made from the table of operations and the records of bodies."""

from __future__ import annotations

import copy
import re
from functools import cache
from http import HTTPStatus

from dlopt.schemas import record_schemas
from dlopt.serve import bodies, job_bodies
from dlopt.serve.answers import JsonObject
from dlopt.serve.books.definitions import DEFINITIONS
from dlopt.serve.operations import DOCUMENTED, JSON, Operation, Parameter, error_statuses
from dlopt.serve.problem_details import MEDIA_TYPE
from dlopt.version import __version__

_PATH_PARAMETERS = {
    "name": "Name of a book.",
    "id": "Identity of a job.",
}
_TAGS = {
    "books": "Books of promises: they decide on what is submitted, and keep what they promised.",
    "jobs": "Runs of methods on instances, in processes of their own.",
    "service": "The service itself.",
}


@cache
def openapi_document() -> JsonObject:
    """Return the document, which is made once; nobody may change it.

    Examples
    --------
    >>> document = openapi_document()
    >>> document["openapi"], document["paths"]["/v1/books/{name}/submit"]["post"]["operationId"]
    ('3.1.0', 'book_submit')
    """
    described = {bodies.Problem, bodies.FaultList}
    for operation in DOCUMENTED:
        described |= {*operation.request, *_given(operation.options), *_given(operation.response)}
    schemas = record_schemas(sorted(described, key=lambda record: record.__name__))
    for problem, record in DEFINITIONS.items():
        _add_fields(schemas[record.__name__], {"problem": {"const": problem}}, ["problem"])
    paths: dict[str, JsonObject] = {}
    for operation in DOCUMENTED:
        made = _operation(operation, schemas)
        paths.setdefault(operation.path, {})[operation.method.lower()] = made
    for operation in DOCUMENTED:
        if operation.options is not None:  # its fields stand in the bodies themselves
            schemas.pop(operation.options.__name__, None)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "dlopt",
            "version": __version__,
            "description": "Scheduling: jobs that solve instances, and books that decide online. "
            "A number in a body may be an integer, a decimal or a text `p/q`.",
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Not needed on the loopback without a token file.",
                }
            },
        },
    }


def _operation(operation: Operation, schemas: JsonObject) -> JsonObject:
    found: JsonObject = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "parameters": [
            *(_path_parameter(name) for name in re.findall(r"{(\w+)}", operation.path)),
            *map(_parameter, operation.parameters),
        ],
        "responses": _responses(operation),
    }
    if operation.description:
        found["description"] = operation.description
    if operation.scope is not None:
        found["security"] = [{}, {"token": [str(operation.scope)]}]
    if operation.request:
        found["requestBody"] = {
            "required": True,
            "content": {JSON: {"schema": _request(operation, schemas)}},
        }
    return found


def _request(operation: Operation, schemas: JsonObject) -> JsonObject:
    """Return what a body is: one of several records, with the options among its fields."""
    choices = [_reference(record) for record in operation.request]
    if operation.options is not None:
        options = schemas[operation.options.__name__]
        choices = [copy.deepcopy(schemas[record.__name__]) for record in operation.request]
        for choice in choices:
            _add_fields(choice, options["properties"], options.get("required", []))
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _add_fields(schema: JsonObject, fields: JsonObject, required: list[str]) -> None:
    schema["properties"] = {**fields, **schema["properties"]}
    schema["required"] = [*required, *schema.get("required", [])]


def _path_parameter(name: str) -> JsonObject:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": _PATH_PARAMETERS[name],
        "schema": {"type": "string", "minLength": 1},
    }


def _parameter(parameter: Parameter) -> JsonObject:
    if parameter.kind is int:
        schema: JsonObject = {"type": "integer", "minimum": 0, "maximum": 10**15 - 1}
    else:
        schema = {"type": "string", "pattern": parameter.pattern}
    return {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.description,
        "schema": schema,
    }


def _responses(operation: Operation) -> JsonObject:
    if operation.response is None:
        schema: JsonObject = {"type": "string"}
    elif operation.name == "submit_job":
        schema = {"anyOf": [_reference(job_bodies.JobStatus), _reference(bodies.FaultList)]}
    else:
        schema = _reference(operation.response)
    responses = {
        str(status): {
            "description": HTTPStatus(status).phrase,
            "content": {operation.media_type: {"schema": schema}},
        }
        for status in operation.statuses
    }
    problem = {MEDIA_TYPE: {"schema": _reference(bodies.Problem)}}
    for status in error_statuses(operation):
        responses[str(status)] = {"description": HTTPStatus(status).phrase, "content": problem}
    return responses


def _reference(record: type) -> JsonObject:
    if record is dict:
        return {"type": "object"}
    return {"$ref": f"#/components/schemas/{record.__name__}"}


def _given(record: type | None) -> set[type]:
    return set() if record is None or record is dict else {record}
