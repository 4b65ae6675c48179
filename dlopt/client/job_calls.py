"""The calls of jobs: each is written once, for both clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict, TypeVar

from dlopt.client import records
from dlopt.client.calls import call_of
from dlopt.client.exchange import Call
from dlopt.client.records import JobStatus, Json
from dlopt.io import instance_to_data, result_from_data
from dlopt.problems.validated_record import Header
from dlopt.result import Limits, Result

T = TypeVar("T")


class RunOptions(TypedDict, total=False):
    """What may be said of a run; see `dlopt.solve`."""

    objective: str
    limits: Limits
    seed: int
    options: Mapping[str, object]
    priority: int


def run(
    kind: str,
    instance: Header,
    method: str | None,
    methods: Sequence[str] | None,
    options: RunOptions,
) -> Call[JobStatus]:
    """Ask the service to solve, or to compare methods; returns the job at once."""
    limits = options.get("limits")
    fields: dict[str, object] = {
        "kind": kind,
        "instance": instance_to_data(instance),
        "method": method,
        "methods": None if methods is None else list(methods),
        **options,
        "limits": limits and {name: value for name, value in _limits(limits) if value is not None},
    }
    return call_of("run", fields, records.read_status)


def _limits(limits: Limits) -> Sequence[tuple[str, object]]:
    return [(name, getattr(limits, name)) for name in ("time_s", "work", "threads", "gap")]


def jobs() -> Call[tuple[JobStatus, ...]]:
    """Return the states of all jobs."""
    return call_of("jobs", {}, lambda found: tuple(map(records.read_status, found)))


def _about_job(name: str, read: Callable[..., T], job: str) -> Call[T]:
    return call_of(name, {"job": job}, read)


def status(job: str) -> Call[JobStatus]:
    """Return the state of the job, with its value and bound so far."""
    return _about_job("job_status", records.read_status, job)


def stop(job: str) -> Call[JobStatus]:
    """Stop the job; it keeps the best checked plan."""
    return _about_job("stop", records.read_status, job)


def result(job: str, instance: Header) -> Call[Result[object]]:
    """Return the result of a job that solved the instance."""
    return _about_job("result", lambda data: result_from_data(data, instance), job)


def data(job: str) -> Call[Json]:
    """Return the result of the job as plain data: of a comparison, a check or a search, too."""
    return _about_job("result", dict, job)


def certificate(job: str) -> Call[str]:
    """Return the proof of the bound of the job, in the format VIPR."""
    return _about_job("certificate", str, job)


def plot(job: str) -> Call[str]:
    """Return the plan of the job as an SVG drawing."""
    return _about_job("plot", str, job)
