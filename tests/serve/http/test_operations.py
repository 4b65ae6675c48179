"""What each operation asks of the parts of the service, and what its response is."""

from __future__ import annotations

import asyncio
import re

import pytest
from starlette.testclient import TestClient

from dlopt.errors import (
    Fault,
    InvalidInstanceError,
    MissingExtraError,
    NotApplicableError,
    SolverError,
)
from dlopt.serve import errors
from dlopt.serve.handlers import HANDLERS, handler_of
from dlopt.service_api.operations import OPERATIONS, Operation
from tests.serve.http.fakes import FakeBooks, FakeJobs

VERBS = [op for op in OPERATIONS if op.verb]


def path_of(operation: Operation) -> str:
    return operation.path.format(name="main", id="1")


def test_every_operation_has_a_handler_and_every_handler_an_operation() -> None:
    assert all(handler_of(operation) for operation in OPERATIONS)
    assert set(HANDLERS) == {op.name for op in OPERATIONS if not (op.verb or op.page_file)}


def test_names_and_routes_are_unique() -> None:
    assert len({op.name for op in OPERATIONS}) == len(OPERATIONS)
    assert len({(op.method, op.path) for op in OPERATIONS}) == len(OPERATIONS)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda op: op.name)
def test_every_operation_answers(client: TestClient, operation: Operation) -> None:
    body = {"json": {}} if operation.request is not None else {}
    answer = client.request(operation.method, path_of(operation), **body)
    assert answer.status_code in operation.statuses, answer.text
    assert answer.headers["content-type"].startswith(operation.media_type)
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "operation", [op for op in VERBS if op.method == "POST"], ids=lambda o: o.name
)
def test_a_verb_gets_its_arguments(
    client: TestClient, books: FakeBooks, operation: Operation
) -> None:
    headers = {"If-Match": '"5"', "Idempotency-Key": "key-1"}
    answer = client.post(f"/v1/books/main/{operation.verb}", json={"a": [0.5]}, headers=headers)
    assert answer.headers["etag"] == '"7"'
    assert books.calls == [("call", "main", operation.verb, {"a": [0.5]}, "key-1", 5)]


def test_views_of_a_book(client: TestClient, books: FakeBooks) -> None:
    assert client.get("/v1/books/main/plan").status_code == 200
    assert client.get("/v1/books/main/log?after=3&limit=2", headers={"If-Match": "*"})
    assert books.calls == [
        ("call", "main", "plan", {}, None, None),
        ("call", "main", "log", {"after": 3, "limit": 2}, None, None),
    ]


def test_a_book_is_made_and_deleted(client: TestClient, books: FakeBooks) -> None:
    answer = client.put("/v1/books/main", content='{"now": 0.5}', headers=json_content())
    assert (answer.status_code, answer.headers["location"]) == (201, "/v1/books/main")
    client.put(
        "/v1/books/exact", content='{"exact_numbers": true, "now": 0.1}', headers=json_content()
    )
    client.delete("/v1/books/main", headers={"If-Match": '"5"'})
    assert books.calls[0] == ("create", "main", {"now": 0.5})
    assert str(books.calls[1][2]["now"]) == "1/10"
    assert books.calls[2] == ("delete", "main", 5)


def test_numbers_are_read_as_the_book_reads_them(client: TestClient, books: FakeBooks) -> None:
    books.exact = {"exact"}
    for name in ("exact", "floats"):
        client.post(f"/v1/books/{name}/advance", content='{"now": 0.1}', headers=json_content())
    assert [str(call[3]["now"]) for call in books.calls] == ["1/10", "0.1"]


def json_content() -> dict[str, str]:
    return {"content-type": "application/json"}


def test_jobs(client: TestClient, jobs: FakeJobs) -> None:
    answer = client.post("/v1/jobs", json={"kind": "solve"})
    assert (answer.status_code, answer.headers["location"]) == (202, "/v1/jobs/1")
    assert client.post("/v1/jobs?validate=only", json={"kind": "solve"}).json() == {"faults": []}
    assert jobs.calls == [("submit", {"kind": "solve"}, ""), ("validate", {"kind": "solve"})]
    assert client.get("/v1/jobs/1/certificate").content == b"VER 1.01"
    plot = client.get("/v1/jobs/1/plot")
    assert plot.headers["content-type"] == "image/svg+xml"
    assert "sandbox" in plot.headers["content-security-policy"]


