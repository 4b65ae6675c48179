"""How each operation is answered: the parts of the service are asked, and nothing is decided."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope

from dlopt.errors import Fault
from dlopt.serve.answers import Answer
from dlopt.serve.errors import MalformedRequestError
from dlopt.serve.observability import Metrics, health
from dlopt.serve.operations import Operation
from dlopt.serve.request_bodies import (
    header,
    query_parameters,
    read_json_text,
    read_object,
    version_condition,
    whole_number,
)
from dlopt.serve.security import Identity
from dlopt.serve.services import Services
from dlopt.serve.settings import ServiceSettings
from dlopt.version import __version__

PAGES = Path(__file__).parent / "page"
"""The only folder of which files are served, and only those of fixed names."""
_PAGE_POLICY = "default-src 'none'; connect-src 'self'; img-src 'self' blob: data:; \
script-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_LONGEST_KEY = 200
_MOST_RECORDS = 10_000
"""Records of a log in one answer, unless fewer are asked for; a client then asks for more."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request whose sender may make it.

    Parameters
    ----------
    operation : Operation
    identity : Identity
        Who makes it.
    scope, receive
        Of the ASGI interface.
    settings : ServiceSettings
    services : Services
    metrics : Metrics
    """

    operation: Operation
    identity: Identity
    scope: Scope
    receive: Receive
    settings: ServiceSettings
    services: Services
    metrics: Metrics

    def part(self, name: str) -> str:
        """Return a part of the path."""
        return str(self.scope["path_params"][name])

    def query(self) -> dict[str, str]:
        """Return the parameters of the query, each of which the operation knows."""
        text = self.scope["query_string"]
        if not text:
            return {}
        pairs = parse_qsl(text.decode("latin-1"), keep_blank_values=True)
        known = tuple(p.name for p in self.operation.parameters if p.place == "query")
        if len(dict(pairs)) < len(pairs):
            raise MalformedRequestError([Fault("query", text.decode("latin-1"), "repeats a name")])
        return query_parameters(dict(pairs), known)

    async def text(self) -> bytes:
        """Return the body, which is to be JSON."""
        return await read_json_text(self.scope, self.receive, self.settings)

    async def body(self, *, exact_numbers: bool = False) -> dict[str, Any]:
        """Return the JSON object of the body."""
        return await read_object(await self.text(), self.settings, exact_numbers=exact_numbers)


Handler: TypeAlias = Callable[[Call], Awaitable[Answer | Response]]


async def _call_verb(call: Call) -> Answer:
    """Call a verb of a book: the path of every decision."""
    call.query()
    books, name, verb = call.services.books, call.part("name"), call.operation.verb
    arguments = await call.body(exact_numbers=books.exact_numbers(name))
    answer = await books.call(
        name,
        verb,
        arguments,
        idempotency_key=_idempotency_key(call.scope),
        if_match=version_condition(call.scope),
    )
    if verb in ("submit", "hold", "change"):
        call.metrics.count_decision(answer.body.get("decision"))
    return answer


def _idempotency_key(scope: Scope) -> str | None:
    key = header(scope, b"idempotency-key")
    if key is None:
        return None
    if not (0 < len(key) <= _LONGEST_KEY and key.isascii() and key.isprintable()):
        rule = f"must have 1 to {_LONGEST_KEY} printable ASCII characters"
        raise MalformedRequestError([Fault("Idempotency-Key", key, rule)])
    return key


async def _view_book(call: Call) -> Answer:
    query = call.query()
    arguments = {
        name: whole_number(query.get(name), name, default=default)
        for name, default in {"after": 0, "limit": _MOST_RECORDS}.items()
        if call.operation.verb == "log"
    }
    return await call.services.books.call(
        call.part("name"),
        call.operation.verb,
        arguments,
        if_match=version_condition(call.scope),
    )


async def _create_book(call: Call) -> Answer:
    call.query()
    text = await call.text()
    definition = await read_object(text, call.settings)
    if definition.get("exact_numbers") is True:
        definition = await read_object(text, call.settings, exact_numbers=True)
    return await call.services.books.create(call.part("name"), definition)


async def _list_books(call: Call) -> Answer:
    call.query()
    return call.services.books.names()


async def _describe_book(call: Call) -> Answer:
    call.query()
    return await call.services.books.describe(call.part("name"))


async def _delete_book(call: Call) -> Answer:
    call.query()
    return await call.services.books.delete(call.part("name"))


async def _submit_job(call: Call) -> Answer:
    only = call.query().get("validate")
    if only not in (None, "only"):
        raise MalformedRequestError([Fault("validate", only, "must be only")])
    question = await call.body()
    if only is not None:
        return call.services.jobs.validate(question)
    return await call.services.jobs.submit(question, owner=call.identity.name)


async def _list_jobs(call: Call) -> Answer:
    call.query()
    return call.services.jobs.list()


async def _job_status(call: Call) -> Answer:
    call.query()
    return call.services.jobs.status(call.part("id"))


async def _cancel_job(call: Call) -> Answer:
    call.query()
    return await call.services.jobs.cancel(call.part("id"))


async def _job_result(call: Call) -> Answer:
    call.query()
    return call.services.jobs.result(call.part("id"))


async def _job_certificate(call: Call) -> Response:
    call.query()
    found = call.services.jobs.certificate(call.part("id"))
    if isinstance(found, Path):
        return FileResponse(found, media_type=call.operation.media_type)
    return Response(found, media_type=call.operation.media_type)


async def _job_plot(call: Call) -> Response:
    call.query()
    drawn = await call.services.jobs.plot(call.part("id"))
    policy = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
    return Response(drawn, media_type=call.operation.media_type, headers=policy)


async def _job_events(call: Call) -> Response:
    call.query()
    after = whole_number(header(call.scope, b"last-event-id"), "Last-Event-ID", default=0)
    job = call.part("id")
    call.services.jobs.status(job)  # an unknown job is an error before the stream begins
    return EventSourceResponse(_sent_events(call.services.jobs.events(job, after)))


async def _sent_events(
    events: AsyncIterator[Mapping[str, Any]],
) -> AsyncIterator[ServerSentEvent]:
    async for event in events:
        text = json.dumps(event["data"], allow_nan=False)
        yield ServerSentEvent(text, event=event["event"], id=str(event["id"]))


async def _health(call: Call) -> Answer:
    parts = await health(call.services)
    well = set(parts.values()) == {"ok"}
    body = {"status": "ok" if well else "failing", "parts": parts, "version": __version__}
    return Answer(body, 200 if well else 503)


async def _metrics(call: Call) -> Response:
    return Response(call.metrics.text(), media_type="text/plain; version=0.0.4")


async def _openapi(_call: Call) -> Answer:
    from dlopt.serve.openapi import openapi_document

    return Answer(openapi_document())


def _page(name: str, media_type: str) -> Handler:
    """Return the handler of a file of the page."""

    async def show(_call: Call) -> Response:
        headers = {"content-security-policy": _PAGE_POLICY}
        return FileResponse(PAGES / name, media_type=media_type, headers=headers)

    return show


HANDLERS: Mapping[str, Handler] = {
    "create_book": _create_book,
    "list_books": _list_books,
    "describe_book": _describe_book,
    "delete_book": _delete_book,
    "submit_job": _submit_job,
    "list_jobs": _list_jobs,
    "job_status": _job_status,
    "job_events": _job_events,
    "cancel_job": _cancel_job,
    "job_result": _job_result,
    "job_certificate": _job_certificate,
    "job_plot": _job_plot,
    "health": _health,
    "metrics": _metrics,
    "openapi": _openapi,
    "page": _page("index.html", "text/html"),
    "page_script": _page("page.js", "text/javascript"),
    "page_allocations": _page("allocations.js", "text/javascript"),
    "page_book_chart": _page("book_chart.js", "text/javascript"),
    "page_elements": _page("elements.js", "text/javascript"),
    "page_job_chart": _page("job_chart.js", "text/javascript"),
    "page_service": _page("service.js", "text/javascript"),
    "page_style": _page("page.css", "text/css"),
    "docs": _page("docs.html", "text/html"),
    "docs_script": _page("docs.js", "text/javascript"),
}
"""The handler of each operation by its name, but for those of the verbs of books."""


def handler_of(operation: Operation) -> Handler:
    """Return the handler of an operation."""
    if operation.verb:
        return _view_book if operation.method == "GET" else _call_verb
    return HANDLERS[operation.name]
