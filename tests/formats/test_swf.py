"""The Standard Workload Format: round trips, what lines and headers say, and real logs."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dlopt.errors import InvalidInstanceError
from dlopt.formats.swf import SwfJob, SwfLog, parse, read, write
from tests.data import data_folder
from tests.formats.logs import INTEGERS, LINE, NAMES, line_with

# Round trips

whole = st.integers(0, 10**18 - 1)
real = st.one_of(whole, st.floats(0, 1e17))
unknown = st.none()
jobs = st.builds(
    SwfJob,
    number=whole,
    submit=real,
    **{name: unknown | (whole if name in INTEGERS else real) for name in NAMES[2:]},
)
words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)
prose = st.lists(words, min_size=1, max_size=4).map(" ".join)
entries = st.tuples(
    st.sampled_from(["MaxProcs", "Note", "Queue", "Time-Zone", "x"])
    | st.from_regex(r"\A[A-Z]\w*\Z"),
    st.just("") | prose,
) | st.tuples(st.just("Note"), st.lists(prose, min_size=2, max_size=4).map("\n".join))
logs = st.builds(
    SwfLog,
    header=st.lists(entries, max_size=6).map(tuple),
    jobs=st.lists(jobs, max_size=6, unique_by=lambda job: job.number).map(tuple),
).filter(lambda log: log.header or log.jobs)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("swf")


@given(log=logs, name=st.sampled_from(["a.swf", "a.swf.gz"]))
@example(log=SwfLog((("Note", "12: a\nMaxProcs: 3"), ("MaxProcs", "4")), ()), name="a.swf")
def test_what_is_written_is_read_back_equal(log: SwfLog, name: str, folder: Path) -> None:
    write(log, folder / name)
    again = read(folder / name)
    assert again == log
    # equality does not tell 4 from 4.0
    for ours, theirs in zip(log.jobs, again.jobs, strict=True):
        for field in NAMES:
            assert type(getattr(ours, field)) is type(getattr(theirs, field))
    assert os.listdir(folder)  # and no temporary files
    assert all(entry.startswith("a.swf") for entry in os.listdir(folder))


pieces = st.sampled_from(["-1", "0", "3", "2.5", "4.0", "-2", "nan", "x", "1e3", "1_0", "٣", ";"])
odd_lines = st.one_of(
    st.lists(pieces, min_size=16, max_size=20).map(" ".join),
    st.text(max_size=20),
    st.text(alphabet=";: \taK/\n", max_size=20),
    st.integers(0, 9).map(lambda number: line_with(number=str(number))),
)


@given(lines=st.lists(odd_lines, max_size=8))
def test_any_lines_are_refused_or_round_trip(lines: list[str], folder: Path) -> None:
    data = "\n".join(lines).split("\n")
    try:
        log = parse(data)
    except InvalidInstanceError as error:
        assert error.faults
        assert all(fault.path.startswith("line ") or not fault.path for fault in error.faults)
    else:
        for job in log.jobs:
            for name in NAMES:
                value = getattr(job, name)
                assert value is None or value >= 0
                assert name not in INTEGERS or value is None or type(value) is int
        write(log, folder / "a.swf")
        assert read(folder / "a.swf") == log


@given(data=st.binary(max_size=200), packed=st.booleans())
@example(data=b"\x1f\x8b", packed=False)
@example(data=b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00rubbish", packed=False)
def test_any_bytes_are_refused_or_round_trip(data: bytes, packed: bool, folder: Path) -> None:
    path = folder / "a.swf"
    path.write_bytes(gzip.compress(data) if packed else data)
    try:
        log = read(path)
    except InvalidInstanceError as error:
        assert error.source == str(path)
    else:
        write(log, path)
        assert read(path) == log


# What a line says


def test_minus_one_is_none_and_numbers_keep_their_kind() -> None:
    log = parse(["7 0 -1 12.5 4.0 1e2 -1.0 8 60 -1 -1 3 +2 0 -1 -1 6 2.0"])
    job = SwfJob(
        number=7,
        submit=0,
        run_time=12.5,
        allocated_processors=4,
        average_cpu_time=100.0,
        requested_processors=8,
        requested_time=60,
        user=3,
        group=2,
        executable=0,
        preceding_job=6,
        think_time=2.0,
    )
    assert log == SwfLog((), (job,))
    assert [type(getattr(log.jobs[0], name)) for name in ("submit", "run_time", "think_time")] == [
        int,
        float,
        float,
    ]
    assert type(log.jobs[0].allocated_processors) is int


def test_every_field_has_its_place() -> None:
    (job,) = parse([" ".join(str(k) for k in range(1, 19))]).jobs
    assert [getattr(job, name) for name in NAMES] == list(range(1, 19))


@pytest.mark.parametrize(
    ("allocated", "requested", "processors"),
    [("4", "8", 4), ("-1", "8", 8), ("-1", "-1", None), ("0", "8", 0)],
)
def test_processors(allocated: str, requested: str, processors: int | None) -> None:
    texts = {"allocated_processors": allocated, "requested_processors": requested}
    assert parse([line_with(**texts)]).jobs[0].processors == processors


def test_line_ends_blank_lines_white_space_and_comments_anywhere() -> None:
    tabs = LINE.replace(" ", "\t ")
    lines = ["\ufeff; MaxProcs: 4\r\n", "\r\n", f"  {tabs}\r\n", ";\n", "", "; UserID: 3\n", " \n"]
    log = parse([*lines, line_with(number="2")])
    assert log.header == (("MaxProcs", "4"), ("UserID", "3"))
    assert log.jobs == (parse([LINE]).jobs[0], parse([line_with(number="2")]).jobs[0])


def test_bursts_share_a_number_and_need_no_submit_time() -> None:
    lines = [line_with(status=status, submit="-1") for status in ("2", "2", "3")]
    whole_job, *bursts = parse([LINE, *lines]).jobs
    assert not whole_job.burst
    assert [(job.burst, job.number, job.submit) for job in bursts] == [(True, 1, None)] * 3


# The header


def test_header_keys_repeat_and_notes_run_on() -> None:
    log = parse(
        [
            "; Information: http://a.org/",
            ";              http://b.org/",
            ";",
            ";   indented prose: no, a key",
            "; Note: first line",
            ";       caution: second line",
            "; --------- no key",
            ";       nor this",
            "; Queue:  0  interactive  ",
            ";Queue:1 batch",
            ";\tEmpty:",
            ";\t\t\tlater text",
        ]
    )
    assert log.header == (
        ("Information", "http://a.org/\nhttp://b.org/"),
        ("Note", "first line\ncaution: second line"),
        ("Queue", "0  interactive"),
        ("Queue", "1 batch"),
        ("Empty", "later text"),
    )
    assert log.get("queue") == "0  interactive"
    assert log.get("Partition") is None


def test_keys_may_be_aligned_at_their_colons() -> None:
    log = parse([";  Version: 2", "; Computer: X", ";  MaxProcs: 8", ";      Note: a"])
    assert [key for key, _ in log.header] == ["Version", "Computer", "MaxProcs", "Note"]


@pytest.mark.parametrize(
    ("header", "size"),
    [
        ((("MaxProcs", "128"), ("MaxNodes", "64")), 128),
        ((("MaxNodes", "64"), ("maxprocs", "128 (in 64 nodes)")), 128),
        ((("MaxNodes", "64"),), 64),
        ((("MaxNodes", "64"), ("MaxProcs", "unknown")), 64),
        ((("MaxNodes", "64"), ("MaxProcs", "-1")), 64),
        ((("MaxNodes", "64"), ("MaxProcs", "0")), 64),
        ((("MaxProcs", "24,515"),), 24515),
        ((("MaxProcs", "12, of which 2 rest"),), 12),
        ((("MaxProcs", "12.5"),), None),
        ((("MaxProcs", "2x64"),), None),
        ((("Version", "2"),), None),
        ((), None),
    ],
)
def test_machine_size(header: tuple[tuple[str, str], ...], size: int | None) -> None:
    assert SwfLog(header, ()).machine_size == size


# Real logs


@pytest.mark.parametrize(
    ("name", "jobs", "size", "no_run_time", "zero_run_time"),
    [
        ("NASA-iPSC-1993-3.1-cln.swf", 18_239, 128, 0, 173),
        ("lublin_256.swf", 10_000, 256, 0, 0),
        ("KTH-SP2-1996-2.1-cln.swf", 28_476, 100, 0, 8),
        ("HPC2N-2002-first3170.swf", 3_170, 240, 25, 0),
        ("LCG-2005-1-first20000.swf", 20_000, 24_515, 0, 0),
    ],
)
def test_real_logs(
    name: str, jobs: int, size: int, no_run_time: int, zero_run_time: int, tmp_path: Path
) -> None:
    path = data_folder("swf") / name
    if not path.is_file():
        pytest.skip(f"the data set swf has no {name}")
    log = read(path)
    assert len(log.jobs) == jobs
    assert log.machine_size == size
    assert sum(job.run_time is None for job in log.jobs) == no_run_time
    assert sum(job.run_time == 0 for job in log.jobs) == zero_run_time
    assert all(job.processors and job.processors <= size for job in log.jobs)
    submits = [job.submit or 0 for job in log.jobs]
    assert submits == sorted(submits)
    write(log, tmp_path / "again.swf.gz")
    assert read(tmp_path / "again.swf.gz") == log


def test_the_header_of_a_real_log() -> None:
    path = data_folder("swf") / "NASA-iPSC-1993-3.1-cln.swf"
    if not path.is_file():
        pytest.skip(f"the data set swf has no {path.name}")
    log = read(path)
    assert len(log.header) == 23
    assert log.get("Acknowledge") == "Bill Nitzberg"
    assert [value for key, value in log.header if key == "Queue"] == ["0  interactive", "1  batch"]
    assert log.header[-1][1].endswith("\nuser=3 and proc=1 and app=1 (24025 jobs removed)")
    assert log.jobs[0] == SwfJob(1, 0, None, 1451, 128, user=1, group=1)
