"""A worker: a process of its own that solves one run after the other and may die of it."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass

from dlopt.batch.messages import request
from dlopt.batch.records import Failure, Record
from dlopt.batch.runs import Reply, Run, solve_run
from dlopt.batch.worker_process import Tell, WorkerProcess, answer_requests, bound_memory
from dlopt.errors import NotApplicableError
from dlopt.registry import load_methods

_PROGRAM = "from dlopt.batch.worker import serve; serve()"


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What all workers of a batch have in common.

    Parameters
    ----------
    batch_id : str
        Tells runs apart in processes that live longer than one.
    memory_mb : int, optional
        A worker may have so much memory, in MB.
    modules : tuple of str
        Imported before anything is solved, for the methods that they register.
    """

    batch_id: str = ""
    memory_mb: int | None = None
    modules: tuple[str, ...] = ()


class Worker:
    """The near end of a worker process. It is started on use, and again after it has died.

    Attributes
    ----------
    process : subprocess.Popen or None
        None until the first use, and after an end.

    Examples
    --------
    >>> from dlopt import read
    >>> from dlopt.batch.experiment import plan_runs
    >>> (run,) = plan_runs([read("instances/iit/three-nodes.json")], ["opr"]).runs
    >>> worker = Worker(WorkerSettings())
    >>> worker.ask(run).record.value
    Fraction(32, 5)
    >>> worker.close()
    """

    def __init__(self, setting: WorkerSettings) -> None:
        self._setting = setting
        self._process: WorkerProcess | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._in_use = threading.RLock()  # whoever holds it uses the pipes

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The process, if there is one."""
        return None if self._process is None else self._process.child

    def ask(self, run: Run) -> Reply:
        """Return what comes of a run; if the worker dies of it, or is ended, a record says so."""
        with self._in_use:
            return self._ask(run)

    def _ask(self, run: Run) -> Reply:
        try:
            process = self._running(run.key.limits.threads)
        except (OSError, EOFError):
            reply = Reply(self._crashed(run))
            self._end()
            return reply
        if process is None:
            return Reply(run.failure_record(Failure.CRASHED, "cancelled: the batch was ended"))
        try:
            reply = request(process, run, run.total_timeout_s)
        except TimeoutError:
            reason = f"ended after {run.total_timeout_s:g} s"
            reply = Reply(run.failure_record(Failure.TIMEOUT, reason))
            self._end()
        except (OSError, EOFError):
            reply = Reply(self._crashed(run))
            self._end()
        if reply.record.status is Failure.OUT_OF_MEMORY:
            self._end()  # what is left of its memory may not be enough for the next run
        return reply

    def close(self) -> None:
        """End the process, whatever it is at, for good. May be called from another thread."""
        with self._lock:
            self._closed = True
        self._end()

    def _running(self, threads: int) -> subprocess.Popen[bytes] | None:
        if self.process is not None and self.process.poll() is not None:
            self._end()  # it died between two runs, and of neither
        with self._lock:
            if self._closed:
                return None
            process, begun = self._process, self._process is None
            if process is None:
                process = self._process = WorkerProcess(_PROGRAM, threads)
        if begun:
            # It answers when it is ready, so that no run pays for it.
            request(process.child, self._setting)
        process.clear_stderr()
        return process.child

    def _crashed(self, run: Run) -> Record:
        process = self._process
        if process is None:
            return run.failure_record(Failure.CRASHED, "the worker ended with code 0")
        end = process.end(self._setting.memory_mb)
        if end.out_of_memory:
            return run.failure_record(Failure.OUT_OF_MEMORY, end.description)
        return run.failure_record(Failure.CRASHED, f"the worker {end.description}")

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
        with self._in_use:  # after whoever reads: the number of a pipe is soon another's
            if process is not None:
                process.close()


def serve() -> None:
    """Be a worker: answer until the batch ends."""
    answer_requests(_prepare)


def _prepare(settings: WorkerSettings, _tell: Tell) -> Callable[[Run], Reply]:
    """Bound the memory and import the modules; return what solves, or says what is wrong."""
    bound_memory(settings.memory_mb)
    try:
        for module in settings.modules:
            load_methods(module)
    except NotApplicableError as error:
        wrong = str(error)
        return lambda run: Reply(run.failure_record(Failure.FAILED, wrong))
    return solve_run
