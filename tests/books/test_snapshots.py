"""How snapshots of all books are read, and numbers as JSON says them."""

from fractions import Fraction

import pytest

from dlopt.books.snapshots import plain_number, read_snapshot, snapshot_header
from dlopt.errors import Fault, InvalidInstanceError, repeated


def read(data, problem, contradictions=lambda fields: ()):
    return read_snapshot(data, problem, dict, contradictions)


def test_a_header_is_accepted_for_its_problem_only():
    assert read({**snapshot_header("multistage"), "more": 1}, "multistage") == {"more": 1}
    with pytest.raises(InvalidInstanceError, match="engines of their own"):
        read(snapshot_header("multistage"), "admission")


@pytest.mark.parametrize("wrong", [{"version": 1.0}, {"version": True}, {"format": None}])
def test_a_header_has_the_types_of_its_fields(wrong):
    with pytest.raises(InvalidInstanceError) as error:
        read({**snapshot_header("admission"), **wrong}, "admission")
    assert [fault.path for fault in error.value.faults] == list(wrong)


def test_all_that_is_missing_is_told():
    with pytest.raises(InvalidInstanceError) as error:
        read({}, "admission")
    assert [fault.path for fault in error.value.faults] == ["format", "version", "problem"]


def test_contradictions_are_told_of_fields_that_have_passed():
    data = {**snapshot_header("admission"), "tasks": ["a", "b", "a", "a"]}
    with pytest.raises(InvalidInstanceError) as error:
        read(data, "admission", lambda fields: repeated("tasks", fields["tasks"], "id"))
    rule = "must be given once"
    assert error.value.faults == (
        Fault("tasks[2].id", "a", rule),
        Fault("tasks[3].id", "a", rule),
    )


def test_numbers_are_written_without_loss():
    assert [plain_number(number) for number in (3, Fraction(4), Fraction(2, 3), 0.1)] == [
        *(3, 4, "2/3", 0.1)
    ]
