"""The headers of snapshots, and numbers as JSON says them."""

from fractions import Fraction

import pytest

from dlopt.books.snapshots import check_header, plain_number, snapshot_header
from dlopt.errors import InvalidInstanceError


def test_a_header_is_accepted_for_its_problem_only():
    check_header({**snapshot_header("multistage"), "more": 1}, "multistage")
    with pytest.raises(InvalidInstanceError, match="engines of their own"):
        check_header(snapshot_header("multistage"), "admission")


@pytest.mark.parametrize("wrong", [{"version": 1.0}, {"version": True}, {"format": None}])
def test_a_header_has_the_types_of_its_fields(wrong):
    with pytest.raises(InvalidInstanceError) as error:
        check_header({**snapshot_header("admission"), **wrong}, "admission")
    assert [fault.path for fault in error.value.faults] == list(wrong)


def test_all_that_is_missing_is_told():
    with pytest.raises(InvalidInstanceError) as error:
        check_header({}, "admission")
    assert [fault.path for fault in error.value.faults] == ["format", "version", "problem"]


def test_numbers_are_written_without_loss():
    assert [plain_number(number) for number in (3, Fraction(4), Fraction(2, 3), 0.1)] == [
        *(3, 4, "2/3", 0.1)
    ]
