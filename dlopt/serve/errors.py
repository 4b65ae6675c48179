"""What a request can get wrong besides its content: errors with the status of their response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

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
    """

    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


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


class MethodNotAllowedError(ServiceError):
    """The path has no operation of this HTTP method.

    Parameters
    ----------
    allowed : sequence of str
        The methods that it has.
    """

    status, title = 405, "Method not allowed"

    def __init__(self, allowed: Sequence[str]) -> None:
        self.allowed = ", ".join(allowed)
        super().__init__(f"allowed here: {self.allowed}")


class SlowRequestError(ServiceError):
    """The body of the request did not arrive in time."""

    status, title = 408, "Request timeout"


class ConflictingStateError(ServiceError):
    """The request contradicts what is there: another content under the same identity or key."""

    status, title = 409, "Conflict with the present state"


class PreconditionError(ServiceError):
    """The book has another version than ``If-Match`` names."""

    status, title = 412, "Another version"


class LimitReachedError(ServiceError):
    """The service keeps no more books, or a book no more decisions, nodes or digits."""

    status, title = 409, "Limit reached"


class UnauthenticatedError(ServiceError):
    """There is no token, or it is unknown."""

    status, title = 401, "Unknown token"


class UntrustedOriginError(ServiceError):
    """The request comes from a page of another site, or under a name that is not this server's."""

    status, title = 403, "Untrusted origin"


class ForbiddenError(ServiceError):
    """The token lacks the scope."""

    status, title = 403, "Missing scope"


class TooLargeError(ServiceError):
    """The body is larger than the service accepts."""

    status, title = 413, "Too large"


class UnsupportedMediaTypeError(ServiceError):
    """The body is no JSON in UTF-8, by its content type or encoding."""

    status, title = 415, "Unsupported media type"


class TooManyRequestsError(ServiceError):
    """The client, or all clients together, ask for more than the service does at a time."""

    status, title = 429, "Too many requests"


class UnavailableError(ServiceError):
    """The store cannot be written, or the service is about to stop: nothing was done."""

    status, title = 503, "Not available"


class UnknownOutcomeError(UnavailableError):
    """The store failed while it wrote: the request was done completely or not at all."""

    status, title = 504, "Outcome unknown"
