"""Counters of a running grid, by LAN and period."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from dlopt.arithmetic import Number


@dataclass(slots=True)
class PeriodCounts:
    """Counts and sums of a LAN, of a period, or of both.

    Attributes
    ----------
    external, internal : float
        Traffic, data times the links that it crossed: bids, tasks and results that the LAN sent to
        others; subtasks and their results within it.
    useful, wasted : float
        Time in which nodes ran useful attempts, and others.
    sent, resent : int
        Subtasks sent to nodes, and those sent again among them.
    failures : int
    traps, false_alarms : int
        Failure detections (a node was suspected failed), and the false ones among them.
    arrived, received, returned, met : int
        Tasks that arrived at this LAN, that ran in it, that returned to it, and that returned by
        their deadlines.
    response : float
        Sum of the response times of the tasks that returned to it.
    """

    external: float = 0.0
    internal: float = 0.0
    useful: float = 0.0
    wasted: float = 0.0
    sent: int = 0
    resent: int = 0
    failures: int = 0
    traps: int = 0
    false_alarms: int = 0
    arrived: int = 0
    received: int = 0
    returned: int = 0
    met: int = 0
    response: float = 0.0

    def to_data(self) -> dict[str, float]:
        """Return plain data."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @classmethod
    def total(cls, tallies: Iterable[PeriodCounts]) -> PeriodCounts:
        """Return the sum of several counts."""
        found = cls()
        for tally in tallies:
            for name in _NAMES:
                setattr(found, name, getattr(found, name) + getattr(tally, name))
        return found


_NAMES = tuple(item.name for item in fields(PeriodCounts))


@dataclass(slots=True)
class PeriodMonitor:
    """Counts of each LAN in each period."""

    period: float
    cells: dict[tuple[int, int], PeriodCounts] = field(
        default_factory=lambda: defaultdict(PeriodCounts)
    )

    def external(self, lan: int, amount: Number, at: Number) -> None:
        """Count data that a LAN sends to another, times the links that it crosses."""
        self._at(lan, at).external += float(amount)

    def internal(self, lan: int, amount: Number, at: Number) -> None:
        """Count data within a LAN."""
        self._at(lan, at).internal += float(amount)

    def sent(self, lan: int, amount: Number, at: Number, again: bool) -> None:
        """Count a subtask that is sent to a node with its data."""
        tally = self._at(lan, at)
        tally.internal += float(amount)
        tally.sent += 1
        tally.resent += again

    def busy(self, lan: int, start: Number, end: Number, useful: bool) -> None:
        """Count the time of a run, divided among the periods in which it was."""
        name = "useful" if useful else "wasted"
        begin, until = float(start), float(end)
        for period in range(int(begin // self.period), int(until // self.period) + 1):
            share = min(until, (period + 1) * self.period) - max(begin, period * self.period)
            if share > 0:
                tally = self.cells[lan, period]
                setattr(tally, name, getattr(tally, name) + share)

    def failure(self, lan: int, at: Number) -> None:
        """Count a node that fails."""
        self._at(lan, at).failures += 1

    def trap(self, lan: int, at: Number, up: bool) -> None:
        """Count a failure detection; it is false if the node is up."""
        tally = self._at(lan, at)
        tally.traps += 1
        tally.false_alarms += up

    def arrived(self, lan: int, at: Number) -> None:
        """Count a task at its home."""
        self._at(lan, at).arrived += 1

    def received(self, lan: int, at: Number) -> None:
        """Count a task that is assigned to a LAN."""
        self._at(lan, at).received += 1

    def returned(self, lan: int, at: Number, response: Number, met: bool) -> None:
        """Count a task that returns home."""
        tally = self._at(lan, at)
        tally.returned += 1
        tally.met += met
        tally.response += float(response)

    def _at(self, lan: int, at: Number) -> PeriodCounts:
        return self.cells[lan, int(at // self.period)]
