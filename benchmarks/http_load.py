"""A server in a process of its own, and clients that ask it over kept connections.

The clients share one thread and an epoll: they cost about 20 microseconds a request, which counts
where server and clients share two processor cores.
"""

from __future__ import annotations

import contextlib
import json
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

START_S = 120.0
"""A server that does not listen after so many seconds has failed."""
ANSWER_S = 60.0
"""A request that is not answered after so many seconds hangs."""
_HEADER_END = b"\r\n\r\n"
_LENGTH = b"content-length: "


class ServerProcess:
    """`dlopt serve` on a free port of the loopback.

    Parameters
    ----------
    store : Path
        File of the database.
    *options : str
        Further options of the command.

    Attributes
    ----------
    address : str
        Its URL.
    start_s : float
        Seconds from its start until it listened.
    """

    def __init__(self, store: Path, *options: str) -> None:
        command = [sys.executable, "-m", "dlopt", "serve", "--port", "0", "--store", str(store)]
        begun = time.perf_counter()
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], START_S)
        found = re.search(
            r"http://([0-9.]+):(\d+)", self.process.stdout.readline() if ready else ""
        )
        self.start_s = time.perf_counter() - begun
        if found is None:
            self.kill()
            raise SystemExit("the server did not start")
        self.address, self.host, self.port = found[0], found[1], int(found[2])

    def kill(self) -> None:
        """End it by SIGKILL."""
        self.process.send_signal(signal.SIGKILL)
        self._wait()

    def stop(self) -> None:
        """End it in order."""
        self.process.terminate()
        self._wait()

    def _wait(self) -> None:
        self.process.wait(ANSWER_S)
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextlib.contextmanager
def serving(store: Path, *options: str) -> Iterator[ServerProcess]:
    """Yield a server that listens, and stop it."""
    server = ServerProcess(store, *options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


def request_bytes(method: str, path: str, body: object = None, **headers: str) -> bytes:
    """Return a request as it is sent."""
    text = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if body is not None:
        lines.append("Content-Type: application/json")
    lines.append(f"Content-Length: {len(text)}")
    return "\r\n".join(lines).encode() + _HEADER_END + text


def connect(server: ServerProcess) -> socket.socket:
    """Return a connection to a server."""
    opened = socket.create_connection((server.host, server.port), timeout=ANSWER_S)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return opened


def whole_answer(data: bytes) -> bytes | None:
    r"""Return the body of a response if all of it is there.

    Examples
    --------
    >>> whole_answer(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
    b'{}'
    >>> whole_answer(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{") is None
    True
    """
    end = data.find(_HEADER_END)
    if end < 0:
        return None
    at = data.index(_LENGTH) + len(_LENGTH)
    length = int(data[at : data.index(b"\r", at)])
    body = data[end + len(_HEADER_END) :]
    return body if len(body) >= length else None


def ask(connection: socket.socket, request: bytes) -> tuple[int, Any]:
    """Send a request and return status and body of the answer.

    Raises
    ------
    ConnectionError
        If the server has gone before all of the answer was there.
    """
    connection.sendall(request)
    data = b""
    while (body := whole_answer(data)) is None:
        part = connection.recv(1_000_000)
        if not part:
            raise ConnectionResetError("the connection was closed")
        data += part
    return int(data[9:12]), json.loads(body)


@dataclass(slots=True)
class Load:
    """Results of clients that asked at the same time.

    Parameters
    ----------
    latencies_s : list of float
        From the first byte sent to the last byte received.
    refused : list of str
        Answers that had another status than 200.
    duration_s : float
    """

    latencies_s: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    duration_s: float = 0.0

    @property
    def rate_per_s(self) -> float:
        """Answers a second."""
        return len(self.latencies_s) / self.duration_s

    def percentile_ms(self, share: float) -> float:
        """Return the latency in ms that a share of the requests does not exceed."""
        ordered = sorted(self.latencies_s)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1_000


@dataclass(slots=True)
class _Client:
    connection: socket.socket
    data: bytes = b""
    sent_at: float = 0.0


def run_load(server: ServerProcess, clients: int, next_request: Callable[[], bytes | None]) -> Load:
    """Let clients ask, each as soon as it is answered, until there is no next request."""
    load = Load()
    poll = select.epoll()
    waiting: dict[int, _Client] = {}
    begun = time.perf_counter()
    try:
        for _ in range(clients):
            client = _Client(connect(server))
            number = client.connection.fileno()
            poll.register(number, select.EPOLLIN)
            waiting[number] = client
            _send_next(client, next_request, waiting)
        while waiting:
            events = poll.poll(ANSWER_S)
            if not events:
                raise SystemExit("the server does not answer")
            for number, _ in events:
                client = waiting[number]
                part = client.connection.recv(65_536)
                if not part:
                    raise SystemExit("the server has closed a connection")
                client.data = client.data + part if client.data else part
                if whole_answer(client.data) is None:
                    continue
                load.latencies_s.append(time.perf_counter() - client.sent_at)
                if client.data[9:12] != b"200":
                    load.refused.append(client.data.decode(errors="replace"))
                client.data = b""
                _send_next(client, next_request, waiting)
    finally:
        for client in waiting.values():
            client.connection.close()
        poll.close()
    load.duration_s = time.perf_counter() - begun
    return load


def _send_next(
    client: _Client, next_request: Callable[[], bytes | None], waiting: dict[int, _Client]
) -> None:
    request = next_request()
    if request is None:
        del waiting[client.connection.fileno()]
        client.connection.close()
        return
    client.sent_at = time.perf_counter()
    client.connection.sendall(request)
