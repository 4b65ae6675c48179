"""Solvers that run as processes of their own, which PuLP starts and exchanges files with.

Inside the context manager `managed_process`, a program that PuLP starts is a
`dlopt.child_processes.Child`: it ends with this process, and waiting for it can be interrupted. Its
files are in a temporary folder that is removed afterwards.
"""

from __future__ import annotations

import contextlib
import contextvars
import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pulp

from dlopt.child_processes import Child
from dlopt.temporary_files import temporary_folder

_FOLDER: contextvars.ContextVar[Path | None] = contextvars.ContextVar("folder", default=None)


@contextlib.contextmanager
def managed_process(command: Any) -> Iterator[None]:
    """Manage the process that a solver of PuLP starts, and its files.

    Parameters
    ----------
    command : pulp.LpSolver
    """
    if not isinstance(command, pulp.LpSolver_CMD):
        yield  # it runs in this process
        return
    _patch_pulp()
    with temporary_folder() as folder:
        command.tmpDir = str(folder)
        token = _FOLDER.set(folder)
        try:
            yield
        finally:
            _FOLDER.reset(token)


class _Subprocess:
    """Replaces the module `subprocess` in PuLP; outside `managed_process` it behaves like it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def Popen(self, command: Any, **options: Any) -> Any:  # noqa: N802 - the name in `subprocess`
        """Start a program."""
        folder = _FOLDER.get()
        if folder is None:
            return subprocess.Popen(command, **options)
        return Child(command, folder=folder, **options)

    def call(self, command: Any, **options: Any) -> int:
        """Run a program, and return its code."""
        with self.Popen(command, **options) as process:
            code: int = process.wait()
        return code

    def check_call(self, command: Any, **options: Any) -> int:
        """Run a program that must not fail."""
        code = self.call(command, **options)
        if code:
            raise subprocess.CalledProcessError(code, command)
        return code


@cache
def _patch_pulp() -> None:
    """Let PuLP start processes through `_Subprocess`: it has no option to get hold of them."""
    import pulp.apis

    for info in pkgutil.iter_modules(pulp.apis.__path__, "pulp.apis."):
        module: Any = sys.modules.get(info.name) or importlib.import_module(info.name)
        if getattr(module, "subprocess", None) is subprocess:
            module.subprocess = _Subprocess()
