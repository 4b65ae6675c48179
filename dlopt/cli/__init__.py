"""The command line: ``dlopt`` and ``python -m dlopt``.

This module imports only what Python has loaded already, so that a command can be interrupted from
its beginning: what it needs takes a third of a second to import.
"""

import os
import sys


def main() -> None:
    """Be the program ``dlopt``, see `dlopt.cli.program.main`; Ctrl-C during its imports ends it."""
    try:
        from dlopt.cli import program

        program.main()
    except KeyboardInterrupt:  # before the program handles signals, or after
        print_interrupted()
        sys.exit(130)


def print_interrupted(outcome: str = "interrupted") -> None:
    """Print that the command was ended, without the imports that other output needs."""
    import contextlib

    with contextlib.suppress(OSError):  # nobody reads it
        os.write(2, f"{outcome}\n".encode())
