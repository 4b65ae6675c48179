"""The three engines have the verbs of a book."""

import pytest

import dlopt
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Machine


@pytest.mark.parametrize(
    "engine",
    [
        dlopt.Admission(Cluster(2, tau=1, chi=1)),
        dlopt.MultiStage(Cluster(2, tau=1, chi=1)),
        dlopt.CoReservation([Machine("m", 10)]),
    ],
    ids=lambda engine: type(engine).__name__,
)
def test_each_engine_is_a_book(engine):
    assert isinstance(engine, dlopt.Book)


def test_what_lacks_a_verb_is_no_book():
    assert not isinstance(dlopt.Admission(Cluster(2, tau=1, chi=1)).plan(), dlopt.Book)


@pytest.mark.parametrize(
    ("book", "stem"),
    [
        (dlopt.Admission, "admission"),
        (dlopt.MultiStage, "multistage"),
        (dlopt.CoReservation, "coreservation"),
    ],
)
def test_a_book_starts_from_an_instance_of_its_problem(book, stem):
    for wrong in (None, dlopt.load("iit/three-nodes")):
        with pytest.raises(dlopt.NotApplicableError, match=f"an instance of {stem} is needed, got"):
            book.of(wrong)
