"""Every field of every record, wrong in every way that its annotation excludes.

Each fault is reported with its path, its value and the rule of the annotation, and nothing else is.
That the annotations of instances keep their limits is tested by the shipped schemas
(`tests/test_schemas.py`), those of other records below.
"""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from dlopt import registry
from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.problems.validated_record import Header, Record, examine
from tests.problems.sample_instances import INSTANCES, OTHERS
from tests.problems.wrong_values import (
    OBJECT,
    fault,
    full_data,
    with_wrong,
    wrong_everywhere,
    wrong_fields,
)


def records_in(value: Any) -> Iterator[Record]:
    """Yield a value if it is a record, and the records in it."""
    if isinstance(value, Record):
        yield value
        for one in fields(value):  # type: ignore[arg-type]
            yield from records_in(getattr(value, one.name))
    elif isinstance(value, tuple):
        for entry in value:
            yield from records_in(entry)


def name_of(record: object) -> str:
    kind = record if isinstance(record, type) else type(record)
    return f"{kind.__module__.removeprefix('dlopt.problems.')}.{kind.__name__}"


def subclasses(kind: type) -> Iterator[type]:
    for below in kind.__subclasses__():
        yield below
        yield from subclasses(below)


ROOTS = (*INSTANCES, *OTHERS)
PARTS = [record for root in ROOTS for record in records_in(root)]
every_root = pytest.mark.parametrize("record", ROOTS, ids=name_of)
every_part = pytest.mark.parametrize("record", PARTS, ids=name_of)


def faults_of(record: Record, data: object) -> tuple[Fault, ...]:
    """Return the faults in the data of a record, found alike by all that reads them."""
    kind = type(record)
    if isinstance(record, Header):
        found = registry.problem(record.problem).module.faults(data)
    else:
        found = examine(kind, data)[1]
    if found:
        with pytest.raises(InvalidInstanceError) as caught:
            kind.from_data(data)  # type: ignore[arg-type]
        assert caught.value.faults == found
    return found


def test_every_record_of_every_problem_is_tried() -> None:
    kinds = {name_of(kind) for kind in subclasses(Record) if "dlopt.problems." in kind.__module__}
    assert {name_of(part) for part in PARTS} == kinds - {name_of(Header)}


def test_solutions_traces_and_scenarios_keep_their_limits() -> None:
    limited: dict[str, list[str]] = {}
    for record in (part for root in OTHERS for part in records_in(root)):
        for keys, value, _ in wrong_fields(record):
            if len(keys) == 1 and value == -1:
                names = limited.setdefault(name_of(record), [])
                names += [] if keys[0] in names else [keys[0]]
    assert {name: " ".join(names) for name, names in limited.items()} == {
        "admission.scenario.Factor": "tau chi",
        "admission.scenario.Failure": "begin until",
        "dag.data.Placement": "graph task machine",
        "dag.trace.Course": "graph lan decided received returned",
        "dag.trace.Run": "graph task machine sent start end known freed",
        "dag.trace.Outage": "machine begin until",
        "multistage.scenario.TrueEnd": "end",
    }


@every_root
def test_the_data_that_these_tests_change_is_valid(record: Record) -> None:
    assert faults_of(record, full_data(record)) == ()
    assert type(record).from_data(full_data(record)) == record


@every_root
def test_a_value_that_is_wrong_is_the_only_fault(record: Record) -> None:
    data = full_data(record)
    for wrong in wrong_fields(record):
        found = faults_of(record, with_wrong(data, wrong))
        assert found == (fault(wrong),), wrong
        assert type(found[0].value) is type(wrong[1])
        assert (", got " in str(found[0])) is (wrong[1] is not MISSING)


@every_part
def test_a_constructor_finds_the_same_faults(record: Record) -> None:
    for wrong in wrong_fields(record):
        if wrong[1] is not MISSING and wrong[2][:14] != "is not a field":
            with pytest.raises(InvalidInstanceError) as caught:
                type(record)(**with_wrong(full_data(record), wrong))
            assert caught.value.faults == (fault(wrong),), wrong


@every_root
def test_all_that_is_wrong_is_reported_at_once_in_the_order_of_the_fields(record: Record) -> None:
    wrong = wrong_everywhere(record)
    found = faults_of(record, with_wrong(full_data(record), *wrong))
    assert found == tuple(map(fault, wrong))


@every_root
def test_what_is_no_object_is_no_record(record: Record) -> None:
    for value in (None, [], "cluster", 3, [full_data(record)]):
        assert faults_of(record, value) == (Fault("", value, OBJECT),)


@every_root
def test_data_is_left_as_it_was(record: Record) -> None:
    data = full_data(record)
    faults_of(record, data)
    type(record).from_data(data)
    assert data == full_data(record)
