"""A run is one method on one instance within limits: the unit of work, and how it is done."""

from __future__ import annotations

import functools
import io as streams
import pickle
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dlopt import api, io
from dlopt.api import InvalidResultError
from dlopt.batch.records import ACCEPTED, Failure, Record, RunKey
from dlopt.certificate_files import certificate_text, check_own_certificate
from dlopt.errors import DloptError, NotApplicableError, described, shortened
from dlopt.problems.validated_record import Header
from dlopt.result import Result, Status
from dlopt.version import __version__

_DRAWING_TIME_S = 60.0
"""Seconds more that a run may take if it is drawn."""
_CERTIFICATE_TIME_S = 60.0
"""Seconds more that a run may take if its certificate is written and checked."""


@dataclass(frozen=True, slots=True)
class Run:
    """One method on one instance, as it is handed to a worker.

    Parameters
    ----------
    key : RunKey
    instance, family, kind, claim : str
        See `Record`.
    payload : bytes
        The instance, pickled: the worker may be on another machine. Runs of one instance share it.
    hard_timeout_s : float, optional
        Its worker is ended after so many seconds.
    picture : bool
        Whether its plan is to be drawn.
    certificate : bool
        Whether the certificate of its bound is to be written and checked.
    """

    key: RunKey
    instance: str
    family: str
    kind: str
    claim: str
    payload: bytes
    hard_timeout_s: float | None = None
    picture: bool = False
    certificate: bool = False

    @property
    def total_timeout_s(self) -> float | None:
        """Seconds after which the worker is ended, drawing and certificate included."""
        if self.hard_timeout_s is None:
            return None
        drawing, certificate = self.picture, self.certificate
        return self.hard_timeout_s + _DRAWING_TIME_S * drawing + _CERTIFICATE_TIME_S * certificate

    def record(self, status: Status | Failure) -> Record:
        """Return the record of the run, without what its result adds."""
        return Record(self.key, self.instance, self.family, self.kind, self.claim, status)

    def failure_record(self, status: Failure, reason: str) -> Record:
        """Return the record of a run that has no result."""
        return replace(self.record(status), reason=shortened(reason))


class Reply(NamedTuple):
    """What a worker sends back: the record, its files, and seconds from end to end."""

    record: Record
    picture: bytes | None = None
    elapsed_s: float = 0.0
    certificate: bytes | None = None


def solve_run(run: Run) -> Reply:
    """Solve a run; whatever goes wrong is a record that says so.

    Examples
    --------
    >>> from dlopt.batch.experiment import plan_runs
    >>> instance = io.read("instances/iit/three-nodes.json")
    >>> (run,) = plan_runs([instance], ["opr"]).runs
    >>> record = solve_run(run).record
    >>> print(record.status, record.value, record.checked)
    feasible 32/5 True
    """
    key = run.key
    if key.dlopt != __version__:
        text = f"the worker has dlopt {__version__}, the run has {key.dlopt}"
        return Reply(run.failure_record(Failure.FAILED, text))
    try:
        instance = _unpickle(run.payload)
        result = api.solve(
            instance,
            key.method,
            objective=key.objective,
            limits=key.limits,
            seed=key.seed,
            certified=key.certified,
            **dict(key.options),
        )
        record, certificate = _with_certificate(run, instance, result)
        record.to_line()  # a number that is too long for a line fails here, not in the batch
    except InvalidResultError as error:
        return Reply(_invalid(run, error))
    except NotApplicableError as error:
        return Reply(run.failure_record(Failure.NOT_APPLICABLE, str(error)))
    except DloptError as error:
        return Reply(run.failure_record(Failure.FAILED, str(error)))
    except MemoryError:
        return Reply(run.failure_record(Failure.OUT_OF_MEMORY, "out of memory"))
    except Exception as error:  # the batch goes on whatever it is
        return Reply(run.failure_record(Failure.FAILED, described(error)))
    drawing = _drawing(instance, result) if run.picture and result.solution is not None else None
    return Reply(record, drawing, certificate=certificate)


@functools.lru_cache(maxsize=4)
def _unpickle(payload: bytes) -> Header:
    instance: Header = pickle.loads(payload)
    return instance


def _record_of(run: Run, result: Result[object]) -> Record:
    return replace(
        run.record(result.status),
        value=result.value,
        bound=result.bound,
        plan_class=result.plan_class,
        runtime_s=result.runtime_s,
        tolerance=None if result.solution is None else result.tolerance,
        violations=len(result.violations),
        reason=None if result.reason is None else shortened(result.reason),
        solver=result.solver,
        solver_version=result.solver_version,
        proof=result.proof,
        origin=result.origin,
        installments=result.installments,
    )


def _invalid(run: Run, error: InvalidResultError) -> Record:
    """Return the record of an invalid result, with the result if it can be written."""
    record = run.failure_record(Failure.INVALID, str(error))
    complete = replace(
        record,
        violations=len(error.result.violations),
        answer={
            "instance": io.instance_to_data(error.instance),
            "result": io.result_to_data(error.instance, error.result),
        },
    )
    try:
        complete.to_line()
    except ValueError:  # infinite, or of too many digits
        return replace(record, violations=len(error.result.violations))
    return complete


def _with_certificate(
    run: Run, instance: Header, result: Result[object]
) -> tuple[Record, bytes | None]:
    """Return the record of a result, and its certificate if it has one that is asked for."""
    record = _record_of(run, result)
    if not run.certificate or result.certificate is None:
        return record, None
    # A run that was asked for certificates has only those that have been accepted.
    found = () if run.key.certified else check_own_certificate(instance, result)
    outcome = shortened(f"refused: {found[0]}") if found else ACCEPTED
    record = replace(record, certificate_check=outcome)
    try:
        text = certificate_text(result).encode()
    except ValueError:  # it is refused, because it cannot be written
        return record, None
    return replace(record, certificate_bytes=len(text)), text


def _drawing(instance: Header, result: Result[Any]) -> bytes | None:
    """Return the drawing of a plan, or None if there is none."""
    from dlopt.plotting import plot

    drawing = streams.BytesIO()
    try:
        plot(instance, result).savefig(drawing, format="svg", metadata={"Date": None})
    except Exception:  # a picture is only a help; `dlopt plot` says what is wrong with it
        return None
    return drawing.getvalue()
