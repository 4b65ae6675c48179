"""The data of the problem: instances and solutions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import MinLen

from dlopt.arithmetic import Number, is_exact, is_less, least, shown
from dlopt.errors import Fault
from dlopt.problems import validated_record
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import Header, Items, NonNegative, Positive, Record


@dataclass(frozen=True, slots=True)
class Instance(Header["Solution"]):
    """One divisible load and the initial state of the cluster.

    Parameters
    ----------
    cluster : Cluster
    ready_times : tuple of Number, shape (nodes,)
        When each node becomes free.
    load : Number
        What is to be split, in units of load; positive.
    absolute_deadline : Number, optional
        When all of it must be computed. It must lie after the first ready time.
    name, origin, units, best_known
        See :class:`dlopt.problems.validated_record.Header`.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
    >>> instance.exact
    True
    """

    problem: ClassVar[str] = "iit"

    cluster: Cluster
    ready_times: Annotated[Items[NonNegative], MinLen(1)]
    load: Positive
    absolute_deadline: NonNegative | None = None

    @classmethod
    def list_lengths(cls, known: Mapping[str, Any]) -> Mapping[str, int]:
        """Return how long the list of ready times must be."""
        return {"ready_times": known["cluster"].nodes} if "cluster" in known else {}

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields: a deadline that nothing can meet."""
        ready, deadline = known.get("ready_times"), known.get("absolute_deadline")
        if ready is not None and deadline is not None:
            first = least(ready)
            if not is_less(first, deadline):
                rule = f"must lie after the first ready time, {shown(first, 15)}"
                yield Fault("absolute_deadline", deadline, rule)

    @property
    def exact(self) -> bool:
        """Whether no number of the instance is a float, so that answers are exact."""
        deadline = () if self.absolute_deadline is None else (self.absolute_deadline,)
        return self.cluster.exact and is_exact((*self.ready_times, self.load, *deadline))


@dataclass(frozen=True, slots=True)
class Chunk(Record):
    """A part of the load: sent to a node, then computed there.

    Parameters
    ----------
    node : int
        0-based.
    load : Number
        Units of load.
    transmission_start, transmission_end : Number
    computation_start, computation_end : Number
    """

    node: int
    load: Number
    transmission_start: Number
    transmission_end: Number
    computation_start: Number
    computation_end: Number


@dataclass(frozen=True, slots=True)
class Solution(Record):
    """A plan: chunks in any order; a node may get several, or none."""

    chunks: Items[Chunk]


def faults(data: object) -> tuple[Fault, ...]:
    """Return everything that is wrong with the data of an instance, not only the first fault.

    Examples
    --------
    >>> for fault in faults({"cluster": {"nodes": 0, "tau": 1}, "ready_times": [0], "load": -1}):
    ...     print(fault)
    cluster.nodes: must be at least 1, got 0
    cluster.chi: is missing
    load: must be positive, got -1
    """
    return validated_record.examine(Instance, data)[1]
