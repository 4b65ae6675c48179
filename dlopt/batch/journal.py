"""The file of the records of a batch."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

from dlopt import journal
from dlopt.batch.records import Record
from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.input_files import load_bytes
from dlopt.json_files import parse_json


def _read(line: bytes) -> Record:
    from dlopt.batch.record_reading import record_from_line  # pydantic takes a moment to import

    return record_from_line(line)


BATCH = journal.RowFormat(b'{"version":', _read, Record.to_line, attrgetter("key"))
"""The records of a batch: of two for the same run, the later counts."""


class Journal(journal.Journal[Record]):
    """The records of a batch, open for more; see `dlopt.journal.Journal`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        with naming_other_files(path):
            super().__init__(path, BATCH)


def read_records(path: str | os.PathLike[str]) -> list[Record]:
    """Return the records of a file; of two for the same run, the later.

    A last line without an end that follows whole records, and begins as one, is a record that a
    batch was killed over: it is left out unless it is complete.

    Raises
    ------
    InvalidInstanceError
        If there is no such file, or a line is no record; each is named by its number.

    Examples
    --------
    >>> read_records("nothing.jsonl")
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: nothing.jsonl: cannot be read: No such file or directory
    """
    with naming_other_files(path):
        return journal.read_rows(path, BATCH)


@contextlib.contextmanager
def naming_other_files(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let a file of another kind have one error, which says what it is, and not one for each line.

    Raises
    ------
    InvalidInstanceError
        If it cannot be read as records.
    """
    try:
        yield
    except InvalidInstanceError:
        kind = _kind_of(path)
        if kind is None:
            raise
        fault = Fault("", MISSING, f"{kind}; records have one line each")
        raise InvalidInstanceError([fault], os.fspath(path)) from None


def _kind_of(path: str | os.PathLike[str]) -> str | None:
    """Say what a file is that is one object of JSON, and no record; None of other files."""
    if not Path(path).is_file():  # a pipe is read only once
        return None
    try:
        text = load_bytes(path).strip()
        names = parse_json(text.decode()).keys()  # which does not read a file that is too large
    except (InvalidInstanceError, ValueError, AttributeError):
        return None
    if "version" not in names and {"hash", "method", "status"} <= names:
        return "is a result: `dlopt check` and `dlopt plot` read it, after its instance"
    if "hash" not in names and {"problem", "version", "name"} <= names:
        return "is an instance: `dlopt batch` makes records of it"
    if b"\n" in text:
        return "is one document of JSON, not the records of a batch"
    return None