@pytest.mark.parametrize(("last", "first"), [(None, 1), ("0", 1), ("2", 3)])
def test_events_go_on_after_the_last_one(client: TestClient, last: str | None, first: int) -> None:
    headers = {} if last is None else {"Last-Event-ID": last}
    answer = client.get("/v1/jobs/1/events", headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [int(found) for found in re.findall(r"id: (\d+)", answer.text)] == list(range(first, 5))
    assert re.findall(r"data: (.*?)\s*$", answer.text, re.MULTILINE)[-1] == (
        '{"value": 4, "text": "a\\nb"}'
    )


@pytest.mark.parametrize("suffix", ["", "/events", "/result", "/certificate", "/plot"])
def test_an_unknown_job(client: TestClient, suffix: str) -> None:
    answer = client.get(f"/v1/jobs/2{suffix}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


ERRORS = [
    (errors.NotFoundError("there is no book"), 404, "not-found"),
    (errors.ConflictingStateError("another definition"), 409, "conflict-with-the-present-state"),
    (errors.PreconditionError("version 4"), 412, "another-version"),
    (InvalidInstanceError([Fault("task.load", -1, "must be positive")]), 422, "invalid-content"),
    (NotApplicableError("no reservations here"), 422, "not-applicable"),
    (errors.TooManyRequestsError("the queue is full", retry_after_s=2.5), 429, "too-many-requests"),
    (errors.UnavailableError("disk full"), 503, "not-available"),
    (MissingExtraError("matplotlib", "plot"), 501, "not-installed"),
]


@pytest.mark.parametrize(("error", "status", "kind"), ERRORS, ids=lambda e: str(e)[:20])
def test_errors_of_the_parts(
    client: TestClient, books: FakeBooks, error: Exception, status: int, kind: str
) -> None:
    books.raises = error
    answer = client.post("/v1/books/main/submit", json={}, headers={"X-Request-ID": "mine"})
    body = answer.json()
    assert answer.status_code == body["status"] == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["type"] == f"urn:dlopt:{kind}"
    assert body["detail"] == str(error)
    assert body["request_id"] == answer.headers["x-request-id"] == "mine"
    faults = getattr(error, "faults", ())
    assert body["faults"] == [
        {"path": fault.path, "value": fault.value, "rule": fault.rule} for fault in faults
    ]
    assert answer.headers.get("retry-after") == ("3" if status == 429 else None)


@pytest.mark.parametrize("error", [ZeroDivisionError("secret"), SolverError("secret")])
def test_what_is_not_raised_on_purpose_is_logged_and_not_shown(
    client: TestClient, books: FakeBooks, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    books.raises = error
    answer = client.post("/v1/books/main/submit", json={})
    assert answer.status_code == 500
    assert "secret" not in answer.text
    [record] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert record.exc_info is not None and record.exc_info[1] is error
    assert vars(record)["request_id"] == answer.json()["request_id"]


def test_values_of_faults_are_short(client: TestClient, books: FakeBooks) -> None:
    values = [10**400, "x" * 10_000, float("inf"), [[0] * 1000] * 1000, {"a": float("nan")}]
    books.raises = InvalidInstanceError([Fault("a", value, "is wrong") for value in values])
    answer = client.post("/v1/books/main/submit", json={})
    assert answer.status_code == 422
    assert all(len(fault["value"]) <= 60 for fault in answer.json()["faults"])
    books.raises = InvalidInstanceError([Fault("a", 1, "is wrong")] * 100_000)
    assert len(client.post("/v1/books/main/submit", json={}).json()["faults"]) == 1_000


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/v1/books", "GET, HEAD"), ("/v1/jobs", "GET, HEAD, POST"), ("/v1/books/a/ask", "POST")],
)
def test_methods_that_a_path_does_not_have(client: TestClient, path: str, allowed: str) -> None:
    answer = client.request("PATCH", path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert answer.json()["title"] == "Method not allowed"


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/v1/books/",
        "/v1/books/a/b/c",
        "/v1/books/a/dance",
        "/page/index.html",
        "/../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/v1/jobs/..%2f..%2fapp.py/certificate",
        "/page.js/../app.py",
        "/app.py",
        "//etc/passwd",
    ],
)
def test_paths_lead_to_no_file(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "root:" not in answer.text and "import" not in answer.text


def test_the_pages_have_all_that_they_load(client: TestClient) -> None:
    for page in ("/", "/docs"):
        loaded = re.findall(r'(?:src|href)="([^":]+\.(?:js|css))"', client.get(page).text)
        assert loaded
        for path in loaded:
            answer = client.get(path)
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith(("text/javascript", "text/css"))
            assert answer.headers["content-security-policy"].startswith("default-src 'none'")
            known = {"If-None-Match": answer.headers["etag"]}
            assert client.get(path, headers=known).status_code == 304
    assert client.post("/page.js").status_code == 404


def test_head_is_answered(client: TestClient) -> None:
    answer = client.head("/v1/books")
    assert answer.status_code == 200


def test_request_ids_are_echoed_or_made(client: TestClient) -> None:
    ids = {client.get("/healthz").headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3
    for odd in ("a b", "x" * 101, "\u00e9"):
        answer = client.get("/healthz", headers={"X-Request-ID": odd.encode("utf-8")})  # type: ignore[dict-item]
        assert answer.headers["x-request-id"] != odd


def test_a_service_that_does_not_run_answers_503(client: TestClient) -> None:
    client.app.state.application.services = None  # type: ignore[attr-defined]
    answer = client.get("/v1/books")
    assert (answer.status_code, answer.json()["title"]) == (503, "Not available")


def test_a_client_that_goes_away_is_no_error(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    parts = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> dict[str, object]:
        return parts.pop(0)

    async def send(message: object) -> None:
        raise AssertionError(message)

    headers = [
        (b"host", b"localhost"),
        (b"content-type", b"application/json"),
    ]
    scope = {"type": "http", "method": "POST", "path": "/v1/books/a/ask", "headers": headers}
    asyncio.run(client.app({**scope, "query_string": b""}, receive, send))  # type: ignore[arg-type]
    assert not caplog.records
    assert 'operation="book_ask",status="499"' in client.get("/metrics").text
