"""The ASGI application and the server that runs it."""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import logging
import re
import secrets
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from types import FrameType
from typing import TypeAlias

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dlopt.errors import NotApplicableError
from dlopt.serve.answers import Answer
from dlopt.serve.connections import LimitedHttpProtocol
from dlopt.serve.errors import NotFoundError, RefusedRequestError, UnavailableError
from dlopt.serve.handlers import PAGES, Application, Call, handler_of, page_response
from dlopt.serve.problem_details import MEDIA_TYPE, problem_details, problem_headers
from dlopt.serve.request_bodies import header, query_parameters
from dlopt.serve.services import Services, running_services
from dlopt.serve.settings import ServiceSettings
from dlopt.service_api.operations import OPERATIONS, Operation

OpenServices: TypeAlias = Callable[
    [ServiceSettings, Callable[[], float]], AbstractAsyncContextManager[Services]
]
STOP_TIME_S = 20
"""Seconds that requests have to be answered when the server stops; chosen by hand: systemd and
Kubernetes kill after 90 and 30."""
_BACKLOG = 2048
"""Connections that may wait to be accepted: the default of uvicorn."""
HEALTH_PATH = "/healthz"
"""Where load balancers and supervisors ask whether the service works."""
RETRY_AFTER_S = 1.0
"""Seconds after which a client that found the service busy is to ask again; chosen by hand."""
_CLIENT_CLOSED = 499
"""Status in logs and metrics of requests whose client has gone away, as nginx has it."""
_REQUEST_ID = re.compile(r"[!-~]{1,100}", re.ASCII)
_LOGGER = logging.getLogger(__name__)
_JSON = (b"content-type", b"application/json")
_TO_JSON = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_SWITCH_S = 0.0005
"""Seconds after which a thread of Python lets another one go on (`sys.setswitchinterval`). With the
usual 5 ms, the threads of books, of the store and of HTTP wait for each other: 64 callers of a book
got half as many decisions while another book computed."""

_GARBAGE = 20_000
"""New objects after which the collector looks for cycles, some 50 requests: with the usual 700, it
takes 7 % of the time."""


