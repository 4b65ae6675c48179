"""Simulation of one algorithm on one stream of divisible loads; the papers call it DLSim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import overload

from dlopt.arithmetic import FLOATING
from dlopt.errors import NotApplicableError
from dlopt.generation.workload import Workload
from dlopt.heuristics.admission import all_nodes_queue
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.all_nodes_queue import ServiceInterval, StreamLog
from dlopt.heuristics.admission.chunks import chunks as chunks_of
from dlopt.heuristics.admission.chunks import free_nodes
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.heuristics.admission.online_policy import OnlinePolicy
from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.planner_factory import Planner, Policy, make_planner, parse
from dlopt.heuristics.admission.queue import PlannedQueue
from dlopt.heuristics.admission.records import Placement, PlannedTask, QueuedTask, Rejection
from dlopt.problems.admission import Decision, Instance, Scenario, Solution, violations
from dlopt.result import Violation
from dlopt.simulation.executed_metrics import ExecutedOutcome
from dlopt.simulation.executed_stream import ExecutedRun
from dlopt.simulation.metrics import StreamOutcome, cumulative_steps, outcome_of
from dlopt.simulation.policy_simulation import PolicyRun, algorithm_of, run_within


@overload
def simulate(
    workload: Workload | Instance,
    algorithm: str | Policy | OnlinePolicy = "edf-iit-2",
    *,
    scenario: None = None,
    check: bool = False,
    time_limit_s: float | None = ...,
) -> StreamOutcome: ...


@overload
def simulate(
    workload: Workload | Instance,
    algorithm: str | Policy | OnlinePolicy = "edf-iit-2",
    *,
    scenario: Scenario,
    check: bool = False,
    time_limit_s: float | None = ...,
) -> ExecutedOutcome: ...


def simulate(
    workload: Workload | Instance,
    algorithm: str | Policy | OnlinePolicy = "edf-iit-2",
    *,
    scenario: Scenario | None = None,
    check: bool = False,
    time_limit_s: float | None = None,
) -> StreamOutcome:
    """Run an admission algorithm over a stream of tasks.

    Parameters
    ----------
    workload : Workload or Instance
        See `dlopt.generation.paper_workloads`; an instance is converted to floats. Its cluster may
        be busy at first: the tasks that it has promised are planned at ``now``, as
        `dlopt.Admission` does.
    algorithm : str, Policy or OnlinePolicy
        See :func:`dlopt.heuristics.admission.planner_factory.parse`; an online policy of your own,
        or the name under which it is registered.
    scenario : Scenario, optional
        What the algorithm does not know: true costs of tasks, and failures of nodes. It learns of
        them as they happen, and the stream is executed as they say; see
        `dlopt.simulation.ExecutedRun`, also for what is raised. Slower, even if nothing is in it.
    check : bool, default False
        Whether the chunks of all accepted tasks are computed and checked against the rules, to a
        relative 1e-9; with a scenario, what was executed is checked. That takes far longer than the
        simulation: there are as many chunks as tasks times nodes.
    time_limit_s : float, optional
        Seconds after which the algorithm is given up, as one of your own may never end. The check
        is not interrupted.

    Returns
    -------
    StreamOutcome
        With a scenario an `ExecutedOutcome`.

    Raises
    ------
    NotApplicableError
        If the algorithm does not exist or cannot keep what the cluster promised, or nodes differ.
    SolverError
        If the function of an online policy fails, or the time limit is reached.

    Notes
    -----
    The decisions are those of `dlopt.Admission`. Where every task uses all nodes because there are
    no set-up costs, a single number represents the schedule: see
    `dlopt.heuristics.admission.all_nodes_queue`.

    Examples
    --------
    >>> from dlopt.generation.paper_workloads import mamat4
    >>> outcome = simulate(mamat4(system_load=0.5, horizon=300_000, seed=1), "edf-opr-an")
    >>> outcome.tasks, outcome.rejected, outcome.misses
    (44, 30, 0)
    """
    run = run_within(
        time_limit_s,
        algorithm,
        lambda: (
            run_stream(workload, algorithm)
            if scenario is None
            else run_executed(workload, algorithm, scenario)
        ),
    )
    return run.checked() if check else run.outcome


def run_stream(
    workload: Workload | Instance, algorithm: str | Policy | OnlinePolicy
) -> StreamRun | PolicyRun:
    """Run an algorithm over a stream; see `simulate`, also for what is raised."""
    chosen = algorithm_of(algorithm)
    if isinstance(chosen, OnlinePolicy):
        return PolicyRun(workload, chosen)
    return StreamRun(workload, chosen)


def run_executed(
    workload: Workload | Instance, algorithm: str | Policy | OnlinePolicy, scenario: Scenario
) -> ExecutedRun:
    """Run an algorithm over a stream that is executed as a scenario says; see `simulate`."""
    chosen = algorithm_of(algorithm)
    if isinstance(chosen, OnlinePolicy):
        text = f"{chosen.name} cannot plan again: it is simulated without failures and true costs"
        raise NotApplicableError(text)
    return ExecutedRun(workload, chosen, scenario)


class StreamRun:
    """An algorithm run over a stream: its results and its schedule.

    Parameters
    ----------
    workload, algorithm
        See `simulate`, also for what is raised.

    Attributes
    ----------
    workload : Workload
    algorithm : Policy
    outcome : StreamOutcome

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 3, 4),), ready_times=(0, 1))
    >>> [(chunk.node, chunk.computation_end) for chunk in StreamRun(instance).solution.chunks]
    [(0, 4.0), (1, 4.0)]
    """

    def __init__(
        self, workload: Workload | Instance, algorithm: str | Policy = "edf-iit-2"
    ) -> None:
        self._instance = workload if isinstance(workload, Instance) else None
        workload = Workload.of(workload)
        policy = parse(algorithm)
        if workload.promised and not policy.control:
            text = f"{policy.name} looks at no deadline; the cluster has promised some"
            raise NotApplicableError(text)
        self.workload = workload
        self.algorithm = policy
        began = perf_counter()
        self._log, self._planner = _run_algorithm(workload, policy)
        seconds = perf_counter() - began
        used = self._planner.placements() if isinstance(self._planner, PlannedQueue) else None
        self.outcome = outcome_of(workload, policy.name, self._log, used, seconds)

    @property
    def instance(self) -> Instance:
        """The stream as an instance.

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
        accepted = dict(zip(workload.names[workload.promised :], self._log.accepted, strict=True))
        decisions = tuple(
            # Promised tasks that are not in the stream any more were accepted, too.
            Decision(task.id, accepted.get(task.id, True), task.arrival, promised=control)
            for task in self.instance.tasks
        )
        if self._planner is not None:
            return Solution(decisions, self._planner.chunks())
        assert isinstance(self.algorithm, Algorithm)
        costs = tuple(map(float, workload.cluster.costs_of(0)))
        task_planner = OprEprPlanner(self.algorithm, costs, workload.cluster.nodes)
        free = free_nodes(workload.free_times)
        chunks = chunks_of(task_planner, costs, free, self._all_nodes())
        return Solution(decisions, chunks)

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """The violations of the solution, checked to a relative 1e-9."""
        if self._instance is None and not len(self.workload):
            return ()
        return violations(self.instance, self.solution, FLOATING)

    def checked(self) -> StreamOutcome:
        """Return the outcome with the number of violations."""
        return replace(self.outcome, violations=len(self.violations))

    def rejected(self) -> list[tuple[float, int]]:
        """Return the cumulative number of rejected tasks, as steps."""
        arrivals = self.workload.arrivals[self.workload.promised :]
        decided = zip(arrivals, self._log.accepted, strict=True)
        instants = [float(arrival) for arrival, accepted in decided if not accepted]
        return [(instant, number) for number, instant in enumerate(instants, start=1)]

    def waiting(self) -> list[tuple[float, int]]:
        """Return the number of accepted tasks that wait, as steps.

        A task waits from its arrival, or from the beginning if it was promised before, until its
        first chunk is sent.
        """
        change: Counter[float] = Counter()
        for number, start, _ in self._log.served:
            arrival = max(float(self.workload.arrivals[number]), float(self.workload.begin))
            if start > arrival:
                change[arrival] += 1
                change[start] -= 1
        return cumulative_steps(change)

    def _all_nodes(self) -> Iterator[PlannedTask]:
        """Yield a schedule in which every task uses all nodes."""
        workload = self.workload
        for number, start, end in self._log.served:
            arrival, load = workload.arrivals[number], workload.loads[number]
            due = arrival + workload.deadlines[number]
            name = workload.names[number]
            task = QueuedTask((number, number), name, float(arrival), float(load), float(due))
            yield PlannedTask(task, Placement(workload.cluster.nodes, start, start, start, end))


