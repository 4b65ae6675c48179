"""Traces of small grids, worked out by hand, and what changes them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from dlopt.problems.dag import Edge, Graph, Instance, Lan, Link, Machine, Network, Task
from dlopt.problems.dag.trace import Course, Outage, Run, Trace
from dlopt.problems.dag.trace_checker import violations_executed

F = Fraction
NETWORK = Network(
    "scheduler",
    "counted",
    bandwidth=2,
    latency=1,
    lans=(Lan("l", bandwidth=4), Lan("r", bandwidth=1)),
    wan_links=(Link(0, 1, bandwidth=1, latency=2), Link(1, 0, bandwidth=10)),
)
MACHINES = (Machine("a", 1, 0, delay=1), Machine("b", 2, 0), Machine("c", 1, 1))
GRAPH = Graph(
    "g",
    (Task("s", 4), Task("t", costs=(3, None, 3))),
    (Edge(0, 1, data=8),),
    arrival=10,
    absolute_deadline=40,
    lan=0,
    input=4,
    output=12,
)
ONE = Instance(MACHINES, (GRAPH,), NETWORK)
# Input to machine 1: 4/4; work 4/2; result 8/4. Then 1 + 8/4; 3; 1 + 12/4.
FIRST = Run(0, 0, 1, 11, "done", 12, 14, 16, 16)
SECOND = Run(0, 1, 0, 17, "done", 20, 23, 27, 27)
HOME = Course(0, 0, 10, 11, 27)
GOOD = Trace((HOME,), (FIRST, SECOND))
WAITED = Trace(
    (replace(HOME, returned=28),),
    (Run(0, 0, 1, 11, "done", 13, 15, 17, 17), Run(0, 1, 0, 18, "done", 21, 24, 28, 28)),
)
LOST = Run(0, 0, 1, 11, "lost", 12, 13, None, 15)
AGAIN = Run(0, 0, 1, 15, "done", 16, 18, 20, 20)
LATER = Run(0, 1, 0, 20, "done", 23, 26, 30, 30)
DOWN = Outage(1, 13, 15)
FAILED = Trace((replace(HOME, returned=30),), (LOST, AGAIN, LATER), (DOWN,))
# The same, but the machine is down until 17, and presumed dead when a result could be back.
PRESUMED = Trace(
    (replace(HOME, returned=32),),
    (
        replace(LOST, freed=16),
        Run(0, 0, 1, 17, "done", 18, 20, 22, 22),
        Run(0, 1, 0, 22, "done", 25, 28, 32, 32),
    ),
    (Outage(1, 13, 17),),
    (Outage(1, 16, 17),),
)
TWO = Instance(
    MACHINES,
    (replace(GRAPH, tasks=(Task("s", 4), Task("t", 4)), edges=(), input=0, output=0),),
    NETWORK,
)
UNDER = Run(0, 0, 1, 11, "done", 11, 13, 13, 13)
OVER = Run(0, 1, 1, 11, "done", 13, 15, 15, 15)
PAIR = Trace((replace(HOME, returned=15),), (UNDER, OVER))


def kinds(instance: Instance, trace: Trace, **options: Any) -> set[str]:
    return {found.kind for found in violations_executed(instance, trace, **options)}


def with_runs(*runs: Run, trace: Trace = GOOD) -> Trace:
    return replace(trace, runs=runs)


def with_course(**changes: Any) -> Trace:
    return replace(GOOD, courses=(replace(HOME, **changes),))


def first(**changes: Any) -> Trace:
    return with_runs(replace(FIRST, **changes), SECOND)


def second(**changes: Any) -> Trace:
    return with_runs(FIRST, replace(SECOND, **changes))


def failed(**changes: Any) -> Trace:
    return replace(FAILED, **changes)
