"""Plain data gives the record that its constructor makes, or is refused for the same faults."""

import dataclasses
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Admission, CoReservation, MultiStage
from dlopt.books import Book
from dlopt.books.snapshots import snapshot_header
from dlopt.errors import Fault, InvalidInstanceError
from dlopt.heuristics.admission.saved_records import SavedEstimates, SavedLast
from dlopt.heuristics.admission.saved_records import Snapshot as StreamSnapshot
from dlopt.heuristics.coreservation.saved_records import Snapshot
from dlopt.heuristics.multistage.saved_records import ReservationSnapshot
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Machine
from dlopt.problems.field_checks import LONG
from dlopt.problems.validated_record import Record
from dlopt.simulation.grid.policy import FailureModel, Policy
from tests.problems.test_wrong_values import PARTS, name_of, records_in
from tests.problems.wrong_values import full_data

HEADER = snapshot_header("")
_CLUSTER = Cluster(2, 1, 1)


def read(kind: type[Record], book: Book) -> Record:
    """Return the record of the state of a book."""
    fields = book.snapshot().items()
    return kind.from_data({name: value for name, value in fields if name not in HEADER})


OTHERS: tuple[Record, ...] = (
    read(StreamSnapshot, Admission(_CLUSTER)),
    read(ReservationSnapshot, MultiStage(_CLUSTER)),
    read(Snapshot, CoReservation([Machine("m", 1)])),
    SavedEstimates(1, 2),
    SavedLast(1),
    Policy(),
    FailureModel(),
)
KINDS = {type(part): part for part in (*PARTS, *(r for root in OTHERS for r in records_in(root)))}
VALUES = st.sampled_from((None, 0, 1, -1, 0.5, "", "a", "1/2", True, [], [0], [0, 1], [1, 0], {}))
OMITTED, KEPT = object(), object()
EDITS = st.just(KEPT) | VALUES | st.just(KEPT)
EDITS_OF_OPTIONAL_FIELDS = st.just(KEPT) | VALUES | st.just(OMITTED)


def outcome(make: Any) -> Record | tuple[Fault, ...]:
    """Return a record, or the faults for which there is none."""
    try:
        return make()
    except InvalidInstanceError as error:
        return error.faults


@cache
def outer_record(kind: type[Record]) -> Any:
    """Return a record of records of one kind."""
    return dataclasses.make_dataclass(
        "Outer", [("entries", tuple[kind, ...])], bases=(Record,), frozen=True, slots=True
    )


@pytest.mark.property
@pytest.mark.parametrize("kind", KINDS, ids=name_of)
@given(st.data())
def test_a_record_is_that_of_the_constructor_also_in_another_record(
    kind: type[Record], data: st.DataObject
) -> None:
    given_fields = full_data(KINDS[kind])
    for one in dataclasses.fields(kind):  # type: ignore[arg-type]
        optional = one.default is not dataclasses.MISSING
        edited = data.draw(EDITS_OF_OPTIONAL_FIELDS if optional else EDITS)
        if edited is OMITTED:
            del given_fields[one.name]
        elif edited is not KEPT:
            given_fields[one.name] = edited
    made = outcome(lambda: kind(**given_fields))
    assert outcome(lambda: kind.from_data(given_fields)) == made
    outer = outer_record(kind)
    nested = outcome(lambda: outer.from_data({"entries": [given_fields] * LONG}))
    if isinstance(made, tuple):
        assert nested == tuple(
            dataclasses.replace(fault, path=f"entries[{place}].{fault.path}")
            for place in range(LONG)
            for fault in made
        )
    else:
        assert nested == outer((made,) * LONG)
        for one in dataclasses.fields(kind):  # type: ignore[arg-type]
            assert type(getattr(nested.entries[0], one.name)) is type(getattr(made, one.name))
