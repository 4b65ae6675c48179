"""One simulation of a grid, measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from dlopt.arithmetic import EXACT, FLOATING, Number, exact
from dlopt.errors import NotApplicableError
from dlopt.problems.dag import Graph, Instance
from dlopt.problems.dag.executed import violations_executed
from dlopt.problems.dag.trace import Trace
from dlopt.result import Violation
from dlopt.simulation.grid.engine import Ended, Engine
from dlopt.simulation.grid.meter import Tally
from dlopt.simulation.grid.parts import check_fits
from dlopt.simulation.grid.policy import CALM, Hazards, Policy
from dlopt.simulation.grid.topology import Built
from dlopt.simulation.grid.workload import Workload

PERIOD = 3600.0
"""The length of the periods in which a run is measured over time: an hour, in seconds."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a task.

    Parameters
    ----------
    id : str
    home : int
        Its home LAN.
    lan : int, optional
        Where it ran.
    arrival : float
    returned : float, optional
        When its results were at home.
    met : bool
        Whether that was by its deadline; also if it has none.
    resent : int
        How many of its subtasks had to be sent again.
    reason : str
        Why it never came home.
    """

    id: str
    home: int
    lan: int | None
    arrival: float
    returned: float | None
    met: bool
    resent: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the tasks of a grid, in numbers.

    Parameters
    ----------
    tasks, returned, met : int
        Tasks that arrived, that came home, and those in time.
    met_ratio : float, optional
        Met by all tasks.
    response : float, optional
        Mean time from arrival to return, of those that came home.
    last_return : float, optional
    remote : int
        Tasks that ran in another LAN than their home.
    external, internal : float
        Data times the links it crossed, between LANs and within.
    utilization : float, optional
        Time in which nodes ran what counted, by the time of all nodes from the first arrival to
        the last return.
    wasted : float
        Time in which nodes ran what did not count.
    sent, resent, failures, traps, false_alarms : int
        See `dlopt.simulation.grid.meter.Tally`.
    fates : tuple of Fate
        Task by task, in the order of their indices.
    lans : tuple of Tally
    periods : tuple of (float, Tally)
        With the instant at which each begins.
    most_live : int
        How many tasks there were at once that had arrived and were not over.
    events : int
    seconds : float
        What it took; no part of equality.
    """

    tasks: int
    returned: int
    met: int
    met_ratio: float | None
    response: float | None
    last_return: float | None
    remote: int
    external: float
    internal: float
    utilization: float | None
    wasted: float
    sent: int
    resent: int
    failures: int
    traps: int
    false_alarms: int
    fates: tuple[Fate, ...]
    lans: tuple[Tally, ...]
    periods: tuple[tuple[float, Tally], ...]
    most_live: int
    events: int
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class GridRun:
    """A simulation that has ended.

    Parameters
    ----------
    outcome : Outcome
    policy : Policy
    hazards : Hazards
    tolerance : float
        To which its trace can be held against the rules: 0 if it is exact.
    instance : Instance, optional
        The tasks, where they are known beforehand.
    trace : Trace, optional
        If it was kept.
    """

    outcome: Outcome
    policy: Policy
    hazards: Hazards
    tolerance: float
    instance: Instance | None = None
    trace: Trace | None = None

    def check(self) -> tuple[Violation, ...]:
        """Return what the trace breaks, by code that knows nothing of the simulator.

        Raises
        ------
        NotApplicableError
            If there is no trace.
        """
        if self.instance is None or self.trace is None:
            raise NotApplicableError("the trace was not kept")
        low, high = self.hazards.slowdown
        return violations_executed(
            self.instance,
            self.trace,
            queue_size=self.policy.queue_size,
            failures=self.hazards.failures,
            slowdown=(low, high),
            tolerance=self.tolerance,
        )


