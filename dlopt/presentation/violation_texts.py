"""Violations as text, with the names of tasks, graphs and machines in place of their indices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dlopt.problems import dag
from dlopt.result import Violation

_RESOURCE = re.compile(r"(?:task (?P<task>\d+) of )?(?P<kind>graph|machine) (?P<index>\d+)")
"""How the checker of task graphs names a task, a graph or a machine."""


def violation_texts(instance: object, found: Iterable[Violation]) -> Iterator[str]:
    """Yield the text of each violation; of task graphs, with names.

    Examples
    --------
    >>> graph = dag.Graph("flow", [dag.Task("read", work=1)])
    >>> instance = dag.Instance([dag.Machine("m")], [graph])
    >>> list(violation_texts(instance, [Violation("task-missing", "task 0 of graph 0")]))
    ['task-missing on task read of graph flow']
    """
    for violation in found:
        text = str(violation)
        if isinstance(instance, dag.Instance):
            name = _name(instance, violation.resource)
            text = text.replace(f" on {violation.resource}", f" on {name}", 1)
        yield text


def _name(instance: dag.Instance, resource: str) -> str:
    """Return a resource of a checker of task graphs with names; as it is if there is none."""
    parts = _RESOURCE.fullmatch(resource)
    if parts is None:
        return resource
    kind, index, task = parts["kind"], int(parts["index"]), parts["task"]
    entries = instance.graphs if kind == "graph" else instance.machines
    if index >= len(entries):
        return resource
    if task is None:
        return f"{kind} {entries[index].id}"
    tasks = instance.graphs[index].tasks
    if int(task) >= len(tasks):
        return resource
    return f"task {tasks[int(task)].id} of graph {entries[index].id}"
