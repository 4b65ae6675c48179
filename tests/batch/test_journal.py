"""The file of rows: torn lines, lines that are no rows, two runs at once."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlopt
from dlopt import InvalidInstanceError, Limits, NotApplicableError, Status, json_files
from dlopt.batch.journal import Journal, read_records
from dlopt.batch.record_reading import record_from_line
from dlopt.batch.records import Failure, Record, RunKey

THREE = dlopt.load("iit/three-nodes")
KEY = RunKey(
    "iit", "0" * 64, "opr", "completion", Limits(2.5), 0, (("k", 3),), "as-written", "0.1.0"
)
ROW = Record(
    KEY,
    "three \u2603",
    "hand",
    "heuristic",
    "sound",
    Status.FEASIBLE,
    value=Fraction(32, 5),
    bound=4,
    plan_class="single",
    runtime_s=0.25,
    tolerance=0.0,
    solver="HiGHS",
)
NUMBERS = st.integers(-(10**6), 10**6) | st.fractions() | st.floats(-1e9, 1e9)
ROWS = st.builds(
    Record,
    st.builds(
        RunKey,
        problem=st.just("iit"),
        hash=st.text(max_size=3),
        method=st.text(max_size=5),
        objective=st.just("completion"),
        limits=st.builds(
            Limits,
            st.none() | st.floats(0.1, 9),
            st.none() | st.integers(1, 9),
            target_value=st.none() | st.fractions(0, 9) | st.tuples(st.integers(0, 9)),
            no_improvement_s=st.none() | st.integers(1, 9),
        ),
        seed=st.integers(),
        options=st.dictionaries(
            st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2
        ).map(lambda options: tuple(sorted(options.items()))),
        numbers=st.sampled_from(["as-written", "exact", "float"]),
        dlopt=st.text(max_size=5),
    ),
    instance=st.text(),
    family=st.text(),
    kind=st.text(),
    claim=st.text(),
    status=st.sampled_from([*Status, *Failure]),
    value=st.none() | NUMBERS,
    bound=st.none() | NUMBERS,
    plan_class=st.sampled_from([None, "single", "any"]),
    proof=st.sampled_from([None, "exact", "certificate", "solver", "floats"]),
    origin=NUMBERS,
    installments=st.none() | st.integers(1, 9),
    runtime_s=st.none() | st.floats(0, 9),
    tolerance=st.none() | st.floats(0, 1),
    violations=st.integers(0, 9),
    reason=st.none() | st.text(),
    solver=st.none() | st.text(),
    solver_version=st.none() | st.text(),
    picture=st.none() | st.text(),
)


def records(count: int) -> list[Record]:
    return [replace(ROW, key=replace(KEY, seed=seed)) for seed in range(count)]


@pytest.mark.property
@given(ROWS)
def test_a_row_comes_back_from_its_line(record: Record) -> None:
    line = record.to_line()
    assert line.count(b"\n") == 1 and line.endswith(b"\n") and record_from_line(line) == record


def test_what_stands_in_a_line() -> None:
    data = json.loads(ROW.to_line())
    assert data["value"] == "32/5" and data["gap"] == "3/8" and data["checked"] is True
    assert data["limits"] == {"time_s": 2.5, "work": None, "threads": 1, "gap": 0.0}
    assert data["options"] == {"k": 3} and data["status"] == "feasible" and "answer" not in data


def test_levels_come_back_as_a_tuple() -> None:
    key = replace(KEY, problem="bag", objective="critical-then-all")
    record = replace(ROW, key=key, value=(1, Fraction(1, 2)), bound=(2, 1))
    assert record_from_line(record.to_line()) == record
    with pytest.raises(InvalidInstanceError, match="value: must be 2 numbers"):
        record_from_line(replace(record, value=3).to_line())
    with pytest.raises(InvalidInstanceError, match="value: must be one number"):
        record_from_line(replace(ROW, value=(3, 4)).to_line())


def test_a_file_torn_anywhere_in_its_last_line(tmp_path: Path) -> None:
    first, last = (record.to_line() for record in records(2))
    file = tmp_path / "rows.jsonl"
    for cut in range(len(last)):
        file.write_bytes(first + last[:cut])
        whole = cut == len(last) - 1  # only the line end is missing
        assert read_records(file) == records(2)[: 1 + whole]
        with Journal(file) as journal:
            assert list(journal.rows.values()) == records(2)[: 1 + whole]
            journal.append(records(3)[2])
        assert file.read_bytes() == first + last * whole + records(3)[2].to_line()


def test_zeros_that_a_lost_disk_leaves_at_the_end(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(ROW.to_line() + bytes(100))
    with Journal(file) as journal:
        assert list(journal.rows.values()) == [ROW]
    assert file.read_bytes() == ROW.to_line()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"problem": "iit"}', "line 1, version: must be 1"),
        (b"# notes of mine", "line 1: is not valid JSON"),
        (b"\xff\xfe\n", "line 1: is not valid JSON"),
        (b"[1]\n", r"line 1: must be a JSON object, got \[1\]"),
        (b"\n\n{}\n", "line 3, version: must be 1"),
        (b'{"version":1,"pro\n' + ROW.to_line(), "line 1: is not valid JSON"),
        (b"[" * 100_000 + b"\n", "line 1: is not valid JSON"),
        (b'{"version":3,"sources":["a.js"],"mappings":"AAAA"}', "line 1, version: must be 1"),
        (b'{"version":1}', "line 1, problem: must be a text"),
        (b'{"version":' + b"[" * 100_000, "line 1: is not valid JSON"),
        (b"\0\0\0\0", "line 1: is not valid JSON"),
        (b'{"version":1,"pro', "line 1: is incomplete, .* over its first row, delete the file"),
        (b'{"ver', "line 1: is incomplete, and no whole row is before it"),
        (b'\n\n{"version":1,"pro', "line 3: is incomplete, and no whole row is before it"),
        (ROW.to_line() + b'{"version":3,"sources":[]}', "line 2, version: must be 1"),
        (ROW.to_line() + b'{"version":' + b"[" * 100_000, "line 2: is not valid JSON"),
        (ROW.to_line() + b"\0\0\n", "line 2: is not valid JSON"),
        (ROW.to_line() + b"notes of mine", "line 2: is not valid JSON"),
    ],
    ids=[
        "instance",
        "text",
        "bytes",
        "list",
        "empty lines",
        "torn within",
        "deep",
        "source map",
        "version alone",
        "deep without an end",
        "zeros",
        "torn first row",
        "torn early in the first row",
        "torn after empty lines",
        "JSON after a row",
        "deep after a row",
        "a line of zeros after a row",
        "text after a row",
    ],
)
def test_a_file_of_another_kind_is_left_as_it_is(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(content)
    for read in (read_records, Journal):
        with pytest.raises(InvalidInstanceError, match=told):
            read(file)
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (dlopt.io.result_to_data(THREE, dlopt.solve(THREE, "opr")), "a result: `dlopt check` and"),
        (dlopt.io.instance_to_data(THREE), "an instance: `dlopt batch` makes records of it"),
        ({"comparisons": [1]}, "one document of JSON, not the records of a batch"),
    ],
    ids=["result", "instance", "other"],
)
def test_another_document_of_dlopt_has_one_error(tmp_path: Path, content: Any, kind: str) -> None:
    file = tmp_path / "document.json"
    dlopt.io.write(content, file)
    before = file.read_bytes()
    for read in (read_records, Journal):
        with pytest.raises(InvalidInstanceError) as error:
            read(file)
        (message,) = str(error.value).splitlines()
        assert message.startswith(f"{file}: is {kind}")
    assert file.read_bytes() == before


def test_a_document_of_too_many_values_is_not_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_files, "MOST_VALUES", 3)
    file = tmp_path / "document.json"
    dlopt.io.write({"comparisons": [1, 2, 3, 4]}, file)
    with pytest.raises(InvalidInstanceError, match="line 1: is not valid JSON"):
        read_records(file)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("problem", "knapsack"),
        ("problem", None),
        ("objective", "beauty"),
        ("instance", 3),
        ("hash", None),
        ("numbers", "roman"),
        ("options", {"k": [1]}),
        ("options", []),
        ("limits", {"time_s": -1}),
        ("limits", {"patience": 1}),
        ("limits", {"target_value": "x"}),
        ("limits", {"time_s": 10**400}),
        ("limits", {"time_s": float("inf")}),
        ("limits", {"gap": 10**400}),
        ("limits", None),
        ("seed", 1.5),
        ("status", "fine"),
        ("value", "1/0"),
        ("value", True),
        ("value", [[1]]),
        ("bound", {}),
        ("plan_class", "wide"),
        ("runtime_s", -1),
        ("runtime_s", "1"),
        ("runtime_s", 10**400),
        ("runtime_s", 1e16),
        ("runtime_s", float("nan")),
        ("tolerance", 10**400),
        ("violations", -1),
        ("reason", 1),
    ],
)
def test_a_field_that_is_wrong_or_missing(field: str, value: object) -> None:
    data = json.loads(ROW.to_line())
    with pytest.raises(InvalidInstanceError) as told:
        record_from_line(json.dumps(data | {field: value}).encode())
    assert [fault.path for fault in told.value.faults] == [field]
    del data[field]
    with pytest.raises(InvalidInstanceError, match=f"{field}: "):
        record_from_line(json.dumps(data).encode())


def test_rows_of_older_releases_say_neither_proof_nor_origin() -> None:
    data = json.loads(replace(ROW, proof="solver", origin=3, installments=2).to_line())
    assert (data["proof"], data["origin"], data["gap"]) == ("solver", 3, "12/17")
    assert data["installments"] == 2
    del data["proof"], data["origin"], data["installments"]
    assert record_from_line(json.dumps(data).encode()) == ROW


@pytest.mark.parametrize(
    ("field", "value"),
    [("installments", 0), ("proof", "faith"), ("origin", None), ("origin", [1]), ("origin", "x")],
)
def test_a_later_field_that_is_wrong(field: str, value: object) -> None:
    line = json.dumps(json.loads(ROW.to_line()) | {field: value}).encode()
    with pytest.raises(InvalidInstanceError) as told:
        record_from_line(line)
    assert [fault.path for fault in told.value.faults] == [field]


def test_infinity_is_no_value() -> None:
    with pytest.raises(InvalidInstanceError, match="value"):
        record_from_line(ROW.to_line().replace(b'"32/5"', b"Infinity"))


def test_of_two_rows_of_a_cell_the_later_counts(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    with Journal(file) as journal:
        for record in (ROW, records(2)[1], replace(ROW, value=7)):
            journal.append(record)
    assert read_records(file) == [records(2)[1], replace(ROW, value=7)]


def test_two_runs_do_not_write_to_one_file(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="files are locked on POSIX only")
    file = tmp_path / "rows.jsonl"
    with Journal(file) as journal:
        with pytest.raises(NotApplicableError, match="another run is writing to it"):
            Journal(file)
        journal.append(ROW)
    with Journal(file) as journal:
        assert list(journal.rows.values()) == [ROW]


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(NotApplicableError, match="cannot write"):
        Journal(tmp_path)
    with pytest.raises(NotApplicableError, match="it is no regular file"):
        Journal(os.devnull)
    with pytest.raises(NotApplicableError, match="No such file"):
        Journal(tmp_path / "no" / "rows.jsonl")


def test_a_write_that_ends_midway_leaves_whole_rows(
    tmp_path: Path,
) -> None:
    """A limit on the size of files is a disk that fills up within a line."""
    resource = pytest.importorskip("resource")
    file, row = tmp_path / "rows.jsonl", ROW.to_line()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(file) as journal:
        journal.append(ROW)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(row) + 40, hard))
        try:
            with pytest.raises(NotApplicableError, match="No space left"):
                journal.append(records(2)[1])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_bytes() == row
