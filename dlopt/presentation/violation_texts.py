"""Violations as text, with the names of tasks, graphs and machines in place of their indices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dlopt import registry
from dlopt.presentation.wording import amount, signed_bound
from dlopt.problems import dag
from dlopt.problems.validated_record import Header
from dlopt.result import WITH_PLAN, Result, Violation
from dlopt.result_checker import values_of

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


def check_texts(
    instance: Header, plan: Result[object] | object, found: Iterable[Violation]
) -> Iterator[str]:
    """Yield the text of each violation that `dlopt.check` has found.

    Of a result, that of a wrong value, bound or status says what the result states, and what it
    should.

    Examples
    --------
    >>> from dlopt.problems.iit import Chunk, Cluster, Instance, Solution
    >>> from dlopt.result import Status
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (0,), load=1)
    >>> schedule = Solution((Chunk(0, 1, 0, 1, 1, 2),))
    >>> stated = Result(Status.FEASIBLE, schedule, objective="completion", value=1)
    >>> list(check_texts(instance, stated, [Violation("value", "completion", amount=-1)]))
    ['value: the result states completion 1, its schedule has 2']
    """
    for violation in found:
        text = _false_statement(instance, plan, violation) if isinstance(plan, Result) else None
        yield from violation_texts(instance, [violation]) if text is None else [text]


def _false_statement(instance: Header, result: Result[object], violation: Violation) -> str | None:
    """Return what a result states, and what holds instead; None if the violation is another."""
    goal = result.objective
    if violation == Violation("status", str(result.status)):
        return f"status: the result states {result.status}, {_reason_against_status(result)}"
    if violation.resource != goal or violation.kind not in ("value", "bound"):
        return None
    if violation.kind == "value":
        stated = f"no {goal}" if result.value is None else f"{goal} {amount(result.value)}"
    else:
        stated = f"{goal} {_signed(instance, result)}"
    found = {} if result.solution is None else values_of(instance, result.solution)
    truth = amount(found[goal]) if goal in found else "none"
    return f"{violation.kind}: the result states {stated}, its schedule has {truth}"


def _signed(instance: Header, result: Result[object]) -> str:
    if result.bound is None:
        return amount(None)
    goal = registry.problem_of(instance).module.OBJECTIVES[result.objective]
    return signed_bound(result.bound, goal.sense, goal.senses)


def _reason_against_status(result: Result[object]) -> str:
    """Return why a result cannot have its status."""
    if (result.solution is not None) != (result.status in WITH_PLAN):
        return "but it has no schedule" if result.solution is None else "but it has a schedule"
    if result.bound is None:
        return "but it has no bound"
    return f"but its bound is {amount(result.bound)} and its value {amount(result.value)}"


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
