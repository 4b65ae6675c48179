"""Named pipes that say when a process has begun, and when all that hold them open have ended."""

from __future__ import annotations

import os
import select
from pathlib import Path

PATIENCE = 120
"""Seconds after which what should have happened counts as never."""


class Gate:
    """A named pipe in which a process says that it is at work, and which ends when it does."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def read(self) -> bytes:
        """Return what is told; nothing if all that held the pipe have ended."""
        ready, _, _ = select.select([self._pipe], [], [], PATIENCE)
        assert ready, "nothing was told"
        return os.read(self._pipe, 1)
