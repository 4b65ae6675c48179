"""Signals that ask a command to end: it ends in order if it can, and soon in any case.

Python raises `KeyboardInterrupt` wherever the main thread is, and code of others may lose it there:
an import under a bare ``except``, a pool that is being shut down.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from dlopt.cli import child
from dlopt.interruption import is_importing

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_PAUSE_S = 0.05
"""Seconds after which a signal that came during an import is raised again."""
_ORDER_S = 2.5
"""Seconds that a command has to end in order."""


class Signals:
    """The signals that have come; they are heard from `heard` on."""

    def __init__(self) -> None:
        self.first: int | None = None
        self.is_reported = False
        self._heard = False

    @property
    def code(self) -> int:
        """The exit code of a command that was ended: 128 and the number of the signal."""
        return 128 + (self.first or signal.SIGINT)

    @property
    def outcome(self) -> str:
        """What has happened to it."""
        return "interrupted" if self.code == 128 + signal.SIGINT else "terminated"

    @contextlib.contextmanager
    def heard(self) -> Iterator[None]:
        """Let each of them end the block by `KeyboardInterrupt`."""
        before: dict[int, Any] = {}
        self._heard = True
        for name in _NAMES:
            number = getattr(signal, name, None)
            if number is None:  # pragma: no cover - Windows
                continue
            with contextlib.suppress(ValueError):  # not in the main thread
                if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                    before[number] = signal.signal(number, self._come)
        try:
            yield
        finally:
            self._heard = False
            for number, handler in before.items():
                signal.signal(number, handler)

    def _come(self, number: int, frame: FrameType | None) -> None:
        if self.first is None:
            self.first = number
            # Not by `threading`, whose locks this thread may hold.
            _thread.start_new_thread(self._end_soon, ())
        if is_importing(frame):  # half a module would be left, or the interrupt be lost
            _thread.start_new_thread(self._again, (number,))
            return
        raise KeyboardInterrupt

    def _again(self, number: int) -> None:
        time.sleep(_PAUSE_S)
        if self._heard:  # else the command has ended meanwhile
            signal.raise_signal(number)

    def _end_soon(self) -> None:
        time.sleep(_ORDER_S)
        known = sys.modules.get("dlopt.child_processes")
        if known is not None:
            known.end_all()
        with contextlib.suppress(OSError):
            if not self.is_reported:  # a command may report it, and then take long to end
                os.write(2, f"{self.outcome}\n".encode())
        child.finished(self.code)
        os._exit(self.code)
