"""Progress on standard error: bars, and a line with the incumbent, bound and gap of a search."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from dlopt.cli.console import err
from dlopt.errors import printable

if TYPE_CHECKING:
    from dlopt.result import Result

ItemT = TypeVar("ItemT")
Progress: TypeAlias = Callable[[int, int], None]
"""Called with how many are done, and how many there are."""

HINT_AFTER_S = 10.0
"""Seconds after which a search without a time limit says how it can be ended."""
_HINT = (
    "no time limit is set (--time-limit S); Ctrl-C ends the search and prints what is known so far"
)


@contextmanager
def bar(label: str = "simulating", *, estimate: bool = False) -> Iterator[Progress | None]:
    """Give what shows progress on standard error, or None if that is no terminal.

    Parameters
    ----------
    label : str
    estimate : bool, default False
        Show an estimate of the remaining time.
    """
    if not sys.stderr.isatty():
        yield None
        return
    with _progress(label, estimate) as shown:
        task = shown.add_task("")
        yield lambda done, total: shown.update(task, completed=done, total=total)


def with_progress(items: Iterable[ItemT], total: int, label: str) -> Iterator[ItemT]:
    """Yield the items with a progress bar on standard error, if that is a terminal."""
    if total < 2 or not sys.stderr.isatty():
        yield from items
        return
    with _progress(label, False) as shown:
        yield from shown.track(items, total=total)


def _progress(label: str, estimate: bool) -> Any:
    from rich import progress

    columns: list[Any] = [
        progress.TextColumn(label),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
    ]
    if estimate:
        columns += [progress.TextColumn("remaining"), progress.TimeRemainingColumn()]
    return progress.Progress(*columns, console=err, transient=True, speed_estimate_period=600)


@contextmanager
def line(label: str, *, hint: bool = False) -> Iterator[Callable[[str], None] | None]:
    """Show on standard error what is going on and for how long; give what changes the text.

    Gives None, and shows nothing, if that is no terminal.

    Parameters
    ----------
    label : str
        The text at first.
    hint : bool, default False
        Say after `HINT_AFTER_S` that no time limit is set.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress

    columns = (
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}", markup=False),
        progress.TimeElapsedColumn(),
    )
    with progress.Progress(*columns, console=err, transient=True) as shown:
        task = shown.add_task(printable(label), total=None)
        timer = threading.Timer(HINT_AFTER_S, lambda: err.print(_HINT, markup=False))
        timer.daemon = True
        if hint:
            timer.start()
        try:
            yield lambda text: shown.update(task, description=printable(text))
        finally:
            timer.cancel()


def search_text(result: Result[Any]) -> str:
    """Return in one line what a running method knows: the incumbent, the bound and the gap.

    Examples
    --------
    >>> from dlopt.result import Result, Status
    >>> known = Result(Status.FEASIBLE, "plan", objective="makespan", value=80, bound=73)
    >>> search_text(known)
    'makespan 80, bound 73, gap 8.75%'
    >>> search_text(Result(Status.BOUND, objective="makespan", bound=73))
    'makespan bound 73'
    """
    from dlopt.presentation.wording import decimals, percentage

    name = result.objective or "value"
    if result.value is None and result.bound is not None:
        return f"{name} bound {decimals(result.bound)}"
    parts = [f"{name} {decimals(result.value)}"]
    if result.bound is not None:
        parts.append(f"bound {decimals(result.bound)}")
    if result.gap is not None:
        parts.append(f"gap {percentage(result.gap, 2)}")
    return ", ".join(parts)
