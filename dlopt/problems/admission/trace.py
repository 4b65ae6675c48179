"""Executed traces of a stream of tasks: decisions, chunks, dropped loads, broken promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from dlopt.arithmetic import ROUNDING, Number, exact
from dlopt.problems.admission.data import Chunk, Decision, Instance, Solution
from dlopt.problems.validated_record import Record

BreakCause: TypeAlias = Literal["failure", "overrun"]
"""Why a promise is broken: a node fails, or a transmission or a computation takes longer than it
was estimated to."""


@dataclass(frozen=True, slots=True)
class Executed(Record):
    """A part of a task's load that was sent to a node.

    Parameters
    ----------
    task : str
    node : int
        0-based.
    load : Number
    transmission_start, transmission_end, computation_start, computation_end : Number
        Of a lost chunk, those after `lost` are when it would have happened.
    lost : Number, optional
        When the node failed with it. The load is not done then; node and channel are free of it.
    broken_off : Number, optional
        When the head node broke it off, because the task was given up; as for `lost`.
    """

    task: str
    node: int
    load: Number
    transmission_start: Number
    transmission_end: Number
    computation_start: Number
    computation_end: Number
    lost: Number | None = None
    broken_off: Number | None = None


@dataclass(frozen=True, slots=True)
class Dropped(Record):
    """A part of an accepted task's load that was given up."""

    task: str
    load: Number
    at: Number


@dataclass(frozen=True, slots=True)
class BrokenPromise(Record):
    """A promised deadline of which the head node said that it cannot be kept.

    Parameters
    ----------
    task : str
    at : Number
        When the cause became known: that of a failure, or the instant at which a transmission or a
        computation was estimated to end and did not.
    cause : {"failure", "overrun"}
    """

    task: str
    at: Number
    cause: BreakCause


@dataclass(frozen=True, slots=True)
class Trace(Record):
    """What was executed: decisions, one a task, and what became of the accepted loads.

    Parameters
    ----------
    decisions : tuple of Decision
    chunks : tuple of Executed
    dropped : tuple of Dropped
    broken : tuple of BrokenPromise
        At most one a task.
    """

    decisions: tuple[Decision, ...]
    chunks: tuple[Executed, ...]
    dropped: tuple[Dropped, ...] = ()
    broken: tuple[BrokenPromise, ...] = ()


def occupancy(trace: Trace) -> Solution:
    """Return the decisions, and when each chunk occupied channel and node, for charts."""
    chunks = []
    for one in trace.chunks:
        cut = one.broken_off if one.lost is None else one.lost
        instants: list[Number] = [
            one.transmission_start,
            one.transmission_end,
            one.computation_start,
            one.computation_end,
        ]
        if cut is not None:
            instants = [min(instant, cut) for instant in instants]
        chunks.append(Chunk(one.task, one.node, one.load, *instants))
    return Solution(trace.decisions, tuple(chunks))


def missed(instance: Instance, trace: Trace, tolerance: Number = 0) -> frozenset[str]:
    """Return the accepted tasks that were not wholly done by their deadlines.

    Parameters
    ----------
    instance : Instance
    trace : Trace
    tolerance : Number, default 0
        A task may end late by `tolerance` times its relative deadline and, if it is not 0, by 64
        units in the last place of that end.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 1, 2),))
    >>> late = Trace((Decision("a", True, 0),), (Executed("a", 0, 1, 0, 1, 1, 3),))
    >>> sorted(missed(instance, late))
    ['a']
    """
    tasks = {task.id: task for task in instance.tasks}
    accepted = {
        decision.task
        for decision in trace.decisions
        if decision.accepted and decision.task in tasks
    }
    late = {part.task for part in trace.dropped if part.load > 0}
    for chunk in trace.chunks:
        task = tasks.get(chunk.task)
        if task is not None and chunk.lost is None and chunk.broken_off is None:
            end, span = exact(chunk.computation_end), exact(task.deadline)
            allowed = exact(tolerance) * span + (ROUNDING * abs(end) if tolerance else 0)
            if end - exact(task.arrival) - span > allowed:
                late.add(chunk.task)
    return frozenset(late & accepted)
