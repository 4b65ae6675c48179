"""Pegasus workflows: DAX, which is XML, and the text files ``.dag`` with the same in lines.

A job has a run time and uses files; ``child`` names the jobs that must end before it. DAX with a
document type is refused: that is what could define entities that grow without bound or name other
files, and no DAX has one. https://pegasus.isi.edu/schema/
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any
from xml.parsers import expat

from dlopt.arithmetic import Number
from dlopt.errors import MISSING, InvalidInstanceError
from dlopt.formats.task_graph import TaskGraph, TaskGraphBuilder, shared_files
from dlopt.input_files import load_bytes
from dlopt.json_files import load_text


def parse(text: str | bytes, *, name: str = "", exact_numbers: bool = False) -> TaskGraph:
    """Read a workflow from the text of a DAX file.

    Parameters
    ----------
    text : str or bytes
        Bytes are in the encoding that they declare: UTF-8, UTF-16, ISO-8859-1 or US-ASCII.
    name : str
    exact_numbers : bool, default False
        Read decimals as rationals.

    Returns
    -------
    TaskGraph
        The work of a task is its run time (the attribute ``runtime`` of the job, or a profile of
        that key). An edge has the bytes of all files that its first task writes and its second
        reads, 0 if there are none.

    Raises
    ------
    InvalidInstanceError
        With the line of every fault.

    Examples
    --------
    >>> jobs = '<job id="a" runtime="3"/><job id="b" runtime="4"/>'
    >>> graph = parse(f'<adag>{jobs}<child ref="b"><parent ref="a"/></child></adag>')
    >>> graph.edges, graph.critical_path()
    ((GraphEdge(source='a', target='b', data=0),), 7)
    """
    reader = _DaxHandler(TaskGraphBuilder(exact_numbers=exact_numbers))
    reader.read(text)
    return reader.jobs.graph(name)


def read(path: str | os.PathLike[str], *, exact_numbers: bool = False) -> TaskGraph:
    """Read a workflow from a DAX file, as `parse` does; it is named like the file.

    Raises
    ------
    InvalidInstanceError
        If the file cannot be read, or is none; it names the file.
    """
    return _read(path, load_bytes(path), parse, exact_numbers)


def parse_dag(text: str, *, name: str = "", exact_numbers: bool = False) -> TaskGraph:
    r"""Read a workflow from the text of a ``.dag`` file, as `parse` does.

    Its lines are ``FILE name bytes``, ``TASK id type runtime``, ``INPUTS id file...``,
    ``OUTPUTS id file...`` and ``EDGE parent child``.

    Examples
    --------
    >>> lines = "FILE f 9", "TASK a x 3", "TASK b x 4", "OUTPUTS a f", "INPUTS b f", "EDGE a b"
    >>> parse_dag("\n".join(lines)).edges
    (GraphEdge(source='a', target='b', data=9),)
    """
    jobs = _WorkflowBuilder(TaskGraphBuilder(exact_numbers=exact_numbers))
    shapes = {"FILE": 3, "TASK": 4, "EDGE": 3}
    for n, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        kind = words[0].upper()
        if kind not in (*shapes, "INPUTS", "OUTPUTS"):
            rule = "a line must begin with FILE, TASK, INPUTS, OUTPUTS or EDGE"
            jobs.builder.fault(n, words[0], rule)
        elif len(words) != shapes.get(kind, max(len(words), 2)):
            count = shapes.get(kind, 2)
            jobs.builder.fault(n, len(words), f"a line {kind} must have {count} words")
        elif kind == "FILE":
            jobs.sizes[words[1]] = jobs.builder.amount(n, words[2], what="size")
        elif kind == "TASK":
            jobs.job(n, words[1], jobs.builder.amount(n, words[3], what="run time"))
        elif kind == "EDGE":
            jobs.edges.append((n, words[1], words[2]))
        else:
            for file in words[2:]:
                jobs.uses(n, words[1], file, written=kind == "OUTPUTS")
    return jobs.graph(name)


def read_dag(path: str | os.PathLike[str], *, exact_numbers: bool = False) -> TaskGraph:
    """Read a workflow from a ``.dag`` file, as `parse_dag` does; it is named like the file.

    Raises
    ------
    InvalidInstanceError
        If the file cannot be read, or is none; it names the file.
    """
    return _read(path, load_text(path, "text"), parse_dag, exact_numbers)


class _WorkflowBuilder:
    """Jobs, the files that they use, and edges; the data of edges follows from the files."""

    def __init__(self, builder: TaskGraphBuilder) -> None:
        self.builder = builder
        self.edges: list[tuple[int, str, str]] = []
        self.sizes: dict[str, Number] = {}
        self.written: dict[str, dict[str, Number | None]] = {}
        self.read: dict[str, dict[str, Number | None]] = {}
        self.lines: dict[str, int] = {}  # of the files, where they are used first

    def job(self, line: int, name: str, work: Number) -> None:
        self.builder.task(line, name, work=work)

    def uses(
        self, line: int, job: str, file: str, size: Number | None = None, *, written: bool
    ) -> None:
        used = (self.written if written else self.read).setdefault(job, {})
        used[file] = size
        self.lines.setdefault(file, line)
        if size is not None:
            self.sizes[file] = size

    def graph(self, name: str) -> TaskGraph:
        for file, line in self.lines.items():
            if file not in self.sizes:
                self.builder.fault(line, file, "the size of the file must be given")
                self.sizes[file] = 0
        for line, source, target in self.edges:
            self.builder.edge(line, source, target, self.data(source, target))
        return self.builder.graph(name, unit="amount")

    def data(self, source: str, target: str) -> Number:
        """Return the data of an edge; where jobs differ on a file's size, its writer is right."""
        written, read = self.written.get(source, {}), self.read.get(target, {})
        shared = shared_files(written, read)
        sizes = [self.sizes[file] if (n := written[file]) is None else n for file in shared]
        return sum(sizes, start=0)


