"""The instances that are shipped with dlopt, by name.

They are the files of the folder ``instances``, which is installed as the package
``dlopt.instances``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from dlopt import io
from dlopt.arithmetic import PrintableRecord
from dlopt.errors import NotApplicableError, printable
from dlopt.problems.validated_record import BestKnown, Header
from dlopt.registry import problem

MAX_SUGGESTIONS = 3
"""Names that the message about an unknown name suggests; more would hide the likely ones."""

_SIZES: Mapping[str, Mapping[str, Callable[[Any], int]]] = {
    "iit": {"nodes": lambda instance: instance.cluster.nodes},
    "admission": {
        "tasks": lambda instance: len(instance.tasks),
        "nodes": lambda instance: instance.cluster.nodes,
    },
    "multistage": {
        "tasks": lambda instance: len(instance.tasks),
        "reservations": lambda instance: len(instance.reservations),
        "nodes": lambda instance: instance.cluster.nodes,
    },
    "coreservation": {
        "requests": lambda instance: len(instance.requests),
        "machines": lambda instance: len(instance.machines),
    },
    "dag": {
        "graphs": lambda instance: len(instance.graphs),
        "tasks": lambda instance: sum(len(graph.tasks) for graph in instance.graphs),
        "machines": lambda instance: len(instance.machines),
    },
    "bag": {
        "tasks": lambda instance: len(instance.all_tasks),
        "machines": lambda instance: len(instance.all_machines),
    },
}
"""How many entries of each kind an instance has, by problem."""


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
        return {what: count(self.instance) for what, count in _SIZES[self.instance.problem].items()}

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
    paths = _paths()
    if name not in paths:
        raise NotApplicableError(_unknown(name, list(paths)))
    return io.read(paths[name], exact_numbers=exact_numbers, float_numbers=float_numbers)


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


@cache
def _paths() -> dict[str, Path]:
    """Return the file of every shipped instance by its name."""
    folder = Path(str(files("dlopt.instances")))
    found = folder.rglob("*.json")
    named = {path.relative_to(folder).with_suffix("").as_posix(): path for path in found}
    return dict(sorted(named.items()))


def _unknown(name: str, known: list[str]) -> str:
    """Return the message about an unknown name, with the names that are like it."""
    last_parts = {full.rpartition("/")[2]: full for full in known}
    similar = difflib.get_close_matches(name, known, MAX_SUGGESTIONS)
    if not similar:  # the problem may be wrong, or missing
        last = name.rpartition("/")[2]
        close = difflib.get_close_matches(last, last_parts, MAX_SUGGESTIONS)
        similar = [last_parts[part] for part in close]
    hint = f"did you mean {', '.join(similar)}?" if similar else "`dlopt instances` lists them"
    return f"no shipped instance {printable(name)!r}; {hint}"
