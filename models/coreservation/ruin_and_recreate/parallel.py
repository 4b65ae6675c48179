"""Ruin and recreate by compiled moves, in background threads."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from fractions import Fraction
from importlib.util import find_spec

from dlopt.models.coreservation.objective import Assignment, objective_key
from dlopt.models.coreservation.ruin_and_recreate.search import (
    RuinAndRecreate,
    Target,
    ThreadTeam,
)
from dlopt.models.coreservation.ruin_and_recreate.time_decomposition import max_parallel_windows
from dlopt.models.coreservation.scaled_instance import ScaledInstance

MAX_MOVES_PER_REQUEST = 100_000
"""Few requests need no more, however much time there is.

100,000 moves reach .5 % below the optimum of 10 requests, a million .1 to .2 %, see
benchmarks/results/coreservation.md.
"""


def is_available() -> bool:
    """Tell whether moves can be compiled: with the extra ``fast``."""
    return find_spec("numba") is not None


class ParallelSearch:
    """Searches of `RuinAndRecreate` that run while something else is done.

    Threads move in one assignment, each in time windows of its own, if that leaves most requests to
    move; else each has its own assignment.

    To compile the moves for the first time takes ten to thirty seconds: if they are not compiled by
    the end nothing is found, but nobody waits for it.

    Parameters
    ----------
    scaled : ScaledInstance
    stop : float
        Instant of the monotonic clock at which all end.
    seed : int
    threads : int

    Attributes
    ----------
    teams : list of ThreadTeam
        The threads that move in each assignment.
    running : list of Future
        The search of each team.
    """

    def __init__(self, scaled: ScaledInstance, stop: float, seed: int, threads: int) -> None:
        self.scaled, self.stop, self.seed, self.threads = scaled, stop, seed, threads
        self._target = Target()
        self._pool = ThreadPoolExecutor(threads)
        self.running: list[Future[dict[int, tuple[int, int]]]] = []
        self.teams: list[ThreadTeam] = []
        self._started, self._team_size = 0, max_parallel_windows(scaled, threads)

    def start(self, assignment: Assignment) -> None:
        """Start one more thread from an assignment, if there is one left.

        It joins the team before it if more threads may move in that assignment at once.
        """
        if self._started == self.threads:
            return
        if self._started % self._team_size:
            self.teams[-1].threads += 1
        else:
            team, seed = ThreadTeam(), self.seed + len(self.teams)
            self.teams.append(team)
            self.running.append(self._pool.submit(self._run, assignment, seed, team))
        self._started += 1

    def _run(
        self, assignment: Assignment, seed: int, team: ThreadTeam
    ) -> dict[int, tuple[int, int]]:
        search = RuinAndRecreate(self.scaled, assignment, seed, fast=True)
        max_moves = MAX_MOVES_PER_REQUEST * len(self.scaled.requests)
        return search.run(max_moves, self.stop, self._target, team)

    def best(self, target: Sequence[Fraction] = ()) -> dict[int, tuple[int, int]]:
        """Wait for all, and return the best assignment; an empty one if none was found.

        An assignment whose levels are as good as the target ends all.
        """
        self._target.levels = tuple(target)
        wait(self.running, max(self.stop - time.monotonic(), 0) + 0.5)
        assignments = [future.result() for future in self.running if future.done()]
        return max(
            assignments,
            key=lambda assignment: objective_key(self.scaled, assignment),
            default={},
        )

    def end(self) -> None:
        """End all."""
        self._target.reached.set()
        self._pool.shutdown(wait=False)
