"""Files: what cannot be read is told, no write loses the old file, and the text is for people."""

import errno
import json
import math
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import check_certificate, input_files, io, load_methods, write_certificate
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.json_files import replacing, to_text
from tests.instance_files import INSTANCE, TEXT, written

# --- reads that fail -----------------------------------------------------------------------


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "none.json", os.strerror(errno.ENOENT)),
        (tmp_path, os.strerror(errno.EISDIR)),
        (tmp_path / ("x" * 300), os.strerror(errno.ENAMETOOLONG)),
    ):
        with pytest.raises(InvalidInstanceError) as caught:
            io.read(path)
        assert str(caught.value) == f"{path}: cannot be read: {reason}"


def test_a_file_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, TEXT)
    monkeypatch.setattr(input_files, "MOST_BYTES", len(TEXT))
    assert io.read(path).name == "three"
    monkeypatch.setattr(input_files, "MOST_BYTES", len(TEXT) - 1)
    with pytest.raises(InvalidInstanceError, match=r"is too large a file, got '\d+ bytes'"):
        io.read(path)


def test_what_has_no_end_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInstanceError, match="/dev/zero: is a device and no file"):
        io.read("/dev/zero")
    with pytest.raises(InvalidInstanceError, match="is not valid JSON"):
        io.read("/dev/null")
    monkeypatch.setattr(input_files, "MOST_BYTES", 1000)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    endless = subprocess.Popen(["sh", "-c", f"exec yes > '{pipe}'"], stderr=subprocess.DEVNULL)
    try:
        with pytest.raises(InvalidInstanceError, match=r"too large a file, got 'more than 1000"):
            io.read(pipe)
    finally:
        endless.kill()
        endless.wait()


# --- writes that fail ----------------------------------------------------------------------


def folder(path: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in path.iterdir()}


@pytest.mark.parametrize("old", [None, b"old\n"])
@pytest.mark.parametrize("error", [RuntimeError("stop"), KeyboardInterrupt(), GeneratorExit()])
def test_an_interrupted_write_leaves_the_old_file_whole(
    tmp_path: Path, old: bytes | None, error: BaseException
) -> None:
    path = tmp_path / "a.json"
    if old is not None:
        path.write_bytes(old)
    before = folder(tmp_path)

    def lines() -> Iterator[bytes]:
        yield b"half " * 100_000
        raise error

    with pytest.raises(type(error)), replacing(path) as file:
        file.writelines(lines())
    assert folder(tmp_path) == before


@pytest.mark.parametrize("call", ["replace", "chmod", "fsync"])
@pytest.mark.parametrize("old", [None, b"old\n"])
def test_a_file_that_cannot_be_put_in_place_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, old: bytes | None
) -> None:
    path = tmp_path / "a.json"
    if old is not None:
        path.write_bytes(old)
    before = folder(tmp_path)

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(NotApplicableError) as caught:
        io.write(INSTANCE, path)
    assert str(caught.value) == f"cannot write {path}: {os.strerror(errno.ENOSPC)}"
    assert folder(tmp_path) == before


def test_an_interrupt_while_the_file_is_put_in_place_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.json").write_bytes(b"old\n")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        io.write(INSTANCE, tmp_path / "a.json")
    assert folder(tmp_path) == {"a.json": b"old\n"}


def test_data_that_json_cannot_say_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"old\n")
    for wrong, error in (({"a": math.nan}, ValueError), ({"a": object()}, TypeError)):
        with pytest.raises(error):
            io.write(wrong, tmp_path / "a.json")
    assert folder(tmp_path) == {"a.json": b"old\n"}


def test_while_a_file_is_written_the_old_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"old\n")
    with replacing(path) as file:
        file.write(b"new\n")
        file.flush()
        assert path.read_bytes() == b"old\n"
    assert folder(tmp_path) == {"a.json": b"new\n"}


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o007, 0o000])
def test_the_mode_of_a_file_follows_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        io.write(INSTANCE, tmp_path / "a.json")
        after = os.umask(mask)
    finally:
        os.umask(before)
    assert after == mask
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o666 & ~mask


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old\n")
    for path, reason in (
        (tmp_path / "none" / "a.json", errno.ENOENT),
        (tmp_path / "file" / "a.json", errno.ENOTDIR),
        (tmp_path, errno.EISDIR),
    ):
        with pytest.raises(NotApplicableError) as caught:
            io.write(INSTANCE, path)
        assert str(caught.value) == f"cannot write {path}: {os.strerror(reason)}"
    assert folder(tmp_path) == {"file": b"old\n"}


