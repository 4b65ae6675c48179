"""One thread that makes durable what all books have done, many calls in one transaction."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dlopt.books.snapshots import PlainData
from dlopt.serve.books.book_log import LogRecord, SavedSnapshot, is_written, write_changes
from dlopt.serve.errors import UnavailableError, UnknownOutcomeError
from dlopt.serve.store import Store

_LOGGER = logging.getLogger(__name__)

Outcome: TypeAlias = object
"""What the caller of a book gets: a result, or an exception."""
Pending: TypeAlias = asyncio.Future[Any]
"""What the caller of a book waits for."""


@dataclass(slots=True, eq=False)
class LoggedState:
    """What is in the log of a book, from when it is loaded until it has to be loaded again.

    Attributes
    ----------
    description : dict
        Of the book as it is in the log.
    written_version : int
        Of the latest record that is known to be in the log.
    is_lost : bool
        Whether what was done since it was loaded may not be in the log, which is read again.
    """

    description: PlainData
    written_version: int
    is_lost: bool = False


@dataclass(slots=True)
class Batch:
    """What one book did in a row of calls.

    Parameters
    ----------
    state : LoggedState
        Of the book, as it was loaded.
    outcomes : list of (future, outcome)
        The answers, which are given when all that they saw is durable.
    records : list of LogRecord
    snapshots : list of SavedSnapshot
    description : dict, optional
        Of the book afterwards.
    written : Event, optional
        Set when the batch has been dealt with.
    """

    state: LoggedState
    outcomes: list[tuple[Pending, Outcome]] = field(default_factory=list)
    records: list[LogRecord] = field(default_factory=list)
    snapshots: list[SavedSnapshot] = field(default_factory=list)
    description: PlainData | None = None
    written: threading.Event | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write or to tell."""
        return not (self.outcomes or self.records or self.snapshots or self.description)


class CommitThread:
    """Writes batches in the order in which they come, as many at a time as there are.

    If a transaction fails, the batches of each book are written by themselves, for one book may be
    the reason. Those that fail, and all later ones of the same state, are undone: the callers
    get `UnavailableError`, and the book is loaded from the log again. If it is unknown whether a
    commit has happened, the log is asked; if it cannot be asked, callers get `UnknownOutcomeError`.

    Attributes
    ----------
    commits, records : int
        Transactions that have reached the disk, and the log records in them.
    """

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self._store, self._loop = store, loop
        self.commits = 0
        self.records = 0
        self._batches: queue.SimpleQueue[Batch | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="dlopt-commit", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the thread that writes is there."""
        return self._thread.is_alive()

    def put(self, batch: Batch) -> None:
        """Write a batch soon."""
        self._batches.put(batch)

    def flush(self, state: LoggedState) -> None:
        """Wait until everything that was put before is dealt with."""
        written = threading.Event()
        self.put(Batch(state, written=written))
        written.wait()

    def stop(self) -> None:
        """Write what was put before, and end."""
        self._batches.put(None)
        self._thread.join()

    def _run(self) -> None:
        stopping = False
        while not stopping:
            batches = []
            item = self._batches.get()
            try:
                while item is not None:
                    batches.append(item)
                    item = self._batches.get_nowait()
                stopping = True
            except queue.Empty:
                pass
            self._commit(batches)

    def _commit(self, batches: Sequence[Batch]) -> None:
        alive = [batch for batch in batches if not batch.state.is_lost]
        failures: dict[int, UnavailableError] = {}
        error = self._write(alive)
        if error is not None:
            for state in {id(batch.state): batch.state for batch in alive}.values():
                own = [batch for batch in alive if batch.state is state]
                failure = self._failure_of(own, error)
                if failure is not None:
                    _LOGGER.error("a book is loaded from its log again: %s", failure)
                    failures |= {id(batch): failure for batch in own}
                    state.is_lost = True
        outcomes: list[tuple[Pending, Outcome]] = []
        for batch in batches:
            if batch.state.is_lost:
                failure = failures.get(id(batch), _EARLIER_FAILURE)
                outcomes += [
                    (future, found if isinstance(found, UnavailableError) else failure)
                    for future, found in batch.outcomes
                ]
                continue
            outcomes += batch.outcomes
            if batch.description is not None:
                batch.state.description = batch.description
            if batch.records:
                batch.state.written_version = batch.records[-1].sequence
        if outcomes:
            self._loop.call_soon_threadsafe(_resolve, outcomes)
        for batch in batches:
            if batch.written is not None:
                batch.written.set()

    def _failure_of(self, own: Sequence[Batch], error: Exception) -> UnavailableError | None:
        """Return why the batches of one book are not in the log; None if they are, after all.

        Parameters
        ----------
        own : sequence of Batch
        error : Exception
            Of the transaction in which they were first to be written.
        """
        try:
            if self._was_written(own, error):
                return None
            second = self._write(own)
            if second is None or self._was_written(own, second):
                return None
        except UnavailableError as unknown:
            return UnknownOutcomeError(
                f"it is not known yet whether this was done ({error}; {unknown}); ask again with "
                "the same Idempotency-Key"
            )
        return UnavailableError(f"nothing was done: {second}", retry_after_s=1.0)

    def _was_written(self, own: Sequence[Batch], error: Exception) -> bool:
        """Tell whether a transaction that has failed has written the batches all the same."""
        records = [record for batch in own for record in batch.records]
        if not records or not isinstance(error, UnknownOutcomeError):
            return False
        return is_written(self._store, records[-1])

    def _write(self, batches: Sequence[Batch]) -> Exception | None:
        """Write batches in one transaction, and return why that has failed."""
        records = [record for batch in batches for record in batch.records]
        snapshots = [snapshot for batch in batches for snapshot in batch.snapshots]
        if not records and not snapshots:
            return None
        try:
            with self._store.transaction() as connection:
                write_changes(connection, records, snapshots)
        except Exception as error:  # whatever it is, the thread goes on
            return error
        self.commits += 1
        self.records += len(records)
        return None


_EARLIER_FAILURE = UnavailableError(
    "nothing was done: an earlier change of the book could not be written", retry_after_s=1.0
)


def _resolve(outcomes: Iterable[tuple[Pending, Outcome]]) -> None:
    for future, outcome in outcomes:
        if future.done():  # its caller has gone
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
