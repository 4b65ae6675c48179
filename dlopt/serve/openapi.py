"""The OpenAPI 3.1 document, made from the table of operations and the records of bodies."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import get_args

from dlopt.serve.answers import JsonObject
from dlopt.serve.problem_details import MEDIA_TYPE
from dlopt.service_api import health_and_faults, job_records
from dlopt.service_api.input_schemas import (
    body_schemas,
    record_components,
    reference,
)
from dlopt.service_api.operations import (
    BOOK,
    EVENT_STREAM,
    JOB,
    JSON,
    OPERATIONS,
    Operation,
    Parameter,
    error_statuses,
)
from dlopt.version import __version__

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
    paths: dict[str, JsonObject] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    schemas = dict(record_components())
    for operation in OPERATIONS:
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


def _operation(operation: Operation) -> JsonObject:
    found: JsonObject = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "parameters": [*map(_parameter, (*operation.path_parameters, *operation.parameters))],
        "responses": _responses(operation),
    }
    if operation.description:
        found["description"] = operation.description
    if operation.scope is not None:
        found["security"] = [{}, {"token": [str(operation.scope)]}]
    if operation.request:
        found["requestBody"] = {
            "required": True,
            "content": {JSON: {"schema": _any_of(body_schemas(operation))}},
        }
    return found


def _any_of(choices: list[JsonObject]) -> JsonObject:
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _parameter(parameter: Parameter) -> JsonObject:
    return {
        "name": parameter.name,
        "in": parameter.place,
        **({"required": True} if parameter.place == "path" else {}),
        "description": parameter.description,
        "schema": parameter.schema,
    }


def _responses(operation: Operation) -> JsonObject:
    schema: JsonObject
    if operation.media_type == EVENT_STREAM:
        schema = _event_schema()
    elif operation.response is None:
        schema = {"type": "string"}
    elif operation.name == "submit_job":
        schema = _any_of([reference(job_records.JobStatus), reference(health_and_faults.FaultList)])
    else:
        schema = reference(operation.response)
    responses = {
        str(status): {
            "description": HTTPStatus(status).phrase,
            "content": {operation.media_type: {"schema": schema}},
        }
        for status in operation.statuses
    }
    links = _links(operation)
    if links:
        for response in responses.values():
            response["links"] = links
    problem = {MEDIA_TYPE: {"schema": reference(health_and_faults.Problem)}}
    for status in error_statuses(operation):
        responses[str(status)] = {"description": HTTPStatus(status).phrase, "content": problem}
    return responses


def _event_schema() -> JsonObject:
    """Return the schema of one event of a stream, whose fields are texts, as all of such streams.

    OpenAPI 3.1 does not say how a stream is described; 3.2 describes each of its events so.
    """
    records = [reference(job_records.JobStatus), reference(job_records.JobProgress)]
    data = {
        "type": "string",
        "contentMediaType": JSON,
        "contentSchema": _any_of(records),
        "description": "JSON: the progress, or of the other events the status of the job.",
    }
    names = list(get_args(job_records.JobEventName))
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "event": {"type": "string", "enum": names},
            "data": data,
        },
        "required": ["id", "event", "data"],
    }


def _links(operation: Operation) -> JsonObject:
    """Return which operations take what an answer is about: a new book or a new job."""
    if operation.name == "create_book":
        return _links_from(operation, BOOK, {"name": "$request.path.name"})
    if operation.name == "submit_job":
        return _links_from(operation, JOB, {"id": "$response.body#/id"})
    return {}


def _links_from(operation: Operation, path: str, parameters: JsonObject) -> JsonObject:
    return {
        other.name: {"operationId": other.name, "parameters": parameters}
        for other in OPERATIONS
        if other.path.startswith(path) and other is not operation
    }
