"""Clients that call a book at the same time, and remember what they saw."""

from __future__ import annotations

import http.client
import itertools
import json
import math
import random
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from tests.gates import PATIENCE
from tests.serve.faults.histories import SeenCall

CLIENTS = 8
"""Clients of a book: enough that several calls are in each transaction."""
DEFINITION = {
    "problem": "admission",
    "cluster": {"nodes": 4, "tau": 1, "chi": 3},
    "algorithm": "fast-edf-iit",
    "exact_numbers": True,
}
"""A book in exact numbers, whose clock is that of its callers."""
_TASKS_PER_TICK = 8
"""Calls of all clients until the next tasks arrive an instant later."""
_VERBS = (*("submit",) * 7, "ask", "ask", "cancel", "advance", "archive")


class Connection:
    """A kept connection to a server."""

    def __init__(self, address: str) -> None:
        url = urlsplit(address)
        assert url.hostname is not None
        self._client = http.client.HTTPConnection(url.hostname, url.port, timeout=PATIENCE)

    def ask(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, int | None, Any]:
        """Return status, version and body of an answer."""
        text = None if body is None else json.dumps(body)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = (method, path, text, {"Content-Type": "application/json"} | given)
        try:
            self._client.request(*sent)
            response = self._client.getresponse()
        except ConnectionError:  # a kept connection that nobody used was closed: ask on a new one
            if method != "GET":
                raise
            self._client.close()
            self._client.request(*sent)
            response = self._client.getresponse()
        tag = response.getheader("ETag")
        found = json.loads(response.read())
        return response.status, None if tag is None else int(tag.strip('"')), found

    def close(self) -> None:
        """Close it."""
        self._client.close()


class ConcurrentClients:
    """Threads that call a book, each when its last call was answered, until its server is gone.

    Parameters
    ----------
    address : str
    book : str
    seed : int
    """

    def __init__(self, address: str, book: str, seed: int) -> None:
        self.calls: list[SeenCall] = []
        self._address, self._book, self._seed = address, book, seed
        self._numbers = itertools.count(1)
        self._answers = 0
        self._answered = threading.Condition()
        self._is_over = False
        self._threads = [
            threading.Thread(target=self._call_repeatedly, args=(number,))
            for number in range(CLIENTS)
        ]

    def run_until(self, answers: int, then: Callable[[], None]) -> None:
        """Call until there are so many answers, do something, and wait for the end of all."""
        self._run(lambda: self._answers >= answers, then)

    def run_until_refused(self, status: int, then: Callable[[], None]) -> None:
        """Call until there is an answer of a status, do something, and wait for the end of all."""
        self._run(lambda: bool(self.calls) and self.calls[-1].status == status, then)

    def _run(self, is_reached: Callable[[], bool], then: Callable[[], None]) -> None:
        for thread in self._threads:
            thread.start()
        seen = self._are_answered_until(is_reached)
        then()
        self._is_over = True
        for thread in self._threads:
            thread.join(PATIENCE)
        assert seen, "the clients were not answered"
        assert not any(thread.is_alive() for thread in self._threads), "a client hangs"

    def _are_answered_until(self, is_reached: Callable[[], bool]) -> bool:
        """Wait as long as answers come: how many are wanted is not limited by time."""
        with self._answered:
            while not is_reached():
                if not self._answered.wait(PATIENCE):
                    return False
        return True

    def _call_repeatedly(self, number: int) -> None:
        draw = random.Random(f"{self._seed} {number}")
        connection = Connection(self._address)
        while not self._is_over:
            call = self._seen(connection, draw, f"{self._book}-{next(self._numbers)}")
            with self._answered:
                self.calls.append(call)
                self._answers += call.status > 0
                self._answered.notify()
            if call.status == 0:
                break
        connection.close()

    def _seen(self, connection: Connection, draw: random.Random, key: str) -> SeenCall:
        verb = draw.choice(_VERBS)
        arguments = self._arguments(verb, draw, key)
        path, begun = f"/v1/books/{self._book}/{verb}", time.monotonic()
        try:
            answer = connection.ask("POST", path, arguments, Idempotency_Key=key)
        except (OSError, http.client.HTTPException, ValueError):
            return SeenCall(key, verb, arguments, begun, math.inf)
        return SeenCall(key, verb, arguments, begun, time.monotonic(), *answer)

    def _arguments(self, verb: str, draw: random.Random, key: str) -> dict[str, Any]:
        number = int(key.rpartition("-")[2])
        if verb in ("submit", "ask"):
            task = {
                "id": key,
                "arrival": number // _TASKS_PER_TICK,
                "load": draw.randint(1, 4),
                "deadline": draw.randint(5, 40),
            }
            return {"task": task}
        if verb == "cancel":
            return {"id": f"{self._book}-{draw.randint(max(1, number - 20), number)}"}
        return {"now": number // _TASKS_PER_TICK} if verb == "advance" else {}


def whole_log(connection: Connection, book: str) -> list[dict[str, Any]]:
    """Return all records of the log of a book."""
    records: list[dict[str, Any]] = []
    while True:
        path = f"/v1/books/{book}/log?after={len(records)}&limit=1000"
        status, _, body = connection.ask("GET", path)
        assert status == 200, body
        if not body["records"]:
            return records
        records += body["records"]