class _DaxHandler:
    """Handlers of the XML elements."""

    def __init__(self, builder: TaskGraphBuilder) -> None:
        self.jobs = _WorkflowBuilder(builder)
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.words
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.depth = 0
        self.job: tuple[int, str, Number | None] | None = None
        self.child: str | None = None
        self.profile: list[str] | None = None

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber

    def read(self, text: str | bytes) -> None:
        try:
            self.parser.Parse(text, True)
        except expat.ExpatError as error:
            text = f"is not valid XML: {expat.ErrorString(error.code)}"
            self.jobs.builder.fault(error.lineno, MISSING, text)
            self.jobs.builder.fail()

    def refuse(self, *declared: Any) -> None:
        self.jobs.builder.fault(self.line, declared[0], "must have no document type")
        self.jobs.builder.fail()

    def start(self, tag: str, given: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        self.depth += 1
        if self.depth == 1 and tag != "adag":
            self.jobs.builder.fault(self.line, tag, "the first element must be adag")
            self.jobs.builder.fail()
        elif tag == "job":
            self.begin_job(given)
        elif tag == "uses" and self.job is not None:
            self.begin_uses(self.job[1], given)
        elif tag == "profile" and self.job is not None and given.get("key") == "runtime":
            self.profile = []
        elif tag == "child":
            self.child = self.attribute("child", given, "ref")
        elif tag == "parent" and self.child is not None:
            source = self.attribute("parent", given, "ref")
            self.jobs.edges.append((self.line, source, self.child))

    def end(self, tag: str) -> None:
        tag = tag.rpartition(":")[2]
        self.depth -= 1
        if tag == "job" and self.job is not None:
            line, name, work = self.job
            if work is None:
                self.jobs.builder.fault(line, name, "the job must have a runtime")
            self.jobs.job(line, name, work or 0)
            self.job = None
        elif tag == "child":
            self.child = None
        elif tag == "profile" and self.profile is not None and self.job is not None:
            line, name, _ = self.job
            text = "".join(self.profile).strip()
            given = self.job[2]
            work = self.jobs.builder.amount(self.line, text, what="run time")
            if given is not None and given != work:
                rule = f"the run time of the job must be {given}, as it is given before"
                self.jobs.builder.fault(self.line, text, rule)
            self.job, self.profile = (line, name, work), None

    def words(self, text: str) -> None:
        if self.profile is not None:
            self.profile.append(text)

    def begin_job(self, given: dict[str, str]) -> None:
        work = None
        if self.job is not None:
            rule = "a job must not stand within a job"
            self.jobs.builder.fault(self.line, given.get("id", MISSING), rule)
        if "runtime" in given:
            work = self.jobs.builder.amount(self.line, given["runtime"], what="run time")
        self.job = (self.line, self.attribute("job", given, "id"), work)

    def begin_uses(self, job: str, given: dict[str, str]) -> None:
        file = self.attribute("uses", given, "file" if "file" in given else "name")
        link, size = given.get("link", ""), None
        if "size" in given:
            size = self.jobs.builder.amount(self.line, given["size"], what="size")
        for written, name in enumerate(("input", "output")):
            if link in (name, "inout"):
                self.jobs.uses(self.line, job, file, size, written=bool(written))

    def attribute(self, tag: str, given: dict[str, str], key: str) -> str:
        if key not in given:
            rule = f"the element {tag} must have an attribute {key}"
            self.jobs.builder.fault(self.line, MISSING, rule)
        return given.get(key, "")


def _read(
    path: str | os.PathLike[str],
    text: str | bytes,
    parse: Callable[..., TaskGraph],
    exact_numbers: bool,
) -> TaskGraph:
    name = os.path.splitext(os.path.basename(os.fspath(path)))[0]
    try:
        return parse(text, name=name, exact_numbers=exact_numbers)
    except InvalidInstanceError as error:
        raise error.within(os.fspath(path)) from None
