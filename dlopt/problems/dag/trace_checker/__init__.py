"""The checker of executed traces: whether task graphs on a grid can have run as recorded.

Nothing here knows how a trace was made.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlopt.arithmetic import Number
from dlopt.problems.dag.data import Instance
from dlopt.problems.dag.trace import Outage, Trace
from dlopt.problems.dag.trace_checker.ends import end_violations
from dlopt.problems.dag.trace_checker.facts import TraceFacts
from dlopt.problems.dag.trace_checker.graphs import graph_violations, must_have_begun
from dlopt.problems.dag.trace_checker.machines import machine_violations
from dlopt.problems.dag.trace_checker.runs import run_violations
from dlopt.problems.dag.trace_checker.timeline import timeline_violations
from dlopt.result import Violation

EXECUTED_KINDS = (
    "unknown-graph",
    "unknown-task",
    "unknown-machine",
    "unknown-lan",
    "graph-record-missing",
    "duplicate-graph-record",
    "incomplete-without-reason",
    "decided-before-arrival",
    "received-before-input",
    "returned-before-results",
    "task-missing",
    "completed-twice",
    "inconsistent-run",
    "ineligible-machine",
    "wrong-lan",
    "sent-before-ready",
    "sent-twice",
    "sent-after-result",
    "discarded-without-other-result",
    "starts-before-data",
    "duration",
    "result-known-before-transfer",
    "machine-overlap",
    "not-first-in-first-out",
    "queue-overflow",
    "starts-during-failure",
    "continues-through-failure",
    "failure-missing",
    "lost-without-failure",
    "suspected-without-cause",
    "left-on-suspected-machine",
    "pulled-back-without-cause",
    "sent-to-suspected-machine",
    "starts-on-suspected-machine",
    "suspicion-ended-without-cause",
    "left-queue-without-cause",
    "due-event-missing",
    "graph-not-returned",
    "graph-not-served",
    "graph-abandoned-without-cause",
    "earlier-than-possible",
)
"""The kinds of violation that `violations_executed` tells apart; the last only with a tolerance."""


def violations_executed(
    instance: Instance,
    trace: Trace,
    *,
    queue_size: int | None = None,
    failures: Sequence[Outage] = (),
    slowdown: tuple[Number, Number] = (1, 1),
    until: Number | None = None,
    tolerance: float = 0,
) -> tuple[Violation, ...]:
    """Return every contradiction of a trace to the grid, its failures or the constraints.

    Parameters
    ----------
    instance : Instance
        Its machines are in LANs, its data goes through their schedulers, and its graphs have
        homes; whatever `one_lan` says, the tasks of a graph must stay in one.
    trace : Trace
    queue_size : int, optional
        How many tasks a machine may hold, with the one that runs.
    failures : sequence of Outage, optional
        When machines must have been down, at least.
    slowdown : (Number, Number), default (1, 1)
        A run takes at least and at most so many times its estimate.
    until : Number, optional
        When all was stopped; what comes then or later need not have happened. By default it went
        on until nothing more could happen.
    tolerance : float, default 0
        Relative: if it is not 0, instants may be off by `tolerance` times themselves, or by 64
        units in the last place; what is off does not add up, see the notes.

    Returns
    -------
    tuple of Violation
        Empty if it can have happened so. Kinds: see `EXECUTED_KINDS`.

    Notes
    -----
    A graph goes to one LAN, over the WAN with its input. Its scheduler sends a task once it knows
    the results of all its predecessors; the task starts once the largest of its data has come to
    the machine, in the order in which tasks were sent there. The result comes back with the
    largest of the data that it has for others. A machine that fails loses what it holds; a run
    that ends just as its machine fails may be done or lost. Nothing is sent to, nothing starts on,
    and nothing is left on a machine that its scheduler presumes dead. Each task of a graph that
    came home was done once, and is not sent again then; what is withdrawn, or comes too late to
    count, is so because another run was done first.

    A run leaves the queue of its machine when its result is known, or with all others when the
    machine is presumed dead, for which one of them must be overdue; when the machine is up again
    that lost it; when another run is done; or when its graph is given up, which is so when a task
    of it was sent in vain. Nothing is heard of a machine that is down but a result that was on its
    way. What is under way at the end must not be due before: a run to end, its result to come in,
    a graph to be received or at home. Where nothing was stopped, a graph is not at home because no
    LAN can run it, because a task was sent in vain, or because it waits for machines that are down
    or presumed dead for ever.

    With a tolerance, and if nothing else is wrong, everything also happens at its stated instant in
    exact numbers, or once all that it waits for is there: graphs, data, results, and machines,
    which run one task after the other. Nothing may be stated to happen before that by more than an
    instant may be off, and by 4 units in the last place for each step since the last pause. Else
    it is ``earlier-than-possible``. So many runs cannot each overlap the next by a little.

    Complexity: O(n log n) in runs and edges, times the failures of a machine.

    Examples
    --------
    Two tasks, one after the other, as some simulator tells of them; the second starts before its
    data, which takes from 3 to 5, has come:

    >>> from dlopt.problems.dag import Course, Edge, Graph, Lan, Machine, Network, Run, Task
    >>> network = Network("scheduler", "counted", lans=(Lan("l"),))
    >>> graph = Graph("g", (Task("a", 1), Task("b", 1)), (Edge(0, 1, data=2),), lan=0)
    >>> instance = Instance((Machine("m", lan=0),), (graph,), network)
    >>> first = Run(0, 0, 0, sent=0, fate="done", start=0, end=1, known=3, freed=3)
    >>> second = Run(0, 1, 0, sent=3, fate="done", start=4, end=5, known=5, freed=5)
    >>> trace = Trace((Course(0, lan=0, decided=0, received=0, returned=5),), (first, second))
    >>> for violation in violations_executed(instance, trace, queue_size=1):
    ...     print(violation)
    starts-before-data on task 1 of graph 0 in [4, 5] by 1
    """
    facts = TraceFacts(instance, trace, slowdown, tolerance)
    due = [failure for failure in failures if must_have_begun(facts, failure.begin, until)]
    found = (
        *graph_violations(facts, until),
        *run_violations(facts),
        *machine_violations(facts, queue_size, due),
        *end_violations(facts, until),
    )
    return found if found or not tolerance else tuple(timeline_violations(facts))
