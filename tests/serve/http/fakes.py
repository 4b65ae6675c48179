"""Parts of a service that answer what a test says, for tests of the HTTP layer alone."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from dlopt.serve.answers import Answer
from dlopt.serve.errors import NotFoundError
from dlopt.serve.services import Services
from dlopt.serve.settings import ServiceSettings
from dlopt.serve.store import Store


class FakeBooks:
    """Remembers its calls; `raises` is raised by the next one."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.raises: Exception | None = None
        self.exact: set[str] = set()
        self.is_alive = True

    def _answer(self, *call: Any, body: dict[str, Any] | None = None, **more: Any) -> Answer:
        self.calls.append(call)
        if self.raises is not None:
            raised, self.raises = self.raises, None
            raise raised
        return Answer(body if body is not None else {}, **more)

    async def create(
        self, name: str, definition: Mapping[str, Any], *, if_match: int | None = None
    ) -> Answer:
        return self._answer(
            "create", name, dict(definition), status=201, version=0, location=f"/v1/books/{name}"
        )

    async def delete(self, name: str, *, if_match: int | None = None) -> Answer:
        return self._answer("delete", name, if_match)

    def names(self) -> Answer:
        return self._answer("names", body={"books": []})

    async def describe(self, name: str, *, if_match: int | None = None) -> Answer:
        if name == "absent":
            raise NotFoundError("there is no book absent")
        return self._answer("describe", name, version=3)

    async def call(
        self,
        name: str,
        verb: str,
        arguments: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        if_match: int | None = None,
    ) -> Answer:
        body = {"decision": {"accepted": True}} if verb == "submit" else {}
        return self._answer(
            "call", name, verb, dict(arguments), idempotency_key, if_match, body=body, version=7
        )

    def counts(self) -> dict[str, int]:
        return {"books": 1, "commits": 2, "records": len(self.calls)}

    def exact_numbers(self, name: str) -> bool:
        return name in self.exact


class FakeJobs:
    """Has one job, number 1."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.trouble: str | None = None

    def counts(self) -> dict[str, int]:
        return {"queued": 0, "running": 1}

    def _known(self, job: str) -> str:
        if job != "1":
            raise NotFoundError("there is no such job")
        return job

    async def submit(self, request: Mapping[str, Any], *, owner: str = "") -> Answer:
        self.calls.append(("submit", dict(request), owner))
        return Answer({"id": "1"}, 202, location="/v1/jobs/1")

    async def validate(self, request: Mapping[str, Any]) -> Answer:
        self.calls.append(("validate", dict(request)))
        return Answer({"faults": []})

    def list(self) -> Answer:
        return Answer({"jobs": [{"id": "1", "state": "running"}]})

    def status(self, job: str) -> Answer:
        return Answer({"id": self._known(job), "state": "running"})

    async def events(self, job: str, after: int = 0) -> AsyncIterator[Mapping[str, Any]]:
        self._known(job)
        return self._events(after)

    async def _events(self, after: int) -> AsyncIterator[Mapping[str, Any]]:
        for number, event in enumerate(("queued", "started", "progress", "ended"), 1):
            if number > after:
                yield {"id": number, "event": event, "data": {"value": number, "text": "a\nb"}}

    async def cancel(self, job: str) -> Answer:
        return Answer({"id": self._known(job), "state": "cancelled"})

    def result(self, job: str) -> Answer:
        return Answer({"method": self._known(job)})

    def certificate(self, job: str) -> bytes:
        return b"VER 1.0" + self._known(job).encode()

    async def plot(self, job: str) -> bytes:
        return b"<svg xmlns='http://www.w3.org/2000/svg'/>" + b"" * len(self._known(job))


def opening(
    books: FakeBooks, jobs: FakeJobs
) -> Callable[
    [ServiceSettings, Callable[[], float]], contextlib.AbstractAsyncContextManager[Services]
]:
    """Return what opens a service with these parts."""

    @contextlib.asynccontextmanager
    async def opened(
        settings: ServiceSettings, _wall_clock: Callable[[], float]
    ) -> AsyncIterator[Services]:
        with Store(settings.store) as store:
            yield Services(store, books, jobs)  # type: ignore[arg-type]

    return opened
