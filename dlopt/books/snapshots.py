"""What the snapshots of all books have in common: a header, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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


def read_snapshot(
    snapshot: object,
    problem: str,
    record: Callable[[PlainData], Saved],
    contradictions: Callable[[Saved], Iterable[Fault]],
) -> Saved:
    """Return the record of the snapshot of a book of a problem.

    Parameters
    ----------
    snapshot : object
    problem : str
    record : callable
        Makes the record of the fields after the header.
    contradictions : callable
        Yields what contradicts itself in the record.

    Raises
    ------
    InvalidInstanceError
        With every fault of its header; else with every fault of its fields; else with every
        contradiction between them.

    Examples
    --------
    >>> data = {**snapshot_header("admission"), "now": 3, "end": 2}
    >>> def contradictions(saved):
    ...     if saved["end"] < saved["now"]:
    ...         yield Fault("end", saved["end"], "must not lie before now")
    >>> read_snapshot(data, "admission", dict, contradictions)
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: end: must not lie before now, got 2
    """
    check_header(snapshot, problem)
    assert isinstance(snapshot, Mapping)
    header = snapshot_header(problem)
    saved = record({name: value for name, value in snapshot.items() if name not in header})
    found = list(contradictions(saved))
    if found:
        raise InvalidInstanceError(found)
    return saved


def repeated(name: str, values: Iterable[str | int], field: str = "") -> Iterator[Fault]:
    """Yield the values of a list, or of a field of its entries, that are given more than once.

    Examples
    --------
    >>> print(*repeated("tasks", ["a", "b", "a"], "id"))
    tasks[2].id: must be given once, got 'a'
    """
    seen: set[str | int] = set()
    for index, value in enumerate(values):
        if value in seen:
            path = f"{name}[{index}].{field}" if field else f"{name}[{index}]"
            yield Fault(path, value, "must be given once")
        seen.add(value)


def plain_number(number: Number) -> int | float | str:
    """Return a number as JSON says it; most are no fractions."""
    return number if type(number) is float or type(number) is int else to_json(number)
