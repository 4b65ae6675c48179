"""`simulate_grid`: one simulation of a grid, with its results and its trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dlopt.arithmetic import EXACT, FLOATING, Number, exact
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.problems.dag import Graph, Instance, Trace, violations_executed
from dlopt.result import Violation
from dlopt.simulation.grid.execution_state import check_fits
from dlopt.simulation.grid.grid import GridSimulation
from dlopt.simulation.grid.metrics import GridOutcome, grid_outcome
from dlopt.simulation.grid.policy import NO_FAILURES, FailureModel, Policy
from dlopt.simulation.grid.routes import violations_routes
from dlopt.simulation.grid.topology import BuiltGrid
from dlopt.simulation.grid.workload import Workload

PERIOD = 3600.0
"""The length of the periods in which a run is measured over time: an hour, in seconds."""


@dataclass(frozen=True)
class GridRun:
    """A completed simulation.

    Parameters
    ----------
    outcome : GridOutcome
    policy : Policy
    failure_model : FailureModel
    tolerance : float
        Tolerance for the check of its trace: 0 if it is exact.
    instance : Instance, optional
        The tasks, if they are known in advance.
    trace : Trace, optional
        If it was kept.
    until : Number, optional
        When the simulation was stopped.
    built : BuiltGrid, optional
        The machines and network.
    """

    outcome: GridOutcome
    policy: Policy
    failure_model: FailureModel
    tolerance: float
    instance: Instance | None = None
    trace: Trace | None = None
    until: Number | None = None
    built: BuiltGrid | None = None

    def check(self) -> tuple[Violation, ...]:
        """Return the violations of the trace, by a checker that is independent of the simulator.

        If the grid is known from which the network was built, its routes are checked, too.

        Raises
        ------
        NotApplicableError
            If there is no trace.
        """
        if self.instance is None or self.trace is None:
            raise NotApplicableError("the trace was not kept")
        low, high = self.failure_model.slowdown
        routes = () if self.built is None else violations_routes(self.built)
        return routes + violations_executed(
            self.instance,
            self.trace,
            queue_size=self.policy.queue_size,
            failures=self.failure_model.failures,
            slowdown=(low, high),
            until=self.until,
            tolerance=self.tolerance,
        )


def simulate_grid(
    what: Instance | tuple[BuiltGrid, Workload],
    *,
    policy: Policy | None = None,
    failure_model: FailureModel = NO_FAILURES,
    seed: int = 0,
    exact_numbers: bool = False,
    message: Number = 1,
    period: float = PERIOD,
    keep_trace: bool = True,
    until: Number | None = None,
) -> GridRun:
    """Simulate tasks that arrive at a grid of LANs.

    Parameters
    ----------
    what : Instance, or (BuiltGrid, Workload)
        A dag instance whose machines belong to LANs and whose graphs have homes; or a grid, and a
        workload that is drawn while it runs, with the seed.
    policy : Policy
        The schedulers; by default corrected.
    failure_model : FailureModel
        By default nothing fails.
    seed : int
        Of the workload, the samples of bidders, and the random failures and execution times, which
        are the same under every policy.
    exact_numbers : bool, default False
        Compute in rationals; the trace is then exact.
    message : Number, default 1
        Data of a bid, or of the request for one.
    period : float, default 3600
        Length of the periods of measurement.
    keep_trace : bool, default True
        Without it, memory does not grow with the tasks that have ended, but for a record of each.
    until : Number, optional
        Stop then.

    Returns
    -------
    GridRun

    Raises
    ------
    NotApplicableError
        If the instance has no LANs, or its data does not go through their schedulers.
    InvalidInstanceError
        If a failure is of no machine.

    Notes
    -----
    It always ends: a subtask is sent ``policy.attempts`` times at most, and a stalled task is
    reported with the blocking dependency. Control messages take no time within a LAN; data,
    results and the schedulers' work do. Complexity: O(log n) an event, O(nodes of the LAN) a
    subtask that is sent, and O(waiting x nodes) a bid.

    Examples
    --------
    >>> from dlopt.generation import generate
    >>> instance = generate("dag", "chen", lans=2, nodes=3, tasks=5)
    >>> run = simulate_grid(instance, exact_numbers=True)
    >>> run.outcome.met, run.outcome.tasks, run.check()
    (1, 5, ())
    """
    policy = policy or Policy()
    instance: Instance | None
    if isinstance(what, Instance):
        reason = check_fits(what)
        if reason is not None:
            raise NotApplicableError(f"{what.name or 'the instance'}: {reason}")
        instance, built = what, BuiltGrid.of(what)
        arrivals: Iterable[tuple[int, Graph]] = sorted(
            enumerate(what.graphs), key=lambda entry: entry[1].arrival
        )
    else:
        built, workload = what
        instance = workload.instance(built, seed) if keep_trace else None
        graphs = (
            workload.graphs(len(built.network.lans), seed) if instance is None else instance.graphs
        )
        arrivals = enumerate(graphs)
    _check(failure_model, len(built.machines), period, until)
    number: Callable[[Number], Number] = exact if exact_numbers else float
    began = time.perf_counter()
    engine = GridSimulation(
        built.machines,
        built.network,
        arrivals,
        policy=policy,
        failure_model=failure_model,
        seed=seed,
        number=number,
        hops=built.hops,
        message=message,
        period=period,
        keep=keep_trace,
        until=None if until is None else number(until),
    )
    engine.run()
    outcome = grid_outcome(engine, time.perf_counter() - began)
    trace = engine.trace() if keep_trace else None
    tolerance = EXACT if exact_numbers else FLOATING
    return GridRun(outcome, policy, failure_model, tolerance, instance, trace, until, built)


def _check(failure_model: FailureModel, machines: int, period: float, until: Number | None) -> None:
    """Raise unless the failures are of machines that exist, and times are positive."""
    rule = f"must be one of the {machines} machines (0-based)"
    faults = [
        Fault(f"failures[{index}].machine", failure.machine, rule)
        for index, failure in enumerate(failure_model.failures)
        if failure.machine >= machines
    ]
    if faults:
        raise InvalidInstanceError(faults)
    for name, value in (("period", period), ("until", until)):
        if value is not None and not value > 0:
            raise NotApplicableError(f"{name} must be positive, got {value}")
