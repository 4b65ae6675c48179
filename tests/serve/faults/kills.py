"""A server that is killed while clients call a book, and what its store says afterwards."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from dlopt import io
from dlopt.problems.admission import Solution, violations
from tests.serve.faults.clients import DEFINITION, ConcurrentClients, Connection, whole_log
from tests.serve.faults.histories import history_faults
from tests.serve.running_service import RunningService

MAX_ANSWERS = 400
"""Answers after which the server is killed, at the latest."""


@dataclass(frozen=True)
class KillRound:
    """What came of a kill.

    Parameters
    ----------
    answered, acknowledged, unknown, records : int
        Calls with an answer, changes among them that were done, calls without an answer, log
        records.
    faults : list of str
    """

    answered: int
    acknowledged: int
    unknown: int
    records: int
    faults: list[str]


def kill_under_load(folder: Path, seed: int, max_answers: int = MAX_ANSWERS) -> KillRound:
    """Kill a server after a random number of answers, and look into the log with the next one."""
    book = f"book-{seed}"
    with RunningService(folder) as server:
        connection = Connection(server.address)
        assert connection.ask("PUT", f"/v1/books/{book}", DEFINITION)[0] == 201
        connection.close()
        clients = ConcurrentClients(server.address, book, seed)
        clients.run_until(random.Random(seed).randint(1, max_answers), server.kill)
    with RunningService(folder) as server:  # which replays the log, and compares every answer
        connection = Connection(server.address)
        records = whole_log(connection, book)
        faults = plan_faults(connection, book)
        connection.close()
    faults += history_faults(DEFINITION, clients.calls, records)
    return KillRound(
        sum(call.status > 0 for call in clients.calls),
        sum(call.status == 200 and call.is_change for call in clients.calls),
        sum(call.status == 0 for call in clients.calls),
        len(records),
        faults,
    )


def plan_faults(connection: Connection, book: str) -> list[str]:
    """Return what is wrong with all that a book still promises."""
    status, _, body = connection.ask("GET", f"/v1/books/{book}/state")
    if status != 200:
        return [f"the state cannot be read: {body}"]
    if body["state"] is None:
        return []
    instance = io.instance_from_data(body["state"]["instance"])
    plan = Solution.from_data(body["state"]["plan"])
    return [str(found) for found in violations(instance, plan)]
