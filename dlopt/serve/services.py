"""The parts of a running service that answer requests, and how they are started and stopped."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from dlopt.serve.books.book_service import BookService
from dlopt.serve.jobs.job_service import JobService
from dlopt.serve.settings import ServiceSettings
from dlopt.serve.store import Store


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of a running service.

    Parameters
    ----------
    store : Store
    books : BookService
    jobs : JobService
    """

    store: Store
    books: BookService
    jobs: JobService


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
    with Store(settings.store) as store:
        books = BookService(store, limits=settings.books, wall_clock=wall_clock)
        jobs = JobService(store, settings)
        async with contextlib.AsyncExitStack() as started:
            started.push_async_callback(books.stop)
            await books.start()
            started.push_async_callback(jobs.stop)
            await jobs.start()
            yield Services(store, books, jobs)
