"""Sampling periods, and the monitor that counts events in them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dlopt.problems.admission import Failure


@dataclass(frozen=True, slots=True)
class Period:
    """A sampling period.

    Parameters
    ----------
    number : int
        From 0.
    begin, end : float
    bound : float
        The utilization bound in it.
    decided, rejected : int
        Tasks that arrived in it.
    settled, missed : int
        Accepted tasks whose fate became known in it: done, or not done at their deadlines.
    busy, available : float
        Time that nodes received or computed, and that they were up.
    """

    number: int
    begin: float
    end: float
    bound: float
    decided: int
    rejected: int
    settled: int
    missed: int
    busy: float
    available: float

    @property
    def miss_ratio(self) -> float | None:
        """Missed by settled tasks; None if none was settled."""
        return self.missed / self.settled if self.settled else None

    @property
    def reject_ratio(self) -> float | None:
        """Rejected by decided tasks; None if none arrived."""
        return self.rejected / self.decided if self.decided else None

    @property
    def utilization(self) -> float | None:
        """Busy by available time; None if no node was up."""
        return self.busy / self.available if self.available > 0 else None


def merged_periods(periods: Sequence[Period]) -> Period:
    """Return several periods as one; its bound is their mean.

    Examples
    --------
    >>> first = Period(0, 0.0, 2.0, 1.0, 4, 1, 2, 1, 3.0, 4.0)
    >>> both = merged_periods([first, Period(1, 2.0, 4.0, 0.5, 4, 3, 6, 1, 1.0, 4.0)])
    >>> both.bound, both.miss_ratio, both.reject_ratio, both.utilization
    (0.75, 0.25, 0.5, 0.5)
    """
    return Period(
        periods[0].number,
        periods[0].begin,
        periods[-1].end,
        sum(period.bound for period in periods) / len(periods),
        sum(period.decided for period in periods),
        sum(period.rejected for period in periods),
        sum(period.settled for period in periods),
        sum(period.missed for period in periods),
        sum(period.busy for period in periods),
        sum(period.available for period in periods),
    )


class Monitor:
    """Counts the events of each period.

    Parameters
    ----------
    length : float
        Of a period.
    count : int
        Of periods, from time 0 on. Events after the last one are not counted.
    bound : float
        The first utilization bound.
    margin : float
        Of the dispatcher.
    """

    def __init__(self, length: float, count: int, bound: float, margin: float) -> None:
        self.length, self.margin, self.bound = length, margin, bound
        self._bounds = [bound]
        self._decided, self._rejected = [0] * count, [0] * count
        self._settled, self._missed = [0] * count, [0] * count
        self._busy = [0.0] * count

    def __len__(self) -> int:
        return len(self._busy)

    def begin(self, number: int, bound: float) -> None:
        """Begin a period with its bound."""
        self.bound = bound
        self._bounds.append(bound)

    def decided(self, instant: float, accepted: bool) -> None:
        """Count a decision; tasks arrive in the periods that there are."""
        number = self._number(instant)
        self._decided[number] += 1
        self._rejected[number] += not accepted

    def settled(self, instant: float, *, missed: bool) -> None:
        """Count an accepted task when it becomes known whether it missed its deadline."""
        number = self._number(instant)
        if number < len(self):
            self._settled[number] += 1
            self._missed[number] += missed

    def busy(self, begin: float, end: float) -> None:
        """Count the working time of a node, in the periods in which it was."""
        for number in range(self._number(begin), min(self._number(end) + 1, len(self))):
            within = min(end, (number + 1) * self.length) - max(begin, number * self.length)
            self._busy[number] += max(within, 0.0)

    def measured(self, number: int) -> float | None:
        """Return the miss ratio of a period."""
        return self._missed[number] / self._settled[number] if self._settled[number] else None

    def periods(self, nodes: int, failures: Iterable[Failure]) -> tuple[Period, ...]:
        """Return all periods."""
        down = [(float(f.begin), math.inf if f.until is None else float(f.until)) for f in failures]
        found = []
        for number in range(len(self)):
            begin, end = number * self.length, (number + 1) * self.length
            lost = sum(max(min(end, until) - max(begin, since), 0.0) for since, until in down)
            found.append(
                Period(
                    number,
                    begin,
                    end,
                    self._bounds[number],
                    self._decided[number],
                    self._rejected[number],
                    self._settled[number],
                    self._missed[number],
                    self._busy[number],
                    nodes * self.length - lost,
                )
            )
        return tuple(found)

    def _number(self, instant: float) -> int:
        return int(instant // self.length)
