"""The process of a job, seen from inside: it answers one request after the other.

It gets the memory that it may have, in MB, then jobs (`JobInput`) and orders to stop (`STOP`), and
sends `Begun`, any number of `Progress`, and `Ended` for each job. Whatever goes wrong with a job is
an `Ended` with the reason.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dlopt import api, certificate_files, interruption, io, registry
from dlopt.batch.worker_process import Tell, answer_requests, bound_memory
from dlopt.certified_results import without_claim
from dlopt.errors import DloptError, MissingExtraError, NotApplicableError, described
from dlopt.formats import vipr
from dlopt.plain_data import comparison_to_data, verification_to_data
from dlopt.problems.validated_record import Header
from dlopt.result import Limits, Result, Status
from dlopt.serve.answers import JsonObject
from dlopt.serve.jobs.job_records import JobInput
from dlopt.temporary_files import temporary_folder

PROGRAM = "from dlopt.serve.jobs.worker_main import serve; serve()"
"""What the interpreter of a job runs."""
STOP = "stop"
"""The message that ends a request early: `dlopt.solve` then returns what it has."""
STOPPABLE = frozenset({"solve", "certificate"})
"""The kinds that end early with what they have; the process of the others is ended."""
_UNCHECKED = "certificates are checked at the end of the search"
"""What becomes of the bounds of a search that is to be certified, as long as it goes on."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A request is read, what answers it is imported, and its time limit begins."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A better checked result, or a better bound.

    Parameters
    ----------
    progress : dict
        Value, bound, gap, and seconds since the beginning.
    result : dict
        The result; without its key ``solution`` if that is the one sent before.
    """

    progress: JsonObject
    result: JsonObject


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a request.

    Parameters
    ----------
    reason : str or None
        Why there is no answer.
    result : dict or None
        The answer.
    progress : dict or None
        Value, bound, gap and seconds of the answer, if it is the result of a method.
    certificate : str or None
        The proof of the bound, as VIPR.
    is_proven : bool
        Whether the result is proven optimal, or that there is no plan.
    is_stopped : bool
        Whether it was asked to stop, and the result might have been better.
    is_reusable : bool
        Whether the process can take another request.
    """

    reason: str | None = None
    result: JsonObject | None = None
    progress: JsonObject | None = None
    certificate: str | None = None
    is_proven: bool = False
    is_stopped: bool = False
    is_reusable: bool = True


def serve() -> None:
    """Be the process of jobs: answer requests until the input ends."""
    stop = threading.Event()

    def prepare(memory_mb: int, tell: Tell) -> Callable[[JobInput], Ended]:
        bound_memory(memory_mb)
        return _Answerer(tell, stop, memory_mb).answer

    def note_stop(message: object) -> bool:
        if message == STOP:
            stop.set()
        return message == STOP

    answer_requests(prepare, note_stop)


