"""Simulation of an online policy of a user's own on a stream of divisible loads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, replace
from functools import cached_property
from time import perf_counter
from typing import TypeVar

from dlopt import registry
from dlopt.arithmetic import FLOATING
from dlopt.errors import NotApplicableError, SolverError, known_names
from dlopt.generation.workload import Workload
from dlopt.heuristics.admission.online_policy import DecidedStream, OnlinePolicy
from dlopt.heuristics.admission.planner_factory import Policy, parse
from dlopt.interruption import within
from dlopt.problems.admission import (
    Executed,
    Instance,
    Scenario,
    Solution,
    Trace,
    violations_executed,
)
from dlopt.registry.method_entries import guarded
from dlopt.result import Limits, Violation
from dlopt.simulation.metrics import StreamOutcome, stream_outcome
from dlopt.simulation.plan_metrics import busy_time, count_misses, rejected_steps, waiting_steps

RunT = TypeVar("RunT")


def algorithm_of(algorithm: object) -> Policy | OnlinePolicy:
    """Return the algorithm of a name: one of dlopt's, or a registered online policy.

    Raises
    ------
    NotApplicableError
        If there is none of that name, or it decides on all tasks of a stream at once.

    Examples
    --------
    >>> algorithm_of("edf-opr-mn").name
    'edf-opr-mn'
    """
    if isinstance(algorithm, OnlinePolicy):
        return algorithm
    try:
        return parse(algorithm)
    except NotApplicableError:
        if not isinstance(algorithm, str):
            raise
        entries = {entry.name: entry for entry in registry.methods("admission")}
        if algorithm not in entries:
            known = known_names(algorithm, entries, "dlopt methods admission")
            raise NotApplicableError(f"unknown algorithm {algorithm!r} ({known})") from None
        entry = entries[algorithm]
    if not isinstance(entry.target, OnlinePolicy):
        text = f"{algorithm} is no online algorithm: it decides on all tasks at once"
        raise NotApplicableError(f"{text} (see dlopt.OnlinePolicy)")
    return entry.target.named(algorithm)


def run_within(time_limit_s: float | None, name: object, run: Callable[[], RunT]) -> RunT:
    """Return a run of an algorithm over a stream, or give it up after a time.

    Parameters
    ----------
    time_limit_s : float, optional
        By default it has all the time that it takes.
    name : str, Policy or OnlinePolicy
        The algorithm, for the message.
    run : callable
        Without arguments.

    Raises
    ------
    SolverError
        If there is no end within the limit.

    Examples
    --------
    >>> run_within(0.05, "endless", lambda: max(iter(lambda: 0, 1)))
    Traceback (most recent call last):
    ...
    dlopt.errors.SolverError: endless failed: it has not decided on the stream within 0.05 s
    """
    limit = Limits(time_s=time_limit_s).time_s
    if limit is None:
        return run()
    try:
        return within(limit, run)
    except TimeoutError:
        text = f"{getattr(name, 'name', name)} failed: it has not decided on the stream within"
        raise SolverError(f"{text} {limit:g} s") from None


class PolicyRun:
    """An online policy run over a stream: its results and its schedule.

    Parameters
    ----------
    workload : Workload or Instance
        See `dlopt.simulate`; an instance is decided on in its own numbers, exact or floating.
    policy : OnlinePolicy

    Attributes
    ----------
    workload : Workload
    algorithm : OnlinePolicy
    instance : Instance
    solution : Solution
    outcome : StreamOutcome

    Raises
    ------
    NotApplicableError
        If nodes differ.
    InvalidInstanceError
        If there is no task.
    PromiseError
        If the policy rejects a task that the cluster has promised.
    SolverError
        If the function of the policy fails.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> policy = OnlinePolicy(lambda state, task: state.send(task, [0], [task.load]), "first-node")
    >>> stream = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 5), Task("b", 1, 2, 3)))
    >>> run = PolicyRun(stream, policy)
    >>> run.outcome.accepted, run.outcome.misses
    (2, 1)
    >>> print(*run.violations)
    deadline on task b in [4, 8] by 4
    """

    def __init__(self, workload: Workload | Instance, policy: OnlinePolicy) -> None:
        self.algorithm, self.workload = policy, Workload.of(workload)
        self.instance = workload if isinstance(workload, Instance) else self.workload.instance()
        began = perf_counter()
        with guarded(policy.name):
            decided = policy.run(self.instance)
        seconds = perf_counter() - began
        self.solution: Solution = decided.solution
        self.outcome = self._measured(decided, seconds)

    @property
    def trace(self) -> Trace:
        """What was executed: the chunks as they were planned."""
        chunks = tuple(Executed(*astuple(chunk)) for chunk in self.solution.chunks)
        return Trace(tuple(self.solution.decisions), chunks)

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """The violations of the trace, promised deadlines among them.

        They are checked exactly, or in floats to a relative 1e-9.
        """
        tolerance = 0 if self.instance.exact else FLOATING
        return violations_executed(self.instance, Scenario(), self.trace, tolerance)

    def checked(self) -> StreamOutcome:
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

    def _measured(self, decided: DecidedStream, seconds: float) -> StreamOutcome:
        workload, plan, queues = self.workload, decided.solution, decided.queue_lengths
        return stream_outcome(
            self.algorithm.name,
            workload,
            tasks=len(queues),
            accepted=len(queues) - sum(not decision.accepted for decision in plan.decisions),
            misses=count_misses(self.instance, plan),
            busy=busy_time(plan.chunks, workload.begin, workload.horizon),
            last=max((float(chunk.computation_end) for chunk in plan.chunks), default=0.0),
            queued=sum(queues),
            longest_queue=max(queues, default=0),
            seconds=seconds,
        )
