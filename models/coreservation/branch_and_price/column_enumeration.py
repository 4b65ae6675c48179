"""The best plan of a subproblem, from all patterns that could be part of a better one.

**Lemma.** Let prices of parts prove the bound ``b``, the sum over machines of what the dearest
pattern is worth less what it pays, and over requests of what accepting them pays, if that is
positive. A plan that is worth ``v`` has on every machine a pattern that is worth, less what it
pays, at most ``b - v`` less than the dearest there. *Proof.* The plan is worth what its patterns
are worth less what they pay, and what its requests pay; no term exceeds its share of ``b``, so none
lies below it by more than all do together. (Baldacci, Christofides, Mingozzi, Math. Program. 115,
2008, do so for routes.)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.branch_and_price.columns import Branch, Patterns
from dlopt.models.coreservation.branch_and_price.master import Pricer
from dlopt.models.coreservation.branch_and_price.set_packing import Found, Selection

_EFFORT = (1 / 6, 40), (3 / 4, 200)
"""Of the time that is left, to choose among some patterns, and among all; subproblems, where there
is no time limit."""
_PARTS = (16, 8, 4, 2, 1)
"""Where there are too many patterns, better plans are looked for among those so many times as near
to the dearest."""


@dataclass(frozen=True, slots=True)
class Closed:
    """What is known of a subproblem.

    Parameters
    ----------
    bound : int or None
        No plan of it is worth more, or than what was known; None if that was not proven.
    held : dict or None
        A plan that is worth more than what was known, if one was found.
    """

    bound: int | None
    held: dict[int, tuple[int, int]] | None


NOTHING = Closed(None, None)


class Closing:
    """Plans of a subproblem, from patterns that could be part of a better one.

    Parameters
    ----------
    patterns : Patterns
    branch : Branch
    pricers : sequence of Pricer
        One a group.
    prices : sequence of int
        Of all parts.
    budget : Budget
    seed : int

    Attributes
    ----------
    begun : bool
        Whether those nearest to the dearest patterns were looked at.
    """

    def __init__(
        self,
        patterns: Patterns,
        branch: Branch,
        pricers: Sequence[Pricer],
        prices: Sequence[int],
        budget: Budget,
        seed: int,
    ) -> None:
        self.patterns, self.branch, self.prices = patterns, branch, prices
        self.budget, self.seed = budget, seed
        self.machines = [one.machine for one in pricers if one.machine is not None]
        self.applies = len(self.machines) == len(pricers)
        self.most = [one.dearest(prices)[0] for one in pricers] if self.applies else []
        self.begun = False
        self._tried = -1, 0  # what was known, and in how many parts plans were looked for

    def close(self, known: int, steps: int) -> Closed | None:
        """Find the best plan, or a better one, or that none is worth more.

        Parameters
        ----------
        known : int
            What a plan is worth.
        steps : int
            Parts to decide about for all patterns of a group, at the most.

        Returns
        -------
        Closed or None
            Among all patterns the best plan, or a better one; among some, where all are too many, a
            better one. None if there is none, or if those that `steps` suffice to find were looked
            at before: more steps may find more.
        """
        if not self.applies:
            return NOTHING
        bound = self.patterns.bound(self.most, self.prices, self.branch)
        slack = bound - known - self.patterns.step
        near, (before, count) = None, self._tried
        count = count if before == known else 0
        for part in _PARTS[count:]:
            found = self._within(slack // part, steps)
            if found is None:
                break
            near, count = found, count + 1
        self._tried = known, count
        if near is None:
            return None
        self.begun = True
        everything = count == len(_PARTS)
        closed = self._chosen(near, known, everything=everything)
        return closed if everything or closed.held else None

    def _within(self, slack: int, steps: int) -> Found | None:
        """Return all patterns of each group that are so near to its dearest; None if too many."""
        found: Found = []
        for machine, worth in zip(self.machines, self.most, strict=True):
            some = machine.within(self.prices, worth - slack, steps, self.budget.stop)
            if some is None:
                return None
            found.append(some)
        return found

    def _held(self, taken: Found) -> dict[int, tuple[int, int]]:
        """Return the plan of the patterns that are taken."""
        held: dict[int, tuple[int, int]] = {}
        for machine, group, own in zip(self.machines, self.patterns.groups, taken, strict=True):
            free = list(group.machines)
            for one in own:
                host, shares = free.pop(), machine.shares(one.jobs)
                held |= {i: (host, units) for i, (_, units) in shares.items()}
        return held

    def _chosen(self, found: Found, known: int, *, everything: bool) -> Closed:
        """Choose the best plan, or a better one; nothing is proven if that is not all patterns."""
        share, most = _EFFORT[everything]
        limits, stop = self.budget.left(share), inf
        if limits.time_s is not None:
            stop = time.monotonic() + limits.time_s
        selection = Selection(self.patterns, self.branch, found, known, stop, self.seed)
        done = selection.run(most if limits.time_s is None else None)
        held = None if selection.taken is None else self._held(selection.taken)
        return Closed(selection.known if done and everything else None, held)
