"""The program: runs the command that is called, and ends with one message and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

from dlopt.cli import child, print_interrupted
from dlopt.cli.signals import Signals


def main() -> None:
    """Be the program ``dlopt``: run a command, code of others in a child process.

    Whatever a user can cause ends in one message and an exit code.
    """
    run(aside=child.CAN_FORK and bool(child.code_of_others(sys.argv[1:])))


def run(*, aside: bool = False) -> None:
    """Run a command, in this process or, `aside`, in a child; exit with its code."""
    _open_streams()
    signals = Signals()
    with signals.heard():
        try:
            end = child.go_on_in_child() if aside else None
            code = _run(signals) if end is None else _exit_code_of(end)
        except KeyboardInterrupt:  # between imports
            signals.is_reported = True
            print_interrupted(signals.outcome)
            code = signals.code
        except SystemExit as ended:  # in the parent of a child with bounded memory
            code = ended.code if isinstance(ended.code, int) else 1
    child.finished(code)
    sys.exit(code)


def _exit_code_of(end: child.ChildExit) -> int:
    """Return the exit code of a command in a child; print an error if it ended too early."""
    if end.finished:
        return end.code
    if end.signalled is not None:
        return end.signalled
    from dlopt.cli.console import print_error
    from dlopt.errors import NotApplicableError, SolverError

    kind = SolverError if end.code < 0 else NotApplicableError
    return print_error(
        kind(f"the program {end.description}, in code of {child.code_of_others(sys.argv[1:])}")
    )


def _run(signals: Signals) -> int:
    import typer

    from dlopt.cli import json_output
    from dlopt.cli.app import called_command
    from dlopt.cli.console import (
        Exit,
        discard_output,
        err,
        ignoring_closed_output,
        noting_warnings,
        print_error,
        still_working,
    )
    from dlopt.errors import DloptError, printable

    try:
        with noting_warnings():
            code = called_command(sys.argv[1:])(standalone_mode=False, prog_name="dlopt")
        with ignoring_closed_output():
            sys.stdout.flush()
    except DloptError as error:
        code = print_error(error)
    except _usage_error() as error:
        error.message = printable(error.message)
        if json_output.is_wanted():
            _print_problem("Wrong usage", error.format_message())
        else:
            error.show()
        code = Exit.BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        code = Exit.INTERRUPTED
    except MemoryError:
        os.write(2, b"error: out of memory\n")  # layout may need what there is not
        code = Exit.NO_ANSWER
    except OSError as error:
        text = error.strerror or str(error)
        if json_output.is_wanted():
            _print_problem("Input or output failed", text)
        else:
            err.print(f"error: {text}", markup=False)
        discard_output()
        code = Exit.BAD_INPUT
    if code == Exit.INTERRUPTED:  # typer itself turns Ctrl-C into this code
        signals.is_reported = True
        err.print(signals.outcome)
        code = signals.code
    if still_working():  # a solver hears of no signal and would not end
        from dlopt import child_processes

        child_processes.end_all()
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        child.finished(int(code or 0))
        os._exit(int(code or 0))
    return int(code or 0)


def _print_problem(title: str, detail: str) -> None:
    """Print an error that is no `DloptError` as JSON."""
    from dlopt.cli import json_output
    from dlopt.cli.console import Exit
    from dlopt.plain_data import problem_to_data

    json_output.print_problem(problem_to_data(title, detail), Exit.BAD_INPUT)


def _open_streams() -> None:
    """Let output be lost if a stream is closed, and written otherwise, whatever its letters."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _usage_error() -> Any:
    """Return the class of wrong usage, which is click's own or the one that typer carries."""
    import typer

    bases = typer.BadParameter.__mro__
    return next(base for base in reversed(bases) if hasattr(base, "show"))
