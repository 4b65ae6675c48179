"""`FeedbackRun`: the simulation of a stream under a strategy, with its periods and its trace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from dlopt.arithmetic import FLOATING, is_finite
from dlopt.errors import NotApplicableError
from dlopt.generation.workload import Workload
from dlopt.problems.admission import (
    Decision,
    Dropped,
    Executed,
    Scenario,
    Trace,
    violations_executed,
)
from dlopt.problems.admission.scenario import check_fits
from dlopt.result import Violation
from dlopt.simulation.feedback.cluster import SimulatedCluster
from dlopt.simulation.feedback.controller import Controller
from dlopt.simulation.feedback.entities import task_states
from dlopt.simulation.feedback.monitor import Monitor, Period, merged_periods
from dlopt.simulation.feedback.policy import Policy, Strategy, strategy_of

MOST_PERIODS = 1_000_000
"""More sampling periods than this are considered a mistake."""


class FeedbackRun:
    """A stream of tasks, executed at its true costs.

    Parameters
    ----------
    workload : Workload
        With the estimates; its cluster is idle at first and has no set-up costs. Periods are
        counted from time 0.
    scenario : Scenario
        True costs and failures.
    strategy : str or Strategy, default "feedback"
        See `STRATEGIES`.
    controller : Controller, optional
        For a controlled strategy; it is used up.
    policy : Policy, optional
    period : float, default 100_000
        Sampling period.
    bounds : sequence of float, optional
        Utilization bounds by period instead of those of a controller, as identification needs
        them.

    Attributes
    ----------
    periods : tuple of Period
        From time 0 to the horizon of the workload.
    accepted : tuple of bool
        By task.

    Raises
    ------
    NotApplicableError
        If the cluster is busy at first, or has set-up costs, the controller of a controlled
        strategy is missing, or a number is out of its range.
    InvalidInstanceError
        If the scenario speaks of tasks or nodes that there are not.

    Notes
    -----
    Floats. Chunks are sent as channel and nodes become free. A task is settled when it is done
    or, if it is not, at its deadline; the miss ratio of a period is that of the tasks settled in
    it, which the paper leaves open. After the horizon the run goes on until all is done. Nodes
    that are down get no chunks.

    Examples
    --------
    >>> from dlopt.generation.uncertain_times import mamat7
    >>> run = FeedbackRun(*mamat7(load_from=1, horizon=1_000_000), "no-feedback")
    >>> run.total.decided, run.total.rejected, run.total.missed, len(run.violations)
    (1032, 439, 111, 0)
    """

    def __init__(
        self,
        workload: Workload,
        scenario: Scenario,
        strategy: str | Strategy = "feedback",
        *,
        controller: Controller | None = None,
        policy: Policy | None = None,
        period: float = 100_000,
        bounds: Sequence[float] | None = None,
    ) -> None:
        self.workload, self.scenario = workload, scenario
        self.strategy, policy = strategy_of(strategy), policy or Policy()
        self.policy = policy
        cluster = workload.cluster
        tau, chi = (float(cost) for cost in cluster.costs_of(0)[:2])
        _check(workload, period)
        if len(workload):
            check_fits(workload.instance(), scenario)
        given = None if bounds is None else tuple(map(float, bounds))
        if given is None and self.strategy.controlled and controller is None:
            raise NotApplicableError(f"{self.strategy.name} needs a controller")

        def next_bound(number: int, measured: float | None) -> float:
            if given is not None:
                return given[number % len(given)]
            if self.strategy.controlled and controller is not None:
                return controller.next(measured)
            return 1.0

        first = given[0] if given else 1.0
        if given is None and self.strategy.controlled and controller is not None:
            first = controller.bound
        margin = policy.margin if self.strategy.known == "estimates" else 1.0
        last = max(workload.arrivals, default=0.0)
        count = max(math.ceil(workload.horizon / period), math.floor(last / period) + 1)
        self._monitor = Monitor(float(period), count, first, margin)
        self._jobs = list(task_states(workload, scenario, self.strategy, policy))
        self._system = SimulatedCluster(
            cluster.nodes,
            chi / (tau + chi),
            self._jobs,
            scenario.failures,
            policy,
            self._monitor,
            next_bound,
        )
        self._system.run()
        self.accepted = tuple(self._system.accepted)
        self.periods = self._monitor.periods(cluster.nodes, scenario.failures)

    def between(self, first: float, last: float) -> Period:
        """Return the periods between two fractions of the time, such as 0.5 and 1, as one period.

        Raises
        ------
        NotApplicableError
            If no period is in that interval.
        """
        count = len(self.periods)
        chosen = self.periods[round(first * count) : round(last * count)]
        if not chosen:
            raise NotApplicableError(f"no period lies between {first:g} and {last:g} of the time")
        return merged_periods(chosen)

    @property
    def total(self) -> Period:
        """All periods as one."""
        return merged_periods(self.periods)

    @property
    def inputs(self) -> list[float]:
        """The utilization bounds by period: the inputs of the system."""
        return [period.bound for period in self.periods]

    @property
    def outputs(self) -> list[float]:
        """The miss ratios as each period begins: the k-th is the response to the bound before."""
        return [0.0, *(period.miss_ratio or 0.0 for period in self.periods[:-1])]

    @cached_property
    def trace(self) -> Trace:
        """The trace of decisions and executed chunks."""
        names = self.workload.names
        return Trace(
            tuple(
                Decision(names[job.number], accepted, job.arrival, promised=False)
                for job, accepted in zip(self._jobs, self.accepted, strict=True)
            ),
            tuple(
                Executed(
                    names[chunk.job.number],
                    chunk.node,
                    chunk.load,
                    chunk.start,
                    chunk.received,
                    chunk.received,
                    chunk.end,
                    chunk.lost,
                )
                for chunk in self._system.chunks
            ),
            tuple(
                Dropped(names[given.job.number], given.load, given.at)
                for given in self._system.abandoned
            ),
        )

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """The violations of the trace, checked to a relative 1e-9."""
        if not len(self.workload):
            return ()
        return violations_executed(self.workload.instance(), self.scenario, self.trace, FLOATING)


def _check(workload: Workload, period: float) -> None:
    if not workload.idle or workload.begin < 0:
        raise NotApplicableError("the cluster must be idle at first, and no time negative")
    if workload.cluster.has_setup_costs:
        raise NotApplicableError("chapter 7 knows no set-up costs")
    if isinstance(period, bool) or not is_finite(period) or period <= 0:
        raise NotApplicableError(f"the sampling period must be a positive number, got {period}")
    if not 0 < workload.horizon <= MOST_PERIODS * period:
        raise NotApplicableError(f"there must be 1 to {MOST_PERIODS} sampling periods")
