"""The file of the rows of a batch."""

from __future__ import annotations

import os
from operator import attrgetter

from dlopt import journal
from dlopt.batch.records import Row, row_from_line

BATCH = journal.RowFormat(b'{"version":', row_from_line, Row.to_line, attrgetter("key"))
"""The rows of a batch: of two for the same cell, the later counts."""


class Journal(journal.Journal[Row]):
    """The rows of a batch, open for more; see `dlopt.journal.Journal`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path, BATCH)


def read_rows(path: str | os.PathLike[str]) -> list[Row]:
    """Return the rows of a file; of two for the same cell, the later.

    A last line without an end that follows whole rows, and begins as one, is a row that a run was
    killed over: it is left out unless it is complete.

    Raises
    ------
    InvalidInstanceError
        If there is no such file, or a line is no row; each is named by its number.

    Examples
    --------
    >>> read_rows("nothing.jsonl")
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: nothing.jsonl: cannot be read: No such file or directory
    """
    return journal.read_rows(path, BATCH)
