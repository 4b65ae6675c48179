"""The client that is awaited.

Only the operations are written here, in `remote_book` and in `remote_job`; `connection` sends them.
Over blocking input and output, the same code is the client that waits, see `blocking`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self, TypedDict, Unpack

from dlopt.arithmetic import Number
from dlopt.client.connection import ServiceConnection
from dlopt.client.http_io import AsyncHttpIO, httpx
from dlopt.client.remote_book import AsyncRemoteBook
from dlopt.client.remote_job import AsyncJob
from dlopt.client.retry_policy import RetryPolicy
from dlopt.errors import MISSING, Fault, InvalidInstanceError, NotApplicableError
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Holding, Machine
from dlopt.problems.validated_record import Header
from dlopt.result import Limits
from dlopt.service_api.book_records import BookDescription, BookList
from dlopt.service_api.input_schemas import TOOL_OPERATIONS, input_schema
from dlopt.service_api.job_records import JobList, JobStatus
from dlopt.service_api.json_data import Json, plain_data
from dlopt.service_api.operations import JSON


class BookOptions(TypedDict, total=False):
    """Options of a new book; see `dlopt.Admission`, `MultiStage` and `CoReservation`."""

    cluster: Cluster
    machines: Sequence[Machine]
    algorithm: str
    now: Number
    ready_times: Sequence[Number]
    channel_ready: Number
    holdings: Sequence[Holding]
    order: str
    allocation: str
    trim: bool
    exact_numbers: bool
    clock: str


class JobOptions(TypedDict, total=False):
    """Options of a job; see `dlopt.solve` and `dlopt.compare`."""

    objective: str
    limits: Limits
    seed: int
    options: Mapping[str, object]
    certified: bool
    priority: int


class Service:
    """The operations of a service on all its books and jobs.

    Parameters
    ----------
    connection : ServiceConnection
    """

    def __init__(self, connection: ServiceConnection) -> None:
        self.connection = connection

    async def close(self) -> None:
        """Close the connections."""
        await self.connection.io.close()

    async def call(self, operation: str, arguments: Json) -> object:
        """Call an operation by its name, with plain data.

        Parameters
        ----------
        operation : str
            One of `dlopt.service_api.input_schemas.TOOL_OPERATIONS`.
        arguments : mapping
            By the names that its input schema has.

        Raises
        ------
        NotApplicableError
            If there is no such operation.
        InvalidInstanceError
            If it takes no such argument, or one is missing.
        """
        if operation not in TOOL_OPERATIONS:
            known = ", ".join(TOOL_OPERATIONS)
            raise NotApplicableError(f"there is no operation {operation}; there are {known}")
        schema = input_schema(operation)
        rule = f"is not an argument of {operation} (known: {', '.join(schema['properties'])})"
        faults = [
            Fault(name, value, rule)
            for name, value in arguments.items()
            if name not in schema["properties"]
        ]
        missing = [name for name in schema["required"] if arguments.get(name) is None]
        faults += [Fault(name, MISSING, "is missing") for name in missing]
        if faults:
            raise InvalidInstanceError(faults)
        record: type[object] = dict if TOOL_OPERATIONS[operation].media_type == JSON else str
        return (await self.connection.call(operation, arguments, record)).value

    async def books(self) -> tuple[BookDescription, ...]:
        """Return the descriptions of all books."""
        return (await self.connection.call("list_books", {}, BookList)).value.books

    def book(self, name: str) -> AsyncRemoteBook:
        """Return a book by its name; nothing is sent."""
        return AsyncRemoteBook(self.connection, name)

    async def create(
        self, name: str, problem: str, **options: Unpack[BookOptions]
    ) -> AsyncRemoteBook:
        """Create a book, or find that it is there and equal.

        Parameters
        ----------
        name : str
        problem : {"admission", "multistage", "coreservation"}
        **options
            See `dlopt.client.BookOptions`.
        """
        definition = plain_data({"name": name, "problem": problem, **options})
        await self.connection.call("create_book", definition, BookDescription)
        return self.book(name)

    async def jobs(self) -> tuple[JobStatus, ...]:
        """Return the states of all jobs."""
        return (await self.connection.call("list_jobs", {}, JobList)).value.jobs

    def job(self, identity: str, instance: Header) -> AsyncJob:
        """Return a job by its identity, of a known instance; nothing is sent."""
        return AsyncJob(self.connection, identity, instance)

    async def solve(
        self, instance: Header, method: str = "exact", **options: Unpack[JobOptions]
    ) -> AsyncJob:
        """Ask the service to solve an instance, as `dlopt.solve` does; return the job at once."""
        return await self._submit(instance, {"kind": "solve", "method": method, **options})

    async def compare(
        self,
        instance: Header,
        methods: Sequence[str] | None = None,
        **options: Unpack[JobOptions],
    ) -> AsyncJob:
        """Ask the service to compare methods on an instance; return the job at once."""
        given = None if methods is None else list(methods)
        return await self._submit(instance, {"kind": "compare", "methods": given, **options})

    async def _submit(self, instance: Header, question: Json) -> AsyncJob:
        body = plain_data({"instance": instance, **question})
        return self.job(
            (await self.connection.call("submit_job", body, JobStatus)).value.id, instance
        )


class AsyncClient(Service):
    """A service, reached over HTTP.

    Parameters
    ----------
    url : str
        Of the service, as ``http://127.0.0.1:8321``.
    token : str, optional
        Who asks, where the service has a token file.
    timeout_s : float, default 30
        Seconds to wait for a connection, and for each part of an answer.
    retry_policy : RetryPolicy, optional
        What is sent again, and when.
    transport : httpx.AsyncBaseTransport, optional
        Instead of the network.

    Raises
    ------
    NotApplicableError
        If it is not the URL of an HTTP service.

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
        retry_policy: RetryPolicy | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        io = AsyncHttpIO(url, token, timeout_s, transport)
        super().__init__(ServiceConnection(io, retry_policy or RetryPolicy()))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()