def test_a_link_stays_and_the_file_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_bytes(b"old\n")
    (tmp_path / "link.json").symlink_to("real.json")
    io.write(INSTANCE, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert io.read(tmp_path / "real.json") == INSTANCE


def test_a_device_is_written_to_and_not_replaced() -> None:
    io.write(INSTANCE, os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_what_is_open_already_is_written_on(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with path.open("wb", buffering=0) as file:
        file.write(b"before\n")
        for name in (f"/dev/fd/{file.fileno()}", f"/proc/self/fd/{file.fileno()}"):
            io.write({"a": 1}, name)
        file.write(b"after\n")
    assert folder(tmp_path) == {"a.json": b'before\n{\n "a": 1\n}\n{\n "a": 1\n}\nafter\n'}


@pytest.mark.parametrize(("name", "number"), [("/dev/stdout", 1), ("/dev/stderr", 2)])
def test_standard_streams_are_written_to(
    name: str, number: int, capfd: pytest.CaptureFixture[str]
) -> None:
    io.write({"a": 1}, name)
    assert capfd.readouterr()[number - 1] == '{\n "a": 1\n}\n'
    os.fstat(number)  # still open


def test_pipes_are_written_to() -> None:
    read_end, write_end = os.pipe()
    io.write({"a": 1}, f"/dev/fd/{write_end}")
    assert os.read(read_end, 100) == b'{\n "a": 1\n}\n'
    os.close(read_end)
    io.write({"a": 1}, f"/dev/fd/{write_end}")  # whoever read has enough
    os.close(write_end)
    with pytest.raises(NotApplicableError, match=os.strerror(errno.EBADF)):
        io.write({"a": 1}, f"/dev/fd/{write_end}")


def test_a_file_is_written_from_a_text_path_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    io.write({"a": "ü"}, "a.json")
    assert folder(tmp_path) == {"a.json": b'{\n "a": "\\u00fc"\n}\n'}


# --- the text -----------------------------------------------------------------------------


@pytest.mark.property
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(-1e9, 1e9)
        | st.text()
        | st.just("1/3"),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    )
)
def test_text_for_people_says_the_same(data: Any) -> None:
    assert json.loads(to_text(data)) == data


def test_lists_of_numbers_stand_in_one_line_and_texts_stay_as_they_are() -> None:
    data = {"name": "[ 1, 2 ]", "numbers": [1, -0.5, "1/3", 1e-30], "mixed": [1, "a"], "none": []}
    text = to_text(data)
    assert ' "numbers": [1, -0.5, "1/3", 1e-30],\n' in text
    assert '"[ 1, 2 ]"' in text
    assert json.loads(text) == data


# --- arguments of other types --------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: io.read(3), "a path is a text or a Path, not a int"),
        (lambda: io.read(b"a.json"), "a path is a text or a Path, not a bytes"),
        (lambda: io.write(INSTANCE, 3), "a path is a text or a Path, not a int"),
        (lambda: load_methods(3), "a path is a text or a Path, not a int"),
        (lambda: write_certificate(3, "x"), "a result is needed, not a int"),
        (lambda: check_certificate(INSTANCE, 3, "x"), "a result is needed, not a int"),
    ],
)
def test_arguments_of_other_types_are_refused(call: Any, text: str) -> None:
    with pytest.raises(NotApplicableError, match=text):
        call()


@pytest.mark.parametrize("data", [None, "text", [INSTANCE]])
def test_what_is_neither_instance_nor_result_is_not_written(data: Any, tmp_path: Path) -> None:
    with pytest.raises(NotApplicableError, match="an instance or a result is written, not a"):
        io.write(data, tmp_path / "a.json")
    assert not list(tmp_path.iterdir())
