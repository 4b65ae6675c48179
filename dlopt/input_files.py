"""Reading of input files: what has no end, or is too large, is refused with the reason."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import stat
from collections.abc import Generator, Iterator
from io import BufferedReader
from typing import IO

from dlopt.errors import MISSING, Fault, InvalidInstanceError, NotApplicableError

MOST_BYTES = 256 * 1024 * 1024
"""Largest size of an input file; a larger one is considered a mistake."""

WAIT_S = 10.0
"""A named pipe that nobody has written to for so long is not read."""

BLOCK_BYTES = 1 << 20


def path_name(path: object) -> str:
    """Return the name of a file that a caller gives.

    Raises
    ------
    NotApplicableError
        If it is no text and no `Path`.
    """
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if not isinstance(path, str):
        raise NotApplicableError(f"a path is a text or a Path, not a {type(path).__name__}")
    return path


@contextlib.contextmanager
def open_input(path: str | os.PathLike[str]) -> Iterator[BufferedReader]:
    """Open a file or a pipe for reading.

    Raises
    ------
    InvalidInstanceError
        If it cannot be read, is a device, or a named pipe that nobody writes to.
    """
    source = path_name(path)
    try:
        _refuse_device(os.stat(path), source)
        # without this flag, opening a pipe waits for a writer
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except InvalidInstanceError:
        raise
    except (OSError, ValueError) as error:  # ValueError: not even a path
        raise _unreadable(error, source) from error
    with os.fdopen(handle, "rb") as file:
        try:
            known = os.fstat(handle)
            _refuse_device(known, source)
            if stat.S_ISFIFO(known.st_mode) and os.path.exists(os.path.realpath(path)):
                _wait_for_writer(handle, source)
            os.set_blocking(handle, True)
            yield file
        except OSError as error:
            raise _unreadable(error, source) from error


def load_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return what a file or pipe holds, at most `MOST_BYTES` of it.

    Raises
    ------
    InvalidInstanceError
        If there is no such file, it is too large, or it has no end.
    NotApplicableError
        If the path has another type than paths have.
    """
    source = path_name(path)
    with open_input(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > MOST_BYTES:
            raise InvalidInstanceError([Fault("", f"{size} bytes", "is too large a file")], source)
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        size_text = f"more than {MOST_BYTES} bytes"
        raise InvalidInstanceError([Fault("", size_text, "is too large a file")], source)
    return data


def text_lines(path: str | os.PathLike[str], kind: str) -> Generator[str]:
    """Yield the lines of a file or pipe with their ends, as they are read: of any number.

    Parameters
    ----------
    path : path-like
    kind : str
        What it should be, for the fault of one that is no text.

    Raises
    ------
    InvalidInstanceError
        If there is no such file, or a line has more than `MOST_BYTES` or is no text: when it is
        read.
    """
    source, begin = path_name(path), 0
    with open_input(path) as file:
        for line in lines_of(file, MOST_BYTES):
            try:
                yield line.decode("utf-8" if begin else "utf-8-sig")
            except UnicodeDecodeError as error:
                raise not_utf8(kind, begin + error.start, source) from error
            begin += len(line)


def not_utf8(kind: str, position: int, source: str) -> InvalidInstanceError:
    """Return the error of a file that is no text, with the first byte that is none."""
    rule = f"is not valid {kind}: not UTF-8 at byte {position}"
    return InvalidInstanceError([Fault("", MISSING, rule)], source)


def lines_of(file: IO[bytes], longest: int) -> Iterator[bytes]:
    r"""Yield the lines of a file with their ends, in time linear in its length.

    Unlike those of ``readline``, blocks of an unbuffered file are read, and a line cannot fill
    the memory.

    Parameters
    ----------
    file : binary file
    longest : int
        Bytes that a line has at the most.

    Raises
    ------
    InvalidInstanceError
        If a line is longer; it is not read to its end.

    Examples
    --------
    >>> import io
    >>> list(lines_of(io.BytesIO(b"one\ntwo"), 10))
    [b'one\n', b'two']
    """
    rest: list[bytes] = []
    size = number = 0
    while block := file.read(BLOCK_BYTES):
        *ended, last = block.split(b"\n")
        for part in ended:
            number += 1
            line = b"".join((*rest, part, b"\n"))
            _refuse_long(len(line), longest, number)
            yield line
            rest, size = [], 0
        rest.append(last)
        size += len(last)
        _refuse_long(size, longest, number + 1)
    if size:
        yield b"".join(rest)


def _refuse_long(size: int, longest: int, number: int) -> None:
    if size > longest:
        rule = f"a line must have at most {longest:,} bytes"
        raise InvalidInstanceError([Fault(f"line {number}", MISSING, rule)])


def _refuse_device(known: os.stat_result, source: str) -> None:
    """Refuse what is no file, save the two devices that have an end: nothing, and a terminal."""
    if stat.S_ISDIR(known.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISBLK(known.st_mode) or (stat.S_ISCHR(known.st_mode) and not _ends(known)):
        raise InvalidInstanceError([Fault("", MISSING, "is a device and no file")], source)


def _ends(known: os.stat_result) -> bool:
    """Tell whether a device is the null device or the terminal that a user types into."""
    if known.st_rdev == os.stat(os.devnull).st_rdev:
        return True
    try:
        return os.isatty(0) and known.st_rdev == os.fstat(0).st_rdev
    except OSError:  # standard input is closed
        return False


def _wait_for_writer(handle: int, source: str) -> None:
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    if not poller.poll(WAIT_S * 1000):
        rule = f"is a pipe that nobody has written to for {WAIT_S:g} s"
        raise InvalidInstanceError([Fault("", MISSING, rule)], source)


def _unreadable(error: Exception, source: str) -> InvalidInstanceError:
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return InvalidInstanceError([Fault("", MISSING, f"cannot be read: {reason}")], source)
