"""Bodies, parameters and headers of requests, read within limits.

Whatever a client sends, reading it takes time and memory in proportion to the limits alone.
"""

from __future__ import annotations

import asyncio
import json
import re
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope

from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.json_files import parse_json
from dlopt.serve.answers import JsonObject
from dlopt.serve.errors import MalformedRequestError, RefusedRequestError

BODY_TIME_S = 30.0
"""Seconds in which a body must have arrived; chosen by hand: 8 MB take as long at 2 Mbit/s."""
MAX_NESTING = 64
"""Deepest nesting of lists and objects in a body; chosen by hand: instances need less than ten."""
MAX_DIGITS = 1_000
"""Digits of a number in a body at the most; chosen by hand: floats have 17, and reading a number
takes time that grows with the square of its digits."""
LARGE_BODY_BYTES = 50_000
"""From so many bytes on, a body is read in another thread, for parsing it takes about a millisecond
and other requests would wait."""
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
"""Strings and brackets. A string without an end is one, too: else each quotation mark within would
be tried as a beginning, which takes quadratic time."""
_TOO_MANY_DIGITS = re.compile(rb"(?<![0-9])[0-9]{%d}" % (MAX_DIGITS + 1))
"""An attempt begins only where digits begin, so that the search takes linear time."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ENTITY_TAG = re.compile(r'(?:W/)?"(\d{1,18})"', re.ASCII)


async def read_body(scope: Scope, receive: Receive, max_bytes: int) -> bytes:
    """Return the body of a request, which is given up as soon as it is too large or too slow.

    Raises
    ------
    RefusedRequestError
        If it has more than `max_bytes`, by its header or in fact, or has not arrived within
        `BODY_TIME_S`.
    ClientDisconnect
        If the client has gone away.
    """
    announced = header(scope, b"content-length")
    if announced is not None and announced.isdecimal() and int(announced[:19]) > max_bytes:
        raise _too_large(max_bytes)
    parts: list[bytes] = []
    size, is_more = 0, True
    try:
        async with asyncio.timeout(BODY_TIME_S):
            while is_more and size <= max_bytes:
                message = await _next_part(receive)
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                is_more = message.get("more_body", False)
    except TimeoutError as error:
        detail = f"the body has not arrived within {BODY_TIME_S:g} s"
        raise RefusedRequestError(408, "Request timeout", detail) from error
    if size > max_bytes:
        raise _too_large(max_bytes)
    return b"".join(parts)


async def _next_part(receive: Receive) -> Message:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return message


def _too_large(max_bytes: int) -> RefusedRequestError:
    return RefusedRequestError(413, "Too large", f"the body has more than {max_bytes} bytes")


async def read_json_text(scope: Scope, receive: Receive, max_bytes: int) -> bytes:
    """Return the body of a request that says that it is JSON.

    Raises
    ------
    RefusedRequestError
    """
    _check_content_type(scope)
    return await read_body(scope, receive, max_bytes)


async def read_object(body: bytes, *, exact_numbers: bool = False) -> JsonObject:
    """Return the object that a JSON text holds as `parsed_object` does; other requests go on."""
    if len(body) < LARGE_BODY_BYTES:
        return parsed_object(body, exact_numbers=exact_numbers)
    return await asyncio.to_thread(parsed_object, body, exact_numbers=exact_numbers)


def parsed_object(body: bytes, *, exact_numbers: bool = False) -> JsonObject:
    """Return the object that a JSON text holds, in time and memory linear in its length.

    Parameters
    ----------
    body : bytes
    exact_numbers : bool, default False
        Read decimals as the rationals that they spell.

    Raises
    ------
    MalformedRequestError
        If it is not valid JSON, no object, is nested more than `MAX_NESTING` levels deep, or has
        numbers of more than `MAX_DIGITS` digits; with every repeated field.

    Examples
    --------
    >>> parsed_object(b'{"id": "scan"}')
    {'id': 'scan'}
    >>> parsed_object(b"[" * 65)
    Traceback (most recent call last):
    ...
    dlopt.serve.errors.MalformedRequestError: must not be nested more than 64 levels deep
    """
    if body.count(b"{") + body.count(b"[") > MAX_NESTING:
        _check_nesting(body)
    if len(body) > MAX_DIGITS and _TOO_MANY_DIGITS.search(body) is not None:
        raise _malformed(f"must not have more than {MAX_DIGITS} digits in a number")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _malformed(f"is not valid JSON: not UTF-8 at byte {error.start}") from error
    try:
        data = parse_json(text, exact_numbers=exact_numbers)
    except InvalidInstanceError as error:
        raise MalformedRequestError(error.faults) from error
    except ValueError as error:  # a decimal whose exponent is out of all bounds
        raise _malformed("has a number that is out of range") from error
    if not isinstance(data, dict):
        raise _malformed("must be a JSON object")
    if _SURROGATE.search(text) is not None and _has_lone_surrogate(data):
        raise _malformed("has half of a surrogate pair, which is no character")
    return data


def _check_content_type(scope: Scope) -> None:
    given = header(scope, b"content-type")
    if given == "application/json":
        pass
    elif given is None:
        raise _unsupported("the body must be application/json, and say so")
    else:
        kind, *parameters = (part.strip().lower() for part in given.split(";"))
        named = [p.partition("=")[2].strip('"') for p in parameters if p.startswith("charset=")]
        if kind != "application/json" or any(name not in ("utf-8", "utf8") for name in named):
            raise _unsupported("the body must be application/json, in UTF-8")
    encoding = header(scope, b"content-encoding")
    if encoding not in (None, "identity"):
        raise _unsupported("the body must not be compressed")


def _unsupported(detail: str) -> RefusedRequestError:
    return RefusedRequestError(415, "Unsupported media type", detail)


def _check_nesting(body: bytes) -> None:
    depth = 0
    for found in _TOKENS.finditer(body):
        start = body[found.start()]
        if start in b"[{":
            depth += 1
            if depth > MAX_NESTING:
                raise _malformed(f"must not be nested more than {MAX_NESTING} levels deep")
        elif start in b"]}":
            depth -= 1


def _has_lone_surrogate(data: JsonObject) -> bool:
    try:
        json.dumps(data, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return True
    return False


def _malformed(rule: str, path: str = "", value: object = MISSING) -> MalformedRequestError:
    return MalformedRequestError([Fault(path, value, rule)])


def header(scope: Scope, name: bytes) -> str | None:
    """Return a header of a request by its name in lower case, or None.

    Examples
    --------
    >>> header({"headers": [(b"host", b"localhost")]}, b"host")
    'localhost'
    """
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value).decode("latin-1")
    return None


def version_condition(scope: Scope) -> int | None:
    """Return the version that ``If-Match`` asks for, or None if any will do.

    Raises
    ------
    MalformedRequestError
        If it is neither ``*`` nor one entity tag of a book.

    Examples
    --------
    >>> version_condition({"headers": [(b"if-match", b'"7"')]})
    7
    """
    given = header(scope, b"if-match")
    if given is None or given.strip() == "*":
        return None
    found = _ENTITY_TAG.fullmatch(given.strip())
    if found is None:
        raise _malformed("must be the ETag of a book, or *", "If-Match", given)
    return int(found[1])


def whole_number(text: str, name: str) -> int:
    """Return the number that a parameter or a header spells.

    Raises
    ------
    MalformedRequestError
        If it is not a whole number from 0 to 10^15.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= 15):
        raise _malformed("must be a whole number from 0 to 10^15", name, text)
    return int(text)


def query_parameters(scope: Scope, known: tuple[str, ...]) -> dict[str, str]:
    """Return the parameters of a query, none of which may be unknown, or there twice.

    Raises
    ------
    MalformedRequestError
        With every unknown one.

    Examples
    --------
    >>> query_parameters({"query_string": b"after=7"}, ("after", "limit"))
    {'after': '7'}
    """
    text = scope["query_string"].decode("latin-1")
    pairs = parse_qsl(text, keep_blank_values=True)
    given = dict(pairs)
    if len(given) < len(pairs):
        raise _malformed("repeats a name", "query", text)
    rule = f"is unknown; known: {', '.join(known) or 'none'}"
    faults = [Fault(name, value, rule) for name, value in given.items() if name not in known]
    if faults:
        raise MalformedRequestError(faults)
    return given
