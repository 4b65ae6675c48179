"""How long a search may take."""

from __future__ import annotations

import time
from collections.abc import Callable

Progress = Callable[[int], None]

EVERY = 0.2
"""Seconds between two reports."""


class Budget:
    """Time and instances that a search may spend, and what it has spent.

    Parameters
    ----------
    seconds : float
    examples : int, optional
        Where it is given, time does not count.
    progress : callable, optional
        Called with the number of instances tried, now and then.
    """

    __slots__ = ("_begun", "_progress", "_told", "examples", "left_out", "seconds", "tried")

    def __init__(
        self, seconds: float, examples: int | None = None, progress: Progress | None = None
    ) -> None:
        self.seconds, self.examples = seconds, examples
        self.tried = self.left_out = 0
        self._progress = progress
        self._begun = self._told = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._begun

    @property
    def spent(self) -> bool:
        """Whether the search must end; what does not apply counts, too."""
        if self.examples is not None:
            return self.tried + self.left_out >= self.examples
        return self.elapsed >= self.seconds

    def count(self, applied: bool) -> None:
        """Count an instance, tried or left out."""
        if applied:
            self.tried += 1
        else:
            self.left_out += 1
        now = time.perf_counter()
        if self._progress is not None and now - self._told >= EVERY:
            self._told = now
            self._progress(self.tried)
