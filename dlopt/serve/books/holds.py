"""Promises with a time to live, and what the verbs of holds do."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any

from dlopt.books import Consequences
from dlopt.books.snapshots import PlainData
from dlopt.heuristics.coreservation.engine import CoReservation
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.serve.errors import ConflictingStateError, NotFoundError
from dlopt.service_api import book_records
from dlopt.service_api.definitions import Engine

_MIN_EXPIRIES = 64
"""Entries of the queue of expiries from which on those of former holds are removed."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A promise that is taken back when its time to live is over, unless it is confirmed.

    Parameters
    ----------
    kind : {"task", "reservation", "request"}
    id : str
        Identity of what is promised.
    expires_at : float
        Of the wall clock, in seconds.
    ttl_s : float
        Time to live in seconds.
    """

    kind: str
    id: str
    expires_at: float
    ttl_s: float

    @property
    def record(self) -> book_records.Hold:
        """What callers see."""
        return book_records.Hold(self.id, self.expires_at, self.ttl_s)


class Holds:
    """The holds of a book, in the order in which they were made.

    Notes
    -----
    Complexity: O(log n) to add a hold and to find the next one that is due, on average.
    """

    def __init__(self) -> None:
        self._holds: dict[tuple[str, str], Hold] = {}
        self._expiries: list[tuple[float, int, Hold]] = []  # a heap; former holds stay for a while
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self._holds)

    def __iter__(self) -> Iterator[Hold]:
        return iter(self._holds.values())

    def get(self, kind: str, identity: str) -> Hold | None:
        """Return the hold of a promise; None if there is none."""
        return self._holds.get((kind, identity))

    def add(self, hold: Hold) -> None:
        """Add a hold."""
        self._holds[hold.kind, hold.id] = hold
        heappush(self._expiries, (hold.expires_at, next(self._numbers), hold))
        if len(self._expiries) > max(_MIN_EXPIRIES, 2 * len(self)):
            self._expiries = [entry for entry in self._expiries if self._is_present(entry[2])]
            heapify(self._expiries)

    def find(self, identity: str, kind: str | None) -> Hold:
        """Return the hold with an identity, of a kind if one is given.

        Raises
        ------
        NotFoundError
            If there is none.
        ConflictingStateError
            If there are two, of a task and of a reservation.
        """
        kinds = ("task", "reservation", "request") if kind is None else (kind,)
        found = [hold for one in kinds if (hold := self._holds.get((one, identity)))]
        if not found:
            raise NotFoundError(f"there is no hold {identity}; it may have expired")
        if len(found) > 1:
            raise ConflictingStateError(
                f"a task and a reservation named {identity} have holds: kind is needed"
            )
        return found[0]

    def remove(self, hold: Hold) -> None:
        """Remove a hold."""
        del self._holds[hold.kind, hold.id]

    def due(self, time: float) -> list[Hold]:
        """Return the holds whose time to live is over, the earliest first; each only once."""
        found = []
        while self._expiries and self._expiries[0][0] <= time:
            *_, hold = heappop(self._expiries)
            if self._is_present(hold):
                found.append(hold)
        return found

    def _is_present(self, hold: Hold) -> bool:
        return self._holds.get((hold.kind, hold.id)) is hold

    def to_data(self) -> list[PlainData]:
        """Return the holds as plain data."""
        return list(map(asdict, self))

    @classmethod
    def from_data(cls, data: Iterable[Mapping[str, Any]]) -> Holds:
        """Return the holds of plain data."""
        holds = cls()
        for one in data:
            holds.add(Hold(**one))
        return holds


@dataclass(slots=True)
class BookState:
    """An engine with the holds on what it promised, and the time of a call.

    Parameters
    ----------
    engine : Admission, MultiStage or CoReservation
    holds : Holds
    time : float
        Of the wall clock, in seconds.
    """

    engine: Engine
    holds: Holds = field(default_factory=Holds)
    time: float = 0.0

    @property
    def promise_count(self) -> int:
        """How many promises there are."""
        return sum(map(len, self._promised().values()))

    def is_promised(self, kind: str, identity: str) -> bool:
        """Tell whether something is promised."""
        return identity in self._promised()[kind]

    def _promised(self) -> Mapping[str, Collection[str]]:
        """Return the identities of what is promised, by kind, without looking at each."""
        engine = self.engine
        if isinstance(engine, CoReservation):
            return {"request": engine.promised_requests}
        if isinstance(engine, MultiStage):
            return {"task": engine.promised_tasks, "reservation": engine.promised_reservations}
        return {"task": engine.promised_tasks}

    def forget_broken_holds(self) -> None:
        """Forget the holds of promises that are no longer there."""
        for hold in list(self.holds):
            if not self.is_promised(hold.kind, hold.id):
                self.holds.remove(hold)

    def cancel(self, kind: str | None, identity: str) -> Consequences:
        """Take back a promise, of a kind if one is given."""
        if isinstance(self.engine, MultiStage):
            return self.engine.cancel(identity, kind=kind)  # type: ignore[arg-type]
        return self.engine.cancel(identity)
