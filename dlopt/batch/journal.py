"""The file of the records of a batch."""

from __future__ import annotations

import os
from operator import attrgetter

from dlopt import journal
from dlopt.batch.records import Record


def _read(line: bytes) -> Record:
    from dlopt.batch.record_reading import record_from_line  # pydantic takes a moment to import

    return record_from_line(line)


BATCH = journal.RowFormat(b'{"version":', _read, Record.to_line, attrgetter("key"))
"""The records of a batch: of two for the same run, the later counts."""


class Journal(journal.Journal[Record]):
    """The records of a batch, open for more; see `dlopt.journal.Journal`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
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
    return journal.read_rows(path, BATCH)
