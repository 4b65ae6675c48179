"""A real server: started by its command, asked over sockets, and stopped."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from dlopt.cli.app import app
from dlopt.errors import MissingExtraError, NotApplicableError
from dlopt.serve.app import run
from dlopt.serve.settings import ServiceSettings
from dlopt.serve.store import Store
from tests.instance_files import ROOT

COMMAND = [sys.executable, "-m", "dlopt", "serve", "--port", "0"]
BOOK = {"problem": "admission", "cluster": {"nodes": 2, "tau": 1, "chi": 3}}


@contextlib.contextmanager
def serving(*options: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yield a server and its address; it is ended in any case."""
    server = subprocess.Popen(
        [*COMMAND, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    try:
        assert server.stdout is not None
        first = server.stdout.readline()
        assert "dlopt service at http://" in first, server.communicate()
        yield server, first.split()[3]
    finally:
        server.kill()
        server.communicate()


def stopped(server: subprocess.Popen[str], number: int = signal.SIGTERM) -> tuple[int, str]:
    """Return the exit code of a server that is asked to stop, and what it has written."""
    server.send_signal(number)
    _, errors = server.communicate(timeout=60)
    return server.returncode, errors


def test_a_service_needs_no_configuration_and_keeps_what_it_promised(tmp_path: Path) -> None:
    task = {"id": "a", "arrival": 0, "load": 2, "deadline": 9}
    for number in (signal.SIGTERM, signal.SIGINT):
        with serving(XDG_DATA_HOME=str(tmp_path)) as (server, address):
            client = httpx.Client(base_url=address)
            client.put("/v1/books/lab", json=BOOK)
            answer = client.post("/v1/books/lab/submit", json={"task": task})
            assert answer.json()["decision"]["accepted"] is True
            assert client.get("/v1/books").json()["books"][0]["promises"] == 1
            client.close()
            assert stopped(server, number) == (0, "stopped\n")
    assert (tmp_path / "dlopt" / "service.db").exists()
    assert (tmp_path / "dlopt").stat().st_mode & 0o077 == 0


def test_a_stop_answers_what_was_asked_and_interrupts_jobs(tmp_path: Path) -> None:
    store = tmp_path / "a.db"
    question = {"kind": "falsify", "problem": "iit", "method": "opr", "limits": {"time_s": 50}}
    text = b'{"task": {}}'
    with (
        serving("--store", str(store), "--log-level", "debug") as (server, address),
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        assert client.put("/v1/books/lab", json=BOOK).status_code == 201
        job = client.post("/v1/jobs", json=question).json()["id"]
        waiting = client.post("/v1/jobs", json={**question, "seed": 1}).json()["id"]
        host, port = address.removeprefix("http://").split(":")
        with (
            client.stream("GET", f"/v1/jobs/{job}/events") as running,
            client.stream("GET", f"/v1/jobs/{waiting}/events") as queued,
            socket.create_connection((host, int(port)), timeout=60) as half,
        ):
            lines = running.iter_lines()
            assert "event: started" in lines
            half.sendall(_head("POST", "/v1/books/lab/ask", len(text)) + text[:5])
            assert client.get("/healthz").status_code == 200  # the server has read that part
            server.send_signal(signal.SIGTERM)
            half.sendall(text[5:])
            assert b" 422 " in half.recv(10_000)
            # Both streams end as they should: what is cut raises an error.
            assert "event: ended" in list(lines)
            assert "event: ended" not in list(queued.iter_lines())
        assert server.wait(60) == 0
        assert server.stderr is not None
        log = [json.loads(line) for line in server.stderr if line.startswith("{")]
    assert any(line.get("operation") == "submit_job" and line["status"] == 202 for line in log)
    assert not [line for line in log if line["level"] == "error"]
    with contextlib.closing(sqlite3.connect(store)) as connection:
        states = connection.execute("SELECT state FROM dlopt_jobs ORDER BY number").fetchall()
    assert states == [("interrupted",), ("queued",)]


def test_a_second_interrupt_does_not_wait_for_requests(tmp_path: Path) -> None:
    with serving("--store", str(tmp_path / "a.db")) as (server, address):
        host, port = address.removeprefix("http://").split(":")
        assert httpx.put(f"{address}/v1/books/lab", json=BOOK, timeout=60).status_code == 201
        with socket.create_connection((host, int(port)), timeout=60) as half:
            half.sendall(_head("POST", "/v1/books/lab/ask", 10) + b"{")
            assert httpx.get(f"{address}/healthz", timeout=60).status_code == 200
            server.send_signal(signal.SIGINT)
            with contextlib.suppress(ConnectionError):
                while True:  # it listens until it has begun to stop
                    socket.create_connection((host, int(port)), timeout=60).close()
            assert server.poll() is None
            assert stopped(server, signal.SIGINT) == (0, "stopped\n")


def _head(method: str, path: str, length: int) -> bytes:
    return (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    store = tmp_path_factory.mktemp("server") / "a.db"
    with serving("--store", str(store), "--body", "2000") as (_, address):
        httpx.put(f"{address}/v1/books/lab", json=BOOK)
        yield address


def raw(address: str, data: bytes, *, close: bool = False) -> bytes:
    """Return what a server answers to some bytes, until it closes or is silent."""
    host, port = address.removeprefix("http://").split(":")
    found = b""
    with socket.create_connection((host, int(port)), timeout=10) as opened:
        opened.sendall(data)
        if close:
            opened.shutdown(socket.SHUT_WR)
        while part := opened.recv(100_000):
            found += part
            if b"\r\n\r\n" in found and not close:
                break
    return found


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400"),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000, b"431"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", b"400"),
        (b"GET /healthz HTTP/1.1\r\n\r\n", b"403"),
        (b"GET /v1/books HTTP/1.1\r\nHost: rebound.example\r\n\r\n", b"403"),
        (_head("POST", "/v1/books/lab/ask", 100_000_000), b"413"),
        (b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404"),
        (b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404"),
        (b"GET /v1/books/..%2f..%2fx HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404"),
        (b"GET /v1/books/%ff%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404"),
    ],
)
def test_what_no_client_library_sends(address: str, data: bytes, status: bytes) -> None:
    assert raw(address, data).split(b" ")[1] == status


def test_a_half_body_is_no_request(address: str) -> None:
    text = b'{"task": {"id": "half", "arrival": 0, "load": 1, "deadline": 50}}'
    assert raw(
        address, _head("POST", "/v1/books/lab/submit", len(text) + 1) + text, close=True
    ) in (b"",)
    chunked = (
        b"POST /v1/books/lab/submit HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"%x\r\n" % len(text)
        + text
        + b"\r\n"
    )
    assert raw(address, chunked, close=True) == b""
    assert httpx.get(f"{address}/v1/books/lab").json()["promises"] == 0
    assert b" 200 " in raw(address, chunked + b"0\r\n\r\n")


def test_an_error_at_the_start_is_one_line(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path}/a.db"):
        done = subprocess.run(
            [*COMMAND, "--store", str(tmp_path / "a.db")],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=60,
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: another server uses the store: a.db.lock is locked\n"


def test_servers_that_cannot_start(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/a.db"
    tokens = tmp_path / "tokens"
    tokens.write_text("a read 0123456789abcdef")
    tokens.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as other:
        for settings, message in [
            ({"port": other.getsockname()[1]}, "cannot listen at 127.0.0.1, port .*: Address"),
            ({"host": "0.0.0.0"}, "other machines can reach 0.0.0.0: --tokens FILE is required"),
            ({"host": "192.0.2.1", "token_file": tokens}, "cannot listen at 192.0.2.1"),
            ({"host": "no such host", "token_file": tokens}, "cannot listen at no such host"),
            ({"store": "nonsense://x"}, "the store nonsense://x cannot be opened: it must be sql"),
            (
                {"store": "mysql://a:secret@x/y"},
                r"mysql://a:\*\*\*@x/y cannot be opened: it must be sqlite:///FILE or postgresql",
            ),
            ({"store": f"sqlite:///{tmp_path}/no/a.db"}, r"opened: No such file or directory\Z"),
            (
                {"store": "postgresql+psycopg://a@127.0.0.1:1/b"},
                r"opened: OperationalError: connection failed: [^\n\t]*refused[^\n\t]*\Z",
            ),
            (
                {"store": f"sqlite:///{tmp_path}"},
                r"opened: OperationalError: unable to open [ a-z]*\Z",
            ),
        ]:
            with pytest.raises(NotApplicableError, match=message):
                run(ServiceSettings(**{"store": store, "port": 0, **settings}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--log-level", "loud"], "--log-level takes debug, info, warning; got 'loud'"),
        (["--tokens", "absent"], "the token file absent cannot be read: No such file"),
    ],
)
def test_options_that_are_wrong(options: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(NotApplicableError, match=message):
        app(["serve", "--store", str(tmp_path / "a.db"), *options], standalone_mode=False)


def test_the_default_store_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dlopt").write_text("a file, and no folder")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(NotApplicableError, match=r"cannot create .*; see --store"):
        app(["serve"], standalone_mode=False)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "dlopt.serve.app", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'dlopt\[serve\]'"):
        app(["serve"], standalone_mode=False)
