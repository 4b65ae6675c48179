"""The Standard Workload Format: every kind of malformed input, and of what it cannot say."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from pathlib import Path

import pytest

from dlopt.errors import MISSING, Fault, InvalidInstanceError, NotApplicableError
from dlopt.formats.swf import MOST_FAULTS, SwfJob, SwfLog, parse, read, write
from tests.formats.logs import INTEGERS, LINE, NAMES, faults_of, faults_of_file, line_with

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
    assert missing.rule == "cannot be read: No such file or directory"
    (directory,) = faults_of_file(tmp_path)
    assert directory.rule == "cannot be read: Is a directory"
    (impossible,) = faults_of_file("a\0b")
    assert impossible.rule == "cannot be read: embedded null byte"


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


def test_a_line_that_would_fill_the_memory(tmp_path: Path) -> None:
    """Three hundred megabytes of a comment are three hundred kilobytes in a gzip file."""
    for name, data in (("l.swf", b"; " + b"x" * 2_000_000), ("l.swf.gz", None)):
        file = tmp_path / name
        file.write_bytes(data or gzip.compress(b"; " + b"x" * 2_000_000))
        (fault,) = faults_of_file(file)
        assert (fault.path, fault.rule) == ("line 1", "a line must have at most 1,000,000 bytes")


def test_a_log_that_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "log.swf.gz"
    file.write_bytes(gzip.compress(b"; Note: x\n" * 100))
    monkeypatch.setattr("dlopt.formats.swf.MOST_BYTES", 1000)
    assert len(read(file).header) == 100
    monkeypatch.setattr("dlopt.formats.swf.MOST_BYTES", 999)
    (fault,) = faults_of_file(file)
    assert fault.rule == "is too large: more than 999 bytes unpacked"
