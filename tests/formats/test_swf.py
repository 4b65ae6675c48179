"""The Standard Workload Format: round trips, every kind of malformed input, and real logs."""

from __future__ import annotations

import gzip
import os
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dlopt.errors import MISSING, Fault, InvalidInstanceError, NotApplicableError
from dlopt.formats.swf import MOST_FAULTS, SwfJob, SwfLog, parse, read, write
from tests.data import data_folder

NAMES = tuple(field.name for field in fields(SwfJob))
INTEGERS = frozenset(
    [
        "number",
        "allocated_processors",
        "requested_processors",
        "status",
        "user",
        "group",
        "executable",
        "queue",
        "partition",
        "preceding_job",
    ]
)
LINE = "1 0 -1 1451 128 -1 -1 -1 -1 -1 1 3 2 -1 -1 -1 -1 -1"


def line_with(**texts: str) -> str:
    pieces = dict(zip(NAMES, LINE.split(), strict=True)) | texts
    return " ".join(pieces.values())


def faults_of(*lines: str) -> tuple[Fault, ...]:
    with pytest.raises(InvalidInstanceError) as caught:
        parse(lines)
    return caught.value.faults


def faults_of_file(path: Path | str) -> tuple[Fault, ...]:
    with pytest.raises(InvalidInstanceError) as caught:
        read(path)
    assert caught.value.source == str(path)
    return caught.value.faults


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


# What is refused


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("x", "must be a number"),
        ("nan", "must be a number"),
        ("inf", "must be a number"),
        ("-inf", "must be a number"),
        ("1_0", "must be a number"),
        ("0x10", "must be a number"),
        ("٣", "must be a number"),
        ("1,5", "must be a number"),
        ("--1", "must be a number"),
        ("-2", "must not be negative, save -1 for unknown"),
        ("-0.5", "must not be negative, save -1 for unknown"),
        ("1e999", "must be less than 10^18"),
        ("1" * 5000, "must be less than 10^18"),
    ],
)
def test_a_wrong_number_is_told_with_line_and_field(name: str, text: str, rule: str) -> None:
    k = NAMES.index(name) + 1
    path = f"line 3, field {k} ({name.replace('_', ' ')})"
    lines = ["; Version: 2", line_with(number="9"), line_with(**{name: text})]
    assert faults_of(*lines) == (Fault(path, text, rule),)


@pytest.mark.parametrize("name", NAMES)
def test_a_real_number_is_refused_where_only_integers_make_sense(name: str) -> None:
    if name in INTEGERS:
        path = f"line 1, field {NAMES.index(name) + 1} ({name.replace('_', ' ')})"
        assert faults_of(line_with(**{name: "4.5"})) == (Fault(path, "4.5", "must be an integer"),)
    else:
        assert getattr(parse([line_with(**{name: "4.5"})]).jobs[0], name) == 4.5


@pytest.mark.parametrize(("name", "path"), [("number", "1 (number)"), ("submit", "2 (submit)")])
def test_number_and_submit_time_must_be_known(name: str, path: str) -> None:
    expected = (Fault(f"line 1, field {path}", "-1", "must be known"),)
    assert faults_of(line_with(**{name: "-1"})) == expected


def test_too_few_and_too_many_fields() -> None:
    assert faults_of(LINE.rsplit(maxsplit=1)[0], "5", f"{LINE} 7 8") == (
        Fault("line 1, field 18 (think time)", MISSING, "a job has 18 fields, not 17"),
        Fault("line 2, field 2 (submit)", MISSING, "a job has 18 fields, not 1"),
        Fault("line 3, field 19 (surplus)", "7", "a job has 18 fields, not 20"),
    )


def test_a_number_twice() -> None:
    lines = [LINE, line_with(number="2"), LINE, line_with(number="2.0", user="x")]
    assert faults_of(*lines) == (
        Fault("line 3, field 1 (number)", "1", "must be unique, and line 1 has it"),
        Fault("line 4, field 12 (user)", "x", "must be a number"),
        Fault("line 4, field 1 (number)", "2.0", "must be unique, and line 2 has it"),
    )


def test_all_faults_are_told_at_once_up_to_a_limit() -> None:
    lines = [line_with(number=str(k), submit="-5", status="1.5") for k in range(3)]
    assert [fault.path for fault in faults_of(*lines)] == [
        f"line {n}, field {field}" for n in (1, 2, 3) for field in ("2 (submit)", "11 (status)")
    ]
    given = iter(["x"] * 10_000)
    assert len(faults_of(*["x " * 18] * 10)) == MOST_FAULTS
    with pytest.raises(InvalidInstanceError):
        parse(given)
    assert len(list(given)) == 10_000 - MOST_FAULTS


@pytest.mark.parametrize("lines", [[], ["", " \r\n"], [";", "; only prose"]])
def test_nothing_is_no_log(lines: list[str]) -> None:
    assert faults_of(*lines) == (Fault("", MISSING, "must hold a job or a header line"),)


# Files


def test_gzip_is_told_by_its_first_bytes_not_by_its_name(tmp_path: Path) -> None:
    data = f"; MaxProcs: 4\r\n\r\n{LINE}".encode()
    (tmp_path / "plain.gz").write_bytes(data)
    (tmp_path / "packed.swf").write_bytes(gzip.compress(data))
    assert read(tmp_path / "plain.gz") == read(str(tmp_path / "packed.swf"))
    assert read(tmp_path / "plain.gz") == parse(["; MaxProcs: 4", LINE])


