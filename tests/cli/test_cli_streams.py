"""Standard input and output, folders, and files that hold something else than what is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import INSTANCES, Command

THREE = INSTANCES / "three-nodes.json"
JOB = " ".join(["1", "0", "0", "10", "2", *["-1"] * 13])


def test_instances_come_from_standard_input(dlopt: Command, tmp_path: Path) -> None:
    code = "from dlopt.cli import main; main()"
    words = [sys.executable, "-c", code, "solve", "-", "--method", "opr", "--out", "-"]
    done = subprocess.run(
        words, input=THREE.read_text(), capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert json.loads(done.stdout)["value"] == "32/5" and done.stderr == ""
    assert list(tmp_path.iterdir()) == []
    bad = subprocess.run(words, input="{}", capture_output=True, text=True, cwd=tmp_path)
    assert bad.returncode == 2 and bad.stderr.startswith("error: standard input: problem: is ")


def test_standard_input_is_read_once(dlopt: Command) -> None:
    assert "can be read once" in dlopt("check", "-", "-", code=2).err
    assert "can be read once" in dlopt("compare", "-", "-", code=2).err


def test_instances_are_written_to_standard_output(dlopt: Command, tmp_path: Path) -> None:
    made = dlopt("generate", "iit", "--family", "ramp", "--out", "-").json
    assert made["problem"] == "iit" and list(tmp_path.iterdir()) == []


def test_compare_takes_folders(dlopt: Command, tmp_path: Path) -> None:
    for name in ("b", "a"):
        data = json.loads(THREE.read_text()) | {"name": name}
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    found = dlopt("compare", tmp_path, "--methods", "opr", "--json").json["comparisons"]
    assert [one["instance"] for one in found] == ["a", "b"]
    (tmp_path / "empty").mkdir()
    assert "has no .json file" in dlopt("compare", tmp_path / "empty", code=2).err


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("log.swf", f"; Version: 2\n{JOB}\n", "dlopt convert swf log.swf --to STEM"),
        ("log.txt", f"{JOB}\n", "a job log in the Standard Workload Format"),
        ("w.json", '{"workflow": {}}', "dlopt convert graph w.json"),
        ("g.dot", "digraph { a -> b; }", "a task graph, Graphviz (convert it: dlopt convert graph"),
        ("s.json", '{"$schema": "x"}', "s.json: is a JSON Schema, and not an instance"),
        (
            "r.json",
            '{"problem": "iit", "status": "optimal", "method": "exact"}',
            "r.json: is a result of `dlopt solve`, and not an instance",
        ),
        (
            "c.json",
            '{"schema_version": 1, "command": "compare"}',
            "is what `dlopt compare --json` prints, and not an instance",
        ),
        ("x.json", '{"load": 3}', "x.json: problem: is missing"),
        ("y.json", "[", "y.json: is not valid JSON"),
    ],
)
def test_files_of_other_kinds_are_called_by_their_name(
    dlopt: Command, tmp_path: Path, name: str, text: str, answer: str
) -> None:
    (tmp_path / name).write_text(text)
    assert answer in dlopt("solve", name, code=2).err


def test_check_says_what_a_file_is_that_is_no_result(dlopt: Command, tmp_path: Path) -> None:
    other = INSTANCES / "four-nodes.json"
    message = dlopt("check", THREE, other, code=2).err
    assert message == f"error: {other}: is an instance of iit, and not a result\n"
    (tmp_path / "w.json").write_text('{"workflow": {}}')
    message = dlopt("plot", THREE, "w.json", "--out", "p.svg", code=2).err
    assert "WfFormat" in message and message.endswith("and not a result\n")
