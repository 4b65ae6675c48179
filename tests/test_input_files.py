"""What has no end, or is too large, is told in a moment, whichever command is to read it."""

from __future__ import annotations

import io as streams
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dlopt import input_files, io
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.formats import detection, swf
from dlopt.input_files import lines_of, load_bytes, open_input, text_lines
from dlopt.json_files import load_json
from tests.cli.conftest import Command
from tests.cli.conftest import dlopt as _dlopt  # a fixture
from tests.instance_files import TEXT, written

dlopt = _dlopt
INSTANCE = Path(__file__).parents[1] / "instances" / "iit" / "three-nodes.json"
STREAM = Path(__file__).parents[1] / "instances" / "admission" / "two-of-three.json"
COMMANDS = {
    "solve": ("solve", "@"),
    "compare": ("compare", "@"),
    "batch": ("batch", "@", "--out", "records.jsonl"),
    "check": ("check", "@", INSTANCE),
    "check of a result": ("check", INSTANCE, "@"),
    "plot": ("plot", INSTANCE, "@", "--out", "a.svg"),
    "cluster": ("simulate", "cluster", "--file", "@"),
    "feedback": ("simulate", "feedback", "--file", "@"),
    "scenario": ("simulate", "feedback", "--file", STREAM, "--scenario", "@"),
    "grid": ("simulate", "grid", "--file", "@"),
    "failures": ("simulate", "grid", "--tasks", "5", "--failures", "@"),
    **{form: ("convert", "graph", "@", "--format", form) for form in detection.FORMATS},
    "swf": ("convert", "swf", "@", "--to", "admission"),
    "etc": ("convert", "etc", "@"),
    "orlib": ("convert", "bins", "@", "--format", "orlib"),
}


