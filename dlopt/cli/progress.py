"""Progress bars on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

from dlopt.cli.console import err

ItemT = TypeVar("ItemT")
Progress: TypeAlias = Callable[[int, int], None]
"""Called with how many are done, and how many there are."""


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
