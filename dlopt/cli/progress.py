"""What commands that simulate share: a progress bar, and how many processors there are."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from dlopt.cli.console import err

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many are done, and how many there are."""


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # pragma: no cover - not on Linux


@contextmanager
def bar(label: str = "simulating") -> Iterator[Progress | None]:
    """Give what shows progress on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as shown

    columns = (
        shown.TextColumn(label),
        shown.BarColumn(),
        shown.MofNCompleteColumn(),
        shown.TimeElapsedColumn(),
    )
    with shown.Progress(*columns, console=err, transient=True) as drawn:
        task = drawn.add_task("")
        yield lambda done, total: drawn.update(task, completed=done, total=total)
