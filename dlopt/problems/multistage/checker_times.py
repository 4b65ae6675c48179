"""Times of reservations, as the checkers compute them: in fractions."""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import exact
from dlopt.problems.multistage.data import Reservation


def channel_end(reservation: Reservation) -> Fraction:
    """Return when the channel is free of a reservation."""
    start = exact(reservation.start)
    if reservation.io_end is not None:
        return exact(reservation.io_end)
    return start + exact(reservation.io_ratio or 0) * (exact(reservation.end) - start)
