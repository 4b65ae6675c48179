"""Requests taken away and put back by compiled moves, in threads of their own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from fractions import Fraction
from importlib.util import find_spec

from dlopt.models.coreservation.objective import Held, key_of
from dlopt.models.coreservation.ruin_and_recreate.search import Aim, Crew, Recreation
from dlopt.models.coreservation.ruin_and_recreate.time_decomposition import at_once
from dlopt.models.coreservation.scaled_instance import Case

_STEPS = 100_000
"""A request, at the most: few requests need no more, however much time there is."""


def available() -> bool:
    """Tell whether moves can be compiled: with the extra ``fast``."""
    return find_spec("numba") is not None


class Chains:
    """Searches of `Recreation` that go on while something else is done.

    Threads move in one plan, each in stretches of time of its own, if that leaves most requests to
    move; else each has its own plan.

    To compile the moves for the first time takes ten to thirty seconds: what is not compiled by the
    end finds nothing, but nobody waits for it.

    Parameters
    ----------
    case : Case
    stop : float
        Instant of the monotonic clock at which all end.
    seed : int
    threads : int
    """

    def __init__(self, case: Case, stop: float, seed: int, threads: int) -> None:
        self.case, self.stop, self.seed, self.threads = case, stop, seed, threads
        self._aim = Aim()
        self._pool = ThreadPoolExecutor(threads)
        self._running: list[Future[dict[int, tuple[int, int]]]] = []
        self._crews: list[Crew] = []
        self._started, self._at_once = 0, at_once(case, threads)

    def start(self, held: Held) -> None:
        """Begin one more from a plan, if there is a thread left for it.

        It joins the one before if more threads may move in that plan at once.
        """
        if self._started == self.threads:
            return
        if self._started % self._at_once:
            self._crews[-1].threads += 1
        else:
            crew, seed = Crew(), self.seed + len(self._crews)
            self._crews.append(crew)
            self._running.append(self._pool.submit(self._run, held, seed, crew))
        self._started += 1

    def _run(self, held: Held, seed: int, crew: Crew) -> dict[int, tuple[int, int]]:
        search = Recreation(self.case, held, seed, fast=True)
        return search.run(_STEPS * len(self.case.wishes), self.stop, self._aim, crew)

    def best(self, enough: Sequence[Fraction] = ()) -> dict[int, tuple[int, int]]:
        """Wait for all, and return the best plan; nothing if none has one.

        A plan whose levels are as good as `enough` ends all.
        """
        self._aim.enough = tuple(enough)
        wait(self._running, max(self.stop - time.monotonic(), 0) + 0.5)
        found = [one.result() for one in self._running if one.done()]
        return max(found, key=lambda held: key_of(self.case, held), default={})

    def end(self) -> None:
        """End all."""
        self._aim.reached.set()
        self._pool.shutdown(wait=False)
