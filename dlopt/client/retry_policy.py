"""What is sent again, how often, and after which pauses."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from dlopt.client.errors import RefusedRequestError, UnreachableServiceError
from dlopt.errors import DloptError

_NOTHING_DONE = frozenset([429, 503])
"""Statuses that say that a request was not begun."""
_UNKNOWN_OUTCOME = frozenset([502, 504])
"""Statuses of proxies that do not know what became of a request."""

_MAX_DOUBLINGS = 1000
"""Doublings of a pause after which it is no longer computed: 2.0**1024 is not a float."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
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
    max_pause_s : float, default 10
        A service that asks for a longer pause is not waited for.
    random_share : callable
        Returns random numbers in [0, 1).

    Examples
    --------
    >>> patient = RetryPolicy(random_share=lambda: 0.0)
    >>> [patient.pause_s(attempt) for attempt in (1, 2, 3, 9)]
    [0.1, 0.2, 0.4, 10.0]
    """

    attempts: int = 5
    first_pause_s: float = 0.1
    max_pause_s: float = 10.0
    random_share: Callable[[], float] = random.random

    def pause_s(self, attempt: int) -> float:
        """Return the seconds to pause after the attempt of this number."""
        doublings = min(attempt - 1, _MAX_DOUBLINGS)
        full = min(self.first_pause_s * 2.0**doublings, self.max_pause_s)
        return full * (1 - self.random_share() / 2)

    def pause_after(self, attempt: int, error: DloptError, *, is_repeatable: bool) -> float | None:
        """Return the seconds until a request that has failed is sent again; None if it is not."""
        again, asked = False, 0.0
        if isinstance(error, UnreachableServiceError):
            again = not error.sent or is_repeatable
        elif isinstance(error, RefusedRequestError):
            is_unknown = error.status in _UNKNOWN_OUTCOME
            again = error.status in _NOTHING_DONE or (is_unknown and is_repeatable)
            asked = error.retry_after_s or 0.0
        if not again or attempt >= self.attempts or asked > self.max_pause_s:
            return None
        return max(asked, self.pause_s(attempt))
