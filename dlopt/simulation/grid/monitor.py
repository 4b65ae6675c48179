"""What is counted while a grid runs: for each LAN, period by period."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(slots=True)
class Tally:
    """Sums of a LAN, of a period, or of both.

    Attributes
    ----------
    external, internal : float
        Data times the links that it crossed: of bids, tasks and results between LANs, sent by
        this one; and of subtasks and their results within it.
    useful, wasted : float
        Time in which nodes ran what counted, and what did not.
    sent, resent : int
        Subtasks that were sent to nodes, and those sent again among them.
    failures : int
    traps, false_alarms : int
        How often a node was presumed dead, and how often it was up.
    arrived, received, returned, met : int
        Tasks that arrived here, that ran here, that came home here, and those in time.
    response : float
        Time from arrival to return, of those that came home here.
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
    def total(cls, tallies: Iterable[Tally]) -> Tally:
        """Return the sum of some tallies."""
        found = cls()
        for tally in tallies:
            for name in _NAMES:
                setattr(found, name, getattr(found, name) + getattr(tally, name))
        return found


_NAMES = tuple(item.name for item in fields(Tally))


@dataclass(slots=True)
class Meter:
    """Tallies of each LAN in each period of a given length."""

    period: float
    cells: dict[tuple[int, int], Tally] = field(default_factory=lambda: defaultdict(Tally))

    def external(self, lan: int, amount: Any, at: Any) -> None:
        """Count data that a LAN sends to another, times the links that it crosses."""
        self._at(lan, at).external += float(amount)

    def internal(self, lan: int, amount: Any, at: Any) -> None:
        """Count data within a LAN."""
        self._at(lan, at).internal += float(amount)

    def sent(self, lan: int, amount: Any, at: Any, again: bool) -> None:
        """Count a subtask that is sent to a node with its data."""
        tally = self._at(lan, at)
        tally.internal += float(amount)
        tally.sent += 1
        tally.resent += again

    def busy(self, lan: int, start: Any, end: Any, useful: bool) -> None:
        """Count time in which a node ran, shared out among the periods that it touches."""
        name = "useful" if useful else "wasted"
        begin, until = float(start), float(end)
        for period in range(int(begin // self.period), int(until // self.period) + 1):
            share = min(until, (period + 1) * self.period) - max(begin, period * self.period)
            if share > 0:
                tally = self.cells[lan, period]
                setattr(tally, name, getattr(tally, name) + share)

    def failure(self, lan: int, at: Any) -> None:
        """Count a node that fails."""
        self._at(lan, at).failures += 1

    def trap(self, lan: int, at: Any, up: bool) -> None:
        """Count a node that is presumed dead."""
        tally = self._at(lan, at)
        tally.traps += 1
        tally.false_alarms += up

    def arrived(self, lan: int, at: Any) -> None:
        """Count a task at its home."""
        self._at(lan, at).arrived += 1

    def received(self, lan: int, at: Any) -> None:
        """Count a task that a LAN is given."""
        self._at(lan, at).received += 1

    def returned(self, lan: int, at: Any, response: Any, met: bool) -> None:
        """Count a task that comes home."""
        tally = self._at(lan, at)
        tally.returned += 1
        tally.met += met
        tally.response += float(response)

    def _at(self, lan: int, at: Any) -> Tally:
        return self.cells[lan, int(at // self.period)]
