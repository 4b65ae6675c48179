"""Task graphs as records, and the faults that every reader of them can tell."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.formats.task_graph import (
    MOST_FAULTS,
    GraphEdge,
    GraphTask,
    TaskGraph,
    TaskGraphBuilder,
    parse_number,
    shared_files,
)
from tests.formats.graph_faults import told


def collected(tasks: str, *edges: str) -> TaskGraphBuilder:
    """Return a collector with tasks of one letter each, and edges such as ``ab``."""
    collector = TaskGraphBuilder()
    for line, name in enumerate(tasks, 1):
        collector.task(line, name, work=1)
    for line, ends in enumerate(edges, len(tasks) + 1):
        collector.edge(line, ends[0], ends[1])
    return collector


def test_a_graph() -> None:
    graph = collected("abc", "ab", "cb").graph("g", machines=["m"], facts=[("CP", "2")])
    assert graph.edges == (GraphEdge("a", "b"), GraphEdge("c", "b"))
    assert graph.pairs == [(0, 1), (2, 1)] and graph.machines == ("m",)
    assert graph.fact("CP") == "2" and graph.fact("cp") is None
    assert graph.critical_path() == 2


def test_a_critical_path_takes_the_fastest_machine_and_no_communication() -> None:
    tasks = GraphTask("a", costs=(None, 7, 5)), GraphTask("b", Fraction(1, 2)), GraphTask("c", 6)
    graph = TaskGraph(tasks, (GraphEdge("a", "b", 100),))
    assert graph.critical_path() == Fraction(6)
    assert TaskGraph(tasks[:2], graph.edges).critical_path() == Fraction(11, 2)


def test_an_empty_graph() -> None:
    assert told(TaskGraphBuilder().graph) == ["must hold a task"]


def test_a_name_twice() -> None:
    rule = "line 3: the name of a task must be unique, and line 1 has it, got 'a'"
    assert told(collected("aba").graph) == [rule]


def test_an_edge_to_nowhere_names_each_end() -> None:
    assert told(collected("a", "ax", "yz").graph) == [
        "line 2: an edge must join tasks of the graph, got 'x'",
        "line 3: an edge must join tasks of the graph, got 'y'",
        "line 3: an edge must join tasks of the graph, got 'z'",
    ]


def test_an_edge_to_a_task_that_was_refused_is_no_fault_of_its_own() -> None:
    collector = collected("a", "ab")
    collector.fault(7, "b", "must be a task")
    assert told(collector.graph) == ["line 7: must be a task, got 'b'"]


def test_an_edge_twice() -> None:
    rule = "line 4: an edge must be given once, and line 3 has it, got 'a -> b'"
    assert told(collected("ab", "ab", "ab").graph) == [rule]


@pytest.mark.parametrize(
    ("edges", "cycle", "line"),
    [
        (["aa"], "a -> a", 5),
        (["ab", "ba"], "a -> b -> a", 5),
        (["ab", "bc", "cd", "db"], "b -> c -> d -> b", 6),
        (["ca", "ac", "ab"], "a -> c -> a", 6),
    ],
)
def test_a_cycle_is_told_with_a_line(edges: list[str], cycle: str, line: int) -> None:
    found = told(collected("abcd", *edges).graph)
    assert found == [f"line {line}: must have no cycle, got '{cycle}'"]


def test_a_long_cycle_is_cut_short() -> None:
    collector = TaskGraphBuilder()
    for k in range(20):
        collector.task(f"task {k}", str(k), work=0)
        collector.edge(f"edge {k}", str(k), str((k + 1) % 20))
    rule = "edge 0: must have no cycle, got '0 -> 1 -> 2 -> 3 -> 4 -> 5 -> ... -> 0'"
    assert told(collector.graph) == [rule]


@pytest.mark.property
@given(st.integers(2, 6), st.data())
def test_a_cycle_is_found_where_there_is_one(count: int, data: st.DataObject) -> None:
    pairs = list(itertools.permutations(range(count), 2))
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True))
    names = "abcdef"[:count]
    collector = collected(names, *(names[s] + names[t] for s, t in edges))
    orders = itertools.permutations(range(count))
    if any(all(order.index(s) < order.index(t) for s, t in edges) for order in orders):
        assert collector.graph().pairs == edges
    else:
        (line,) = told(collector.graph)
        walk = line.rpartition("got ")[2].strip("'").split(" -> ")
        assert walk[0] == walk[-1]
        assert all((names.index(s), names.index(t)) in edges for s, t in itertools.pairwise(walk))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("007", 7),
        ("8.", 8),
        (".5", 0.5),
        ("2e9", 2_000_000_000),
        ("1/3", 1 / 3),
        ("9" * 30, int("9" * 30)),
    ],
)
def test_numerals(text: str, number: float) -> None:
    found = parse_number(text)
    assert found == number and type(found) is type(number)


def test_exact_numerals() -> None:
    assert parse_number("0.1", exact_numbers=True) == Fraction(1, 10)
    assert TaskGraphBuilder(exact_numbers=True).amount(1, " 13.59 ") == Fraction(1359, 100)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("x", "must be a finite number"),
        ("nan", "must be a finite number"),
        ("inf", "must be a finite number"),
        ("", "must be a finite number"),
        ("1e5000", "must be a finite number"),
        (None, "must be a finite number"),
        (True, "must be a finite number"),
        (float("nan"), "must be a finite number"),
        ("-1", "must not be negative"),
        (Fraction(-1, 2), "must not be negative"),
        ("1e101", "must be at most 1e100"),
    ],
)
def test_amounts_that_are_none(value: object, rule: str) -> None:
    collector = TaskGraphBuilder()
    assert collector.amount(3, value, what="time") == 0
    (fault,) = collector.faults
    assert (fault.path, fault.value, fault.rule) == ("line 3", value, f"the time {rule}")


def test_a_task_that_runs_nowhere() -> None:
    collector = TaskGraphBuilder()
    collector.task("row 1", "a", costs=[None, None])
    assert told(collector.graph) == ["row 1: a task must be able to run on some machine, got 'a'"]


def test_reading_stops_at_the_hundredth_fault() -> None:
    collector = TaskGraphBuilder()
    for line in range(1, MOST_FAULTS):
        collector.amount(line, "x")
    assert len(told(collector.amount, MOST_FAULTS, "x")) == 21  # twenty, and how many more


def test_shared_files_are_the_same_whichever_has_more() -> None:
    few, many = {"b": 1, "c": 2}, dict.fromkeys("abcd")
    assert shared_files(few, many) == shared_files(many, few) == ["b", "c"]


def test_a_hundred_thousand_tasks_in_a_row() -> None:
    collector = TaskGraphBuilder()
    count = 100_000
    for k in range(count):
        collector.task(k, str(k), work=1)
        if k:
            collector.edge(k, str(k - 1), str(k))
    assert collector.graph().critical_path() == count
    collector.edge(count, str(count - 1), "0")
    (line,) = told(collector.graph)
    assert line.startswith("line 1: must have no cycle")
