"""Input and output of clients: sending, pausing and listening, awaited or blocking.

Both kinds have the same coroutines. Those of `BlockingHttpIO` never suspend: whatever awaits
nothing else runs to its end at once, by `run_at_once`. So there is one client for both.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Iterator
from typing import TypeAlias, TypeVar

from dlopt.client.errors import UnreachableServiceError
from dlopt.client.http_messages import HttpRequest, error_of
from dlopt.errors import MissingExtraError, NotApplicableError, described
from dlopt.version import __version__

try:
    import httpx
except ImportError as error:  # pragma: no cover - the extra is installed where this is tested
    raise MissingExtraError("httpx", "client") from error

__all__ = ["AsyncHttpIO", "BlockingHttpIO", "HttpIO", "httpx", "run_at_once"]

T = TypeVar("T")

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


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

    async def send(self, request: HttpRequest) -> httpx.Response:
        """Send a request once.

        Raises
        ------
        UnreachableServiceError
            If no response comes.
        """
        with _transport_errors_as_ours():
            return await self._http.send(_for_httpx(self._http, request))

    async def lines(self, request: HttpRequest) -> AsyncGenerator[str]:
        """Yield the lines of a response as they come.

        Raises
        ------
        UnreachableServiceError
            If the connection is lost.
        InvalidInstanceError, NotApplicableError, RefusedRequestError
            If the service refuses the request.
        """
        opened = self._http.stream(request.operation.method, request.path, headers=request.headers)
        with _transport_errors_as_ours():
            async with opened as response:
                if response.status_code >= 300:
                    await response.aread()
                    raise error_of(response)
                async for line in response.aiter_lines():
                    yield line

    async def pause(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Close the connections."""
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

    async def send(self, request: HttpRequest) -> httpx.Response:
        """See `AsyncHttpIO`."""
        with _transport_errors_as_ours():
            return self._http.send(_for_httpx(self._http, request))

    async def lines(self, request: HttpRequest) -> AsyncGenerator[str]:
        """See `AsyncHttpIO`."""
        opened = self._http.stream(request.operation.method, request.path, headers=request.headers)
        with _transport_errors_as_ours(), opened as response:
            if response.status_code >= 300:
                response.read()
                raise error_of(response)
            for line in response.iter_lines():
                yield line

    async def pause(self, seconds: float) -> None:
        """See `AsyncHttpIO`."""
        time.sleep(seconds)

    async def close(self) -> None:
        """See `AsyncHttpIO`."""
        self._http.close()


HttpIO: TypeAlias = AsyncHttpIO | BlockingHttpIO
"""Input and output of a client."""


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
    except (httpx.InvalidURL, TypeError) as error:
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


@contextlib.contextmanager
def _transport_errors_as_ours() -> Iterator[None]:
    try:
        yield
    except httpx.TransportError as error:
        detail = f"no answer of the service: {described(error)}"
        raise UnreachableServiceError(detail, sent=not isinstance(error, _NOT_SENT)) from error
