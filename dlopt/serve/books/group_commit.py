"""One thread that makes durable what all books have done, many calls in one transaction."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dlopt.books.snapshots import PlainData
from dlopt.serve.answers import Answer
from dlopt.serve.books.book_log import LogRecord, SavedSnapshot, write_changes
from dlopt.serve.errors import UnavailableError
from dlopt.serve.store import Store

_LOGGER = logging.getLogger(__name__)

Outcome = Answer | Exception


class Writer(Protocol):
    """A book whose changes are written.

    Attributes
    ----------
    description : dict
        Of the book as it is in the log.
    """

    description: PlainData

    def lose(self, generation: int) -> None:
        """Learn that what was done in a generation is not in the log: it is undone."""

    def is_lost(self, generation: int) -> bool:
        """Tell whether what was done in a generation is undone."""


@dataclass(slots=True)
class Batch:
    """What one book did in a row of calls.

    Parameters
    ----------
    writer : Writer
    generation : int
        How often the book was loaded from the log before.
    outcomes : list of (future, outcome)
        The answers, which are given when all that they saw is durable.
    records : list of LogRecord
    snapshots : list of SavedSnapshot
    description : dict, optional
        Of the book afterwards.
    written : Event, optional
        Set when the batch has been dealt with.
    """

    writer: Writer
    generation: int
    outcomes: list[tuple[asyncio.Future[Answer], Outcome]] = field(default_factory=list)
    records: list[LogRecord] = field(default_factory=list)
    snapshots: list[SavedSnapshot] = field(default_factory=list)
    description: PlainData | None = None
    written: threading.Event | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write or to tell."""
        return not (self.outcomes or self.records or self.snapshots or self.description)


class GroupCommit:
    """Writes batches in the order in which they come, as many at a time as there are.

    If a transaction fails, its batches and all later ones of the same generation are undone: the
    callers get `UnavailableError`, and the books are loaded from the log again.

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

    def flush(self, writer: Writer, generation: int) -> None:
        """Wait until everything that was put before is dealt with."""
        written = threading.Event()
        self.put(Batch(writer, generation, written=written))
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
        alive = [batch for batch in batches if not batch.writer.is_lost(batch.generation)]
        error = self._write(alive)
        if error is not None:
            # One book may be the reason: the others are written by themselves.
            for writer in {id(batch.writer): batch.writer for batch in alive}.values():
                own = [batch for batch in alive if batch.writer is writer]
                if self._write(own) is not None:
                    _LOGGER.error("a book is put back to its log: %s", error)
                    writer.lose(own[-1].generation)
        outcomes: list[tuple[asyncio.Future[Answer], Outcome]] = []
        for batch in batches:
            if batch.writer.is_lost(batch.generation):
                outcomes += [(future, _undone(error)) for future, _ in batch.outcomes]
            else:
                outcomes += batch.outcomes
                if batch.description is not None:
                    batch.writer.description = batch.description
        if outcomes:
            self._loop.call_soon_threadsafe(_resolve, outcomes)
        for batch in batches:
            if batch.written is not None:
                batch.written.set()

    def _write(self, batches: Sequence[Batch]) -> Exception | None:
        """Write batches in one transaction, and return why that has failed."""
        records = [record for batch in batches for record in batch.records]
        snapshots = [snapshot for batch in batches for snapshot in batch.snapshots]
        if not records and not snapshots:
            return None
        try:
            with self._store.transaction() as connection:
                write_changes(connection, records, snapshots)
        except Exception as error:  # whatever it is, nothing was written, and the thread goes on
            return error
        self.commits += 1
        self.records += len(records)
        return None


def _undone(error: Exception | None) -> UnavailableError:
    reason = "an earlier change could not be written" if error is None else str(error)
    return UnavailableError(f"nothing was done: {reason}", retry_after_s=1.0)


def _resolve(outcomes: Iterable[tuple[asyncio.Future[Answer], Outcome]]) -> None:
    for future, outcome in outcomes:
        if future.done():  # its caller has gone
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
