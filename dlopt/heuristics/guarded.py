"""Objects that several threads may use, one at a time."""

from __future__ import annotations

import threading
from typing import Any, Self


class Guarded:
    """Base of the online engines: a thread that reads or changes one acquires `_lock`.

    Every public method acquires the lock, and may call another one. Copies and pickles have a lock
    of their own; a copy made while other threads go on has the state between two calls.
    """

    _lock: threading.RLock

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Make an object with a lock."""
        instance = super().__new__(cls)
        instance._lock = threading.RLock()
        return instance

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the lock, which belongs to this process."""
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}
