"""A book with its log, without threads: what a call does to it, and how it is replayed."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Self

from dlopt.arithmetic import Number
from dlopt.books.snapshots import PlainData, plain_number
from dlopt.errors import DloptError, NotApplicableError, described
from dlopt.serve.answers import Answer
from dlopt.serve.books.book_calls import BookCall, Question
from dlopt.serve.books.book_log import (
    CorruptedLogError,
    LogRecord,
    OtherReleaseError,
    SavedBook,
    SavedSnapshot,
    StoredAnswer,
    UnreadableBookError,
    digest_of,
    to_sorted_text,
    to_text,
)
from dlopt.serve.books.book_size import BookSize
from dlopt.serve.books.holds import BookState, Holds
from dlopt.serve.books.keyed_answers import KeyedAnswers
from dlopt.serve.books.limits import DEFAULT_LIMITS, BookLimits
from dlopt.serve.books.verbs import EXPIRE, VERBS, Read, Verb, require_arrived, with_arrival
from dlopt.serve.errors import ConflictingStateError, PreconditionError
from dlopt.service_api.arguments import Instant
from dlopt.service_api.definitions import Definition, Engine, read_definition
from dlopt.version import __version__

SNAPSHOT_EVERY = 5_000
"""Log records between two snapshots. Chosen by hand: about a second of decisions at the highest
rate, which are replayed in less than a second."""
_TICKS_PER_S = 1_000
"""To what the wall clock is rounded in exact numbers: milliseconds, which keeps fractions short."""


class LoggedBook:
    """An engine with identity, clock, holds, and the log records of what changed it.

    A call with an idempotency key that the log has is answered from it. Errors are not stored: they
    changed nothing, and a later call with the same key is a new one.

    Parameters
    ----------
    name : str
    definition : Definition
    limits : BookLimits

    Attributes
    ----------
    version : int
        The number of log records.
    answers : KeyedAnswers
        To calls with idempotency keys. Who calls tells it beforehand what the log says of the keys.
    """

    def __init__(
        self, name: str, definition: Definition, limits: BookLimits = DEFAULT_LIMITS
    ) -> None:
        self.name, self.definition, self.limits = name, definition, limits
        self.version = 0
        self._digest = digest_of(to_text([name, definition_data(definition)]))
        self._book = BookState(definition.new_engine())
        self.answers = KeyedAnswers()
        self._new_records: list[LogRecord] = []
        self._new_snapshots: list[SavedSnapshot] = []
        self._saved_version = 0
        self._size = BookSize(name, limits)

    @property
    def has_holds(self) -> bool:
        """Whether there are holds, of which some may expire."""
        return len(self._book.holds) > 0

    def take_changes(self) -> tuple[list[LogRecord], list[SavedSnapshot]]:
        """Return the log records and the snapshots that were not taken before."""
        taken = self._new_records, self._new_snapshots
        self._new_records, self._new_snapshots = [], []
        return taken

    def describe(self) -> Answer:
        """Return what the book is, and how much it promises."""
        book = self._book
        body = {
            "name": self.name,
            "problem": self.definition.problem,
            "algorithm": self.definition.algorithm,
            "clock": self.definition.clock,
            "now": plain_number(book.engine.now),
            "version": self.version,
            "holds": len(book.holds),
            "promises": book.promise_count,
        }
        return Answer(body, version=self.version)

    def expire_holds(self, time: float) -> None:
        """Take back the promises whose holds have expired."""
        if not self.has_holds:
            return
        for hold in self._book.holds.due(time):
            arguments = {"id": hold.id, "kind": hold.kind}
            read = EXPIRE.read(self.definition.problem, arguments)
            self._change(EXPIRE, arguments, read, time)

    def call(self, call: BookCall, time: float) -> Answer:
        """Do what is asked for, at a time of the wall clock.

        Raises
        ------
        InvalidInstanceError, NotApplicableError, ServiceError
            Then the book is as it was, but for its clock and for expired holds.
        """
        self.expire_holds(time)
        stored = self._stored_answer(call)
        if stored is not None:
            return Answer(json.loads(stored.answer), version=stored.version)
        verb, (arguments, read) = call.verb, self._read(call, time)
        if verb.changes:
            body = self._change(verb, arguments, read, time, call)
        else:
            body = verb.answer(self._book, *read)
        return Answer(body, version=self.version)

    def question(self, call: BookCall, time: float) -> Question:
        """Return what answers a verb that is applied to copies, about the book as it is.

        Raises
        ------
        InvalidInstanceError, NotApplicableError, PreconditionError
            If it cannot be asked.
        """
        self.expire_holds(time)
        _, read = self._read(call, time)
        now, version = self._wall_instant(time), self.version
        saved = pickle.dumps(self._book.engine, pickle.HIGHEST_PROTOCOL)

        def answer() -> Answer:
            engine: Engine = pickle.loads(saved)
            if now is not None:
                engine.advance(now)
            return Answer(call.verb.answer(BookState(engine), *read), version=version)

        return answer

    def require_version(self, wanted: int | None) -> None:
        """Refuse a call that is meant for another version.

        Raises
        ------
        PreconditionError
            If the book has another one; nothing is required by None.
        """
        if wanted not in (None, self.version):
            raise PreconditionError(
                f"the book has changed: it has version {self.version}, If-Match asked for {wanted}"
            )

    def _read(self, call: BookCall, time: float) -> tuple[Mapping[str, Any], Read]:
        """Return the arguments of a call that can be made now, as plain data and as records."""
        verb, arguments, now = call.verb, call.arguments, self._wall_instant(time)
        if now is not None and verb.arrives:
            arguments = with_arrival(arguments, now)
        read = verb.read(self.definition.problem, arguments)
        if now is not None and verb.arrives and verb.changes:
            require_arrived(read[0], now)
        self.require_version(call.if_match)
        if now is not None and verb is VERBS["advance"]:
            raise NotApplicableError(
                "nobody can advance it: the clock of this book is that of the server"
            )
        self._size.require_room(verb, read[0], self._book, self.version)
        return arguments, read

    def _change(
        self,
        verb: Verb,
        arguments: Mapping[str, Any],
        read: Read,
        time: float,
        call: BookCall | None = None,
    ) -> PlainData:
        """Change the book, and log it. If it refuses, at most its clock has advanced."""
        now = self._wall_instant(time)
        try:
            answer = self._apply(verb, read, time, now)
        except DloptError:
            if now is not None:
                advanced = {"now": plain_number(now)}
                self._log(VERBS["advance"], advanced, advanced, time)
            raise
        self._log(verb, arguments, answer, time, now, call)
        return answer

    def _apply(self, verb: Verb, read: Read, time: float, now: Number | None) -> PlainData:
        self._book.time = time
        if now is not None:
            self._book.engine.advance(now)
        return verb.answer(self._book, *read)

    def _log(
        self,
        verb: Verb,
        arguments: Mapping[str, Any],
        answer: PlainData,
        time: float,
        now: Number | None = None,
        call: BookCall | None = None,
    ) -> None:
        key = None if call is None else call.idempotency_key
        record = LogRecord.after(
            self._digest,
            self.name,
            self.version + 1,
            time,
            None if now is None else to_text(now),
            verb.name,
            to_text(arguments),
            to_text(answer),
            key,
            None if key is None or call is None else _request_digest(call),
            __version__,
        )
        self.version, self._digest = record.sequence, record.digest
        if record.key is not None and record.request is not None:
            stored = StoredAnswer(record.request, record.sequence, record.answer)
            self.answers.add(record.key, stored)
        self._new_records.append(record)
        is_smaller = verb is VERBS["archive"] and self._size.has_large_snapshot
        if is_smaller or self.version - self._saved_version >= SNAPSHOT_EVERY:
            self.save()

    def _stored_answer(self, call: BookCall) -> StoredAnswer | None:
        """Return the answer that a call got before."""
        if call.idempotency_key is None or not call.verb.changes:
            return None
        stored = self.answers.take(call.idempotency_key)
        if stored is not None and stored.request != _request_digest(call):
            raise ConflictingStateError(
                f"the idempotency key {call.idempotency_key} was used for another request"
            )
        return stored

    def _wall_instant(self, time: float) -> Number | None:
        """Return what the wall clock sets that of the book to, never back; None if callers do."""
        if self.definition.clock != "wall":
            return None
        now = self._book.engine.now
        if isinstance(now, float):
            return max(now, time)
        return max(now, Fraction(round(time * _TICKS_PER_S), _TICKS_PER_S))

    def save(self) -> None:
        """Make a snapshot unless there is one of this version, for `take_changes`.

        Engines go on from the numbers of a snapshot, so that a restored book is equal. A book of a
        printed algorithm has none: its whole log is replayed.
        """
        if self._saved_version == self.version:
            return
        self._saved_version = self.version
        try:
            engine = self._book.engine.snapshot()
        except NotApplicableError:
            return
        holds = self._book.holds.to_data()
        state = {"release": __version__, "engine": engine, "holds": holds, "digest": self._digest}
        data = to_text(state)
        digest = _snapshot_digest(self.name, self.version, data)
        self._size.snapshot_bytes = len(data)
        self._new_snapshots.append(SavedSnapshot(self.name, self.version, data, digest))

    @classmethod
    def replayed(cls, saved: SavedBook, limits: BookLimits = DEFAULT_LIMITS) -> Self:
        """Return the book of a snapshot and the log records after it.

        Raises
        ------
        CorruptedLogError
            With the place of what is not as it was written.
        OtherReleaseError
            With the first record that this release of dlopt decides otherwise than its own did.
        """
        try:
            book = cls(saved.name, read_definition(json.loads(saved.definition)), limits)
        except (DloptError, ValueError, LookupError, TypeError) as error:
            raise CorruptedLogError(
                f"book {saved.name}: its definition is corrupted: {described(error)}"
            ) from error
        if saved.snapshot is not None:
            book._restore(saved.snapshot)
        for record in saved.records:
            book._replay(record)
            if record.sequence in saved.saved_at:
                book._book.engine.snapshot()
        return book

    def _restore(self, saved: SavedSnapshot) -> None:
        place = f"book {self.name}: its snapshot after record {saved.sequence}"
        if saved.digest != _snapshot_digest(saved.book, saved.sequence, saved.data):
            raise CorruptedLogError(f"{place} is corrupted: its digest differs")
        data = json.loads(saved.data)
        try:
            engine = self.definition.engine.restore(data["engine"])
            self._book = BookState(engine, Holds.from_data(data["holds"]))
            self._digest = data["digest"]
        except (DloptError, ValueError, LookupError, TypeError) as error:
            raise _unreadable(
                data["release"], f"{place} cannot be restored: {described(error)}"
            ) from error
        self.version = self._saved_version = saved.sequence
        self._size.snapshot_bytes = len(saved.data)

    def _replay(self, record: LogRecord) -> None:
        """Apply a log record again, and compare the answer."""
        place = f"book {self.name}: record {self.version + 1}"
        if record.sequence != self.version + 1:
            raise CorruptedLogError(f"{place} is missing: record {record.sequence} follows")
        if not record.is_after(self._digest):
            raise CorruptedLogError(f"{place} is corrupted: its digest differs")
        try:
            verb = EXPIRE if record.verb == EXPIRE.name else VERBS[record.verb]
            now = None if record.now is None else read_instant(json.loads(record.now))
            read = verb.read(self.definition.problem, json.loads(record.arguments))
            answer = to_text(self._apply(verb, read, record.time, now))
        except (DloptError, ValueError, LookupError) as error:
            raise _unreadable(
                record.release, f"{place} cannot be replayed: {described(error)}"
            ) from error
        if answer != record.answer and _decided(answer) != _decided(record.answer):
            raise _unreadable(
                record.release,
                f"book {self.name}: replaying record {record.sequence} gives a different answer "
                f"than was logged: {answer}",
            )
        self.version, self._digest = record.sequence, record.digest


def _unreadable(release: str, message: str) -> UnreadableBookError:
    """Return the error of what was written as it is by a release, and cannot be applied again."""
    if release == __version__:
        return CorruptedLogError(message)
    return OtherReleaseError(
        f"{message}; it was written by dlopt {release}, and this is dlopt {__version__}: "
        f"use dlopt {release} for this book"
    )


def _decided(answer: str) -> object:
    """Return an answer without its reason in words, which another release may word differently."""
    data = json.loads(answer)
    if isinstance(data, dict):
        data.pop("reason", None)
    return data


def definition_data(definition: Definition) -> PlainData:
    """Return what a book is made of, as plain data."""
    return {"problem": definition.problem, **definition.to_data()}


def read_instant(value: object) -> Number:
    """Return an instant of plain data.

    Examples
    --------
    >>> read_instant("7/2")
    Fraction(7, 2)
    """
    return Instant.from_data({"now": value}).now


def _snapshot_digest(book: str, sequence: int, data: str) -> str:
    return digest_of(f"{book}\n{sequence}\n{data}")


def _request_digest(call: BookCall) -> str:
    return digest_of(f"{call.verb.name}\n{to_sorted_text(call.arguments)}")
