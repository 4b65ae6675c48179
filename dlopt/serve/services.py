"""The parts of a running service that answer requests, and how they are started and stopped."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from dlopt.serve.answers import Answer
from dlopt.serve.settings import ServiceSettings
from dlopt.serve.store import Store


class Books(Protocol):
    """What is asked of durable books, see `dlopt.serve.books`."""

    async def create(self, name: str, definition: Mapping[str, Any]) -> Answer: ...
    async def delete(self, name: str) -> Answer: ...
    def names(self) -> Answer: ...
    async def describe(self, name: str) -> Answer: ...
    async def call(
        self,
        name: str,
        verb: str,
        arguments: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        if_match: int | None = None,
    ) -> Answer: ...
    def exact_numbers(self, name: str) -> bool: ...


class Jobs(Protocol):
    """What is asked of jobs, see `dlopt.serve.jobs`."""

    async def submit(self, question: Mapping[str, Any], *, owner: str = "") -> Answer: ...
    def validate(self, question: Mapping[str, Any]) -> Answer: ...
    def list(self) -> Answer: ...
    def status(self, job: str) -> Answer: ...
    def events(self, job: str, after: int = 0) -> AsyncIterator[Mapping[str, Any]]: ...
    async def cancel(self, job: str) -> Answer: ...
    def result(self, job: str) -> Answer: ...
    def certificate(self, job: str) -> Path | bytes: ...
    async def plot(self, job: str) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of a running service.

    Parameters
    ----------
    store : Store
    books : Books
    jobs : Jobs
    """

    store: Store
    books: Books
    jobs: Jobs


@contextlib.asynccontextmanager
async def running_services(
    settings: ServiceSettings, wall_clock: Callable[[], float]
) -> AsyncIterator[Services]:
    """Open the store, start books and jobs, and stop them in order at the end.

    Parameters
    ----------
    settings : ServiceSettings
    wall_clock : callable
        Returns seconds since 1970.

    Raises
    ------
    NotApplicableError
        If the store cannot be opened, or another server uses it.
    """
    from dlopt.serve.books.book_service import BookService
    from dlopt.serve.jobs.job_service import JobService

    with Store(settings.store) as store:
        books = BookService(store, wall_clock=wall_clock)
        jobs = JobService(store, settings)
        async with contextlib.AsyncExitStack() as started:
            started.push_async_callback(books.stop)
            await books.start()
            started.push_async_callback(jobs.stop)
            await jobs.start()
            yield Services(store, books, jobs)
