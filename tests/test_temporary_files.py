"""Temporary files of writers that were killed, and of those that live."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dlopt import temporary_files
from dlopt.json_files import replacing
from dlopt.temporary_files import Part, remove_own_folders, temporary_folder

pytest.importorskip("fcntl", reason="files are locked on POSIX only")

PART, FOLDER = ".r.json.abcd_123.dlopt-part", "dlopt-run-abcd_123"
WRITING = """
import sys
from dlopt.json_files import replacing
from dlopt.temporary_files import temporary_folder
with replacing(sys.argv[1]) as file, temporary_folder() as folder:
    file.write(b"half")
    file.flush()
    (folder / "model.mps").write_text("half")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _temporary_files_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"whole")


def test_what_a_writer_leaves_that_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("TMPDIR", str(home))
    monkeypatch.setattr(tempfile, "tempdir", None)
    line, pipe = [sys.executable, "-c", WRITING], subprocess.PIPE
    targets = [tmp_path / "a" / "r.json", tmp_path / "b" / "r.json"]
    for target in targets:
        target.parent.mkdir()
    with (
        subprocess.Popen([*line, targets[0]], stdin=pipe, stdout=pipe, text=True) as killed,
        subprocess.Popen([*line, targets[1]], stdin=pipe, stdout=pipe, text=True) as alive,
    ):
        assert killed.stdout is not None and alive.stdout is not None
        folders = [Path(process.stdout.readline().strip()) for process in (killed, alive)]
        killed.kill()
        killed.wait()
        assert folders[0].parent == home and folders[0].exists()
        for target in targets:
            assert len(names(target.parent)) == 1
            write(target.with_name("other.json"))
        assert names(targets[0].parent) == ["other.json"]
        assert len(names(targets[1].parent)) == 2  # its writer lives
        with temporary_folder():
            assert not folders[0].exists() and (folders[1] / "model.mps").exists()
        alive.communicate("")
    assert names(targets[1].parent) == ["other.json", "r.json"]
    assert targets[1].read_bytes() == b"half" and names(home) == []


def test_nothing_that_is_not_ours_is_touched(tmp_path: Path) -> None:
    others = [".r.json.original", ".r.json.ABCD_123.dlopt-part", "r.json.abcd_123.dlopt-part"]
    others += ["dlopt-run-abcd", "dlopt-fuzz-abcd_123"]
    for name in others:
        (tmp_path / name).touch()
    (tmp_path / PART).mkdir()  # ours are files
    (tmp_path / PART.replace("r.", "s.")).symlink_to("dlopt-run-abcd")
    os.mkfifo(tmp_path / PART.replace("r.", "t."))
    (tmp_path / FOLDER).touch()  # ours are folders
    full = tmp_path / "dlopt-run-00000000"
    (full / "inner").mkdir(parents=True)  # none of ours is full and has no lock
    before = names(tmp_path)
    write(tmp_path / "a.json")
    with temporary_folder() as folder:
        assert names(tmp_path) == sorted([*before, "a.json", folder.name])
    assert names(tmp_path) == sorted([*before, "a.json"])


def test_what_another_user_left_is_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / PART).touch()
    (tmp_path / FOLDER).mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: -1)
        write(tmp_path / "a.json")
        with temporary_folder():
            pass
    assert names(tmp_path) == [PART, "a.json", FOLDER]


def test_a_folder_that_its_maker_was_killed_over(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()  # before it was locked
    with temporary_folder() as folder:
        assert names(tmp_path) == [folder.name]


@pytest.mark.parametrize("gone", [True, False], ids=["removed", "locked"])
def test_a_file_that_is_taken_for_a_leftover_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: bool
) -> None:
    """Another process looks at a file after it was made, and before it is locked."""
    flock, taken = temporary_files.fcntl.flock, []

    def late(handle: int, how: int) -> None:
        if len(taken) < 2:
            taken.append(os.readlink(f"/proc/self/fd/{handle}"))
            os.unlink(taken[-1])
            if os.path.basename(taken[-1]) == ".lock":
                os.rmdir(os.path.dirname(taken[-1]))
            if not gone:
                raise BlockingIOError(errno.EAGAIN, "locked")
        flock(handle, how)

    if not os.path.exists("/proc/self/fd"):
        pytest.skip("no names of open files")
    monkeypatch.setattr(temporary_files.fcntl, "flock", late)
    part = Part(tmp_path / "a.json")
    os.close(part.handle)
    assert len(taken) == 2 and names(tmp_path) == [os.path.basename(part.name)]
    part.close()
    taken.clear()
    with temporary_folder() as folder:
        assert len(taken) == 2 and names(tmp_path) == [folder.name]
    assert names(tmp_path) == []


def test_long_names_and_modes(tmp_path: Path) -> None:
    file = tmp_path / ("n" * 250)
    write(file)
    mask = os.umask(0)
    os.umask(mask)
    assert file.read_bytes() == b"whole" and names(tmp_path) == [file.name]
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~mask


def test_a_fork_owns_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    with temporary_folder() as folder:
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            remove_own_folders()
            assert folder.exists()
        remove_own_folders()
        assert not folder.exists()
