"""Scenarios: the true costs and node failures of a stream, unknown to the scheduler; their files.

A scenario is separate from the instance, which has only what the scheduler knows.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Protocol, TypeVar

from dlopt.arithmetic import Number, exact, is_less, shown
from dlopt.errors import Fault, InvalidInstanceError
from dlopt.json_files import load_headed, write_json
from dlopt.problems import validated_record
from dlopt.problems.admission.data import Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import Items, NonNegative, Positive, Record

VERSION = 1
"""Version of the file format."""


@dataclass(frozen=True, slots=True)
class Factor(Record):
    """True costs of a task, as factors of those of its cluster.

    Parameters
    ----------
    task : str
    tau : Number, default 1
        True unit transmission time over the estimated one; positive.
    chi : Number, default 1
        The same of the unit processing time.
    """

    task: str
    tau: Positive = 1
    chi: Positive = 1


@dataclass(frozen=True, slots=True)
class Failure(Record):
    """A node that is down in ``[begin, until)``; whatever it holds at `begin` is lost.

    Parameters
    ----------
    node : int
        0-based.
    begin : Number
        Called ``from`` in files.
    until : Number, optional
        By default it stays down.

    Examples
    --------
    >>> Failure(3, 10).to_data()
    {'node': 3, 'from': 10}
    """

    node: int
    begin: NonNegative
    until: NonNegative | None = None

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield a fault if the node is back before it fails, or has no index."""
        begin, until = known.get("begin"), known.get("until")
        if begin is not None and until is not None and not is_less(begin, until):
            yield Fault("until", until, f"must lie after from, {shown(begin, 15)}")
        if known.get("node", 0) < 0:
            yield Fault("node", known["node"], "must not be negative")

    def to_data(self) -> dict[str, Any]:
        """Return plain data, as files have it."""
        # Named explicitly: slots create the class again, and a bare `super()` would not find it.
        return {_FILE_NAMES.get(key, key): value for key, value in Record.to_data(self).items()}


_FILE_NAMES = {"begin": "from", "from": "begin"}
"""``from`` is no name in Python. It works both ways: a file that says ``begin`` is wrong."""


