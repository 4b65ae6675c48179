"""What the snapshots of all books have in common: a header, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

from dlopt.arithmetic import Number, to_json
from dlopt.errors import MISSING, Fault, InvalidInstanceError

FORMAT = "dlopt-book"
"""Format of the snapshots of books, which tells them from other files."""
VERSION = 1
"""Version of the snapshots that are written; no other is read."""

Saved = TypeVar("Saved")

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


def read_snapshot(
    snapshot: object,
    problem: str,
    record: Callable[[PlainData], Saved],
    contradictions: Callable[[Saved], Iterable[Fault]],
) -> Saved:
    """Return the record of the snapshot of a book of a problem.

    Parameters
    ----------
    snapshot, problem
    record : callable
        Makes the record of the fields after the header.
    contradictions : callable
        Yields what contradicts itself in the record.

    Raises
    ------
    InvalidInstanceError
        With every fault of its header; else of its fields; else with all contradictions.

    Examples
    --------
    >>> data = {**snapshot_header("admission"), "now": 3}
    >>> read_snapshot(data, "admission", dict, lambda saved: ())
    {'now': 3}
    """
    if not isinstance(snapshot, Mapping):
        raise InvalidInstanceError([Fault("snapshot", snapshot, "must be an object")])
    rules = {
        "format": f"must be {FORMAT!r}",
        "version": f"must be {VERSION}, the only one that is read",
        "problem": f"must be {problem!r}: books of other problems have engines of their own",
    }
    fields, faults = dict(snapshot), []
    for name, value in snapshot_header(problem).items():
        given = fields.pop(name, MISSING)
        if type(given) is not type(value) or given != value:
            faults.append(Fault(name, given, rules[name]))
    if faults:
        raise InvalidInstanceError(faults)
    saved = record(fields)
    faults = list(contradictions(saved))
    if faults:
        raise InvalidInstanceError(faults)
    return saved


def plain_number(number: Number) -> int | float | str:
    """Return a number as JSON says it; most are no fractions."""
    return number if type(number) is float or type(number) is int else to_json(number)
