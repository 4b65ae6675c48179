"""The entries of a solution as rows of tables, with names next to indices, and with end times.

Fields keep the names that they have in files; what is added is ``machine_id``, ``graph_id``,
``task_id``, ``site_id``, ``node_id`` for indices that have names, and instants that follow from the
instance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from itertools import repeat
from typing import TypeVar

from dlopt.arithmetic import Number, exact, nearest_float, simplest
from dlopt.presentation.layout import Row
from dlopt.problems import admission, bag, coreservation, dag, iit, multistage
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import Header

EntryT = TypeVar("EntryT")

ADDED_NAMES = {name: f"{name}_id" for name in ("machine", "graph", "task", "site", "node")}
"""Fields that may be indices, and what the name of the entry is called in a row."""


def schedule_rows(instance: Header | None, solution: object) -> dict[str, list[Row]]:
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
    added = _added(instance, solution)
    tables = {
        name: [
            _row(entry, more)
            for entry, more in zip(entries, added.get(name, repeat({})), strict=False)
        ]
        for name, entries in _fields_of(solution)
        if isinstance(entries, tuple)
    }
    if isinstance(instance, bag.Instance) and isinstance(solution, bag.Solution):
        tables["dropped"] = [_dropped_row(task) for task in bag.dropped_tasks(instance, solution)]
    return tables


def _dropped_row(task: bag.Task) -> Row:
    return {
        "dropped": task.id,
        "priority": task.priority,
        "absolute_deadline": task.absolute_deadline,
    }


def schedule_to_data(instance: Header, solution: object) -> dict[str, list[dict[str, object]]]:
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


def _row(entry: object, added: Row) -> Row:
    """Return an entry as a row: a name follows its index, all else that is added comes last."""
    row: dict[str, object] = {}
    for name, value in _fields_of(entry):
        row[name] = value
        added_name = ADDED_NAMES.get(name, "")
        if added_name in added:
            row[added_name] = added[added_name]
    return row | {name: value for name, value in added.items() if name not in row}


def _fields_of(record: object) -> Iterator[tuple[str, object]]:
    if is_dataclass(record):
        for item in fields(record):
            yield item.name, getattr(record, item.name)


def _added(instance: object, solution: object) -> Mapping[str, Iterable[Row]]:
    """Return for each table of a problem what is added to its entries, in their order."""
    if isinstance(instance, dag.Instance) and isinstance(solution, dag.Solution):
        return {"placements": (_dag_names(instance, one) for one in solution.placements)}
    if isinstance(instance, bag.Instance) and isinstance(solution, bag.Solution):
        return {"placements": (_bag_names(instance, one.machine) for one in solution.placements)}
    if isinstance(instance, coreservation.Instance):
        if isinstance(solution, coreservation.Solution):
            return _reservation_names(instance, solution)
    elif isinstance(instance, iit.Instance) and isinstance(solution, iit.Solution):
        return _node_names(instance.cluster, solution.chunks)
    elif isinstance(solution, admission.Solution | multistage.Solution):
        committed = (
            instance.committed
            if isinstance(instance, admission.Instance | multistage.Instance)
            else ()
        )
        ends = _ends(
            [(one.task, one.computation_end) for one in solution.chunks]
            + [(one.task, one.end) for one in committed]
        )
        late = _late(instance, solution)
        added: dict[str, Iterable[Row]] = {
            "decisions": (
                {"end": ends.get(one.task)}
                | ({"late": late.get(one.task)} if late else {})
                | {"reason": one.reason}
                for one in solution.decisions
            )
        }
        if isinstance(instance, admission.Instance | multistage.Instance):
            added |= _node_names(instance.cluster, solution.chunks)
        if isinstance(solution, multistage.Solution) and isinstance(instance, multistage.Instance):
            windows = {one.id: _window(one.start, one.end) for one in instance.reservations}
            added["grants"] = (
                {**windows.get(one.reservation, {}), "reason": one.reason}
                for one in solution.grants
            )
        return added
    return {}


def _dag_names(instance: dag.Instance, entry: dag.Placement) -> Row:
    graph, machine = _at(instance.graphs, entry.graph), _at(instance.machines, entry.machine)
    task = None if graph is None else _at(graph.tasks, entry.task)
    cost: Number | None = None
    if task is not None and machine is not None:
        cost = instance.cost(entry.graph, entry.task, entry.machine)
    return {
        "graph_id": None if graph is None else graph.id,
        "task_id": None if task is None else task.id,
        "machine_id": None if machine is None else machine.id,
        "end": None if cost is None else _sum(entry.start, cost),
    }


def _bag_names(instance: bag.Instance, index: int) -> Row:
    machine = _at(instance.all_machines, index)
    if machine is None or len(instance.sites) == 1:
        return {"machine_id": None if machine is None else machine.id}
    return {"machine_id": machine.id, "site_id": instance.sites[machine.site].id}


def _reservation_names(
    instance: coreservation.Instance, solution: coreservation.Solution
) -> Mapping[str, Iterable[Row]]:
    windows = {one.id: _window(one.start, one.end) for one in instance.requests}

    def named(index: int) -> dict[str, object]:
        machine = _at(instance.machines, index)
        return {"machine_id": None if machine is None else machine.id}

    return {
        "shares": (named(one.machine) | windows.get(one.request, {}) for one in solution.shares),
        "changes": (named(one.machine) for one in solution.changes),
    }


def _node_names(
    cluster: Cluster, chunks: Sequence[admission.Chunk | iit.Chunk]
) -> dict[str, Iterable[Row]]:
    """Return what is added to chunks: the names of their nodes, if they have names."""
    names = cluster.node_names
    return {} if names is None else {"chunks": ({"node_id": _at(names, c.node)} for c in chunks)}


def _window(start: Number, end: Number) -> dict[str, object]:
    return {"start": start, "end": end}


def _ends(chunks: Iterable[tuple[str, Number]]) -> dict[str, Number]:
    """Return when the last chunk of each task is computed, by the task and end of each chunk."""
    ends: dict[str, Number] = {}
    for task, end in chunks:
        ends[task] = max(ends.get(task, end), end, key=exact)
    return ends


def _late(instance: object, solution: object) -> dict[str, bool]:
    """Return whether the tasks that were accepted without a promise end late."""
    if isinstance(instance, admission.Instance) and isinstance(solution, admission.Solution):
        late = {task.id for task in admission.late_tasks(instance, solution)}
        accepted = (one for one in solution.decisions if one.accepted and not one.promised)
        return {one.task: one.task in late for one in accepted}
    return {}


def _at(entries: Sequence[EntryT], index: int) -> EntryT | None:
    return entries[index] if 0 <= index < len(entries) else None


def _sum(start: Number, cost: Number) -> Number:
    """Return the end: a float if one of the two is, and exact otherwise."""
    total = simplest(exact(start) + exact(cost))
    return float(total) if isinstance(start, float) or isinstance(cost, float) else total
