"""What both clients have in common of HTTP: settings, responses, and connections that are lost."""

from __future__ import annotations

from typing import TypedDict

from dlopt.client.exchange import Lost, Received
from dlopt.errors import MissingExtraError, NotApplicableError, described
from dlopt.version import __version__

try:
    import httpx
except ImportError as error:  # pragma: no cover - the extra is installed where this is tested
    raise MissingExtraError("httpx", "client") from error

__all__ = ["HttpSettings", "httpx", "lost", "received", "settings_of"]

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class HttpSettings(TypedDict):
    """Settings of a client of httpx."""

    base_url: str
    headers: dict[str, str]
    timeout: float


def settings_of(url: str, token: str | None, timeout_s: float) -> HttpSettings:
    """Return the settings of a client.

    Raises
    ------
    NotApplicableError
        If the URL is none of HTTP.
    """
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise NotApplicableError(f"{url!r} is no URL: {error}") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise NotApplicableError(f"{url!r} is no URL of a service, such as http://127.0.0.1:8321")
    headers = {"user-agent": f"dlopt/{__version__}"}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    return {"base_url": url, "headers": headers, "timeout": timeout_s}


def received(response: httpx.Response) -> Received:
    """Return what has come."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Received(response.status_code, headers, response.content)


def lost(error: httpx.TransportError) -> Lost:
    """Return why nothing has come, and whether anything was sent."""
    return Lost(f"no answer of the service: {described(error)}", not isinstance(error, _NOT_SENT))
