"""Ctrl-C at any time after the first line of a command: one line, and exit code 130."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

INTERRUPTED_IMPORT = """
import signal, sys

class Interruption:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interruption())
sys.argv = ["dlopt", "falsify", "bag", "edf", "--seconds", "60"]
from dlopt.cli import main
main()
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


@pytest.mark.parametrize(
    "module", ["dlopt.cli.program", "dlopt.cli.signals", "dlopt.interruption", "typer"]
)
def test_a_command_that_is_interrupted_during_its_imports_ends_in_order(module: str) -> None:
    done = run(INTERRUPTED_IMPORT.format(module=module))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_the_first_module_of_the_command_needs_no_others() -> None:
    imported = "set(sys.modules)"
    done = run(
        f"import sys, os, __future__; known = {imported}; import dlopt.cli;"
        f"print(*sorted({imported} - known))"
    )
    assert done.stdout.split() == ["dlopt", "dlopt.cli", "dlopt.version"]
