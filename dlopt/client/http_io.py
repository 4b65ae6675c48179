"""Input and output of clients: sending, pausing and listening, awaited or blocking.

Both kinds have the same coroutines. Those of `BlockingHttpIO` never suspend: whatever awaits
nothing else runs to its end at once, by `run_at_once`. So there is one client for both.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable
from typing import Protocol, TypeVar

from dlopt.client.http_messages import HttpRequest, HttpResponse, NoResponse, error_of
from dlopt.errors import MissingExtraError, NotApplicableError, described
from dlopt.version import __version__

try:
    import httpx
except ImportError as error:  # pragma: no cover - the extra is installed where this is tested
    raise MissingExtraError("httpx", "client") from error

__all__ = ["AsyncHttpIO", "BlockingHttpIO", "HttpIO", "httpx", "run_at_once"]

T = TypeVar("T")

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class HttpIO(Protocol):
    """Input and output of a client."""

    async def send(self, request: HttpRequest) -> HttpResponse | NoResponse:
        """Send a request once; return what has come of it."""

    def lines(self, request: HttpRequest) -> AsyncGenerator[str]:
        """Yield the lines of a response as they come.

        Raises
        ------
        UnreachableServiceError
            If the connection is lost.
        InvalidInstanceError, NotApplicableError, RefusedRequestError
            If the service refuses the request.
        """

    async def pause(self, seconds: float) -> None:
        """Wait."""

    async def close(self) -> None:
        """Close the connections."""


class AsyncHttpIO:
    """Sends and waits in an event loop.

    Parameters
    ----------
    url, token, timeout_s
        See `dlopt.client.AsyncClient`.
    transport : httpx.AsyncBaseTransport, optional
        Instead of the network.
    """

    def __init__(
        self,
        url: str,
        token: str | None,
        timeout_s: float,
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=_checked(url), headers=_headers(token), timeout=timeout_s, transport=transport
        )

    async def send(self, request: HttpRequest) -> HttpResponse | NoResponse:
        """See `HttpIO`."""
        try:
            return _response(await self._http.send(_for_httpx(self._http, request)))
        except httpx.TransportError as error:
            return _no_response(error)

    async def lines(self, request: HttpRequest) -> AsyncGenerator[str]:
        """See `HttpIO`."""
        opened = self._http.stream(request.operation.method, request.path, headers=request.headers)
        try:
            async with opened as response:
                if response.status_code >= 300:
                    await response.aread()
                    raise error_of(_response(response))
                async for line in response.aiter_lines():
                    yield line
        except httpx.TransportError as error:
            raise error_of(_no_response(error)) from error

    async def pause(self, seconds: float) -> None:
        """See `HttpIO`."""
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """See `HttpIO`."""
        await self._http.aclose()


class BlockingHttpIO:
    """Sends and waits in the thread that calls; its coroutines never suspend.

    Parameters
    ----------
    url, token, timeout_s
        See `dlopt.client.AsyncClient`.
    transport : httpx.BaseTransport, optional
        Instead of the network.
    """

    def __init__(
        self, url: str, token: str | None, timeout_s: float, transport: httpx.BaseTransport | None
    ) -> None:
        self._http = httpx.Client(
            base_url=_checked(url), headers=_headers(token), timeout=timeout_s, transport=transport
        )

    async def send(self, request: HttpRequest) -> HttpResponse | NoResponse:
        """See `HttpIO`."""
        try:
            return _response(self._http.send(_for_httpx(self._http, request)))
        except httpx.TransportError as error:
            return _no_response(error)

    async def lines(self, request: HttpRequest) -> AsyncGenerator[str]:
        """See `HttpIO`."""
        opened = self._http.stream(request.operation.method, request.path, headers=request.headers)
        try:
            with opened as response:
                if response.status_code >= 300:
                    response.read()
                    raise error_of(_response(response))
                for line in response.iter_lines():
                    yield line
        except httpx.TransportError as error:
            raise error_of(_no_response(error)) from error

    async def pause(self, seconds: float) -> None:
        """See `HttpIO`."""
        time.sleep(seconds)

    async def close(self) -> None:
        """See `HttpIO`."""
        self._http.close()


def run_at_once(awaitable: Awaitable[T]) -> T:
    """Return the result of what never suspends.

    Examples
    --------
    >>> async def answer():
    ...     return 42
    >>> run_at_once(answer())
    42
    """
    try:
        awaitable.__await__().send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    raise AssertionError("a coroutine over blocking input and output suspended")


def _checked(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise NotApplicableError(f"{url!r} is no URL: {error}") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise NotApplicableError(f"{url!r} is no URL of a service, such as http://127.0.0.1:8321")
    return url


def _headers(token: str | None) -> dict[str, str]:
    identity = {} if token is None else {"authorization": f"Bearer {token}"}
    return {"user-agent": f"dlopt/{__version__}", **identity}


def _for_httpx(http: httpx.Client | httpx.AsyncClient, request: HttpRequest) -> httpx.Request:
    method, headers = request.operation.method, request.headers
    return http.build_request(method, request.path, content=request.body, headers=headers)


def _response(response: httpx.Response) -> HttpResponse:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return HttpResponse(response.status_code, headers, response.content)


def _no_response(error: httpx.TransportError) -> NoResponse:
    detail = f"no answer of the service: {described(error)}"
    return NoResponse(detail, not isinstance(error, _NOT_SENT))
