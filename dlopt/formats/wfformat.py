"""WfFormat: executed workflows of WfCommons, in JSON.

Schema 1.5 separates the workflow (``workflow.specification``) from its run
(``workflow.execution``); 1.4 and before have both in ``workflow.tasks``.
https://github.com/wfcommons/WfFormat
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from dlopt.arithmetic import Number
from dlopt.errors import MISSING, InvalidInstanceError
from dlopt.formats.task_graph import IGNORED, TaskGraph, TaskGraphBuilder, shared_files
from dlopt.json_files import load_json

_WITHOUT_USE = frozenset(
    {"avgCPU", "coreCount", "cores", "machine", "machines", "memory", "memoryInBytes", "priority"}
)
"""Fields that say what a task needed, or where it ran, and that a task graph has no place for."""


def read(path: str | os.PathLike[str], *, exact_numbers: bool = False) -> TaskGraph:
    """Read a workflow from a file.

    Parameters
    ----------
    path : path-like
    exact_numbers : bool, default False
        Read decimals as rationals.

    Returns
    -------
    TaskGraph
        The work of a task is the run time that was recorded, in seconds, whatever the machine.
        An edge has the bytes of all files that its first task writes and its second reads; where
        tasks differ on the size of a file, the one that writes it is right. The
        recorded makespan is a fact (it holds queueing, so it bounds nothing). What the file says
        of a task's cores, memory and machines is left out; the fact ``ignored`` names those fields.

    Raises
    ------
    InvalidInstanceError
        With the path of every fault.
    """
    try:
        return from_data(load_json(path, exact_numbers=exact_numbers))
    except InvalidInstanceError as error:
        raise error.within(os.fspath(path), as_json=True) from None


def from_data(data: object) -> TaskGraph:
    """Read a workflow from the data of a file, as `read` does.

    Examples
    --------
    >>> a = {"id": "a", "runtimeInSeconds": 3, "children": ["b"], "files": [
    ...     {"link": "output", "name": "f", "sizeInBytes": 8}]}
    >>> b = {"id": "b", "runtimeInSeconds": 4, "parents": ["a"], "files": [
    ...     {"link": "input", "name": "f", "sizeInBytes": 8}]}
    >>> graph = from_data({"schemaVersion": "1.4", "workflow": {"tasks": [a, b]}})
    >>> graph.edges, graph.critical_path()
    ((GraphEdge(source='a', target='b', data=8),), 7)
    """
    reader = _WorkflowReader(TaskGraphBuilder())
    top = reader.object(data, "")
    workflow = reader.object(top.get("workflow", MISSING), "workflow")
    if reader.builder.faults:
        reader.builder.fail()
    read_tasks = reader.split if "specification" in workflow else reader.joined
    makespan = read_tasks(workflow)
    name = top.get("name", "")
    facts = [("schemaVersion", str(top.get("schemaVersion", "")))]
    if makespan is not None:
        facts.append(("makespanInSeconds", str(makespan)))
    reader.edges()
    if reader.ignored:
        facts.append((IGNORED, ", ".join(sorted(reader.ignored))))
    named = name if isinstance(name, str) else ""
    return reader.builder.graph(named, unit="amount", facts=facts)


def size_key(file: Mapping[str, object]) -> str:
    """Return the field that has the size of a file; its name changed with schema 1.5."""
    return "size" if "size" in file else "sizeInBytes"


class _WorkflowReader:
    def __init__(self, builder: TaskGraphBuilder) -> None:
        self.builder = builder
        self.parents: dict[str, tuple[str, list[str] | None]] = {}
        self.children: dict[str, tuple[str, list[str] | None]] = {}
        self.inputs: dict[str, dict[str, None]] = {}
        self.outputs: dict[str, dict[str, Number | None]] = {}
        self.sizes: dict[str, Number] = {}
        self.ignored: set[str] = set()

    def split(self, workflow: Mapping[str, Any]) -> Any:
        """Read schema 1.5; return the recorded makespan."""
        specification = self.object(workflow["specification"], "workflow.specification")
        execution = self.object(workflow.get("execution", MISSING), "workflow.execution")
        path = "workflow.specification.files"
        for place, file in self.objects(specification.get("files", []), path):
            name, size = self.text(place, file, "id"), self.amount(place, file)
            if self.sizes.setdefault(name, size) != size:
                rule = f"must be {self.sizes[name]} as before: one file has that id"
                self.builder.fault(f"{place}.{size_key(file)}", size, rule)
        path = "workflow.execution.tasks"
        times = {}
        for place, task in self.objects(execution.get("tasks", MISSING), path):
            times[self.text(place, task, "id")] = self.runtime(place, task)
            self.ignored.update(_WITHOUT_USE & task.keys())
        path = "workflow.specification.tasks"
        for place, task in self.objects(specification.get("tasks", MISSING), path):
            name = self.text(place, task, "id")
            if name not in times:
                rule = "must be among workflow.execution.tasks, with its run time"
                self.builder.fault(f"{place}.id", name, rule)
            self.task(place, name, times.get(name, 0), task)
            inputs = self.texts(place, task, "inputFiles") or []
            outputs = self.texts(place, task, "outputFiles") or []
            self.inputs[name], self.outputs[name] = dict.fromkeys(inputs), dict.fromkeys(outputs)
            for key, files in (("inputFiles", inputs), ("outputFiles", outputs)):
                for at, used in enumerate(dict.fromkeys(files)):
                    if used not in self.sizes:
                        rule = "must be among workflow.specification.files"
                        self.builder.fault(f"{place}.{key}[{at}]", used, rule)
        return execution.get("makespanInSeconds")

    def joined(self, workflow: Mapping[str, Any]) -> Any:
        """Read schema 1.4 and before; return the recorded makespan."""
        for place, task in self.objects(workflow.get("tasks", MISSING), "workflow.tasks"):
            # before 1.4 a task had a name only, and the ids of 1.4 are not what parents names
            name = self.text(place, task, "name" if "name" in task else "id")
            self.ignored.update(_WITHOUT_USE & task.keys())
            self.task(place, name, self.runtime(place, task), task)
            self.inputs[name], self.outputs[name] = {}, {}
            for at, file in self.objects(task.get("files", []), f"{place}.files"):
                link = self.text(at, file, "link")
                if link not in ("input", "output"):
                    self.builder.fault(f"{at}.link", link, "must be input or output")
                known = self.text(at, file, "name" if "name" in file else "id")
                size = self.amount(at, file)
                if link == "input":
                    self.inputs[name][known] = None
                    self.sizes.setdefault(known, size)
                elif self.outputs[name].setdefault(known, size) != size:
                    first = self.outputs[name][known]
                    rule = f"must be {first} as before: the task writes one file of that name"
                    self.builder.fault(f"{at}.{size_key(file)}", size, rule)
        return workflow.get("makespanInSeconds")

    def task(self, place: str, name: str, work: Number, task: Mapping[str, Any]) -> None:
        self.builder.task(place, name, work=work)
        self.parents[name] = (place, self.texts(place, task, "parents"))
        self.children[name] = (place, self.texts(place, task, "children"))

    def edges(self) -> None:
        """Record the edges; what one task says of another, the other must say of it, if it can."""
        by_child = {(s, t) for t, (_, sources) in self.parents.items() for s in sources or []}
        by_parent = {(s, t) for s, (_, targets) in self.children.items() for t in targets or []}
        for target, (place, sources) in self.parents.items():
            for at, source in enumerate(sources or []):
                where = f"{place}.parents[{at}]"
                self.edge(where, source, target)
                lists_children = self.children.get(source, (place, None))[1] is not None
                if lists_children and (source, target) not in by_parent:
                    self.builder.fault(where, source, f"must have {target!r} among its children")
        for source, (place, targets) in self.children.items():
            for at, target in enumerate(targets or []):
                if (source, target) in by_child:
                    continue
                where = f"{place}.children[{at}]"
                self.edge(where, source, target)
                if self.parents.get(target, (place, None))[1] is not None:
                    self.builder.fault(where, target, f"must have {source!r} among its parents")

    def edge(self, place: str, source: str, target: str) -> None:
        outputs, inputs = self.outputs.get(source, {}), self.inputs.get(target, {})
        sizes: list[Number] = []
        for file in shared_files(outputs, inputs):
            written = outputs[file]
            sizes.append(self.sizes.get(file, 0) if written is None else written)
        self.builder.edge(place, source, target, sum(sizes, start=0))

    def runtime(self, place: str, task: Mapping[str, Any]) -> Number:
        key = "runtime" if "runtime" in task else "runtimeInSeconds"
        return self.builder.amount(f"{place}.{key}", task.get(key, MISSING), what="run time")

    def amount(self, place: str, file: Mapping[str, Any]) -> Number:
        key = size_key(file)
        return self.builder.amount(f"{place}.{key}", file.get(key, MISSING))

    def object(self, value: Any, path: str) -> Mapping[str, Any]:
        if isinstance(value, dict):
            return value
        self.builder.fault(path, value, "must be an object")
        return {}

    def objects(self, value: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        if not isinstance(value, list):
            self.builder.fault(path, value, "must be a list")
            return
        for at, item in enumerate(value):
            place = f"{path}[{at}]"
            if isinstance(item, dict):
                yield place, item
            else:
                self.builder.fault(place, item, "must be an object")

    def text(self, place: str, data: Mapping[str, Any], key: str) -> str:
        value = data.get(key, MISSING)
        if isinstance(value, str):
            return value
        self.builder.fault(f"{place}.{key}", value, "must be a text")
        return ""

    def texts(self, place: str, data: Mapping[str, Any], key: str) -> list[str] | None:
        value = data.get(key)
        if value is None or (isinstance(value, list) and all(isinstance(x, str) for x in value)):
            return value
        self.builder.fault(f"{place}.{key}", value, "must be a list of texts")
        return None
