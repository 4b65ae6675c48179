"""The least concession with which a planner accepts a task: breakpoint by breakpoint.

More of a concession need not help: with a smaller load a task may get fewer nodes, and those after
it find other ready times. But a plan depends on the concession through comparisons of affine
functions alone. Between two breakpoints, at which the result of a comparison changes, the decision
is the same; so a search that decides at each breakpoint, and just after it, misses none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from dlopt.arithmetic import ROUNDING, Number
from dlopt.books.bisection import bisected_concession, sampled_concession
from dlopt.heuristics.admission.affine import AffineNumber, ComparisonTracker
from dlopt.heuristics.admission.records import Rejection

MAX_COMPARISONS = 100_000
"""Comparisons of affine numbers in one search, after which it goes on by bisection. Chosen by hand:
a second or two."""
_COMPARISONS_PER_DECISION = 50
"""Comparisons that a decision counts as, besides its own. Chosen by hand."""


def is_resolved(scale: Number, step: Number) -> bool:
    """Tell whether numbers of some size are rounded by a step at the most.

    Examples
    --------
    >>> is_resolved(1.7e9, 1e-3), is_resolved(1.7e9, 1e-6), is_resolved(17 * 10**8, 1e-6)
    (True, False, True)
    """
    return not isinstance(scale, float) or float(ROUNDING) * scale <= step


class Concession(NamedTuple):
    """A concession that is accepted, and whether it is proven that no smaller one is."""

    value: Number
    least: bool


@dataclass(frozen=True, slots=True)
class ConcessionSearch:
    """The decisions of a planner by the concession, of which 0 is known to be rejected.

    Parameters
    ----------
    decide : callable
        Returns who would miss with a concession, a number or an affine number; None if accepted.
    high : Number
        All concessions that are searched are less.
    scale : Number
        The size of the numbers that it is computed with, by which rounding in floats is judged.
    step : callable
        How precise the answer has to be, as a function of the concession.
    skip : callable
        How much more than a concession is rejected for certain, after a rejection with it.
    """

    decide: Callable[[Any], Rejection | None]
    high: Number
    scale: Number
    step: Callable[[Number], Number]
    skip: Callable[[Rejection], Number]

    def run(self, *, parametric: bool) -> Concession | None:
        """Return the least concession that is accepted; None if none is, or none was found.

        Parameters
        ----------
        parametric : bool
            Whether decisions can be asked for with affine numbers.
        """
        found = self._at_breakpoints(parametric)
        if not isinstance(found, _Unfinished):
            return found
        value = sampled_concession(self._accepts, found.rejected, self.high, self.step)
        return None if value is None else Concession(value, False)

    def _at_breakpoints(self, parametric: bool) -> Concession | _Unfinished | None:
        """Decide at each breakpoint and just after it, until one is accepted."""
        at, left = self.high * 0, MAX_COMPARISONS
        refused = self.decide(at)
        while left > 0:
            left -= _COMPARISONS_PER_DECISION
            following: Number | None = at + (self.skip(refused) if refused is not None else 0)
            if following == at:
                if not parametric:
                    break
                tracker = ComparisonTracker(at)
                just_after = self.decide(AffineNumber(at, at * 0 + 1, tracker))
                left -= 2 * tracker.count  # for the decision at the breakpoint as well
                following = tracker.next
                inside = self._just_after(at, following)
                if just_after is None and self._accepts(inside):
                    return Concession(inside, False)  # it is not accepted itself
            if following is None or following >= self.high:
                return None
            for tried in self._up_to_rounding(following):
                rejected, at = at, tried
                refused = self.decide(at)
                if refused is None:
                    return self._as_precise_as_floats(rejected, at)
        return _Unfinished(at)

    def _as_precise_as_floats(self, rejected: Number, accepted: Number) -> Concession:
        """Return a concession that is least up to rounding; if that is too coarse, a smaller one.

        Where the instants are far larger than the times between them, as of tasks of milliseconds
        at a date, breakpoints that differ by less than the rounding cannot be distinguished.
        """
        if is_resolved(self.scale, self.step(accepted)):
            return Concession(accepted, True)
        return Concession(bisected_concession(self._accepts, rejected, accepted, self.step), False)

    def _up_to_rounding(self, at: Number) -> Iterator[Number]:
        """Yield a breakpoint; and in floats, where it may be missed by rounding, one after it."""
        yield at
        if isinstance(self.scale, float):
            after = at + float(ROUNDING) * self.scale
            if after < self.high:  # a load that is reduced by more would be negative
                yield after

    def _just_after(self, at: Number, following: Number | None) -> Number:
        """Return a concession shortly after one, before the next breakpoint."""
        inside = at + self.step(at)
        return inside if following is None else min(inside, (at + following) / 2)

    def _accepts(self, concession: Number) -> bool:
        return self.decide(concession) is None


class _Unfinished(NamedTuple):
    """A search that was broken off: no concession up to this one is accepted."""

    rejected: Number
