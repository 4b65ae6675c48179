"""A book with its log, without threads: what a call does to it, and how it is replayed."""

from __future__ import annotations

import json
import pickle
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, Self, TypeAlias

from dlopt.arithmetic import Number
from dlopt.books.snapshots import PlainData, plain_number
from dlopt.errors import DloptError, NotApplicableError, described
from dlopt.problems.validated_record import Record
from dlopt.serve.answers import Answer
from dlopt.serve.books.book_log import (
    CorruptedLogError,
    LogRecord,
    SavedBook,
    SavedSnapshot,
    digest_of,
    to_sorted_text,
    to_text,
)
from dlopt.serve.books.holds import Holds, PromiseBook
from dlopt.serve.books.verbs import EXPIRE, VERBS, Verb, require_arrived, with_arrival
from dlopt.serve.errors import ConflictingStateError, PreconditionError
from dlopt.service_api.arguments import Instant
from dlopt.service_api.definitions import ENGINES, Definition, read_definition

MOST_STORED_ANSWERS = 1_000
"""Idempotency keys of a book whose answers are known, the latest ones: a client repeats a call
within seconds, in which a book makes some thousands of decisions for many clients."""
SNAPSHOT_EVERY = 5_000
"""Log records between two snapshots. Chosen by hand: about a second of decisions at the highest
rate, which are replayed in less than a second."""
_TICKS_PER_S = 1_000
"""To what the wall clock is rounded in exact numbers: milliseconds, which keeps fractions short."""


Read: TypeAlias = tuple[Record, Record | None]
"""The arguments and the options of a call."""


class StoredAnswer(NamedTuple):
    """What a call with an idempotency key was, and its answer as JSON."""

    request: str
    version: int
    answer: str


@dataclass(frozen=True, slots=True)
class BookCall:
    """What is asked of a book.

    Parameters
    ----------
    verb : Verb
    arguments : dict
        As the request has them.
    idempotency_key : str, optional
    if_match : int, optional
        The version that the book must have.
    """

    verb: Verb
    arguments: Mapping[str, Any]
    idempotency_key: str | None = None
    if_match: int | None = None