def simulate_grid(
    what: Instance | tuple[Built, Workload],
    *,
    policy: Policy | None = None,
    hazards: Hazards = CALM,
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
    what : Instance, or (Built, Workload)
        A dag instance whose machines stand in LANs and whose graphs have homes; or a grid, and a
        workload that is drawn while it runs, with the seed.
    policy : Policy
        The schedulers; by default corrected.
    hazards : Hazards
        By default nothing fails.
    seed : int
        Of the workload, the samples of bidders and the hazards, which are the same under every
        policy.
    exact_numbers : bool, default False
        Compute in rationals; the trace is then exact.
    message : Number, default 1
        Data of a bid, or of the request for one.
    period : float, default 3600
        Length of the periods of measurement.
    keep_trace : bool, default True
        Without it memory does not grow with the tasks that are over, but for a line each.
    until : Number, optional
        Stop then.

    Returns
    -------
    GridRun

    Raises
    ------
    NotApplicableError
        If the instance has no LANs, its data does not go through their schedulers, or a failure
        is of no machine.
    MissingExtraError
        If simpy is not installed.

    Notes
    -----
    It always ends: a subtask is sent ``policy.attempts`` times at most, and a task that can go on
    no more is told with what waits for what. Control messages take no time within a LAN; data,
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
        instance, built = what, Built.of(what)
        arrivals: Iterable[tuple[int, Graph]] = sorted(
            enumerate(what.graphs), key=lambda entry: entry[1].arrival
        )
    else:
        built, workload = what
        instance = workload.instance(built, seed) if keep_trace else None
        graphs = (
            workload.graphs(len(built.network.lans), seed)
            if instance is None
            else (instance.graphs)
        )
        arrivals = enumerate(graphs)
    _check(hazards, len(built.machines), period, until)
    number: Callable[[Any], Any] = exact if exact_numbers else float
    began = time.perf_counter()
    engine = Engine(
        built.machines,
        built.network,
        arrivals,
        policy=policy,
        hazards=hazards,
        seed=seed,
        number=number,
        hops=built.hops,
        message=message,
        period=period,
        keep=keep_trace,
        until=None if until is None else number(until),
    )
    engine.run()
    outcome = _outcome(engine, time.perf_counter() - began)
    trace = engine.trace() if keep_trace else None
    return GridRun(outcome, policy, hazards, EXACT if exact_numbers else FLOATING, instance, trace)


def _check(hazards: Hazards, machines: int, period: float, until: Number | None) -> None:
    """Raise unless hazards speak of nodes that there are, and times are positive."""
    for index, failure in enumerate(hazards.failures):
        if failure.machine >= machines:
            raise NotApplicableError(
                f"failures[{index}].machine must be one of the {machines} machines (0-based), "
                f"got {failure.machine}"
            )
    for name, value in (("period", period), ("until", until)):
        if value is not None and not value > 0:
            raise NotApplicableError(f"{name} must be positive, got {value}")


def _outcome(engine: Engine, seconds: float) -> Outcome:
    """Measure a simulation that has ended."""
    fates = tuple(_fate(job) for job in sorted(engine.ended, key=lambda job: job.index))
    home = [fate for fate in fates if fate.returned is not None]
    lans = tuple(engine.meter.lans[at] for at in range(len(engine.lans)))
    last = max((fate.returned for fate in home if fate.returned is not None), default=None)
    span = None if last is None else last - min(fate.arrival for fate in fates)
    nodes, useful = len(engine.nodes), sum(lan.useful for lan in lans)
    met = sum(fate.met for fate in fates)
    response = sum(lan.response for lan in lans)
    length = engine.meter.period
    return Outcome(
        tasks=len(fates),
        returned=len(home),
        met=met,
        met_ratio=met / len(fates) if fates else None,
        response=response / len(home) if home else None,
        last_return=last,
        remote=sum(fate.lan not in (None, fate.home) for fate in fates),
        external=sum(lan.external for lan in lans),
        internal=sum(lan.internal for lan in lans),
        utilization=useful / (nodes * span) if span else None,
        wasted=sum(lan.wasted for lan in lans),
        sent=sum(lan.sent for lan in lans),
        resent=sum(lan.resent for lan in lans),
        failures=sum(lan.failures for lan in lans),
        traps=sum(lan.traps for lan in lans),
        false_alarms=sum(lan.false_alarms for lan in lans),
        fates=fates,
        lans=lans,
        periods=tuple(
            (at * length, engine.meter.periods[at]) for at in sorted(engine.meter.periods)
        ),
        most_live=engine.most_live,
        events=engine.events,
        seconds=seconds,
    )


def _fate(job: Ended) -> Fate:
    returned = None if job.returned is None else float(job.returned)
    met = job.returned is not None and (job.due is None or job.returned <= job.due)
    arrival = float(job.arrival)
    return Fate(job.id, job.home, job.lan, arrival, returned, met, job.lost, job.reason)
