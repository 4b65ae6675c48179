"""The exact schedule of which a schedule in floats is a rounding: as early as its order allows."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

_FINER = 2**40
"""So many units of time are in what an instant may be off, at the least; see `exact_starts`."""


class StatedRun(NamedTuple):
    """A machine that runs a task, as stated, and as exact numbers have it.

    Parameters
    ----------
    start, end : Fraction
        As stated.
    task : str
    length : Fraction
        What the task takes.
    earliest : Fraction
        When machine and input are there.
    """

    start: Fraction
    end: Fraction
    task: str
    length: Fraction
    earliest: Fraction


def exact_starts(runs: Iterable[StatedRun], slack: Fraction) -> list[tuple[StatedRun, Fraction]]:
    """Return the runs of a machine in their stated order, each with its exact earliest start.

    Their order is that of the middles of their stated times: a run that takes no time in floats
    does not come after the long one that follows it, which rounding may start a little before it.
    Starts are rounded up to a tiny part of the slack, so that fractions stay short. Complexity:
    O(n log n).

    Examples
    --------
    >>> F = Fraction
    >>> runs = [StatedRun(F(0), F(2), "a", F(2), F(0)), StatedRun(F(1), F(3), "b", F(2), F(0))]
    >>> [int(start) for _, start in exact_starts(runs, F(1))]
    [0, 2]
    """
    top, bottom = (slack / _FINER).as_integer_ratio()
    unit = Fraction(2) ** (top.bit_length() - bottom.bit_length() - 1)
    free: Fraction | None = None
    found = []
    for run in sorted(runs, key=lambda run: (run.start + run.end, run)):
        start = run.earliest if free is None else max(run.earliest, free)
        start = -(-start // unit) * unit
        found.append((run, start))
        free = start + run.length
    return found
