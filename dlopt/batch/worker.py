"""A worker: a process of its own that solves one run after the other and may die of it.

It is a fresh interpreter, started by name and not by `multiprocessing`: it may be started from
threads, from the workers of a cluster, and from scripts without a guard. It reads runs from its
standard input, and answers on what was its standard output. It ends with the process that started
it, however that ends, and so does all that it has started; see `dlopt.child_processes`.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Any

from dlopt import child_processes
from dlopt.batch.messages import receive, request, send
from dlopt.batch.records import Failure, Record
from dlopt.batch.runs import Reply, Run, load_module, solve_run
from dlopt.errors import NotApplicableError
from dlopt.temporary_files import temporary_folder

_PROGRAM = "from dlopt.batch.worker import serve; serve()"
_MAX_STDERR_CHARS = 300
"""Characters of what a worker last said that stand in the reason of its end."""
_MAX_STDERR_BYTES = 65_536
"""Bytes of what it said that are looked at, from the end."""
_SHUTDOWN_WAIT_S = 2.0
"""Seconds in which a worker whose pipes are closed ends, or is ended by its supervisor."""


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
        self.process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._in_use = threading.RLock()  # whoever holds it uses the pipes
        self._stderr: IO[bytes] | None = None
        self._owned = ExitStack()
        self._asked = self._late = False

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
        timer = self._start_timer(process, run.total_timeout_s)
        try:
            reply = request(process, run)
            late = self._stop_timer(timer)
        except (OSError, EOFError):
            late = self._stop_timer(timer)
            reply = Reply(
                run.failure_record(Failure.TIMEOUT, f"ended after {run.total_timeout_s:g} s")
                if late
                else self._crashed(run)
            )
            self._end()
        if late:
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
            process, begun = self.process, self.process is None
            if process is None:
                self._stderr = self._owned.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
                folder = self._owned.enter_context(temporary_folder())
                process = self.process = _start(threads, self._stderr, str(folder))
        if begun:
            request(process, self._setting)  # answers when it is ready, so that no run pays for it
        assert self._stderr is not None
        self._stderr.truncate(0)
        self._stderr.seek(0)
        return process

    def _start_timer(
        self, process: subprocess.Popen[bytes], total_timeout_s: float | None
    ) -> threading.Timer | None:
        """End the process after a time, unless `_stop_timer` is called before."""
        self._asked, self._late = True, False
        if total_timeout_s is None:
            return None

        def overrun() -> None:
            with self._lock:  # an answer that is here at the same moment has come in time
                if self._asked:
                    self._late = True
                    process.kill()

        timer = threading.Timer(min(total_timeout_s, threading.TIMEOUT_MAX), overrun)
        timer.daemon = True
        timer.start()
        return timer

    def _stop_timer(self, timer: threading.Timer | None) -> bool:
        """Stop watching; return whether the process was ended for its time."""
        with self._lock:
            self._asked = False
        if timer is not None:
            timer.cancel()
        return self._late

    def _crashed(self, run: Run) -> Record:
        process = self.process
        code = 0
        if process is not None:
            try:
                code = process.wait(_SHUTDOWN_WAIT_S)
            except subprocess.TimeoutExpired:  # it has closed its pipes, and lives
                process.kill()
                code = process.wait()
        said = self._last_stderr_line()
        limit = self._setting.memory_mb
        if limit is not None and (code == -signal.SIGABRT or "bad_alloc" in said):
            # A solver that gets no memory aborts.
            return run.failure_record(
                Failure.OUT_OF_MEMORY, f"out of memory, of {limit} MB: {said}"
            )
        return run.failure_record(
            Failure.CRASHED, f"the worker {_exit_description(code)}{said and ': '}{said}"
        )

    def _last_stderr_line(self) -> str:
        if self._stderr is None:
            return ""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _MAX_STDERR_BYTES))
        lines = self._stderr.read().decode(errors="replace").split("\n")
        words = [line.strip() for line in lines if line.strip()]
        return words[-1][:_MAX_STDERR_CHARS] if words else ""

    def _end(self) -> None:
        with self._lock:
            process, self.process = self.process, None
            self._stderr = None
            owned = self._owned.pop_all()
        if process is not None:
            process.kill()
            process.wait()
        with self._in_use:  # after whoever reads: the number of a pipe is soon another's
            if process is not None:
                for pipe in (process.stdin, process.stdout):
                    with contextlib.suppress(OSError):
                        assert pipe is not None
                        pipe.close()
            owned.close()


def serve() -> None:
    """Be a worker: answer until the batch ends."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what a solver prints is no answer
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def read() -> None:
        # In a thread of its own, which hears of the end of the input even while a solver works.
        with contextlib.suppress(OSError, EOFError):
            while True:
                waiting.put(receive(requests))
        if child_processes.KEPT:
            time.sleep(_SHUTDOWN_WAIT_S)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    setting: WorkerSettings = waiting.get()
    wrong = _prepare(setting)
    send(answers, None)
    own = os.getpid()
    while True:
        run: Run = waiting.get()
        failed = None if wrong is None else Reply(run.failure_record(Failure.FAILED, wrong))
        reply = failed or solve_run(run)
        if os.getpid() != own:
            os._exit(0)  # a method has forked, and comes back twice
        send(answers, reply)


def _prepare(setting: WorkerSettings) -> str | None:
    """Bound the memory and import the modules; return what is wrong with them."""
    if setting.memory_mb is not None:
        with contextlib.suppress(ImportError):  # Windows
            import resource

            # What is written to, threads' stacks included; RLIMIT_AS would count what a solver
            # only reserves.
            most = setting.memory_mb * 2**20
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    try:
        for module in setting.modules:
            load_module(module)
    except NotApplicableError as error:
        return str(error)
    return None


def _start(threads: int, stderr: IO[bytes], folder: str) -> subprocess.Popen[bytes]:
    counts = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    return child_processes.Child(
        [sys.executable, "-c", _PROGRAM],
        folder=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=os.environ | counts | {"PYTHONPATH": paths, "TMPDIR": folder},
    )


def _exit_description(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was killed by {name}"
