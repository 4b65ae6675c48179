"""The bodies of requests that have jobs made, by the kind of the job; the server checks them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, MinLen

from dlopt.arithmetic import Number
from dlopt.errors import MISSING, Fault
from dlopt.problems.validated_record import NonNegative, Record
from dlopt.service_api.job_records import Instance
from dlopt.service_api.json_data import Json

MAX_PRIORITY = 1_000
"""The highest priority of a job; the negative of it is the lowest. Chosen by hand."""


@dataclass(frozen=True)
class JobLimits(Record):
    """What each run of a method may spend; see `dlopt.Limits`.

    Parameters
    ----------
    time_s : Number, optional
        Seconds of wall-clock time.
    work : int, optional
        Nodes or iterations, a limit that gives equal answers.
    threads : int
        Of a solver.
    gap : Number
        Relative gap at which a solver may stop.
    """

    time_s: Annotated[Number, Gt(0)] | None = None
    work: Annotated[int, Ge(1)] | None = None
    threads: Annotated[int, Ge(1)] = 1
    gap: NonNegative = 0


@dataclass(frozen=True, kw_only=True)
class AnyRequest(Record):
    """What every job request may have.

    Parameters
    ----------
    priority : int
        Jobs of higher priority begin first.
    """

    priority: Annotated[int, Ge(-MAX_PRIORITY), Le(MAX_PRIORITY)] = 0


@dataclass(frozen=True, kw_only=True)
class InstanceRequest(AnyRequest):
    """What a job request about an instance may have.

    Parameters
    ----------
    instance : Instance, optional
        As it stands in an instance file; or its hash, if the service has it.
    hash : str, optional
        Of the canonical JSON of an instance that was sent before.
    """

    instance: Instance | None = None
    hash: str | None = None

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, object]) -> Iterable[Fault]:
        """Yield a fault unless there is exactly one of the two."""
        absent = [name in known and known[name] is None for name in ("instance", "hash")]
        if all(absent):
            yield Fault("instance", MISSING, "is missing: give an instance, or the hash of one")
        elif not any(absent) and "hash" in known:
            yield Fault("instance", MISSING, "must not be given together with a hash")


@dataclass(frozen=True, kw_only=True)
class RunRequest(AnyRequest):
    """What a job request that runs methods may have.

    Parameters
    ----------
    objective : str, optional
        See `dlopt methods`.
    limits : JobLimits
    seed : int
        Of random numbers.
    options : object, optional
        Of the method; in a comparison of the methods that have them, or as ``METHOD.option`` of
        one method.
    """

    objective: str | None = None
    limits: JobLimits = JobLimits()
    seed: int = 0
    options: Json | None = None


@dataclass(frozen=True, kw_only=True)
class CertifiedRequest(AnyRequest):
    """What a job request may have whose answers can be certified.

    Parameters
    ----------
    certified : bool
        State a bound, or optimality, only with a certificate that is accepted.
    """

    certified: bool = False


@dataclass(frozen=True, kw_only=True)
class MethodRequest(RunRequest):
    """What a job request that runs one method may have.

    Parameters
    ----------
    method : str
        See `dlopt methods`.
    """

    method: str = "exact"


@dataclass(frozen=True, kw_only=True)
class SolveRequest(InstanceRequest, MethodRequest, CertifiedRequest):
    """An instance that is to be solved, perhaps with a certificate of the bound."""

    kind: Literal["solve", "certificate"] = "solve"


@dataclass(frozen=True, kw_only=True)
class CompareRequest(InstanceRequest, RunRequest, CertifiedRequest):
    """An instance that is to be solved by several methods, by default by all usual ones."""

    kind: Literal["compare"]
    methods: Annotated[tuple[str, ...], MinLen(1)] | None = None


@dataclass(frozen=True, kw_only=True)
class CheckRequest(InstanceRequest):
    """A plan, or a result of a method, that is to be checked."""

    kind: Literal["check"]
    solution: Json


@dataclass(frozen=True, kw_only=True)
class FalsifyRequest(MethodRequest):
    """A claim about a method that is to be refuted, or a large ``gap`` that is to be found."""

    kind: Literal["falsify"]
    problem: str
    claim: str | None = None
    target: Literal["claim", "gap"] = "claim"


JOB_REQUESTS: Mapping[str, type[AnyRequest]] = {
    "solve": SolveRequest,
    "certificate": SolveRequest,
    "compare": CompareRequest,
    "check": CheckRequest,
    "falsify": FalsifyRequest,
}
"""The body of a request by the kind of the job."""
