"""What the verbs of a book return, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dlopt.books import Archive, Conflict, Consequences, Offer
from dlopt.books.snapshots import PlainData
from dlopt.service_api import book_records
from dlopt.service_api.book_records import Decision, Plan
from dlopt.service_api.json_data import plain_data


def decision_answer(decision: Decision) -> PlainData:
    """Return a decision, with the reason of a rejection in words."""
    return _data(book_records.DecisionAnswer.of(decision))


def decisions_answer(decisions: Iterable[Decision]) -> PlainData:
    """Return the decisions on a batch."""
    return _data(book_records.DecisionAnswer(decisions=tuple(decisions)))


def offers_answer(offers: Iterable[Offer[Any]]) -> PlainData:
    """Return counter-offers, each with what to submit to get it."""
    return _data(book_records.OffersAnswer(tuple(map(book_records.OfferAnswer.of, offers))))


def conflict_answer(conflict: Conflict | None) -> PlainData:
    """Return what stands in the way of a submission."""
    return _data(book_records.ConflictAnswer(conflict))


def consequences_answer(done: Consequences) -> PlainData:
    """Return which promises were broken or moved."""
    return _data(book_records.ConsequencesAnswer(done))


def archive_answer(archive: Archive[Any, Any]) -> PlainData:
    """Return what is over; of reservations also their grants and what they were."""
    return _data(book_records.ArchiveAnswer.of(archive))


def plan_answer(plan: Plan) -> PlainData:
    """Return a plan as result files have it."""
    return _data(book_records.PlanAnswer(plan))


def state_answer(state: Any) -> PlainData:
    """Return an instance with its plan, and which nodes of the book its nodes are."""
    found = None if state is None else book_records.State(**state._asdict())
    return _data(book_records.StateAnswer(found))


def _data(answer: object) -> PlainData:
    data: PlainData = plain_data(answer)
    return data
