"""The Standard Workload Format (SWF): logs of the jobs that parallel machines ran.

A log is text, plain or gzip: header lines ``; Key: value``, then a line of 18 numbers per job,
-1 where one is not known. Version 2.2: https://www.cs.huji.ac.il/labs/parallel/workload/swf.html
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from io import BufferedReader
from itertools import count, zip_longest
from operator import attrgetter
from typing import Any

from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.input_files import open_input
from dlopt.json_files import replacing

MOST_FAULTS = 100
"""Reading stops after so many faults: a file of another format has a fault on every line."""
LONGEST_LINE = 1_000_000
"""In bytes; the longest lines of real logs have some hundred."""
MOST_BYTES = 512 * 1024 * 1024
"""Longer logs, after decompression, are considered a mistake; they are read line by line."""
MOST_LINES = 20_000_000
"""The longest real logs have some six million jobs."""
_KEY = re.compile(r"([A-Za-z][\w-]*)\s*:(?!//)\s*(.*)")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SIZE = re.compile(r"(\d{1,3}(?:,\d{3})+|\d{1,18})(?!\w|[.,]\d)", re.ASCII)
_BURSTS = frozenset({2, 3, 4})


@dataclass(frozen=True, slots=True)
class SwfJob:
    """One line of a log: ``None`` stands for what the log does not know.

    Times and memory are `int` where the file shows a whole number, `float` where a real one.

    Parameters
    ----------
    number : int
        Unique in its log, save among bursts (see `burst`).
    submit : float or None
        Seconds since the log began; only a burst may lack it.
    wait, run_time, requested_time : float or None
        Seconds from submission to start, from there to the end (0 of short jobs), and most often
        the user's estimate of the latter.
    allocated_processors, requested_processors : int or None
    average_cpu_time, used_memory, requested_memory : float or None
        Seconds and kilobytes, per processor.
    status : int or None
        0 failed, 1 completed, 5 cancelled; 2, 3, 4 of a burst.
    user, group, executable, queue, partition : int or None
    preceding_job, think_time : int or None, float or None
        The job whose end this one waited for, and seconds from there to its submission.
    """

    number: int
    submit: float | None
    wait: float | None = None
    run_time: float | None = None
    allocated_processors: int | None = None
    average_cpu_time: float | None = None
    used_memory: float | None = None
    requested_processors: int | None = None
    requested_time: float | None = None
    requested_memory: float | None = None
    status: int | None = None
    user: int | None = None
    group: int | None = None
    executable: int | None = None
    queue: int | None = None
    partition: int | None = None
    preceding_job: int | None = None
    think_time: float | None = None

    @property
    def processors(self) -> int | None:
        """Processors allocated, else requested, else ``None``; 0 for some jobs that never ran."""
        allocated = self.allocated_processors
        return self.requested_processors if allocated is None else allocated

    @property
    def burst(self) -> bool:
        """Whether this line is one burst of a swapped-out job, which has a line of its own, too."""
        return self.status in _BURSTS


_FIELDS = tuple(field.name for field in fields(SwfJob))
_REALS = tuple("float" in str(field.type) for field in fields(SwfJob))
_values = attrgetter(*_FIELDS)


@dataclass(frozen=True, slots=True)
class SwfLog:
    """A whole log, in the order of its file.

    Parameters
    ----------
    header : tuple of (str, str)
        Keys, some repeated (``Queue``, ``Note``), and values, line feeds in those of many lines.
    jobs : tuple of SwfJob
    """

    header: tuple[tuple[str, str], ...]
    jobs: tuple[SwfJob, ...]

    def get(self, key: str) -> str | None:
        """Return the first value of a header key, whatever its case, or ``None``."""
        return next((value for name, value in self.header if name.lower() == key.lower()), None)

    @property
    def machine_size(self) -> int | None:
        """Number of processors: ``MaxProcs``, else ``MaxNodes``, else ``None``."""
        matches = (_SIZE.match(self.get(key) or "") for key in ("MaxProcs", "MaxNodes"))
        sizes = (int(match[1].replace(",", "")) for match in matches if match)
        return next((size for size in sizes if size > 0), None)


def parse(lines: Iterable[str]) -> SwfLog:
    """Read a log from its lines, one at a time, with or without line ends.

    Raises
    ------
    InvalidInstanceError
        With the line and field of every fault, up to `MOST_FAULTS`; or if nothing is there.

    Examples
    --------
    >>> log = parse(["; MaxProcs: 128", "1 0 -1 12.5 4 -1 -1 8 -1 -1 1 3 1 -1 -1 -1 -1 -1"])
    >>> log.machine_size, log.jobs[0].run_time, log.jobs[0].processors, log.jobs[0].wait
    (128, 12.5, 4, None)
    >>> parse(["1 0 -1 long 4 -1 -1 8 -1 -1 1 3 1 -1 -1 -1 -1 -1"])
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: line 1, field 4 (run time): must be a number, got 'long'
    """
    reader = _LogReader()
    for n, line in enumerate(lines, 1):
        reader.take(n, line)
        if len(reader.faults) >= MOST_FAULTS:
            break
    if not (reader.faults or reader.header or reader.jobs):
        reader.faults.append(Fault("", MISSING, "must hold a job or a header line"))
    if reader.faults:
        raise InvalidInstanceError(reader.faults[:MOST_FAULTS])
    return SwfLog(tuple(reader.header), tuple(reader.jobs))


def read(path: str | os.PathLike[str]) -> SwfLog:
    """Read a log from a file: plain or gzip by its first bytes, UTF-8 or else Latin-1.

    It is read line by line. A line of more than `LONGEST_LINE` bytes, or a log of more than
    `MOST_BYTES` once it is unpacked or `MOST_LINES`, is taken for a mistake.

    Raises
    ------
    InvalidInstanceError
        If the file cannot be read, or as `parse` does; it names the file.
    """
    try:
        with open_input(path) as raw:
            zipped = raw.peek(2)[:2] == b"\x1f\x8b"
            return parse(map(_decode, _bounded(gzip.GzipFile(fileobj=raw) if zipped else raw)))
    except (OSError, EOFError, zlib.error, ValueError) as error:  # ValueError: not even a path
        raise _invalid(error, "must be a readable file", path) from None


def _bounded(file: gzip.GzipFile | BufferedReader) -> Iterator[bytes]:
    """Yield the lines of a file with limits on their length and number, so that memory suffices."""
    total = 0
    for n in count(1):
        line = file.readline(LONGEST_LINE + 1)
        total += len(line)
        if not line:
            return
        if len(line) > LONGEST_LINE:
            rule = f"a line must have at most {LONGEST_LINE:,} bytes"
            raise InvalidInstanceError([Fault(f"line {n}", MISSING, rule)])
        if total > MOST_BYTES or n > MOST_LINES:
            most = f"{MOST_BYTES:,} bytes unpacked" if n <= MOST_LINES else f"{MOST_LINES:,} lines"
            rule = f"is too large: more than {most}"
            raise InvalidInstanceError([Fault("", MISSING, rule)])
        yield line


def write(log: SwfLog, path: str | os.PathLike[str]) -> None:
    """Write a log, whole or not at all, so that `read` gives an equal one; gzip if named ``.gz``.

    Raises
    ------
    InvalidInstanceError
        If the format cannot say what the log holds: a negative number, a key of two words.
    NotApplicableError
        If the file cannot be written.
    """
    try:
        lines = [f"; {key}: " + value.replace("\n", "\n;       ") for key, value in log.header]
        for job in log.jobs:
            lines.append(" ".join(["-1" if x is None else str(x) for x in _values(job)]))
        text = "\n".join(lines) + "\n"
        data = text.encode()
        if faults := tuple(_differences(log, parse(text.split("\n")))):
            raise InvalidInstanceError(faults)
    except ValueError as error:  # a lone surrogate, or an integer of thousands of digits
        raise _invalid(error, "must be text", path) from None
    if os.fspath(path).endswith(".gz"):
        data = gzip.compress(data, 6, mtime=0)  # no date: equal logs give equal files
    with replacing(path) as file:
        file.write(data)


class _LogReader:
    def __init__(self) -> None:
        self.header: list[tuple[str, str]] = []
        self.jobs: list[SwfJob] = []
        self.faults: list[Fault] = []
        self.lines: dict[int, int] = {}  # of the jobs by number
        self.indent: int | None = None  # of the header line above, which may run on

    def take(self, n: int, line: str) -> None:
        if "\0" in line:
            raise InvalidInstanceError([*self.faults, Fault(f"line {n}", MISSING, "must be text")])
        text = line.lstrip("\ufeff").strip()
        if text.startswith(";"):
            self.comment(text[1:])
            return
        self.indent = None
        if text:
            self.job(n, text.split())

    def comment(self, body: str) -> None:
        text = body.lstrip()
        indent = len(body[: len(body) - len(text)].expandtabs())
        runs_on = self.indent is not None and indent > self.indent
        match = _KEY.match(text)
        # notes are prose and may hold a colon; other keys may only be indented unevenly
        if match and not (runs_on and self.header[-1][0].lower() == "note"):
            self.header.append((match[1], match[2]))
            self.indent = indent
        elif runs_on and text:
            key, value = self.header[-1]
            self.header[-1] = (key, f"{value}\n{text}" if value else text)
        else:
            self.indent = None

    def job(self, n: int, texts: list[str]) -> None:
        if len(texts) != len(_FIELDS):
            k = min(len(texts), len(_FIELDS))
            self.fault(n, k, (*texts, MISSING)[k], f"a job has 18 fields, not {len(texts)}")
            return
        before = len(self.faults)
        try:
            values: list[Any] = list(map(_number, texts, _REALS))
        except ValueError:
            values = [self.value(n, k, text) for k, text in enumerate(texts)]
        number, submit, status = values[0], values[1], values[10]
        if number is None:
            self.fault(n, 0, texts[0], "must be known")
        # bursts share a number, and all but the first lack a submit time
        if status not in _BURSTS and status is not MISSING:
            if submit is None:
                self.fault(n, 1, texts[1], "must be known")
            if isinstance(number, int) and (first := self.lines.setdefault(number, n)) != n:
                self.fault(n, 0, texts[0], f"must be unique, and line {first} has it")
        if len(self.faults) == before:
            self.jobs.append(SwfJob(*values))

    def value(self, n: int, k: int, text: str) -> Any:
        try:
            return _number(text, _REALS[k])
        except ValueError as error:
            self.fault(n, k, text, str(error))
            return MISSING

    def fault(self, n: int, k: int, value: object, rule: str) -> None:
        name = (*_FIELDS, "surplus")[k].replace("_", " ")
        self.faults.append(Fault(f"line {n}, field {k + 1} ({name})", value, rule))


@lru_cache(4096)  # most texts come again
def _number(text: str, real: bool) -> float | None:
    """Return the value of a field, ``None`` for -1; a `ValueError` tells the rule it breaks."""
    if len(text) <= 18 and text.isascii() and text.isdigit():
        return int(text)
    if not _NUMBER.fullmatch(text):
        raise ValueError("must be a number")
    number = float(text)
    if number < 0 and number != -1:
        raise ValueError("must not be negative, save -1 for unknown")
    if number >= 1e18:
        raise ValueError("must be less than 10^18")
    # beyond 2^53 a float may not be the number that the file shows
    if not real and not (number.is_integer() and number <= 2**53):
        raise ValueError("must be an integer")
    return None if number == -1 else number if real else int(number)


def _invalid(error: Exception, rule: str, path: str | os.PathLike[str]) -> InvalidInstanceError:
    if isinstance(error, InvalidInstanceError):
        return error.within(os.fspath(path))
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return InvalidInstanceError([Fault("", MISSING, f"{rule}: {reason}")], os.fspath(path))


def _decode(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _differences(log: SwfLog, other: SwfLog) -> Iterator[Fault]:
    for name in ("header", "jobs"):
        for i, (ours, read) in enumerate(zip_longest(getattr(log, name), getattr(other, name))):
            if ours != read:
                yield Fault(f"{name}[{i}]", ours, f"would be read back as {read}")
