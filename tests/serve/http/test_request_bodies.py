"""Bodies, parameters and headers that are wrong, in every way that a client can get them wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from dlopt.serve import request_bodies
from dlopt.serve.errors import MalformedRequestError, RefusedRequestError
from dlopt.serve.request_bodies import parsed_object, read_body
from tests.serve.http.fakes import FakeBooks

PATH = "/v1/books/main/submit"
JSON = {"content-type": "application/json"}

MALFORMED = {
    "empty": (b"", "is not valid JSON"),
    "half": (b'{"task": {"id": "a"', "is not valid JSON"),
    "list": (b"[]", "must be a JSON object"),
    "number": (b"3", "must be a JSON object"),
    "nothing": (b"null", "must be a JSON object"),
    "not UTF-8": (b'{"id": "\xff"}', "not UTF-8 at byte 8"),
    "UTF-16": ('{"id": 1}'.encode("utf-16"), "not UTF-8"),
    "form": (b"task=a", "is not valid JSON"),
    "repeated": (b'{"id": 1, "id": 2}', "is given twice"),
    "many digits": (b'{"load": ' + b"9" * 100_000 + b"}", "more than 1000 digits"),
    "many decimals": (b'{"load": 0.' + b"9" * 100_000 + b"}", "more than 1000 digits"),
    "long fraction": (b'{"load": "1/' + b"7" * 100_000 + b'"}', "more than 1000 digits"),
    "nested lists": (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested more than 64"),
    "nested objects": (b'{"a":' * 65 + b"1" + b"}" * 65, "nested more than 64"),
    "never closed": (b'{"a": ' + b"[" * 1_000_000, "nested more than 64"),
    "text never closed": (b'{"a": [' + b"[]," * 65 + b'"' + b'\\"' * 200_000, "is not valid JSON"),
    "surrogate": (b'{"id": "\\ud800"}', "surrogate"),
    "surrogate key": (b'{"a": [{"\\udfff": 1}]}', "surrogate"),
    "line end in text": (b'{"id": "a\nb"}', "is not valid JSON"),
}


@pytest.mark.parametrize(("body", "rule"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_bodies(client: TestClient, books: FakeBooks, body: bytes, rule: str) -> None:
    answer = client.post(PATH, content=body, headers=JSON)
    assert answer.status_code == 400
    assert rule in answer.json()["faults"][0]["rule"]
    assert not books.calls


def test_every_repeated_field_is_named(client: TestClient) -> None:
    body = b'{"task": {"id": 1, "id": 2}, "x": [{"y": 1, "y": 1}]}'
    faults = client.post(PATH, content=body, headers=JSON).json()["faults"]
    assert {fault["path"] for fault in faults} == {"task.id", "x[0].y"}


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbf{}",
        b'{"a": "[[[[' + b"[" * 100 + b'"}',
        b'{"a": "\\"' + b"{" * 100 + b'"}',
        b'{"a": [' + b"[]," * 1000 + b"1]}",
        b'{"a": "\\ud83d\\ude00"}',
        b'{"a": ' + b"[" * 63 + b"]" * 63 + b"}",
        b'{"a": ' + b"9" * 1000 + b"}",
    ],
)
def test_bodies_within_the_limits(client: TestClient, books: FakeBooks, body: bytes) -> None:
    assert client.post(PATH, content=body, headers=JSON).status_code == 200
    assert books.calls[0][3] == json.loads(body.decode("utf-8-sig"))


@pytest.mark.parametrize("chunked", [False, True])
def test_bodies_that_are_too_large(
    serving: Callable[..., TestClient], books: FakeBooks, chunked: bool
) -> None:
    client = serving(max_body_bytes=1_000)
    text = b'{"id": "' + b"x" * 1_000 + b'"}'

    def parts() -> Iterator[bytes]:
        for at in range(0, len(text), 100):
            yield text[at : at + 100]

    answer = client.post(PATH, content=parts() if chunked else text, headers=JSON)
    assert (answer.status_code, answer.json()["title"]) == (413, "Too large")
    assert not books.calls


def test_a_body_is_given_up_before_all_of_it_has_come() -> None:
    received = []

    async def receive() -> dict[str, object]:
        received.append(1)
        return {"type": "http.request", "body": b"x" * 1_000, "more_body": True}

    with pytest.raises(RefusedRequestError, match="more than"):
        asyncio.run(read_body({"headers": []}, receive, 10_000))  # type: ignore[arg-type]
    assert len(received) == 11


@pytest.mark.parametrize("count", [0, 1])
def test_a_body_that_does_not_come_is_given_up(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(request_bodies, "BODY_TIME_S", 0.01)
    parts = [{"type": "http.request", "body": b"{", "more_body": True}] * count

    async def receive() -> dict[str, object]:
        if parts:
            return parts.pop()
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(RefusedRequestError, match="has not arrived"):
        asyncio.run(read_body({"headers": []}, receive, 10_000))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "application/json; charset=utf-16"},
        {"content-type": "application/json", "content-encoding": "gzip"},
    ],
)
def test_other_media_types(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.post(PATH, content=b"{}", headers=headers)
    assert (answer.status_code, answer.json()["title"]) == (415, "Unsupported media type")


@pytest.mark.parametrize("kind", ["Application/JSON", 'application/json; charset="UTF-8"'])
def test_spellings_of_the_media_type(client: TestClient, kind: str) -> None:
    assert client.post(PATH, content=b"{}", headers={"content-type": kind}).status_code == 200


@pytest.mark.parametrize(
    ("path", "headers", "named"),
    [
        ("/v1/books/a/log?after=x", {}, "after"),
        ("/v1/books/a/log?after=-1", {}, "after"),
        ("/v1/books/a/log?limit=" + "9" * 5_000, {}, "limit"),
        ("/v1/books/a/log?after=1&after=2", {}, "query"),
        ("/v1/books/a/log?aftr=1", {}, "aftr"),
        ("/v1/books?x=1", {}, "x"),
        ("/v1/books/a/plan", {"If-Match": "7"}, "If-Match"),
        ("/v1/books/a/plan", {"If-Match": '"x"'}, "If-Match"),
        ("/v1/books/a/plan", {"If-Match": '"1", "2"'}, "If-Match"),
        ("/v1/jobs/1/events", {"Last-Event-ID": "x"}, "Last-Event-ID"),
    ],
)
def test_parameters_and_headers(
    client: TestClient, path: str, headers: dict[str, str], named: str
) -> None:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 400
    assert [fault["path"] for fault in answer.json()["faults"]] == [named]


def test_only_validate_only(client: TestClient) -> None:
    answer = client.post("/v1/jobs?validate=yes", json={})
    [fault] = answer.json()["faults"]
    assert fault == {"path": "validate", "rule": 'must be "only"', "value": "yes"}


def test_large_bodies_are_read_elsewhere(client: TestClient, books: FakeBooks) -> None:
    body = {"a": list(range(request_bodies.LARGE_BODY_BYTES))}
    assert client.post(PATH, json=body).status_code == 200
    assert books.calls[0][3] == body


@given(st.binary(max_size=40) | st.text(alphabet='{}[]":,\\0u19.eE-ndDa ', max_size=40))
def test_any_body_is_read_or_refused(body: bytes | str) -> None:
    data = body if isinstance(body, bytes) else body.encode()
    for exact in (False, True):
        try:
            read = parsed_object(data, exact_numbers=exact)
        except MalformedRequestError as error:
            assert error.faults
        else:
            assert isinstance(read, dict)
