"""Names of others reach no terminal and no log with the characters that these would obey."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.segment import ControlType, Segment, Segments
from rich.text import Text

from dlopt.cli.console import err, out
from dlopt.errors import DloptError, Fault, InvalidInstanceError, NotApplicableError, printable
from tests.cli.conftest import THREE, Command, file_of

NAME = "a\x1b[31mb\x1b]0;c\x07d\x85e\u202ef\u2028g\nerror: h\ud800\x9b2J"
SHOWN = printable(NAME)
INSTANCES = Path(__file__).parents[2] / "instances"


def raw(text: str) -> list[str]:
    return [char for char in text if not (char.isprintable() or char == "\n")]


def named(path: Path, data: dict[str, Any]) -> Path:
    """Write an instance that is called so, and so are its tasks."""
    text = json.dumps(data | {"name": NAME})
    for task in data.get("tasks", ()):
        text = text.replace(json.dumps(task["id"]), json.dumps(NAME + task["id"]))
    path.write_text(text)
    return path


def test_what_a_terminal_obeys_is_spelled() -> None:
    assert SHOWN == (r"a\x1b[31mb\x1b]0;c\x07d\x85e\u202ef\u2028g\nerror: h\ud800\x9b2J")
    for plain in ("", "Zürich", "a b", "数", "👩\u200d💻", "a\u00a0b"):
        assert printable(plain) == plain
    assert printable("a\nb\x00", lines=True) == "a\nb\\x00"
    assert printable("a\nb\x00\r\t") == r"a\nb\x00\r\t"


@pytest.mark.parametrize("command", [("solve",), ("solve", "--method", "edf-iit-2"), ("compare",)])
def test_answers(dlopt: Command, tmp_path: Path, command: tuple[str, ...]) -> None:
    data = json.loads((INSTANCES / "admission" / "two-of-three.json").read_text())
    done = dlopt(command[0], named(tmp_path / "a.json", data), *command[1:])
    assert not raw(done.out + done.err)
    assert r"\x1b" in done.out
    lines = (done.out + done.err).splitlines()
    assert not [line for line in lines if line.startswith("error")]  # a cell may be broken there


def test_json_stays_json(dlopt: Command, tmp_path: Path) -> None:
    done = dlopt("solve", named(tmp_path / "a.json", THREE), "--json")
    assert done.json["instance"] == NAME
    assert not raw(done.out)


def test_checks(dlopt: Command, tmp_path: Path) -> None:
    data = json.loads((INSTANCES / "admission" / "two-of-three.json").read_text())
    instance = named(tmp_path / "a.json", data)
    dlopt("solve", instance, "--method", "edf-iit-2", "--out", "r.json")
    result = json.loads((tmp_path / "r.json").read_text())
    for chunk in result["solution"]["chunks"]:
        chunk["load"] = 1
    done = dlopt("check", instance, file_of(tmp_path / "r.json", result), code=1)
    assert "violation" in done.out
    assert not raw(done.out + done.err)
    assert "\nerror" not in done.out


def test_faults(dlopt: Command, tmp_path: Path) -> None:
    data = THREE | {NAME: NAME, "cluster": {"nodes": 3, NAME: 1}}
    done = dlopt("solve", file_of(tmp_path / "a.json", data), code=2)
    assert not raw(done.err)
    assert f"cluster.{SHOWN}: is not a field" in done.err
    assert "\nerror" not in done.err


def test_wrong_usage(dlopt: Command) -> None:
    done = dlopt("solve", NAME.replace("\ud800", ""), "--x\x1b[31m", code=2)
    assert not raw(done.err)


def test_names_of_files(dlopt: Command, tmp_path: Path) -> None:
    done = dlopt("solve", tmp_path / "a\x1b[31m.json", code=2)
    assert r"a\x1b[31m.json" in done.err
    assert not raw(done.err)


def test_batches_and_reports(dlopt: Command, tmp_path: Path) -> None:
    instance = named(tmp_path / "a.json", THREE)
    done = dlopt(
        "batch", instance, instance, "--methods", "opr", "--workers", 1, "--out", "r.jsonl"
    )
    assert not raw(done.out + done.err)
    done = dlopt("report", "r.jsonl", "--out", "r.html")
    assert not raw(done.out + done.err)
    page = (tmp_path / "r.html").read_text()
    assert r"a\x1b[31mb" in page
    assert not [char for char in "\x1b\x07\x85\u202e\u2028" if char in page]


def test_errors_can_be_logged() -> None:
    fault = Fault(NAME, NAME, "must be " + NAME)
    for error in (InvalidInstanceError([fault], NAME), NotApplicableError(f"no {NAME}")):
        assert not raw(str(error))
    assert len(str(InvalidInstanceError([fault], NAME)).splitlines()) == 1
    assert str(DloptError("one\ntwo")) == "one\ntwo"
    assert len(str(DloptError("x" * 10**6))) < 2000
    assert len(str(Fault("x" * 10**6, [["y" * 10**6] * 10**6], "z" * 10**6))) < 2000


@pytest.mark.parametrize("console", [out, err])
def test_whatever_is_rendered_is_printable(console: Any, capfd: Any) -> None:
    console.print(Text("a\x1bb"), Segments([Segment("c\x9bd\n")]), "e\x1bf")
    written = capfd.readouterr()
    assert (written.out + written.err).split() == [r"a\x1bb", r"c\x9bd", r"e\x1bf"]
    control = Segment("\r", None, [(ControlType.CARRIAGE_RETURN,)])
    assert list(console.render(Segments([control]))) == [control]
    assert console.measure("\x1b\x1b").maximum == len(r"\x1b\x1b")


def test_headings_of_decisions_say_what_they_hold(dlopt: Command) -> None:
    """Records call them `missed`, `by` and `of`, which says nothing above a column."""
    file = Path(__file__).parents[2] / "instances" / "admission" / "as-it-stands.json"
    done = dlopt("solve", file, "--method", "edf-opr-mn")
    lines = done.out.splitlines()
    (heading,) = (line for line in lines if "decided at" in line)
    for word in ("task that would be late", "late by", "by: time, load or price"):
        assert word in heading
    assert not {"missed", "of"} & set(heading.split())
    solution = dlopt("solve", file, "--method", "edf-opr-mn", "--json").json["solution"]
    assert {"missed", "by", "of"} <= solution["decisions"][-1].keys()


@pytest.mark.parametrize(
    "command",
    [("methods", "coreservation"), ("compare", "iit/three-nodes", "--methods", "opr")],
)
def test_lines_of_a_table_in_a_file_end_with_their_last_cell(
    dlopt: Command, command: tuple[str, ...]
) -> None:
    lines = dlopt(*command).out.splitlines()
    assert lines == [line.rstrip() for line in lines]
    if command[0] == "methods":
        assert lines[0].startswith("coreservation: CPU shares")
