"""Names of elements and their indices, and errors that name the element."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from dlopt.errors import Fault, InvalidInstanceError
from dlopt.problems.validated_record import Units

ValueT = TypeVar("ValueT")


@dataclass(kw_only=True)
class Described:
    """A builder of an instance with a name, an origin, and units of its numbers."""

    name: str = field(default="", kw_only=False)
    origin: str = ""
    units: Units | str = ""

    @property
    def unit_record(self) -> Units:
        """The units of the instance; a text is the unit of time."""
        return self.units if isinstance(self.units, Units) else Units(self.units)


@contextlib.contextmanager
def naming(element: str) -> Iterator[None]:
    """Let what is wrong with the fields of an element name the element.

    Examples
    --------
    >>> from dlopt.problems.dag import Machine
    >>> with naming("machine m"):
    ...     Machine("m", power=0)
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: machine m: power: must be positive, got 0
    """
    try:
        yield
    except InvalidInstanceError as error:
        raise error.within(element) from None


class Names:
    """The names of all elements of one kind, in the order in which they were added.

    Parameters
    ----------
    kind : str
        What the elements are, for messages.

    Examples
    --------
    >>> machines = Names("machine")
    >>> machines.add("fast")
    >>> machines.index("fast")
    0
    >>> machines.index("last")
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: machine: is not known; did you mean fast?, got 'last'
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._indices: dict[str, int] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)

    def add(self, name: str) -> None:
        """Add a name.

        Raises
        ------
        InvalidInstanceError
            If it is empty or no text, or was added before.
        """
        if not isinstance(name, str) or not name:
            raise InvalidInstanceError([Fault(self.kind, name, "must have a name")])
        if name in self._indices:
            raise InvalidInstanceError([Fault(self.kind, name, "must be added once")])
        self._indices[name] = len(self._indices)

    def index(self, name: str) -> int:
        """Return the index of a name.

        Raises
        ------
        InvalidInstanceError
            If it was not added.
        """
        found = self._indices.get(name) if isinstance(name, str) else None
        if found is None:
            similar = difflib.get_close_matches(str(name), self._indices, n=1)
            hint = f"; did you mean {similar[0]}?" if similar else ""
            rule = f"is not known{hint}" if isinstance(name, str) else "must be a name, as added"
            raise InvalidInstanceError([Fault(self.kind, name, rule)])
        return found

    def optional_index(self, name: str | None) -> int | None:
        """Return the index of a name, and None for None."""
        return None if name is None else self.index(name)

    def row(self, values: Mapping[str, ValueT]) -> tuple[ValueT | None, ...]:
        """Return values by name in the order of the names; None for each name without a value."""
        found: list[ValueT | None] = [None] * len(self)
        for name, value in values.items():
            found[self.index(name)] = value
        return tuple(found)
