"""The primal heuristics: ruin and recreate, then large neighbourhood search, while there is time.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> from dlopt.result import Limits
>>> requests = tuple(Request(f"r{k}", 0, k, k + 2, 1, (Part(3),)) for k in range(4))
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 5),), requests), "rejections")
>>> reported = []
>>> heuristics = PrimalHeuristics(scaled, Budget(Limits()), 0, reported.append)
>>> heuristics.run({}, 1, [Fraction(-2)], lambda: True)
>>> len(reported[-1])
2
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from math import inf

from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.lns import LargeNeighbourhoodSearch
from dlopt.models.coreservation.objective import Assignment
from dlopt.models.coreservation.ruin_and_recreate.parallel import ParallelSearch, is_available
from dlopt.models.coreservation.ruin_and_recreate.search import RuinAndRecreate
from dlopt.models.coreservation.scaled_instance import ScaledInstance

MAX_NEIGHBOURHOODS = 40
"""Random neighbourhoods where there is no time limit; chosen by hand, to end at all."""
IDLE_NEIGHBOURHOODS_PER_REQUEST = 5
"""Under a time limit, neighbourhoods without improvement, for each request, after which to end."""
INTERPRETED_TIME_SHARE = 0.2
"""Share of the time for ruin and recreate by interpreted moves.

Chosen by hand; the rest is for large neighbourhood search.
"""
MOVES_PER_REQUEST = 20
"""Interpreted moves for each request without a time limit; ten times as many with one."""
MAX_INTERPRETED_MOVES = 2000
"""The most of them without a time limit: half a second with 300 requests, at .3 ms a move."""
COMPILED_TIME_SHARE = 0.9
"""Share of the time for ruin and recreate by compiled moves, concurrently with the bounds.

Chosen by hand; the rest is for large neighbourhood search.
"""
MIN_COMPILED_SECONDS = 2.0
"""With less time than this the moves are interpreted: to load compiled ones takes some of it."""


class PrimalHeuristics:
    """Improves an assignment.

    Parameters
    ----------
    scaled : ScaledInstance
    budget : Budget
    seed : int
    report : callable
        Called with every assignment that is found.
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        budget: Budget,
        seed: int,
        report: Callable[[dict[int, tuple[int, int]]], None],
    ) -> None:
        self.scaled, self.budget, self.seed, self.report = scaled, budget, seed, report
        self._parallel: ParallelSearch | None = None

    @contextmanager
    def in_background(self, assignment: Assignment, share: float) -> Iterator[None]:
        """Run compiled ruin and recreate concurrently with the body of the ``with`` statement.

        For the share of the time of `run`, which ends it, if that is enough to load the compiled
        moves.
        """
        span = self._compiled_seconds(share)
        if not (MIN_COMPILED_SECONDS < span < inf and is_available()):
            yield
            return
        stop, threads = time.monotonic() + span, self.budget.limits.threads
        self._parallel = ParallelSearch(self.scaled, stop, self.seed, threads)
        try:
            if threads > 1:  # one is for the body
                self._parallel.start(assignment)
            yield
        finally:
            self._end_background()

    def _compiled_seconds(self, share: float) -> float:
        return COMPILED_TIME_SHARE * share * (self.budget.stop - time.monotonic())

    def _end_background(self) -> None:
        if self._parallel is not None:
            self._parallel.end()
            self._parallel = None

    def run(
        self,
        assignment: Assignment,
        share: float,
        target: Sequence[Fraction],
        is_met: Callable[[], bool],
    ) -> None:
        """Improve an assignment for a share of the time, until the levels reach a target.

        Parameters
        ----------
        assignment : Assignment
        share : float
        target : sequence of Fraction
            Maximised levels that are good enough.
        is_met : callable
            Whether the incumbent is good enough; called after each neighbourhood.

        Raises
        ------
        TimeoutError
            If no time is left.
        """
        timed = self.budget.stop < inf
        budget = Budget(self.budget.left(share))
        if self._parallel is None:
            improved = self.ruin_and_recreate(assignment, budget, INTERPRETED_TIME_SHARE)
        else:
            self._parallel.stop = time.monotonic() + self._compiled_seconds(share)
            for _ in range(self._parallel.threads):
                self._parallel.start(assignment)
            improved = self._parallel.best(target) or dict(assignment)
            self._end_background()
        self.report(improved)
        search = LargeNeighbourhoodSearch(self.scaled, improved, budget, self.seed)
        try:
            search.systematic_pass()
            rounds = idle = 0
            patience = MAX_NEIGHBOURHOODS
            if timed:
                patience = IDLE_NEIGHBOURHOODS_PER_REQUEST * len(self.scaled.requests)
            while not is_met() and idle < patience and (timed or rounds < MAX_NEIGHBOURHOODS):
                rounds, idle = rounds + 1, idle + 1
                if search.random_neighbourhood():
                    idle = 0
                self.report(dict(search.assignment))
        except TimeoutError:
            pass
        self.report(dict(search.assignment))

    def ruin_and_recreate(
        self, assignment: Assignment, budget: Budget, share: float
    ) -> dict[int, tuple[int, int]]:
        """Return the result of ruin and recreate by interpreted moves, for a share of a budget."""
        moves = min(MOVES_PER_REQUEST * len(self.scaled.requests), MAX_INTERPRETED_MOVES)
        stop = inf
        if budget.stop < inf:
            now = time.monotonic()
            moves = 10 * MOVES_PER_REQUEST * len(self.scaled.requests)
            stop = now + share * (budget.stop - now)
        return RuinAndRecreate(self.scaled, assignment, self.seed).run(moves, stop)
