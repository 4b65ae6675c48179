"""What is sent again, and when; the errors of responses that are no answers."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable
from typing import Any

import httpx
import pytest

from dlopt.client import (
    AsyncClient,
    Client,
    RefusedRequestError,
    RetryPolicy,
    UnreachableServiceError,
    UnreadableAnswerError,
)
from dlopt.client.connection import ServiceConnection
from dlopt.client.http_io import BlockingHttpIO, run_at_once
from dlopt.client.http_messages import HttpRequest, Reply, request_of
from dlopt.errors import MISSING, InvalidInstanceError, NotApplicableError
from dlopt.service_api.input_schemas import TOOL_OPERATIONS, input_schema

URL = "http://service.test"
PATIENT = RetryPolicy(attempts=3, random_share=lambda: 0.0)
DONE = httpx.Response(200, headers={"ETag": '"7"'}, content=b'{"decision": 1}')
BUSY = httpx.Response(503)
NOT_CONNECTED = UnreachableServiceError("refused", sent=False)
NO_ANSWER = UnreachableServiceError("closed", sent=True)
TASK = {"name": "a", "task": {"id": "x"}}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "book_ask": TASK,
    "book_submit": TASK,
    "delete_book": {"name": "a"},
    "submit_job": {"kind": "solve", "hash": "0"},
    "cancel_job": {"id": "1"},
}


class Script(BlockingHttpIO):
    """Input and output with prescribed outcomes of the requests; pauses take no time."""

    def __init__(self, outcomes: Iterable[httpx.Response | UnreachableServiceError]) -> None:
        self._outcomes = list(outcomes)
        self.requests: list[HttpRequest] = []
        self.pauses: list[float] = []

    async def send(self, request: HttpRequest) -> httpx.Response:
        self.requests.append(request)
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, UnreachableServiceError):
            raise outcome
        return outcome

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    async def close(self) -> None:
        assert not self._outcomes


def run(name: str, outcomes: list[Any]) -> tuple[Any, list[float]]:
    """Return what a call ends with, and its pauses; all outcomes must be used."""
    io = Script(outcomes)
    ended: Any
    try:
        ended = run_at_once(ServiceConnection(io, PATIENT).call(name, ARGUMENTS[name], dict))
    except Exception as error:
        ended = error
    run_at_once(io.close())
    assert len({request.headers.get("idempotency-key") for request in io.requests}) == 1
    return ended, io.pauses


def test_an_answer_has_the_version_of_its_book() -> None:
    assert run("book_submit", [DONE]) == (Reply({"decision": 1}, 7), [])


@pytest.mark.parametrize("name", ["book_ask", "book_submit"])
@pytest.mark.parametrize("outcome", [BUSY, NOT_CONNECTED, NO_ANSWER, httpx.Response(502)])
def test_what_failed_is_sent_again_after_growing_pauses(name: str, outcome: Any) -> None:
    assert run(name, [outcome, outcome, DONE]) == (Reply({"decision": 1}, 7), [0.1, 0.2])


def test_repetitions_have_one_key_and_other_calls_another() -> None:
    call, other = request_of("book_submit", TASK), request_of("book_submit", TASK)
    assert call.headers["idempotency-key"] != other.headers["idempotency-key"]
    assert "idempotency-key" not in request_of("book_ask", TASK).headers


def test_a_book_is_not_deleted_twice_and_a_job_may_be_stopped_twice() -> None:
    assert isinstance(run("delete_book", [NO_ANSWER])[0], UnreachableServiceError)
    assert run("cancel_job", [NO_ANSWER, DONE])[1] == [0.1]


def test_a_job_is_not_begun_twice() -> None:
    error, pauses = run("submit_job", [NO_ANSWER])
    assert isinstance(error, UnreachableServiceError) and error.sent and pauses == []
    assert run("submit_job", [NOT_CONNECTED, BUSY, DONE])[1] == [0.1, 0.2]
    assert run("submit_job", [httpx.Response(504)])[1] == []


def test_the_service_says_when() -> None:
    wait = httpx.Response(429, headers={"retry-after": "2"})
    assert run("book_ask", [wait, DONE])[1] == [2.0]
    error, pauses = run("book_ask", [httpx.Response(429, headers={"retry-after": "3600"})])
    assert isinstance(error, RefusedRequestError) and pauses == []
    assert (error.status, error.retry_after_s) == (429, 3600)
    dated = httpx.Response(503, headers={"retry-after": "Tue, 24 Nov 2026 18:00:00 GMT"})
    assert run("book_ask", [dated, DONE])[1] == [0.1]
    assert run("book_ask", [httpx.Response(503, headers={"retry-after": "nan"}), DONE])[1] == [0.1]


def test_attempts_come_to_an_end() -> None:
    error, pauses = run("book_ask", [NOT_CONNECTED] * 3)
    assert isinstance(error, UnreachableServiceError) and not error.sent
    assert pauses == [0.1, 0.2]


def test_pauses_are_shortened_at_random() -> None:
    assert RetryPolicy(first_pause_s=1.0, random_share=lambda: 0.5).pause_s(2) == 1.5


def test_a_pause_has_a_maximum_after_any_number_of_attempts() -> None:
    assert [PATIENT.pause_s(attempt) for attempt in (7, 8, 1025, 10**6)] == [6.4, 10, 10, 10]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 413, 500])
def test_other_refusals_are_final(status: int) -> None:
    body = json.dumps({"title": "No", "status": status, "detail": "not so", "request_id": "r1"})
    error, pauses = run("book_submit", [httpx.Response(status, content=body.encode())])
    assert isinstance(error, RefusedRequestError) and pauses == []
    assert (error.status, error.request_id, str(error)) == (status, "r1", "No: not so")


def test_faults_become_dlopts_own() -> None:
    faults = [
        {"path": "task.load", "value": -1, "rule": "must be positive"},
        {"path": "a", "rule": "b"},
    ]
    body = json.dumps({"title": "Invalid", "status": 422, "faults": faults}).encode()
    error, _ = run("book_submit", [httpx.Response(422, content=body)])
    assert isinstance(error, InvalidInstanceError)
    assert [(fault.path, fault.value, fault.rule) for fault in error.faults] == [
        ("task.load", -1, "must be positive"),
        ("a", MISSING, "b"),
    ]
    body = json.dumps({"title": "Not applicable", "status": 422, "detail": "no"}).encode()
    assert isinstance(
        run("book_submit", [httpx.Response(422, content=body)])[0], NotApplicableError
    )


@pytest.mark.parametrize("body", [b"<html>", b"\xff", b"[]", b"3", b'{"faults": 7}', b""])
def test_a_refusal_in_another_format_is_one_too(body: bytes) -> None:
    error, _ = run(
        "book_submit", [httpx.Response(500, headers={"x-request-id": "r2"}, content=body)]
    )
    assert isinstance(error, RefusedRequestError)
    assert (error.status, error.title, error.request_id) == (500, "HTTP status 500", "r2")


@pytest.mark.parametrize("body", [b"<html>", b"\xff", b'{"decision": 1, "decision": 2}'])
def test_an_answer_of_another_service_is_no_fault_of_the_data(body: bytes) -> None:
    error, _ = run("book_submit", [httpx.Response(200, content=body)])
    assert isinstance(error, UnreadableAnswerError) and "submit" in str(error)


def test_names_of_books_stand_in_paths_as_they_are() -> None:
    request = request_of("describe_book", {"name": "../a?b#c/d e"})
    assert request.path == "/v1/books/..%2Fa%3Fb%23c%2Fd%20e"


@pytest.mark.parametrize("name", TOOL_OPERATIONS)
def test_every_operation_makes_a_request(name: str) -> None:
    operation = TOOL_OPERATIONS[name]
    request = request_of(name, dict.fromkeys(input_schema(name)["properties"], "x"))
    assert "{" not in request.path and request.path.startswith("/v1/")
    assert ("?" in request.path) == (name in ("book_log", "submit_job"))
    assert (request.body is None) == (operation.method in ("GET", "DELETE"))
    assert ("idempotency-key" in request.headers) == operation.is_keyed


@pytest.mark.parametrize(
    ("failure", "sent"),
    [(httpx.ConnectError, False), (httpx.ConnectTimeout, False), (httpx.ReadTimeout, True)],
)
def test_lost_connections_of_both_clients(failure: type[Exception], sent: bool) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise failure("lost")

    once = RetryPolicy(attempts=2, first_pause_s=0.0)
    with Client(URL, transport=httpx.MockTransport(fail), retry_policy=once) as client:
        with pytest.raises(UnreachableServiceError, match="lost") as error:
            client.books()
        assert error.value.sent is sent

    async def talk() -> None:
        transport = httpx.MockTransport(fail)
        async with AsyncClient(URL, transport=transport, retry_policy=once) as client:
            with pytest.raises(UnreachableServiceError, match="lost"):
                await client.books()

    asyncio.run(talk())


def test_pauses_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    answers = [httpx.Response(503), httpx.Response(200, json={"books": []})]
    transport = httpx.MockTransport(lambda request: answers.pop(0))
    with Client(URL, transport=transport, retry_policy=PATIENT) as client:
        assert client.books() == ()
    assert pauses == [0.1]


def test_arguments_that_cannot_be_sent_are_refused() -> None:
    for url in (3, None, b"http://service.test"):
        with pytest.raises(NotApplicableError, match="is no URL: Invalid type for url"):
            Client(url)  # type: ignore[arg-type]
    for wrong in (b"x", float("nan")):
        with pytest.raises(NotApplicableError, match="an argument cannot be sent as JSON"):
            request_of("submit_job", {"kind": "solve", "instance": wrong})
