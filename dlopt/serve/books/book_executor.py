"""What applies the calls of one book in order, a thread at a time, and hands them to be written."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import islice

from dlopt.books.snapshots import PlainData
from dlopt.errors import DloptError, described
from dlopt.serve.books.book_calls import BookCall
from dlopt.serve.books.book_log import load_book, stored_answers
from dlopt.serve.books.commit_thread import Batch, CommitThread, LoggedState, Outcome, Pending
from dlopt.serve.books.logged_book import LoggedBook
from dlopt.serve.errors import NotFoundError, ServiceError, TooManyRequestsError, UnavailableError
from dlopt.serve.store import Store

_LOGGER = logging.getLogger(__name__)

Action = Callable[[LoggedBook, float], object]
"""Something done with a book at a time of the wall clock."""

MAX_WAITING_CALLS = 10_000
"""Calls of a book that wait at the most: some seconds of decisions at the highest rate."""
_MAX_BATCH_S = 0.001
"""Seconds after which a batch is handed over to be written, while later calls are applied: less
than writing it takes."""
_MAX_KEYS = 500
"""Idempotency keys that are looked up at a time."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An action that waits, who waits for its result, and the idempotency key that it needs."""

    action: Action
    future: Pending | None
    is_slow: bool
    key: str | None


class BookExecutor:
    """Applies the calls of one book in order; other books go on meanwhile.

    A book is applied in a thread of an executor as long as calls wait. What it changes is written
    while it goes on, and answers are given when it is written.

    Parameters
    ----------
    book : LoggedBook
    store : Store
    committer : CommitThread
    executor : Executor
    wall_clock : callable
        Returns the time in seconds.
    """

    def __init__(
        self,
        book: LoggedBook,
        store: Store,
        committer: CommitThread,
        executor: Executor,
        wall_clock: Callable[[], float],
    ) -> None:
        self.name, self.definition = book.name, book.definition
        self._logged = LoggedState(book.describe().body, book.version)
        self._book, self._store, self._committer = book, store, committer
        self._executor, self._wall_clock = executor, wall_clock
        self._calls: deque[_Waiting] = deque()
        self._lock = threading.Lock()  # guards `_is_running`
        self._is_running = False
        self._failure = ""
        self._is_deleted = False

    @property
    def description(self) -> PlainData:
        """What the book is, as it is in the log."""
        return self._logged.description

    @property
    def has_holds(self) -> bool:
        """Whether there are holds, of which some may expire."""
        return self._book.has_holds

    def put_call(self, call: BookCall, future: Pending) -> None:
        """Apply a call after those before it; of a question on a copy, the result is the question.

        Raises
        ------
        TooManyRequestsError
            If too many wait.
        """
        if len(self._calls) >= MAX_WAITING_CALLS:
            raise TooManyRequestsError(
                f"{MAX_WAITING_CALLS} calls of the book {self.name} wait already", retry_after_s=1.0
            )
        verb = call.verb
        if verb.on_copy:
            self.put(lambda book, now: book.question(call, now), future)
        else:
            key = call.idempotency_key if verb.changes else None
            self.put(lambda book, now: book.call(call, now), future, is_slow=verb.is_slow, key=key)

    def put(
        self,
        action: Action,
        future: Pending | None = None,
        *,
        is_slow: bool = True,
        key: str | None = None,
    ) -> None:
        """Do something after all calls before it."""
        self._calls.append(_Waiting(action, future, is_slow, key))
        with self._lock:
            if self._is_running:
                return
            self._is_running = True
        self._executor.submit(self._run)

    def closing(self, if_match: int | None) -> Callable[[LoggedBook, float], None]:
        """Return what refuses all later calls, if the book has a version then."""

        def close(book: LoggedBook, _: float) -> None:
            book.require_version(if_match)
            self._is_deleted = True

        return close

    def restore(self, *, is_doubtful: bool = False) -> None:
        """Accept calls again: the book was not deleted, unless that is doubtful: the log tells."""
        if is_doubtful:
            self._logged.is_lost = True
        self._is_deleted = False

    def _run(self) -> None:
        """Apply the calls that wait."""
        is_changed = False
        while True:
            batch, begun = self._new_batch(), time.perf_counter()
            while self._calls:
                waiting = self._calls.popleft()
                is_lost = self._logged.is_lost
                if waiting.is_slow or is_lost or time.perf_counter() - begun > _MAX_BATCH_S:
                    self._hand_over(batch)
                    if is_lost:
                        self._reload()
                    batch, begun = self._new_batch(), time.perf_counter()
                try:
                    outcome = self._apply(waiting, batch)
                except Exception as error:
                    outcome = self._recover(error, batch)
                    batch = self._new_batch()
                if waiting.future is not None:
                    batch.outcomes.append((waiting.future, outcome))
                is_changed = is_changed or bool(batch.records) or is_lost
            if is_changed and not batch.state.is_lost:
                self._describe(batch)
                is_changed = False
            self._hand_over(batch)
            with self._lock:
                if not self._calls:
                    self._is_running = False
                    return

    def _new_batch(self) -> Batch:
        self._book.answers.forget_written(self._logged.written_version)
        return Batch(self._logged)

    def _hand_over(self, batch: Batch) -> None:
        if not batch.is_empty:
            self._committer.put(batch)

    def _describe(self, batch: Batch) -> None:
        try:
            batch.description = self._book.describe().body
        except Exception:  # calls that wait must not hang because of it
            _LOGGER.exception("book %s cannot be described", self.name)

    def _apply(self, waiting: _Waiting, batch: Batch) -> Outcome:
        """Apply a call; whatever is no `DloptError` is an error of ours."""
        if self._is_deleted:
            return NotFoundError(f"there is no book {self.name}")
        if batch.state.is_lost:
            return UnavailableError(
                f"book {self.name} has stopped, for its log cannot be read: {self._failure}",
                retry_after_s=1.0,
            )
        outcome: Outcome
        try:
            if waiting.key is not None:
                self._look_up(waiting.key)
            outcome = waiting.action(self._book, self._wall_clock())
        except DloptError as error:
            outcome = error
        records, snapshots = self._book.take_changes()
        batch.records += records
        batch.snapshots += snapshots
        return outcome

    def _look_up(self, key: str) -> None:
        """Let the book know what the log says of a key, and of those of the calls that wait."""
        answers = self._book.answers
        if not answers.unknown([key]):
            return
        later = [one.key for one in islice(self._calls.copy(), _MAX_KEYS) if one.key is not None]
        keys = list(dict.fromkeys([key, *answers.unknown(later)]))
        answers.learn(keys, stored_answers(self._store, self.name, keys))

    def _reload(self) -> None:
        """Go on from what the log says, or try it again at the next call."""
        try:
            self._book = LoggedBook.replayed(load_book(self._store, self.name), self._book.limits)
            self._logged = LoggedState(self.description, self._book.version)
        except Exception as error:
            _LOGGER.exception("book %s cannot be loaded", self.name)
            self._failure = described(error)

    def _recover(self, error: Exception, batch: Batch) -> Outcome:
        """Undo a call in which the engine failed: go on from what was written before it."""
        _LOGGER.error("book %s failed, and is loaded again", self.name, exc_info=error)
        self._hand_over(batch)
        self._committer.flush(self._logged)
        self._logged.is_lost = True
        self._reload()
        return ServiceError("the book failed; nothing was changed, and the failure is logged")
