"""What a request can get wrong besides its content: errors with the status of their response."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dlopt.errors import DloptError, Fault


class ServiceError(DloptError):
    """Base of the errors of the service.

    Attributes
    ----------
    status : int
        Status of the HTTP response.
    title : str
        The kind of error, in words; its problem type is derived from it.
    retry_after_s : float or None
        Seconds after which the same request may succeed.
    headers : mapping of str to str
        Headers that the response has for the sake of the error.
    """

    status: int = 500
    title: str = "Internal error"

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s
        self.headers: Mapping[str, str] = {}
        if retry_after_s is not None:
            self.headers = {"retry-after": str(max(1, math.ceil(retry_after_s)))}


class RefusedRequestError(ServiceError):
    """The request is refused for who makes it, or how: a token, an origin, a method, a body.

    Parameters
    ----------
    status : int
    title, detail : str
    headers : mapping of str to str, optional
    """

    def __init__(
        self, status: int, title: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.title = status, title
        self.headers = headers or {}


class MalformedRequestError(ServiceError):
    """The request cannot be read: its body, a parameter or a header.

    Parameters
    ----------
    faults : sequence of Fault
        At least one.
    """

    status, title = 400, "Malformed request"

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults[:20]))
        self.faults = tuple(faults)


class NotFoundError(ServiceError):
    """There is no book, job or promise of this name."""

    status, title = 404, "Not found"


class ConflictingStateError(ServiceError):
    """The request contradicts what is there: another content under the same identity or key."""

    status, title = 409, "Conflict with the present state"


class PreconditionError(ServiceError):
    """The book has another version than ``If-Match`` names."""

    status, title = 412, "Another version"


class LimitReachedError(ServiceError):
    """The service keeps no more books, or a book no more decisions, nodes or digits."""

    status, title = 409, "Limit reached"


class TooManyRequestsError(ServiceError):
    """The client, or all clients together, ask for more than the service does at a time."""

    status, title = 429, "Too many requests"


class UnavailableError(ServiceError):
    """The store cannot be written, or the service is about to stop: nothing was done."""

    status, title = 503, "Not available"


class UnknownOutcomeError(UnavailableError):
    """The store failed while it wrote: the request was done completely or not at all."""

    status, title = 504, "Outcome unknown"
