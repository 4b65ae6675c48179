"""Child processes that end when the process that started them ends, in whatever way.

`Child` is for programs, `end_with_parent` for the workers of a pool of `multiprocessing`. Neither
relies on the starting process being able to clean up: it may have been killed. `processors` says
how many of them can run at the same time.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from dlopt import supervisor, temporary_files

KEPT = os.name == "posix" and bool(sys.executable)
"""Whether programs run under `dlopt.supervisor`; without, they may outlive this process."""
_PAUSE_S = 1.0
"""Seconds after which a wait looks at whether somebody still waits."""
_TRIES = 10

_RUNNING: weakref.WeakSet[Child] = weakref.WeakSet()


class Child(subprocess.Popen[Any]):
    """A program that ends with this process, and with it all that it has started.

    It leads a session of its own, so that Ctrl-C at a terminal is for this process alone. Signals
    go to its whole group, and so does the end: when it has been waited for, nothing of its group
    is left, unless that began a session of its own.

    Parameters
    ----------
    command : sequence of str or str
        As for `subprocess.Popen`.
    folder : path-like, optional
        Removed if this process is killed, and cannot do it itself.
    **options : object
        As for `subprocess.Popen`.
    """

    _owner = -1
    _swept = False

    def __init__(
        self,
        command: Sequence[str] | str,
        *,
        folder: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> None:
        if not KEPT:  # pragma: no cover - Windows, or Python inside another program
            super().__init__(command, **options)
        else:
            words = [command] if isinstance(command, str) else list(command)
            if options.pop("shell", False):
                words = ["/bin/sh", "-c", *words]
            keep = [sys.executable, "-I", "-S", supervisor.__file__, str(os.getpid())]
            where = "" if folder is None else os.fspath(folder)
            options["start_new_session"] = True
            super().__init__([*keep, where, *words], **options)
        self._owner = os.getpid()
        _RUNNING.add(self)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is not None:  # nobody waits any longer
            self.kill()
        super().__exit__(kind, value, trace)

    def send_signal(self, sig: int) -> None:
        """Send a signal to the program and its group; once it has ended, kill what is left."""
        if self.poll() is None:
            self._send_to_group(sig)
        else:
            self._sweep()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; kill what is left of the group then, or if the wait is broken off."""
        try:
            code = self._awaited() if timeout is None else super().wait(timeout)
        except subprocess.TimeoutExpired:
            raise
        except BaseException:  # nobody waits any longer
            self.kill()
            for _ in range(_TRIES):  # it ends in no time, but this thread may be interrupted again
                with contextlib.suppress(BaseException):
                    super().wait()
                    break
            raise
        self._sweep()
        return code

    def _awaited(self) -> int:
        """Wait without end, but in Python, where a wait can be broken off."""
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return super().wait(_PAUSE_S)

    def _sweep(self) -> None:
        """Kill what is left of the group, once: later its number may be that of another one."""
        if not self._swept:
            self._swept = True
            self._send_to_group(signal.SIGKILL)

    def _send_to_group(self, sig: int) -> None:
        if self._owner != os.getpid():
            return  # a fork of the process that started it
        if not KEPT:  # pragma: no cover - Windows
            if self.returncode is None:
                super().send_signal(sig)
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, sig)


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # pragma: no cover - not on Linux


@atexit.register
def end_all() -> None:
    """End every `Child` of this process, which is about to end; remove its temporary folders."""
    for child in list(_RUNNING):
        child.kill()
    temporary_files.remove_own_folders()


def end_with_parent() -> None:
    """Let this process, of a pool of `multiprocessing`, end as soon as its parent has ended.

    It is an ``initializer`` for the pool. A process of a pool waits for work on a pipe of which it
    holds both ends, and so does not hear that nobody is there to send any.
    """
    import multiprocessing
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="dlopt-parent", daemon=True).start()
    if hasattr(signal, "pthread_sigmask"):
        # Ctrl-C stays blocked if it was: it is for the parent, which ends the pool.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGHUP})
