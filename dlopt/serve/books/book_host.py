"""What applies the calls of one book in order, a thread at a time, and hands them to be written."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor

from dlopt.errors import DloptError
from dlopt.serve.answers import Answer
from dlopt.serve.books.book_log import load_book
from dlopt.serve.books.group_commit import Batch, GroupCommit, Outcome
from dlopt.serve.books.logged_book import BookCall, LoggedBook
from dlopt.serve.errors import NotFoundError, ServiceError, TooManyRequestsError, UnavailableError
from dlopt.serve.store import Store

_LOGGER = logging.getLogger(__name__)

Action = Callable[[LoggedBook, float], Answer]
"""Something done with a book at a time of the wall clock."""

MOST_WAITING = 10_000
"""Calls of a book that wait at the most: some seconds of decisions at the highest rate."""
_LONGEST_BATCH_S = 0.001
"""Seconds after which a batch is handed over to be written, while later calls are applied: less
than writing it takes."""


class BookHost:
    """Applies the calls of one book in order; other books go on meanwhile.

    A book is applied in a thread of an executor as long as calls wait. What it changes is written
    while it goes on, and answers are given when it is written.

    Parameters
    ----------
    book : LoggedBook
    store : Store
    committer : GroupCommit
    executor : Executor
    wall_clock : callable
        Returns the time in seconds.
    """

    def __init__(
        self,
        book: LoggedBook,
        store: Store,
        committer: GroupCommit,
        executor: Executor,
        wall_clock: Callable[[], float],
    ) -> None:
        self.name, self.definition = book.name, book.definition
        self.description = book.describe().body
        self._book, self._store, self._committer = book, store, committer
        self._executor, self._wall_clock = executor, wall_clock
        self._calls: deque[tuple[Action, asyncio.Future[Answer] | None, bool]] = deque()
        self._lock = threading.Lock()  # guards `_is_running`
        self._is_running = False
        self._generation, self._lost = 0, -1
        self._is_deleted = False

    @property
    def has_holds(self) -> bool:
        """Whether there are holds, of which some may expire."""
        return self._book.has_holds

    def lose(self, generation: int) -> None:
        """Learn that what was done in a generation is not in the log: it is undone."""
        self._lost = generation

    def is_lost(self, generation: int) -> bool:
        """Tell whether what was done in a generation is undone."""
        return generation <= self._lost

    def put_call(self, call: BookCall, future: asyncio.Future[Answer]) -> None:
        """Apply a call after those before it.

        Raises
        ------
        TooManyRequestsError
            If too many wait.
        """
        if len(self._calls) >= MOST_WAITING:
            raise TooManyRequestsError(
                f"{MOST_WAITING} calls of the book {self.name} wait already", retry_after_s=1.0
            )
        self.put(lambda book, now: book.call(call, now), future, is_slow=call.verb.is_slow)

    def put(
        self, action: Action, future: asyncio.Future[Answer] | None = None, *, is_slow: bool = True
    ) -> None:
        """Do something after all calls before it."""
        self._calls.append((action, future, is_slow))
        with self._lock:
            if self._is_running:
                return
            self._is_running = True
        self._executor.submit(self._run)

    def delete(self, future: asyncio.Future[Answer]) -> None:
        """Refuse all later calls, after those before it."""

        def close(_: LoggedBook, __: float) -> Answer:
            self._is_deleted = True
            return Answer({})

        self.put(close, future)

    def restore(self) -> None:
        """Accept calls again: the book was not deleted."""
        self._is_deleted = False

    def _run(self) -> None:
        """Apply the calls that wait."""
        is_changed = False
        while True:
            batch, begun = self._new_batch(), time.perf_counter()
            while self._calls:
                action, future, is_slow = self._calls.popleft()
                is_lost = self.is_lost(self._generation)
                if is_slow or is_lost or time.perf_counter() - begun > _LONGEST_BATCH_S:
                    self._hand_over(batch)
                    if is_lost:
                        self._reload()
                    batch, begun = self._new_batch(), time.perf_counter()
                try:
                    outcome = self._apply(action, batch)
                except Exception as error:
                    outcome = self._recover(error, batch)
                    batch = self._new_batch()
                if future is not None:
                    batch.outcomes.append((future, outcome))
                is_changed = is_changed or bool(batch.records) or is_lost
            if is_changed and not self.is_lost(batch.generation):
                self._describe(batch)
                is_changed = False
            self._hand_over(batch)
            with self._lock:
                if not self._calls:
                    self._is_running = False
                    return

    def _new_batch(self) -> Batch:
        return Batch(self, self._generation)

    def _hand_over(self, batch: Batch) -> None:
        if not batch.is_empty:
            self._committer.put(batch)

    def _describe(self, batch: Batch) -> None:
        try:
            batch.description = self._book.describe().body
        except Exception:  # calls that wait must not hang because of it
            _LOGGER.exception("book %s cannot be described", self.name)

    def _apply(self, action: Action, batch: Batch) -> Outcome:
        """Apply a call; whatever is no `DloptError` is an error of ours."""
        if self._is_deleted:
            return NotFoundError(f"there is no book {self.name}")
        if self.is_lost(batch.generation):
            return UnavailableError("the book cannot be loaded", retry_after_s=1.0)
        outcome: Outcome
        try:
            outcome = action(self._book, self._wall_clock())
        except DloptError as error:
            outcome = error
        records, snapshots = self._book.take_changes()
        batch.records += records
        batch.snapshots += snapshots
        return outcome

    def _reload(self) -> None:
        """Go on from what the log says, or try it again at the next call."""
        lost = self._lost
        try:
            self._book = LoggedBook.replayed(load_book(self._store, self.name))
            self._generation = lost + 1
        except Exception:
            _LOGGER.exception("book %s cannot be loaded", self.name)

    def _recover(self, error: Exception, batch: Batch) -> Outcome:
        """Undo a call in which the engine failed: go on from what was written before it."""
        _LOGGER.error("book %s failed, and is loaded again", self.name, exc_info=error)
        self._hand_over(batch)
        self._committer.flush(self, self._generation)
        self.lose(self._generation)
        self._reload()
        return ServiceError("the book failed; nothing was changed, and the failure is logged")
