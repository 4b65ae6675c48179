"""What a request can get wrong besides its content: errors with the status of their response."""

from __future__ import annotations

from typing import ClassVar

from dlopt.errors import DloptError


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


class NotFoundError(ServiceError):
    """There is no book, job or promise of this name."""

    status, title = 404, "Not found"


class ConflictingStateError(ServiceError):
    """The request contradicts what is there: another content under the same identity or key."""

    status, title = 409, "Conflict with the present state"


class PreconditionError(ServiceError):
    """The book has another version than ``If-Match`` names."""

    status, title = 412, "Another version"


class UnauthenticatedError(ServiceError):
    """There is no token, or it is unknown."""

    status, title = 401, "Unknown token"


class ForbiddenError(ServiceError):
    """The token lacks the scope."""

    status, title = 403, "Missing scope"


class TooLargeError(ServiceError):
    """The body is larger than the service accepts."""

    status, title = 413, "Too large"


class TooManyRequestsError(ServiceError):
    """The client, or all clients together, ask for more than the service does at a time."""

    status, title = 429, "Too many requests"


class UnavailableError(ServiceError):
    """The store cannot be written, or the service is about to stop: nothing was done."""

    status, title = 503, "Not available"
