"""The file of rows: appended to, and whole again after whatever ended the run before."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from dlopt.batch.rows import Key, Row, row_from_line
from dlopt.errors import MISSING, Fault, InvalidInstanceError, NotApplicableError

_MOST_FAULTS = 20
_BEGIN = b'{"version":'
"""How every row begins."""


def read_rows(path: str | os.PathLike[str]) -> list[Row]:
    """Return the rows of a file; of two for the same cell, the later.

    A last line without an end is one that a run was killed over: it is left out unless it is
    complete.

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
    source = os.fspath(path)
    try:
        with open(path, "rb") as file:
            rows, _ = _read(file, source)
    except OSError as error:
        fault = Fault("", MISSING, f"cannot be read: {error.strerror}")
        raise InvalidInstanceError([fault], source) from error
    return list(rows.values())


class Journal:
    """A file of rows, open for more; nobody else appends to it meanwhile.

    Every row is written at once and as a whole, so that a process that is killed loses none, and
    at most the last line is torn. Opening the file cuts a torn line off.

    Parameters
    ----------
    path : path-like
        Made if it does not exist.

    Raises
    ------
    InvalidInstanceError
        If the file has a line that is no row: it may be something else, and is left as it is.
    NotApplicableError
        If it cannot be written, or another run has it open.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.exists() and not self.path.is_file():
            raise NotApplicableError(f"cannot write {path}: it is no regular file")
        try:
            self._file = open(path, "a+b", buffering=0)  # noqa: SIM115 - closed by close()
        except OSError as error:
            raise NotApplicableError(f"cannot write {path}: {error.strerror}") from error
        try:
            self._lock()
            self._file.seek(0)
            self.rows, whole = _read(self._file, os.fspath(path))
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
        self.close()

    def append(self, row: Row) -> None:
        """Add a row.

        Raises
        ------
        NotApplicableError
            If it cannot be written, as on a full disk. What was written of it is cut off.
        """
        line = row.to_line()
        before = self._file.seek(0, os.SEEK_END)
        try:
            written = self._file.write(line)
            if written != len(line):
                raise OSError(28, "No space left on device")
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(before)
            raise NotApplicableError(f"cannot write {self.path}: {error.strerror}") from error
        self.rows[row.key] = row

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


def _read(file: IO[bytes], source: str) -> tuple[dict[Key, Row], int]:
    """Return the rows of a file, and how many bytes of it hold whole rows."""
    rows: dict[Key, Row] = {}
    faults: list[Fault] = []
    whole = end = 0
    for number, line in enumerate(_lines(file), 1):
        end += len(line)
        if line.strip():
            try:
                row = row_from_line(line)
            except InvalidInstanceError as error:
                if _is_torn(line):
                    break
                faults += [
                    Fault(
                        f"line {number}{fault.path and ', '}{fault.path}", fault.value, fault.rule
                    )
                    for fault in error.faults
                ]
                if len(faults) > _MOST_FAULTS:
                    break
                continue
            rows.pop(row.key, None)
            rows[row.key] = row
        whole = end
    if faults:
        raise InvalidInstanceError(faults, source)
    return rows, whole


def _is_torn(line: bytes) -> bool:
    """Tell whether a line is the beginning of a row, and not the end of a file of another kind."""
    if line.endswith(b"\n"):
        return False
    return line[: len(_BEGIN)] == _BEGIN[: len(line)] or not line.strip(b"\0")


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    # readline() of an unbuffered file reads byte by byte.
    rest = b""
    while block := file.read(1 << 20):
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield line + b"\n"
    if rest:
        yield rest
