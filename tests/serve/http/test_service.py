"""The whole service over HTTP: books, jobs, and random requests, by the OpenAPI document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
import requests
import schemathesis
from hypothesis import given
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from dlopt.serve.app import create_app
from dlopt.serve.openapi import openapi_document
from dlopt.serve.settings import ServiceSettings
from dlopt.service_api.operations import OPERATIONS
from tests.examples import share
from tests.instance_files import ROOT

BOOK = {"problem": "multistage", "cluster": {"nodes": 4, "tau": 1, "chi": 3}}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
TASK = {"id": "scan", "arrival": 0, "load": 6, "deadline": 20}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    store = tmp_path_factory.mktemp("service") / "service.db"
    app = create_app(ServiceSettings(f"sqlite:///{store}", job_time_s=20.0))
    with TestClient(app, base_url="http://127.0.0.1:8321") as opened:
        yield opened


@pytest.fixture
def book(client: TestClient) -> Iterator[str]:
    """Yield the path of a new book."""
    assert client.put("/v1/books/lab", json=BOOK).status_code == 201
    yield "/v1/books/lab"
    assert client.delete("/v1/books/lab").json() == {"name": "lab"}


def valid(answer: Any, name: str, status: int = 200) -> Any:
    """Return the body of a response that is as the document says."""
    assert answer.status_code == status, answer.text
    validator = jsonschema.Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", **openapi_document()}
    )
    validator.validate(answer.json())
    return answer.json()


def test_a_day_of_a_book(client: TestClient, book: str) -> None:
    reservation = {"id": "demo", "arrival": 0, "start": 16, "end": 24, "nodes": 3}
    index = {"id": "index", "arrival": 0, "load": 3, "deadline": 30}
    rush = {"id": "rush", "arrival": 1, "load": 8, "deadline": 20}

    def call(verb: str, name: str, body: dict[str, Any], **headers: str) -> Any:
        answer = client.post(f"{book}/{verb}", json=body, headers=headers)
        return valid(answer, name)

    assert call("ask", "DecisionAnswer", {"task": TASK})["decision"]["accepted"]
    assert call("submit", "DecisionAnswer", {"task": TASK})["decision"]["accepted"]
    assert call("submit", "DecisionAnswer", {"reservation": reservation})["decision"]["accepted"]
    assert call("submit", "DecisionAnswer", {"task": index})["decision"]["accepted"]
    assert "reason" in call("submit", "DecisionAnswer", {"task": rush})
    assert call("why", "ConflictAnswer", {"task": rush})["conflict"]["parts"]
    best, *_ = call("offer", "OffersAnswer", {"task": rush, "k": 2})["offers"]
    held = call("hold", "HoldAnswer", {**best["submission"], "ttl_s": 60})["hold"]
    assert call("confirm", "HoldState", {"id": held["id"]})["hold"]["id"] == "rush"
    valid(client.get(book), "BookDescription")
    valid(client.get("/v1/books"), "BookList")
    assert valid(client.get(f"{book}/plan"), "PlanAnswer")["plan"]["decisions"]
    assert valid(client.get(f"{book}/state"), "StateAnswer")["state"]["instance"]
    valid(client.get(f"{book}/snapshot"), "SnapshotAnswer")
    records = valid(client.get(f"{book}/log?after=1&limit=2"), "LogAnswer")["records"]
    assert [record["sequence"] for record in records] == [2, 3]
    call("advance", "ClockTime", {"now": 5})
    done = call("resources", "ConsequencesAnswer", {"fail": [0, 1]})["consequences"]
    assert done["broken"] == ["demo", "rush"]
    call("change", "DecisionAnswer", {"task": {**index, "load": 2}})
    call("resources", "ConsequencesAnswer", {"repair": [0, 1]})
    call("advance", "ClockTime", {"now": 10})
    call("cancel", "ConsequencesAnswer", {"id": "index"})
    call("finished", "ConsequencesAnswer", {"id": "scan", "at": 11})
    call("hold", "HoldAnswer", {"task": {**TASK, "id": "b", "arrival": 12}, "ttl_s": 60})
    call("release", "ConsequencesAnswer", {"id": "b"})
    call("advance", "ClockTime", {"now": 1000})
    assert call("archive", "ArchiveAnswer", {})["decisions"]
    assert valid(client.get(f"{book}/state"), "StateAnswer")["state"] is None


def test_versions_and_keys(client: TestClient, book: str) -> None:
    def submit(name: str, **headers: str) -> Any:
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        return client.post(f"{book}/submit", json={"task": {**TASK, "id": name}}, headers=sent)

    first = submit("a", If_Match='"0"', Idempotency_Key="one")
    assert first.headers["etag"] == '"1"'
    again = submit("a", Idempotency_Key="one")
    assert (again.json(), again.headers["etag"]) == (first.json(), '"1"')
    assert submit("b", Idempotency_Key="one").status_code == 409
    assert submit("b", If_Match='"0"').status_code == 412
    assert submit("b", If_Match='W/"1"').headers["etag"] == '"2"'
    for key in ("", "x" * 201, "a\tb"):
        assert submit("c", Idempotency_Key=key).json()["faults"][0]["path"] == "Idempotency-Key"


def test_errors_of_books(client: TestClient, book: str) -> None:
    def problem(answer: Any, status: int) -> Any:
        return valid(answer, "Problem", status)

    assert problem(client.post(f"{book}/submit", json={"task": {**TASK, "load": -1}}), 422)[
        "faults"
    ] == [{"path": "task.load", "rule": "must be positive", "value": -1}]
    problem(client.post(f"{book}/confirm", json={"id": "nobody"}), 404)
    problem(client.post("/v1/books/absent/submit", json={"task": TASK}), 404)
    problem(client.put("/v1/books/b", json={**BOOK, "algorithm": "nonsense"}), 422)
    problem(client.put(book, json={**BOOK, "now": 3}), 409)
    problem(client.put("/v1/books/..", json=BOOK), 404)
    problem(client.put("/v1/books/a%20b", json=BOOK), 422)
    assert client.put(book, json=BOOK).status_code == 200


def assert_described(stream: str) -> None:
    """Assert that the events of a stream are as the document describes one of them."""
    document = openapi_document()
    described = document["paths"]["/v1/jobs/{id}/events"]["get"]["responses"]["200"]["content"]
    schema = described["text/event-stream"]["schema"]
    for block in re.split(r"\s{3,}", stream.strip()):
        event = dict(line.split(": ", 1) for line in block.splitlines())
        jsonschema.Draft202012Validator(schema).validate(event)
        of_data = {**document, **schema["properties"]["data"]["contentSchema"]}
        jsonschema.Draft202012Validator(of_data).validate(json.loads(event["data"]))
        assert len(event) == 3


def test_a_job_from_the_question_to_the_result(client: TestClient) -> None:
    instance = json.loads((ROOT / "instances/iit/three-nodes.json").read_text())
    question = {"kind": "solve", "method": "exact", "instance": instance}
    assert valid(client.post("/v1/jobs?validate=only", json=question), "FaultList") == {
        "faults": []
    }
    made = client.post("/v1/jobs", json=question)
    job = valid(made, "JobStatus", 202)
    assert made.headers["location"] == f"/v1/jobs/{job['id']}"
    events = client.get(f"/v1/jobs/{job['id']}/events").text
    names = re.findall(r"event: (\w+)", events)
    assert (names[:2], names[-1]) == (["queued", "started"], "ended")
    assert_described(events)
    last = re.findall(r"id: (\d+)", events)[-2]
    resumed = client.get(f"/v1/jobs/{job['id']}/events", headers={"Last-Event-ID": last}).text
    assert re.findall(r"event: (\w+)", resumed) == ["ended"]
    assert valid(client.get(f"/v1/jobs/{job['id']}"), "JobStatus")["state"] == "done"
    assert client.get(f"/v1/jobs/{job['id']}/result").json()["status"] == "optimal"
    assert b"<svg" in client.get(f"/v1/jobs/{job['id']}/plot").content
    assert valid(client.post("/v1/jobs", json=question), "JobStatus")["id"] == job["id"]
    valid(client.delete(f"/v1/jobs/{job['id']}"), "EndedJob")
    valid(client.get("/v1/jobs"), "JobList")
    wrong = {**question, "method": "nonsense", "seed": 0.5}
    answer = client.post("/v1/jobs?validate=only", json=wrong)
    assert {fault["path"] for fault in valid(answer, "Problem", 422)["faults"]} == {
        "method",
        "seed",
    }


CASES = [
    (found.ok(), mode)
    for found in schemathesis.openapi.from_dict(openapi_document()).get_all_operations()
    for operation in OPERATIONS
    if operation.name == found.ok().definition.raw["operationId"]
    for mode in GenerationMode
    # Of what has neither a body nor parameters, nothing can be wrong.
    if mode is GenerationMode.POSITIVE or operation.request or operation.parameters
]


@pytest.mark.parametrize(
    ("operation", "mode"), CASES, ids=[f"{case[0].label} {case[1].value}" for case in CASES]
)
def test_random_requests_get_answers_that_the_document_describes(
    client: TestClient, operation: Any, mode: GenerationMode
) -> None:
    @share(1 / 10)
    @given(case=operation.as_strategy(generation_mode=mode), known=st.booleans())
    def check(case: Any, known: bool) -> None:
        if known:
            client.put("/v1/books/lab", json=BOOK)
            case.path_parameters = dict.fromkeys(case.path_parameters or {}, "lab")
        sent = requests.Request(**case.as_transport_kwargs("http://127.0.0.1:8321")).prepare()
        answer = client.request(
            sent.method,
            sent.url,
            headers=[(name.encode(), _as_bytes(value)) for name, value in sent.headers.items()],
            content=sent.body,
        )
        case.validate_response(answer, checks=CHECKS)

    check()


def _as_bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode("latin-1")
