"""What is asked for, in whole numbers of CPU and ranks of instants."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Piece:
    """Shares of a part on which its benefit is linear: ``worth + slope * (share - low)``.

    Where it is flat, less CPU is worth as much: then `high` is `low`.
    """

    low: int
    high: int
    worth: Fraction
    slope: Fraction = Fraction(0)

    @property
    def best(self) -> Fraction:
        """What the largest share of the piece is worth."""
        return self.worth + self.slope * (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Job:
    """A part of a request.

    Parameters
    ----------
    wish : int
        Whose part it is, by its place in `Case.wishes`.
    part : int
    start, end : int
        Ranks of instants.
    pieces : tuple of Piece
        Ascending.
    machines : tuple of int
        Those on which it fits while nothing else is there.
    """

    wish: int
    part: int
    start: int
    end: int
    pieces: tuple[Piece, ...]
    machines: tuple[int, ...]

    @property
    def least(self) -> int:
        """How little it accepts."""
        return self.pieces[0].low


@dataclass(frozen=True, slots=True)
class Wish:
    """A request that could be accepted if it were alone: its place in the instance, its jobs."""

    request: int
    start: int
    end: int
    priority: Fraction
    jobs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """What is active together at an instant: at most `free` of it fits on each of the machines.

    Rows that others imply are left out.
    """

    instant: int
    jobs: tuple[int, ...]
    free: tuple[int, ...]
