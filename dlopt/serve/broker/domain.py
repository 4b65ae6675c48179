"""What a broker asks of a domain."""

from __future__ import annotations

from typing import Protocol

from dlopt.books import Consequences, Offer
from dlopt.service_api.book_records import (
    BookDescription,
    Decision,
    Hold,
    HoldAnswer,
    Submitted,
)
from dlopt.service_api.json_data import Json


class Domain(Protocol):
    """A book that can hold: `dlopt.client.RemoteBook` is one."""

    def describe(self) -> BookDescription:
        """Describe the book."""

    def ask(self, submission: Json, /) -> Decision:
        """Return the decision that `submit` would make."""

    def offer(self, submission: Json, /) -> tuple[Offer[Submitted], ...]:
        """Return what would be accepted instead."""

    def hold(self, submission: Json, /, ttl_s: float, *, idempotency_key: str) -> HoldAnswer:
        """Submit with a time to live."""

    def confirm(self, identity: str, /, *, idempotency_key: str) -> Hold:
        """Make a hold a promise for good."""

    def release(self, identity: str, /) -> Consequences:
        """Take back a hold."""

    def cancel(self, identity: str, /) -> Consequences:
        """Take back a promise."""
