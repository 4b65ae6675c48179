"""Requests and responses: how a request is made for an operation, and what an answer means."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypedDict, TypeVar
from urllib.parse import quote, urlencode

from dlopt.client.errors import RefusedRequestError, UnreadableAnswerError
from dlopt.errors import MISSING, DloptError, Fault, InvalidInstanceError, NotApplicableError
from dlopt.json_files import parse_json
from dlopt.service_api.json_data import Json, read_record
from dlopt.service_api.operations import JSON, OPERATIONS_BY_NAME, Operation

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")


class ChangeOptions(TypedDict, total=False):
    """Options of a request that changes a book.

    Parameters
    ----------
    idempotency_key : str, optional
        The same request under the same key is done once. By default a new one, for the repetitions
        of this request alone.
    if_match : int, optional
        The version that the book must have; else nothing changes, and the error has status 412.
    """

    idempotency_key: str | None
    if_match: int | None


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request for an operation.

    Parameters
    ----------
    operation : Operation
    path : str
        With its query.
    body : bytes, optional
        JSON.
    headers : mapping
    """

    operation: Operation
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """What an operation returned, and the version of the book that it is about."""

    value: T
    version: int | None


def request_of(
    name: str, arguments: Json, *, idempotency_key: str | None = None, if_match: int | None = None
) -> HttpRequest:
    """Return the request for an operation.

    Parameters
    ----------
    name : str
        One of `dlopt.service_api.operations.OPERATIONS`.
    arguments : mapping
        Plain data: what stands in the path, the query and the body. What is None is left out.
    idempotency_key, if_match
        See `ChangeOptions`.

    Raises
    ------
    NotApplicableError
        If JSON cannot hold the arguments.

    Examples
    --------
    >>> request = request_of("book_log", {"name": "a/b", "after": 7})
    >>> request.operation.method, request.path
    ('GET', '/v1/books/a%2Fb/log?after=7')
    """
    operation = OPERATIONS_BY_NAME[name]
    given = {key: value for key, value in arguments.items() if value is not None}
    path = re.sub(
        r"{(\w+)}", lambda found: quote(str(given.pop(found[1])), safe=""), operation.path
    )
    query = {key: given.pop(key) for key in operation.query_parameters if key in given}
    if query:
        path += "?" + urlencode(query)
    body, headers = None, {}
    if operation.request:
        try:
            body = json.dumps(given, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise NotApplicableError(f"an argument cannot be sent as JSON: {error}") from error
        headers["content-type"] = JSON
    if operation.is_keyed:
        headers["idempotency-key"] = idempotency_key or uuid.uuid4().hex
    if if_match is not None:
        headers["if-match"] = f'"{if_match}"'
    return HttpRequest(operation, path, body, headers)


def reply_of(request: HttpRequest, response: httpx.Response, record: type[T]) -> Reply[T]:
    """Return what a response says.

    Parameters
    ----------
    request : HttpRequest
    response : httpx.Response
    record : type
        What the body is read into; ``dict`` for plain data, ``str`` for text.

    Raises
    ------
    UnreadableAnswerError
        If it is no answer that a service of this version gives.
    """
    try:
        text = response.content.decode()
        data = parse_json(text) if request.operation.media_type == JSON else text
        return Reply(read_record(record, data), _version_of(response))
    except ValueError as error:
        name = request.operation.name
        raise UnreadableAnswerError(f"the answer to {name} cannot be read: {error}") from error


def _version_of(response: httpx.Response) -> int | None:
    """Return the version of the book that an answer is about, its ETag."""
    tag = response.headers.get("etag", "").removeprefix("W/").strip('"')
    return int(tag) if tag.isdecimal() else None


def error_of(response: httpx.Response) -> DloptError:
    """Return the error that a response stands for.

    Examples
    --------
    >>> import httpx
    >>> problem = {"title": "Not found", "status": 404, "detail": "there is no book a"}
    >>> print(error_of(httpx.Response(404, json=problem)))
    Not found: there is no book a
    """
    try:
        problem = parse_json(response.content.decode())
        if not isinstance(problem, Mapping):
            raise ValueError
        faults = [
            Fault(str(fault["path"]), fault.get("value", MISSING), str(fault["rule"]))
            for fault in problem.get("faults") or ()
        ]
    except (ValueError, KeyError, TypeError, AttributeError):  # of a proxy, for people
        problem, faults = {}, []
    detail = str(problem.get("detail") or "")
    if faults:
        return InvalidInstanceError(faults)
    status = response.status_code
    if status == 422 and detail:
        return NotApplicableError(detail)
    request_id = problem.get("request_id") or response.headers.get("x-request-id")
    retry_after = response.headers.get("retry-after", "")
    return RefusedRequestError(
        status,
        str(problem.get("title") or f"HTTP status {status}"),
        detail,
        request_id=None if request_id is None else str(request_id),
        retry_after_s=float(retry_after) if retry_after.isdecimal() else None,  # else a date
    )
