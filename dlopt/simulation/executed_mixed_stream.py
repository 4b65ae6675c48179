"""Simulation of a stream of tasks and reservations with failures and wrong estimates."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from time import perf_counter

from dlopt.arithmetic import FLOATING, is_exact
from dlopt.errors import NotApplicableError
from dlopt.generation.workload import Workload
from dlopt.heuristics.multistage.algorithm_names import Algorithm, parse
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.problems.admission import missed
from dlopt.problems.multistage import (
    Instance,
    Scenario,
    Solution,
    Trace,
    violations_executed,
)
from dlopt.problems.multistage.scenario import check_fits
from dlopt.problems.multistage.trace import occupancy
from dlopt.problems.validated_record import numbers_of
from dlopt.result import Violation
from dlopt.simulation.executed_metrics import ExecutedMixedOutcome, mixed_outcome_of
from dlopt.simulation.executed_stream import check_no_failure_of_busy_nodes, decisions_on
from dlopt.simulation.mixed_execution import MixedExecution
from dlopt.simulation.mixed_stream import require_mixed, task_workload
from dlopt.simulation.plan_metrics import executed_waiting_steps, rejected_steps


class ExecutedMixedRun:
    """An algorithm run over tasks and reservations, executed at true costs and with failures.

    Parameters
    ----------
    instance : Instance
        Of `multistage`. It is executed in exact numbers if neither it nor the scenario has a float.
    algorithm : str, default "multi-stage"
        One that keeps what it promises: no literal one.
    scenario : Scenario, optional
        True costs, true ends of reservations, and failures, which the algorithm does not know; by
        default all is as estimated, and no node fails.
    workload : Workload, optional
        See `dlopt.simulation.MixedRun`.

    Attributes
    ----------
    instance : Instance
    workload : Workload
        The tasks, in the span of the whole stream.
    algorithm : Algorithm
    scenario : Scenario
    trace : Trace
        What was executed.
    outcome : ExecutedMixedOutcome

    Raises
    ------
    NotApplicableError
        If the algorithm does not exist, breaks promises by itself, or does not apply; or a node
        fails that is still busy with what it had begun before the simulation.
    InvalidInstanceError
        If the scenario cannot happen to the instance.
    PromiseError
        If the algorithm cannot keep what the cluster promised, or a mandatory reservation conflicts
        with a promise or needs a node that is down.

    Notes
    -----
    The algorithm runs as `dlopt.MultiStage`, whose verbs `progress`, `finished` and `resources`
    tell it what happens. What ends early leaves time for what has not begun. What is late, and a
    node that fails, delays or moves what is promised; as few promises as possible are broken.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Failure, Reservation, Task, TrueEnd
    >>> instance = Instance(
    ...     Cluster(2, tau=1, chi=1),
    ...     (Task("a", 1, 2, 7),),
    ...     (Reservation("r", 0, 2, 6), Reservation("s", 0, 7, 9)),
    ... )
    >>> scenario = Scenario(failures=(Failure(1, 3),), ends=(TrueEnd("s", 8),))
    >>> run = ExecutedMixedRun(instance, scenario=scenario)
    >>> [(one.reservation, int(one.at), one.cause) for one in run.trace.broken_reservations]
    [('r', 3, 'failure')]
    >>> [(one.reservation, one.nodes) for one in run.trace.moves]
    [('s', (0,))]
    >>> run.violations
    ()
    """

    def __init__(
        self,
        instance: Instance,
        algorithm: str = "multi-stage",
        scenario: Scenario | None = None,
        *,
        workload: Workload | None = None,
    ) -> None:
        require_mixed(instance)
        self.instance = instance
        self.algorithm: Algorithm = parse(algorithm)
        self.scenario = Scenario() if scenario is None else scenario
        self._check()
        self.workload = task_workload(instance, workload)
        began = perf_counter()
        done = self._executed()
        seconds = perf_counter() - began
        self.trace = self._traced(done)
        stream = instance.stream
        late = () if stream is None else missed(stream, self.trace, self._tolerance)
        self.outcome: ExecutedMixedOutcome = mixed_outcome_of(
            self.workload, self.algorithm.name, done, len(late), seconds
        )

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """The violations of the trace, checked exactly or to a relative 1e-9."""
        return violations_executed(self.instance, self.scenario, self.trace, self._tolerance)

    @property
    def solution(self) -> Solution:
        """The decisions, and when each chunk occupied channel and node, for charts."""
        return occupancy(self.trace)

    def checked(self) -> ExecutedMixedOutcome:
        """Return the outcome with the number of violations."""
        return replace(self.outcome, violations=len(self.violations))

    def rejected(self) -> list[tuple[float, int]]:
        """Return the cumulative number of rejected tasks, as steps."""
        return rejected_steps(self.trace.decisions)

    def waiting(self) -> list[tuple[float, int]]:
        """Return the number of accepted tasks of which nothing has been sent, as steps."""
        begin = float(self.workload.begin)
        return executed_waiting_steps(self.instance.tasks, self.trace, begin)

    @property
    def _tolerance(self) -> float:
        return 0 if self._is_exact else FLOATING

    @cached_property
    def _is_exact(self) -> bool:
        return self.instance.exact and is_exact(numbers_of(self.scenario))

    def _check(self) -> None:
        """Raise the reason for which a run is impossible."""
        scenario = self.scenario
        if not isinstance(scenario, Scenario):
            kind = type(scenario).__name__
            raise NotApplicableError(f"a scenario of multistage is needed, not a {kind}")
        if self.algorithm.flaw is not None:
            raise NotApplicableError(f"{self.algorithm.name} does not keep what it promises")
        check_fits(self.instance, scenario)
        check_no_failure_of_busy_nodes(self.instance, scenario)

    def _executed(self) -> MixedExecution:
        """Run the stream."""
        instance = self.instance
        if not self._is_exact:
            instance = replace(instance, now=float(instance.now))
        book = MultiStage.of(instance, self.algorithm.name)
        done = MixedExecution(book, instance, self.scenario)
        done.run()
        return done

    def _traced(self, done: MixedExecution) -> Trace:
        """Return what was executed as a trace of all tasks and reservations of the instance."""
        return Trace(
            decisions_on(self.instance.tasks, done.decisions),
            tuple(run.executed() for run in done.chunks),
            tuple(done.dropped),
            tuple(done.broken),
            grants=tuple(done.grants),
            reservations=tuple(run.executed() for run in done.reservations),
            moves=tuple(done.moves),
            broken_reservations=tuple(done.broken_reservations),
        )
