"""A real server on a real PostgreSQL, whose connections are lost while clients call a book."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import sqlalchemy as sql

from tests.serve.faults.clients import DEFINITION, ConcurrentClients, Connection, whole_log
from tests.serve.faults.histories import history_faults
from tests.serve.faults.kills import plan_faults
from tests.serve.postgresql import new_postgresql_database  # noqa: F401
from tests.serve.running_service import RunningService

UNKNOWN = 504
"""Status of a call of which the service does not know whether it was done."""
REFUSED = 503
"""Status of a call that was not done."""


def _lose_connections(url: str) -> None:
    """End all connections to a database, as a failing network does, that of the lock too."""
    engine = sql.create_engine(url)
    with engine.connect() as connection:
        ended = connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        assert len(ended.all()) >= 2
    engine.dispose()


def test_connections_are_lost_and_the_server_is_killed(
    tmp_path: Path,
    new_postgresql_database: Callable[[], str],  # noqa: F811
) -> None:
    url = new_postgresql_database()
    with RunningService(tmp_path, "--store", url) as server:
        connection = Connection(server.address)
        assert connection.ask("PUT", "/v1/books/a", DEFINITION)[0] == 201
        connection.close()
        clients = ConcurrentClients(server.address, "a", 0)
        clients.run_until(100, lambda: _lose_connections(url))
        connection = Connection(server.address)  # one that waits for long is closed by the server
        task = {"id": "after", "arrival": 10_000, "load": 1, "deadline": 50}
        key = {"Idempotency_Key": "after"}
        first = connection.ask("POST", "/v1/books/a/submit", {"task": task}, **key)
        assert first[0] == 200
        connection.close()
        server.kill()
    with RunningService(tmp_path, "--store", url) as server:
        connection = Connection(server.address)
        assert connection.ask("POST", "/v1/books/a/submit", {"task": task}, **key) == first
        *records, last = whole_log(connection, "a")
        assert last["idempotency_key"] == "after"
        known = [
            replace(call, status=0, ended=math.inf) if call.status == UNKNOWN else call
            for call in clients.calls
            if call.status != REFUSED
        ]
        assert history_faults(DEFINITION, known, records) == []
        assert plan_faults(connection, "a") == []
        connection.close()
