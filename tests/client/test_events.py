"""The events of a job: connections that are lost, streams that end, jobs that are not there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator

import httpx
import pytest

import dlopt
from dlopt.client import (
    AsyncClient,
    Client,
    JobProgress,
    RefusedRequestError,
    RetryPolicy,
    UnreachableServiceError,
    UnreadableAnswerError,
)
from dlopt.client.event_stream import EventParser

URL = "http://service.test"
INSTANCE = dlopt.read("instances/iit/three-nodes.json", exact_numbers=True)
PATIENT = RetryPolicy(attempts=3, first_pause_s=0.0)
EVENTS = (
    'id: 1\nevent: queued\ndata: {"id": "j"}\n\n',
    ': ping\n\nid: 2\nevent: progress\ndata: {"value": "39/8", "bound": 4.5,\n'
    'data:  "gap": null, "seconds": 2}\n\n',
    'id: 3\nevent: ended\ndata: {"state": "done"}\n\n',
)


class _Broken(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body whose connection is lost after a part of it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __iter__(self) -> Iterator[bytes]:
        yield self._text.encode()
        raise httpx.ReadError("the connection was reset")

    async def __aiter__(self):  # type: ignore[no-untyped-def]
        for part in self:
            yield part


def losing(after: int) -> tuple[Callable[[httpx.Request], httpx.Response], list[str]]:
    """Return a service that loses each connection after so many events; and what it was asked."""
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        known = int(request.headers["last-event-id"])
        asked.append(request.headers["last-event-id"])
        text = "".join(EVENTS[known : known + after])
        return httpx.Response(200, stream=_Broken(text))

    return answer, asked


def test_a_lost_connection_is_made_again_after_the_last_event() -> None:
    answer, asked = losing(after=1)  # two losses, but never two in a row without an event
    policy = RetryPolicy(attempts=2, first_pause_s=0.0)
    with Client(URL, transport=httpx.MockTransport(answer), retry_policy=policy) as client:
        events = list(client.job("j", INSTANCE).events())
    assert [event.event for event in events] == ["queued", "progress", "ended"]
    assert asked == ["0", "1", "2"]
    assert events[1].progress == JobProgress(dlopt.solve(INSTANCE).value, 4.5, None, 2.0)
    assert events[0].progress is None


def test_half_an_event_is_forgotten_with_its_connection() -> None:
    texts = ["".join(EVENTS[:2])[:-8], "".join(EVENTS[1:])]

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=_Broken(texts.pop(0)))

    with Client(URL, transport=httpx.MockTransport(answer), retry_policy=PATIENT) as client:
        events = list(client.job("j", INSTANCE).events())
    assert [event.id for event in events] == [1, 2, 3]


def test_something_else_than_events_is_no_fault_of_the_data() -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, text="data: <html>\n\n"))
    with (
        Client(URL, transport=transport, retry_policy=PATIENT) as client,
        pytest.raises(UnreadableAnswerError, match="an event of a job"),
    ):
        list(client.job("j", INSTANCE).events())


def test_who_stops_listening_closes_the_connection() -> None:
    closed: list[str] = []

    class Endless(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                yield EVENTS[0].encode()

        def close(self) -> None:
            closed.append("closed")

    transport = httpx.MockTransport(lambda request: httpx.Response(200, stream=Endless()))
    with Client(URL, transport=transport, retry_policy=PATIENT) as client:
        events = client.job("j", INSTANCE).events()
        assert next(events).event == "queued" and closed == []
        events.close()
        assert closed == ["closed"]


def test_the_awaited_client_does_so_too() -> None:
    answer, asked = losing(after=2)

    async def talk() -> None:
        transport = httpx.MockTransport(answer)
        async with AsyncClient(URL, transport=transport, retry_policy=PATIENT) as client:
            job = client.job("j", INSTANCE)
            assert [event.id async for event in job.events(after=1)] == [2, 3]

    asyncio.run(talk())
    assert asked == ["1"]


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_stream_that_never_tells_more_is_given_up(is_closed: bool) -> None:
    attempts = []

    def answer(request: httpx.Request) -> httpx.Response:
        attempts.append(request)
        if is_closed:
            return httpx.Response(200, text="")
        raise httpx.ConnectError("refused")

    with (
        Client(URL, transport=httpx.MockTransport(answer), retry_policy=PATIENT) as client,
        pytest.raises(UnreachableServiceError),
    ):
        list(client.job("j", INSTANCE).events())
    assert len(attempts) == 3


def test_a_job_that_is_not_there() -> None:
    body = {"title": "Not found", "status": 404, "detail": "there is no job j"}
    stream = httpx.ByteStream(json.dumps(body).encode())  # which is not read before it is needed
    transport = httpx.MockTransport(lambda request: httpx.Response(404, stream=stream))
    with Client(URL, transport=transport) as client, pytest.raises(RefusedRequestError):
        list(client.job("j", INSTANCE).events())

    async def talk() -> None:
        async with AsyncClient(URL, transport=transport) as client:
            with pytest.raises(RefusedRequestError, match="no job j"):
                await client.job("j", INSTANCE).wait()

    asyncio.run(talk())


def test_fields_that_mean_nothing_are_passed_over() -> None:
    parser = EventParser()
    lines = ["retry: 10", "event:ended", "unknown", "", "data:{}", "", "data: 1"]
    assert [event and event.event for event in map(parser.feed, lines)] == [
        None,
        None,
        None,
        None,
        None,
        "message",
        None,
    ]
