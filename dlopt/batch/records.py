"""What came of a run: one line of a JSONL file each, complete in itself."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from dlopt import io
from dlopt.arithmetic import Number, PrintableRecord
from dlopt.result import Limits, PlanClass, Proof, Result, Status, Value

VERSION = 2
"""Version of the format of a line."""
ACCEPTED = "accepted"
"""What is recorded of a certificate in which its checker found no flaw."""
Numbers: TypeAlias = Literal["as-written", "exact", "float"]
"""How the numbers of an instance file were read, see `dlopt.read`."""


class Failure(StrEnum):
    """Why a run has no result.

    ``FAILED``: an error, reported in the record. ``INVALID``: a result that failed verification,
    kept in the record. ``CRASHED``: a worker process that ended, as by a crash of a solver.
    ``NOT_APPLICABLE``: the method rejected the instance at run time.
    """

    FAILED = "failed"
    INVALID = "invalid"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    NOT_APPLICABLE = "not-applicable"


@dataclass(frozen=True, slots=True)
class RunKey(PrintableRecord):
    """What makes a run the same run when a batch is started again.

    Parameters
    ----------
    problem, hash, method, objective : str
        `hash` is that of the instance, whatever its name.
    limits : Limits
    seed : int
    options : tuple of (str, object)
        Sorted by name; those that were given.
    numbers : {"as-written", "exact", "float"}
    dlopt : str
        The version. What another version answers is another run.
    certified : bool
        Whether bounds count only with certificates, see `dlopt.solve`.
    """

    problem: str
    hash: str
    method: str
    objective: str
    limits: Limits
    seed: int
    options: tuple[tuple[str, Any], ...]
    numbers: Numbers
    dlopt: str
    certified: bool = False


@dataclass(frozen=True, slots=True)
class Record(PrintableRecord):
    """What came of a run.

    Parameters
    ----------
    key : RunKey
    instance, family : str
        What the instance is called, and the family that it belongs to.
    kind, claim : str
        Of the method, as the registry has them.
    status : Status or Failure
    value, bound : Value, optional
    plan_class : PlanClass, optional
    runtime_s : float, optional
        Seconds of the method, with the heuristics that an exact method starts from.
    tolerance : float, optional
        The relative tolerance under which the plan was checked; None if there is no plan.
    violations : int
        How many; of an unsound method's plan.
    reason : str, optional
    solver, solver_version : str, optional
    proof : Proof, optional
        How the bound is established, see `dlopt.Result`.
    origin : Number
        What dates count from, see `dlopt.Result`.
    installments : int, optional
        Chunks a node may get, of the plan class ``k``.
    picture : str, optional
        The file of the drawing, relative to the folder of the records.
    certificate : str, optional
        The file of the certificate of the bound, likewise; None if none was written.
    certificate_bytes : int, optional
        Its size.
    certificate_check : str, optional
        What its checker found: ``accepted``, or ``refused`` and why.
    answer : object, optional
        Of an invalid result, instance and result as the data of files.
    """

    key: RunKey
    instance: str
    family: str
    kind: str
    claim: str
    status: Status | Failure
    value: Value | None = None
    bound: Value | None = None
    plan_class: PlanClass | None = None
    runtime_s: float | None = None
    tolerance: float | None = None
    violations: int = 0
    reason: str | None = None
    solver: str | None = None
    solver_version: str | None = None
    proof: Proof | None = None
    origin: Number = 0
    installments: int | None = None
    picture: str | None = None
    certificate: str | None = None
    certificate_bytes: int | None = None
    certificate_check: str | None = None
    answer: Any = field(default=None, repr=False, compare=False)

    @property
    def checked(self) -> bool:
        """Whether there is a plan and it broke no rule."""
        return self.status in (Status.OPTIMAL, Status.FEASIBLE)

    @property
    def certificate_is_refused(self) -> bool:
        """Whether the checker found a flaw in the certificate."""
        return self.certificate_check not in (None, ACCEPTED)

    @property
    def certified(self) -> bool:
        """Whether optimality has a certificate, which was not refused where it was checked."""
        has_certificate = self.proof == "certificate" and not self.certificate_is_refused
        return self.status is Status.OPTIMAL and has_certificate

    def to_line(self) -> bytes:
        """Return the record as a line of JSON, its end included.

        Raises
        ------
        ValueError
            If a number has more digits than JSON readers take.
        """
        return json.dumps(self.to_data(), allow_nan=False, separators=(",", ":")).encode() + b"\n"

    def to_data(self) -> dict[str, Any]:
        """Return the record as plain data."""
        key = self.key
        data = {
            "version": VERSION,
            "problem": key.problem,
            "instance": self.instance,
            "family": self.family,
            "hash": key.hash,
            "numbers": key.numbers,
            "method": key.method,
            "kind": self.kind,
            "claim": self.claim,
            "options": dict(key.options),
            "objective": key.objective,
            "limits": _limits_to_data(key.limits),
            "seed": key.seed,
            "status": str(self.status),
            **io.values_to_data(value=self.value, bound=self.bound, gap=self.gap),
            "proof": self.proof,
            "origin": io.value_to_data(self.origin),
            "installments": self.installments,
            "plan_class": self.plan_class,
            "runtime_s": self.runtime_s,
            "checked": self.checked,
            "tolerance": self.tolerance,
            "violations": self.violations,
            "reason": self.reason,
            "dlopt": key.dlopt,
            "solver": self.solver,
            "solver_version": self.solver_version,
            "picture": self.picture,
            "certificate": self.certificate,
            "certificate_bytes": self.certificate_bytes,
            "certificate_check": self.certificate_check,
        }
        if key.certified:  # lines of other runs are those of older releases
            data["certified"] = True
        return data if self.answer is None else data | {"answer": self.answer}

    @property
    def gap(self) -> Value | None:
        """See `dlopt.Result.gap`."""
        return Result(Status.UNKNOWN, value=self.value, bound=self.bound, origin=self.origin).gap


def _limits_to_data(limits: Limits) -> dict[str, object]:
    """Return limits as plain data; the keys of older releases, and others if they are given."""
    data = asdict(limits) | {"target_value": io.value_to_data(limits.target_value)}
    added = ("target_value", "no_improvement_s")
    return {name: value for name, value in data.items() if name not in added or value is not None}
