"""What is sent, what is sent again, and what an answer means; without a socket or a clock.

`exchange` is a generator that a shell runs: it yields what to send and is sent what came back, it
yields how long to pause, and it returns the answer.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from dlopt.client.errors import (
    RefusedRequestError,
    UnreachableServiceError,
    UnreadableAnswerError,
)
from dlopt.client.operations import Operation
from dlopt.errors import MISSING, DloptError, Fault, InvalidInstanceError, NotApplicableError
from dlopt.json_files import parse_json

T = TypeVar("T")

_NOTHING_DONE = frozenset([429, 503])
"""Statuses that say that a request was not begun."""
_UNKNOWN_OUTCOME = frozenset([502, 504])
"""Statuses of proxies that do not know what became of a request."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """An operation with its arguments, and how its answer is read.

    Parameters
    ----------
    operation : Operation
    path : str
        With its query.
    read : callable
        Makes the answer of the bytes of a body.
    body : bytes, optional
        JSON.
    headers : mapping
    """

    operation: Operation
    path: str
    read: Callable[[bytes], T]
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Received:
    """A response: its status, its headers in small letters, its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Lost:
    """No response: why, and whether the request may have reached the service."""

    detail: str
    sent: bool


@dataclass(frozen=True, slots=True)
class Answered(Generic[T]):
    """An answer, and the version of the book that it is about."""

    value: T
    version: int | None


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and after which pauses a request is sent again.

    A request is sent again if no connection was made, or the service says that it was not begun
    (429, 503); if its outcome is unknown, only where doing it twice is doing it once: questions,
    and changes under an idempotency key. The pause doubles each time and is shortened at random by
    up to a half, so that clients that failed together do not come back together; a longer
    ``Retry-After`` of the service is obeyed.

    Parameters
    ----------
    attempts : int, default 5
        In all; 1 for no repetition.
    first_pause_s : float, default 0.1
    longest_pause_s : float, default 10
        A service that asks for a longer pause is not waited for.
    share : callable
        Returns random numbers in [0, 1).

    Examples
    --------
    >>> patient = Retries(share=lambda: 0.0)
    >>> [patient.pause_s(attempt) for attempt in (1, 2, 3, 9)]
    [0.1, 0.2, 0.4, 10.0]
    """

    attempts: int = 5
    first_pause_s: float = 0.1
    longest_pause_s: float = 10.0
    share: Callable[[], float] = random.random

    def pause_s(self, attempt: int) -> float:
        """Return the seconds to pause after the attempt of this number."""
        full = min(self.first_pause_s * 2.0 ** (attempt - 1), self.longest_pause_s)
        return full * (1 - self.share() / 2)

    def pause_after(
        self, attempt: int, outcome: Received | Lost, operation: Operation
    ) -> float | None:
        """Return the seconds until a request is sent again; None if it is not."""
        if attempt >= self.attempts:
            return None
        if isinstance(outcome, Lost):
            again = not outcome.sent or operation.repeatable
        else:
            again = outcome.status in _NOTHING_DONE or (
                outcome.status in _UNKNOWN_OUTCOME and operation.repeatable
            )
        asked = retry_after_s(outcome) or 0.0
        if not again or asked > self.longest_pause_s:
            return None
        return max(asked, self.pause_s(attempt))


Steps: TypeAlias = Generator[float | None, Received | Lost | None, T]
"""What a shell runs: None is for sending the request, a number for a pause of so many seconds."""


def exchange(call: Call[T], retries: Retries) -> Steps[Answered[T]]:
    """Send a call until it is answered, or sending it again makes no sense.

    Yields
    ------
    None or float
        None: send the request, and send back what came of it. A number: pause for so many seconds.

    Returns
    -------
    Answered

    Raises
    ------
    InvalidInstanceError, NotApplicableError, RefusedRequestError
        As the service says.
    UnreachableServiceError
        If no answer came.
    UnreadableAnswerError
        If it is no answer of this version.
    """
    for attempt in itertools.count(1):
        outcome = yield None
        assert outcome is not None
        if isinstance(outcome, Received) and outcome.status < 300:
            return Answered(_read(call, outcome), _version(outcome))
        pause = retries.pause_after(attempt, outcome, call.operation)
        if pause is None:
            raise error_of(outcome)
        yield pause
    raise AssertionError


def error_of(outcome: Received | Lost) -> DloptError:
    """Return the error that an outcome stands for.

    Examples
    --------
    >>> body = b'{"title": "Not found", "status": 404, "detail": "there is no book a"}'
    >>> print(error_of(Received(404, {}, body)))
    Not found: there is no book a
    """
    if isinstance(outcome, Lost):
        return UnreachableServiceError(outcome.detail, sent=outcome.sent)
    try:
        problem = parse_json(outcome.body.decode())
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
    if outcome.status == 422 and detail:
        return NotApplicableError(detail)
    request_id = problem.get("request_id") or outcome.headers.get("x-request-id")
    return RefusedRequestError(
        outcome.status,
        str(problem.get("title") or f"HTTP status {outcome.status}"),
        detail,
        request_id=None if request_id is None else str(request_id),
        retry_after_s=retry_after_s(outcome),
    )


def retry_after_s(outcome: Received | Lost) -> float | None:
    """Return the seconds after which the service asks to be asked again."""
    text = outcome.headers.get("retry-after", "") if isinstance(outcome, Received) else ""
    try:
        return max(float(text), 0.0)
    except ValueError:  # none, or a date
        return None


def _read(call: Call[T], received: Received) -> T:
    try:
        return call.read(received.body)
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
        raise UnreadableAnswerError(
            f"the answer to {call.operation.name} cannot be read: {error}"
        ) from error


def _version(received: Received) -> int | None:
    tag = received.headers.get("etag", "").removeprefix("W/").strip('"')
    return int(tag) if tag.isdecimal() else None
