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
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

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
    """Return the exit code of a server that is told to stop, and what it has written."""
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
    with serving("--store", str(store), "--log-level", "debug") as (server, address):
        instance = json.loads((ROOT / "instances/iit/three-nodes.json").read_text())
        question = {"kind": "falsify", "problem": "iit", "method": "opr", "limits": {"time_s": 50}}
        with httpx.Client(base_url=address, timeout=60) as client:
            job = client.post("/v1/jobs", json=question).json()["id"]
            with client.stream("GET", f"/v1/jobs/{job}/events") as events:
                lines = events.iter_lines()
                assert any("started" in line for line in lines)
                answers: list[Any] = []

                def validate() -> None:
                    body = {"kind": "solve", "instance": instance}
                    answers.append(
                        httpx.post(f"{address}/v1/jobs?validate=only", json=body, timeout=60)
                    )

                asking = threading.Thread(target=validate)
                host, port = address.removeprefix("http://").split(":")
                with socket.create_connection((host, int(port))) as half:
                    text = b'{"task": {}}'
                    half.sendall(_head("POST", "/v1/books/x/ask", len(text)) + text[:5])
                    asking.start()
                    asking.join()
                    server.send_signal(signal.SIGTERM)
                    half.sendall(text[5:])
                    assert b" 404 " in half.recv(10_000)
                for _ in lines:
                    pass
            assert answers[0].json() == {"faults": []}
        code, errors = server.wait(60), server.stderr
        assert code == 0
        assert errors is not None
        log = [json.loads(line) for line in errors.read().splitlines() if line.startswith("{")]
        assert any(line.get("operation") == "submit_job" and line["status"] == 202 for line in log)
        assert not [line for line in log if line["level"] == "error"]
    with contextlib.closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("SELECT state FROM dlopt_jobs").fetchall()
    assert rows == [("interrupted",)]


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
        b"POST /v1/books/lab/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n" % len(text) + text + b"\r\n"
    )
    assert raw(address, chunked, close=True) == b""
    assert httpx.get(f"{address}/v1/books/lab").json()["promises"] == 0
    assert b" 200 " in raw(address, chunked + b"0\r\n\r\n")


def failing(*options: str, **environment: str) -> tuple[int, str]:
    """Return exit code and message of a server that cannot start."""
    done = subprocess.run(
        [*COMMAND, *options],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        timeout=60,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_servers_that_cannot_start(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "a.db")]
    tokens = tmp_path / "tokens"
    tokens.write_text("a read short")
    tokens.chmod(0o600)
    with serving(*store) as (_, address):
        port = address.rpartition(":")[2]
        for options, message in [
            (store, "another server uses the store: a.db.lock is locked"),
            ([*store, "--port", port], "Address already in use"),
            (["--host", "0.0.0.0"], "to listen at 0.0.0.0, a token file is needed"),
            (["--tokens", str(tokens)], "line 1: must have a token of at least 16 ASCII"),
            (["--store", "nonsense://x"], "the store nonsense://x cannot be opened"),
            (["--store", str(tmp_path / "no" / "a.db")], "cannot be opened"),
            (["--host", "no such host"], "cannot listen at"),
            (["--log-level", "loud"], "--log-level takes debug, info, warning"),
        ]:
            code, errors = failing(*options, XDG_DATA_HOME=str(tmp_path / "data"))
            assert code == 2
            assert message in errors and errors.count("\n") == 1, errors
