"""Selection of the jobs of a log that are converted to tasks or requests."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from dlopt.arithmetic import Number, shown
from dlopt.errors import NotApplicableError
from dlopt.formats.swf import SwfJob, SwfLog
from dlopt.generation.distributions import check_count

MAX_FIRST = 10**9
"""Jobs: more than any log has."""


class SelectedJobs(NamedTuple):
    """Jobs of a log by submission, the instant 0 of their instance, and why others are left out.

    `left_out` has the reasons, and the number of jobs for each.
    """

    jobs: tuple[SwfJob, ...]
    begin: Number
    left_out: tuple[tuple[str, int], ...]


def selected_jobs(
    log: SwfLog,
    at: Number | None,
    span: Number | None,
    reason_against: Callable[[SwfJob], str | None],
    first: int | None = None,
) -> SelectedJobs:
    """Return the usable jobs of a log that were submitted in an interval.

    Parameters
    ----------
    log : SwfLog
    at : Number, optional
        Begin of the interval, in the log's seconds; by default the submission of the first job.
    span : Number, optional
        Length of the interval; by default it has no end.
    reason_against : callable
        Returns why a job cannot be used; None if it can.
    first : int, optional
        So many of them at the most, the earliest ones.

    Raises
    ------
    NotApplicableError
        If no job is left, or `first` is not positive.

    Examples
    --------
    >>> from dlopt.formats.swf import parse
    >>> log = parse([f"{n} {n}0 -1 50 2 -1 -1 2 80 -1 1 1 1 -1 -1 -1 -1 -1" for n in (1, 2, 3)])
    >>> jobs, begin, _ = selected_jobs(log, None, 15, lambda job: None)
    >>> [job.number for job in jobs], begin
    ([1, 2], 10)
    """
    if first is not None:
        check_count("first", first, MAX_FIRST)
    jobs = sorted((job for job in log.jobs if not job.burst), key=submission)
    begin = at if at is not None else submission(jobs[0]) if jobs else 0
    end = math.inf if span is None else begin + span
    left_out: Counter[str] = Counter()
    usable: list[SwfJob] = []
    for job in jobs:
        if not begin <= submission(job) < end:
            continue
        if len(usable) == first:
            break
        reason = reason_against(job)
        if reason is None:
            usable.append(job)
        else:
            left_out[reason] += 1
    if not usable:
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
        if jobs and not reasons:
            ends = f"{shown(submission(jobs[0]))} to {shown(submission(jobs[-1]))}"
            reasons = f"none in that time; its jobs are submitted from {ends}"
        raise NotApplicableError(f"no job of the log is left: {reasons or 'it has none'}")
    return SelectedJobs(tuple(usable), begin, tuple(left_out.items()))


def window_suffix(at: Number | None) -> str:
    """Return what the name of an instance says of its window, so that those of a log differ.

    Examples
    --------
    >>> window_suffix(1000000), window_suffix(None)
    ('-at-1000000', '')
    """
    return "" if at is None else f"-at-{shown(at)}"


def submission(job: SwfJob) -> Number:
    """Return when a job was submitted; only lines of bursts may lack it, and they are left out."""
    return 0 if job.submit is None else job.submit


def without_wait_time(jobs: Iterable[SwfJob]) -> int:
    """Return how many jobs have no recorded start: no wait time to add to their submission."""
    return sum(job.wait is None for job in jobs)


def unrecorded_starts_note(count: int) -> str:
    """Return what a user should know of so many jobs without a recorded start.

    Examples
    --------
    >>> unrecorded_starts_note(1)
    '1 job without wait time: its start is its submission'
    """
    if count == 1:
        return "1 job without wait time: its start is its submission"
    return f"{count} jobs without wait time: their starts are their submissions"


def time_origin_note(begin: Number) -> str:
    """Return which time of the log is the instant 0 of the instance.

    Examples
    --------
    >>> time_origin_note(5094)
    'time 0 is 5094 s of the log'
    """
    return f"time 0 is {shown(begin)} s of the log"
