"""ETC matrices (expected times to compute), in the format of the HCSP instances of Braun et al.

A file is text: a line ``tasks machines`` or ``tasks machines 0``, then the times, task by task:
each has one number for every machine. Line breaks between numbers have no meaning; most files have
one number per line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dlopt.arithmetic import Number, is_finite, parse, simplest
from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.json_files import load_text

MOST_FAULTS = 100
"""Reading stops after so many faults: a file of another format has a fault on every line."""
MOST_TIMES = 100_000_000
"""Larger matrices are considered a mistake."""


@dataclass(frozen=True, slots=True)
class EtcMatrix:
    """Execution time of each task on each machine.

    Parameters
    ----------
    name : str
    times : tuple of tuple of Number, shape (tasks, machines)
        Positive.
    """

    name: str
    times: tuple[tuple[Number, ...], ...]


def parse_etc(lines: Iterable[str], *, name: str = "", exact_numbers: bool = False) -> EtcMatrix:
    """Read a matrix from the lines of a file.

    Parameters
    ----------
    lines : iterable of str
    name : str, optional
    exact_numbers : bool, default False
        Read decimals as the rationals that they spell; else they are floats.

    Raises
    ------
    InvalidInstanceError
        With the line of every fault, up to `MOST_FAULTS`.

    Examples
    --------
    >>> parse_etc(["2 3 0", "1 2 3", "1.5", "2.5 3.5"]).times
    ((1, 2, 3), (1.5, 2.5, 3.5))
    >>> parse_etc(["2 1", "4"])
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: line 2: must be followed by 1 more time of 2; the file ends
    """
    rows = ((number, line.split()) for number, line in enumerate(lines, 1) if line.strip())
    tasks, machines = _shape(next(rows, (0, [])))
    reader = _TimesReader(tasks * machines, exact_numbers)
    times = list(reader.times(rows))
    if reader.faults:
        raise InvalidInstanceError(reader.faults)
    return EtcMatrix(
        name, tuple(tuple(times[k : k + machines]) for k in range(0, tasks * machines, machines))
    )


def read(path: str | os.PathLike[str], *, exact_numbers: bool = False) -> EtcMatrix:
    """Read a matrix from a file; it is named as the file is.

    Raises
    ------
    InvalidInstanceError
        If the file cannot be read, or holds no such matrix; it names the file.
    """
    source = os.fspath(path)
    lines = load_text(path, "text").splitlines()
    try:
        return parse_etc(lines, name=Path(path).name, exact_numbers=exact_numbers)
    except InvalidInstanceError as error:
        raise error.within(source) from None


def _shape(first: tuple[int, list[str]]) -> tuple[int, int]:
    """Return the numbers of tasks and machines, without which nothing can be read."""
    number, words = first
    rule = "must hold the numbers of tasks and machines, and no more but a 0"
    if not words:
        raise InvalidInstanceError([Fault("", MISSING, f"{rule}; the file is empty")])
    counts = [int(word) for word in words if word.isascii() and word.isdigit() and len(word) < 10]
    if len(counts) < len(words) or len(words) not in (2, 3) or counts[2:] not in ([], [0]):
        raise InvalidInstanceError([Fault(f"line {number}", " ".join(words), rule)])
    if not 1 <= counts[0] * counts[1] <= MOST_TIMES:
        rule = f"must tell of 1 to {MOST_TIMES} times"
        raise InvalidInstanceError([Fault(f"line {number}", " ".join(words), rule)])
    return counts[0], counts[1]


class _TimesReader:
    """Reads a given number of times, and records the faults."""

    def __init__(self, count: int, exact_numbers: bool) -> None:
        self.count = count
        self.exact_numbers = exact_numbers
        self.faults: list[Fault] = []

    def times(self, rows: Iterable[tuple[int, list[str]]]) -> Iterator[Number]:
        """Yield the times; wrong, missing and surplus ones are faults."""
        found, line = 0, 1
        for number, words in rows:
            line = number
            for word in words:
                found += 1
                if found > self.count:
                    rule = f"must not follow: all {self.count} times have been given"
                    self.faults.append(Fault(f"line {line}", word, rule))
                    return
                yield self._time(word, line)
            if len(self.faults) >= MOST_FAULTS:
                return
        missing = self.count - found
        if missing:
            times = "time" if missing == 1 else "times"
            rule = f"must be followed by {missing} more {times} of {self.count}; the file ends"
            self.faults.append(Fault(f"line {line}", MISSING, rule))

    def _time(self, word: str, line: int) -> Number:
        time: Number = 0
        try:
            time = simplest(parse(word))
        except ValueError:
            self.faults.append(Fault(f"line {line}", word, "a time must be a number"))
            return 1
        if time <= 0 or not is_finite(time):
            self.faults.append(Fault(f"line {line}", word, "a time must be positive and finite"))
            return 1
        if self.exact_numbers or word.isdigit():
            return time
        return float(time)
