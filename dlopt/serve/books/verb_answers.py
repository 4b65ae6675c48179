"""What the verbs of a book return, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dlopt import io
from dlopt.books import Archive, Conflict, Consequences, Offer
from dlopt.books.snapshots import PlainData, plain_number
from dlopt.problems.admission.data import Decision as TaskDecision
from dlopt.problems.coreservation.data import Decision as RequestDecision
from dlopt.problems.coreservation.data import Request
from dlopt.problems.multistage.data import Grant, Reservation
from dlopt.problems.validated_record import Record, plain

Decision = TaskDecision | RequestDecision | Grant


def decision_answer(decision: Decision) -> PlainData:
    """Return a decision, with the reason of a rejection in words."""
    answer = {"decision": decision.to_data()}
    return answer if decision.accepted else answer | {"reason": decision.reason}


def decisions_answer(decisions: Iterable[Decision]) -> PlainData:
    """Return the decisions on a batch."""
    return {"decisions": [decision.to_data() for decision in decisions]}


def offers_answer(offers: Iterable[Offer[Any]]) -> PlainData:
    """Return counter-offers, each with what to submit to get it."""
    return {
        "offers": [
            {
                "dimension": offer.dimension,
                "value": plain_number(offer.value),
                "submission": submission_data(offer.submission),
                "concession": plain_number(offer.concession),
                "least": offer.least,
            }
            for offer in offers
        ]
    }


def submission_data(submission: Record) -> PlainData:
    """Return a submission under the name of its kind."""
    return {kind_of(submission): submission.to_data()}


def kind_of(submission: Record) -> str:
    """Return the name of the kind of a submission.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> kind_of(Task("a", arrival=0, load=1, deadline=2))
    'task'
    """
    if isinstance(submission, Request):
        return "request"
    return "reservation" if isinstance(submission, Reservation) else "task"


def conflict_answer(conflict: Conflict | None) -> PlainData:
    """Return what stands in the way of a submission."""
    if conflict is None:
        return {"conflict": None}
    parts = [{"kind": part.kind, "id": part.id} for part in conflict.parts]
    return {
        "conflict": {
            "parts": parts,
            "reason": conflict.reason,
            "irreducible": conflict.irreducible,
        }
    }


def consequences_answer(done: Consequences) -> PlainData:
    """Return which promises were broken or moved."""
    broken, moved = list(done.broken), list(done.moved)
    return {"consequences": {"broken": broken, "moved": moved, "least": done.least}}


def archive_answer(archive: Archive[Any, Any]) -> PlainData:
    """Return what is over; of reservations also their grants and what they were."""
    answer: PlainData = {
        "until": plain_number(archive.until),
        "decisions": [decision.to_data() for decision in archive.decisions],
        "allocations": [allocation.to_data() for allocation in archive.allocations],
    }
    for name in ("grants", "reservations"):
        if hasattr(archive, name):
            answer[name] = plain(getattr(archive, name))
    return answer


def plan_answer(plan: Record) -> PlainData:
    """Return a plan as result files have it."""
    return {"plan": plan.to_data()}


def state_answer(state: Any) -> PlainData:
    """Return an instance with its plan, and which nodes of the book its nodes are."""
    if state is None:
        return {"state": None}
    answer = {"instance": io.instance_to_data(state.instance), "plan": state.plan.to_data()}
    if hasattr(state, "nodes"):
        answer["nodes"] = list(state.nodes)
    return {"state": answer}
