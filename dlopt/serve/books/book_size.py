"""How large a book has become, and what it refuses for that reason."""

from __future__ import annotations

from dlopt.problems.validated_record import Record
from dlopt.serve.books.holds import BookState
from dlopt.serve.books.limits import BookLimits, planned_digits
from dlopt.serve.books.verbs import VERBS, Verb, submissions_of
from dlopt.service_api.arguments import MachineChanges, NodeChanges
from dlopt.service_api.book_records import kind_of

MIN_MEASURE_EVERY = 20
"""Log records after which the digits in a plan are counted again, at least: in so many decisions
they grow by some hundred."""
_MEASURED_SHARE = 4
"""Digits are counted again after this part of as many records as there are decisions."""


class BookSize:
    """The size of a book against its limits.

    Parameters
    ----------
    name : str
        Of the book.
    limits : BookLimits

    Attributes
    ----------
    snapshot_bytes : int
        Of the latest snapshot.
    """

    def __init__(self, name: str, limits: BookLimits) -> None:
        self._name, self._limits = name, limits
        self.snapshot_bytes = 0
        self._digits = self._version = 0  # when digits were counted last

    @property
    def has_large_snapshot(self) -> bool:
        """Whether the book decides on nothing new until a snapshot is smaller."""
        return self.snapshot_bytes > self._limits.max_snapshot_bytes

    def require_room(self, verb: Verb, arguments: Record, book: BookState, version: int) -> None:
        """Refuse what would make a book of a version larger than it may become.

        Raises
        ------
        InvalidInstanceError, LimitReachedError
        """
        limits, engine = self._limits, book.engine
        is_exact = not isinstance(engine.now, float)
        if is_exact:
            limits.check_arguments(arguments)
        if isinstance(arguments, NodeChanges):
            limits.check_added(engine, arguments.add)
        elif isinstance(arguments, MachineChanges):
            limits.check_added(engine, len(arguments.add))
        elif verb.arrives and verb.changes:
            submissions = submissions_of(arguments)
            new = sum(not book.is_promised(kind_of(one), one.id) for one in submissions)
            if new:
                limits.check_decisions(self._name, engine, new)
            if new or verb is VERBS["change"]:
                digits = self._planned_digits(book, version) if is_exact else 0
                limits.check_size(self._name, digits, self.snapshot_bytes)

    def _planned_digits(self, book: BookState, version: int) -> int:
        """Return the most digits of a fraction in the plan; it is not looked at every time."""
        kept = book.engine.decision_count
        is_too_large = self._digits > self._limits.max_digits
        interval = 1 if is_too_large else max(MIN_MEASURE_EVERY, kept // _MEASURED_SHARE)
        if version - self._version >= interval:
            self._digits, self._version = planned_digits(book.engine), version
        return self._digits
