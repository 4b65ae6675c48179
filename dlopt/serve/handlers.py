"""How each operation is answered: the parts of the service are asked, and nothing is decided."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope

from dlopt.errors import Fault
from dlopt.serve.answers import Answer, JsonObject
from dlopt.serve.errors import MalformedRequestError
from dlopt.serve.observability import HealthMonitor, Metrics
from dlopt.serve.request_bodies import (
    header,
    read_json_text,
    read_object,
    version_condition,
    whole_number,
)
from dlopt.serve.security import AccessControl, Identity
from dlopt.serve.services import Services
from dlopt.serve.settings import ServiceSettings
from dlopt.service_api.operations import Operation
from dlopt.version import __version__

PAGES = StaticFiles(directory=Path(__file__).parent / "page")
"""The only folder of which files are served."""
STREAM_END_S = 5.0
"""Seconds in which a stream of events must end when the server stops; then it is cut. Jobs end
within one."""
_PAGE_HEADERS = {
    "content-security-policy": "default-src 'none'; connect-src 'self'; "
    "img-src 'self' blob: data:; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cache-control": "no-cache",
}


class Application:
    """What the requests of one server share.

    Parameters
    ----------
    settings : ServiceSettings

    Attributes
    ----------
    services : Services or None
        None while the server does not run.
    failure : Exception or None
        Why it could not be started.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.access = AccessControl(settings)
        self.services: Services | None = None
        self.failure: Exception | None = None
        self.metrics = Metrics(lambda: self.services)
        self.health = HealthMonitor()


@dataclass(frozen=True, slots=True)
class Call:
    """A request whose sender may make it.

    Parameters
    ----------
    operation : Operation
    identity : Identity
        Who makes it.
    query : dict
        The parameters of the query, each of which the operation knows.
    scope, receive
        Of the ASGI interface.
    application : Application
    services : Services
    """

    operation: Operation
    identity: Identity
    query: Mapping[str, str]
    scope: Scope
    receive: Receive
    application: Application
    services: Services

    def part(self, name: str) -> str:
        """Return a part of the path."""
        return str(self.scope["path_params"][name])

    @property
    def if_match(self) -> int | None:
        """The version that a book must have."""
        return version_condition(self.scope)

    async def text(self) -> bytes:
        """Return the body, which is to be JSON."""
        limit = self.application.settings.max_body_bytes
        return await read_json_text(self.scope, self.receive, limit)

    async def body(self, *, exact_numbers: bool = False) -> JsonObject:
        """Return the JSON object of the body."""
        return await read_object(await self.text(), exact_numbers=exact_numbers)


Handler: TypeAlias = Callable[[Call], Awaitable[Answer | Response]]


async def _call_verb(call: Call) -> Answer:
    """Call a verb of a book: the path of every decision."""
    books, name, verb = call.services.books, call.part("name"), call.operation.verb
    arguments = await call.body(exact_numbers=books.exact_numbers(name))
    key = header(call.scope, b"idempotency-key")
    answer = await books.call(name, verb, arguments, idempotency_key=key, if_match=call.if_match)
    if verb in ("submit", "hold", "change"):
        call.application.metrics.count_decision(answer.body.get("decision"))
    return answer


async def _view_book(call: Call) -> Answer:
    arguments = {name: whole_number(text, name) for name, text in call.query.items()}
    name, verb = call.part("name"), call.operation.verb
    return await call.services.books.call(name, verb, arguments, if_match=call.if_match)


async def _create_book(call: Call) -> Answer:
    text = await call.text()
    definition = await read_object(text)
    if definition.get("exact_numbers") is True:
        definition = await read_object(text, exact_numbers=True)
    books, name = call.services.books, call.part("name")
    return await books.create(name, definition, if_match=call.if_match)


async def _list_books(call: Call) -> Answer:
    return call.services.books.names()


async def _describe_book(call: Call) -> Answer:
    return await call.services.books.describe(call.part("name"), if_match=call.if_match)


