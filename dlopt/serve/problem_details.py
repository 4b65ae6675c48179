"""Errors as responses: problem details by RFC 9457, with the faults of the command line."""

from __future__ import annotations

import logging

from dlopt.errors import (
    DloptError,
    Fault,
    InvalidInstanceError,
    MissingExtraError,
    NotApplicableError,
)
from dlopt.plain_data import error_title, problem_to_data
from dlopt.serve.answers import JsonObject
from dlopt.serve.errors import MalformedRequestError, ServiceError

MEDIA_TYPE = "application/problem+json"
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
    problem = problem_to_data(title, detail, faults)
    return status, {**problem, "status": status, "request_id": request_id}


def problem_headers(error: Exception) -> list[tuple[bytes, bytes]]:
    """Return the headers that a response has for the sake of an error."""
    given = error.headers if isinstance(error, ServiceError) else {}
    return [(name.encode(), value.encode()) for name, value in given.items()]


def _kind(error: Exception) -> tuple[int, str]:
    """Return the status and the title of an error."""
    if isinstance(error, ServiceError):
        return error.status, error.title
    if isinstance(error, InvalidInstanceError | NotApplicableError):
        return 422, error_title(error)
    if isinstance(error, MissingExtraError):
        return 501, error_title(error)
    return 500, "Internal error"
