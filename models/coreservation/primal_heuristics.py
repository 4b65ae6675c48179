"""Better plans, while there is time: requests taken away and put back, then neighbourhoods."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from math import inf

from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.lns import Neighbourhood
from dlopt.models.coreservation.objective import Held
from dlopt.models.coreservation.ruin_and_recreate.parallel import Chains, available
from dlopt.models.coreservation.ruin_and_recreate.search import Recreation
from dlopt.models.coreservation.scaled_instance import Case

_ROUNDS, _IDLE = 40, 5
"""Neighbourhoods at random where there is no time limit; a request that none of which helps."""
_RECREATED, _STEPS, _MOST_STEPS = 0.2, 20, 2000
"""Of the time, for requests taken away and put back by interpreted moves; such steps a request
without a time limit, a tenth of those with one, and the most of them without one."""
_CHAINED, _PATIENT = 0.9, 2.0
"""Of the time, for such steps compiled, beside all else; and so many seconds at the least."""


class Improver:
    """Improves a plan.

    Parameters
    ----------
    case : Case
    budget : Budget
    seed : int
    take : callable
        What is told of every plan.
    """

    def __init__(self, case: Case, budget: Budget, seed: int, take: Callable[[Held], None]) -> None:
        self.case, self.budget, self.seed, self.take = case, budget, seed, take
        self._chains: Chains | None = None

    @contextmanager
    def beside(self, held: Held, share: float) -> Iterator[None]:
        """Take requests away and put them back beside what is done now.

        Only for a share of the time, if that is long enough to compile it.
        """
        now = time.monotonic()
        span = _CHAINED * share * (self.budget.stop - now)
        if not (_PATIENT < span < inf and available()):
            yield
            return
        threads = self.budget.limits.threads
        self._chains = chains = Chains(self.case, now + span, self.seed, threads)
        try:
            if threads > 1:  # one is for what is done now
                chains.start(held)
            yield
        finally:
            chains.end()
            self._chains = None

    def run(
        self, held: Held, share: float, enough: Sequence[Fraction], met: Callable[[], bool]
    ) -> None:
        """Improve a plan for a share of the time, until it is met that levels are good enough.

        Raises
        ------
        TimeoutError
            If no time is left.
        """
        timed = self.budget.stop < inf
        budget = Budget(self.budget.left(share))
        if self._chains is None:
            found = self.recreated(held, budget, _RECREATED)
        else:
            for _ in range(self._chains.threads):
                self._chains.start(held)
            found = self._chains.best(enough) or dict(held)
        self.take(found)
        search = Neighbourhood(self.case, found, budget, self.seed)
        try:
            search.sweep()
            rounds = idle = 0
            patience = _IDLE * len(self.case.wishes) if timed else _ROUNDS
            while not met() and idle < patience and (timed or rounds < _ROUNDS):
                rounds, idle = rounds + 1, idle + 1
                if search.wander(1):
                    idle = 0
                self.take(search.held)
        except TimeoutError:
            pass
        self.take(search.held)

    def recreated(self, held: Held, budget: Budget, share: float) -> dict[int, tuple[int, int]]:
        """Take requests away and put them back by interpreted moves, for a share of a budget."""
        steps, stop = min(_STEPS * len(self.case.wishes), _MOST_STEPS), inf
        if budget.stop < inf:
            now = time.monotonic()
            steps, stop = 10 * _STEPS * len(self.case.wishes), now + share * (budget.stop - now)
        return Recreation(self.case, held, self.seed).run(steps, stop)