def test_a_written_gzip_is_gzip_and_the_same_each_time(tmp_path: Path) -> None:
    log = parse([LINE])
    write(log, tmp_path / "a.gz")
    write(log, tmp_path / "b.gz")
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()).decode() == f"{LINE}\n"
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_names_in_the_header(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(f"; Acknowledge: Åke Sandgren\n{LINE}\n".encode(encoding))
    assert read(tmp_path / "a").get("acknowledge") == "Åke Sandgren"


@pytest.mark.parametrize("cut", [1, 8, 9, 40])
def test_a_truncated_gzip(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "a.swf.gz"
    path.write_bytes(gzip.compress(f"{LINE}\n".encode())[:-cut])
    (fault,) = faults_of_file(path)
    assert fault.path == ""
    assert fault.rule.startswith("must be a readable file: ")


def test_a_corrupt_gzip(tmp_path: Path) -> None:
    text = "\n".join(line_with(number=str(k)) for k in range(999))
    data = bytearray(gzip.compress(text.encode()))
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "a").write_bytes(data)
    assert faults_of_file(tmp_path / "a")


def test_a_missing_file_a_folder_and_no_path(tmp_path: Path) -> None:
    (missing,) = faults_of_file(tmp_path / "missing.swf")
    assert missing.rule == "must be a readable file: No such file or directory"
    (directory,) = faults_of_file(tmp_path)
    assert directory.rule == "must be a readable file: Is a directory"
    (impossible,) = faults_of_file("a\0b")
    assert impossible.rule == "must be a readable file: embedded null byte"


def test_an_empty_file(tmp_path: Path) -> None:
    for name, data in (("plain", b""), ("packed", gzip.compress(b""))):
        (tmp_path / name).write_bytes(data)
        (fault,) = faults_of_file(tmp_path / name)
        assert fault.rule == "must hold a job or a header line"


def test_a_binary_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    assert faults_of_file(tmp_path / "a") == (
        Fault("line 1, field 2 (submit)", MISSING, "a job has 18 fields, not 1"),
        Fault("line 2, field 2 (submit)", MISSING, "a job has 18 fields, not 1"),
        Fault("line 3", MISSING, "must be text"),
    )
    (tmp_path / "a").write_bytes(f"; MaxProcs: 4\n{LINE}\n".encode("utf-16"))
    assert faults_of_file(tmp_path / "a") == (Fault("line 1", MISSING, "must be text"),)


# What cannot be written

SOUND = SwfJob(1, 0)


@pytest.mark.parametrize(
    ("log", "path"),
    [
        (SwfLog((), ()), ""),
        (SwfLog((), (replace(SOUND, wait=-1),)), "jobs[0]"),
        (SwfLog((), (SOUND, replace(SOUND, number=2, user=-1))), "jobs[1]"),
        (SwfLog((), (replace(SOUND, wait=-5),)), "line 1, field 3 (wait)"),
        (SwfLog((), (replace(SOUND, wait=float("nan")),)), "line 1, field 3 (wait)"),
        (SwfLog((), (replace(SOUND, wait=10**18),)), "line 1, field 3 (wait)"),
        (SwfLog((), (replace(SOUND, wait=10**5000),)), ""),
        (SwfLog((), (replace(SOUND, user=2.5),)), "line 1, field 12 (user)"),  # type: ignore[arg-type]
        (SwfLog((), (replace(SOUND, submit=None),)), "line 1, field 2 (submit)"),
        (SwfLog((), (SOUND, SOUND)), "line 2, field 1 (number)"),
        (SwfLog((("Max Procs", "4"),), (SOUND,)), "header[0]"),
        (SwfLog((("", "4"),), (SOUND,)), "header[0]"),
        (SwfLog((("Note", " a"),), (SOUND,)), "header[0]"),
        (SwfLog((("Note", "a\n\nb"),), (SOUND,)), "header[0]"),
        (SwfLog((("Note", "a\r"),), (SOUND,)), "header[0]"),
        (SwfLog((("Note", "a\0b"),), (SOUND,)), "line 1"),
        (SwfLog((("Note", "\ud800"),), (SOUND,)), ""),
        (SwfLog((("Computer", "a\nMaxProcs: 3"),), (SOUND,)), "header[0]"),
        (SwfLog((("Note\n1", "4"),), (SOUND,)), "line 2, field 3 (wait)"),
    ],
)
def test_what_the_format_cannot_say_is_not_written(log: SwfLog, path: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("kept")
    with pytest.raises(InvalidInstanceError) as caught:
        write(log, tmp_path / "a")
    assert caught.value.faults[0].path == path
    assert caught.value.source == str(tmp_path / "a")
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "kept"


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(NotApplicableError, match="folder"):
        write(parse([LINE]), tmp_path / "folder")
    with pytest.raises(NotApplicableError, match="missing"):
        write(parse([LINE]), tmp_path / "missing" / "a")
    assert os.listdir(tmp_path) == ["folder"]


def test_writing_replaces_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    write(parse([LINE]), str(tmp_path / "a"))
    assert (tmp_path / "a").read_text() == f"{LINE}\n"


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
