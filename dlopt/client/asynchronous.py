"""The client that is awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Self, TypeVar, Unpack

from dlopt.client import book_calls, calls, job_calls
from dlopt.client.book_calls import BookOptions
from dlopt.client.connection import httpx, lost, received, settings_of
from dlopt.client.event_stream import EventStream
from dlopt.client.exchange import Answered, Call, Lost, Received, Retries, error_of, exchange
from dlopt.client.job_calls import RunOptions
from dlopt.client.records import BookDescription, JobEvent, JobStatus, Json
from dlopt.client.verbs import BookVerbs, JobVerbs
from dlopt.problems.validated_record import Header
from dlopt.result import Result

T = TypeVar("T")


class AsyncClient:
    """A service, reached over HTTP.

    Parameters
    ----------
    url : str
        Of the service, as ``http://127.0.0.1:8321``.
    token : str, optional
        Who asks, where the service has a token file.
    timeout_s : float, default 30
        Seconds to wait for a connection, and for each part of an answer.
    retries : Retries, optional
        What is sent again, and when.
    transport : httpx.AsyncBaseTransport, optional
        Instead of the network.

    Raises
    ------
    NotApplicableError
        If the URL is none of HTTP.

    Notes
    -----
    It may be used by several tasks of one event loop. What each method raises:
    `InvalidInstanceError` and `NotApplicableError` as the local book or `dlopt.solve` would;
    `RefusedRequestError`, `UnreachableServiceError` and `UnreadableAnswerError`.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout_s: float = 30.0,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.retries = Retries() if retries is None else retries
        self._http = httpx.AsyncClient(**settings_of(url, token, timeout_s), transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(self, call: Call[T]) -> Answered[T]:
        """Send a call until it is answered; see `dlopt.client.exchange.exchange`."""
        steps = exchange(call, self.retries)
        try:
            step = next(steps)
            while True:
                if step is None:
                    step = steps.send(await self._send_once(call))
                else:
                    await asyncio.sleep(step)
                    step = next(steps)
        except StopIteration as ended:
            answered: Answered[T] = ended.value
            return answered

    async def call(self, operation: str, arguments: Json) -> object:
        """Call an operation by its name, with plain data.

        Parameters
        ----------
        operation : str
            One of `dlopt.client.operations.OPERATIONS`.
        arguments : mapping
            By the names of its fields.
        """
        return (await self.send(calls.plain_call(operation, arguments))).value

    async def books(self) -> tuple[BookDescription, ...]:
        """Return the descriptions of all books."""
        return (await self.send(book_calls.books())).value

    def book(self, name: str) -> AsyncRemoteBook:
        """Return a book by its name; nothing is sent."""
        return AsyncRemoteBook(self, name)

    async def create(
        self, name: str, problem: str, **options: Unpack[BookOptions]
    ) -> AsyncRemoteBook:
        """Create a book, or find that it is there and equal.

        Parameters
        ----------
        name : str
        problem : {"admission", "multistage", "coreservation"}
        **options
            See `dlopt.client.book_calls.BookOptions`.
        """
        await self.send(book_calls.create(name, problem, options))
        return AsyncRemoteBook(self, name)

    async def jobs(self) -> tuple[JobStatus, ...]:
        """Return the states of all jobs."""
        return (await self.send(job_calls.jobs())).value

    def job(self, identity: str, instance: Header) -> AsyncJob:
        """Return a job by its identity, of a known instance; nothing is sent."""
        return AsyncJob(self, identity, instance)

    async def solve(
        self, instance: Header, method: str = "exact", **options: Unpack[RunOptions]
    ) -> AsyncJob:
        """Ask the service to solve an instance, as `dlopt.solve` does; return the job at once."""
        status = (await self.send(job_calls.run("solve", instance, method, None, options))).value
        return AsyncJob(self, status.id, instance)

    async def compare(
        self,
        instance: Header,
        methods: Sequence[str] | None = None,
        **options: Unpack[RunOptions],
    ) -> AsyncJob:
        """Ask the service to compare methods on an instance; return the job at once."""
        status = (await self.send(job_calls.run("compare", instance, None, methods, options))).value
        return AsyncJob(self, status.id, instance)

    async def listen(self, job: str, after: int = 0) -> AsyncIterator[JobEvent]:
        """Yield the events of a job until it has ended; a lost connection is made again."""
        stream = EventStream(job, after, self.retries)
        while True:
            outcome = None
            try:
                opened = self._http.stream("GET", stream.path, headers=stream.headers)
                async with opened as response:
                    if response.status_code >= 300:
                        await response.aread()
                        raise error_of(received(response))
                    async for line in response.aiter_lines():
                        event = stream.parser.feed(line)
                        if event is not None:
                            yield event
                            if event.event == "ended":
                                return
            except httpx.TransportError as error:
                outcome = lost(error)
            await asyncio.sleep(stream.pause_after(outcome))

    async def _send_once(self, call: Call[T]) -> Received | Lost:
        try:
            return received(
                await self._http.request(
                    call.operation.method, call.path, content=call.body, headers=call.headers
                )
            )
        except httpx.TransportError as error:
            return lost(error)


class AsyncRemoteBook(BookVerbs):
    """A book of a service; its verbs are those of `dlopt.Book`, and `hold`.

    Parameters
    ----------
    client : AsyncClient
    name : str

    Attributes
    ----------
    version : int or None
        Of the book, as the last answer to this object tells it; for `if_match`.
    """

    def __init__(self, client: AsyncClient, name: str) -> None:
        self.client, self.name = client, name
        self.version: int | None = None

    async def run(self, call: Call[T], /) -> T:
        """Send a call about the book; see `AsyncClient.send`."""
        answered = await self.client.send(call)
        self.version = self.version if answered.version is None else answered.version
        return answered.value


class AsyncJob(JobVerbs):
    """A run in a process of the service.

    Parameters
    ----------
    client : AsyncClient
    id : str
    instance : Instance
        What it is about.
    """

    def __init__(self, client: AsyncClient, id: str, instance: Header) -> None:  # noqa: A002
        self.client, self.id, self.instance = client, id, instance
        self.name = id  # under which its verbs send

    async def run(self, call: Call[T], /) -> T:
        """Send a call about the job."""
        return (await self.client.send(call)).value

    def events(self, after: int = 0) -> AsyncIterator[JobEvent]:
        """Yield what happens, until the job has ended.

        Parameters
        ----------
        after : int, default 0
            The number of the last event that is known.
        """
        return self.client.listen(self.id, after)

    async def result(self) -> Result[object]:
        """Return the result of a job that solved, checked by the service."""
        return (await self.client.send(job_calls.result(self.id, self.instance))).value

    async def wait(self) -> JobStatus:
        """Wait until the job has ended; return how."""
        async for _event in self.events():
            pass
        return await self.status()
