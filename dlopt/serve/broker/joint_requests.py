"""What a broker is asked for, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge, Le, MinLen

from dlopt.arithmetic import Number, is_less, shown
from dlopt.errors import Fault
from dlopt.problems.cluster import MAX_NODES
from dlopt.problems.coreservation.data import Part
from dlopt.problems.validated_record import NonNegative, Positive, Record


@dataclass(frozen=True, slots=True)
class UnplacedRequest(Record):
    """A request for CPU shares without its window; see `dlopt.problems.coreservation.Request`."""

    priority: Positive
    parts: Annotated[tuple[Part, ...], MinLen(1)]


@dataclass(frozen=True, slots=True)
class UnplacedReservation(Record):
    """A reservation of nodes without its window; see `dlopt.problems.multistage.Reservation`."""

    nodes: Annotated[int, Ge(1), Le(MAX_NODES)] | tuple[Annotated[int, Ge(0)], ...] = 1
    io_ratio: Annotated[Number, Ge(0), Le(1)] | None = None


@dataclass(frozen=True, slots=True)
class Alternative(Record):
    """A domain that may serve a part, and what it is asked for.

    Parameters
    ----------
    domain : str
    request : UnplacedRequest, optional
        Of a domain with CPU shares.
    reservation : UnplacedReservation, optional
        Of a domain with nodes.
    """

    domain: str
    request: UnplacedRequest | None = None
    reservation: UnplacedReservation | None = None

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield a fault unless one of the two is given."""
        kinds = [known[name] for name in ("request", "reservation") if name in known]
        if len(kinds) == 2 and (kinds[0] is None) == (kinds[1] is None):
            yield Fault("request", kinds[0], "must be given, or else reservation, and not both")

    def submission(self, **window: object) -> dict[str, object]:
        """Return what is submitted for a window, as the body of a request says it."""
        kind, unplaced = ("reservation", self.reservation)
        if self.request is not None:
            kind, unplaced = "request", self.request  # type: ignore[assignment]
        assert unplaced is not None
        return {kind: {**window, **unplaced.to_data()}}


@dataclass(frozen=True, slots=True)
class JointPart(Record):
    """A part of a joint request: the first of its alternatives that is possible is taken."""

    alternatives: Annotated[tuple[Alternative, ...], MinLen(1)]


@dataclass(frozen=True, slots=True)
class JointRequest(Record):
    """A request for resources of several domains in the same window.

    Parameters
    ----------
    id : str
        The same content under the same identity gets the same answer.
    start, end : Number
        The window ``[start, end)`` that is asked for.
    parts : tuple of JointPart
        All of them or none, each at another domain.
    latest_start : Number, optional
        The window may begin until then, with the same length; by default not later than `start`.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> half = UnplacedRequest(priority=1, parts=(Part(50),))
    >>> parts = tuple(JointPart((Alternative(name, half),)) for name in ("north", "south"))
    >>> JointRequest("r", start=5, end=15, latest_start=40, parts=parts).latest
    40
    """

    id: str
    start: NonNegative
    end: NonNegative
    parts: Annotated[tuple[JointPart, ...], MinLen(1)]
    latest_start: NonNegative | None = None

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield an empty name, an empty window, and a latest start before the first."""
        start, end, latest = (known.get(name) for name in ("start", "end", "latest_start"))
        if not known.get("id", "?"):
            yield Fault("id", "", "must not be empty")
        if start is not None and end is not None and not is_less(start, end):
            yield Fault("end", end, f"must lie after the start, {shown(start, 15)}")
        if start is not None and latest is not None and is_less(latest, start):
            rule = f"must not lie before the start, {shown(start, 15)}"
            yield Fault("latest_start", latest, rule)

    @property
    def latest(self) -> Number:
        """The latest start."""
        return self.start if self.latest_start is None else self.latest_start


@dataclass(frozen=True, slots=True)
class Promise(Record):
    """What a domain promised: its identity there."""

    domain: str
    id: str


@dataclass(frozen=True, slots=True)
class JointDecision(Record):
    """The answer of a broker.

    Parameters
    ----------
    request : str
    accepted : bool
    start, end : Number, optional
        The window, if it was accepted.
    promises : tuple of Promise
        One a part, if it was accepted.
    reason : str, optional
        Why it was rejected.
    unresolved : tuple of str
        Domains that have not answered yet that their part is cancelled.
    """

    request: str
    accepted: bool
    start: Number | None = None
    end: Number | None = None
    promises: tuple[Promise, ...] = ()
    reason: str | None = None
    unresolved: tuple[str, ...] = ()
