"""networkx graphs, and the one door to files of any format."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from dlopt.errors import NotApplicableError
from dlopt.formats import detection
from dlopt.formats.networkx_conversion import from_networkx, to_networkx
from dlopt.formats.task_graph import GraphEdge, GraphTask, TaskGraph
from tests.formats import test_dax, test_task_graph_tables
from tests.formats.graph_faults import told


def digraph(**nodes: dict[str, Any]) -> Any:
    graph: Any = nx.DiGraph(name="g")
    for name, given in nodes.items():
        graph.add_node(name, **given)
    return graph


def test_from_networkx() -> None:
    graph = digraph(a={"work": 3}, b={"costs": [2, None]}, c={"costs": np.array([1.5, 2.0])})
    graph.add_edge("a", "b", data=np.int64(5))
    graph.add_edge("b", "c")
    found = from_networkx(graph, unit="amount")
    assert found.tasks[:2] == (GraphTask("a", 3), GraphTask("b", costs=(2, None)))
    assert found.tasks[2].costs == (1.5, 2.0) and found.machines == ("p0", "p1")
    assert found.edges == (GraphEdge("a", "b", 5), GraphEdge("b", "c", 0))
    assert type(found.edges[0].data) is int and found.name == "g" and found.unit == "amount"


def test_other_names_of_attributes() -> None:
    graph: Any = nx.DiGraph([(1, 2, {"weight": 4})])
    nx.set_node_attributes(graph, {1: Fraction(1, 2), 2: 7}, "weight")
    found = from_networkx(graph, work="weight", data="weight")
    assert [task.work for task in found.tasks] == [Fraction(1, 2), 7]
    assert found.edges == (GraphEdge("1", "2", 4),)


def test_there_and_back() -> None:
    tasks = GraphTask("a", Fraction(1, 3)), GraphTask("b", costs=(2, None))
    graph = TaskGraph(tasks, (GraphEdge("a", "b", 5),), name="g", machines=("m", "n"))
    assert from_networkx(to_networkx(graph)) == graph
    bare = TaskGraph((GraphTask("a", 1),), ())
    assert from_networkx(to_networkx(bare)) == bare


@pytest.mark.parametrize("graph", [nx.Graph(), nx.MultiDiGraph(), None, [("a", "b")]])
def test_what_is_no_digraph(graph: Any) -> None:
    with pytest.raises(NotApplicableError, match=r"a networkx\.DiGraph without parallel edges"):
        from_networkx(graph)


@pytest.mark.parametrize(
    ("nodes", "edges", "rule"),
    [
        ({}, [], "must hold a task"),
        ({"a": {}}, [], "node 'a': the work must be a finite number"),
        ({"a": {"work": "x"}}, [], "node 'a': the work must be a finite number, got 'x'"),
        ({"a": {"work": -1}}, [], "node 'a': the work must not be negative, got -1"),
        ({"a": {"costs": "12"}}, [], "node 'a': costs must be a list, with one entry for each"),
        ({"a": {"costs": [None]}}, [], "node 'a': a task must be able to run on some machine"),
        (
            {"a": {"costs": [1]}, "b": {"costs": [1, 2]}},
            [],
            "node 'b': must have 1 costs, as others have, got 2",
        ),
        (
            {"a": {"work": 1}, "b": {"work": 1}},
            [("a", "b", {"data": "x"})],
            "edge 'a' -> 'b': the data must be a finite number, got 'x'",
        ),
        (
            {"a": {"work": 1}, "b": {"work": 1}},
            [("a", "b"), ("b", "a")],
            "edge 'a' -> 'b': must have no cycle, got 'a -> b -> a'",
        ),
        ({"a": {"work": 1}}, [("a", "a")], "edge 'a' -> 'a': must have no cycle, got 'a -> a'"),
    ],
)
def test_bad_graphs(nodes: dict[str, Any], edges: list[Any], rule: str) -> None:
    graph = digraph(**nodes)
    graph.add_edges_from(edges)
    assert told(from_networkx, graph)[0].startswith(rule)


def test_two_nodes_with_one_name() -> None:
    graph: Any = nx.DiGraph()
    graph.add_node(1, work=1)
    graph.add_node("1", work=1)
    rule = "node '1': the name of a task must be unique, and node 1 has it, got '1'"
    assert told(from_networkx, graph) == [rule]


FILES: dict[str, tuple[str, str]] = {
    "stg": ("1\n1 5 0\n", ".stg"),
    "wfformat": (
        '{"workflow": {"tasks": [{"name": "1", "runtime": 5, "parents": [], "children": []}]}}',
        ".json",
    ),
    "dax": ('<adag><job id="1" runtime="5"/></adag>', ".xml"),
    "pegasus-dag": ("TASK 1 x 5\n", ".pegasus"),
    "dot": ("digraph { 1 [work=5] }", ".gv"),
    "costs": ("#tasks\n1: 5, 6\n", ".csv"),
}


@pytest.mark.parametrize("name", FILES)
def test_formats_are_told_by_name_by_beginning_and_by_word(name: str, tmp_path: Path) -> None:
    text, suffix = FILES[name]
    graphs = []
    for path in (tmp_path / f"a{suffix}", tmp_path / "a.txt", tmp_path / "a"):
        path.write_text(text)
        assert detection.format_of(path) == name
        graphs.append(detection.read(path))
    graphs.append(detection.read(path, format=name))  # type: ignore[arg-type]
    for graph in graphs:
        assert graph.critical_path() == 5 and graph.tasks == graphs[0].tasks


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("\n".join(test_task_graph_tables.ROWS), "costs"),
        ("\n".join(test_task_graph_tables.IDENTICAL), "costs"),
        (test_dax.DAG.partition("\n")[2], "pegasus-dag"),
        ("// a picture\ndigraph {}", "dot"),
        ("", None),
        ("hello", None),
        ("; MaxProcs: 4", None),
    ],
)
def test_beginnings(text: str, kind: str | None, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(text)
    assert detection.format_of(tmp_path / "a") == kind


def test_what_cannot_be_read(tmp_path: Path) -> None:
    assert detection.format_of(tmp_path) is None
    with pytest.raises(NotApplicableError, match="cannot tell the format of"):
        detection.read(tmp_path / "a.txt")
    with pytest.raises(NotApplicableError, match=r"no format 'x' \(known: stg"):
        detection.read(tmp_path / "a.txt", format="x")  # type: ignore[arg-type]
    with pytest.raises(NotApplicableError, match="belongs to the format costs, not to stg"):
        detection.read(tmp_path / "a.stg", edges=tmp_path / "b.csv")
