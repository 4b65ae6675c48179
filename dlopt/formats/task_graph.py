"""Task graphs of files: neutral records for all formats, and their builder.

Readers pass what they read to a `TaskGraphBuilder`, which records the place of each element and so
reports every fault with its line; `TaskGraph` is the result of readers and the input of writers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NoReturn, TypeAlias

from dlopt import arithmetic
from dlopt.arithmetic import Number
from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.problems.dag.topology import cycle, successors_of, topological
from dlopt.problems.field_checks import LARGEST

MOST_FAULTS = 100
"""Reading stops after so many faults: a file of another format has a fault on every line."""
MOST_MACHINES = 100_000
"""Largest number of machines that a file may define by their number alone."""

Place: TypeAlias = int | str
"""Where an element is: the number of a line, or a path such as ``workflow.tasks[3]``."""
Unit: TypeAlias = Literal["time", "amount"]


@dataclass(frozen=True, slots=True)
class GraphTask:
    """A task.

    Parameters
    ----------
    id : str
    work : Number, optional
        Its time on a machine of power 1.
    costs : tuple of (Number or None), optional
        Instead of `work`: its time on each machine, None where it cannot run.
    """

    id: str
    work: Number | None = None
    costs: tuple[Number | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A precedence: the source ends, and its data arrives, before the target starts.

    Parameters
    ----------
    source, target : str
        The tasks.
    data : Number, default 0
        Communication, in the unit of the graph.
    """

    source: str
    target: str
    data: Number = 0


