"""A file of rows: appended to, and whole again after whatever ended the run before.

One row is one line of JSON. A process that is killed loses none, and tears at most the last line,
which the next run cuts off. Nothing is ever cut off a file that has no whole row, nor off one whose
last line is complete JSON: such a file may be something else, and is refused and left as it is. Two
runs never write to one file at once.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Generic, Self, TypeVar

from dlopt.errors import MISSING, Fault, InvalidInstanceError, NotApplicableError
from dlopt.input_files import lines_of, open_input

R = TypeVar("R")

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes that a row has at the most."""
_MOST_FAULTS = 20
_FIRST = (
    Fault(
        "",
        MISSING,
        "is incomplete, and no whole row is before it; "
        "if a run was killed over its first row, delete the file",
    ),
)
"""Of a file that has nothing but the beginning of a row, if that is what it is."""


@dataclass(frozen=True, slots=True)
class RowFormat(Generic[R]):
    """What the rows of a file are.

    Parameters
    ----------
    begin : bytes
        How every row begins: it tells a row that was torn from what else may follow rows.
    parse : callable
        Makes a row of a line; raises `InvalidInstanceError` if it is none.
    state : callable
        The line of a row, with its end.
    key : callable
        What a row is about: of two rows with the same key the later counts.
    older : tuple of bytes
        How rows began that older releases wrote, if `parse` reads them still.
    """

    begin: bytes
    parse: Callable[[bytes], R]
    state: Callable[[R], bytes]
    key: Callable[[R], Hashable]
    older: tuple[bytes, ...] = ()


def read_rows(path: str | os.PathLike[str], form: RowFormat[R]) -> list[R]:
    """Return the rows of a file; of two with the same key, the later.

    A last line without an end that follows whole rows, and begins as one, is a row that a run was
    killed over: it is left out unless it is complete.

    Raises
    ------
    InvalidInstanceError
        If there is no such file, or a line is no row; each is named by its number.
    """
    source = os.fspath(path)
    with open_input(path) as file:
        rows, _ = _read(file, source, form)
    return list(rows.values())


class Journal(Generic[R]):
    """A file of rows, open for more; nobody else appends to it meanwhile.

    Every row is written at once and as a whole. Opening the file cuts a torn line off that follows
    whole rows.

    Parameters
    ----------
    path : path-like
        Made if it does not exist.
    form : RowFormat

    Attributes
    ----------
    rows : dict
        By key.

    Raises
    ------
    InvalidInstanceError
        If the file has a line that is no row: it may be something else, and is left as it is.
    NotApplicableError
        If it cannot be written, or another run has it open.
    """

    def __init__(self, path: str | os.PathLike[str], form: RowFormat[R]) -> None:
        self.path, self.form = Path(path), form
        if self.path.exists() and not self.path.is_file():
            raise NotApplicableError(f"cannot write {path}: it is no regular file")
        self._is_new = not os.path.lexists(path)
        try:
            self._file = open(path, "a+b", buffering=0)  # noqa: SIM115 - closed by close()
        except OSError as error:
            raise NotApplicableError(f"cannot write {path}: {error.strerror}") from error
        try:
            self._lock()
            self._file.seek(0)
            self.rows, whole = _read(self._file, os.fspath(path), form)
            self._mend(whole)
        except OSError as error:
            self._file.close()
            raise NotApplicableError(f"cannot write {path}: {error.strerror}") from error
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and self._is_new and not self.rows:
            with contextlib.suppress(OSError):  # what failed before its first row leaves no file
                self.path.unlink()
        self.close()

    def append(self, row: R) -> None:
        """Add a row.

        Raises
        ------
        NotApplicableError
            If it cannot be written, as on a full disk. What was written of it is cut off.
        """
        line = self.form.state(row)
        before = self._file.seek(0, os.SEEK_END)
        try:
            written = self._file.write(line)
            if written != len(line):
                raise OSError(28, "No space left on device")
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(before)
            raise NotApplicableError(f"cannot write {self.path}: {error.strerror}") from error
        self.rows[self.form.key(row)] = row

    def close(self) -> None:
        """Close the file, on the disk as it is in memory."""
        if not self._file.closed:
            with contextlib.suppress(OSError):  # a pipe or a device has no disk
                os.fsync(self._file.fileno())
            self._file.close()

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # pragma: no cover - Windows
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            text = f"cannot write {self.path}: another run is writing to it"
            raise NotApplicableError(text) from error

    def _mend(self, whole: int) -> None:
        """Cut off what follows the last whole row; give that one its line end."""
        if self._file.seek(0, os.SEEK_END) > whole:
            self._file.truncate(whole)
        if whole:
            self._file.seek(whole - 1)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")


def _read(file: IO[bytes], source: str, form: RowFormat[R]) -> tuple[dict[Hashable, R], int]:
    """Return the rows of a file, and how many bytes of it hold whole rows."""
    rows: dict[Hashable, R] = {}
    faults: list[Fault] = []
    whole = end = 0
    try:
        for number, line in enumerate(lines_of(file, LONGEST_LINE), 1):
            end += len(line)
            if line.strip():
                try:
                    row = form.parse(line)
                except InvalidInstanceError as error:
                    begins_as_row = _begins_as_row(line, form)
                    if rows and (begins_as_row or not line.strip(b"\0")):  # zeros: a lost disk
                        break
                    faults += _of_line(number, _FIRST if begins_as_row else error.faults)
                    if len(faults) > _MOST_FAULTS:
                        break
                    continue
                rows.pop(form.key(row), None)
                rows[form.key(row)] = row
            whole = end
    except InvalidInstanceError as error:  # a line that is too long
        faults += error.faults
    if faults:
        raise InvalidInstanceError(faults, source, as_json=True)
    return rows, whole


def _of_line(number: int, faults: tuple[Fault, ...]) -> list[Fault]:
    return [
        Fault(f"line {number}{fault.path and ', '}{fault.path}", fault.value, fault.rule)
        for fault in faults
    ]


def _begins_as_row(line: bytes, form: RowFormat[R]) -> bool:
    """Tell whether a line is the beginning of a row, but not all of it: JSON is never torn."""
    if line.endswith(b"\n"):
        return False
    if not any(line[: len(begin)] == begin[: len(line)] for begin in (form.begin, *form.older)):
        return False
    try:
        json.loads(line)
    except RecursionError:  # it may be JSON
        return False
    except ValueError:
        return True
    return False
