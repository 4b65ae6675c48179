"""Tables with a cost per task and machine, in the four shapes that papers use."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.formats.task_graph import GraphEdge, TaskGraph
from dlopt.formats.task_graph_tables import parse, read
from tests.formats.graph_faults import told

SECTIONS = ["#critical", "0.0", "#tasks", "0: 5, 8. ", "1: 2, -", "#edges", "0: 0, 1, 4", "#end"]
ROWS = ["10 5.5 8", "11 2 -1 10", "12 1 1 10,11"]
IDENTICAL = ["3 2 4", "5 6", "7 0 1", "1 2"]
TIMES = ["task,P1,P2", "a,14,16", "b,13,-"]
LISTED = ["from,to,cost", "a,b,18"]
SQUARE = ["T,T0,T1", "T0,0,18", "T1,,0"]


def costs_of(graph: TaskGraph) -> list[tuple[str, object]]:
    return [(task.id, task.costs) for task in graph.tasks]


def test_sections() -> None:
    graph = parse(SECTIONS, name="s")
    assert costs_of(graph) == [("0", (5, 8)), ("1", (2, None))]
    assert graph.edges == (GraphEdge("0", "1", 4),) and graph.machines == ("p0", "p1")
    assert graph.name == "s" and graph.unit == "time" and graph.critical_path() == 7


def test_rows() -> None:
    graph = parse(ROWS)
    assert costs_of(graph) == [("10", (5.5, 8)), ("11", (2, None)), ("12", (1, 1))]
    assert graph.pairs == [(0, 1), (0, 2), (1, 2)]
    assert parse(ROWS, exact_numbers=True).tasks[0].costs == (Fraction(11, 2), 8)


def test_identical_machines() -> None:
    graph = parse(IDENTICAL)
    assert [(task.id, task.work) for task in graph.tasks] == [("0", 5), ("1", 6), ("2", 7)]
    assert graph.pairs == [(0, 1), (1, 2)] and len(graph.machines) == 4


def test_rows_that_begin_like_a_head() -> None:
    """Three integers may be a task with its costs, even where the count of numbers fits both."""
    first = parse(["0 4 9", "1 2 3 0", "2 5 6 1"])
    assert costs_of(first) == [("0", (4, 9)), ("1", (2, 3)), ("2", (5, 6))]
    assert first.pairs == [(0, 1), (1, 2)]
    second = parse(["1 3 5", "2 4 6", "3 7 8 1"])
    assert costs_of(second) == [("1", (3, 5)), ("2", (4, 6)), ("3", (7, 8))]
    assert second.pairs == [(0, 2)]
    head = parse(["2 1 2", "5 6", "0 1"])
    assert [task.work for task in head.tasks] == [5, 6] and head.pairs == [(0, 1)]


@pytest.mark.parametrize("edges", [LISTED, SQUARE])
def test_tables(edges: list[str]) -> None:
    graph = parse(TIMES, edges=edges)
    assert costs_of(graph) == [("a", (14, 16)), ("b", (13, None))]
    assert graph.edges == (GraphEdge("a", "b", 18),) and graph.machines == ("P1", "P2")


def test_a_table_without_edges() -> None:
    assert parse(TIMES).edges == parse(TIMES, edges=["from,to,cost"]).edges == ()


BAD = {
    "empty": ([], None, "must hold a task"),
    "text": (["hello"], None, "line 1: a row must have a task and its costs, got 'hello'"),
    "no colon": (["#tasks", "0 5"], None, "line 2: a line must begin with a number and a colon"),
    "width": (["#tasks", "0: 5, 8", "1: 2"], None, "line 3: a task must have 2 costs, as others"),
    "edge": (["#tasks", "0: 5", "#edges", "0: 0"], None, "line 4: an edge must have three numbers"),
    "end": (["#tasks", "0: 5", "#edges", "0: 0, 7, 1"], None, "line 4: an edge must join tasks"),
    "cost": (["#tasks", "0: 5, x"], None, "line 2: the cost must be a finite number, got 'x'"),
    "cut": (["#tasks", "0: 5, 8", "1: 3,"], None, "line 3: a cost is missing: - stands where a"),
    "no cost": (["#tasks", "0:"], None, "line 2: a cost is missing"),
    "too many machines": (["1 0 100001", "5"], None, "line 1: the number of machines must be"),
    "negative": (["#tasks", "0: -1"], None, "line 2: the cost must not be negative, got '-1'"),
    "nowhere": (["#tasks", "0: -"], None, "line 2: a task must be able to run on some machine"),
    "cycle": (["#tasks", "0: 1", "#edges", "0: 0, 0, 1"], None, "line 4: must have no cycle"),
    "stray": (["1 5 6", "2 5 6 1, 1"], None, "line 2: predecessors must follow each other with"),
    "row": (["1 5 x"], None, "line 1: the cost must be a finite number, got 'x'"),
    "few": (["2 1 2", "5 6"], None, "line 1: 2 times and 1 edges must follow, 4 numbers, got 2"),
    "machines": (["1 0 0", "5"], None, "line 1: the number of machines must be from 1 to"),
    "table": (["t,P1", "a,1,2"], None, "line 2: a task must have 1 costs, as others have, got 2"),
    "listed": (TIMES, ["from,to,cost", "a,b"], "edges, line 2: the row must have 3 cells, got 2"),
    "sent": (TIMES, ["from,to,cost", "a,b,x"], "edges, line 2: the cost must be a finite number"),
    "unknown": (TIMES, ["from,to,cost", "a,c,1"], "edges, line 2: an edge must join tasks"),
    "square": (TIMES, SQUARE[:2], "edges, line 1: the table must have a row for each of the 2"),
    "cells": (TIMES, [*SQUARE[:2], "T1,0"], "edges, line 3: the row must have 3 cells, got 2"),
}


@pytest.mark.parametrize(("lines", "edges", "rule"), BAD.values(), ids=BAD.keys())
def test_bad_tables(lines: list[str], edges: list[str] | None, rule: str) -> None:
    assert told(parse, lines, edges=edges)[0].startswith(rule)


def test_files(tmp_path: Path) -> None:
    times, links = tmp_path / "times.csv", tmp_path / "links.csv"
    times.write_text("\n".join(TIMES))
    links.write_text("\n".join(LISTED))
    assert read(times, edges=links) == parse(TIMES, edges=LISTED, name="times")
    links.write_text("from,to,cost\na,c,1\n")
    assert told(read, times, edges=links)[0].startswith(f"{links}: line 2: an edge must join")
    times.write_text("task,P1\na,x\n")
    assert told(read, times, edges=links)[0].startswith(f"{times}: line 2: the cost must be")


def test_a_cell_beyond_what_csv_reads_is_told():
    cell = "x" * 200_000
    with pytest.raises(InvalidInstanceError, match="line 3: is no line of a table: field larger"):
        parse([*TIMES[:2], f"b,1,{cell}"])
    with pytest.raises(InvalidInstanceError, match="edges, line 2: is no line of a table"):
        parse(TIMES, edges=[LISTED[0], f"a,{cell},1"])