class LoggedBook:
    """An engine with identity, clock, holds, and the log records of what changed it.

    Of the idempotency keys of a book the latest `MOST_STORED_ANSWERS` are known. Errors are not
    stored: they changed nothing, and a later call with the same key is a new one.

    Parameters
    ----------
    name : str
    definition : Definition

    Attributes
    ----------
    version : int
        The number of log records.
    """

    def __init__(self, name: str, definition: Definition) -> None:
        self.name, self.definition = name, definition
        self.version = 0
        self._digest = digest_of(to_text([name, definition_data(definition)]))
        self._book = PromiseBook(definition.new_engine())
        self._answers: OrderedDict[str, StoredAnswer] = OrderedDict()
        self._new_records: list[LogRecord] = []
        self._new_snapshots: list[SavedSnapshot] = []
        self._saved_version = 0

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
            "promises": sum(1 for _ in book.promised()),
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
        verb, arguments = call.verb, call.arguments
        is_wall = self.definition.clock == "wall"
        if is_wall and verb.arrives:
            arguments = with_arrival(arguments, self._wall_instant(time))
        read = verb.read(self.definition.problem, arguments)
        if is_wall and verb.arrives and verb.changes:
            require_arrived(read[0], self._wall_instant(time))
        if call.if_match not in (None, self.version):
            raise PreconditionError(f"the book has version {self.version}, not {call.if_match}")
        if is_wall and verb is VERBS["advance"]:
            raise NotApplicableError("the clock of this book is that of the server")
        if verb.changes:
            body = self._change(verb, arguments, read, time, call)
        else:
            body = self._read(verb, read, time)
        return Answer(body, version=self.version)

    def _read(self, verb: Verb, read: Read, time: float) -> PlainData:
        assert verb.apply is not None  # the log is read from the store
        book = self._book
        if verb.on_copy:
            engine = pickle.loads(pickle.dumps(book.engine, pickle.HIGHEST_PROTOCOL))
            book = replace(book, engine=engine)
            if self.definition.clock == "wall":
                engine.advance(self._wall_instant(time))
        return verb.apply(book, *read)

    def _change(
        self,
        verb: Verb,
        arguments: Mapping[str, Any],
        read: Read,
        time: float,
        call: BookCall | None = None,
    ) -> PlainData:
        """Change the book, and log it. If it refuses, at most its clock has advanced."""
        now = None
        if self.definition.clock == "wall":
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
        assert verb.apply is not None
        self._book.time = time
        if now is not None:
            self._book.engine.advance(now)
        return verb.apply(self._book, *read)

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
        )
        self._accept(record)
        self._new_records.append(record)
        if self.version - self._saved_version >= SNAPSHOT_EVERY:
            self.save()

    def _accept(self, record: LogRecord) -> None:
        """Take a log record over into what is known."""
        self.version, self._digest = record.sequence, record.digest
        if record.key is not None and record.request is not None:
            stored = StoredAnswer(record.request, record.sequence, record.answer)
            self._answers[record.key] = stored
            if len(self._answers) > MOST_STORED_ANSWERS:
                self._answers.popitem(last=False)

    def _stored_answer(self, call: BookCall) -> StoredAnswer | None:
        """Return the answer that a call got before."""
        if call.idempotency_key is None or not call.verb.changes:
            return None
        stored = self._answers.get(call.idempotency_key)
        if stored is not None and stored.request != _request_digest(call):
            raise ConflictingStateError(
                f"the idempotency key {call.idempotency_key} was used for another request"
            )
        return stored

    def _wall_instant(self, time: float) -> Number:
        """Return the clock of the book at a time of the wall clock; it never goes back."""
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
        answers = [[key, *stored] for key, stored in self._answers.items()]
        holds = self._book.holds.to_data()
        data = to_text(
            {"engine": engine, "holds": holds, "answers": answers, "digest": self._digest}
        )
        digest = _snapshot_digest(self.name, self.version, data)
        self._new_snapshots.append(SavedSnapshot(self.name, self.version, data, digest))

    @classmethod
    def replayed(cls, saved: SavedBook) -> Self:
        """Return the book of a snapshot and the log records after it.

        Raises
        ------
        CorruptedLogError
            With the place of what is not as it was written, or of what the engine of this version
            answers otherwise.
        """
        try:
            book = cls(saved.name, read_definition(json.loads(saved.definition)))
            if saved.snapshot is not None:
                book._restore(saved.snapshot)
        except (DloptError, ValueError, LookupError, TypeError) as error:
            place = "definition" if saved.snapshot is None else "snapshot"
            number = "" if saved.snapshot is None else f" after record {saved.snapshot.sequence}"
            raise CorruptedLogError(
                f"book {saved.name}: its {place}{number} is corrupted: {described(error)}"
            ) from error
        for record in saved.records:
            book._replay(record)
            if record.sequence in saved.saved_at:
                book._book.engine.snapshot()
        return book

    def _restore(self, saved: SavedSnapshot) -> None:
        if saved.digest != _snapshot_digest(saved.book, saved.sequence, saved.data):
            raise ValueError("its digest differs")
        data = json.loads(saved.data)
        engine = ENGINES[self.definition.problem].restore(data["engine"])
        self._book = PromiseBook(engine, Holds.from_data(data["holds"]))
        for key, *stored in data["answers"]:
            self._answers[key] = StoredAnswer(*stored)
        self.version = self._saved_version = saved.sequence
        self._digest = data["digest"]

    def _replay(self, record: LogRecord) -> None:
        """Apply a log record again, and compare the answer."""
        place = f"book {self.name}: record {self.version + 1}"
        if record.sequence != self.version + 1:
            raise CorruptedLogError(f"{place} is missing: record {record.sequence} follows")
        if not record.is_after(self._digest):
            raise CorruptedLogError(f"{place} is corrupted: its digest differs")
        verb = EXPIRE if record.verb == EXPIRE.name else VERBS[record.verb]
        try:
            now = None if record.now is None else read_instant(json.loads(record.now))
            read = verb.read(self.definition.problem, json.loads(record.arguments))
            answer = to_text(self._apply(verb, read, record.time, now))
        except (DloptError, ValueError) as error:
            raise CorruptedLogError(f"{place} cannot be replayed: {described(error)}") from error
        if answer != record.answer and _decided(answer) != _decided(record.answer):
            raise CorruptedLogError(f"{place} is answered otherwise than it was: {answer}")
        self._accept(record)


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
