"""Exit codes, clean output, and errors without tracebacks."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from dlopt import interruption
from dlopt.aliases import RenamedWarning
from dlopt.errors import (
    DloptError,
    InvalidInstanceError,
    PluginWarning,
    SolverError,
    printable,
)

if TYPE_CHECKING:
    from dlopt.problems.validated_record import Header
    from dlopt.result import Result

AnswerT = TypeVar("AnswerT")

MIN_WIDTH = 20
"""Characters: what is printed is laid out for a terminal of this width at least."""
PIPE_WIDTH = 1000
"""Characters: a file or a pipe has no edge, and nothing is broken for less."""

MANY_NUMBERS = 2_000
"""From so many exact numbers in an instance on, a warning says that answers take long."""

_WORKER_THREAD = "dlopt-worker"
_END_WAIT_S = 0.2
"""Seconds that a thread has to end after its answer, on a busy machine."""
_STOP_WAIT_S = 2.0
"""Seconds that work which can be stopped has to answer after an interrupt."""


class _EscapingConsole(Console):
    """Prints names of others without obeying the control characters that they hold."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Lay out a text, as wide as it will be printed."""
        return super().render_str(printable(text, lines=True), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Yield what is printed: whatever came here otherwise than as a text, too."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield segment._replace(text=printable(segment.text, lines=True))


class _OutputConsole(_EscapingConsole):
    def on_broken_pipe(self) -> None:
        discard_output()


out = _OutputConsole(highlight=False)
out.width = max(MIN_WIDTH, out.width) if out.is_terminal else PIPE_WIDTH
err = _EscapingConsole(stderr=True, highlight=False, soft_wrap=True)


class Exit(IntEnum):
    """Exit codes of every command."""

    DONE = 0
    FOUND = 1
    BAD_INPUT = 2
    INFEASIBLE = 3
    NO_ANSWER = 4
    INVALID = 5
    INTERRUPTED = 130


def exit_code(result: Result[Any]) -> Exit:
    """Return the exit code that a result asks for."""
    from dlopt.result import Status

    if result.status is Status.UNSOUND:
        return Exit.FOUND
    if result.status is Status.INFEASIBLE:
        return Exit.INFEASIBLE
    if result.solution is None and result.status is not Status.BOUND:
        return Exit.NO_ANSWER
    return Exit.DONE


@contextlib.contextmanager
def ignoring_closed_output() -> Iterator[None]:
    """Go on if whoever read standard output has closed it, as ``head`` does.

    What a command found, and thus its exit code, does not depend on who listens.
    """
    try:
        yield
    except BrokenPipeError:
        discard_output()


@contextlib.contextmanager
def noting_warnings() -> Iterator[None]:
    """Print one line on standard error for each former name and each plug-in that fails."""
    noted: set[str] = set()

    def note(message: Warning | str, category: type[Warning], *rest: Any, **named: Any) -> None:
        if not issubclass(category, RenamedWarning | PluginWarning):
            show(message, category, *rest, **named)
        elif str(message) not in noted:
            noted.add(str(message))
            err.print(f"note: {printable(str(message))}", markup=False)

    with warnings.catch_warnings():
        show = warnings.showwarning
        warnings.simplefilter("always", RenamedWarning)
        warnings.showwarning = note
        yield


def discard_output() -> None:
    """Let what is still written on standard output be lost, even as Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def print_error(error: DloptError, where: str = "") -> Exit:
    """Print an error as one message, and return its exit code; an invalid result is saved."""
    from dlopt.api import InvalidResultError
    from dlopt.cli import json_output
    from dlopt.plain_data import error_to_data

    kinds = ((InvalidResultError, Exit.INVALID), (SolverError, Exit.NO_ANSWER))
    code = next((code for kind, code in kinds if isinstance(error, kind)), Exit.BAD_INPUT)
    if json_output.is_wanted():
        json_output.print_problem(error_to_data(error, where), code)
    else:
        err.print("[red]error:[/red] ", end="")
        err.print(f"{where}{error}", markup=False)
    if isinstance(error, InvalidResultError):
        _save_invalid_result(error.instance, error.result)
    return code


def _save_invalid_result(instance: Header, result: Result[Any]) -> None:
    """Write a result that failed verification to a file, and say how to look at it."""
    from dlopt import io, registry

    hashed = io.instance_hash(instance)
    name = f"dlopt-invalid-{result.method.replace(':', '-')}-{hashed[:8]}.json"
    with contextlib.suppress(ValueError):  # the path cannot be written, or it has no numbers
        data = io.result_to_data(instance, result, known_hash=hashed)
        io.write({"instance": io.instance_to_data(instance), "result": data}, name)
        ours = any(
            entry.name == result.method and isinstance(entry.target, str)
            for entry in registry.methods(instance.problem)
        )
        err.print(f"the result is saved in {name}{'; please report it' * ours}")
        if result.solution is not None:
            err.print(f"  verify it: dlopt check {name} {name}", markup=False)
            err.print(f"  draw it: dlopt plot {name} {name} --out plan.svg", markup=False)


def read_each(files: Iterable[Path], read: Callable[[Path], AnswerT]) -> Iterator[AnswerT]:
    """Yield what is read of each file; if some are invalid, print the faults of each and exit."""
    failed = False
    for file in files:
        try:
            content = read(file)
        except DloptError as error:
            print_error(error)
            failed = True
        else:
            yield content
    if failed:
        raise typer.Exit(Exit.BAD_INPUT)


@contextlib.contextmanager
def naming_file(file: object) -> Iterator[None]:
    """Let faults that are found in data after it was read name the file that they stand in.

    Parameters
    ----------
    file : path-like or None
        None if no file was given.
    """
    try:
        yield
    except InvalidInstanceError as error:
        if file is None or error.source is not None:
            raise
        raise error.within(str(file)) from error


def interruptible(work: Callable[[], AnswerT], stop: threading.Event | None = None) -> AnswerT:
    """Return the answer of `work`, done in another thread so that this one hears of Ctrl-C.

    A solver that runs in the main thread keeps Python from handling the signal until it is done.
    Work that answers once `stop` is set is asked for its answer then.
    """
    done: list[AnswerT] = []
    failed: list[BaseException] = []
    ended = threading.Event()  # a `join` that is interrupted takes the thread for ended

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)
        ended.set()

    worker = threading.Thread(target=run, name=_WORKER_THREAD, daemon=True)
    worker.start()
    try:
        ended.wait()
    except KeyboardInterrupt:
        if stop is None:
            raise
        stop.set()
        if not ended.wait(_STOP_WAIT_S):
            raise
    if failed:
        raise failed[0]
    return done[0]


def still_working() -> bool:
    """Tell whether work goes on that nobody waits for: interrupted, or given up."""
    workers = [thread for thread in threading.enumerate() if thread.name == _WORKER_THREAD]
    for worker in workers:
        worker.join(_END_WAIT_S)
    return interruption.still_working(_END_WAIT_S) or any(map(threading.Thread.is_alive, workers))


_DIVIDED = frozenset({"iit", "admission", "multistage"})
"""The problems whose answers are quotients of quotients; those of the others are sums."""


def warn_of_long_numbers(instances: Iterable[Header]) -> None:
    """Say on standard error that exact answers to large instances take long."""
    from dlopt.arithmetic import is_exact
    from dlopt.problems.validated_record import numbers_of

    for instance in instances:
        if instance.problem not in _DIVIDED:
            continue
        numbers = list(numbers_of(instance))
        if len(numbers) > MANY_NUMBERS and is_exact(numbers):
            name = instance.name or "the instance"
            text = f"{name} has {len(numbers)} exact numbers: its answers have thousands of digits"
            err.print(f"{text} and take long; --float-numbers is faster", markup=False)


@contextlib.contextmanager
def quiet_solvers() -> Iterator[None]:
    """Send to standard error what solvers and methods of others print on standard output."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
