"""Simulation of one algorithm on a mixed stream: divisible loads and advance reservations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from time import perf_counter
from typing import Any

from dlopt.arithmetic import FLOATING
from dlopt.errors import NotApplicableError
from dlopt.generation.workload import Workload, node_time
from dlopt.heuristics.multistage.algorithm_names import Algorithm, parse
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Solution, Task, violations
from dlopt.result import Violation
from dlopt.simulation.metrics import StreamOutcome, ratio, stream_outcome
from dlopt.simulation.plan_metrics import (
    busy_time,
    count_misses,
    rejected_steps,
    waiting_steps,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedOutcome(StreamOutcome):
    """Results of an algorithm on a stream of tasks and reservations.

    The counts of `StreamOutcome` are of the tasks, but for `utilization` and `drain`: nodes are
    used when they receive, compute or are reserved, and a reservation may be the last to end.

    Parameters
    ----------
    reservations, granted, refused : int
        Without those that were promised before.
    reservation_reject_ratio : float, optional
        Refused reservations by all of them; None if there was none.
    total_reject_ratio : float, optional
        Rejected tasks and reservations by all of them: the papers' reject ratio.
    """

    reservations: int
    granted: int
    refused: int
    reservation_reject_ratio: float | None
    total_reject_ratio: float | None


class MixedRun:
    """An algorithm run over a mixed stream: its results and its schedule.

    Parameters
    ----------
    instance : Instance
        Of `multistage`; decided on in its own numbers, exact or floating.
    algorithm : str, default "multi-stage"
        See :func:`dlopt.heuristics.multistage.algorithm_names.parse`.
    workload : Workload, optional
        The stream from which the instance was made: name, span and load of the outcome are taken
        from it. By default the span extends from the first to the last arrival of a task or start
        of a reservation, or from ``now`` if something is promised or the cluster is busy.

    Attributes
    ----------
    instance : Instance
    workload : Workload
        The tasks, in the span of the whole stream.
    algorithm : Algorithm
    solution : Solution
    outcome : MixedOutcome

    Raises
    ------
    NotApplicableError
        If there is no such algorithm, nodes differ, or there are set-up costs.
    PromiseError
        If the algorithm cannot keep what the cluster promised.

    Examples
    --------
    >>> from dlopt.io import read
    >>> run = MixedRun(read("instances/multistage/around-a-reservation.json"))
    >>> run.outcome.accepted, run.outcome.granted, run.outcome.utilization
    (1, 1, 0.5)
    """

    def __init__(
        self,
        instance: Instance,
        algorithm: str = "multi-stage",
        *,
        workload: Workload | None = None,
    ) -> None:
        require_mixed(instance)
        self.instance = instance
        self.algorithm: Algorithm = parse(algorithm)
        self.workload = task_workload(instance, workload)
        began = perf_counter()
        engine, queues = _run_algorithm(instance, self.algorithm.name)
        seconds = perf_counter() - began
        self.solution: Solution = engine.plan()
        self.outcome = self._measured(queues, seconds)

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """The violations of the solution: checked exactly, or in floats to a relative 1e-9."""
        return violations(self.instance, self.solution, 0 if self.instance.exact else FLOATING)

    def checked(self) -> MixedOutcome:
        """Return the outcome with the number of violations."""
        return replace(self.outcome, violations=len(self.violations))

    def rejected(self) -> list[tuple[float, int]]:
        """Return the cumulative number of rejected tasks, as steps."""
        return rejected_steps(self.solution.decisions)

    def waiting(self) -> list[tuple[float, int]]:
        """Return the number of accepted tasks that wait, as steps.

        A task waits from its arrival, or from the beginning if it was promised before, until its
        first chunk is sent.
        """
        return waiting_steps(self.instance.tasks, self.solution.chunks, self.workload.begin)

    def _measured(self, queues: list[int], seconds: float) -> MixedOutcome:
        instance, workload, plan = self.instance, self.workload, self.solution
        new = {task.id for task in instance.tasks if task.arrival >= instance.now}
        wanted = {one.id for one in instance.reservations} - instance.promised
        accepted = sum(d.accepted for d in plan.decisions if d.task in new)
        granted = sum(grant.accepted for grant in plan.grants if grant.reservation in wanted)
        decided = len(new) + len(wanted)
        ends = [float(chunk.computation_end) for chunk in plan.chunks]
        ends += [end for _, end, _ in self._reserved_windows()]
        of_tasks = stream_outcome(
            self.algorithm.name,
            workload,
            tasks=len(new),
            accepted=accepted,
            misses=self._misses(),
            busy=self._busy(),
            last=max(ends, default=workload.horizon),
            queued=sum(queues),
            longest_queue=max(queues, default=0),
            seconds=seconds,
        )
        shared = {field.name: getattr(of_tasks, field.name) for field in fields(of_tasks)}
        return MixedOutcome(
            **shared | {"decisions_per_second": ratio(decided, seconds)},
            reservations=len(wanted),
            granted=granted,
            refused=len(wanted) - granted,
            reservation_reject_ratio=ratio(len(wanted) - granted, len(wanted)),
            total_reject_ratio=ratio(decided - accepted - granted, decided),
        )

    def _misses(self) -> int:
        """Count the accepted tasks that end after their deadlines, or are not completed."""
        stream = self.instance.stream
        return 0 if stream is None else count_misses(stream, self.solution)

    def _busy(self) -> float:
        """Return the time that nodes receive, compute or are reserved in the span of the stream."""
        first, last = self.workload.begin, self.workload.horizon
        reserved = sum(
            nodes * max(min(end, last) - max(start, first), 0)
            for start, end, nodes in self._reserved_windows()
        )
        return reserved + busy_time(self.solution.chunks, first, last)

    def _reserved_windows(self) -> Iterator[tuple[float, float, int]]:
        """Yield start, end and number of nodes of each accepted reservation."""
        windows = {one.id: (float(one.start), float(one.end)) for one in self.instance.reservations}
        for grant in self.solution.grants:
            if grant.accepted:
                yield *windows[grant.reservation], len(grant.nodes)


def simulate_mixed(
    instance: Instance,
    algorithm: str = "multi-stage",
    *,
    workload: Workload | None = None,
    check: bool = False,
) -> MixedOutcome:
    """Run an algorithm over a stream of tasks and reservations.

    Parameters
    ----------
    instance, algorithm, workload
        See `MixedRun`, also for what is raised.
    check : bool, default False
        Whether the schedule is checked against the rules.

    Examples
    --------
    >>> from dlopt.simulation.reservations import ReservationMix, mamat5
    >>> stream = mamat5(horizon=300_000, seed=1)
    >>> mixed = ReservationMix(0.5).of(stream, seed=1)
    >>> outcome = simulate_mixed(mixed, workload=stream, check=True)
    >>> outcome.tasks, outcome.reservations, outcome.violations
    (10, 10, 0)
    """
    run = MixedRun(instance, algorithm, workload=workload)
    return run.checked() if check else run.outcome


def require_mixed(instance: object) -> None:
    """Raise an error unless something is an instance with reservations.

    Raises
    ------
    NotApplicableError
    """
    if not isinstance(instance, Instance):
        kind = type(instance).__name__
        raise NotApplicableError(f"a multistage instance is needed, not a {kind}")


def _run_algorithm(instance: Instance, name: str) -> tuple[MultiStage, list[int]]:
    """Pass all arrivals to an engine; return the queue length at each arrival of a task."""
    engine = MultiStage.of(instance, name)
    queues = []
    arriving: list[Any] = [one for one in instance.reservations if one.arrival >= instance.now]
    arriving += [task for task in instance.tasks if task.arrival >= instance.now]
    for one in sorted(arriving, key=_arrival):  # reservations first, at one instant
        if isinstance(one, Reservation):
            engine.reserve(one)
            continue
        engine.advance(one.arrival)
        queues.append(len(engine.waiting))
        engine.submit(one)
    return engine, queues


def _arrival(one: Task | Reservation) -> Any:
    return one.arrival


def task_workload(instance: Instance, workload: Workload | None) -> Workload:
    """Return the tasks of an instance as a workload with the span of the whole instance."""
    stream = instance.stream
    costs = (float(cost) for cost in instance.cluster.costs_of(0))
    plain = Cluster(instance.cluster.nodes, *costs)
    alone = Workload(plain, (), (), (), 0.0) if stream is None else Workload.of(stream)
    if workload is not None:
        begin, horizon = workload.begin, workload.horizon
        load, realised = workload.system_load, workload.realised_load
    else:
        instants = [float(t.arrival) for t in instance.tasks if t.arrival >= instance.now]
        instants += [float(one.start) for one in instance.reservations if one.start >= instance.now]
        instants = instants or [float(instance.now)]
        begin, horizon = min(instants), max(instants)
        if not alone.idle or instance.promised:
            begin = float(instance.now)
        load, realised = None, None
        if not instance.reservations:
            realised = node_time(plain, alone.loads[alone.promised :], horizon - begin)
    return replace(
        alone,
        begin=begin,
        horizon=horizon,
        name=instance.name if workload is None else workload.name,
        system_load=load,
        realised_load=realised,
    )
