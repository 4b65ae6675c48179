"""What can go wrong between a client and a service, apart from bad input."""

from __future__ import annotations

from dlopt.errors import DloptError


class RefusedRequestError(DloptError):
    """The service did not do what was asked for; nothing has changed.

    What is wrong with the data of a request is an `InvalidInstanceError`, as if the book were
    local, and what makes no sense a `NotApplicableError`.

    Parameters
    ----------
    status : int
        Of the response: 401 and 403 (token), 404 (no such book, job or promise), 409 (another
        content under the same identity), 412 (another version), 413 (too large), 429 and 503 (try
        again later).
    title, detail : str
        The kind of error, and what it is about.
    request_id : str, optional
        By which the log of the service names the request.
    retry_after_s : float, optional
        Seconds after which the same request may succeed.
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str = "",
        *,
        request_id: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(": ".join(filter(None, (title, detail))))
        self.status, self.title, self.detail = status, title, detail
        self.request_id, self.retry_after_s = request_id, retry_after_s


class UnreachableServiceError(DloptError):
    """No answer came. What was asked for may have been done, unless `sent` is false.

    Parameters
    ----------
    detail : str
    sent : bool
        Whether the request, or a part of it, was sent.
    """

    def __init__(self, detail: str, *, sent: bool) -> None:
        super().__init__(detail)
        self.sent = sent


class UnreadableAnswerError(DloptError):
    """An answer came that no service of this version gives."""
