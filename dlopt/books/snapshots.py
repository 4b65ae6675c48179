"""What the snapshots of all books begin with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from dlopt.arithmetic import Number, to_json
from dlopt.errors import MISSING, Fault, InvalidInstanceError

FORMAT = "dlopt-book"
"""Format of the snapshots of books, which tells them from other files."""
VERSION = 1
"""Version of the snapshots that are written; no other is read."""

PlainData: TypeAlias = dict[str, Any]
"""Fields with numbers, texts, truth values, lists and further fields, for `json.dumps`."""


def snapshot_header(problem: str) -> PlainData:
    """Return the fields that the snapshot of a book of a problem begins with.

    Examples
    --------
    >>> snapshot_header("admission")
    {'format': 'dlopt-book', 'version': 1, 'problem': 'admission'}
    """
    return {"format": FORMAT, "version": VERSION, "problem": problem}


def check_header(snapshot: object, problem: str) -> None:
    """Raise an error if something is not the snapshot of a book of a problem.

    Raises
    ------
    InvalidInstanceError
        With what is wrong of its header; the rest of it is not examined.

    Examples
    --------
    >>> check_header({"format": "dlopt-book", "version": 2, "problem": "admission"}, "admission")
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: version: must be 1, the only one that is read, got 2
    """
    if not isinstance(snapshot, Mapping):
        raise InvalidInstanceError([Fault("snapshot", snapshot, "must be an object")])
    rules = {
        "format": f"must be {FORMAT!r}",
        "version": f"must be {VERSION}, the only one that is read",
        "problem": f"must be {problem!r}: books of other problems have engines of their own",
    }
    faults = []
    for name, value in snapshot_header(problem).items():
        given = snapshot.get(name, MISSING)
        if type(given) is not type(value) or given != value:
            faults.append(Fault(name, given, rules[name]))
    if faults:
        raise InvalidInstanceError(faults)


def plain_number(number: Number) -> int | float | str:
    """Return a number as JSON says it; most are no fractions."""
    return number if type(number) is float or type(number) is int else to_json(number)
