"""`dlopt serve` in a process of its own, for tests that need a real server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]
DLOPT = [sys.executable, "-c", "from dlopt.cli import main; main()"]
STOP_S = 60
"""Seconds until a server that does not stop fails the test; it needs less than one."""


class RunningService:
    """A server on a free port of the loopback, with a store of its own.

    Parameters
    ----------
    folder : Path
        Where the store is.
    *options : str
        Further options of `dlopt serve`.
    """

    def __init__(self, folder: Path, *options: str) -> None:
        command = [*DLOPT, "serve", "--port", "0", "--store", str(folder / "service.db"), *options]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        found = re.search(r"http://\S+", self._process.stdout.readline())
        if found is None:
            raise AssertionError(f"the service does not start: exit code {self.stop()}")
        self.address = found.group()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    @property
    def process_id(self) -> int:
        """The process of the server."""
        return self._process.pid

    def kill(self) -> None:
        """End the server by SIGKILL."""
        self._process.kill()
        self._ended()

    def stop(self) -> int:
        """Stop the server as systemd does, and return its exit code."""
        if self._process.returncode is None:
            self._process.terminate()
        return self._ended()

    def _ended(self) -> int:
        code = self._process.wait(STOP_S)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return code
