"""The Standard Task Graph Set: its variants, what it cannot say, and files that are wrong."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import NotApplicableError
from dlopt.formats.stg import bounds, parse, read, write
from dlopt.formats.task_graph import GraphEdge, GraphTask, TaskGraph
from tests.formats.graph_faults import told

PLAIN = """\
          3
          0          0          0
          1          5          1          0
          2          7          1          0
          3          2          2          1          2
          4          0          1          3
# Standard Task Graph Set Project
#   Tasks             : 3 (+dummy tasks : 2)
# CP Length           : 9
#  2 Proc.           :        9        9
#  16 Proc.          :        9
"""
TASKS = [("1", 5), ("2", 7), ("3", 2)]
EDGES = (GraphEdge("1", "3"), GraphEdge("2", "3"))


def tasks_of(graph: TaskGraph) -> list[tuple[str, object]]:
    return [(task.id, task.work) for task in graph.tasks]


def test_without_communication() -> None:
    graph = parse(["", *PLAIN.splitlines(), "  "], name="plain")
    assert tasks_of(graph) == TASKS and graph.edges == EDGES
    assert graph.unit == "time" and graph.machines == () and graph.name == "plain"
    assert graph.fact("CP Length") == "9" and graph.critical_path() == 9
    assert bounds(graph) == {2: (9, 9)}


def test_dummies_can_be_kept() -> None:
    graph = parse(PLAIN.splitlines(), dummies=True)
    assert tasks_of(graph) == [("0", 0), *TASKS, ("4", 0)]
    assert len(graph.edges) == 5 and graph.critical_path() == 9


def test_dummies_that_take_time_are_tasks() -> None:
    text = PLAIN.replace("4          0          1 ", "4          6          1 ")
    assert tasks_of(parse(text.splitlines())) == [*TASKS, ("4", 6)]


def test_the_number_of_tasks_may_count_the_dummies() -> None:
    graph = parse(PLAIN.replace("          3\n", "5\n", 1).splitlines())
    assert len(graph.tasks) == 5


@pytest.mark.parametrize(
    "lines",
    [
        ["2", "0 0 0", "1 5 1 0 0", "2 7 1 1 4", "3 0 1 2 0"],
        ["2", "0 0 0", "1 5 1", "  0 0", "2 7 1", "  1 4", "3 0 1", "  2 0"],
    ],
)
def test_with_communication(lines: list[str]) -> None:
    graph = parse(lines)
    assert tasks_of(graph) == [("1", 5), ("2", 7)]
    assert graph.edges == (GraphEdge("1", "2", 4),)


def test_the_prototype_names_machines_and_has_one_dummy() -> None:
    graph = parse(["3 2", "1 14 0", "2 20 1 1", "3 6 1 1", "4 0 2 2 3"])
    assert graph.machines == ("p0", "p1")
    assert tasks_of(graph) == [("1", 14), ("2", 20), ("3", 6)]
    assert graph.edges == (GraphEdge("1", "2"), GraphEdge("1", "3"))


BAD = {
    "empty": ([], "must hold a number of tasks"),
    "comments only": (["# nothing"], "must hold a number of tasks"),
    "text": (["some text"], "line 1: the first line holds the number of tasks, an integer"),
    "many": (["1 2 3"], "line 1: the first line holds one number, or two in a prototype, not 3"),
    "no machines": (["1 0"], "line 1: the number of machines must be from 1 to 100,000, got '0'"),
    "no tasks": (["0"], "must hold a task"),
    "short": (["1", "1 5"], "line 2: a task has its number, its time and how many tasks precede"),
    "count": (["3", "1 5 0"], "line 1: the number of tasks must be that of the lines, 1 with"),
    "name": (["1", "a 5 0"], "line 2: the number of a task must be an integer, got 'a'"),
    "time": (["1", "1 five 0"], "line 2: the time must be a finite number, got 'five'"),
    "negative": (["1", "1 -5 0"], "line 2: the time must not be negative, got '-5'"),
    "too few": (["2", "1 5 0", "2 5 2 1"], "line 3: 2 tasks that precede it must follow"),
    "too few lines": (["2", "1 5 0", "2 5 2", "1 3"], "line 3: 2 tasks that precede it must"),
    "pred": (["2", "1 5 0", "2 5 1 x"], "line 3: the number of a task must be an integer"),
    "cost": (["2", "1 5 0", "2 5 1", "1 x"], "line 4: the cost must be a finite number, got 'x'"),
    "missing": (["1", "1 5 1 7"], "line 2: an edge must join tasks of the graph, got '7'"),
    "twice": (["2", "1 5 0", "1 6 0"], "line 3: the name of a task must be unique, and line 2"),
    "cycle": (["2", "1 5 1 2", "2 6 1 1"], "line 3: must have no cycle, got '1 -> 2 -> 1'"),
    "binary": (["\0\1\2"], "line 1: the first line holds the number of tasks"),
}


@pytest.mark.parametrize(("lines", "text"), BAD.values(), ids=BAD.keys())
def test_bad_lines(lines: list[str], text: str) -> None:
    assert told(parse, lines)[0].startswith(text)


def test_bad_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.stg"
    path.write_text("1\n1 x 0\n")
    assert told(read, path) == [f"{path}: line 2: the time must be a finite number, got 'x'"]
    path.write_bytes(b"\xff\xfe")
    assert "is not valid STG: not UTF-8" in told(read, path)[0]
    assert "No such file" in told(read, tmp_path / "none.stg")[0]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    graph = parse(PLAIN.splitlines(), name="plain")
    write(graph, tmp_path / "b.stg")
    again = read(tmp_path / "b.stg")
    assert again.name == "b" and (again.tasks, again.edges) == (graph.tasks, graph.edges)
    assert tasks_of(read(tmp_path / "b.stg", dummies=True))[0] == ("0", 0)


def test_tasks_are_written_in_an_order_that_edges_allow(tmp_path: Path) -> None:
    tasks = GraphTask("late", 3), GraphTask("early", 4)
    write(TaskGraph(tasks, (GraphEdge("early", "late", 5),)), tmp_path / "c.stg")
    again = read(tmp_path / "c.stg")
    assert tasks_of(again) == [("1", 4), ("2", 3)] and again.edges == (GraphEdge("1", "2", 5),)


@pytest.mark.parametrize(
    ("graph", "text"),
    [
        (TaskGraph((GraphTask("a", costs=(1, 2)),), ()), "no cost per machine, as task a has"),
        (TaskGraph((GraphTask("a", 0.5),), ()), "integers only, and a has 0.5"),
        (
            TaskGraph(
                (GraphTask("a", 1), GraphTask("b", 1)), (GraphEdge("a", "b", Fraction(1, 3)),)
            ),
            "integers only, and a -> b has 1/3",
        ),
    ],
)
def test_what_it_cannot_say(graph: TaskGraph, text: str, tmp_path: Path) -> None:
    with pytest.raises(NotApplicableError, match=text):
        write(graph, tmp_path / "d.stg")
    assert not (tmp_path / "d.stg").exists()


@pytest.mark.property
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=8),
    st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))),
    st.booleans(),
)
def test_round_trips(
    tmp_path_factory: pytest.TempPathFactory,
    works: list[int],
    pairs: set[tuple[int, int]],
    sends: bool,
) -> None:
    tasks = tuple(GraphTask(str(k), work) for k, work in enumerate(works))
    edges = tuple(
        GraphEdge(str(s), str(t), (s + 2 * t) * sends)
        for s, t in sorted(pairs)
        if s < t < len(works)
    )
    graph = TaskGraph(tasks, edges)
    path = tmp_path_factory.getbasetemp() / "round.stg"
    write(graph, path)
    again = read(path)
    assert again.critical_path() == graph.critical_path()
    assert sorted(task.work or 0 for task in again.tasks) == sorted(works)
    assert sorted(edge.data for edge in again.edges) == sorted(edge.data for edge in edges)
    write(again, path)
    assert read(path) == again


def test_facts_are_read_in_linear_time() -> None:
    """A key, a colon and a value; blanks between them, however many, count for nothing."""
    lines = ["1 1", "0 3 0", f"# Key one : a{' ' * 50_000}b", "# : none", "# é: none", "# no colon"]
    facts = dict(parse(lines).facts)
    assert facts["Key one"] == f"a{' ' * 50_000}b" and len(facts) == 1