class _Endpoint:
    """Answers the requests of one path.

    Parameters
    ----------
    application : Application
    operations : list of Operation
        Of this path, one for each method.
    """

    def __init__(self, application: Application, operations: list[Operation]) -> None:
        self._application = application
        self._operations = {op.method: (op, handler_of(op)) for op in operations}
        if "GET" in self._operations:
            self._operations["HEAD"] = self._operations["GET"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self._operations.get(scope["method"])
        if found is None:
            allowed = ", ".join(sorted(self._operations))
            detail = f"this path allows the methods {allowed}"
            raise RefusedRequestError(405, "Method not allowed", detail, {"allow": allowed})
        operation, handler = found
        application = self._application
        scope["dlopt.operation"] = operation.name
        identity = application.access.admit(scope, operation.scope)
        services = application.services
        if services is None:
            raise UnavailableError("the service is starting or stopping")
        is_checked = scope["query_string"] and operation.tag != "service"
        query = query_parameters(scope, operation.query_parameters) if is_checked else {}
        call = Call(operation, identity, query, scope, receive, application, services)
        answer = await handler(call)
        if isinstance(answer, Response):
            await answer(scope, receive, send)
        else:
            await _send_answer(answer, send)


async def _send_answer(answer: Answer, send: Send) -> None:
    headers = [_JSON]
    if answer.version is not None:
        headers.append((b"etag", b'"%d"' % answer.version))
    if answer.location is not None:
        headers.append((b"location", answer.location.encode("ascii")))
    await _send_json(answer.status, answer.body, headers, send)


async def _send_json(
    status: int, body: object, headers: list[tuple[bytes, bytes]], send: Send
) -> None:
    text = _TO_JSON(body).encode()
    headers.append((b"content-length", b"%d" % len(text)))
    headers.append((b"cache-control", b"no-store"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text})


class _PageFiles:
    """Answers the requests of all other paths: with a file of the pages, if there is one."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._application.access.admit(scope, None)
        try:
            response = await page_response(PAGES.get_path(scope), scope)
        except HTTPException as error:
            raise NotFoundError("there is nothing at this path; see /docs") from error
        scope["dlopt.operation"] = "page_file"
        await response(scope, receive, send)


class RequestMiddleware:
    """Middleware around everything: request ids, errors as problem details, counts and logs.

    It also bounds how many requests are answered at the same time, but for those to `HEALTH_PATH`.

    Parameters
    ----------
    app : ASGI application
    application : Application
    """

    def __init__(self, app: ASGIApp, application: Application) -> None:
        self._app = app
        self._metrics = application.metrics
        self._prefix = secrets.token_hex(4)
        self._numbers = itertools.count(1)
        self._max_active = application.settings.max_connections
        self._active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        given = header(scope, b"x-request-id")
        if given is None or _REQUEST_ID.fullmatch(given) is None:
            given = f"{self._prefix}-{next(self._numbers)}"
        own_headers = (
            (b"x-request-id", given.encode()),
            (b"x-content-type-options", b"nosniff"),
        )
        status = 0
        self._active += 1

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *own_headers]
            await send(message)

        try:
            if self._active > self._max_active and scope["path"] != HEALTH_PATH:
                raise UnavailableError(
                    f"the service answers at most {self._max_active} requests at a time",
                    retry_after_s=RETRY_AFTER_S,
                )
            await self._app(scope, receive, send_and_note)
        except ClientDisconnect:
            status = _CLIENT_CLOSED
        except Exception as error:
            code, body = problem_details(error, given)
            if status:  # the answer has begun: its connection is closed, half of it is none
                raise
            headers = [(b"content-type", MEDIA_TYPE.encode()), *problem_headers(error)]
            await _send_json(code, body, headers, send_and_note)
        finally:
            self._active -= 1
            seconds = time.perf_counter() - began
            operation = scope.get("dlopt.operation", "unknown")
            self._metrics.count_request(operation, status, seconds)
            if _LOGGER.isEnabledFor(logging.DEBUG):
                context = {"request_id": given, "operation": operation, "status": status}
                _LOGGER.debug("request", extra={**context, "seconds": round(seconds, 6)})


def create_app(
    settings: ServiceSettings,
    *,
    wall_clock: Callable[[], float] = time.time,
    open_services: OpenServices = running_services,
) -> Starlette:
    """Return the ASGI application of a service, which opens its store when it is started.

    Parameters
    ----------
    settings : ServiceSettings
    wall_clock : callable
        Returns seconds since 1970.
    open_services : callable
        Starts the parts of the service, and stops them in the end.

    Returns
    -------
    Starlette
        Its ``state.application`` is the `Application`.

    Raises
    ------
    NotApplicableError
        If the service would be open to other machines without tokens.
    InvalidInstanceError
        If the token file is wrong.
    """
    application = Application(settings)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        try:
            async with open_services(settings, wall_clock) as services:
                application.services = services
                yield
                application.services = None
        except Exception as error:
            application.failure = error
            raise

    app = Starlette(
        routes=_routes(application),
        middleware=[Middleware(RequestMiddleware, application=application)],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.router.default = _PageFiles(application)
    app.state.application = application
    return app


def _routes(application: Application) -> list[BaseRoute]:
    by_path: dict[str, list[Operation]] = {}
    for operation in OPERATIONS:
        by_path.setdefault(operation.path, []).append(operation)
    # Routes are tried one after the other: decisions come first.
    paths = sorted(by_path, key=lambda path: not path.endswith("/submit"))
    return [Route(path, _Endpoint(application, by_path[path])) for path in paths]


class _Server(uvicorn.Server):
    """A server that says when it listens, and whose end by a signal is an end like any other."""

    def __init__(
        self, config: uvicorn.Config, application: Application, listening: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._application = application
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # What the program consists of stays: without it, a full collection of garbage, of which
        # there are several a second under load, takes 1 ms instead of 40, in which nobody is
        # answered.
        gc.collect()
        gc.freeze()
        gc.set_threshold(_GARBAGE)
        self._listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        services = self._application.services
        if services is not None:  # streams of events end with their jobs
            await services.jobs.stop()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop in order; a second SIGINT does not wait for requests."""
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True


def run(
    settings: ServiceSettings,
    *,
    wall_clock: Callable[[], float] = time.time,
    listening: Callable[[str], None] = lambda _address: None,
) -> None:
    """Run a service until SIGTERM or SIGINT, then answer what has been asked, and stop in order.

    Parameters
    ----------
    settings : ServiceSettings
    wall_clock : callable
        Returns seconds since 1970.
    listening : callable
        Is called with the address as soon as requests are answered.

    Raises
    ------
    NotApplicableError
        If the address or the store is in use or cannot be opened, or tokens are missing.
    InvalidInstanceError
        If the token file is wrong.
    """
    app = create_app(settings, wall_clock=wall_clock)
    application: Application = app.state.application
    config = uvicorn.Config(
        app,
        loop="auto",
        http=LimitedHttpProtocol,
        limit_concurrency=settings.max_connections,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # a client could else choose the address by which it is counted
        timeout_graceful_shutdown=STOP_TIME_S,
    )
    sys.setswitchinterval(_SWITCH_S)
    with _listening_socket(settings) as opened:
        host, port = opened.getsockname()[:2]
        address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        server = _Server(config, application, lambda: listening(address))
        # Tracebacks that tell nothing: a failure to start is raised below, and a second SIGINT
        # cancels what the server waits for.
        logging.getLogger("uvicorn.error").addFilter(
            lambda _: application.failure is None and not server.force_exit
        )
        try:
            server.run(sockets=[opened])
        finally:
            if application.failure is not None:
                raise application.failure from None


def _listening_socket(settings: ServiceSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        where = f"{settings.host}, port {settings.port}"
        raise NotApplicableError(f"cannot listen at {where}: {reason}") from error
