"""The connection to a service: requests are sent until they are answered, events until the end."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import TypeVar, Unpack

from dlopt.client.errors import UnreachableServiceError
from dlopt.client.event_stream import EventParser
from dlopt.client.http_io import HttpIO, httpx
from dlopt.client.http_messages import (
    ChangeOptions,
    HttpRequest,
    Reply,
    error_of,
    reply_of,
    request_of,
)
from dlopt.client.retry_policy import RetryPolicy
from dlopt.errors import DloptError
from dlopt.service_api.job_records import JobEvent
from dlopt.service_api.json_data import Json

T = TypeVar("T")


class ServiceConnection:
    """Calls the operations of a service.

    Parameters
    ----------
    io : HttpIO
    retry_policy : RetryPolicy
    """

    def __init__(self, io: HttpIO, retry_policy: RetryPolicy) -> None:
        self.io, self.retry_policy = io, retry_policy

    async def call(
        self, operation: str, arguments: Json, record: type[T], **options: Unpack[ChangeOptions]
    ) -> Reply[T]:
        """Call an operation until it is answered, or sending it again makes no sense.

        Parameters
        ----------
        operation : str
            One of `dlopt.service_api.operations.OPERATIONS`.
        arguments : mapping
            Plain data.
        record : type
            What the answer is read into, see `dlopt.client.http_messages.reply_of`.
        **options
            See `ChangeOptions`.

        Raises
        ------
        InvalidInstanceError, NotApplicableError, RefusedRequestError
            If the service refuses the request.
        UnreachableServiceError
            If no answer came.
        UnreadableAnswerError
            If it is no answer of this version.
        """
        request = request_of(operation, arguments, **options)
        return reply_of(request, await self._answer_to(request), record)

    async def _answer_to(self, request: HttpRequest) -> httpx.Response:
        is_repeatable = request.operation.is_repeatable
        for attempt in itertools.count(1):
            try:
                response = await self.io.send(request)
                if response.status_code < 300:
                    return response
                raise error_of(response)
            except DloptError as error:
                pause = self.retry_policy.pause_after(attempt, error, is_repeatable=is_repeatable)
                if pause is None:
                    raise
            await self.io.pause(pause)
        raise AssertionError

    async def events(self, job: str, after: int) -> AsyncGenerator[JobEvent]:
        """Yield the events of a job until it has ended; a lost connection is made again.

        Parameters
        ----------
        job : str
        after : int
            The number of the last event that is known.

        Raises
        ------
        UnreachableServiceError
            If the connection ends too often, in a row, without an event.
        UnreadableAnswerError
            If something else than an event comes.
        """
        request = request_of("job_events", {"id": job})
        failures = 0
        while True:
            parser, detail = EventParser(after), "the events ended before the job"
            headers = {"last-event-id": str(after), "accept": request.operation.media_type}
            try:
                listening = self.io.lines(replace(request, headers=headers))
                async with contextlib.aclosing(listening) as lines:
                    async for line in lines:
                        event = parser.feed(line)
                        if event is not None:
                            yield event
                            if event.event == "ended":
                                return
            except UnreachableServiceError as error:
                detail = str(error)
            failures = 1 if parser.last > after else failures + 1
            after = parser.last
            if failures >= self.retry_policy.attempts:
                raise UnreachableServiceError(detail, sent=True)
            await self.io.pause(self.retry_policy.pause_s(failures))
