"""What an accepted reservation may be changed to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dlopt.arithmetic import Number, shown, simplest
from dlopt.errors import Fault
from dlopt.heuristics.multistage.busy_intervals import ReservedWindow
from dlopt.heuristics.multistage.queue import Refusal
from dlopt.heuristics.multistage.reservation_facts import AcceptedReservation, ReservationFacts
from dlopt.problems.multistage.data import Reservation


class ChangedReservation(NamedTuple):
    """Another content for an accepted reservation."""

    content: Reservation
    window: ReservedWindow
    """Of the content, in the numbers of the engine."""
    former: AcceptedReservation

    def faults(self, now: Number) -> Iterator[Fault]:
        """Yield what is impossible: times before now, and another beginning of what has begun."""
        content, window, former = self.content, self.window, self.former.window
        present = f"must not lie before now, {shown(simplest(now), 15)}"
        if not self.former.has_begun(now):
            if window.start < now:
                yield Fault("start", content.start, present)
            return
        if window.start != former.start:
            rule = f"must stay {shown(simplest(former.start), 15)}, for it has begun"
            yield Fault("start", content.start, rule)
        if window.end < now:
            yield Fault("end", content.end, present)
        other = content.count != len(former.nodes)
        if other or not set(former.nodes).issuperset(window.nodes):
            yield Fault("nodes", content.nodes, "must stay, for it has begun")

    def window_around(self, rest: ReservationFacts, now: Number) -> ReservedWindow | Refusal:
        """Return its window with nodes that are free but for itself, or why there is none.

        Parameters
        ----------
        rest : ReservationFacts
            Without the reservation.
        now : Number
        """
        window, (state, in_service) = self.window, rest.fixed_intervals(now)
        start = max(window.start, now)
        free = {
            node
            for place, node in enumerate(in_service)
            if not state.node_busy(place, start, window.end)
        }
        if self.former.has_begun(now):
            window = self._begun_window(now)
            # On nodes that were removed it is completed, whatever else is planned.
            needed = set(window.nodes).intersection(in_service)
        else:
            window = self._waiting_window(free)
            needed = set(window.nodes)
        if not free.issuperset(needed) or len(window.nodes) < self.content.count:
            return Refusal("nodes")
        return Refusal("channel") if state.channel_busy(start, window.io_end) else window

    def _begun_window(self, now: Number) -> ReservedWindow:
        """Return the window of what has begun: its nodes stay, and so does I/O that is over."""
        former, window = self.former.window, self.window
        sent = former.io_end if former.io_end <= now else max(window.io_end, now)
        return window._replace(io_end=min(sent, window.end), nodes=former.nodes)

    def _waiting_window(self, free: set[int]) -> ReservedWindow:
        """Return the window with nodes: where it names none, those that it had come first."""
        if not isinstance(self.content.nodes, int):
            return self.window
        own = set(self.former.window.nodes)
        order = sorted(free, key=lambda node: (node in own, node), reverse=True)
        return self.window._replace(nodes=tuple(sorted(order[: self.content.nodes])))


def is_within(window: ReservedWindow, former: ReservedWindow) -> bool:
    """Tell whether a window needs nothing that a former one does not have."""
    return (
        former.start <= window.start
        and window.end <= former.end
        and (window.io_end <= former.io_end or window.io_end == window.start)
        and set(window.nodes) <= set(former.nodes)
    )
