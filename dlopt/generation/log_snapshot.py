"""Occupancy of a cluster by parallel jobs at an instant: from a log, or from synthetic jobs."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from dlopt.arithmetic import Number, is_finite, shown
from dlopt.errors import NotApplicableError
from dlopt.formats.swf import SwfLog
from dlopt.generation.log_jobs import unrecorded_starts_note
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from dlopt.problems.validated_record import Units

Starts = Literal["recorded", "fcfs"]


@dataclass(frozen=True, slots=True)
class RigidJob:
    """A rigid parallel job: submission, start, run time and number of processors."""

    submit: Number
    start: Number
    run_time: Number
    processors: int


@dataclass(frozen=True, slots=True)
class LogSnapshot:
    """The occupancy of a cluster by the jobs of a log.

    Parameters
    ----------
    instance : Instance
    notes : tuple of str
        Where the occupancy differs from what the log records.
    """

    instance: Instance
    notes: tuple[str, ...] = ()


def snapshot(
    log: SwfLog,
    *,
    at: Number,
    load: Number,
    machines: int | None = None,
    tau: Number = 1,
    chi: Number = 100,
    theta_cm: Number = 0,
    theta_cp: Number = 0,
    deadline: Number | None = None,
    starts: Starts = "recorded",
    name: str = "",
) -> LogSnapshot:
    """Return the cluster as the jobs of a log occupy it at an instant, with one divisible load.

    Parameters
    ----------
    log : SwfLog
    at : Number
        The instant, in the log's seconds. It is the instant 0 of the instance.
    load : Number
        The divisible load.
    machines : int, optional
        Processors of the machine; by default those of the log's header.
    tau, chi, theta_cm, theta_cp : Number
        Costs, see `Cluster`.
    deadline : Number, optional
        Relative to `at`.
    starts : {"recorded", "fcfs"}
        ``recorded``: a job starts at submit + wait, an unknown wait counting as 0. ``fcfs``: jobs
        start first come, first served as processors become free, for logs without wait times.
    name : str, optional

    Returns
    -------
    LogSnapshot
        The ready time of a node is the end of its running job, 0 if it is idle.

    Raises
    ------
    NotApplicableError
        If the machine's size is unknown, or more processors are busy than there are.

    Notes
    -----
    Complexity: O(n log n) in the number of jobs.

    Examples
    --------
    >>> from dlopt.formats.swf import parse
    >>> log = parse(["; MaxProcs: 3", "7 30 -1 50 2 -1 -1 2 80 -1 1 1 1 -1 -1 -1 -1 -1"])
    >>> found = snapshot(log, at=40, load=1)
    >>> found.instance.ready_times, len(found.notes)
    ((0, 40, 40), 1)
    """
    if not is_finite(at):
        raise NotApplicableError(f"at must be a finite number, got {shown(at)}")
    size = machines or log.machine_size
    if size is None:
        raise NotApplicableError("the log does not say how many processors there are: --machines N")
    jobs, unrecorded = _jobs_that_ran(log)
    too_large = next((job for job in jobs if job.processors > size), None)
    if too_large is not None:
        text = f"a job takes {too_large.processors} processors, the machine has {size}"
        raise NotApplicableError(text)
    started = jobs if starts == "recorded" else first_come_first_served(jobs, size)
    times = remaining_times(started, size, at)
    waiting = f", {starts} starts" if starts != "recorded" else ""
    instance = Instance(
        Cluster(size, tau, chi, theta_cm, theta_cp),
        tuple(times),
        load,
        absolute_deadline=deadline,
        name=name or f"snapshot-{size}-at-{at}",
        origin=f"occupancy of {log.get('Computer') or 'a cluster'} at {at} s of its log{waiting}",
        units=Units("s"),
    )
    if not unrecorded or starts != "recorded":
        return LogSnapshot(instance)
    note = f"{unrecorded_starts_note(unrecorded)} (--starts fcfs makes a queue of them)"
    return LogSnapshot(instance, (note,))


def remaining_times(jobs: Iterable[RigidJob], size: int, at: Number) -> list[Number]:
    """Return the remaining busy time of each of `size` processors at an instant, ascending.

    Raises
    ------
    NotApplicableError
        If the running jobs use more processors than there are.

    Examples
    --------
    >>> remaining_times([RigidJob(0, 2, 10, 1)], 2, at=5)
    [0, 7]
    """
    times: list[Number] = []
    for job in jobs:
        if job.start <= at < job.start + job.run_time:
            times += [job.start + job.run_time - at] * job.processors
    if len(times) > size:
        raise NotApplicableError(
            f"at {at} the jobs take {len(times)} processors, the machine has {size}; the log may "
            "lack wait times: --starts fcfs"
        )
    return [0] * (size - len(times)) + sorted(times)


def first_come_first_served(jobs: Sequence[RigidJob], size: int) -> list[RigidJob]:
    """Return the jobs with the starts of a machine that serves them in order of submission.

    A job starts when it is submitted, all before it have started, and enough processors are free.
    """
    ends: list[tuple[Number, int]] = []
    queue = sorted(jobs, key=lambda job: job.submit)
    free, clock = size, queue[0].submit if queue else 0
    placed = []
    for job in queue:
        clock = max(clock, job.submit)
        while ends and (ends[0][0] <= clock or free < job.processors):
            end, count = heapq.heappop(ends)
            free += count
            clock = max(clock, end)
        placed.append(RigidJob(job.submit, clock, job.run_time, job.processors))
        heapq.heappush(ends, (clock + job.run_time, job.processors))
        free -= job.processors
    return placed


def synthetic_jobs(size: int, utilization: float, mean_run_time: int, seed: int) -> list[Number]:
    """Return the occupancy by synthetic jobs after a warm-up; see `remaining_times`."""
    if not 0 < utilization < 1:
        raise NotApplicableError(f"utilization must lie between 0 and 1, got {utilization}")
    if mean_run_time < 1:
        raise NotApplicableError(f"mean_run_time must be at least 1, got {mean_run_time}")
    draw = random.Random(f"snapshot {seed}")
    top = int(math.log2(size))
    jobs, clock = [], 0.0
    for _ in range(80 * (top + 2)):
        width = 2 ** draw.randint(0, max(0, top - 2))
        if draw.random() < 0.25:
            width = draw.randint(1, max(1, size // 4))
        run_time = max(1, round(draw.lognormvariate(math.log(mean_run_time) - 1.125, 1.5)))
        jobs.append(RigidJob(round(clock), round(clock), run_time, width))
        clock += draw.expovariate(1.0) * run_time * width / (utilization * size)
    return remaining_times(first_come_first_served(jobs, size), size, round(clock * 0.8))


def _jobs_that_ran(log: SwfLog) -> tuple[list[RigidJob], int]:
    """Return the jobs of a log that ran, and how many of them have no recorded start.

    The line of a job counts, not those of its bursts.
    """
    jobs, unrecorded = list[RigidJob](), 0
    for job in log.jobs:
        if not job.burst and job.processors and job.run_time and job.submit is not None:
            start = job.submit + (job.wait or 0)
            jobs.append(RigidJob(job.submit, start, job.run_time, job.processors))
            unrecorded += job.wait is None
    return jobs, unrecorded