class _Answerer:
    """Answers requests, and sends what is known on the way."""

    def __init__(self, tell: Tell, stop: threading.Event, memory_mb: int) -> None:
        self._tell = tell
        self._stop = stop
        self._memory_mb = memory_mb

    def answer(self, job: JobInput) -> Ended:
        """Answer a request; whatever goes wrong is an answer that says so."""
        self._stop.clear()
        try:
            ended = self._answer(job)
        except MissingExtraError as error:
            ended = Ended(f"the service cannot do this: {error}")
        except DloptError as error:
            ended = Ended(str(error))
        except MemoryError:
            # What is left of its memory may not be enough for the next request.
            reason = f"out of memory, of {self._memory_mb} MB"
            return Ended(reason, is_reusable=False)
        except Exception as error:
            return Ended(described(error), is_reusable=False)
        return replace(ended, is_reusable=not interruption.still_working())

    def _answer(self, job: JobInput) -> Ended:
        asked = json.loads(job.asked)
        kind = asked["kind"]
        if kind == "falsify":
            return self._falsify(asked)
        assert job.instance is not None
        instance = io.instance_from_data(json.loads(job.instance))
        if kind == "plot":
            self._tell(Begun())
            return _plot(instance, asked)
        if kind == "check":
            self._tell(Begun())
            plan = io.plan_from_data(asked["solution"], instance)
            found = api.check(instance, plan)
            return Ended(result=verification_to_data(instance, plan, found))
        if kind == "compare":
            return self._compare(instance, asked)
        return self._solve(instance, asked)

    def _solve(self, instance: Header, asked: JsonObject) -> Ended:
        registry.method(instance.problem, asked["method"]).load()
        hashed = io.instance_hash(instance)
        sent: list[object] = [None]
        certified = asked.get("certified", False)

        def progress(result: Result[Any]) -> None:
            stated = without_claim(result, _UNCHECKED) if certified else result
            data = io.result_to_data(instance, stated, known_hash=hashed)
            if result.solution is sent[0]:
                del data["solution"]
            sent[0] = result.solution
            with contextlib.suppress(OSError):  # nobody listens: the process is about to end
                self._tell(Progress(_progress_of(result), data))

        self._tell(Begun())
        result = api.solve(
            instance,
            asked["method"],
            objective=asked["objective"],
            limits=Limits(**asked["limits"]),
            seed=asked["seed"],
            progress=progress,
            stop=self._stop,
            certified=certified,
            **asked["options"],
        )
        certificate = None
        if result.certificate is not None:
            certificate = vipr.to_text(result.certificate)
        if asked["kind"] == "certificate" and not (certified and certificate):  # accepted, then
            _verify_certificate(instance, result)
        data = io.result_to_data(instance, result, known_hash=hashed)
        is_proven = result.status in (Status.OPTIMAL, Status.INFEASIBLE)
        return Ended(
            result=data,
            progress=_progress_of(result),
            certificate=certificate,
            is_proven=is_proven,
            is_stopped=self._stop.is_set() and not is_proven,
        )

    def _compare(self, instance: Header, asked: JsonObject) -> Ended:
        for entry in registry.methods(instance.problem):
            if asked["methods"] is None or entry.name in asked["methods"]:
                with contextlib.suppress(Exception):  # the comparison says what is wrong with it
                    entry.load()
        self._tell(Begun())
        compared = api.compare(
            instance,
            asked["methods"],
            objective=asked["objective"],
            limits=Limits(**asked["limits"]),
            seed=asked["seed"],
            certified=asked.get("certified", False),
            options=asked.get("options"),
        )
        return Ended(result=comparison_to_data(compared))

    def _falsify(self, asked: JsonObject) -> Ended:
        from dlopt.verify import falsify
        from dlopt.verify.found_counterexamples import search_to_data

        registry.method(asked["problem"], asked["method"]).load()
        self._tell(Begun())
        search = falsify(
            asked["problem"],
            asked["method"],
            claim=asked["claim"],
            target=asked["target"],
            objective=asked["objective"],
            seconds=asked["limits"]["time_s"],
            examples=asked["limits"]["work"],
            seed=asked["seed"],
            options=asked["options"] or None,
        )
        return Ended(result=search_to_data(search))


def _plot(instance: Header, asked: JsonObject) -> Ended:
    """Draw a result; the picture is the ``svg`` of the answer."""
    from dlopt.plotting import plot

    result = io.result_from_data(asked["result"], instance)
    with temporary_folder() as folder:
        path = folder / "plan.svg"
        plot(instance, result, path)
        return Ended(result={"svg": path.read_text(encoding="utf-8")})


def _verify_certificate(instance: Header, result: Result[Any]) -> None:
    """Verify the certificate of a result.

    Raises
    ------
    NotApplicableError
        If it has none, or that does not prove what it should.
    """
    found = certificate_files.check_own_certificate(instance, result)
    if found:
        raise NotApplicableError(f"the certificate does not prove the bound: {found[0]}")


def _progress_of(result: Result[Any]) -> JsonObject:
    known = {"value": result.value, "bound": result.bound, "gap": result.gap}
    progress = {key: io.value_to_data(value) for key, value in known.items()}
    return progress | {"seconds": result.runtime_s}