@dataclass(frozen=True, slots=True)
class Scenario(Record):
    """Events of a stream of tasks that the scheduler does not know in advance.

    Parameters
    ----------
    factors : tuple of Factor
        At most one a task; a task without takes just the costs of the cluster.
    failures : tuple of Failure
        Those of one node do not overlap.
    name : str
        No part of equality.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> scenario = Scenario((Factor("a", tau=2, chi=0.5),), (Failure(0, 10, 20),))
    >>> scenario.costs_of("a"), scenario.costs_of("b")
    ((2, 0.5), (1, 1))
    """

    scenario: ClassVar[str] = "admission"

    factors: Items[Factor] = ()
    failures: Items[Failure] = ()
    name: str = field(default="", compare=False)

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield tasks with two factors, and failures of a node that is down already."""
        seen: Counter[str] = Counter()
        for index, factor in enumerate(known.get("factors", ())):
            seen[factor.task] += 1
            if seen[factor.task] > 1:
                yield Fault(f"factors[{index}].task", factor.task, "must occur in one factor only")
        down: dict[int, list[tuple[int, Failure]]] = defaultdict(list)
        for index, failure in enumerate(known.get("failures", ())):
            down[failure.node].append((index, failure))
        for node in down.values():
            node.sort(key=lambda entry: exact(entry[1].begin))
            for (_, before), (index, failure) in pairwise(node):
                if before.until is None or is_less(failure.begin, before.until):
                    rule = "must not lie within another failure of the node"
                    yield Fault(f"failures[{index}].begin", failure.begin, rule)

    def costs_of(self, task: str) -> tuple[Number, Number]:
        """Return by what the costs of a task must be multiplied: transmission, computation."""
        for factor in self.factors:
            if factor.task == task:
                return factor.tau, factor.chi
        return 1, 1


ScenarioT = TypeVar("ScenarioT", bound=Scenario)


class Stream(Protocol):
    """A stream of tasks to a cluster."""

    @property
    def cluster(self) -> Cluster:
        """The cluster."""

    @property
    def tasks(self) -> Sequence[Task]:
        """The tasks."""


def scenario_faults(data: object, kind: type[Scenario] = Scenario) -> tuple[Fault, ...]:
    """Return everything that is wrong with the data of a scenario, without its envelope.

    Parameters
    ----------
    data : object
    kind : type, default Scenario
        The class of the scenario, which may have further fields.

    Examples
    --------
    >>> for fault in scenario_faults({"failures": [{"node": 0, "begin": 3, "until": -1}]}):
    ...     print(fault)
    failures[0].until: must not be negative, got -1
    failures[0].begin: is not a field (known: node, from, until), got 3
    failures[0].from: is missing
    """
    found = validated_record.examine(kind, _renamed(data))[1]
    return tuple(
        _in_file_names(fault) for fault in sorted(found, key=lambda f: f.rule == "is missing")
    )


def check_fits(instance: Stream, scenario: Scenario) -> None:
    """Raise unless all tasks and nodes of a scenario exist in an instance.

    Raises
    ------
    InvalidInstanceError
        With every reference to nothing.
    """
    faults = unknown_references(instance, scenario)
    if faults:
        raise InvalidInstanceError(faults)


def unknown_references(instance: Stream, scenario: Scenario) -> list[Fault]:
    """Return the tasks and nodes of a scenario that an instance does not have."""
    tasks, nodes = {task.id for task in instance.tasks}, instance.cluster.nodes
    faults = [
        Fault(f"factors[{index}].task", factor.task, "must be a task of the instance")
        for index, factor in enumerate(scenario.factors)
        if factor.task not in tasks
    ]
    faults += [
        Fault(f"failures[{index}].node", failure.node, f"must be one of the nodes 0 to {nodes - 1}")
        for index, failure in enumerate(scenario.failures)
        if failure.node >= nodes
    ]
    return faults


def read_scenario(path: str | os.PathLike[str], *, exact_numbers: bool = False) -> Scenario:
    """Read a scenario from a JSON file: ``{"scenario": "admission", "version": 1, ...}``.

    Parameters
    ----------
    path : path-like
    exact_numbers : bool, default False
        Read decimals as the rationals that they spell instead of as floats.

    Raises
    ------
    InvalidInstanceError
        With every fault, by JSON path; also if there is no such file or it is not valid JSON.
    """
    return read_scenario_of(Scenario, path, exact_numbers=exact_numbers)


def read_scenario_of(
    kind: type[ScenarioT], path: str | os.PathLike[str], *, exact_numbers: bool
) -> ScenarioT:
    """Read a scenario of a class from a file, as `read_scenario` does."""
    content = load_headed(
        path, _head(kind), lambda data: scenario_faults(data, kind), exact_numbers=exact_numbers
    )
    return kind.from_data(_renamed(content))


def write_scenario(scenario: Scenario, path: str | os.PathLike[str]) -> None:
    """Write a scenario to a file, which is replaced as a whole.

    Raises
    ------
    NotApplicableError
        If the path cannot be written.
    """
    write_json(path, {**_head(type(scenario)), **scenario.to_data()})


def _head(kind: type[Scenario]) -> dict[str, object]:
    """Return the fields by which the files of a class of scenarios are known."""
    return {"scenario": kind.scenario, "version": VERSION}


def _renamed(data: Any) -> Any:
    """Return the data of a scenario with the names of fields that Python allows."""
    if not isinstance(data, Mapping) or not isinstance(data.get("failures"), tuple | list):
        return data
    failures = [
        {_FILE_NAMES.get(key, key): value for key, value in failure.items()}
        if isinstance(failure, Mapping)
        else failure
        for failure in data["failures"]
    ]
    return {**data, "failures": failures}


def _in_file_names(fault: Fault) -> Fault:
    """Return a fault with the field names of the file."""
    stem, dot, name = fault.path.rpartition(".")
    if stem.startswith("failures"):
        name = _FILE_NAMES.get(name, name)
    rule = fault.rule.replace("(known: node, begin, until)", "(known: node, from, until)")
    return dataclasses.replace(fault, path=f"{stem}{dot}{name}", rule=rule)
