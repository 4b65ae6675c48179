"""The records of which snapshots of engines consist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import MinLen

from dlopt.heuristics.coreservation.engine_state import Ending
from dlopt.problems.coreservation.data import (
    Change,
    Holding,
    Index,
    Machine,
    Request,
    Share,
)
from dlopt.problems.validated_record import Items, NonNegative, Positive, Record


@dataclass(frozen=True, slots=True)
class SavedRequest(Record):
    """A request as it was submitted, the decision on it, and its end if that is another now."""

    request: Request
    accepted: bool
    at: NonNegative
    reason: str | None = None
    end: NonNegative | None = None


@dataclass(frozen=True, slots=True)
class SavedWithdrawal(Record):
    """A promise that was cancelled or broken, and the end that it had."""

    request: str
    end: NonNegative
    ending: Ending


@dataclass(frozen=True, slots=True)
class SavedForecast(Record):
    """A request of the forecast; its steps are pairs of density and amount."""

    at: NonNegative
    lead: NonNegative
    length: NonNegative
    least: NonNegative
    steps: Items[tuple[Positive, Positive]]


@dataclass(frozen=True, slots=True)
class Snapshot(Record):
    """The state of an engine.

    Parameters
    ----------
    algorithm, order, allocation, trim, exact_numbers
        As `dlopt.CoReservation` takes them.
    now : Number
    machines : tuple of Machine
        With those that failed or were removed.
    failed, removed : tuple of int
        Their numbers.
    holdings : tuple of Holding
    requests : tuple of SavedRequest
        In the order of their decisions.
    shares : tuple of Share
    changes : tuple of Change
        How the shares were made, step by step.
    revised : tuple of str
        Requests of which shares were changed or released on the way.
    withdrawn : tuple of SavedWithdrawal
    forecast : tuple of SavedForecast
        What bid prices were computed from, of an algorithm that has them.
    """

    algorithm: str
    order: str
    allocation: str
    trim: bool
    exact_numbers: bool
    now: NonNegative
    machines: Annotated[tuple[Machine, ...], MinLen(1)]
    failed: tuple[Index, ...]
    removed: tuple[Index, ...]
    holdings: tuple[Holding, ...]
    requests: tuple[SavedRequest, ...]
    shares: tuple[Share, ...]
    changes: tuple[Change, ...]
    revised: tuple[str, ...]
    withdrawn: tuple[SavedWithdrawal, ...]
    forecast: tuple[SavedForecast, ...] = ()
