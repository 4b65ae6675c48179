"""Executed traces of task graphs on a grid of LANs: placements, runs, losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dlopt.arithmetic import Number, exact, shown
from dlopt.errors import Fault
from dlopt.problems.dag.data import Instance, Placement, Solution
from dlopt.problems.dag.network import Index
from dlopt.problems.validated_record import NonNegative, Record

Fate: TypeAlias = Literal["done", "lost", "pulled-back", "withdrawn", "ignored", "unfinished"]


@dataclass(frozen=True, slots=True)
class Run(Record):
    """A task that a scheduler sent to a machine, once; what comes back may be sent again.

    Parameters
    ----------
    graph, task, machine : int
        0-based.
    sent : Number
        When the scheduler of the LAN sent it. It takes a place in the machine's queue from then
        until `freed`.
    fate : {"done", "lost", "pulled-back", "withdrawn", "ignored", "unfinished"}
        ``done``: its result counts. ``lost``: its machine failed with it. ``pulled-back``: the
        scheduler presumed the machine dead before the task had started. ``withdrawn``: another
        run was done first, or the graph was given up. ``ignored``: it ended, but its result came
        too late to count. ``unfinished``: it was under way when all ended.
    start, end : Number, optional
        When it ran; `end` is also when a run was cut short.
    known : Number, optional
        When the scheduler had the result.
    freed : Number, optional
        When the scheduler took it off the machine's queue.
    """

    graph: Index
    task: Index
    machine: Index
    sent: NonNegative
    fate: Fate
    start: NonNegative | None = None
    end: NonNegative | None = None
    known: NonNegative | None = None
    freed: NonNegative | None = None


@dataclass(frozen=True, slots=True)
class Outage(Record):
    """A machine that is down, or presumed dead, in ``[begin, until)``.

    Parameters
    ----------
    machine : int
        0-based.
    begin : Number
    until : Number, optional
        By default it stays so.
    """

    machine: Index
    begin: NonNegative
    until: NonNegative | None = None

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield a fault if it ends before it begins."""
        begin, until = known.get("begin"), known.get("until")
        if begin is not None and until is not None and exact(until) < exact(begin):
            yield Fault("until", until, f"must not lie before begin, {shown(begin, 15)}")


@dataclass(frozen=True, slots=True)
class Course(Record):
    """The course of a graph as a whole.

    Parameters
    ----------
    graph : int
        0-based.
    lan : int, optional
        Which LAN got it; None if none did.
    decided : Number, optional
        When its home LAN chose that LAN.
    received : Number, optional
        When that LAN had it, with its input.
    returned : Number, optional
        When its results were at home; None if they never were.
    reason : str
        Why not.
    """

    graph: Index
    lan: Index | None = None
    decided: NonNegative | None = None
    received: NonNegative | None = None
    returned: NonNegative | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Trace(Record):
    """What happened to the graphs of an instance on a grid of LANs.

    Parameters
    ----------
    courses : tuple of Course
        One a graph.
    runs : tuple of Run
        In the order in which they were sent.
    down, presumed : tuple of Outage
        When machines were down, and when their schedulers took them for dead.
    """

    courses: tuple[Course, ...]
    runs: tuple[Run, ...]
    down: tuple[Outage, ...] = ()
    presumed: tuple[Outage, ...] = ()


def late_or_lost(instance: Instance, trace: Trace) -> frozenset[int]:
    """Return the graphs that are not at home by their deadlines, or never.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Lan, Machine, Network, Task
    >>> network = Network("scheduler", "counted", lans=(Lan("l"),))
    >>> graphs = tuple(Graph(name, (Task("t", 1),), absolute_deadline=2, lan=0) for name in "abc")
    >>> instance = Instance((Machine("m", lan=0),), graphs, network)
    >>> courses = (Course(0, 0, 0, 0, 1), Course(1, 0, 0, 0, 3), Course(2, reason="no node"))
    >>> sorted(late_or_lost(instance, Trace(courses, ())))
    [1, 2]
    """
    home: dict[int, Number] = {
        course.graph: course.returned for course in trace.courses if course.returned is not None
    }
    return frozenset(
        index
        for index, graph in enumerate(instance.graphs)
        if index not in home
        or (
            graph.absolute_deadline is not None
            and exact(home[index]) > exact(graph.absolute_deadline)
        )
    )


def plan_of(trace: Trace) -> Solution:
    """Return the plan that was executed: every run that is done, where it ran.

    Where nothing is slower than estimated, it obeys `dlopt.problems.dag.violations` if all graphs
    are complete, and no plan is better than the optimum.
    """
    return Solution(
        tuple(
            Placement(run.graph, run.task, run.machine, run.start)
            for run in trace.runs
            if run.fate == "done" and run.start is not None
        )
    )
