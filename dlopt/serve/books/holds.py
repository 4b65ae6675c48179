"""Promises with a time to live, and what the verbs of holds do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dlopt.books.snapshots import PlainData
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.problems.admission.data import Decision
from dlopt.serve.errors import ConflictingStateError, NotFoundError
from dlopt.service_api.definitions import Engine


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

    def to_data(self) -> PlainData:
        """Return what callers see."""
        return {"id": self.id, "expires_at": self.expires_at, "ttl_s": self.ttl_s}


class Holds:
    """The holds of a book, in the order in which they were made."""

    def __init__(self) -> None:
        self._holds: dict[tuple[str, str], Hold] = {}

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
        """Return the holds whose time to live is over, the earliest first."""
        found = [hold for hold in self if hold.expires_at <= time]
        return sorted(found, key=lambda hold: hold.expires_at)

    def keep(self, promised: Iterable[tuple[str, str]]) -> None:
        """Forget the holds of all promises but some."""
        kept = set(promised)
        self._holds = {key: hold for key, hold in self._holds.items() if key in kept}

    def to_data(self) -> list[PlainData]:
        """Return the holds as plain data."""
        return [{"kind": hold.kind, **hold.to_data()} for hold in self]

    @classmethod
    def from_data(cls, data: Iterable[Mapping[str, Any]]) -> Holds:
        """Return the holds of plain data."""
        holds = cls()
        for one in data:
            holds.add(Hold(**one))
        return holds


@dataclass(slots=True)
class PromiseBook:
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

    def promised(self) -> Iterator[tuple[str, str]]:
        """Yield kind and identity of everything that is promised."""
        engine = self.engine
        for decision in engine.decisions:
            if decision.accepted:
                if isinstance(decision, Decision):
                    yield "task", decision.task
                else:
                    yield "request", decision.request
        if isinstance(engine, MultiStage):
            for grant in engine.grants:
                if grant.accepted:
                    yield "reservation", grant.reservation

    def is_promised(self, kind: str, identity: str) -> bool:
        """Tell whether something is promised."""
        return any(one == (kind, identity) for one in self.promised())

    def forget_broken_holds(self) -> None:
        """Forget the holds of promises that are no longer there."""
        if len(self.holds):
            self.holds.keep(self.promised())

    def take_back(self, hold: Hold) -> None:
        """Take back a promise that has a hold."""
        if isinstance(self.engine, MultiStage):
            self.engine.cancel(hold.id, kind=hold.kind)  # type: ignore[arg-type]
        else:
            self.engine.cancel(hold.id)
        self.holds.remove(hold)
