"""A call: what is sent for an operation with its arguments, and how its answer is read."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from typing import TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlencode

from dlopt.client.exchange import Call
from dlopt.client.operations import OPERATIONS
from dlopt.client.records import Json
from dlopt.errors import MISSING, Fault, InvalidInstanceError, NotApplicableError
from dlopt.json_files import parse_json

T = TypeVar("T")

_NAMES = re.compile(r"\{(\w+)\}")


class Terms(TypedDict, total=False):
    """The terms of a change.

    Parameters
    ----------
    idempotency_key : str
        The same call under the same key is done once. By default a new one, for the repetitions of
        this call alone.
    if_match : int
        The version that the book must have; else nothing changes, and the error has status 412.
    """

    idempotency_key: str
    if_match: int


def call_of(name: str, arguments: Json, read: Callable[..., T], **terms: Unpack[Terms]) -> Call[T]:
    """Return the call of an operation by its name, with arguments as the table names them.

    Parameters
    ----------
    name : str
        One of `dlopt.client.operations.OPERATIONS`.
    arguments : mapping
        Plain data; what is None is left out.
    read : callable
        Makes the answer of the data of its body.
    **terms
        See `Terms`.

    Examples
    --------
    >>> call = call_of("log", {"book": "a/b", "after": 7}, dict)
    >>> call.operation.method, call.path
    ('GET', '/v1/books/a%2Fb/log?after=7')
    """
    operation = OPERATIONS[name]
    given = {key: value for key, value in arguments.items() if value is not None}
    in_path = _NAMES.findall(operation.path)
    path = operation.path.format_map({key: quote(str(given.pop(key)), safe="") for key in in_path})
    body, headers = None, {}
    if operation.method == "GET" and given:
        path += "?" + urlencode(given)
    elif operation.method in ("POST", "PUT"):
        body = json.dumps(given, allow_nan=False).encode()
        headers["content-type"] = "application/json"
    if operation.keyed:
        headers["idempotency-key"] = terms.get("idempotency_key") or uuid.uuid4().hex
    if "if_match" in terms:
        headers["if-match"] = f'"{terms["if_match"]}"'

    def read_body(content: bytes) -> T:
        text = content.decode()
        if operation.text or not text:
            return read(text)
        data = parse_json(text)
        return read(data[operation.answer] if operation.answer else data)

    return Call(operation, path, read_body, body, headers)


def plain_call(name: str, arguments: Json) -> Call[object]:
    """Return the call of an operation by its name, answered with the data of its body.

    Raises
    ------
    NotApplicableError
        If there is no such operation.
    InvalidInstanceError
        If it takes no such argument, or one is missing.
    """
    if name not in OPERATIONS:
        known = ", ".join(OPERATIONS)
        raise NotApplicableError(f"there is no operation {name}; there are {known}")
    operation = OPERATIONS[name]
    taken = {field.name: field.required for field in operation.fields}
    rule = f"is not an argument of {name} (known: {', '.join(taken)})"
    faults = [Fault(key, given, rule) for key, given in arguments.items() if key not in taken]
    missing = [key for key, required in taken.items() if required and arguments.get(key) is None]
    faults += [Fault(key, MISSING, "is missing") for key in missing]
    if faults:
        raise InvalidInstanceError(faults)
    made = call_of(name, arguments, str)

    def read_body(content: bytes) -> object:
        text = content.decode()
        return text if operation.text else parse_json(text)

    return Call(operation, made.path, read_body, made.body, made.headers)
