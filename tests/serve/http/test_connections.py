"""Clients that are slow, that never end, and that are too many."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from uvicorn.server import ServerState

from dlopt.serve import connections
from dlopt.serve.answers import Answer
from dlopt.serve.app import HEALTH_PATH, create_app
from dlopt.serve.connections import MAX_HEAD_BYTES, RESERVED_CONNECTIONS, LimitedHttpProtocol
from dlopt.serve.settings import ServiceSettings
from dlopt.service_api.operations import OPERATIONS
from tests.serve.http.conftest import ADDRESS
from tests.serve.http.fakes import FakeBooks, FakeJobs, opening
from tests.serve.jobs.services import run

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def echo_length(_scope: Any, receive: Any, send: Any) -> None:
    """Answer with the number of bytes of the body."""
    length, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        length += len(message["body"])
        more = message["more_body"]
    body = b"%d" % length
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Server:
    """Connections of a server to an application, without the rest of the service."""

    def __init__(self, app: Any, max_connections: int) -> None:
        self._config = uvicorn.Config(
            app, http=LimitedHttpProtocol, limit_concurrency=max_connections, log_config=None
        )
        self._state = ServerState()
        self._streams: list[asyncio.StreamWriter] = []
        self._port = 0

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Server]:
        listening = await asyncio.get_running_loop().create_server(self.protocol, "127.0.0.1", 0)
        self._port = listening.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            listening.close()
            for stream in self._streams:
                stream.close()

    def protocol(self) -> LimitedHttpProtocol:
        return LimitedHttpProtocol(
            config=self._config, server_state=self._state, app_state={}, _loop=None
        )

    @property
    def connections(self) -> int:
        return len(self._state.connections)

    @property
    def requests(self) -> int:
        return self._state.total_requests

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._streams.append(writer)
        return reader, writer

    async def answer(self, *parts: bytes) -> bytes:
        """Return all that comes on a connection until the server closes it."""
        reader, writer = await self.connect()
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await reader.read()


def serving(test: Callable[[Server], Any], app: Any = echo_length, maximum: int = 100) -> None:
    async def started() -> None:
        async with Server(app, maximum).running() as server:
            await test(server)

    run(started)


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nX: a", GET + b"G", GET + GET + b"\r\n"],
    ids=["nothing", "half", "half after a request", "an empty line after two requests"],
)
def test_a_head_must_arrive_in_time(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(connections, "HEAD_TIME_S", 0.05)

    async def test(server: Server) -> None:
        *answers, last = (await server.answer(sent)).split(b"HTTP/1.1 ")[1:]
        assert last.startswith(b"408 ") and b"connection: close" in last
        assert len(answers) == sent.count(GET) and all(a.startswith(b"200 ") for a in answers)

    serving(test)


@pytest.mark.parametrize("begin", [b"GET / HTTP/1.1\r\nX: ", b"GET /"], ids=["header", "path"])
def test_a_head_has_an_end(begin: bytes) -> None:
    async def test(server: Server) -> None:
        answer = await server.answer(begin, b"a" * MAX_HEAD_BYTES)
        assert answer.startswith(b"HTTP/1.1 431 ") and b"connection: close" in answer

    serving(test)


def test_a_trailer_has_an_end() -> None:
    begun = asyncio.Event()

    async def read_all(_scope: Any, receive: Any, _send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            begun.set()

    async def test(server: Server) -> None:
        reader, writer = await server.connect()
        writer.write(HEAD + b"3\r\nabc\r\n")
        await begun.wait()
        writer.write(b"0\r\nX: " + b"a" * MAX_HEAD_BYTES)
        assert (await reader.read()).startswith(b"HTTP/1.1 431 ")

    serving(test, read_all)


def test_a_body_may_be_longer_than_a_head() -> None:
    chunk = b"%x\r\n" % MAX_HEAD_BYTES + b"a" * MAX_HEAD_BYTES + b"\r\n"

    async def test(server: Server) -> None:
        reader, writer = await server.connect()
        for part in [HEAD, *[chunk] * 3, b"0\r\n\r\n"]:
            writer.write(part)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        assert int(await reader.readexactly(6)) == 3 * MAX_HEAD_BYTES

    serving(test)


def test_a_response_must_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "WRITE_TIME_S", 0.05)
    ended = asyncio.Event()

    async def endless(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})
        message = {"type": "http.response.body", "body": b"a" * 1_000_000, "more_body": True}
        for _ in range(100):
            await send(message)
        ended.set()

    async def test(server: Server) -> None:
        _, writer = await server.connect()
        writer.write(GET)
        await ended.wait()  # what is sent after the connection was closed goes nowhere
        assert server.connections == 0

    serving(test, endless)


async def large(_scope: Any, _receive: Any, send: Any) -> None:
    """Answer with far more than the network takes before the client reads."""
    await send({"type": "http.response.start", "status": 200})
    await send({"type": "http.response.body", "body": b"a" * 10_000_000})


@pytest.mark.parametrize(
    "sent",
    [GET, GET + GET, GET + b"G", GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")],
    ids=["one", "two", "one and a half", "the last"],
)
def test_a_complete_response_must_be_read(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(connections, "WRITE_TIME_S", 0.02)
    monkeypatch.setattr(connections, "HEAD_TIME_S", 0.02)

    async def test(server: Server) -> None:
        _, writer = await server.connect()
        writer.write(sent)
        while not server.requests or server.connections:
            await asyncio.sleep(0)

    serving(test, large)


class SlowlyRead(asyncio.Transport):
    """A connection whose client reads some of what is sent, and then no more."""

    def __init__(self) -> None:
        super().__init__()
        self.unsent, self.aborted = 5, asyncio.Event()

    def get_write_buffer_size(self) -> int:
        self.unsent = max(1, self.unsent - 1)
        return self.unsent

    def is_closing(self) -> bool:
        return self.aborted.is_set()

    def abort(self) -> None:
        self.aborted.set()


def test_a_response_may_be_read_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "WRITE_TIME_S", 0.0)

    async def test() -> None:
        transport = SlowlyRead()
        connection = Server(echo_length, 100).protocol()
        connection.connection_made(transport)
        connection.pause_writing()
        await transport.aborted.wait()
        assert transport.unsent == 1

    run(test)


def test_a_head_must_arrive_in_time_after_a_large_response(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "HEAD_TIME_S", 0.05)

    async def test(server: Server) -> None:
        answer = await server.answer(GET + b"G")
        assert answer.count(b"a") >= 10_000_000 and b"HTTP/1.1 408 " in answer

    serving(test, large)


def test_who_waits_longest_leaves_for_a_new_client(monkeypatch: pytest.MonkeyPatch) -> None:
    maximum = RESERVED_CONNECTIONS + 4

    async def test(server: Server) -> None:
        loop = asyncio.get_running_loop()  # its clock may stand still for a while, as with uvloop
        monkeypatch.setattr(loop, "time", lambda: float(int(time.monotonic())))
        idle = [await server.connect() for _ in range(maximum)]
        reader, writer = await server.connect()
        writer.write(GET)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        assert await idle[0][0].read() == b""
        assert server.connections == maximum
        idle[1][1].write(GET)  # the others are still there
        assert (await idle[1][0].readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")

    serving(test, maximum=maximum)


class SlowBooks(FakeBooks):
    """Describes a book when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def describe(self, name: str, *, if_match: int | None = None) -> Answer:
        self.is_asked.set()
        await self.may_answer.wait()
        return await super().describe(name, if_match=if_match)


def test_a_busy_service_tells_its_health_and_refuses_the_rest(tmp_path: Path) -> None:
    async def test() -> None:
        books = SlowBooks()
        settings = ServiceSettings(f"sqlite:///{tmp_path}/a.db", max_connections=1)
        app = create_app(settings, open_services=opening(books, FakeJobs()))
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client,
        ):
            slow = asyncio.create_task(client.get("/v1/books/main"))
            await books.is_asked.wait()
            refused = await client.get("/v1/books")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert refused.json()["detail"] == "the service answers at most 1 requests at a time"
            assert (await client.get("/healthz")).status_code == 200
            books.may_answer.set()
            assert (await slow).status_code == 200
            assert (await client.get("/v1/books")).status_code == 200

    run(test)


def test_the_path_of_health_is_that_of_the_operation() -> None:
    assert [op.path for op in OPERATIONS if op.name == "health"] == [HEALTH_PATH]
