"""A command whose memory is bounded: it goes on in a child process, and the parent tells its end.

A solver that gets no memory ends its process without a word to Python.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from types import FrameType

from dlopt.cli.console import Exit
from dlopt.errors import NotApplicableError, SolverError

_MEGABYTE = 2**20


def bounded(megabytes: int | None) -> None:
    """Go on in a child process that has so much memory at the most; the parent never returns.

    What is counted is what is written to, threads' stacks included; what a solver only reserves is
    not (``RLIMIT_DATA``).

    Parameters
    ----------
    megabytes : int or None
        None leaves everything as it is.

    Raises
    ------
    NotApplicableError
        If it is not positive, or the operating system cannot bound memory.
    SolverError
        In the parent, if the child was ended for its memory, or died.
    SystemExit
        In the parent, with the child's exit code.
    """
    if megabytes is None:
        return
    if megabytes <= 0:
        raise NotApplicableError(f"--memory must be positive, got {megabytes}")
    if not hasattr(os, "fork"):
        raise NotApplicableError("this operating system cannot bound memory (--memory)")
    sys.stdout.flush()
    ours, theirs = os.pipe()
    child = os.fork()
    if child:
        os.close(ours)  # the other end stays open as long as this process lives
        raise SystemExit(_told(_end_of(child), megabytes))
    os.close(theirs)
    os.setpgid(0, 0)  # Ctrl-C at a terminal is passed on by the parent, once
    threading.Thread(target=_end_with_parent, args=(ours,), daemon=True).start()
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (megabytes * _MEGABYTE,) * 2)


def _end_with_parent(pipe: int) -> None:
    os.read(pipe, 1)  # nothing is ever written
    os.kill(os.getpid(), signal.SIGKILL)


def _end_of(child: int) -> int:
    """Wait for a child, pass on to it what ends a command, and return its exit code."""

    def pass_on(number: int, _frame: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _told(code: int, megabytes: int) -> int:
    if code >= 0:
        return code
    if -code == signal.SIGABRT:  # what C++ does where memory is refused
        raise SolverError(f"out of memory, of {megabytes} MB")
    if -code in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        return Exit.INTERRUPTED if -code == signal.SIGINT else 128 - code
    raise SolverError(f"the solver died of {signal.Signals(-code).name}")
