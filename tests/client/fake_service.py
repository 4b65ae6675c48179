"""A service in this process: books over their engines, with holds and a clock that tests set."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import httpx

from dlopt import Admission, CoReservation, MultiStage
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.json_files import parse_json
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Machine, Request
from dlopt.problems.multistage import Reservation
from dlopt.problems.validated_record import plain

RECORDS = {"task": Task, "reservation": Reservation, "request": Request}
ENGINES = {"admission": Admission, "multistage": MultiStage, "coreservation": CoReservation}


@dataclass
class FakeBook:
    engine: Any
    definition: dict[str, Any]
    version: int = 0
    holds: dict[str, float] = field(default_factory=dict)
    answers: dict[str, tuple[bytes, httpx.Response]] = field(default_factory=dict)


class FakeService:
    """Answers requests as the service does; `requests` are those that have come."""

    def __init__(self) -> None:
        self.books: dict[str, FakeBook] = {}
        self.wall = 1000.0
        self.requests: list[httpx.Request] = []

    @property
    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self.handle)

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.expire()
        try:
            return self._answer(request)
        except InvalidInstanceError as error:
            faults = [
                {"path": fault.path, "value": str(fault.value), "rule": fault.rule}
                for fault in error.faults
            ]
            return problem(422, "Invalid data", str(error), faults=faults)
        except NotApplicableError as error:
            return problem(422, "Not applicable", str(error))
        except KeyError as error:
            return problem(404, "Not found", f"there is no {error.args[0]}")

    def expire(self) -> None:
        for book in self.books.values():
            for identity, until in list(book.holds.items()):
                if until <= self.wall:
                    del book.holds[identity]
                    book.engine.cancel(identity)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = [
            unquote(part) for part in request.url.raw_path.decode().partition("?")[0].split("/")
        ]
        body = parse_json(request.content.decode()) if request.content else {}
        if path == ["", "v1", "books"]:
            found = [self._description(name) for name in self.books]
            return httpx.Response(200, json={"books": found})
        name = path[3]
        if request.method == "PUT":
            return self._create(name, body)
        book = self.books[name]
        if request.method == "DELETE":
            del self.books[name]
            return httpx.Response(200, json={})
        if len(path) == 4:
            return self._response(book, self._description(name))
        wanted = request.headers.get("if-match")
        if wanted is not None and wanted != f'"{book.version}"':
            return problem(412, "Another version", f"it is {book.version}")
        key = request.headers.get("idempotency-key")
        if key in book.answers:
            before, answer = book.answers[key]
            if before != request.content:
                return problem(409, "Conflict with the present state", "another body")
            return answer
        answer = self._response(book, self._verb(book, path[4], body))
        if key is not None:
            book.answers[key] = (request.content, answer)
        return answer

    def _create(self, name: str, body: dict[str, Any]) -> httpx.Response:
        if name not in self.books:
            given = {key: value for key, value in body.items() if key not in ("problem", "clock")}
            if "cluster" in given:
                resources: Any = Cluster.from_data(given.pop("cluster"))
            else:
                resources = [Machine.from_data(one) for one in given.pop("machines")]
            engine = ENGINES[body["problem"]](resources, **given)
            self.books[name] = FakeBook(engine, body)
        return self._response(self.books[name], self._description(name))

    def _description(self, name: str) -> dict[str, Any]:
        book = self.books[name]
        return {
            "name": name,
            "problem": book.definition["problem"],
            "algorithm": book.definition.get("algorithm", "default"),
            "clock": book.definition.get("clock", "caller"),
            "now": plain(book.engine.now),
            "version": book.version,
            "holds": len(book.holds),
            "promises": sum(decision.accepted for decision in book.engine.decisions),
        }

    def _response(self, book: FakeBook, body: dict[str, Any]) -> httpx.Response:
        return httpx.Response(200, json=body, headers={"ETag": f'"{book.version}"'})

    def _verb(self, book: FakeBook, verb: str, body: dict[str, Any]) -> dict[str, Any]:
        engine = book.engine
        if verb in ("plan", "snapshot"):
            return {verb: engine.plan().to_data() if verb == "plan" else engine.snapshot()}
        kind = next((key for key in RECORDS if key in body), None)
        new = None
        if kind is not None:
            new = RECORDS[kind].from_data({"arrival": plain(engine.now), **body[kind]})
        if verb in ("ask", "offer", "why"):
            return self._question(engine, verb, kind, new, body)
        if verb in ("submit", "hold", "change"):
            decision = self._decide(engine, "submit" if verb == "hold" else verb, kind, new)
            book.version += 1
            if verb != "hold":
                return {"decision": decision.to_data()}
            hold = None
            if decision.accepted:
                until = self.wall + body["ttl_s"]
                book.holds[new.id] = until
                hold = {"id": new.id, "expires_at": until, "ttl_s": body["ttl_s"]}
            return {"decision": decision.to_data(), "hold": hold}
        return self._change(book, verb, body)

    def _change(self, book: FakeBook, verb: str, body: dict[str, Any]) -> dict[str, Any]:
        engine = book.engine
        if verb in ("confirm", "release"):
            if body["id"] not in book.holds:
                raise KeyError(f"hold {body['id']}")
            del book.holds[body["id"]]
            done = engine.cancel(body["id"]) if verb == "release" else None
        elif verb == "archive":
            over = engine.archive()
            book.version += 1
            return {
                "until": plain(over.until),
                "decisions": [one.to_data() for one in over.decisions],
                "allocations": [one.to_data() for one in over.allocations],
            }
        elif verb == "advance":
            engine.advance(read(body["now"]))
            book.version += 1
            return {"now": plain(engine.now)}
        elif verb == "cancel":
            book.holds.pop(body["id"], None)
            done = engine.cancel(body["id"])
        elif verb == "finished":
            done = engine.finished(body["id"], read(body["at"]))
        else:
            done = engine.resources(**body)
        book.version += 1
        if done is None:
            return {"hold": {"id": body["id"], "expires_at": self.wall, "ttl_s": 1}}
        consequences = {"broken": done.broken, "moved": done.moved, "least": done.least}
        return {"consequences": consequences}

    def _question(
        self, engine: Any, verb: str, kind: str | None, new: Any, body: dict[str, Any]
    ) -> dict[str, Any]:
        if verb == "ask":
            return {"decision": engine.ask(new).to_data()}
        if verb == "offer":
            offers = [
                {
                    "dimension": offer.dimension,
                    "value": plain(offer.value),
                    "submission": {kind: offer.submission.to_data()},
                    "concession": plain(offer.concession),
                    "least": offer.least,
                }
                for offer in engine.offer(new, k=body.get("k", 3))
            ]
            return {"offers": offers}
        conflict = engine.why(new)
        if conflict is None:
            return {"conflict": None}
        parts = [{"kind": part.kind, "id": part.id} for part in conflict.parts]
        found = {"parts": parts, "reason": conflict.reason, "irreducible": conflict.irreducible}
        return {"conflict": found}

    def _decide(self, engine: Any, verb: str, kind: str | None, new: Any) -> Any:
        if verb == "change":
            return engine.change(new)
        if kind == "request":
            return engine.submit([new])[0]
        return engine.reserve(new) if kind == "reservation" else engine.submit(new)


def read(value: Any) -> Any:
    from dlopt.client.records import read_number

    return read_number(value)


def problem(status: int, title: str, detail: str, **more: Any) -> httpx.Response:
    data = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    return httpx.Response(
        status, content=json.dumps(data), headers={"content-type": "application/problem+json"}
    )
