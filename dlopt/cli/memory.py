"""A command whose memory is bounded: it goes on in a child process, and the parent tells its end.

A solver that gets no memory ends its process without a word to Python.
"""

from __future__ import annotations

import signal

from dlopt.cli.child import CAN_FORK, ChildExit, go_on_in_child
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
    if not CAN_FORK:
        raise NotApplicableError("this operating system cannot bound memory (--memory)")
    end = go_on_in_child()
    if end is not None:
        raise SystemExit(exit_code_of(end, megabytes))
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (megabytes * _MEGABYTE,) * 2)


def exit_code_of(end: ChildExit, megabytes: int) -> int:
    """Return the exit code of a child that has ended, or raise what it died of."""
    if end.finished:
        return end.code
    if -end.code == signal.SIGABRT:  # what C++ does where memory is refused
        raise SolverError(f"out of memory, of {megabytes} MB")
    if end.signalled is not None:
        return end.signalled
    raise SolverError(f"the solver {end.description}")
