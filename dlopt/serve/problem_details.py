"""Errors as responses: problem details by RFC 9457, with the faults of the command line."""

from __future__ import annotations

import logging
import math
from fractions import Fraction

from dlopt.errors import (
    MISSING,
    DloptError,
    Fault,
    InvalidInstanceError,
    MissingExtraError,
    NotApplicableError,
    short_text,
)
from dlopt.serve.answers import JsonObject
from dlopt.serve.errors import MalformedRequestError, ServiceError

MEDIA_TYPE = "application/problem+json"
MAX_FAULTS = 1_000
"""Faults that one response lists; chosen by hand: nobody reads more."""
_MAX_EXACT_INTEGER = 2**53
"""Up to here every program reads the number that is written."""
_MAX_TEXT_CHARS = 200
_LOGGER = logging.getLogger(__name__)


def problem_details(error: Exception, request_id: str) -> tuple[int, JsonObject]:
    """Return status and body of the response that tells of an error.

    What is not raised on purpose is logged, and nothing of it is shown.

    Parameters
    ----------
    error : Exception
    request_id : str
        Under which the log tells more.

    Examples
    --------
    >>> wrong = InvalidInstanceError([Fault("k", 0, "must be positive")])
    >>> status, body = problem_details(wrong, "1")
    >>> status, body["title"], body["faults"]
    (422, 'Invalid content', [{'path': 'k', 'rule': 'must be positive', 'value': 0}])
    """
    status, title = _kind(error)
    faults: tuple[Fault, ...] = ()
    if isinstance(error, InvalidInstanceError | MalformedRequestError):
        faults = error.faults
    if isinstance(error, DloptError) and (status != 500 or isinstance(error, ServiceError)):
        detail = str(error)
    else:
        detail = "internal error: the log of the server has details under this request id"
        _LOGGER.error("unexpected error", exc_info=error, extra={"request_id": request_id})
    return status, {
        "type": f"urn:dlopt:{title.lower().replace(' ', '-')}",
        "title": title,
        "status": status,
        "detail": detail,
        "faults": [_fault_as_data(fault) for fault in faults[:MAX_FAULTS]],
        "request_id": request_id,
    }


def problem_headers(error: Exception) -> list[tuple[bytes, bytes]]:
    """Return the headers that a response has for the sake of an error."""
    given = error.headers if isinstance(error, ServiceError) else {}
    return [(name.encode(), value.encode()) for name, value in given.items()]


def _kind(error: Exception) -> tuple[int, str]:
    """Return the status and the title of an error."""
    if isinstance(error, ServiceError):
        return error.status, error.title
    if isinstance(error, InvalidInstanceError):
        return 422, "Invalid content"
    if isinstance(error, NotApplicableError):
        return 422, "Not applicable"
    if isinstance(error, MissingExtraError):
        return 501, "Not installed"
    return 500, "Internal error"


def _fault_as_data(fault: Fault) -> JsonObject:
    data = {"path": fault.path[:_MAX_TEXT_CHARS], "rule": fault.rule}
    return data if fault.value is MISSING else {**data, "value": _value_as_data(fault.value)}


def _value_as_data(value: object) -> str | float | bool | None:
    """Return a value as JSON has it if it is short, and the beginning of its text otherwise."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= _MAX_TEXT_CHARS:
        return value
    if isinstance(value, int) and abs(value) <= _MAX_EXACT_INTEGER:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return str(value) if isinstance(value, Fraction) and _is_short(value) else short_text(value)


def _is_short(value: Fraction) -> bool:
    return max(abs(value.numerator), value.denominator) <= _MAX_EXACT_INTEGER
