"""The instances that are shipped with dlopt, by name.

They are the files of the folder ``instances``, which is installed as the package
``dlopt.instances``.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from dlopt import io
from dlopt.arithmetic import PrintableRecord
from dlopt.errors import NotApplicableError, printable
from dlopt.problems import admission, bag, coreservation, dag, iit, multistage
from dlopt.problems.validated_record import BestKnown, Header
from dlopt.registry import problem

MAX_SUGGESTIONS = 3
"""Names that the message about an unknown name suggests; more would hide the likely ones."""


@dataclass(frozen=True, slots=True)
class ShippedInstance(PrintableRecord):
    """An instance that is shipped with dlopt.

    Parameters
    ----------
    name : str
        What `load` calls it: problem and file name, such as ``iit/three-nodes``.
    path : Path
        Its file.
    instance : Instance
        With decimals as floats.
    """

    name: str
    path: Path
    instance: Header

    @property
    def size(self) -> dict[str, int]:
        """How many tasks, machines and so on it has."""
        return size_of(self.instance)

    @property
    def best_known(self) -> BestKnown | None:
        """The best value known for the default objective, or else the bound alone."""
        goal = problem(self.instance.problem).module.default_objective(self.instance)
        known = [one for one in self.instance.best_known if one.objective == goal]
        return min(known, key=lambda one: one.value is None, default=None)


def load(name: str, *, exact_numbers: bool = False, float_numbers: bool = False) -> Any:
    """Read an instance that is shipped with dlopt.

    Parameters
    ----------
    name : str
        Problem and name, as `list_instances` and ``dlopt instances`` list them.
    exact_numbers, float_numbers : bool, default False
        See `dlopt.read`.

    Returns
    -------
    Instance

    Raises
    ------
    NotApplicableError
        If there is none of this name; the message suggests similar names.

    Examples
    --------
    >>> load("iit/three-nodes").load
    3
    >>> load("iit/tree-nodes")
    Traceback (most recent call last):
    ...
    dlopt.errors.NotApplicableError: no shipped instance 'iit/tree-nodes'; did you mean \
iit/three-nodes, iit/late-node, iit/four-nodes?
    """
    if not isinstance(name, str):
        raise NotApplicableError(f"a shipped instance is given by its name, not by {name!r}")
    paths = _paths()
    if name not in paths:
        raise NotApplicableError(_unknown(name))
    return io.read(paths[name], exact_numbers=exact_numbers, float_numbers=float_numbers)


def shipped_file(name: str) -> Path | None:
    """Return the file of a shipped instance, or None if there is none of this name.

    Examples
    --------
    >>> shipped_file("iit/three-nodes").name
    'three-nodes.json'
    >>> shipped_file("iit/tree-nodes")
    """
    return _paths().get(name)


def similar_shipped_names(name: str) -> list[str]:
    """Return at most three names of shipped instances that are like a name.

    Examples
    --------
    >>> similar_shipped_names("tree-nodes")
    ['iit/three-nodes', 'iit/four-nodes', 'iit/late-node']
    >>> similar_shipped_names("measurements")
    []
    """
    known = list(_paths())
    similar = difflib.get_close_matches(name, known, MAX_SUGGESTIONS)
    if similar:
        return similar
    # the problem may be wrong, or missing
    last_parts = {full.rpartition("/")[2]: full for full in known}
    close = difflib.get_close_matches(name.rpartition("/")[2], last_parts, MAX_SUGGESTIONS)
    return [last_parts[part] for part in close]


def list_instances(stem: str | None = None) -> tuple[ShippedInstance, ...]:
    """Return the instances that are shipped with dlopt, sorted by name.

    Parameters
    ----------
    stem : str, optional
        Only those of this problem.

    Raises
    ------
    NotApplicableError
        If there is no such problem.

    Examples
    --------
    >>> [shipped.name for shipped in list_instances("iit")][:2]
    ['iit/burst-16-setup', 'iit/counterexamples/epr-literal-roots']
    >>> list_instances("iit")[-1].size
    {'nodes': 3}
    """
    if stem is not None:
        problem(stem)
    return tuple(
        ShippedInstance(name, path, io.read(path))
        for name, path in _paths().items()
        if stem is None or name.startswith(f"{stem}/")
    )


def size_of(instance: Header) -> dict[str, int]:
    """Return how many tasks, machines and so on an instance has, by the plural of each noun.

    Examples
    --------
    >>> size_of(load("dag/topcuoglu-10"))
    {'graphs': 1, 'tasks': 10, 'machines': 3}
    """
    if isinstance(instance, coreservation.Instance):
        return {"requests": len(instance.requests), "machines": len(instance.machines)}
    if isinstance(instance, dag.Instance):
        tasks = sum(len(graph.tasks) for graph in instance.graphs)
        return {"graphs": len(instance.graphs), "tasks": tasks, "machines": len(instance.machines)}
    if isinstance(instance, bag.Instance):
        return {"tasks": len(instance.all_tasks), "machines": len(instance.all_machines)}
    size: dict[str, int] = {}
    if isinstance(instance, admission.Instance | multistage.Instance):
        size["tasks"] = len(instance.tasks)
    if isinstance(instance, multistage.Instance):
        size["reservations"] = len(instance.reservations)
    if isinstance(instance, iit.Instance | admission.Instance | multistage.Instance):
        size["nodes"] = instance.cluster.nodes
    return size


@cache
def _paths() -> dict[str, Path]:
    """Return the file of every shipped instance by its name."""
    folder = Path(str(files("dlopt.instances")))
    found = folder.rglob("*.json")
    named = {path.relative_to(folder).with_suffix("").as_posix(): path for path in found}
    return dict(sorted(named.items()))


def _unknown(name: str) -> str:
    """Return the message about an unknown name, with the names that are like it."""
    similar = similar_shipped_names(name)
    hint = f"did you mean {', '.join(similar)}?" if similar else "`dlopt instances` lists them"
    return f"no shipped instance {printable(name)!r}; {hint}"