def _run_algorithm(workload: Workload, policy: Policy) -> tuple[StreamLog, Planner | None]:
    """Decide on all tasks; there is no queue if every task uses all nodes."""
    arrivals = list(map(float, workload.arrivals))
    loads = list(map(float, workload.loads))
    due = [at + deadline for at, deadline in zip(arrivals, workload.deadlines, strict=True)]
    if workload.idle and isinstance(policy, Algorithm):
        costs = tuple(map(float, workload.cluster.costs_of(0)))
        times = all_nodes_queue.execution_times(policy, costs, workload.cluster.nodes, loads)
        if times is not None:
            begin = float(workload.begin)
            return all_nodes_queue.serve(policy, arrivals, times, due, begin), None
    fifo = policy.order == "fifo"
    tasks = [
        QueuedTask((number if fifo else deadline, number), name, arrival, load, deadline)
        for number, (name, arrival, load, deadline) in enumerate(
            zip(workload.names, arrivals, loads, due, strict=True)
        )
    ]
    return _run_queue(workload, policy, tasks)


def _run_queue(
    workload: Workload, policy: Policy, tasks: list[QueuedTask]
) -> tuple[StreamLog, Planner]:
    log, planner = StreamLog(), _planner(workload, policy)
    refused = planner.load_promised(tasks[: workload.promised], float(workload.begin))
    if isinstance(refused, Rejection):
        raise PromiseError(
            f"{policy.name} finds no plan that keeps the promise to {refused.task.id}"
        )
    for task in tasks[workload.promised :]:
        planner.advance(task.arrival)
        waiting = len(planner)
        if waiting:
            log.queued += waiting
            log.longest = max(log.longest, waiting)
        log.accepted.append(planner.try_admit(task) is None)
    log.served = [ServiceInterval(task.key[1], start, end) for task, start, end in planner.served()]
    log.unfinished = {task.key[1]: load for task, load in planner.unfinished()}
    return log, planner


def _planner(workload: Workload, policy: Policy) -> Planner:
    costs = tuple(map(float, workload.cluster.costs_of(0)))
    begin = float(workload.begin)
    channel = max(begin, float(workload.channel))
    return make_planner(policy, costs, list(map(float, workload.free_times)), channel, begin)
