"""What is sent again, and when; what answers mean that are none."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from dlopt.client import (
    AsyncClient,
    Client,
    RefusedRequestError,
    Retries,
    UnreachableServiceError,
    UnreadableAnswerError,
)
from dlopt.client.calls import call_of, plain_call
from dlopt.client.exchange import Answered, Lost, Received, exchange
from dlopt.client.operations import OPERATIONS
from dlopt.errors import MISSING, InvalidInstanceError, NotApplicableError

URL = "http://service.test"
PATIENT = Retries(attempts=3, share=lambda: 0.0)
DONE = Received(200, {"etag": '"7"'}, b'{"decision": 1}')
BUSY = Received(503, {}, b"")
NOT_CONNECTED, NO_ANSWER = Lost("refused", sent=False), Lost("closed", sent=True)
QUESTION = {"kind": "solve", "hash": "0"}
TASK = {"book": "a", "task": {"id": "x"}}


def run(name: str, outcomes: list[Any], retries: Retries = PATIENT) -> tuple[Any, list[float]]:
    """Return what the exchange of a call ends with, and its pauses; all outcomes must be used."""
    steps, pauses, left = (
        exchange(plain_call(name, QUESTION if name == "run" else TASK), retries),
        [],
        list(outcomes),
    )
    step = next(steps)
    try:
        while True:
            if step is None:
                step = steps.send(left.pop(0))
            else:
                pauses.append(step)
                step = next(steps)
    except StopIteration as ended:
        assert not left
        return ended.value, pauses
    except Exception as error:
        assert not left
        return error, pauses


def test_an_answer_has_the_version_of_its_book() -> None:
    assert run("submit", [DONE]) == (Answered({"decision": 1}, 7), [])


@pytest.mark.parametrize("name", ["ask", "submit"])
@pytest.mark.parametrize("outcome", [BUSY, NOT_CONNECTED, NO_ANSWER, Received(502, {}, b"")])
def test_what_failed_is_sent_again_after_growing_pauses(name: str, outcome: Any) -> None:
    assert run(name, [outcome, outcome, DONE]) == (Answered({"decision": 1}, 7), [0.1, 0.2])


def test_repetitions_have_one_key_and_other_calls_another() -> None:
    call, other = plain_call("submit", TASK), plain_call("submit", TASK)
    assert call.headers["idempotency-key"] != other.headers["idempotency-key"]
    assert "idempotency-key" not in plain_call("ask", TASK).headers


def test_a_job_is_not_begun_twice() -> None:
    error, pauses = run("run", [NO_ANSWER])
    assert isinstance(error, UnreachableServiceError) and error.sent and pauses == []
    assert run("run", [NOT_CONNECTED, BUSY, DONE])[1] == [0.1, 0.2]
    assert run("run", [Received(504, {}, b"")])[1] == []


def test_the_service_says_when() -> None:
    wait = Received(429, {"retry-after": "2"}, b"")
    assert run("ask", [wait, DONE])[1] == [2.0]
    error, pauses = run("ask", [Received(429, {"retry-after": "3600"}, b"")])
    assert isinstance(error, RefusedRequestError) and pauses == []
    assert (error.status, error.retry_after_s) == (429, 3600)
    dated = Received(503, {"retry-after": "Tue, 24 Nov 2026 18:00:00 GMT"}, b"")
    assert run("ask", [dated, DONE])[1] == [0.1]


def test_attempts_come_to_an_end() -> None:
    error, pauses = run("ask", [NOT_CONNECTED] * 3)
    assert isinstance(error, UnreachableServiceError) and not error.sent
    assert pauses == [0.1, 0.2]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 413, 500])
def test_other_refusals_are_final(status: int) -> None:
    body = json.dumps({"title": "No", "status": status, "detail": "not so", "request_id": "r1"})
    error, pauses = run("submit", [Received(status, {}, body.encode())])
    assert isinstance(error, RefusedRequestError) and pauses == []
    assert (error.status, error.request_id, str(error)) == (status, "r1", "No: not so")


def test_faults_become_dlopts_own() -> None:
    faults = [
        {"path": "task.load", "value": -1, "rule": "must be positive"},
        {"path": "a", "rule": "b"},
    ]
    body = json.dumps({"title": "Invalid", "status": 422, "faults": faults}).encode()
    error, _ = run("submit", [Received(422, {}, body)])
    assert isinstance(error, InvalidInstanceError)
    assert [(fault.path, fault.value, fault.rule) for fault in error.faults] == [
        ("task.load", -1, "must be positive"),
        ("a", MISSING, "b"),
    ]
    body = json.dumps({"title": "Not applicable", "status": 422, "detail": "no"}).encode()
    assert isinstance(run("submit", [Received(422, {}, body)])[0], NotApplicableError)


@pytest.mark.parametrize("body", [b"<html>", b"\xff", b"[]", b"3", b'{"faults": 7}', b""])
def test_a_refusal_in_another_format_is_one_too(body: bytes) -> None:
    error, _ = run("submit", [Received(500, {"x-request-id": "r2"}, body)])
    assert isinstance(error, RefusedRequestError)
    assert (error.status, error.title, error.request_id) == (500, "HTTP status 500", "r2")


@pytest.mark.parametrize("body", [b"<html>", b"\xff", b'{"decision": 1, "decision": 2}'])
def test_an_answer_of_another_service_is_no_fault_of_the_data(body: bytes) -> None:
    error, _ = run("submit", [Received(200, {}, body)])
    assert isinstance(error, UnreadableAnswerError) and "submit" in str(error)


def test_names_of_books_stand_in_paths_as_they_are() -> None:
    call = call_of("describe", {"book": "../a?b#c/d e"}, dict)
    assert call.path == "/v1/books/..%2Fa%3Fb%23c%2Fd%20e"


def test_every_operation_makes_a_call() -> None:
    for name, operation in OPERATIONS.items():
        arguments = {field.name: "x" for field in operation.fields}
        call = call_of(name, arguments, dict)
        assert "{" not in call.path and call.path.startswith("/v1/")
        assert (call.body is None) == (operation.method in ("GET", "DELETE"))
        assert ("idempotency-key" in call.headers) == operation.keyed


@pytest.mark.parametrize(
    ("failure", "sent"),
    [(httpx.ConnectError, False), (httpx.ConnectTimeout, False), (httpx.ReadTimeout, True)],
)
def test_lost_connections_of_both_clients(failure: type[Exception], sent: bool) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise failure("lost")

    once = Retries(attempts=2, first_pause_s=0.0)
    with Client(URL, transport=httpx.MockTransport(fail), retries=once) as client:
        with pytest.raises(UnreachableServiceError, match="lost") as error:
            client.books()
        assert error.value.sent is sent

    async def talk() -> None:
        async with AsyncClient(URL, transport=httpx.MockTransport(fail), retries=once) as client:
            with pytest.raises(UnreachableServiceError, match="lost"):
                await client.books()

    asyncio.run(talk())


def test_pauses_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    answers: list[Callable[[], httpx.Response]] = [
        lambda: httpx.Response(503),
        lambda: httpx.Response(200, json={"books": []}),
    ]
    transport = httpx.MockTransport(lambda request: answers.pop(0)())
    with Client(URL, transport=transport, retries=PATIENT) as client:
        assert client.books() == ()
    assert pauses == [0.1]
