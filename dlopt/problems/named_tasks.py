"""Tasks that are named in messages."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_TASKS = 5


def named_tasks(what: str, tasks: Sequence[str]) -> str:
    """Return how many tasks something holds for, and which; long lists are shortened.

    Parameters
    ----------
    what : str
        Such as ``"dropped"``.
    tasks : sequence of str
        Their identifiers, at least one.

    Examples
    --------
    >>> named_tasks("dropped", ["b"]), named_tasks("late", ["a", "c"])
    ('dropped: 1 task (b)', 'late: 2 tasks (a, c)')
    >>> named_tasks("dropped", [f"t{number}" for number in range(1200)])
    'dropped: 1,200 tasks (t0, t1, t2, t3, t4 and 1,195 more)'
    """
    named = ", ".join(tasks[:_MOST_TASKS])
    more = f" and {len(tasks) - _MOST_TASKS:,} more" if len(tasks) > _MOST_TASKS else ""
    return f"{what}: {len(tasks):,} task{'s' * (len(tasks) != 1)} ({named}{more})"
