"""Windows of one long stream, as samples: means over them have confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dlopt.errors import NotApplicableError
from dlopt.problems.admission import Instance, Task

MAX_DRAIN_SHARE = 1 / 4
"""Mean drain time, as a share of the length of a window, from which on windows are called short."""


def windows_of(instance: Instance, count: int) -> tuple[Instance, ...]:
    """Return the tasks that arrive in equal parts of the time of a stream, a part an instance.

    The cluster is idle at the beginning of each, so that what one window leaves to the next is not
    counted: windows should be long compared with the time from arrival to deadline.

    Parameters
    ----------
    instance : Instance
        Its cluster is idle at first.
    count : int
        At least 2.

    Raises
    ------
    NotApplicableError
        If the count is too small, a window has no task, or the cluster is busy at first.

    Examples
    --------
    >>> from dlopt import generate
    >>> stream = generate("admission", "small", tasks=6, seed=1)
    >>> [len(window.tasks) for window in windows_of(stream, 2)]
    [1, 5]
    """
    if count < 2:
        raise NotApplicableError(f"windows must be at least 2, got {count}")
    tasks = instance.tasks
    begin, end = tasks[0].arrival, tasks[-1].arrival
    if instance.committed or max(*instance.free_times, instance.channel_ready) > begin:
        raise NotApplicableError("windows are for streams whose cluster is idle at first")
    parts: list[list[Task]] = [[] for _ in range(count)]
    for task in tasks:
        number = int((task.arrival - begin) * count // (end - begin or 1))
        parts[min(number, count - 1)].append(task)  # the last task arrives at the end of all
    if not all(parts):
        raise NotApplicableError(f"no task arrives in one of the {count} windows: take fewer")
    return tuple(
        replace(instance, tasks=tuple(part), name=f"{instance.name}-{number}", best_known=())
        for number, part in enumerate(parts, start=1)
    )


def short_windows_note(instance: Instance, count: int, drain_times: Sequence[float]) -> str | None:
    """Say that windows are short for the tasks that they leave to the next ones, if they are.

    Parameters
    ----------
    instance : Instance
        The stream that was cut into windows.
    count : int
        How many there are.
    drain_times : sequence of float
        From the last arrival in each window to its last completion.

    Examples
    --------
    >>> from dlopt import generate
    >>> stream = generate("admission", "small", tasks=6, seed=1)
    >>> short_windows_note(stream, 2, [0.0, 0.1]) is None
    True
    """
    length = float(instance.tasks[-1].arrival - instance.tasks[0].arrival) / count
    mean = sum(drain_times) / len(drain_times)
    if mean <= length * MAX_DRAIN_SHARE:
        return None
    return (
        f"note: windows are short (length {length:.3g}, mean drain time {mean:.3g}): each starts "
        "on an idle cluster, so that fewer jobs are rejected than in the whole log"
    )
