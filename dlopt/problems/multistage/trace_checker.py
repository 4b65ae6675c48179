"""The checker of executed traces of tasks and reservations: whether they can have happened.

Nothing here knows how a trace was made. The rules of the tasks are those of
`dlopt.problems.admission.trace_checker`; those of the reservations are in
`dlopt.problems.multistage.executed_reservations`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dlopt.arithmetic import exact
from dlopt.problems import admission
from dlopt.problems.admission.trace_checker import TraceChecker
from dlopt.problems.multistage import checker
from dlopt.problems.multistage.data import Instance
from dlopt.problems.multistage.executed_reservations import ExecutedReservationChecker
from dlopt.problems.multistage.scenario import Scenario, check_fits
from dlopt.problems.multistage.trace import Trace
from dlopt.result import Violation

EXECUTED_KINDS = (
    *admission.EXECUTED_KINDS,
    *(kind for kind in checker.KINDS if kind not in admission.KINDS),
    "reservation-not-kept",
    "reservation-without-promise",
    "wrong-reservation-window",
    "moved-without-cause",
)
"""The kinds of violation that `violations_executed` tells apart."""


def violations_executed(
    instance: Instance, scenario: Scenario, trace: Trace, tolerance: float = 0
) -> tuple[Violation, ...]:
    """Return every contradiction of a trace to what truly happened, or to the constraints.

    Parameters
    ----------
    instance : Instance
    scenario : Scenario
    trace : Trace
    tolerance : float, default 0
        As for `dlopt.problems.multistage.violations`.

    Returns
    -------
    tuple of Violation
        Empty if it can have happened so. Kinds: see `EXECUTED_KINDS`.

    Raises
    ------
    InvalidInstanceError
        If the scenario cannot happen to the instance.

    Notes
    -----
    The rules of tasks are those of `dlopt.problems.admission.violations_executed`. A reservation
    that is accepted occupies its nodes from its start to its true end, and the channel until its
    I/O ends, unless the trace says by then that its promise is broken. From its start to its end
    its nodes receive and compute nothing, and none of them is down; a node that fails ends it for
    all of its nodes. One that has not begun may be moved to other nodes if it asked for a number
    of them.
    Promises to tasks and reservations may be broken, and reservations moved, when a node fails, or
    when a transmission, a computation or a reservation was to end and goes on. What has begun of a
    reservation is broken by a failure of its own nodes alone.

    With a tolerance, and if nothing else is wrong, the chunks are also sent at their stated
    instants in exact numbers, as in `admission`; by more than is allowed there they may not reach
    into a reservation either.

    Complexity: O(n log n) in tasks, chunks, moves and reserved nodes, times the failures of a node;
    with a tolerance, the chunks also times the reservations of a node and of the channel.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import ExecutedReservation, Grant, Reservation
    >>> instance = Instance(Cluster(1, 1, 1), reservations=(Reservation("r", 0, 1, 3),))
    >>> used = ExecutedReservation("r", (0,), start=1, io_end=1, end=3)
    >>> trace = Trace((), (), grants=(Grant("r", True, 0, (0,)),), reservations=(used,))
    >>> violations_executed(instance, Scenario(), trace)
    ()
    >>> longer = Scenario.from_data({"ends": [{"reservation": "r", "end": 4}]})
    >>> print(*violations_executed(instance, longer, trace))
    wrong-reservation-window on reservation r in [3, 4] by 1
    """
    check_fits(instance, scenario)
    reservations = ExecutedReservationChecker(instance, scenario, trace, tolerance)
    tasks = _task_checker(instance, scenario, trace, tolerance, reservations)
    of_tasks = _unknown_tasks(trace) if tasks is None else tasks.violations()
    causes = reservations.causes_without_tasks() if tasks is None else tasks.causes
    found = (*of_tasks, *reservations.violations(causes))
    if found or tasks is None or not tolerance:
        return found
    return tuple(tasks.timeline_violations())


def _task_checker(
    instance: Instance,
    scenario: Scenario,
    trace: Trace,
    tolerance: float,
    reservations: ExecutedReservationChecker,
) -> TraceChecker | None:
    """Return the checker of the tasks of a trace; None if there is no task."""
    stream = checker.stream_of(instance)
    if stream is None:
        return None
    late_ends = reservations.late_ends()
    return TraceChecker(stream, scenario, trace, tolerance, late_ends, reservations.reserved)


def _unknown_tasks(trace: Trace) -> Iterator[Violation]:
    """Yield everything that a trace says of tasks, of which there are none."""
    for decision in trace.decisions:
        yield Violation("unknown-task", f"task {decision.task}")
    for chunk in trace.chunks:
        yield Violation("unknown-task", f"task {chunk.task}", amount=exact(chunk.load))
    for part in trace.dropped:
        yield Violation("unknown-task", f"task {part.task}", amount=exact(part.load))
    for one in trace.broken:
        yield Violation("unknown-task", f"task {one.task}", exact(one.at), amount=Fraction(0))
