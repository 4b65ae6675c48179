"""The log of books in the store: tables, records chained by digests, reading and writing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import sqlalchemy as sql

from dlopt import arithmetic
from dlopt.books.snapshots import PlainData
from dlopt.serve.errors import NotFoundError, ServiceError, UnknownOutcomeError
from dlopt.serve.store import METADATA, Store

MAX_NAME_LENGTH = 100
"""Characters of the name of a book, at the most."""
MAX_KEY_LENGTH = 200
"""Characters of the idempotency key of a call, at the most."""
MAX_PAGE_BYTES = 4_000_000
"""Characters of arguments and answers after which a page of the log ends, whatever its limit."""
_FETCHED_RECORDS = 10
"""Records that a database sends at a time, each of which may be large."""
_PAGE_RECORDS = 500
"""Records that are read at a time when a book is loaded."""

_BOOKS = sql.Table(
    "dlopt_books",
    METADATA,
    sql.Column("name", sql.String(MAX_NAME_LENGTH), primary_key=True),
    sql.Column("definition", sql.Text, nullable=False),
)
_RECORDS = sql.Table(
    "dlopt_book_records",
    METADATA,
    sql.Column("book", sql.String(MAX_NAME_LENGTH), primary_key=True),
    sql.Column("sequence", sql.BigInteger, primary_key=True, autoincrement=False),
    sql.Column("time", sql.Double, nullable=False),
    sql.Column("now", sql.Text),
    sql.Column("verb", sql.String(20), nullable=False),
    sql.Column("arguments", sql.Text, nullable=False),
    sql.Column("answer", sql.Text, nullable=False),
    sql.Column("key", sql.String(MAX_KEY_LENGTH)),
    sql.Column("request", sql.String(64)),
    sql.Column("release", sql.String(50), nullable=False),
    sql.Column("digest", sql.String(64), nullable=False),
    sqlite_with_rowid=False,
)
sql.Index(
    "dlopt_book_record_keys",
    _RECORDS.c.key,
    sqlite_where=_RECORDS.c.key.is_not(None),
    postgresql_where=_RECORDS.c.key.is_not(None),
)
_SNAPSHOTS = sql.Table(
    "dlopt_book_snapshots",
    METADATA,
    sql.Column("book", sql.String(MAX_NAME_LENGTH), primary_key=True),
    sql.Column("sequence", sql.BigInteger, primary_key=True, autoincrement=False),
    sql.Column("data", sql.Text),  # of the latest one: of the others only their place is kept
    sql.Column("digest", sql.String(64), nullable=False),
)
_INSERT_RECORDS = sql.insert(_RECORDS)
_INSERT_SNAPSHOT = sql.insert(_SNAPSHOTS)
# The name is an expression to hide it from SQLite, which would search all records of the book.
_ANSWERS_OF_KEYS = sql.select(
    _RECORDS.c.key, _RECORDS.c.request, _RECORDS.c.sequence, _RECORDS.c.answer
).where(
    _RECORDS.c.key.in_(sql.bindparam("keys", expanding=True)),
    _RECORDS.c.book.concat("") == sql.bindparam("name"),
)


class UnreadableBookError(ServiceError):
    """A book cannot be restored from the store; other books are not concerned."""

    title = "Unreadable book"


class CorruptedLogError(UnreadableBookError):
    """What the store holds of a book is not what was written."""

    title = "Corrupted log"


class OtherReleaseError(UnreadableBookError):
    """The log of a book was written by a release of dlopt that decides otherwise than this one."""

    title = "Log of another release"


class LogRecord(NamedTuple):
    """A call that changed a book.

    Parameters
    ----------
    book : str
    sequence : int
        1 for the first; the version of the book after the call.
    time : float
        Of the wall clock, in seconds.
    now : str or None
        What the clock of the book was advanced to before the call, as JSON; None if callers
        advance it.
    verb : str
    arguments, answer : str
        As JSON.
    key : str or None
        Idempotency key.
    request : str or None
        Digest of what was asked for with the key.
    release : str
        Version of dlopt that decided.
    digest : str
        Of all fields, and of the digest of the record before.
    """

    book: str
    sequence: int
    time: float
    now: str | None
    verb: str
    arguments: str
    answer: str
    key: str | None
    request: str | None
    release: str
    digest: str

    @classmethod
    def after(cls, digest: str, *fields: Any) -> Self:
        """Return the record with all fields but the last, after the one of a digest."""
        return cls(*(*fields, _chained_digest(digest, fields)))

    def is_after(self, digest: str) -> bool:
        """Tell whether the record is as it was written, after the one of a digest."""
        return self.digest == _chained_digest(digest, self[:-1])

    def to_data(self) -> PlainData:
        """Return the record as callers see it."""
        return {
            "sequence": self.sequence,
            "time": self.time,
            "now": None if self.now is None else json.loads(self.now),
            "verb": self.verb,
            "arguments": json.loads(self.arguments),
            "answer": json.loads(self.answer),
            "idempotency_key": self.key,
            "release": self.release,
            "digest": self.digest,
        }


class StoredAnswer(NamedTuple):
    """What a call with an idempotency key was, and its answer as JSON."""

    request: str
    version: int
    answer: str


class SavedSnapshot(NamedTuple):
    """A book as text, after the record of a sequence number."""

    book: str
    sequence: int
    data: str
    digest: str


@dataclass(frozen=True, slots=True)
class SavedBook:
    """What the store has of a book: all that its present state is made of.

    Parameters
    ----------
    name, definition : str
    snapshot : SavedSnapshot or None
        The latest one.
    records : iterable of LogRecord
        All that follow it.
    saved_at : frozenset of int
        After which records the book was saved: its engine went on from the numbers of a snapshot.
    """

    name: str
    definition: str
    snapshot: SavedSnapshot | None
    records: Iterable[LogRecord]
    saved_at: frozenset[int]


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _chained_digest(before: str, fields: tuple[Any, ...]) -> str:
    return digest_of("\n".join((before, *map(repr, fields))))


def to_text(data: object) -> str:
    """Return plain data as JSON; fractions as texts ``"p/q"``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> to_text({"b": Fraction(1, 3), "a": 0.1})
    '{"b":"1/3","a":0.1}'
    """
    return _ENCODER.encode(data)


def to_sorted_text(data: object) -> str:
    """Return plain data as JSON with sorted names: equal data has one text.

    Examples
    --------
    >>> from fractions import Fraction
    >>> to_sorted_text({"b": Fraction(1, 3), "a": 0.1})
    '{"a":0.1,"b":"1/3"}'
    """
    return _SORTING_ENCODER.encode(data)


_FORMAT: dict[str, Any] = {
    "separators": (",", ":"),
    "allow_nan": False,
    "default": arithmetic.to_json,
}
_ENCODER = json.JSONEncoder(**_FORMAT)
_SORTING_ENCODER = json.JSONEncoder(**_FORMAT, sort_keys=True)


def write_changes(
    connection: sql.Connection,
    records: Sequence[LogRecord],
    snapshots: Sequence[SavedSnapshot],
) -> None:
    """Append log records, and put snapshots in the place of earlier ones."""
    if records:
        connection.execute(_INSERT_RECORDS, [record._asdict() for record in records])
    for snapshot in snapshots:
        earlier = (_SNAPSHOTS.c.book == snapshot.book) & _SNAPSHOTS.c.data.is_not(None)
        connection.execute(sql.update(_SNAPSHOTS).where(earlier).values(data=None))
        connection.execute(_INSERT_SNAPSHOT, snapshot._asdict())


def add_book(store: Store, name: str, definition: str) -> None:
    """Store a new book; one with the same definition may be left of an attempt that failed."""
    try:
        with store.settled(_BOOKS) as connection:
            if _definition(connection, name) != definition:
                connection.execute(sql.insert(_BOOKS).values(name=name, definition=definition))
    except UnknownOutcomeError as error:
        store.ensure_written(_BOOKS, lambda found: _definition(found, name) == definition, error)


def delete_book(store: Store, name: str) -> None:
    """Delete a book with its log."""
    try:
        with store.transaction() as connection:
            for table, column in ((_RECORDS, "book"), (_SNAPSHOTS, "book"), (_BOOKS, "name")):
                connection.execute(sql.delete(table).where(table.c[column] == name))
    except UnknownOutcomeError as error:
        store.ensure_written(_BOOKS, lambda found: _definition(found, name) is None, error)


def _definition(connection: sql.Connection, name: str) -> str | None:
    chosen = sql.select(_BOOKS.c.definition).where(_BOOKS.c.name == name)
    return connection.execute(chosen).scalar_one_or_none()


def book_names(store: Store) -> list[str]:
    """Return the names of all books."""
    with store.reading() as connection:
        return list(connection.execute(sql.select(_BOOKS.c.name).order_by(_BOOKS.c.name)).scalars())


def load_book(store: Store, name: str, *, whole: bool = False) -> SavedBook:
    """Return what the store has of a book; with its whole log instead of a snapshot if asked for.

    The state is the same in both ways. Records are read as they are iterated over.
    """
    with store.settled(_RECORDS) as connection:
        definition = _definition(connection, name)
        if definition is None:
            raise NotFoundError(f"there is no book {name}")
        own = sql.select(_SNAPSHOTS).where(_SNAPSHOTS.c.book == name)
        rows = connection.execute(own.order_by(_SNAPSHOTS.c.sequence)).all()
    saved_at = frozenset(row.sequence for row in rows)
    snapshot = SavedSnapshot(*rows[-1]) if rows and not whole else None
    after = 0 if snapshot is None else snapshot.sequence
    return SavedBook(name, definition, snapshot, _records_after(store, name, after), saved_at)


def _records_after(store: Store, name: str, after: int) -> Iterator[LogRecord]:
    while page := read_log(store, name, after, _PAGE_RECORDS):
        yield from page
        after = page[-1].sequence


def read_log(store: Store, name: str, after: int, limit: int) -> list[LogRecord]:
    """Return the log records of a book after a sequence number, or the first of them.

    There is at least one if the log goes on: a page ends at `limit` records, or where it has
    `MAX_PAGE_BYTES`.
    """
    chosen = (
        sql.select(_RECORDS)
        .where(_RECORDS.c.book == name, _RECORDS.c.sequence > after)
        .order_by(_RECORDS.c.sequence)
        .limit(limit)
        .execution_options(yield_per=_FETCHED_RECORDS)
    )
    page: list[LogRecord] = []
    size = 0
    with store.reading() as connection, connection.execute(chosen) as rows:
        for row in rows:
            page.append(LogRecord(*row))
            size += len(page[-1].arguments) + len(page[-1].answer)
            if size >= MAX_PAGE_BYTES:
                break
    return page


def is_written(store: Store, record: LogRecord) -> bool:
    """Tell whether a record is in the log, after a commit whose outcome is unknown.

    Raises
    ------
    UnavailableError
        If it cannot be known now.
    """
    place = (_RECORDS.c.book == record.book) & (_RECORDS.c.sequence == record.sequence)
    with store.settled(_RECORDS) as connection:
        found = connection.execute(sql.select(_RECORDS.c.digest).where(place))
        return found.scalar_one_or_none() == record.digest


def stored_answers(store: Store, name: str, keys: Sequence[str]) -> dict[str, StoredAnswer]:
    """Return the answers of a book to the calls with some idempotency keys, as far as there are."""
    with store.reading() as connection:
        rows = connection.execute(_ANSWERS_OF_KEYS, {"name": name, "keys": keys})
        return {row.key: StoredAnswer(*row[1:]) for row in rows}
