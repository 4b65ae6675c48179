"""Records are read as they are written; fields of newer services are passed over."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dlopt import Admission, CoReservation, MultiStage
from dlopt.books import Offer
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Machine, Part, Request
from dlopt.problems.multistage import Reservation
from dlopt.service_api import book_records
from dlopt.service_api.json_data import plain_data, read_record

TASK = Task("a", arrival=0, load=Fraction(25, 3), deadline=30)
RESERVATION = Reservation("a", 0, 16, 24, nodes=3)
REQUEST = Request("a", 0, 5, 15, 1, (Part(60), Part(40)))
CLUSTER = Cluster(4, tau=1, chi=Fraction(10, 3))
MACHINES = [Machine("m", 70), Machine("n", 50)]
SUBMITTED = [
    (Admission, CLUSTER, TASK),
    (MultiStage, CLUSTER, TASK),
    (MultiStage, CLUSTER, RESERVATION),
    (CoReservation, MACHINES, REQUEST),
]


def with_unknown_fields(data: Any) -> Any:
    """Return data with one more field in each object that a record is read from."""
    if isinstance(data, list):
        return [with_unknown_fields(entry) for entry in data]
    if not isinstance(data, dict):
        return data
    changed = {name: with_unknown_fields(value) for name, value in data.items()}
    return changed if "version" in data else changed | {"newer": {"a": 1}}


@pytest.mark.parametrize(("engine", "resources", "submitted"), SUBMITTED)
def test_answers_are_read_as_they_are_written(engine: Any, resources: Any, submitted: Any) -> None:
    book = engine(resources)
    batch = isinstance(submitted, Request)
    enter = book.reserve if isinstance(submitted, Reservation) else book.submit
    found = enter([submitted])[0] if batch else enter(submitted)
    offer = Offer("load", Fraction(1, 2), submitted, 0.5, True)
    book.advance(20)
    for answer in (
        book_records.DecisionAnswer.of(found),
        book_records.DecisionAnswer(decisions=(found, found)),
        book_records.OffersAnswer((book_records.OfferAnswer.of(offer),)),
        book_records.PlanAnswer(book.plan()),
        book_records.ArchiveAnswer.of(book.archive()),
    ):
        data = plain_data(answer)
        assert read_record(type(answer), data) == answer
        assert read_record(type(answer), with_unknown_fields(data)) == answer
    assert book_records.OfferAnswer.of(offer).offer == offer


@pytest.mark.parametrize(("engine", "resources", "submitted"), SUBMITTED)
def test_what_is_alive_is_read_as_it_is_written(
    engine: Any, resources: Any, submitted: Any
) -> None:
    book = engine(resources)
    book.submit([submitted] if isinstance(submitted, Request) else TASK)
    state = book_records.StateAnswer(book_records.State(**book.state()._asdict()))
    data = plain_data(state)
    assert read_record(book_records.StateAnswer, data) == state
    assert read_record(book_records.StateAnswer, {"state": None}).state is None


@pytest.mark.parametrize("data", [{}, plain_data({"task": TASK, "reservation": RESERVATION})])
def test_a_submission_has_exactly_one_content(data: Any) -> None:
    with pytest.raises(ValueError, match="exactly one of task, reservation and request"):
        read_record(book_records.Submission, data)
