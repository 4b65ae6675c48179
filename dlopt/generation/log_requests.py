"""Conversion of the jobs of a log to requests for CPU: each for its processors while it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from dlopt.arithmetic import Number, is_finite, shown, simplest
from dlopt.errors import NotApplicableError
from dlopt.formats.swf import SwfJob, SwfLog
from dlopt.generation.distributions import check_choice, check_count, positive_float
from dlopt.generation.log_jobs import (
    selected_jobs,
    submission,
    time_origin_note,
    unrecorded_starts_note,
    window_suffix,
    without_wait_time,
)
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request, linear, step
from dlopt.problems.validated_record import Units

Starts = Literal["recorded", "submitted"]
Durations = Literal["run", "requested"]
Priority = Literal["equal", "user", "queue"]


@dataclass(frozen=True, slots=True)
class LogRequests:
    """The requests of a log, and the jobs that were skipped.

    Parameters
    ----------
    instance : Instance
    left_out : tuple of (str, int)
        Reasons for skipping jobs, and the number of jobs for each.
    notes : tuple of str
        Where the requests or the machines differ from what the log records.
    """

    instance: Instance
    left_out: tuple[tuple[str, int], ...]
    notes: tuple[str, ...] = ()


def requests_from_log(
    log: SwfLog,
    *,
    at: Number | None = None,
    span: Number | None = None,
    machines: int | None = None,
    machine_size: int | None = None,
    starts: Starts = "recorded",
    durations: Durations = "run",
    priority: Priority = "equal",
    least: Number | None = None,
    batch: Number | None = None,
    first: int | None = None,
    name: str = "",
) -> LogRequests:
    """Return the jobs of a log as requests for shares of machines.

    CPU counts processors. A job that is wider than a machine has as many parts as it needs
    machines, its processors distributed evenly over them.

    Parameters
    ----------
    log : SwfLog
    at : Number, optional
        Only jobs submitted from this instant on are used, in the log's seconds; by default all. It
        is the instant 0 of the instance, by default the submission of the first job.
    span : Number, optional
        Jobs submitted so long after `at`, or later, are not used.
    machines : int, optional
        By default as many of `machine_size` as are needed for the processors in the log's header,
        else for its widest job; without a `machine_size` 1.
    machine_size : int, optional
        Processors of each machine; by default those of the log's header, divided among the machines
        and rounded up.
    starts : {"recorded", "submitted"}
        A window begins at the recorded start of the job, its submission plus its wait time; or at
        its submission, also where the log has no wait time.
    durations : {"run", "requested"}
        Length of a window: the run time of the job, or the time that its user requested.
    priority : {"equal", "user", "queue"}
        All jobs have the same priority; or all users have the same total, or all queues: a job has
        the priority 1 by the number of jobs of its user (queue). Jobs without one form a further
        one.
    least : Number, optional
        In (0, 1]: jobs accept a share of what they request, down to this, with a benefit
        proportional to it. By default they are rigid.
    batch : Number, optional
        Interval in which requests are collected; by default each is decided on arrival.
    first : int, optional
        Only so many jobs are used, the earliest ones.
    name : str, optional

    Returns
    -------
    LogRequests
        In exact numbers where the log's are.

    Raises
    ------
    NotApplicableError
        If the machines' size is unknown, a parameter is out of its range, or no job is left.

    Examples
    --------
    >>> from dlopt.formats.swf import parse
    >>> log = parse(["; MaxProcs: 8", "7 30 5 50 6 -1 -1 6 80 -1 1 1 1 -1 -1 -1 -1 -1"])
    >>> (request,) = requests_from_log(log, machines=2).instance.requests
    >>> request.start, request.end, [part.cpu for part in request.parts]
    (5, 55, [3, 3])
    """
    check_choice("starts", starts, ("recorded", "submitted"))
    check_choice("durations", durations, ("run", "requested"))
    if machines is None:
        machines = _machine_count(log, machine_size)
    check_count("machines", machines, 1_000_000)
    if at is not None and not is_finite(at):
        raise NotApplicableError(f"at must be a finite number, got {shown(at)}")
    if span is not None:
        positive_float("span", span)
    if least is not None and not 0 < least <= 1:
        raise NotApplicableError(f"least must be above 0 and at most 1, got {shown(least)}")
    size = _size(log, machines, machine_size)
    jobs, begin, left_out = selected_jobs(
        log, at, span, lambda job: _unusable(job, durations), first
    )
    unrecorded = without_wait_time(jobs) if starts == "recorded" else 0
    priority_of = _priorities(jobs, priority)
    requests = []
    for job in jobs:
        arrival: Number = submission(job) - begin
        waited = (job.wait or 0) if starts == "recorded" else 0
        start: Number = arrival + waited
        length: Any = job.run_time if durations == "run" else job.requested_time
        parts = _parts(job.processors or 0, size, least)
        arrival, start, end = map(simplest, (arrival, start, start + length))
        requests.append(Request(str(job.number), arrival, start, end, priority_of(job), parts))
    instance = Instance(
        tuple(Machine(str(index), size) for index in range(machines)),
        tuple(requests),
        None if batch is None else Batch(batch),
        name=name or f"booked-{machines}x{size}{window_suffix(at)}",
        origin=f"jobs of {log.get('Computer') or 'a cluster'} from {begin} s of its log on, as "
        f"requests; starts {_starts_text(starts, unrecorded, len(jobs))}, {durations} times",
        units=Units("s", cpu="processors"),
    )
    notes = [time_origin_note(begin)] if begin else []
    return LogRequests(instance, left_out, (*notes, *_notes(log, machines, size, unrecorded)))


def _starts_text(starts: Starts, unrecorded: int, jobs: int) -> str:
    if starts == "submitted" or unrecorded == jobs:
        return "as submitted"
    return "as recorded" + (f" (of {unrecorded} of {jobs} jobs as submitted)" if unrecorded else "")


def _notes(log: SwfLog, machines: int, size: int, unrecorded: int) -> Iterator[str]:
    if unrecorded:
        yield unrecorded_starts_note(unrecorded)
    total = machines * size
    if log.machine_size is not None and total != log.machine_size:
        yield (
            f"{machines} machines of {size} have {total} processors, the log has {log.machine_size}"
        )


def _machine_count(log: SwfLog, machine_size: int | None) -> int:
    """Return how many machines of a size have all processors of a log."""
    if machine_size is None:
        return 1
    check_count("machine_size", machine_size, 10**9)
    widest = max((job.processors or 0 for job in log.jobs), default=0)
    return max(1, -(-(log.machine_size or widest) // machine_size))


def _size(log: SwfLog, machines: int, machine_size: int | None) -> int:
    if machine_size is not None:
        check_count("machine_size", machine_size, 10**9)
        return machine_size
    if log.machine_size is None:
        raise NotApplicableError(
            "the log does not say how many processors there are: --machine-size N"
        )
    return -(-log.machine_size // machines)


def _parts(processors: int, size: int, least: Number | None) -> tuple[Part, ...]:
    """Return the processors of a job, distributed evenly over as few machines as suffice."""
    count = -(-processors // size)
    found = []
    for index in range(count):
        cpu = processors // count + (index < processors % count)
        if least is None:
            found.append(Part(cpu, benefit=step()))
        else:
            found.append(Part(cpu, simplest(least * cpu), linear()))
    return tuple(found)


def _priorities(jobs: Sequence[SwfJob], rule: Priority) -> Callable[[SwfJob], Number]:
    check_choice("priority", rule, ("equal", "user", "queue"))
    if rule == "equal":
        return lambda job: 1

    def owner(job: SwfJob) -> int | None:
        return job.user if rule == "user" else job.queue

    counts: Mapping[int | None, int] = Counter(map(owner, jobs))
    return lambda job: simplest(Fraction(1, counts[owner(job)]))


def _unusable(job: SwfJob, durations: Durations) -> str | None:
    if not job.processors:
        return "without processors"
    if not (job.run_time if durations == "run" else job.requested_time):
        return f"without {durations} time"
    return None
