"""The queue of jobs: by priority, then in turn over the owners, then in order of arrival."""

from __future__ import annotations

from collections import OrderedDict, deque

from dlopt.serve.errors import TooManyRequestsError

RETRY_AFTER_S = 5.0
"""Seconds after which a client whose job found no place is to ask again; chosen by hand."""


class JobQueue:
    """A bounded, fair queue.

    A job of a higher priority is always taken first. Among jobs of one priority the owners take
    turns, so that one who submits a thousand jobs delays another one's only job by one.

    Parameters
    ----------
    capacity : int
        Jobs that may wait.

    Examples
    --------
    >>> queue = JobQueue(capacity=4)
    >>> for job, owner in [("a1", "Ann"), ("a2", "Ann"), ("b1", "Bob")]:
    ...     queue.put(job, owner)
    >>> queue.put("urgent", "Ann", priority=1)
    >>> [queue.pop() for _ in range(5)]
    ['urgent', 'a1', 'b1', 'a2', None]
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._size = 0
        # By priority: the owners in the order of their turns, each with jobs that wait.
        self._levels: dict[int, OrderedDict[str, deque[str]]] = {}

    def __len__(self) -> int:
        return self._size

    def require_place(self) -> None:
        """Do nothing if one more job may wait.

        Raises
        ------
        TooManyRequestsError
            If not.
        """
        if self._size >= self._capacity:
            raise TooManyRequestsError(
                f"the job queue is full ({self._size} jobs)", retry_after_s=RETRY_AFTER_S
            )

    def put(self, job: str, owner: str, priority: int = 0) -> None:
        """Let a job wait, even if the queue is full: see `require_place`. Logarithmic at most."""
        owners = self._levels.setdefault(priority, OrderedDict())
        owners.setdefault(owner, deque()).append(job)
        self._size += 1

    def pop(self) -> str | None:
        """Take the next job; None if none waits. Linear in the number of priorities."""
        if not self._levels:
            return None
        priority = max(self._levels)
        owners = self._levels[priority]
        owner, jobs = next(iter(owners.items()))
        job = jobs.popleft()
        self._size -= 1
        if jobs:
            owners.move_to_end(owner)
        else:
            self._leave(priority, owner)
        return job

    def remove(self, job: str) -> bool:
        """Take a job out; return whether it was waiting. Linear in the jobs that wait."""
        for priority, owners in self._levels.items():
            for owner, jobs in owners.items():
                if job in jobs:
                    jobs.remove(job)
                    self._size -= 1
                    if not jobs:
                        self._leave(priority, owner)
                    return True
        return False

    def _leave(self, priority: int, owner: str) -> None:
        """Forget an owner without waiting jobs, and a priority without owners."""
        del self._levels[priority][owner]
        if not self._levels[priority]:
            del self._levels[priority]
