"""A job of a service; its methods are awaited, see `dlopt.client.asynchronous`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TypeVar

from dlopt.client.connection import ServiceConnection
from dlopt.client.errors import UnreadableAnswerError
from dlopt.errors import InvalidInstanceError
from dlopt.io import result_from_data
from dlopt.problems.validated_record import Header
from dlopt.result import Result
from dlopt.service_api.job_records import JobEvent, JobStatus
from dlopt.service_api.json_data import Json

T = TypeVar("T")


class AsyncJob:
    """A run in a process of the service.

    Parameters
    ----------
    connection : ServiceConnection
    id : str
    instance : Instance
        What it is about.
    """

    def __init__(self, connection: ServiceConnection, id: str, instance: Header) -> None:  # noqa: A002
        self._connection, self.id, self.instance = connection, id, instance

    async def status(self) -> JobStatus:
        """Return the state of the job, with its value and bound so far."""
        return await self._call("job_status", JobStatus)

    async def cancel(self) -> JobStatus:
        """Stop the job; it keeps the best checked plan."""
        return await self._call("cancel_job", JobStatus)

    def events(self, after: int = 0) -> AsyncGenerator[JobEvent]:
        """Yield what happens, until the job has ended.

        Parameters
        ----------
        after : int, default 0
            The number of the last event that is known.
        """
        return self._connection.events(self.id, after)

    async def wait(self) -> JobStatus:
        """Wait until the job has ended; return how."""
        async for _event in self.events():
            pass
        return await self.status()

    async def result(self) -> Result[object]:
        """Return the result of a job that solved, checked by the service."""
        try:
            return result_from_data(await self.data(), self.instance)
        except InvalidInstanceError as error:
            raise UnreadableAnswerError(f"the result cannot be read: {error}") from error

    async def data(self) -> Json:
        """Return the result of the job as plain data: of a comparison, a check or a search, too."""
        return await self._call("job_result", dict)

    async def certificate(self) -> str:
        """Return the proof of the bound of the job, in the format VIPR."""
        return await self._call("job_certificate", str)

    async def plot(self) -> str:
        """Return the plan of the job as an SVG drawing."""
        return await self._call("job_plot", str)

    async def _call(self, operation: str, record: type[T]) -> T:
        return (await self._connection.call(operation, {"id": self.id}, record)).value
