"""instances/RECORDS.csv: every better value and bound of a public instance is checked again."""

import gzip
import shutil
from dataclasses import replace
from hashlib import sha256

import pytest

from benchmarks.frontier import (
    INSTANCES,
    PublicCase,
    check_record,
    is_better,
    read_records,
    record_of,
    write_records,
)
from dlopt import solve
from dlopt.result import Result, Status
from tests.data import data_folder

RECORDS = read_records()
BY_NAME = {record.case.name: record for record in RECORDS}
MOST_TASKS = 300
"""Larger instances take longer: `python -m benchmarks.frontier --check` checks all records."""
SMALL = BY_NAME["stg-50-rand0171-4"]


def test_every_file_belongs_to_a_row_and_every_row_has_its_files():
    named = {record.plan for record in RECORDS} | {record.certificate for record in RECORDS}
    found = {f"records/{path.name}" for path in (INSTANCES / "records").iterdir()}
    assert len(BY_NAME) == len(RECORDS) and named - {""} == found
    assert all(bool(one.certificate) == (one.proof == "certificate") for one in RECORDS)


@pytest.mark.parametrize(
    "record",
    [one for one in RECORDS if one.set != "stg" or int(one.file.split("/")[0]) <= MOST_TASKS],
    ids=lambda record: record.case.name,
)
def test_the_plan_is_valid_and_its_bound_is_proven(record):
    assert check_record(record, data_folder(record.set).parent) == []


def altered(folder, record, **changes):
    """Copy the files of a record, some of them changed as texts, and return what is wrong then."""
    shutil.copytree(INSTANCES / "records", folder / "records")
    for name, change in changes.items():
        path = folder / getattr(record, name)
        path.write_bytes(gzip.compress(change(gzip.decompress(path.read_bytes()))))
    return check_record(record, data_folder(record.set).parent, folder)


def test_a_plan_that_is_no_schedule_is_found(tmp_path):
    def earlier(text):
        return text.replace(b'"start": 22', b'"start": 21', 1)

    (wrong, *_) = altered(tmp_path, SMALL, plan=earlier)
    assert SMALL.case.name in wrong


def test_a_certificate_of_less_is_found(tmp_path):
    def weaker(text):
        return text.replace(b"makespan: 151", b"makespan: 150")

    assert any(
        "certificate proves" in text for text in altered(tmp_path, SMALL, certificate=weaker)
    )


def test_another_public_file_value_or_published_value_is_found():
    data = data_folder(SMALL.set).parent
    other = replace(SMALL, sha256=sha256(b"").hexdigest())
    assert check_record(other, data) == [f"{SMALL.case.name}: the public file is another one"]
    (wrong,) = check_record(replace(SMALL, value="151"), data)
    assert wrong.endswith("states another value or bound")
    other, no_better = check_record(replace(SMALL, published_lower="152"), data)
    assert other.endswith("other values are published")
    assert no_better.endswith("no better than what is published")
    (wrong,) = check_record(replace(SMALL, published_lower="1"), data)
    assert wrong.endswith("other values are published")
    (wrong,) = check_record(replace(SMALL, objective="tardy-graphs"), data)
    assert wrong.endswith("another objective")


def test_a_public_file_that_is_not_there_is_named(tmp_path):
    (wrong,) = check_record(SMALL, tmp_path)
    assert str(tmp_path / SMALL.set / SMALL.file) in wrong and "DLOPT_DATA" in wrong


def test_a_record_without_a_certificate_leaves_no_file_of_the_one_before(tmp_path):
    data = data_folder(SMALL.set).parent
    shutil.copytree(INSTANCES / "records", tmp_path / "records")
    found = solve(SMALL.case.instance(data), method="heft")
    assert record_of(SMALL.case, found, data, tmp_path).certificate == ""
    assert not (tmp_path / SMALL.certificate).exists()


def test_the_table_is_written_as_it_is_read(tmp_path):
    write_records(RECORDS[::-1], tmp_path)
    written, shipped = ((one / "RECORDS.csv").read_bytes() for one in (tmp_path, INSTANCES))
    assert written == shipped and read_records(tmp_path) == RECORDS


@pytest.mark.parametrize(
    ("lower", "value", "bound", "better"),
    [(3, 5, 3, False), (3, 4, 3, True), (3, 5, 4, True), (None, 5, 4, False), (None, 4, 4, True)],
)
def test_a_record_has_a_better_value_or_a_better_bound(lower, value, bound, better):
    case = PublicCase("stg", "50/a.stg", 2, lower, 5)
    found = Result(Status.FEASIBLE, objective="makespan", value=value, bound=bound)
    assert is_better(case, found) is better


def test_a_makespan_that_is_published_rounded_is_not_beaten_by_its_own_decimals():
    case = PublicCase("etc_braun", "u_c_hihi.0", 16, None, 7358942.8)
    same, better = (
        Result(Status.FEASIBLE, objective="makespan", value=value, bound=7348794.8)
        for value in (7358942.75, 7358661.39)
    )
    assert (is_better(case, same), is_better(case, better)) == (False, True)
