"""The entries of a solution as rows of tables, with names next to indices, and with end times.

Fields keep the names that they have in files; what is added is ``machine_id``, ``graph_id``,
``task_id``, ``site_id`` for indices, and instants that follow from the instance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any

from dlopt.arithmetic import Number, exact, nearest_float, simplest
from dlopt.presentation.layout import Row
from dlopt.problems.validated_record import Header

ADDED_NAMES = {"machine": "machine_id", "graph": "graph_id", "task": "task_id", "site": "site_id"}
"""Fields that may be indices, and what the name of the entry is called in a row."""

Extras = Callable[[Any, Any], Mapping[str, object]]
"""What is added to an entry of a solution, by the instance and the entry."""


def schedule_rows(instance: Header | None, solution: Any) -> dict[str, list[Row]]:
    """Return the tables of a solution, a row for each entry, in the order of files.

    Parameters
    ----------
    instance : Instance or None
        Without it nothing is added.
    solution : Solution
        It need not be valid: what names a machine or task that there is not gets None.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance, Placement, Solution
    >>> instance = Instance(etc=((4, 2),))
    >>> schedule_rows(instance, Solution((Placement("t0", 1, 0, 2),)))["placements"]
    [{'task': 't0', 'machine': 1, 'machine_id': 'm1', 'start': 0, 'end': 2, 'late': False}]
    """
    extras = {} if instance is None else _extras(instance, solution)
    return {
        item.name: [
            _row(entry, extras[item.name](entry) if item.name in extras else {})
            for entry in getattr(solution, item.name)
        ]
        for item in fields(solution)
    }


def schedule_to_data(instance: Header, solution: Any) -> dict[str, list[dict[str, object]]]:
    """Return the tables of a solution as JSON has them: names next to indices, fractions as floats.

    The solution itself is stored exactly; this is for programs that show it.
    """
    return {
        name: [{key: _json_value(value) for key, value in row.items()} for row in rows]
        for name, rows in schedule_rows(instance, solution).items()
    }


def _json_value(value: object) -> object:
    if isinstance(value, tuple):
        return [_json_value(part) for part in value]
    return nearest_float(value) if isinstance(value, Fraction) else value


def _row(entry: Any, added: Mapping[str, object]) -> Row:
    """Return an entry as a row: a name follows its index, all else that is added comes last."""
    row: dict[str, object] = {}
    for item in fields(entry):
        row[item.name] = getattr(entry, item.name)
        name = ADDED_NAMES.get(item.name, "")
        if name in added:
            row[name] = added[name]
    return row | {name: value for name, value in added.items() if name not in row}


def _extras(instance: Any, solution: Any) -> Mapping[str, Callable[[Any], Mapping[str, object]]]:
    """Return for each table of a problem what is added to its entries."""
    if instance.problem == "dag":
        return {"placements": lambda entry: _dag_placement(instance, entry)}
    if instance.problem == "bag":
        return {"placements": lambda entry: _bag_placement(instance, entry)}
    if instance.problem == "coreservation":
        requests = {request.id: request for request in instance.requests}

        def share(entry: Any) -> Mapping[str, object]:
            return _named_machine(instance.machines, entry) | _window(requests.get(entry.request))

        return {"shares": share, "changes": lambda one: _named_machine(instance.machines, one)}
    if instance.problem == "iit":
        return {}
    ends = _ends(solution.chunks)
    reservations = {one.id: one for one in getattr(instance, "reservations", ())}
    return {
        "decisions": lambda entry: {"end": ends.get(entry.task), "reason": entry.reason},
        "grants": lambda entry: (
            _window(reservations.get(entry.reservation)) | {"reason": entry.reason}
        ),
    }


def _dag_placement(instance: Any, entry: Any) -> Mapping[str, object]:
    graph, machine = _at(instance.graphs, entry.graph), _at(instance.machines, entry.machine)
    task = None if graph is None else _at(graph.tasks, entry.task)
    cost = None
    if task is not None and machine is not None:
        cost = instance.cost(entry.graph, entry.task, entry.machine)
    return {
        "graph_id": None if graph is None else graph.id,
        "task_id": None if task is None else task.id,
        "machine_id": None if machine is None else machine.id,
        "end": None if cost is None else _sum(entry.start, cost),
    }


def _bag_placement(instance: Any, entry: Any) -> Mapping[str, object]:
    machine = _at(instance.all_machines, entry.machine)
    if machine is None or len(instance.sites) == 1:
        return {"machine_id": None if machine is None else machine.id}
    return {"machine_id": machine.id, "site_id": instance.sites[machine.site].id}


def _named_machine(machines: Sequence[Any], entry: Any) -> dict[str, object]:
    machine = _at(machines, entry.machine)
    return {"machine_id": None if machine is None else machine.id}


def _window(known: Any) -> dict[str, object]:
    """Return the window of a request or reservation."""
    return {} if known is None else {"start": known.start, "end": known.end}


def _ends(chunks: Sequence[Any]) -> dict[str, Number]:
    """Return when the last chunk of each task is computed."""
    ends: dict[str, Number] = {}
    for chunk in chunks:
        known = ends.get(chunk.task, chunk.computation_end)
        ends[chunk.task] = max(known, chunk.computation_end, key=exact)
    return ends


def _at(entries: Sequence[Any], index: int) -> Any:
    return entries[index] if 0 <= index < len(entries) else None


def _sum(start: Number, cost: Number) -> Number:
    """Return the end: a float if one of the two is, and exact otherwise."""
    total = simplest(exact(start) + exact(cost))
    return float(total) if isinstance(start, float) or isinstance(cost, float) else total
