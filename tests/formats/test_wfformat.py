"""WfFormat: both schemas, and files that are wrong."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dlopt.formats.task_graph import GraphEdge
from dlopt.formats.wfformat import from_data, read
from tests.formats.graph_faults import told

NEW: dict[str, Any] = {
    "name": "two",
    "schemaVersion": "1.5",
    "workflow": {
        "specification": {
            "tasks": [
                {"id": "a", "parents": [], "children": ["b"], "outputFiles": ["f", "g"]},
                {"id": "b", "parents": ["a"], "children": [], "inputFiles": ["f", "h"]},
            ],
            "files": [
                {"id": "f", "sizeInBytes": 8},
                {"id": "g", "sizeInBytes": 4},
                {"id": "h", "sizeInBytes": 2},
            ],
        },
        "execution": {
            "makespanInSeconds": 99,
            "tasks": [
                {"id": "a", "runtimeInSeconds": 1.5},
                {"id": "b", "runtimeInSeconds": 3},
            ],
        },
    },
}
OLD: dict[str, Any] = {
    "name": "two",
    "schemaVersion": "1.4",
    "workflow": {
        "makespanInSeconds": 99,
        "tasks": [
            {
                "name": "a",
                "id": "ID1",
                "runtimeInSeconds": 1.5,
                "children": ["b"],
                "parents": [],
                "files": [
                    {"link": "output", "name": "f", "sizeInBytes": 8},
                    {"link": "output", "name": "g", "sizeInBytes": 4},
                ],
            },
            {
                "name": "b",
                "id": "ID2",
                "runtime": 3,
                "children": [],
                "parents": ["a"],
                "files": [
                    {"link": "input", "name": "f", "size": 8},
                    {"link": "input", "name": "h", "sizeInBytes": 2},
                ],
            },
        ],
    },
}


@pytest.mark.parametrize("data", [NEW, OLD], ids=["1.5", "1.4"])
def test_both_schemas_say_the_same(data: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    path.write_text(json.dumps(data))
    graph = read(path)
    assert graph == from_data(data)
    assert [(task.id, task.work) for task in graph.tasks] == [("a", 1.5), ("b", 3)]
    assert graph.edges == (GraphEdge("a", "b", 8),) and graph.unit == "amount"
    assert graph.name == "two" and graph.fact("makespanInSeconds") == "99"
    assert graph.fact("schemaVersion") == data["schemaVersion"] and graph.machines == ()
    assert read(path, exact_numbers=True).tasks[0].work == Fraction(3, 2)


@pytest.mark.parametrize("missing", ["parents", "children"])
def test_one_side_of_an_edge_is_enough(missing: str) -> None:
    data = copy.deepcopy(OLD)
    for task in data["workflow"]["tasks"]:
        del task[missing]
    assert from_data(data).edges == (GraphEdge("a", "b", 8),)


_NEW_TASK = "workflow.specification.tasks[1]"
BAD: dict[str, tuple[dict[str, Any], list[object], Any, str]] = {
    "top": (NEW, ["workflow"], None, "workflow: must be an object, got None"),
    "list": (NEW, ["workflow", "specification", "tasks"], 3, "tasks: must be a list, got 3"),
    "entry": (OLD, ["workflow", "tasks", 1], 3, "workflow.tasks[1]: must be an object, got 3"),
    "no execution": (NEW, ["workflow", "execution"], [], "workflow.execution: must be an object"),
    "not run": (
        NEW,
        ["workflow", "execution", "tasks", 1, "id"],
        "c",
        f"{_NEW_TASK}.id: must be among workflow.execution.tasks, with its run time, got 'b'",
    ),
    "no file": (
        NEW,
        ["workflow", "specification", "files", 2, "id"],
        "i",
        f"{_NEW_TASK}.inputFiles[1]: must be among workflow.specification.files, got 'h'",
    ),
    "run time": (
        NEW,
        ["workflow", "execution", "tasks", 0, "runtimeInSeconds"],
        "soon",
        "workflow.execution.tasks[0].runtimeInSeconds: the run time must be a finite number",
    ),
    "negative": (
        OLD,
        ["workflow", "tasks", 0, "runtimeInSeconds"],
        -1,
        "workflow.tasks[0].runtimeInSeconds: the run time must not be negative, got -1",
    ),
    "size": (
        OLD,
        ["workflow", "tasks", 0, "files", 1, "sizeInBytes"],
        True,
        "workflow.tasks[0].files[1].sizeInBytes: the number must be a finite number, got True",
    ),
    "link": (
        OLD,
        ["workflow", "tasks", 0, "files", 1, "link"],
        "both",
        "workflow.tasks[0].files[1].link: must be input or output, got 'both'",
    ),
    "name": (OLD, ["workflow", "tasks", 1, "name"], 7, "workflow.tasks[1].name: must be a text"),
    "twice": (
        OLD,
        ["workflow", "tasks", 1, "name"],
        "a",
        "workflow.tasks[1]: the name of a task must be unique, and workflow.tasks[0] has it",
    ),
    "parents": (
        NEW,
        ["workflow", "specification", "tasks", 1, "parents"],
        [7],
        f"{_NEW_TASK}.parents: must be a list of texts, got [7]",
    ),
    "not a child": (
        NEW,
        ["workflow", "specification", "tasks", 0, "children"],
        [],
        f"{_NEW_TASK}.parents[0]: must have 'b' among its children, got 'a'",
    ),
    "not a parent": (
        NEW,
        ["workflow", "specification", "tasks", 1, "parents"],
        [],
        "workflow.specification.tasks[0].children[0]: must have 'a' among its parents, got 'b'",
    ),
    "dangling": (
        NEW,
        ["workflow", "specification", "tasks", 1, "parents"],
        ["a", "c"],
        f"{_NEW_TASK}.parents[1]: an edge must join tasks of the graph, got 'c'",
    ),
    "empty": (OLD, ["workflow", "tasks"], [], "must hold a task"),
}


@pytest.mark.parametrize(("data", "path", "value", "rule"), BAD.values(), ids=BAD.keys())
def test_bad_files(data: dict[str, Any], path: list[Any], value: Any, rule: str) -> None:
    changed = copy.deepcopy(data)
    at: Any = changed
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    assert any(rule in line for line in told(from_data, changed))


def test_a_cycle() -> None:
    data = copy.deepcopy(NEW)
    first, second = data["workflow"]["specification"]["tasks"]
    first["parents"], second["children"] = ["b"], ["a"]
    (line,) = told(from_data, data)
    assert line == (f"{_NEW_TASK}.parents[0]: must have no cycle, got 'a -> b -> a'")


@pytest.mark.parametrize("data", [None, [], "x", {}, {"workflow": {}}])
def test_no_workflow_at_all(data: object) -> None:
    assert len(told(from_data, data)) <= 2


def test_a_file_that_is_no_json(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"workflow": ')
    assert "is not valid JSON" in told(read, tmp_path / "a.json")[0]
    (tmp_path / "a.json").write_text("{}")
    assert told(read, tmp_path / "a.json") == [
        f"{tmp_path / 'a.json'}: workflow: must be an object"
    ]


def test_where_tasks_differ_on_a_size_the_writer_is_right() -> None:
    data = copy.deepcopy(OLD)
    data["workflow"]["tasks"][1]["files"][0]["size"] = 5
    assert from_data(data).edges == (GraphEdge("a", "b", 8),)
    data["workflow"]["tasks"].reverse()
    assert from_data(data).edges == (GraphEdge("a", "b", 8),)


def test_one_file_has_one_size() -> None:
    data = copy.deepcopy(OLD)
    written = data["workflow"]["tasks"][0]["files"]
    first = next(file for file in written if file["link"] == "output" and file["name"] == "f")
    written.append(first | {"size": 9})
    message = "files[2].size: must be 8 as before: the task writes one file of that name"
    assert message in told(from_data, data)[0]
    data = copy.deepcopy(NEW)
    files = data["workflow"]["specification"]["files"]
    again = {key: value for key, value in files[0].items() if key != "sizeInBytes"}
    files.append(again | {"sizeInBytes": 99})
    found = told(from_data, data)[0]
    assert "sizeInBytes: must be" in found and "as before: one file has that id" in found