async def _delete_book(call: Call) -> Answer:
    return await call.services.books.delete(call.part("name"), if_match=call.if_match)


async def _submit_job(call: Call) -> Answer:
    only = call.query.get("validate")
    if only not in (None, "only"):
        raise MalformedRequestError([Fault("validate", only, 'must be "only"')])
    request = await call.body()
    if only is not None:
        return await call.services.jobs.validate(request)
    return await call.services.jobs.submit(request, owner=call.identity.name)


def _view_of_jobs(view: Callable[[Call], Answer]) -> Handler:
    async def handler(call: Call) -> Answer:
        return await asyncio.to_thread(view, call)

    return handler


async def _cancel_job(call: Call) -> Answer:
    return await call.services.jobs.cancel(call.part("id"))


async def _job_certificate(call: Call) -> Response:
    found = await asyncio.to_thread(call.services.jobs.certificate, call.part("id"))
    return Response(found, media_type=call.operation.media_type)


async def _job_plot(call: Call) -> Response:
    drawn = await call.services.jobs.plot(call.part("id"))
    policy = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
    return Response(drawn, media_type=call.operation.media_type, headers=policy)


async def _job_events(call: Call) -> Response:
    last = header(call.scope, b"last-event-id")
    after = 0 if last is None else whole_number(last, "Last-Event-ID")
    events = await call.services.jobs.events(call.part("id"), after)
    return EventSourceResponse(_sent_events(events), shutdown_grace_period=STREAM_END_S)


async def _sent_events(
    events: AsyncIterator[Mapping[str, Any]],
) -> AsyncIterator[ServerSentEvent]:
    async for event in events:
        text = json.dumps(event["data"], allow_nan=False)
        yield ServerSentEvent(text, event=event["event"], id=str(event["id"]))


async def _health(call: Call) -> Answer:
    parts = await call.application.health.parts(call.services)
    well = set(parts.values()) == {"ok"}
    body = {"status": "ok" if well else "failing", "parts": parts, "version": __version__}
    return Answer(body, 200 if well else 503)


async def _metrics(call: Call) -> Response:
    return Response(call.application.metrics.text(), media_type="text/plain; version=0.0.4")


async def _openapi(call: Call) -> Response:
    return Response(await asyncio.to_thread(_openapi_text), media_type=call.operation.media_type)


@cache
def _openapi_text() -> bytes:
    from dlopt.serve.openapi import openapi_document

    return json.dumps(openapi_document(), separators=(",", ":")).encode()


async def _page(call: Call) -> Response:
    return await page_response(call.operation.page_file, call.scope)


async def page_response(file: str, scope: Scope) -> Response:
    """Return a file of the pages.

    Raises
    ------
    HTTPException
        If there is no such file.
    """
    response = await PAGES.get_response(file, scope)
    response.headers.update(_PAGE_HEADERS)
    return response


HANDLERS: Mapping[str, Handler] = {
    "create_book": _create_book,
    "list_books": _list_books,
    "describe_book": _describe_book,
    "delete_book": _delete_book,
    "submit_job": _submit_job,
    "list_jobs": _view_of_jobs(lambda call: call.services.jobs.list()),
    "job_status": _view_of_jobs(lambda call: call.services.jobs.status(call.part("id"))),
    "job_events": _job_events,
    "cancel_job": _cancel_job,
    "job_result": _view_of_jobs(lambda call: call.services.jobs.result(call.part("id"))),
    "job_certificate": _job_certificate,
    "job_plot": _job_plot,
    "health": _health,
    "metrics": _metrics,
    "openapi": _openapi,
}
"""The handler of each operation by its name, but for pages and the verbs of books."""


def handler_of(operation: Operation) -> Handler:
    """Return the handler of an operation."""
    if operation.page_file:
        return _page
    if operation.verb:
        return _view_book if operation.method == "GET" else _call_verb
    return HANDLERS[operation.name]
