"""Simulation of one algorithm on a stream whose nodes fail and whose costs are only estimates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from time import perf_counter

from dlopt.arithmetic import FLOATING, is_less
from dlopt.errors import NotApplicableError
from dlopt.generation.workload import Workload
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm
from dlopt.heuristics.admission.planner_factory import NEEDS_IDLE_START, Policy, parse
from dlopt.problems import multistage
from dlopt.problems.admission import (
    Decision,
    Instance,
    Scenario,
    Solution,
    Task,
    Trace,
    missed,
    occupancy,
    violations_executed,
)
from dlopt.problems.admission.scenario import check_fits
from dlopt.result import Violation
from dlopt.simulation.executed_metrics import ExecutedOutcome, executed_outcome_of
from dlopt.simulation.plan_metrics import executed_waiting_steps, rejected_steps
from dlopt.simulation.stream_execution import StreamExecution, promised_loads


class ExecutedRun:
    """An algorithm run over a stream, executed at true costs and with failures of nodes.

    Parameters
    ----------
    workload : Workload or Instance
        See `dlopt.simulate`.
    algorithm : str or Policy, default "edf-iit-2"
        One that keeps what it promises: no literal one.
    scenario : Scenario, optional
        True costs and failures, which the algorithm does not know; by default costs are as
        estimated, and no node fails.
    exact_numbers : bool, default False
        Compute in fractions; the stream and the scenario must have no float.

    Attributes
    ----------
    workload : Workload
    algorithm : Policy
    scenario : Scenario
    trace : Trace
        What was executed.
    outcome : ExecutedOutcome

    Raises
    ------
    NotApplicableError
        If the algorithm does not exist, breaks promises by itself, or does not apply; or nodes
        differ; or a node fails that is still busy with what it had begun before the simulation.
    InvalidInstanceError
        If the scenario speaks of tasks or nodes that the stream does not have.

    Notes
    -----
    The algorithm runs as `dlopt.Admission`, whose verbs `progress` and `resources` tell it what
    happens (`dlopt.simulation.stream_execution`). Whenever a chunk ends early, what has not begun
    is planned again, if all promises hold then. A chunk that is late delays what follows on its
    node and on the channel, which is planned again; and as few promises as possible are broken.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 3, 6), Task("b", 4, 2, 4)))
    >>> run = ExecutedRun(instance)
    >>> run.outcome.accepted, run.outcome.freed_time
    (1, 0.0)
    >>> half = Scenario.from_data({"factors": [{"task": "a", "chi": 0.25}]})
    >>> run = ExecutedRun(instance, scenario=half)
    >>> run.outcome.accepted, run.outcome.freed_time, run.outcome.reclaimed_time, run.violations
    (2, 2.25, 2.0, ())
    """

    def __init__(
        self,
        workload: Workload | Instance,
        algorithm: str | Policy = "edf-iit-2",
        scenario: Scenario | None = None,
        *,
        exact_numbers: bool = False,
    ) -> None:
        self.algorithm = parse(algorithm)
        self.scenario = Scenario() if scenario is None else scenario
        self._instance = workload if isinstance(workload, Instance) else None
        self._exact_numbers = exact_numbers
        self.workload = Workload.of(workload)
        self._check()
        began = perf_counter()
        done = self._executed()
        seconds = perf_counter() - began
        self.trace = self._traced(done)
        missed_tasks = () if self._is_empty else missed(self.instance, self.trace, self._tolerance)
        self.outcome = executed_outcome_of(
            self.workload, self.algorithm.name, done, len(missed_tasks), seconds
        )

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
    def violations(self) -> tuple[Violation, ...]:
        """The violations of the trace, checked exactly or to a relative 1e-9."""
        if self._is_empty:
            return ()
        return violations_executed(self.instance, self.scenario, self.trace, self._tolerance)

    @property
    def solution(self) -> Solution:
        """The decisions, and when each chunk occupied channel and node, for charts."""
        return occupancy(self.trace)

    def checked(self) -> ExecutedOutcome:
        """Return the outcome with the number of violations."""
        return replace(self.outcome, violations=len(self.violations))

    def rejected(self) -> list[tuple[float, int]]:
        """Return the cumulative number of rejected tasks, as steps."""
        return rejected_steps(self.trace.decisions)

    def waiting(self) -> list[tuple[float, int]]:
        """Return the number of accepted tasks of which nothing has been sent, as steps."""
        tasks = () if self._is_empty else self.instance.tasks
        return executed_waiting_steps(tasks, self.trace, float(self.workload.begin))

    @property
    def _tolerance(self) -> float:
        return 0 if self._exact_numbers else FLOATING

    @property
    def _is_empty(self) -> bool:
        return self._instance is None and not len(self.workload)

    def _check(self) -> None:
        """Raise the reason for which a run is impossible."""
        policy, scenario = self.algorithm, self.scenario
        if not isinstance(scenario, Scenario):
            raise NotApplicableError(f"a scenario is needed, not a {type(scenario).__name__}")
        if policy.literal:
            raise NotApplicableError(f"{policy.name} does not keep what it promises")
        if self.workload.promised and not policy.control:
            text = f"{policy.name} looks at no deadline; the cluster has promised some"
            raise NotApplicableError(text)
        if isinstance(policy, FastAlgorithm) and policy.from_idle:
            raise NotApplicableError(f"{policy.name} cannot plan again: {NEEDS_IDLE_START}")
        if self._is_empty:
            return
        instance = self.instance
        check_fits(instance, scenario)
        check_no_failure_of_busy_nodes(instance, scenario)

    def _executed(self) -> StreamExecution | None:
        """Run the stream; None if nothing is left to run."""
        if not len(self.workload):
            return None
        stream = self.instance if self._exact_numbers else self.workload.instance()
        if self._exact_numbers and not stream.exact:
            raise NotApplicableError("exact numbers are asked for, and the stream has floats")
        book, promised = Admission.of(stream, self.algorithm), promised_loads(stream)
        done = StreamExecution(
            book, stream, self.scenario, promised, has_deadlines=self.algorithm.control
        )
        done.run()
        return done

    def _traced(self, done: StreamExecution | None) -> Trace:
        """Return what was executed as a trace of all tasks of the instance."""
        if self._is_empty:
            return Trace((), ())
        decisions = decisions_on(self.instance.tasks, () if done is None else done.decisions)
        if done is None:
            return Trace(decisions, ())
        executed = tuple(run.executed() for run in done.chunks)
        return Trace(decisions, executed, tuple(done.dropped), tuple(done.broken))


def decisions_on(tasks: Iterable[Task], made: Iterable[Decision]) -> tuple[Decision, ...]:
    """Return a decision on each task; those on which none was made were accepted before."""
    known = {one.task: one for one in made}
    return tuple(known.get(task.id) or Decision(task.id, True, task.arrival) for task in tasks)


def check_no_failure_of_busy_nodes(
    instance: Instance | multistage.Instance, scenario: Scenario
) -> None:
    """Raise if a node fails that is busy with what it began before the simulation.

    Raises
    ------
    NotApplicableError
        That is not simulated: what such a node would lose belongs to nobody.
    """
    for failure in scenario.failures:
        busy = instance.free_times[failure.node]
        back = failure.until is not None and not is_less(instance.now, failure.until)
        if is_less(instance.now, busy) and is_less(failure.begin, busy) and not back:
            raise NotApplicableError(
                f"node {failure.node} fails while it is busy with what it began before the "
                "simulation"
            )