@pytest.fixture
def silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a pipe that nobody writes to."""
    monkeypatch.setattr(input_files, "WAIT_S", 0.01)
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "pipe"])
def test_every_command_refuses_what_has_no_end(
    dlopt: Command, silent: Path, name: str, device: str
) -> None:
    path = silent if device == "pipe" else Path(device)
    done = dlopt(*(path if word == "@" else word for word in COMMANDS[name]), code=2)
    told = "is a pipe that nobody has written to" if device == "pipe" else "is a device"
    assert done.err.startswith(f"error: {path}: {told}")
    assert len(done.err) < 300
    assert done.out == ""


def test_a_pipe_that_somebody_writes_to_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path = written(tmp_path, TEXT)
    writer = subprocess.Popen(["sh", "-c", f"cat '{path}' > '{pipe}'"])
    try:
        assert io.read(pipe).name == "three"
    finally:
        writer.kill()
        writer.wait()


def test_a_pipe_without_a_name_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_files, "WAIT_S", 0.0)
    back, front = os.pipe()
    code = "import sys, time; time.sleep(.2); sys.stdout.write('told')"
    writer = subprocess.Popen([sys.executable, "-c", code], stdout=front)
    os.close(front)
    try:
        assert load_bytes(f"/dev/fd/{back}") == b"told"
    finally:
        os.close(back)
        writer.wait()


def test_a_terminal_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    main, terminal = os.openpty()
    kept = os.dup(0)
    try:
        name = os.ttyname(terminal)
        os.write(main, b"typed\n\x04")
        with pytest.raises(InvalidInstanceError, match="is a device"):
            load_bytes(name)  # not the one that is typed into
        os.dup2(terminal, 0)
        assert load_bytes(name) == b"typed\n"
    finally:
        os.dup2(kept, 0)
        for handle in (main, terminal, kept):
            os.close(handle)


def test_without_a_standard_input_no_terminal_is_read(tmp_path: Path) -> None:
    code = "from dlopt.input_files import load_bytes\nload_bytes('/dev/zero')"
    command = f'exec "{sys.executable}" -c "{code}" <&-'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert "InvalidInstanceError: /dev/zero: is a device" in done.stderr


def test_a_fault_while_reading_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT)
    with pytest.raises(InvalidInstanceError, match="cannot be read: gone"), open_input(path):
        raise OSError(5, "gone")


def test_more_values_than_the_memory_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "[0,[1,2],{}]")
    monkeypatch.setattr("dlopt.json_files.MOST_VALUES", 6)
    assert load_json(path) == [0, [1, 2], {}]
    monkeypatch.setattr("dlopt.json_files.MOST_VALUES", 5)
    with pytest.raises(InvalidInstanceError, match="too large a file, got 'more than 5 values'"):
        load_json(path)


def test_a_log_of_too_many_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.swf"
    path.write_text("; MaxProcs: 4\n\n\n")
    monkeypatch.setattr(swf, "MOST_LINES", 3)
    assert swf.read(path).machine_size == 4
    monkeypatch.setattr(swf, "MOST_LINES", 2)
    with pytest.raises(InvalidInstanceError, match="is too large: more than 2 lines"):
        swf.read(path)


class Counted(streams.BytesIO):
    """Counts the bytes that are read."""

    taken = 0

    def read(self, size: int | None = -1) -> bytes:
        block = super().read(size)
        self.taken += len(block)
        return block


def test_lines_are_those_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "BLOCK_BYTES", 3)
    for data in (b"", b"\n", b"a", b"ab\n\ncdefghi\nj", b"abc\nabc\n"):
        assert list(lines_of(streams.BytesIO(data), 100)) == data.splitlines(keepends=True)


def test_a_line_without_an_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "BLOCK_BYTES", 10)
    file = Counted(b"ab\n" + b"x" * 10_000)
    with pytest.raises(InvalidInstanceError, match="line 2: a line must have at most 50 bytes"):
        list(lines_of(file, 50))
    assert file.taken <= 70
    with pytest.raises(InvalidInstanceError, match="line 1: a line must have at most 2 bytes"):
        list(lines_of(streams.BytesIO(b"abc\n"), 2))


def test_names_and_values_of_millions_of_letters_are_cut(dlopt: Command, tmp_path: Path) -> None:
    long = "x" * 5_000_000
    for text in (
        TEXT.replace('"load"', f'"{long}"'),
        TEXT.replace('"iit"', f'"{long}"'),
        TEXT.replace('"load": 3', f'"load": "{long}"'),
        TEXT.replace('"load": 3', f'"load": {{"{long}": ["{long}"]}}'),
        f'{{"{long}": {{"a": 1, "a": 2}}}}',
    ):
        done = dlopt("solve", written(tmp_path, text), code=2)
        assert len(done.err) < 3000


def test_repeated_fields_below_a_long_name_are_told_in_no_more_than_linear_memory(
    tmp_path: Path,
) -> None:
    """A path for each of these objects would take 20 GB."""
    long = "x" * 1_000_000
    inner = "{}," * 20_000
    path = written(tmp_path, f'{{"{long}": [{inner}{{"a": 1, "a": 2}}]}}')
    with pytest.raises(InvalidInstanceError, match=r"xxx\[20000\]\.a: is given twice") as caught:
        load_json(path)
    assert len(str(caught.value)) < 500


def test_a_repeated_field_above_deep_nesting_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, '{"a": 1, "a": ' + "[" * 900 + "]" * 900 + "}")
    with pytest.raises(InvalidInstanceError, match="a: is given twice"):
        load_json(path)


def test_a_list_of_millions_of_wrong_entries_is_left_early(tmp_path: Path) -> None:
    many = written(tmp_path, TEXT.replace("[0, 1, 4]", str(["a"] * 5000).replace("'", '"')))
    with pytest.raises(InvalidInstanceError) as caught:
        io.read(many)
    assert len(caught.value.faults) == 1001  # and that there are not three
    strange = ", ".join(f'"k{n}": 0' for n in range(5000))
    with pytest.raises(InvalidInstanceError) as caught:
        io.read(written(tmp_path, TEXT.replace('"load": 3', f'"load": 3, {strange}')))
    assert len(caught.value.faults) == 1000


def test_lines_of_a_text_are_read_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_files, "BLOCK_BYTES", 3)
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffone\r\ntwo\u2028\n\n\u00fc".encode() + b"\n\xff\nmore")
    lines = text_lines(path, "VIPR")
    assert [next(lines) for _ in range(4)] == ["one\r\n", "two\u2028\n", "\n", "\u00fc\n"]
    with pytest.raises(InvalidInstanceError, match="is not valid VIPR: not UTF-8 at byte 19"):
        next(lines)
    with pytest.raises(InvalidInstanceError, match="cannot be read: No such file"):
        next(text_lines(tmp_path / "none.txt", "VIPR"))
    with pytest.raises(NotApplicableError, match="a path is a text"):
        next(text_lines(1, "VIPR"))  # type: ignore[arg-type]
