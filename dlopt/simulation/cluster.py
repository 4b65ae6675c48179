"""One algorithm on one stream of divisible loads; the papers call their simulator DLSim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from time import perf_counter

from dlopt.arithmetic import FLOATING
from dlopt.errors import NotApplicableError
from dlopt.generation.stream import Workload, costs_of
from dlopt.heuristics.admission import serial, timeline
from dlopt.heuristics.admission.algorithm import Algorithm
from dlopt.heuristics.admission.engine import PromiseError
from dlopt.heuristics.admission.nodes import Placement
from dlopt.heuristics.admission.orders import Planned, Refused, Waiting
from dlopt.heuristics.admission.queue import Queue
from dlopt.heuristics.admission.serial import Log, Served
from dlopt.problems.admission import Decision, Instance, Solution, violations
from dlopt.result import Violation
from dlopt.simulation.outcome import Outcome, outcome_of


def simulate(
    workload: Workload | Instance, algorithm: str | Algorithm = "edf-iit-2", *, check: bool = False
) -> Outcome:
    """Run an admission algorithm over a stream of tasks.

    Parameters
    ----------
    workload : Workload or Instance
        See `dlopt.generation.workloads`; an instance is taken in floats. Its cluster may be busy
        at first: what it has promised is planned at ``now``, as `dlopt.Admission` does.
    algorithm : str or Algorithm
        See :meth:`dlopt.heuristics.admission.algorithm.Algorithm.parse`.
    check : bool, default False
        Whether the chunks of all accepted tasks are made and held against the rules, to a
        relative 1e-9. That takes far longer than the simulation: chunks are as many as tasks
        times nodes.

    Returns
    -------
    Outcome

    Raises
    ------
    NotApplicableError
        If the algorithm does not exist or cannot keep what the cluster promised, or nodes differ.

    Notes
    -----
    The decisions are those of `dlopt.Admission`. Where every task takes all nodes for want of
    set-up costs, a number stands for them: see `dlopt.heuristics.admission.serial`.

    Examples
    --------
    >>> from dlopt.generation.workloads import mamat4
    >>> outcome = simulate(mamat4(system_load=0.5, horizon=300_000, seed=1), "edf-opr-an")
    >>> outcome.tasks, outcome.rejected, outcome.misses
    (44, 30, 0)
    """
    run = Run(workload, algorithm)
    return run.checked() if check else run.outcome


class Run:
    """An algorithm over a stream: what became of the tasks, and where they were put.

    Parameters
    ----------
    workload, algorithm
        See `simulate`, also for what is raised.

    Attributes
    ----------
    workload : Workload
    algorithm : Algorithm
    outcome : Outcome

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> run = Run(Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 3, 4),), ready_times=(0, 1)))
    >>> [(chunk.node, chunk.computation_end) for chunk in run.solution.chunks]
    [(0, 4.0), (1, 4.0)]
    """

    def __init__(
        self, workload: Workload | Instance, algorithm: str | Algorithm = "edf-iit-2"
    ) -> None:
        self._instance = workload if isinstance(workload, Instance) else None
        if not isinstance(workload, Workload):
            if not isinstance(workload, Instance):
                kind = type(workload).__name__
                raise NotApplicableError(f"a workload or an instance is needed, not a {kind}")
            workload = Workload.of(workload)
        if not isinstance(algorithm, Algorithm):
            algorithm = Algorithm.parse(algorithm)
        if workload.promised and not algorithm.control:
            text = f"{algorithm.name} looks at no deadline; the cluster has promised some"
            raise NotApplicableError(text)
        self.workload = workload
        self.algorithm = algorithm
        began = perf_counter()
        self._log, self._plan = _decided(workload, algorithm)
        seconds = perf_counter() - began
        self.outcome = outcome_of(workload, algorithm, self._log, self._plan, seconds)

    @property
    def instance(self) -> Instance:
        """The instance that the stream is.

        Raises
        ------
        InvalidInstanceError
            If there is no task.
        """
        return self.workload.instance() if self._instance is None else self._instance

    @cached_property
    def solution(self) -> Solution:
        """The decisions, and the chunks of all accepted tasks: as many as tasks times nodes."""
        workload, control = self.workload, self.algorithm.control
        said = dict(zip(workload.names[workload.promised :], self._log.accepted, strict=True))
        decisions = tuple(
            # Promised tasks that are not in the stream any more were accepted, too.
            Decision(task.id, said.get(task.id, True), task.arrival, promised=control)
            for task in self.instance.tasks
        )
        placer = _queue(workload, self.algorithm).placer
        costs = tuple(map(float, costs_of(workload.cluster)))
        chunks = timeline.chunks(placer, costs, workload.free_times, self._named())
        return Solution(decisions, chunks)

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """What the solution breaks of the rules, to a relative 1e-9."""
        if self._instance is None and not len(self.workload):
            return ()
        return violations(self.instance, self.solution, FLOATING)

    def checked(self) -> Outcome:
        """Return the outcome with the number of violations."""
        return replace(self.outcome, violations=len(self.violations))

    def rejected(self) -> list[tuple[float, int]]:
        """Return how many tasks were rejected, from each arrival of such a task on."""
        arrivals = self.workload.arrivals[self.workload.promised :]
        decided = zip(arrivals, self._log.accepted, strict=True)
        instants = [float(arrival) for arrival, accepted in decided if not accepted]
        return [(instant, number) for number, instant in enumerate(instants, start=1)]

    def waiting(self) -> list[tuple[float, int]]:
        """Return how many accepted tasks wait, from each instant on at which that changes.

        A task waits from its arrival, or from the beginning if it was promised before, until the
        first part of it is sent.
        """
        change: Counter[float] = Counter()
        for number, start, _ in self._log.served:
            arrival = max(float(self.workload.arrivals[number]), float(self.workload.begin))
            if start > arrival:
                change[arrival] += 1
                change[start] -= 1
        instants = sorted(instant for instant, step in change.items() if step)
        return list(zip(instants, accumulate(change[i] for i in instants), strict=True))

    def _named(self) -> Iterator[Planned]:
        """Yield the places of the tasks, under their names."""
        names = self.workload.names
        for task, place in self._all_nodes() if self._plan is None else self._plan:
            yield Planned(task._replace(id=names[task.key[1]]), place)

    def _all_nodes(self) -> Iterator[Planned]:
        """Write out a plan in which every task takes all nodes."""
        workload = self.workload
        for number, start, end in self._log.served:
            arrival, load = workload.arrivals[number], workload.loads[number]
            due = arrival + workload.deadlines[number]
            task = Waiting((number, number), "", float(arrival), float(load), float(due))
            yield Planned(task, Placement(workload.cluster.nodes, start, start, start, end))


def _decided(workload: Workload, algorithm: Algorithm) -> tuple[Log, list[Planned] | None]:
    """Decide on all tasks; the plan is None if every task takes all nodes."""
    arrivals = list(map(float, workload.arrivals))
    loads = list(map(float, workload.loads))
    due = [at + deadline for at, deadline in zip(arrivals, workload.deadlines, strict=True)]
    if workload.idle:
        costs = tuple(map(float, costs_of(workload.cluster)))
        times = serial.execution_times(algorithm, costs, workload.cluster.nodes, loads)
        if times is not None:
            begin = float(workload.begin)
            return serial.serve(algorithm, arrivals, times, due, begin), None
    fifo = algorithm.order == "fifo"
    tasks = [
        Waiting((number if fifo else deadline, number), "", arrival, load, deadline)
        for number, (arrival, load, deadline) in enumerate(zip(arrivals, loads, due, strict=True))
    ]
    return _queued(workload, algorithm, tasks)


def _queued(
    workload: Workload, algorithm: Algorithm, tasks: list[Waiting]
) -> tuple[Log, list[Planned]]:
    log, queue = Log(), _queue(workload, algorithm)
    refused = queue.restore(tasks[: workload.promised], float(workload.begin))
    if isinstance(refused, Refused):
        name = workload.names[refused.task.key[1]]
        raise PromiseError(f"{algorithm.name} finds no plan that keeps the promise to {name}")
    for task in tasks[workload.promised :]:
        queue.advance(task.arrival)
        waiting = queue.waiting
        if waiting:
            log.queued += len(waiting)
            log.longest = max(log.longest, len(waiting))
        log.accepted.append(queue.offer(task) is None)
    plan = [*queue.sent, *queue.waiting]
    log.served = [Served(task.key[1], place.start, place.end) for task, place in plan]
    return log, plan


def _queue(workload: Workload, algorithm: Algorithm) -> Queue:
    costs = tuple(map(float, costs_of(workload.cluster)))
    channel = float(max(workload.begin, workload.channel))
    return Queue(algorithm, costs, list(map(float, workload.free_times)), channel)
