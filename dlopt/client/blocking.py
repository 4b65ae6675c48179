"""The client that waits for its answers.

Each method runs that of the client that is awaited, over input and output that block.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Generator
from typing import Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from dlopt.client.asynchronous import Service
from dlopt.client.connection import ServiceConnection
from dlopt.client.http_io import BlockingHttpIO, httpx, run_at_once
from dlopt.client.remote_book import AsyncRemoteBook
from dlopt.client.remote_job import AsyncJob
from dlopt.client.retry_policy import RetryPolicy
from dlopt.problems.validated_record import Header
from dlopt.service_api.job_records import JobEvent

A = TypeVar("A")
F = TypeVar("F")
P = ParamSpec("P")
T = TypeVar("T")


class BlockingWrapper(Generic[A]):
    """Base of what waits for what something else awaits.

    Parameters
    ----------
    awaited : object
        Over a `BlockingHttpIO`.
    """

    def __init__(self, awaited: A) -> None:
        self._awaited = awaited


@overload
def blocking(
    method: Callable[Concatenate[A, P], Awaitable[T]],
) -> Callable[Concatenate[BlockingWrapper[A], P], T]: ...
@overload
def blocking(
    method: Callable[Concatenate[A, P], Awaitable[T]], wrapper: Callable[[T], F]
) -> Callable[Concatenate[BlockingWrapper[A], P], F]: ...
def blocking(
    method: Callable[Concatenate[A, P], Awaitable[T]],
    wrapper: Callable[[T], object] = lambda result: result,
) -> Callable[Concatenate[BlockingWrapper[A], P], object]:
    """Return a method that waits for what another one awaits; it has the same parameters.

    Parameters
    ----------
    method : callable
    wrapper : callable, optional
        Makes what is returned of what the other method returns.
    """

    @functools.wraps(method)
    def waiting(self: BlockingWrapper[A], /, *args: P.args, **kwargs: P.kwargs) -> object:
        return wrapper(run_at_once(method(self._awaited, *args, **kwargs)))

    return waiting


class RemoteBook(BlockingWrapper[AsyncRemoteBook]):
    """A book of a service; its verbs are those of `dlopt.Book`, and those of holds."""

    @property
    def name(self) -> str:
        """The name of the book in the service."""
        return self._awaited.name

    @property
    def version(self) -> int | None:
        """Of the book, from the last answer to this object; for `if_match`."""
        return self._awaited.version

    describe = blocking(AsyncRemoteBook.describe)
    delete = blocking(AsyncRemoteBook.delete)
    ask = blocking(AsyncRemoteBook.ask)
    ask_batch = blocking(AsyncRemoteBook.ask_batch)
    offer = blocking(AsyncRemoteBook.offer)
    why = blocking(AsyncRemoteBook.why)
    submit = blocking(AsyncRemoteBook.submit)
    reserve = submit
    submit_batch = blocking(AsyncRemoteBook.submit_batch)
    hold = blocking(AsyncRemoteBook.hold)
    confirm = blocking(AsyncRemoteBook.confirm)
    release = blocking(AsyncRemoteBook.release)
    cancel = blocking(AsyncRemoteBook.cancel)
    change = blocking(AsyncRemoteBook.change)
    finished = blocking(AsyncRemoteBook.finished)
    resources = blocking(AsyncRemoteBook.resources)
    advance = blocking(AsyncRemoteBook.advance)
    archive = blocking(AsyncRemoteBook.archive)
    plan = blocking(AsyncRemoteBook.plan)
    state = blocking(AsyncRemoteBook.state)
    log = blocking(AsyncRemoteBook.log)
    snapshot = blocking(AsyncRemoteBook.snapshot)


class Job(BlockingWrapper[AsyncJob]):
    """A run in a process of the service."""

    @property
    def id(self) -> str:
        """The identity of the job in the service."""
        return self._awaited.id

    @property
    def instance(self) -> Header:
        """What the job is about."""
        return self._awaited.instance

    def events(self, after: int = 0) -> Generator[JobEvent]:
        """Yield what happens, until the job has ended; see `AsyncJob.events`."""
        events = self._awaited.events(after)
        try:
            while True:
                yield run_at_once(anext(events))
        except StopAsyncIteration:
            return
        finally:
            run_at_once(events.aclose())

    status = blocking(AsyncJob.status)
    cancel = blocking(AsyncJob.cancel)
    wait = blocking(AsyncJob.wait)
    result = blocking(AsyncJob.result)
    data = blocking(AsyncJob.data)
    certificate = blocking(AsyncJob.certificate)
    plot = blocking(AsyncJob.plot)


class Client(BlockingWrapper[Service]):
    """A service, reached over HTTP; several threads may use it.

    Parameters
    ----------
    url, token, timeout_s, retry_policy
        See `dlopt.client.AsyncClient`, also for what each method raises.
    transport : httpx.BaseTransport, optional
        Instead of the network.

    Raises
    ------
    NotApplicableError
        If it is not the URL of an HTTP service.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout_s: float = 30.0,
        retry_policy: RetryPolicy | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        io = BlockingHttpIO(url, token, timeout_s, transport)
        super().__init__(Service(ServiceConnection(io, retry_policy or RetryPolicy())))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def book(self, name: str) -> RemoteBook:
        """Return a book by its name; nothing is sent."""
        return RemoteBook(self._awaited.book(name))

    def job(self, identity: str, instance: Header) -> Job:
        """Return a job by its identity, of a known instance; nothing is sent."""
        return Job(self._awaited.job(identity, instance))

    close = blocking(Service.close)
    call = blocking(Service.call)
    books = blocking(Service.books)
    create = blocking(Service.create, RemoteBook)
    jobs = blocking(Service.jobs)
    solve = blocking(Service.solve, Job)
    compare = blocking(Service.compare, Job)
