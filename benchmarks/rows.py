"""Rows of a benchmark in a file, so that interrupted runs resume: `dlopt.journal` for benchmarks.

A row is a line of JSON. It begins with its kind and the version of its format: a file of another
kind is refused and left unchanged. Only one run at a time may write to a file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from dlopt.errors import Fault, InvalidInstanceError
from dlopt.journal import Journal, RowFormat, read_rows

R = TypeVar("R")


class Rows(Generic[R]):
    """Rows by their key, in a file if there is one.

    Parameters
    ----------
    form : RowFormat
    journal : Journal, optional
        The file, open for more.
    """

    def __init__(self, form: RowFormat[R], journal: Journal[R] | None = None) -> None:
        self._form, self._journal = form, journal
        self.by_key: dict[Hashable, R] = {} if journal is None else dict(journal.rows)

    def add(self, row: R) -> None:
        """Add a row; it is in the file when this returns."""
        if self._journal is not None:
            self._journal.append(row)
        self.by_key[self._form.key(row)] = row

    def __iter__(self) -> Iterator[R]:
        return iter(self.by_key.values())


@contextlib.contextmanager
def kept(path: Path | None, form: RowFormat[R]) -> Iterator[Rows[R]]:
    """Open a file of rows for more, or none.

    Raises
    ------
    InvalidInstanceError
        If the file is of another kind.
    NotApplicableError
        If it cannot be written, or another run writes to it.
    """
    if path is None:
        yield Rows(form)
    else:
        with Journal(path, form) as journal:
            yield Rows(form, journal)


def stored(path: Path | None, form: RowFormat[R]) -> list[R]:
    """Return the rows of a file, none if there is none."""
    return [] if path is None or not path.exists() else read_rows(path, form)


def form_of(
    kind: str,
    state: Callable[[R], Mapping[str, Any]],
    parse: Callable[[dict[str, Any]], R],
    key: Callable[[R], Hashable],
    version: int = 1,
) -> RowFormat[R]:
    """Return the format of rows that are stated as data.

    Parameters
    ----------
    kind : str
        What a row is, in a word: the first field, whose value is the version.
    state, parse : callable
        Between a row and its other fields. `parse` raises `TypeError`, `ValueError` or `KeyError`
        if they are not those of a row.
    key : callable
        Of two rows with the same key the later counts.
    version : int, default 1
    """

    def line(row: R) -> bytes:
        return (json.dumps({kind: version, **state(row)}) + "\n").encode()

    def row(line: bytes) -> R:
        try:
            data = json.loads(line)
            if data.pop(kind) != version:
                raise ValueError
            return parse(data)
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
            text = line[:60].decode("utf-8", "replace").strip()
            fault = Fault("", text, f"must be a row of a {kind}, version {version}")
            raise InvalidInstanceError([fault]) from error

    return RowFormat(f'{{"{kind}": {version}, '.encode(), row, line, key)


def records(kind: str, record: type[R], key: Callable[[R], Hashable]) -> RowFormat[R]:
    """Return the format of rows that are records of plain values.

    Parameters
    ----------
    kind : str
    record : type
        A dataclass.
    key : callable
    """
    names = [field.name for field in dataclasses.fields(record)]  # type: ignore[arg-type]

    def state(row: R) -> dict[str, Any]:
        return {name: getattr(row, name) for name in names}

    return form_of(kind, state, lambda data: record(**data), key)


def plain(kind: str, *names: str) -> RowFormat[dict[str, Any]]:
    """Return the format of rows that are dictionaries.

    Parameters
    ----------
    kind : str
    *names : str
        The fields that say what a row is about; without, no two rows are about the same.
    """

    def key(row: dict[str, Any]) -> Hashable:
        if names:
            return tuple(row[name] for name in names)
        return json.dumps(row, sort_keys=True)

    def parse(data: dict[str, Any]) -> dict[str, Any]:
        key(data)
        return data

    return form_of(kind, lambda row: row, parse, key)
