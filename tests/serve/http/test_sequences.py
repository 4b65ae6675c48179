"""Sequences of requests that use what earlier ones made, by the links of the OpenAPI document."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ensure_resource_availability,
    response_schema_conformance,
    status_code_conformance,
    use_after_free,
)
from starlette.testclient import TestClient

from dlopt.serve.app import create_app
from dlopt.serve.openapi import openapi_document
from dlopt.serve.settings import ServiceSettings
from tests.examples import share

URL = "http://127.0.0.1:8321"
CLUSTER = {"nodes": 4, "tau": 1, "chi": 3}
DEFINITIONS: list[dict[str, Any]] = [
    {"problem": "admission", "cluster": CLUSTER},
    {"problem": "multistage", "cluster": CLUSTER},
    {"problem": "coreservation", "machines": [{"id": "m", "capacity": 100}]},
    {"problem": "multistage", "cluster": CLUSTER, "clock": "wall"},
]
SUBMISSIONS: dict[str, dict[str, Any]] = {
    "task": {"arrival": 0, "load": 6, "deadline": 90},
    "reservation": {"arrival": 0, "start": 16, "end": 24, "nodes": 3},
    "request": {"arrival": 0, "start": 5, "end": 15, "priority": 1, "parts": [{"cpu": 60}]},
}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    use_after_free,
    ensure_resource_availability,
]
DOCUMENT = copy.deepcopy(openapi_document())  # links that schemathesis infers are added to it
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT).include(path_regex="^/v1/books/")


def likely_body(case: Any) -> Any:
    """Return a body like the one that was drawn, but one that a book is likely to accept.

    What is drawn at random is hardly ever a definition, a submission to a book of its problem, or
    the identity of another promise.
    """
    body = case.body
    if case.method == "PUT":
        return DEFINITIONS[len(case.path_parameters["name"]) % len(DEFINITIONS)]
    if not isinstance(body, dict):
        return body
    identity = {"id": "ab"[len(str(body)) % 2]}
    for kind, content in SUBMISSIONS.items():
        if kind in body:
            options = {name: value for name, value in body.items() if name not in SUBMISSIONS}
            return {**options, kind: content | identity}
    return body | identity if "id" in body else body


def test_a_book_is_made_used_and_deleted_in_any_order(tmp_path: Path) -> None:
    app = create_app(ServiceSettings(f"sqlite:///{tmp_path}/service.db"))
    with TestClient(app, base_url=URL) as client:

        class Sequence(SCHEMA.as_state_machine()):  # type: ignore[misc]
            def before_call(self, case: Any) -> None:
                case.body = likely_body(case)

            def call(self, case: Any, **_options: Any) -> Response:
                sent = requests.Request(**case.as_transport_kwargs(URL)).prepare()
                answer = client.request(
                    sent.method or "",
                    sent.url or "",
                    headers={name: str(value) for name, value in sent.headers.items()},
                    content=sent.body,
                )
                return Response.from_any(answer)

            def validate_response(self, response: Response, case: Any, *_: Any, **__: Any) -> None:
                case.validate_response(response, checks=CHECKS, recorder=self.recorder)

            def teardown(self) -> None:
                for book in client.get("/v1/books").json()["books"]:
                    client.delete(f"/v1/books/{book['name']}")

        Sequence.run(
            settings=settings(
                share(1 / 20), stateful_step_count=10, suppress_health_check=list(HealthCheck)
            )
        )
