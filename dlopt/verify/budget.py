"""Time and instance limits of a search."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[int], None]

REPORT_INTERVAL_S = 0.2
"""Seconds between two progress reports."""


@dataclass(slots=True)
class SearchBudget:
    """The time or number of instances that a search may use, and what it has used.

    Parameters
    ----------
    seconds : float
        Time limit.
    examples : int, optional
        Limit on the number of instances, besides shipped ones; if given, there is no time limit.
    progress : callable, optional
        Called with the number of instances tried, every `REPORT_INTERVAL_S` seconds.
    stop : threading.Event, optional
        Once it is set, the search must end, whatever its limit is.
    """

    seconds: float
    examples: int | None = None
    progress: Progress | None = None
    stop: threading.Event | None = None
    tried: int = field(default=0, init=False)
    not_applicable: int = field(default=0, init=False)
    shipped: int = field(default=0, init=False)
    _begun: float = field(init=False)
    _last_report: float = field(init=False)

    def __post_init__(self) -> None:
        self._begun = self._last_report = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._begun

    @property
    def stopped(self) -> bool:
        """Whether the caller wants what is known now, as after Ctrl-C."""
        return self.stop is not None and self.stop.is_set()

    @property
    def exhausted(self) -> bool:
        """Whether the search must end; instances that the method rejects count, too."""
        if self.stopped:
            return True
        if self.examples is not None:
            return self.tried + self.not_applicable >= self.examples
        return self.elapsed >= self.seconds

    def count(self, applied: bool, shipped: bool = False) -> None:
        """Count an instance, to which the method applied or not; a shipped one if it did."""
        if shipped:
            self.shipped += applied
        elif applied:
            self.tried += 1
        else:
            self.not_applicable += 1
        now = time.perf_counter()
        if self.progress is not None and now - self._last_report >= REPORT_INTERVAL_S:
            self._last_report = now
            self.progress(self.tried + self.shipped)
