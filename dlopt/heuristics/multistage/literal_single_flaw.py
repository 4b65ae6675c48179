"""Algorithms 3 and 4 mended in place, but for one flaw: what the flaw alone does.

``F1``
    The I/O of a reservation after the deadline counts as negative blocking.
``F2``, ``F3``
    A reservation whose I/O is in progress when the task could start, or starts just then, is
    overlooked, as the test ``R_s > t_0`` does.
``F4``
    A node within a reservation of its own is taken to be free when the I/O of that is done.
``F5``
    The last stage ends with the I/O that the deadline falls into, and not with the deadline.
``F6``
    What a node cannot do in a stage is a negative load.
``F7``
    A node that is not available yet may start where the next stage does.
``F8``
    A node is given up for the reservation that ends the stage only, not for others of its own.
``F9``
    The first transmission does not wait for the task, nor for the present.

Algorithm 3 decides as printed and does not ask whether Algorithm 4 placed the load (``F10``). With
nothing else wrong that changes no answer; it is how F1 to F4 and F6 are seen.

Source: Mamat 2011, section 5.2.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import count as numbers
from typing import Any

from dlopt.heuristics.multistage.busy_intervals import Piece, Window, free_from, joined
from dlopt.heuristics.multistage.literal_algorithms_3_4 import Estimate, Job, Part, fitting
from dlopt.heuristics.multistage.stages import stages

ESTIMATE_FLAWS = ("F1", "F2", "F3", "F4")
PARTITION_FLAWS = ("F5", "F6", "F7", "F8", "F9")


def seen(
    windows: Iterable[Window], ready: Sequence[Any], job: Job, flaw: str | None
) -> list[Window]:
    """Return the windows that are not overlooked, in the order of their starts."""
    first = max(job.arrival, job.now, min(ready))
    found = sorted(windows, key=_start)
    if flaw == "F2":
        return [one for one in found if not one.start < first < one.io_end]
    if flaw == "F3":
        return [one for one in found if one.start != first]
    return found


def estimate(
    costs: tuple[Any, Any],
    windows: Iterable[Window],
    ready: Sequence[Any],
    job: Job,
    flaw: str | None = None,
) -> Estimate:
    """Return what Algorithm 3 thinks that the nodes can do by the deadline.

    Notes
    -----
    Guarantee without a flaw: no more than the first nodes of its order can do. It may be far less,
    for it takes all blocking that there may be for blocking that there is.

    Examples
    --------
    >>> from fractions import Fraction
    >>> job = Job(arrival=0, now=0, load=2, deadline=2)
    >>> late = Window(4, 5, 5, (0,))
    >>> [*map(str, estimate((Fraction(1), Fraction(1)), [late], [0], job).shares)]
    ['1']
    >>> [*map(str, estimate((Fraction(1), Fraction(1)), [late], [0], job, "F1").shares)]
    ['2']
    """
    tau, unit, until = costs[0], sum(costs), job.deadline
    lo = max(job.arrival, job.now)
    windows = seen(windows, ready, job, flaw)
    available = {
        node: _available(windows, node, max(instant, lo), flaw)
        for node, instant in enumerate(ready)
    }
    order = sorted(available, key=available.__getitem__)
    first = available[order[0]]
    on_channel: Any = 0
    computing: dict[int, Any] = dict.fromkeys(order, 0)
    for window in windows:
        if flaw == "F1" and window.start > first:
            on_channel += min(window.io_end, until) - window.start
        else:
            on_channel += max(0, min(window.io_end, until) - max(window.start, first))
        if window.start > first:
            for node in window.nodes:
                computing[node] += max(0, min(window.end, until) - window.io_end)
    shares, blocked = [], 0
    for node in order:
        time = until - available[node] - on_channel - computing[node] - blocked
        shares.append(max(0, time) / unit)
        blocked += shares[-1] * tau
    return Estimate(tuple(order), available, tuple(shares))


def partition(
    costs: tuple[Any, Any],
    windows: Iterable[Window],
    ready: Sequence[Any],
    found: Estimate,
    count: int,
    job: Job,
    flaw: str | None = None,
) -> list[Part]:
    """Return the chunks that Algorithm 4 gives to the first nodes of an estimate."""
    tau, unit = costs[0], sum(costs)
    windows = seen(windows, ready, job, flaw)
    nodes = found.order[:count]
    channel: list[Any] = []
    taken: dict[int, list[Any]] = {node: [] for node in nodes}
    for window in windows:
        channel = joined(channel, window.start, window.io_end)
        for node in taken.keys() & set(window.nodes):
            taken[node] = joined(taken[node], window.start, window.end)
    left, parts = job.load, []
    lo = max(job.arrival, job.now)
    for stage, (begin, until, end) in zip(
        numbers(), stages(channel, lo, job.deadline), strict=False
    ):
        if flaw == "F5" and end == job.deadline:
            end = max(free_from(channel, until), end)
        free = []
        for node in nodes:
            start = begin if flaw == "F7" and stage else max(begin, found.available[node])
            if flaw == "F9" and not stage:
                start = ready[node]
            start = free_from(taken[node], start)
            stop = min(end, _next(taken[node], start, end))
            if flaw == "F8":
                own = [one for one in windows if one.start == until and node in one.nodes]
                stop = until if own else end
            free.append((start, stop, node))
        clock = min(map(_first, free)) if flaw == "F9" else begin
        free.sort(key=_first)
        for start, stop, node in free:
            start = max(start, clock)
            amount = fitting(costs, until - start, stop - start)
            if flaw != "F6":
                amount = max(amount, 0)
            amount = min(amount, left)
            if amount != 0:
                sent = start + amount * tau
                parts.append(Part(stage, Piece(node, amount, start, sent, start + amount * unit)))
                clock = sent
            left -= amount
            if left <= 0:
                return parts
    return parts


def _available(windows: list[Window], node: int, instant: Any, flaw: str | None) -> Any:
    """Return when a node can receive first, after reservations that follow one another."""
    for window in windows:
        own = node in window.nodes and flaw != "F4"
        if window.start <= instant < (window.end if own else window.io_end):
            instant = window.end if own else window.io_end
    return instant


def _next(taken: list[Any], start: Any, otherwise: Any) -> Any:
    """Return when a node that is free is taken next."""
    at = bisect_right(taken, start)
    return taken[at] if at < len(taken) else otherwise


def _first(free: tuple[Any, Any, int]) -> Any:
    return free[0]


def _start(window: Window) -> Any:
    return window.start
