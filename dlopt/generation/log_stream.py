"""Conversion of the jobs of a log to a stream of divisible loads, each with the work of its job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dlopt.arithmetic import Number, exact, is_exact, is_finite, shown, simplest
from dlopt.errors import NotApplicableError
from dlopt.formats.swf import SwfJob, SwfLog
from dlopt.generation.distributions import positive_float
from dlopt.generation.log_jobs import selected_jobs, submission, time_origin_note, window_suffix
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import Units

DeadlineRule = Literal["execution", "requested"]


@dataclass(frozen=True, slots=True)
class LogStream:
    """The stream of a log, and the jobs that were skipped.

    Parameters
    ----------
    instance : Instance
    left_out : tuple of (str, int)
        Reasons for skipping jobs, and the number of jobs for each.
    notes : tuple of str
        Where the tasks differ from what the log records.
    """

    instance: Instance
    left_out: tuple[tuple[str, int], ...]
    notes: tuple[str, ...] = ()


def stream_from_log(
    log: SwfLog,
    *,
    at: Number | None = None,
    span: Number | None = None,
    machines: int | None = None,
    tau: Number = 1,
    chi: Number = 100,
    theta_cm: Number = 0,
    theta_cp: Number = 0,
    deadline_rule: DeadlineRule = "execution",
    deadline_factor: Number = 2,
    first: int | None = None,
    name: str = "",
) -> LogStream:
    """Return the jobs of a log as divisible loads with deadlines, at their recorded submissions.

    The load of a job is its run time times its processors, by `chi`: one node computes it in the
    total processor time of the job.

    Parameters
    ----------
    log : SwfLog
    at : Number, optional
        Only jobs submitted from this instant on are used, in the log's seconds; by default all. It
        is the instant 0 of the instance, by default the submission of the first job.
    span : Number, optional
        Jobs submitted so long after `at`, or later, are not used.
    machines : int, optional
        Nodes of the cluster; by default the processors of the log's header.
    tau, chi, theta_cm, theta_cp : Number
        Costs, see `Cluster`; `chi` positive.
    deadline_rule : {"execution", "requested"}
        Whether a deadline is `deadline_factor` times the execution time E of the load on as many
        nodes as the job had processors (no more than the cluster has, nor than are useful), or
        times the run time that its user requested.
    deadline_factor : Number, default 2
    first : int, optional
        Only so many jobs are used, the earliest ones.
    name : str, optional

    Returns
    -------
    LogStream
        Loads and arrivals are exact where the log's numbers are; deadlines by execution times are
        floats.

    Raises
    ------
    NotApplicableError
        If the machine's size is unknown, a parameter is out of its range, or no job is left.

    Examples
    --------
    >>> from dlopt.formats.swf import parse
    >>> log = parse(["; MaxProcs: 4", "7 30 -1 50 2 -1 -1 2 80 -1 1 1 1 -1 -1 -1 -1 -1"])
    >>> stream_from_log(log, deadline_rule="requested").instance.tasks
    (Task(id='7', arrival=0, load=1, deadline=160, remaining=None, weight=1),)
    """
    if deadline_rule not in ("execution", "requested"):
        text = f"deadline rules are execution and requested, not {deadline_rule!r}"
        raise NotApplicableError(text)
    if at is not None and not is_finite(at):
        raise NotApplicableError(f"at must be a finite number, got {shown(at)}")
    for what, number in (("span", span), ("chi", chi), ("deadline_factor", deadline_factor)):
        if number is not None:
            positive_float(what, number)
    size = machines or log.machine_size
    if size is None:
        raise NotApplicableError("the log does not say how many processors there are: --machines N")
    cluster = Cluster(size, tau, chi, theta_cm, theta_cp)
    jobs, start, left_out = selected_jobs(
        log, at, span, lambda job: _unusable(job, deadline_rule), first
    )
    deadline_of = _deadline(cluster, deadline_rule, deadline_factor)
    tasks = []
    for job in jobs:
        load = _load(job, chi)
        arrival = simplest(submission(job) - start)
        tasks.append(Task(str(job.number), arrival, load, deadline_of(job, load)))
    where = log.get("Computer") or "a cluster"
    instance = Instance(
        cluster,
        tuple(tasks),
        name=name or f"replay-{size}{window_suffix(at)}",
        origin=f"jobs of {where} from {start} s of its log on, as divisible loads; deadlines "
        f"{float(deadline_factor):g} times the {deadline_rule} time",
        units=Units("s"),
    )
    return LogStream(instance, left_out, (time_origin_note(start),) if start else ())


def _unusable(job: SwfJob, rule: DeadlineRule) -> str | None:
    if not job.run_time:
        return "without run time"
    if not job.processors:
        return "without processors"
    if rule == "requested" and not job.requested_time:
        return "without requested time"
    return None


def _load(job: SwfJob, chi: Number) -> Number:
    run_time, processors = job.run_time or 0, job.processors or 0
    if is_exact((run_time, chi)):
        return simplest(exact(run_time) * processors / exact(chi))
    return float(run_time) * processors / float(chi)


def _deadline(
    cluster: Cluster, rule: DeadlineRule, factor: Number
) -> Callable[[SwfJob, Number], Number]:
    if rule == "requested":
        return lambda job, load: _product(factor, job.requested_time or 0)
    costs: Any = (cluster.tau, cluster.chi, cluster.theta_cm, cluster.theta_cp)
    opr = OptimalPartition(*map(float, costs))

    def by_execution(job: SwfJob, load: Number) -> float:
        amount = float(load)
        most = min(job.processors or 1, cluster.nodes)
        nodes = opr.n_star(amount, most) or most
        return float(factor) * float(opr.execution_time(amount, nodes))

    return by_execution


def _product(factor: Number, time: Number) -> Number:
    return simplest(exact(factor) * exact(time)) if is_exact((factor, time)) else factor * time
