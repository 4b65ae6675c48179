"""The process of a worker: how it starts, what it is allowed, and how its end is described.

It is a fresh interpreter, started by name and not by `multiprocessing`: it may be started from
threads, from the workers of a cluster, and from scripts without a guard. It reads messages from its
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
from collections.abc import Callable
from contextlib import ExitStack
from typing import IO, Any, NamedTuple, NoReturn, TypeAlias, TypeVar

from dlopt import child_processes
from dlopt.batch.messages import receive, send
from dlopt.temporary_files import temporary_folder

_MAX_STDERR_CHARS = 300
"""Characters of the last line on standard error that stand in the reason of an end."""
_MAX_STDERR_BYTES = 65_536
"""Bytes of standard error that are looked at, from the end."""
_SHUTDOWN_WAIT_S = 2.0
"""Seconds in which a worker whose pipes are closed ends, or is ended by its supervisor."""


class ProcessEnd(NamedTuple):
    """How a worker process has ended.

    Parameters
    ----------
    out_of_memory : bool
        Whether it died because it got no more memory.
    description : str
        ``was killed by SIGKILL``, ``ended with code 3``, and its last line on standard error.
    """

    out_of_memory: bool
    description: str


class WorkerProcess:
    """A program in an interpreter of its own, with a pipe in each direction.

    Parameters
    ----------
    program : str
        Python code that calls `answer_requests`.
    threads : int
        Of numerical libraries.

    Attributes
    ----------
    child : Child
        Its standard input and output are pipes for `dlopt.batch.messages`.

    Raises
    ------
    OSError
        If it cannot be started.
    """

    def __init__(self, program: str, threads: int = 1) -> None:
        with ExitStack() as owned:
            self._stderr: IO[bytes] = owned.enter_context(tempfile.TemporaryFile())
            folder = str(owned.enter_context(temporary_folder()))
            counts = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
            paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
            self.child = child_processes.Child(
                [sys.executable, "-c", program],
                folder=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=os.environ | counts | {"PYTHONPATH": paths, "TMPDIR": folder},
            )
            self._owned = owned.pop_all()

    def clear_stderr(self) -> None:
        """Forget what it has written on standard error: it is of an earlier request."""
        self._stderr.truncate(0)
        self._stderr.seek(0)

    def end(self, memory_mb: int | None) -> ProcessEnd:
        """Wait for the end of a process that has closed its pipes, and describe it.

        Parameters
        ----------
        memory_mb : int or None
            The memory that it was allowed.
        """
        try:
            code = self.child.wait(_SHUTDOWN_WAIT_S)
        except subprocess.TimeoutExpired:  # it has closed its pipes, and lives
            code = self.kill()
        last = self._last_stderr_line()
        if memory_mb is not None and (code == -signal.SIGABRT or "bad_alloc" in last):
            # A solver that gets no memory aborts.
            return ProcessEnd(True, f"out of memory, of {memory_mb} MB: {last}")
        return ProcessEnd(False, f"{_exit_description(code)}{last and ': '}{last}")

    def kill(self) -> int:
        """End the process, and all that it has started; return its exit code."""
        self.child.kill()
        return self.child.wait()

    def close(self) -> None:
        """Close the pipes of a process that has ended, and remove its temporary files."""
        for pipe in (self.child.stdin, self.child.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()
        self._owned.close()

    def _last_stderr_line(self) -> str:
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _MAX_STDERR_BYTES))
        lines = self._stderr.read().decode(errors="replace").split("\n")
        words = [line.strip() for line in lines if line.strip()]
        return words[-1][:_MAX_STDERR_CHARS] if words else ""


SettingsT = TypeVar("SettingsT")
RequestT = TypeVar("RequestT")
Tell: TypeAlias = Callable[[object], None]
"""Sends a message to the process that asks; threads may call it at the same time."""


def answer_requests(
    prepare: Callable[[SettingsT, Tell], Callable[[RequestT], object]],
    intercept: Callable[[object], bool] = lambda _: False,
) -> NoReturn:
    """Be a worker: prepare, say so, and answer one request after the other until there is no more.

    Parameters
    ----------
    prepare : callable
        Takes the first message, and what sends messages before an answer; returns what answers
        requests.
    intercept : callable
        Is called with each message as soon as it is there, in another thread, even while a request
        is being answered. Returns whether the message is no request.
    """
    # What solvers print is no answer, and what they read is no request.
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sending = threading.Lock()

    def tell(message: object) -> None:
        with sending:
            send(answers, message)

    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def receive(message: object) -> None:
        if not intercept(message):
            waiting.put(message)

    threading.Thread(target=_receive_all, args=(requests, receive), daemon=True).start()
    answer = prepare(waiting.get(), tell)
    tell(None)
    own = os.getpid()
    while True:
        answered = answer(waiting.get())
        if os.getpid() != own:
            os._exit(0)  # a method has forked, and comes back twice
        tell(answered)


def _receive_all(requests: IO[bytes], handle: Callable[[object], None]) -> None:
    """Hand over each message that this worker gets; end the process once there will be no more.

    It is for a thread of its own, which learns of the end of the input even while a solver works.
    A worker whose method has closed the pipe is left to the process that asks, which kills it.
    """
    try:
        while True:
            handle(receive(requests))
    except EOFError:
        pass
    except OSError:
        return
    if child_processes.KEPT:
        time.sleep(_SHUTDOWN_WAIT_S)
    os._exit(0)


def bound_memory(megabytes: int | None) -> None:
    """Bound the memory of this process; None leaves it as it is."""
    if megabytes is not None:
        with contextlib.suppress(ImportError):  # Windows
            import resource

            # What is written to, threads' stacks included; RLIMIT_AS would count what a solver
            # only reserves.
            most = megabytes * 2**20
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _exit_description(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was killed by {name}"
