"""`--import`: methods of a user's own in every command that takes a method."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import INSTANCES, Command
from tests.method_table import MethodTable

THREE = INSTANCES / "three-nodes.json"
MINE = """
import dlopt
from dlopt.registry import method

print("loaded")
dlopt.register("iit", "mine", method("iit", "opr").load(), objectives=("completion",))
"""


@pytest.fixture(autouse=True)
def mine(dlopt: Command, tmp_path: Path, method_table: MethodTable) -> None:
    """A file of methods in the folder in which commands run."""
    (tmp_path / "mine.py").write_text(MINE)


def test_solve(dlopt: Command) -> None:
    done = dlopt("solve", THREE, "--import", "mine.py", "--method", "mine", "--json")
    assert (done.json["method"], done.json["value"]) == ("mine", "32/5")
    assert done.err == "loaded\n"


def test_compare(dlopt: Command) -> None:
    done = dlopt("compare", THREE, "--import", "mine.py", "--methods", "mine,exact", "--json")
    (table,) = done.json["comparisons"]
    assert [row["method"] for row in table["rows"]] == ["mine", "exact"]


def test_methods(dlopt: Command) -> None:
    done = dlopt("methods", "iit", "--import", "mine.py", "--json")
    assert "mine" in [entry["method"] for entry in done.json["methods"]]


def test_falsify(dlopt: Command) -> None:
    words = ("--examples", 3, "--objective", "completion", "--json")
    done = dlopt("falsify", "iit", "mine", "--import", "mine.py", *words)
    assert done.json["found"] is False


@pytest.mark.parametrize(
    "words", [("solve", THREE), ("compare", THREE), ("methods",), ("falsify", "iit", "opr")]
)
def test_a_file_that_is_not_there(dlopt: Command, words: tuple[object, ...]) -> None:
    done = dlopt(*words, "--import", "none.py", code=2)
    assert done.err.startswith("error: cannot import none.py: FileNotFoundError")


POLICY = """
import dlopt

@dlopt.OnlinePolicy
def first_free_node(state, task):
    node = state.free_times.index(min(state.free_times))
    (chunk,) = state.send(task, [node], [task.load])
    return [chunk] if chunk.computation_end <= task.absolute_deadline else None

dlopt.register("admission", "first-free-node", first_free_node)
"""


def test_simulate_a_file(dlopt: Command, tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_text(POLICY)
    stream = INSTANCES.parent / "admission" / "two-of-three.json"
    words = ("--file", stream, "--import", "policy.py", "--methods", "first-free-node,edf-iit-2")
    done = dlopt("simulate", "cluster", *words, "--check", "--json")
    assert [point["method"] for point in done.json["points"]] == ["first-free-node", "edf-iit-2"]
    assert done.err.startswith("first-free-node: 0 violations")


def test_a_policy_that_never_ends_is_given_up(dlopt: Command, tmp_path: Path) -> None:
    endless = POLICY.replace("    node = ", "    while True:\n        pass\n    node = ")
    (tmp_path / "policy.py").write_text(endless)
    stream = INSTANCES.parent / "admission" / "two-of-three.json"
    words = ("--file", stream, "--import", "policy.py", "--method", "first-free-node")
    done = dlopt("simulate", "cluster", *words, "--time-limit", 0.05, code=4)
    assert done.err.startswith("error: first-free-node failed: it has not decided on the stream")


def test_simulate_a_workload(dlopt: Command, tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_text(POLICY)
    words = ("--import", "policy.py", "--method", "first-free-node", "--set", "horizon=300000")
    done = dlopt("simulate", "cluster", *words, "--seeds", 1, "--processes", 1, "--json")
    assert done.json["points"][0]["method"] == "first-free-node"


def test_falsify_a_policy_of_a_file(dlopt: Command, tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_text(POLICY)
    words = ("policy.py:first_free_node", "--busy", "--examples", 50, "--json")
    assert dlopt("falsify", "admission", *words).json["found"] is False
