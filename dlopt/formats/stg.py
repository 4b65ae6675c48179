"""The Standard Task Graph Set (STG): task graphs for identical machines.

The first line has the number of tasks; then follows a line per task: its number, its time, its
number of predecessors, and these. Two dummies of time 0, the first and the last, are not counted.
With communication, each predecessor is followed by the transfer time, on the same line or on one of
its own. The prototype set counts from 1, has a number of machines in the first line and a dummy at
the end only. Lines with ``#`` have known properties of the graph.
http://www.kasahara.cs.waseda.ac.jp/schedule/format_e.html
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from dlopt.arithmetic import Number
from dlopt.errors import MISSING, InvalidInstanceError, NotApplicableError
from dlopt.formats.task_graph import MOST_MACHINES, TaskGraph, TaskGraphBuilder
from dlopt.json_files import load_text, replacing
from dlopt.problems.dag.topology import successors_of, topological

_BOUNDS = re.compile(r"(\d+) Proc\.")


def parse(
    lines: Iterable[str], *, name: str = "", dummies: bool = False, exact_numbers: bool = False
) -> TaskGraph:
    """Read a graph from its lines.

    Parameters
    ----------
    lines : iterable of str
    name : str
    dummies : bool, default False
        Keep the first and the last task if their time is 0. They change no critical path and no
        optimum, but would each take a place on some machine.
    exact_numbers : bool
        Read decimals as rationals. Times of the set are integers.

    Returns
    -------
    TaskGraph
        Tasks are named by their numbers; `facts` are what the lines with ``#`` say.

    Raises
    ------
    InvalidInstanceError
        With the line of every fault.

    Examples
    --------
    >>> graph = parse(["2", "0 0 0", "1 5 1 0", "2 7 1 1", "3 0 1 2", "# CP Length : 12"])
    >>> [(task.id, task.work) for task in graph.tasks], len(graph.edges), graph.fact("CP Length")
    ([('1', 5), ('2', 7)], 1, '12')
    """
    builder = TaskGraphBuilder(exact_numbers=exact_numbers)
    facts, rows = [], []
    for n, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("#"):
            key, colon, value = (part.strip() for part in text[1:].partition(":"))
            if colon and key[:1].isascii() and key[:1].isalnum():
                facts.append((key, value))
        elif text:
            rows.append((n, text.split()))
    if not rows:
        builder.fault("", MISSING, "must hold a number of tasks")
        builder.fail()
    machines = _head(builder, *rows[0])
    read = list(_entries(builder, rows[1:]))
    extra = _count_dummies(builder, rows[0], read)
    kept = read if dummies or extra < 1 else _without_dummies(read, extra)
    for entry in kept:
        builder.task(entry.line, entry.id, work=entry.work)
    names = {entry.id for entry in read}
    for entry in kept:
        for before, data in entry.before:
            # a dummy is no task, but what names neither is a fault
            if before in builder or before not in names:
                builder.edge(entry.line, before, entry.id, data)
    numbered = [f"p{k}" for k in range(machines)]
    return builder.graph(name, machines=numbered, facts=facts)


def read(
    path: str | os.PathLike[str], *, dummies: bool = False, exact_numbers: bool = False
) -> TaskGraph:
    """Read a graph from a file, as `parse` does; it is named like the file.

    Raises
    ------
    InvalidInstanceError
        If the file cannot be read, or is none; it names the file.
    """
    lines = load_text(path, "STG").splitlines()
    name = os.path.splitext(os.path.basename(os.fspath(path)))[0]
    try:
        return parse(lines, name=name, dummies=dummies, exact_numbers=exact_numbers)
    except InvalidInstanceError as error:
        raise error.within(os.fspath(path)) from None


def bounds(graph: TaskGraph) -> dict[int, tuple[int, int]]:
    """Return the published lower bound and best known makespan by number of machines.

    Examples
    --------
    >>> bounds(parse(["1", "0 0 0", "1 5 1 0", "2 0 1 1", "#  2 Proc. : 5 5"]))
    {2: (5, 5)}
    """
    found = {}
    for key, value in graph.facts:
        match = _BOUNDS.fullmatch(key)
        numbers = value.split()
        if match and len(numbers) == 2 and all(number.isdigit() for number in numbers):
            found[int(match[1])] = (int(numbers[0]), int(numbers[1]))
    return found


def write(graph: TaskGraph, path: str | os.PathLike[str]) -> None:
    """Write a graph, renumbered in topological order, between two dummies.

    Communication is written, a line per edge, if some edge has any.

    Raises
    ------
    NotApplicableError
        If the tasks have a cost per machine or a number is no integer, which the format does not
        support; or if the file cannot be written.
    """
    text = "\n".join(_lines(graph)) + "\n"
    with replacing(path) as file:
        file.write(text.encode())


@dataclass(frozen=True, slots=True)
class _TaskLine:
    line: int
    id: str
    work: Number
    before: list[tuple[str, Number]]


def _head(builder: TaskGraphBuilder, n: int, words: list[str]) -> int:
    """Return the number of machines in the first line, 0 if it has none."""
    for word in words[:2]:
        if not _is_index(word):
            builder.fault(n, word, "the first line holds the number of tasks, an integer")
    if len(words) > 2:
        text = f"the first line holds one number, or two in a prototype, not {len(words)}"
        builder.fault(n, words[2], text)
    if builder.faults:
        builder.fail()
    if len(words) == 1:
        return 0
    if not 1 <= int(words[1]) <= MOST_MACHINES:
        rule = f"the number of machines must be from 1 to {MOST_MACHINES:,}"
        builder.fault(n, words[1], rule)
        builder.fail()
    return int(words[1])


def _entries(builder: TaskGraphBuilder, rows: list[tuple[int, list[str]]]) -> Iterator[_TaskLine]:
    found = iter(rows)
    for n, words in found:
        if len(words) < 3 or not _is_index(words[2]):
            text = "a task has its number, its time and how many tasks precede it"
            builder.fault(n, words[2] if len(words) > 2 else MISSING, text)
            continue
        if not _is_index(words[0]):
            builder.fault(n, words[0], "the number of a task must be an integer")
        work = builder.amount(n, words[1], what="time")
        count, rest = int(words[2]), words[3:]
        pairs = [(n, rest[k : k + 2]) for k in range(0, len(rest), 2)]
        if len(rest) == count:
            pairs = [(n, [word, "0"]) for word in rest]
        elif not rest:  # with communication, each on a line of its own
            pairs = list(islice(found, count))
        if len(pairs) != count or any(len(pair) != 2 for _, pair in pairs):
            text = f"{count} tasks that precede it must follow, each with its communication or none"
            builder.fault(n, MISSING, text)
            continue
        before = []
        for line, (word, data) in pairs:
            if not _is_index(word):
                builder.fault(line, word, "the number of a task must be an integer")
            before.append((word.lstrip("0") or "0", builder.amount(line, data, what="cost")))
        yield _TaskLine(n, words[0].lstrip("0") or "0", work, before)


def _count_dummies(
    builder: TaskGraphBuilder, head: tuple[int, list[str]], read: list[_TaskLine]
) -> int:
    """Return the number of dummies in addition to the tasks that are counted."""
    n, words = head
    stated, dummies = int(words[0]), 1 if len(words) == 2 else 2
    if not builder.faults and len(read) not in (stated, stated + dummies):
        text = f"the number of tasks must be that of the lines, {len(read)} with dummies"
        builder.fault(n, stated, text)
    return len(read) - stated


def _without_dummies(read: list[_TaskLine], extra: int) -> list[_TaskLine]:
    last = len(read) - 1 if read[-1].work == 0 else len(read)
    first = 1 if extra == 2 and read[0].work == 0 and not read[0].before else 0
    return read[first:last]


def _lines(graph: TaskGraph) -> Iterator[str]:
    pairs = graph.pairs
    before: list[list[tuple[int, int]]] = [[] for _ in graph.tasks]
    for edge, (source, target) in zip(graph.edges, pairs, strict=True):
        before[target].append(
            (source, _checked_integer(edge.data, f"{edge.source} -> {edge.target}"))
        )
    sorted_tasks = topological(successors_of(len(graph.tasks), pairs))
    number = {k: place for place, k in enumerate(sorted_tasks, 1)}
    sends = any(edge.data for edge in graph.edges)
    inner = {source for source, _ in pairs}
    last = [(number[k], 0) for k in sorted_tasks if k not in inner]
    yield f"{len(graph.tasks):11}"
    yield _row(0, 0, [], sends)
    for k in sorted_tasks:
        task = graph.tasks[k]
        if task.work is None:
            raise NotApplicableError(f"STG has no cost per machine, as task {task.id} has")
        given = sorted((number[source], data) for source, data in before[k]) or [(0, 0)]
        yield _row(number[k], _checked_integer(task.work, task.id), given, sends)
    yield _row(len(graph.tasks) + 1, 0, last, sends)
    yield f"# {' '.join(graph.name.split())}" if graph.name else "#"


def _row(number: int, work: int, before: list[tuple[int, int]], sends: bool) -> str:
    head = f"{number:11}{work:11}{len(before):11}"
    if not sends:
        return head + "".join(f"{source:11}" for source, _ in before)
    return "\n".join([head, *(f"{source:22}{data:11}" for source, data in before)])


def _checked_integer(number: Number, what: str) -> int:
    if number != int(number):
        raise NotApplicableError(f"STG has integers only, and {what} has {number}")
    return int(number)


def _is_index(word: str) -> bool:
    return len(word) <= 18 and word.isascii() and word.isdigit()