IGNORED = "ignored"
"""The fact that names the fields of tasks which a file has and a task graph does not."""


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """A directed acyclic graph, in the order of its file.

    Parameters
    ----------
    tasks : tuple of GraphTask
        At least one.
    edges : tuple of GraphEdge
    name : str
    machines : tuple of str
        The machines of `GraphTask.costs`, or those on which the graph is to run according to the
        file; empty if the file has none.
    unit : {"time", "amount"}
        Whether `GraphEdge.data` is a transfer time between two machines, or an amount (bytes, most
        often) that is divided by a bandwidth.
    facts : tuple of (str, str)
        Other properties of the graph in the file.
    """

    tasks: tuple[GraphTask, ...]
    edges: tuple[GraphEdge, ...]
    name: str = ""
    machines: tuple[str, ...] = ()
    unit: Unit = "time"
    facts: tuple[tuple[str, str], ...] = ()

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The edges, by the indices of their tasks."""
        index = {task.id: k for k, task in enumerate(self.tasks)}
        return [(index[edge.source], index[edge.target]) for edge in self.edges]

    def fact(self, key: str) -> str | None:
        """Return the first fact of a name, or None."""
        return next((value for name, value in self.facts if name == key), None)

    def critical_path(self) -> Number:
        """Return the length of the longest path, without communication, each task at its fastest.

        Examples
        --------
        >>> tasks = GraphTask("a", 3), GraphTask("b", costs=(None, 2, 5))
        >>> TaskGraph(tasks, (GraphEdge("a", "b", 9),)).critical_path()
        5
        """
        after = successors_of(len(self.tasks), self.pairs)
        starts: list[Any] = [0] * len(self.tasks)
        end: Any = 0
        for k in topological(after):
            one = self.tasks[k]
            fastest = one.work if one.costs is None else min(c for c in one.costs if c is not None)
            done = starts[k] + (fastest or 0)
            end = max(end, done)
            for target in after[k]:
                starts[target] = max(starts[target], done)
        return end  # type: ignore[no-any-return]


def parse_number(text: str, *, exact_numbers: bool = False) -> Number:
    """Return the number that a text spells: an `int` if it is whole, else a `float`.

    Parameters
    ----------
    text : str
    exact_numbers : bool, default False
        Return the `Fraction` that a decimal spells instead of a float.

    Raises
    ------
    ValueError
        If the text is no number.

    Examples
    --------
    >>> parse_number("8."), parse_number("2e9"), parse_number("0.1")
    (8, 2000000000, 0.1)
    >>> parse_number("0.1", exact_numbers=True)
    Fraction(1, 10)
    """
    if len(text) <= 18 and text.isascii() and text.isdigit():
        return int(text)
    exact = arithmetic.simplest(arithmetic.parse(text))
    if isinstance(exact, int) or exact_numbers or not arithmetic.is_finite(exact):
        return exact
    return float(exact)


class TaskGraphBuilder:
    """Collects tasks and edges, with their places, and all faults.

    Parameters
    ----------
    exact_numbers : bool
        Read decimals as the rationals that they spell.
    """

    def __init__(self, *, exact_numbers: bool = False) -> None:
        self.exact_numbers = exact_numbers
        self.tasks: list[GraphTask] = []
        self.edges: list[GraphEdge] = []
        self.faults: list[Fault] = []
        self._index: dict[str, int] = {}
        self._task_places: list[Place] = []
        self._edge_places: list[Place] = []

    def __contains__(self, name: str) -> bool:
        return name in self._index

    def fault(self, place: Place, value: object, rule: str) -> None:
        """Record a fault; reading stops at the hundredth."""
        self.faults.append(Fault(place_text(place), value, rule))
        if len(self.faults) >= MOST_FAULTS:
            self.fail()

    def fail(self) -> NoReturn:
        """Raise all faults."""
        raise InvalidInstanceError(self.faults)

    def amount(self, place: Place, value: object, *, what: str = "number") -> Number:
        """Return a non-negative number, given as such or as text; 0 and a fault if it is none."""
        number: Any = value
        if isinstance(value, str):
            try:
                number = parse_number(value.strip(), exact_numbers=self.exact_numbers)
            except ValueError:
                number = None
        good = isinstance(number, int | float | Fraction) and not isinstance(number, bool)
        if not good or not arithmetic.is_finite(number):
            self.fault(place, value, f"the {what} must be a finite number")
        elif number < 0:
            self.fault(place, value, f"the {what} must not be negative")
        elif number > LARGEST:
            self.fault(place, value, f"the {what} must be at most 1e100")
        else:
            return number  # type: ignore[no-any-return]
        return 0

    def task(
        self,
        place: Place,
        name: str,
        work: Number | None = None,
        costs: Sequence[Number | None] | None = None,
    ) -> None:
        """Record a task; a duplicate name is a fault, and so is a task that can run nowhere."""
        first = self._index.setdefault(name, len(self.tasks))
        if first != len(self.tasks):
            where = place_text(self._task_places[first])
            self.fault(place, name, f"the name of a task must be unique, and {where} has it")
            return
        if costs is not None and all(cost is None for cost in costs):
            self.fault(place, name, "a task must be able to run on some machine")
        self.tasks.append(GraphTask(name, work, None if costs is None else tuple(costs)))
        self._task_places.append(place)

    def edge(self, place: Place, source: str, target: str, data: Number = 0) -> None:
        """Record an edge; its tasks may be recorded later."""
        self.edges.append(GraphEdge(source, target, data))
        self._edge_places.append(place)

    def graph(
        self,
        name: str = "",
        *,
        machines: Sequence[str] = (),
        unit: Unit = "time",
        facts: Iterable[tuple[str, str]] = (),
    ) -> TaskGraph:
        """Return the graph.

        Raises
        ------
        InvalidInstanceError
            With every fault: also if there is no task, an edge names none, is given twice or
            lies on a cycle.
        """
        if not self.tasks and not self.faults:
            self.fault("", MISSING, "must hold a task")
        self._check_edges()
        if self.faults:
            self.fail()
        tasks, edges = tuple(self.tasks), tuple(self.edges)
        return TaskGraph(tasks, edges, name, tuple(machines), unit, tuple(facts))

    def _check_edges(self) -> None:
        pairs: list[tuple[int, int]] = []
        clean = not self.faults  # else a task that was refused would be missed
        places: dict[tuple[int, int], Place] = {}
        for edge, place in zip(self.edges, self._edge_places, strict=True):
            pair: Any = (self._index.get(edge.source), self._index.get(edge.target))
            if None in pair:
                for name in (edge.source, edge.target):
                    if name not in self and clean:
                        self.fault(place, name, "an edge must join tasks of the graph")
                continue
            if pair in places:
                first = place_text(places[pair])
                text = f"{edge.source} -> {edge.target}"
                self.fault(place, text, f"an edge must be given once, and {first} has it")
            places.setdefault(pair, place)
            pairs.append(pair)
        found = cycle(successors_of(len(self.tasks), pairs))
        if found:
            names = [self.tasks[k].id for k in (*found, found[0])]
            text = " -> ".join(names if len(names) <= 8 else [*names[:6], "...", names[-1]])
            place = places[found[0], found[1 % len(found)]]
            self.fault(place, text, "must have no cycle")


def shared_files(written: Mapping[str, Any], read: Mapping[str, Any]) -> list[str]:
    """Return the files that one task writes and another reads.

    Examples
    --------
    >>> shared_files({"a": 1, "b": 2}, {"b": 2, "c": 3})
    ['b']
    """
    few, many = sorted((written, read), key=len)
    return [file for file in few if file in many]


def place_text(place: Place) -> str:
    """Return a place as faults name it."""
    return f"line {place}" if isinstance(place, int) else place
