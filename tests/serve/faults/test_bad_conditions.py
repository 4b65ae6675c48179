"""Full disks and slow clients: a real server goes on, and keeps what it has acknowledged."""

from __future__ import annotations

import contextlib
import resource
import socket
from pathlib import Path
from urllib.parse import urlsplit

from tests.gates import PATIENCE
from tests.serve.faults.clients import DEFINITION, ConcurrentClients, Connection, whole_log
from tests.serve.faults.histories import history_faults
from tests.serve.faults.kills import plan_faults
from tests.serve.jobs.services import shipped
from tests.serve.running_service import RunningService

ROOM_BYTES = 200_000
"""How much larger a file may become until the disk counts as full: some hundred records."""
SLOW_CLIENTS = 100
JOB = {"kind": "solve", "method": "opr", "instance": shipped("iit/three-nodes")}


def test_a_full_disk(tmp_path: Path) -> None:
    with RunningService(tmp_path) as server:
        connection = Connection(server.address)
        connection.ask("PUT", "/v1/books/a", DEFINITION)
        connection.ask("PUT", "/v1/books/b", DEFINITION)
        clients = ConcurrentClients(server.address, "a", 0)
        log = tmp_path / "service.db-wal"
        full = log.stat().st_size + ROOM_BYTES
        _, unlimited = resource.prlimit(
            server.process_id, resource.RLIMIT_FSIZE, (full, resource.RLIM_INFINITY)
        )

        def make_room() -> None:
            assert any(call.status == 503 for call in clients.calls)
            # What failed may have needed more room than what is asked for next.
            resource.prlimit(server.process_id, resource.RLIMIT_FSIZE, (1, unlimited))
            other = Connection(server.address)
            for method, path, body in (
                ("POST", "/v1/jobs", JOB),
                ("PUT", f"/v1/books/{'b' * 100}", DEFINITION | {"ready_times": [0] * 4}),
                ("DELETE", "/v1/books/b", None),
            ):
                status, _, refusal = other.ask(method, path, body)
                assert (status, refusal["detail"][:17]) == (503, "nothing was done:"), refusal
            other.close()
            resource.prlimit(server.process_id, resource.RLIMIT_FSIZE, (unlimited, unlimited))

        clients.run_until_refused(503, make_room)
        assert {call.status for call in clients.calls} <= {200, 404, 422, 503}
        task = {"id": "after", "arrival": 10_000, "load": 1, "deadline": 50}
        status, _, body = connection.ask("POST", "/v1/books/a/submit", {"task": task})
        assert (status, body["decision"]["accepted"]) == (200, True)
        records = whole_log(connection, "a")[:-1]
        known = [call for call in clients.calls if call.status != 503]
        assert history_faults(DEFINITION, known, records) == []
        assert plan_faults(connection, "a") == []
        connection.close()
    with RunningService(tmp_path) as server:
        connection = Connection(server.address)
        assert whole_log(connection, "a")[:-1] == records
        connection.close()


def test_slow_clients_hold_up_nobody(tmp_path: Path) -> None:
    text = b'{"task": {"id": "a", "arrival": 0, "load": 1, "deadline": 50}}'
    head = (
        b"POST /v1/books/a/submit HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(text)
    )
    request = head + text
    with RunningService(tmp_path) as server, contextlib.ExitStack() as opened:
        connection = Connection(server.address)
        connection.ask("PUT", "/v1/books/a", DEFINITION)
        url = urlsplit(server.address)
        assert url.hostname is not None and url.port is not None
        slow = [
            opened.enter_context(socket.create_connection((url.hostname, url.port), PATIENCE))
            for _ in range(SLOW_CLIENTS)
        ]
        for number, client in enumerate(slow):
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.sendall(request[: len(request) * number // SLOW_CLIENTS])
            assert connection.ask("GET", "/v1/books/a")[0] == 200
        for client in slow[1:]:
            client.close()
        for number in range(len(request)):  # byte by byte, with a question to the server between
            slow[0].sendall(request[number : number + 1])
            assert connection.ask("GET", "/healthz")[0] == 200
        assert slow[0].recv(10_000).startswith(b"HTTP/1.1 200 ")
        assert [record["verb"] for record in whole_log(connection, "a")] == ["submit"]
        connection.close()
