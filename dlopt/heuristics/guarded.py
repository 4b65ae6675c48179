"""State that several threads may use: one of them at a time."""

from __future__ import annotations

import threading
from typing import Any, Self


class Guarded:
    """Base of what keeps promises: whoever reads or changes it holds `_lock`, others wait.

    Every public method takes the lock, and may call another one. Copies and pickles have a lock of
    their own; whoever makes one while other threads go on gets the state between two calls.
    """

    _lock: threading.RLock

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Make an object with a lock."""
        made = super().__new__(cls)
        made._lock = threading.RLock()
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the lock, which belongs to this process."""
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}
