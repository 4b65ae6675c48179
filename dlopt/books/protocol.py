"""The verbs that all books share."""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

from dlopt.arithmetic import Number
from dlopt.books.verb_results import Archive, Conflict, Consequences, Offer


@runtime_checkable
class Book(Protocol):
    """An engine that decides on submissions as they come, and keeps what it promised.

    A *submission* is a task, a reservation or a request for shares, by the problem; its identity is
    the caller's. Whatever is rejected, invalid or fails changes nothing. A promise is broken only
    by `resources` (a failure or a removal) or by `finished` with a late end, and then it is named.
    One caller at a time: the others wait.
    """

    @property
    def now(self) -> Number:
        """The clock of the book."""

    def ask(self, submission: Any, /) -> Any:
        """Return the decision that `submit` would make; changes nothing."""

    def offer(self, submission: Any, /, *, k: int = 3) -> tuple[Offer[Any], ...]:
        """Return up to k alternatives that would be accepted now, the smallest concession first.

        Empty if it would be accepted as it is, or if nothing was found; `ask` tells which.
        """

    def why(self, submission: Any, /) -> Conflict | None:
        """Return what stands in the way of a submission; None if it would be accepted."""

    def cancel(self, identity: str, /) -> Consequences:
        """Take back a promise; what has begun of it is broken off now."""

    def change(self, submission: Any, /) -> Any:
        """Replace a promise by another content of the same identity, if all promises hold then.

        It returns a decision: a rejection changes nothing, and the former promise holds.
        """

    def finished(self, identity: str, at: Number) -> Consequences:
        """Record that something that has begun ends earlier or later than planned."""

    def resources(
        self, *, add: Any = (), remove: Any = (), fail: Any = (), repair: Any = ()
    ) -> Consequences:
        """Change the resources from now on.

        What is added is new; what is removed completes what it has begun; what fails loses it;
        what is repaired is as good as new.
        """

    def advance(self, now: Number) -> None:
        """Advance the clock."""

    def plan(self) -> Any:
        """Return all decisions, and all allocations that are not archived."""

    def archive(self) -> Archive[Any, Any]:
        """Hand out what is over, and forget it."""

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data, for `json.dumps`."""

    @classmethod
    def restore(cls, snapshot: object) -> Self:
        """Return the book of a snapshot: every later decision is equal."""
