"""Bin packing: the files of the OR-Library, of BPPLIB, and of temporal bin packing.

All are text, a few numbers a line; blank lines are skipped.

`orlib`
    The number of problems; then of each its name, a line ``capacity items best-known``, and a
    line per size. Some sizes have a decimal, which is read as the rational that it spells.
    https://people.brunel.ac.uk/~mastjjb/jeb/orlib/binpackinfo.html
`bpplib`
    The number of items, the capacity, and a line per size.
    https://site.unibo.it/operations-research/en/research/bpplib-a-bin-packing-problem-library
`temporal`
    A line ``items capacity 0 0``, and a line ``index start end size`` per item, which is there in
    ``[start, end)`` only. https://github.com/wotzlaff/tbpp-instances

Vector packing (.vbp) has no reader: an item of several sizes that must all be in one bin is no
problem of dlopt. The parts of a request for CPU shares may be on different machines.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NoReturn

from dlopt.arithmetic import Number, parse, shown, simplest
from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.json_files import load_text

MOST_FAULTS = 100
"""Reading stops after so many faults: a file of another format has a fault on every line."""
MOST_ITEMS = 1_000_000
"""Larger counts are considered a mistake."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a bin packing problem.

    Parameters
    ----------
    id : str
        Unique in its problem: its index in the file, from 0.
    size : int or Fraction
        Positive, at most the capacity.
    start, end : int or Fraction, optional
        The item is present in ``[start, end)``; by default always.
    """

    id: str
    size: Number
    start: Number | None = None
    end: Number | None = None


@dataclass(frozen=True, slots=True)
class BinPacking:
    """A bin packing problem: pack the items into as few bins of equal capacity as possible.

    Parameters
    ----------
    name : str
    capacity : int or Fraction
    items : tuple of Item
        At least one, in the order of the file.
    best_known : int, optional
        Number of bins of the best solution known to the file.
    """

    name: str
    capacity: Number
    items: tuple[Item, ...]
    best_known: int | None = None

    @property
    def temporal(self) -> bool:
        """Whether the items have windows of time."""
        return self.items[0].start is not None


def parse_orlib(lines: Iterable[str], *, name: str = "") -> tuple[BinPacking, ...]:
    """Read the problems of an OR-Library file from its lines; their names are in the file.

    Raises
    ------
    InvalidInstanceError
        With the line of every fault, up to `MOST_FAULTS`.

    Examples
    --------
    >>> (one,) = parse_orlib(["1", " t3_00 ", " 10.0 3 1", "3.6", "2.9", "3.5"])
    >>> one.name, one.capacity, one.items[0].size, one.best_known
    ('t3_00', 10, Fraction(18, 5), 1)
    """
    reader = _LineReader(lines)
    (count,) = reader.row("number of problems")
    found = tuple(_orlib_problem(reader) for _ in range(reader.count(count, "problems")))
    reader.end()
    return found


def parse_bpplib(lines: Iterable[str], *, name: str = "") -> tuple[BinPacking, ...]:
    """Read the one problem of a BPPLIB file from its lines.

    Raises
    ------
    InvalidInstanceError
        With the line of every fault, up to `MOST_FAULTS`.

    Examples
    --------
    >>> (one,) = parse_bpplib(["2", "100", "60", "50"], name="two")
    >>> [item.size for item in one.items]
    [60, 50]
    """
    reader = _LineReader(lines)
    (count,) = reader.row("number of items")
    items = reader.count(count, "items")
    (most,) = reader.row("capacity")
    capacity = reader.number(most, "the capacity", positive=True)
    found = (BinPacking(name, capacity, tuple(reader.sizes(items, capacity))),)
    reader.end()
    return found


def parse_temporal(lines: Iterable[str], *, name: str = "") -> tuple[BinPacking, ...]:
    """Read the one problem of a temporal bin packing file from its lines.

    Raises
    ------
    InvalidInstanceError
        With the line of every fault, up to `MOST_FAULTS`.

    Examples
    --------
    >>> (one,) = parse_temporal(["2 100 0 0", "0 5 51 70", "1 6 34 46"])
    >>> one.items[1], one.temporal
    (Item(id='1', size=46, start=6, end=34), True)
    """
    reader = _LineReader(lines)
    count, most, *_ = reader.row("number of items", "capacity", "0", "0")
    total = reader.count(count, "items")
    capacity = reader.number(most, "the capacity", positive=True)
    found = (BinPacking(name, capacity, tuple(_temporal_items(reader, total, capacity))),)
    reader.end()
    return found


FORMATS: Mapping[str, Callable[..., tuple[BinPacking, ...]]] = MappingProxyType(
    {"orlib": parse_orlib, "bpplib": parse_bpplib, "temporal": parse_temporal}
)
"""The formats by name, each with its parser."""


def read(path: str | os.PathLike[str], form: str) -> tuple[BinPacking, ...]:
    """Read the problems of a file; a problem without a name in the file gets that of the file.

    Parameters
    ----------
    path : path-like
    form : str
        One of `FORMATS`.

    Raises
    ------
    InvalidInstanceError
        If the file cannot be read, or has another format; it names the file.
    """
    source = os.fspath(path)
    lines = load_text(path, "text").splitlines()
    try:
        return FORMATS[form](lines, name=os.path.splitext(os.path.basename(source))[0])
    except InvalidInstanceError as error:
        raise error.within(source) from None


class _LineReader:
    """Reads a file line by line; faults after which nothing can be read are raised at once."""

    def __init__(self, lines: Iterable[str]) -> None:
        numbered = enumerate(lines, 1)
        self._rows = ((n, line.split()) for n, line in numbered if line.strip())
        self._line = 0
        self.faults: list[Fault] = []

    def next(self, what: str) -> list[str]:
        """Return the words of the next line that is not blank."""
        found = next(self._rows, None)
        if found is None:
            self.fault(MISSING, f"must be followed by the {what}; the file ends")
            self.fail()
        self._line, words = found
        return words

    def row(self, *names: str) -> list[str]:
        """Return the words of a line that has one for each name."""
        words = self.next(" and the ".join(names))
        if len(words) != len(names):
            self.fault(" ".join(words), f"must hold {' '.join(f'<{name}>' for name in names)}")
            self.fail()
        return words

    def count(self, word: str, what: str) -> int:
        """Return a number of objects; nothing can be read without it."""
        if not (word.isascii() and word.isdigit() and len(word) < 9):
            self.fault(word, f"the number of {what} must be an integer")
            self.fail()
        if not 1 <= int(word) <= MOST_ITEMS:
            self.fault(word, f"the number of {what} must be from 1 to {MOST_ITEMS}")
            self.fail()
        return int(word)

    def number(self, word: str, what: str, *, positive: bool = False) -> Number:
        """Return an exact number, 1 if the word is invalid."""
        try:
            value = simplest(parse(word))
        except ValueError:
            self.fault(word, f"{what} must be a number")
            return 1
        if value < 0 or (positive and value == 0):
            self.fault(word, f"{what} must {'be positive' if positive else 'not be negative'}")
            return 1
        return value

    def size(self, word: str, capacity: Number) -> Number:
        """Return the size of an item, which must fit."""
        size = self.number(word, "a size", positive=True)
        if size > capacity:
            self.fault(word, f"a size must be at most the capacity, {shown(capacity, 15)}")
        return size

    def sizes(self, count: int, capacity: Number) -> Iterator[Item]:
        """Yield the items of the next lines, a size each."""
        for index in range(count):
            (word,) = self.row(f"size of item {index}")
            yield Item(str(index), self.size(word, capacity))

    def fault(self, value: object, rule: str) -> None:
        """Record a fault of this line; stop after too many."""
        self.faults.append(Fault(f"line {self._line}" if self._line else "", value, rule))
        if len(self.faults) >= MOST_FAULTS:
            self.fail()

    def fail(self) -> NoReturn:
        """Raise the recorded faults."""
        raise InvalidInstanceError(self.faults)

    def end(self) -> None:
        """Raise the recorded faults, also if lines are left."""
        left = next(self._rows, None)
        if left is not None:
            self._line, words = left
            self.fault(" ".join(words), "must not follow: all items have been given")
        if self.faults:
            self.fail()


def _orlib_problem(reader: _LineReader) -> BinPacking:
    name = " ".join(reader.next("name of a problem"))
    most, count, best = reader.row("capacity", "number of items", "best known number of bins")
    capacity = reader.number(most, "the capacity", positive=True)
    bins = reader.count(best, "bins")
    return BinPacking(
        name, capacity, tuple(reader.sizes(reader.count(count, "items"), capacity)), bins
    )


def _temporal_items(reader: _LineReader, count: int, capacity: Number) -> Iterator[Item]:
    seen = set()
    for _ in range(count):
        name, start, end, size = reader.row("index", "start", "end", "size")
        if name in seen:
            reader.fault(name, "an index must be given to one item only")
        seen.add(name)
        begin, stop = reader.number(start, "the start"), reader.number(end, "the end")
        if stop <= begin:
            reader.fault(end, f"the end must lie after the start, {shown(begin, 15)}")
        yield Item(name, reader.size(size, capacity), begin, stop)
