"""Task graphs with a cost per task and machine, as papers on HEFT and its kin publish them.

There is no standard. Read are four shapes, distinguished by how they begin:

- sections ``#tasks`` (``id: cost, cost, ...``) and ``#edges`` (``id: from, to, cost``);
- rows ``id cost cost ... predecessor,predecessor``, -1 where a task cannot run, without
  communication;
- ``n e p``, then n times of tasks on any of p identical machines, then e rows ``from to``;
- tables with commas: a row per task with its cost on each machine, and apart from it what edges
  send, as rows ``from,to,cost`` or as a square table with 0 or nothing where there is no edge.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from dlopt.arithmetic import Number
from dlopt.errors import MISSING, InvalidInstanceError
from dlopt.formats.task_graph import MOST_MACHINES, TaskGraph, TaskGraphBuilder
from dlopt.json_files import load_text

_NOWHERE = frozenset({"", "-", "inf", "infinity", "none", "null", "nan"})
"""Entries of a table that mean that a task cannot run on a machine."""


def parse(
    lines: Iterable[str],
    *,
    name: str = "",
    edges: Iterable[str] | None = None,
    exact_numbers: bool = False,
) -> TaskGraph:
    """Read a graph from its lines.

    Parameters
    ----------
    lines : iterable of str
    name : str
    edges : iterable of str, optional
        The lines of the second table, of the shape that has two.
    exact_numbers : bool, default False
        Read decimals as rationals.

    Returns
    -------
    TaskGraph

    Raises
    ------
    InvalidInstanceError
        With the line of every fault; those of `edges` are named ``edges, line 3``.

    Examples
    --------
    >>> graph = parse(["task,P1,P2", "a,14,16", "b,13,-"], edges=["from,to,cost", "a,b,18"])
    >>> graph.machines, graph.tasks[1].costs, graph.edges[0].data
    (('P1', 'P2'), (13, None), 18)
    >>> parse(["#tasks", "0: 5, 10", "1: 2, 1", "#edges", "0: 0, 1, 4"]).critical_path()
    6
    """
    builder = TaskGraphBuilder(exact_numbers=exact_numbers)
    rows = [(n, line.strip()) for n, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        builder.fault("", MISSING, "must hold a task")
        builder.fail()
    first = rows[0][1]
    if first.startswith("#"):
        machines = _sections(builder, rows)
    elif "," in first and not first[0].isdigit():
        machines = _tables(builder, rows, list(edges or ()))
    elif _is_identical(rows):
        machines = _identical(builder, rows)
    else:
        machines = _rows(builder, rows)
    return builder.graph(name, machines=machines)


def read(
    path: str | os.PathLike[str],
    *,
    edges: str | os.PathLike[str] | None = None,
    exact_numbers: bool = False,
) -> TaskGraph:
    """Read a graph from a file, or from a table of tasks and one of `edges`, as `parse` does.

    Raises
    ------
    InvalidInstanceError
        If a file cannot be read, or is none; it names the file.
    """
    lines = load_text(path, "table").splitlines()
    second = None if edges is None else load_text(edges, "table").splitlines()
    name = os.path.splitext(os.path.basename(os.fspath(path)))[0]
    try:
        return parse(lines, name=name, edges=second, exact_numbers=exact_numbers)
    except InvalidInstanceError as error:
        if edges is not None and all(fault.path.startswith("edges, ") for fault in error.faults):
            own = [replace(fault, path=fault.path[7:]) for fault in error.faults]
            raise InvalidInstanceError(own, os.fspath(edges)) from None
        raise error.within(os.fspath(path)) from None


def _is_identical(rows: list[tuple[int, str]]) -> bool:
    """Return whether the first line is a head, not a row of costs that begins like one."""
    head = rows[0][1].split()
    if len(rows) < 2 or len(head) != 3 or not all(word.isdigit() for word in head):
        return False
    tasks, edges, _ = map(int, head)
    words = [word for _, text in rows[1:] for word in text.split()]
    if tasks == 0 or (len(words) != tasks + 2 * edges and len(rows[1][1].split()) != tasks):
        return False
    # Rows of costs may have as many numbers, but then what should be edges names other tasks.
    names = {str(k) for k in range(tasks)}
    return set(words[tasks:]) <= names or not _are_rows(rows)


def _are_rows(rows: list[tuple[int, str]]) -> bool:
    """Return whether rows begin with distinct names, and end with names of each other."""
    words = [text.split() for _, text in rows]
    width = min(map(len, words))
    names = {row[0] for row in words}
    before = [name for row in words if len(row) > width for name in row[width].split(",")]
    return len(names) == len(rows) and max(map(len, words)) <= width + 1 and names >= set(before)


def _sections(builder: TaskGraphBuilder, rows: list[tuple[int, str]]) -> list[str]:
    section, width = "", 0
    for n, text in rows:
        if text.startswith("#"):
            section = text[1:].strip().lower()
            continue
        head, colon, rest = text.partition(":")
        words = [word.strip() for word in rest.split(",")]
        if section not in ("tasks", "edges"):
            continue
        if not colon:
            builder.fault(n, text, "a line must begin with a number and a colon")
        elif section == "tasks" and "" in words:
            builder.fault(n, rest.strip(), "a cost is missing: - stands where a task cannot run")
        elif section == "tasks":
            width = width or len(words)
            builder.task(n, head.strip(), costs=_costs(builder, n, words, width))
        elif len(words) != 3:
            builder.fault(n, len(words), "an edge must have three numbers: from, to, cost")
        else:
            data = builder.amount(n, words[2], what="cost")
            builder.edge(n, words[0], words[1], data)
    return _names(width)


def _rows(builder: TaskGraphBuilder, rows: list[tuple[int, str]]) -> list[str]:
    # As many costs as the shortest row has, which is one without predecessors.
    width = min(len(text.split()) for _, text in rows) - 1
    if width < 1:
        builder.fault(rows[0][0], rows[0][1], "a row must have a task and its costs")
        builder.fail()
    for n, text in rows:
        words = text.split()
        name, costs, before = words[0], words[1 : width + 1], words[width + 1 :]
        if len(before) > 1:
            builder.fault(n, before[1], "predecessors must follow each other with commas only")
        costs = ["-" if cost == "-1" else cost for cost in costs]
        builder.task(n, name, costs=_costs(builder, n, costs, width))
        for source in before[0].split(",") if before else []:
            builder.edge(n, source, name)
    return _names(width)


def _identical(builder: TaskGraphBuilder, rows: list[tuple[int, str]]) -> list[str]:
    n, text = rows[0]
    tasks, edges, machines = (int(word) for word in text.split())
    words = [(line, word) for line, row in rows[1:] for word in row.split()]
    if len(words) != tasks + 2 * edges:
        text = f"{tasks} times and {edges} edges must follow, {tasks + 2 * edges} numbers"
        builder.fault(n, len(words), text)
    if not 1 <= machines <= MOST_MACHINES:
        rule = f"the number of machines must be from 1 to {MOST_MACHINES:,}"
        builder.fault(n, machines, rule)
    if builder.faults:
        builder.fail()
    for k, (line, word) in enumerate(words[:tasks]):
        builder.task(line, str(k), work=builder.amount(line, word, what="time"))
    for (line, source), (_, target) in list(pairwise(words[tasks:]))[::2]:
        builder.edge(line, source, target)
    return _names(machines)


def _tables(builder: TaskGraphBuilder, rows: list[tuple[int, str]], edges: list[str]) -> list[str]:
    head, *body = ((n, _cells(builder, n, text)) for n, text in rows)
    machines = head[1][1:]
    names = []
    for n, cells in body:
        names.append(cells[0])
        builder.task(n, cells[0], costs=_costs(builder, n, cells[1:], len(machines)))
    places = ((f"edges, line {n}", text) for n, text in enumerate(edges, 1) if text.strip())
    second = [(place, _cells(builder, place, text)) for place, text in places]
    if second:
        listed = len(second[0][1]) == 3 and second[0][1][0].lower() in ("from", "source")
        square = None if listed else names
        for place, source, target, data in _sent(builder, second, square):
            builder.edge(place, source, target, data)
    return machines


def _sent(
    builder: TaskGraphBuilder, rows: list[tuple[str, list[str]]], square: list[str] | None
) -> Iterator[tuple[str, str, str, Number]]:
    """Yield the data of edges, from rows or from a square table of the tasks in their order."""
    if square is not None and len(rows) != len(square) + 1:
        text = f"the table must have a row for each of the {len(square)} tasks"
        builder.fault(rows[0][0], len(rows) - 1, text)
        return
    width = 3 if square is None else len(square) + 1
    for k, (place, cells) in enumerate(rows[1:]):
        if len(cells) != width:
            builder.fault(place, len(cells), f"the row must have {width} cells")
        elif square is None:
            yield place, cells[0], cells[1], builder.amount(place, cells[2], what="cost")
        else:
            for target, cell in zip(square, cells[1:], strict=True):
                data = builder.amount(place, cell, what="cost") if cell else 0
                if data:
                    yield place, square[k], target, data


def _costs(builder: TaskGraphBuilder, n: int, words: list[str], width: int) -> list[Number | None]:
    if len(words) != width:
        builder.fault(n, len(words), f"a task must have {width} costs, as others have")
    return [
        None if word.lower() in _NOWHERE else builder.amount(n, word, what="cost") for word in words
    ]


def _cells(builder: TaskGraphBuilder, place: int | str, text: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([text]))]
    except csv.Error as error:  # a cell of more than 131,072 characters
        builder.fault(place, text, f"is no line of a table: {error}")
        builder.fail()


def _names(count: int) -> list[str]:
    return [f"p{k}" for k in range(count)]
