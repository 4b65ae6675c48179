"""Who may do what: tokens with scopes, a limit on rates, and protection from pages of other sites.

On the loopback without a token file, every local program may do everything. A browser is a local
program too, and obeys pages of other sites: requests that such a page makes are refused by their
``Origin``, and those that it makes under a name of its own, which leads here (DNS rebinding), by
their ``Host``.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from starlette.types import Scope

from dlopt.errors import MISSING, Fault, InvalidInstanceError, NotApplicableError
from dlopt.serve.errors import RefusedRequestError, TooManyRequestsError
from dlopt.serve.request_bodies import header
from dlopt.serve.settings import ServiceSettings
from dlopt.service_api.operations import Permission

MIN_TOKEN_CHARS = 16
"""Characters; 16 hexadecimal digits are 64 random bits, too many to guess over a network."""
MAX_CLIENTS = 10_000
"""Clients whose rates are remembered; those that wait longest are forgotten, with full buckets."""
BURST_S = 1.0
"""Seconds of its rate that a client may use at once."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A client that is known.

    Parameters
    ----------
    name : str
        Of its token; empty where no tokens are needed.
    scopes : frozenset of Permission
    """

    name: str
    scopes: frozenset[Permission]


ANYBODY = Identity("", frozenset(Permission))
"""Who asks where no tokens are needed."""


def read_token_file(path: Path) -> dict[bytes, Identity]:
    """Return who has which token, by the SHA-256 digest of the token.

    A line has a name, scopes separated by commas, and a token: ``planner read,book 3f9c...``.
    Empty lines and lines that begin with ``#`` are skipped. Tokens stand in the file as they are,
    as those of other programs do: nothing but a random generator is needed to make one.

    Raises
    ------
    NotApplicableError
        If the file cannot be read, or other users can read it.
    InvalidInstanceError
        With every line that is wrong; no message contains a token.
    """
    try:
        with path.open(encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise NotApplicableError(f"the token file {path} cannot be read: {reason}") from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise NotApplicableError(f"other users can read the token file: chmod 600 {path}")
    found: dict[bytes, Identity] = {}
    names: set[str] = set()
    faults: list[Fault] = []
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        wrong = _line_fault(fields, names, found)
        if wrong is not None:
            faults.append(Fault(f"line {number}", MISSING, wrong))
            continue
        name, scopes, token = fields
        names.add(name)
        found[_digest(token)] = Identity(name, frozenset(map(Permission, scopes.split(","))))
    if not found and not faults:
        faults.append(Fault("", MISSING, "has no token"))
    if faults:
        raise InvalidInstanceError(faults, str(path))
    return found


def _line_fault(fields: list[str], names: set[str], found: Mapping[bytes, Identity]) -> str | None:
    if len(fields) != 3:
        return "must have a name, scopes separated by commas, and a token"
    name, scopes, token = fields
    if name in names:
        return "repeats a name"
    if any(scope not in set(Permission) for scope in scopes.split(",")):
        return f"must have scopes among {', '.join(Permission)}"
    if len(token) < MIN_TOKEN_CHARS or not token.isascii():
        return f"must have a token of at least {MIN_TOKEN_CHARS} ASCII characters"
    return "repeats a token" if _digest(token) in found else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def is_loopback(host: str) -> bool:
    """Tell whether a name or an address of a server is reached from its own machine only.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class RateLimiter:
    """A limit on the rate of each client: its bucket fills at that rate, a request takes one.

    Parameters
    ----------
    rate_per_s : float
    clock : callable
        Returns seconds.

    Examples
    --------
    >>> now = [0.0]
    >>> buckets = RateLimiter(2.0, lambda: now[0])
    >>> [buckets.wait_s("a") for _ in range(3)]
    [0.0, 0.0, 0.5]
    """

    def __init__(self, rate_per_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate_per_s
        self._capacity = max(1.0, rate_per_s * BURST_S)
        self._clock = clock
        self._filled: dict[str, tuple[float, float]] = {}

    def wait_s(self, client: str) -> float:
        """Take one from the bucket of a client, or return the seconds until there is one."""
        now = self._clock()
        level, at = self._filled.pop(client, (self._capacity, now))
        level = min(self._capacity, level + (now - at) * self._rate)
        allowed = level >= 1.0
        # Put in again, it is the last one: the first is that which has not been used for longest.
        self._filled[client] = (level - 1.0 if allowed else level, now)
        if len(self._filled) > MAX_CLIENTS:
            del self._filled[next(iter(self._filled))]
        return 0.0 if allowed else (1.0 - level) / self._rate


class AccessControl:
    """Decides whether a request is answered at all.

    Parameters
    ----------
    settings : ServiceSettings

    Raises
    ------
    NotApplicableError
        If the service would be open to other machines without tokens.
    InvalidInstanceError
        If the token file is wrong.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self._tokens: dict[bytes, Identity] | None = None
        if settings.token_file is not None:
            self._tokens = read_token_file(settings.token_file)
        elif not is_loopback(settings.host):
            raise NotApplicableError(
                f"other machines can reach {settings.host or 'the service'}: "
                "--tokens FILE is required"
            )
        rate = settings.max_requests_per_s
        self._buckets = RateLimiter(rate) if rate > 0 else None

    def admit(self, request: Scope, needed: Permission | None) -> Identity:
        """Return who makes a request.

        Parameters
        ----------
        request : ASGI scope
        needed : Permission, optional
            None if the operation is open to everybody.

        Raises
        ------
        RefusedRequestError, TooManyRequestsError
        """
        self._check_origin(request)
        if needed is None:
            return ANYBODY
        client = request.get("client")
        address = client[0] if client else ""
        identity = ANYBODY
        try:
            if self._tokens is not None:
                identity = _identity_of(request, self._tokens)
        finally:  # also who guesses tokens has to wait
            if self._buckets is not None:
                self._check_rate(self._buckets, identity.name or address)
        if needed not in identity.scopes:
            raise RefusedRequestError(403, "Missing scope", f"the token lacks the scope {needed}")
        return identity

    def _check_origin(self, request: Scope) -> None:
        host = header(request, b"host") or ""
        if self._tokens is None and not _names_loopback(host):
            raise _untrusted_origin("the Host header must name localhost or a loopback address")
        origin = header(request, b"origin")
        if origin is not None and host_of_origin(origin) != host.lower():
            raise _untrusted_origin("pages of other sites may not use this service")

    def _check_rate(self, buckets: RateLimiter, client: str) -> None:
        wait_s = buckets.wait_s(client)
        if wait_s > 0:
            raise TooManyRequestsError(
                "this client exceeds its rate of requests", retry_after_s=wait_s
            )


def _identity_of(request: Scope, tokens: Mapping[bytes, Identity]) -> Identity:
    """Return whose token a request has; the time it takes tells nothing about the tokens."""
    kind, _, given = (header(request, b"authorization") or "").partition(" ")
    if kind.lower() != "bearer" or not given.strip():
        raise _unknown_token("a token is required: send the header Authorization: Bearer TOKEN")
    digest = _digest(given.strip())
    found = None
    for known, identity in tokens.items():
        if hmac.compare_digest(known, digest):
            found = identity
    if found is None:
        raise _unknown_token("the token is unknown")
    return found


def _unknown_token(detail: str) -> RefusedRequestError:
    return RefusedRequestError(401, "Unknown token", detail, {"www-authenticate": "Bearer"})


def _untrusted_origin(detail: str) -> RefusedRequestError:
    return RefusedRequestError(403, "Untrusted origin", detail)


@lru_cache(maxsize=1_000)
def _names_loopback(host: str) -> bool:
    """Tell whether the name in a ``Host`` header, without the port, is one of the loopback.

    Examples
    --------
    >>> _names_loopback("localhost:8321"), _names_loopback("[::1]:8321"), _names_loopback("a.b")
    (True, True, False)
    """
    try:
        return is_loopback(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False


def host_of_origin(origin: str) -> str | None:
    """Return host and port of an ``Origin`` as a ``Host`` header has them; None if it has none.

    Examples
    --------
    >>> host_of_origin("http://localhost:8321"), host_of_origin("null")
    ('localhost:8321', None)
    """
    scheme, separator, host = origin.partition("://")
    return host.lower() if separator and scheme in ("http", "https") else None
