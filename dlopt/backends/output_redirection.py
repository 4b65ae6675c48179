"""Redirects what solvers print from the standard output of the calling program to standard error.

HiGHS 1.12 prints a line of its own while it searches, whatever its options say, through the
``stdout`` of the C library (https://github.com/ERGO-Code/HiGHS/issues/2783). While a solver runs,
that variable refers to standard error. Python's ``sys.stdout`` and the file descriptor 1 are not
changed, so the output of other threads is not redirected.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Iterator
from functools import cache

_LOCK = threading.Lock()
_STREAM_NAMES = (("stdout", "stderr"), ("__stdoutp", "__stderrp"))
"""Names of the streams in the C library: of Linux, and of macOS."""


class _Redirection:
    """The C library's standard output, and the number of solvers that are running."""

    def __init__(self, out: ctypes.c_void_p, error: ctypes.c_void_p) -> None:
        self.out, self.error = out, error
        self.kept: int | None = None
        self.running = 0

    def enter(self) -> None:
        with _LOCK:
            if not self.running:
                self.kept, self.out.value = self.out.value, self.error.value
            self.running += 1

    def leave(self) -> None:
        with _LOCK:
            self.running -= 1
            if not self.running:
                self.out.value = self.kept


@contextlib.contextmanager
def solver_output_to_stderr() -> Iterator[None]:
    """Redirect what C code prints to standard error, in all threads, until the last solver ends.

    Where the C library does not export its streams, nothing is changed.

    Examples
    --------
    >>> with solver_output_to_stderr():
    ...     print("Python prints as ever")
    Python prints as ever
    """
    redirection = _redirection()
    if redirection is None:  # pragma: no cover - a C library without these names
        yield
        return
    redirection.enter()
    try:
        yield
    finally:
        redirection.leave()


@cache
def _redirection() -> _Redirection | None:
    for out, error in _STREAM_NAMES:
        with contextlib.suppress(ValueError, OSError, TypeError):
            library = ctypes.CDLL(None)
            return _Redirection(
                ctypes.c_void_p.in_dll(library, out), ctypes.c_void_p.in_dll(library, error)
            )
    return None  # pragma: no cover - a C library without these names
