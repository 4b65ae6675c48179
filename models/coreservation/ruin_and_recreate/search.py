"""A search that takes requests away and puts them back one by one, thousands of times.

Some requests that overlap are taken away, and others there give back what they have beyond their
least. Then requests are placed, those worth most for their CPU first, and shares are raised, again
those worth most first; all of it with some noise. One that was rejected may come before all others,
which go where they are in its way: large ones would never fit into what is left. Now and then
single parts change their machines. What comes of it is kept if it is no worse, or a little worse at
the beginning (ruin and recreate: Schrimpf et al., Journal of Computational Physics 159, 2000;
annealing: Kirkpatrick, Gelatt and Vecchi, Science 220, 1983). Worths are floats here; what counts
is compared exactly in the end.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import accumulate
from math import inf
from threading import Event
from typing import Any

import numpy as np

from dlopt.models.coreservation.objective import Held, coefficients, key_of, offset, trivial
from dlopt.models.coreservation.ruin_and_recreate import moves
from dlopt.models.coreservation.ruin_and_recreate import state as arrays
from dlopt.models.coreservation.ruin_and_recreate.time_decomposition import (
    Regions,
    merge,
    near,
    parted,
)
from dlopt.models.coreservation.scaled_instance import Case

_WARM, _COLD = 25e-2, 1e-3
"""How much worse is kept, by what a request is worth: at the beginning, and in the end."""
_LEVEL = 1e-3
"""What a level counts for, by the one before."""
_CARE = 1e-9
_DRAWS = 1 << 10, 1 << 19
"""Random numbers that are drawn at once, and by compiled moves."""


@dataclass
class Aim:
    """When searches end before their time.

    Parameters
    ----------
    enough : tuple of Fraction
        A plan whose first levels are as good, each such that more is better, is enough; if there
        are any.
    reached : Event
        Set by the first that has one, or by who needs no more.
    """

    enough: tuple[Fraction, ...] = ()
    reached: Event = field(default_factory=Event)


@dataclass
class Crew:
    """Threads that move in one plan; more may join while they do.

    Parameters
    ----------
    threads : int
    """

    threads: int = 1


class Recreation:
    """Improves a plan.

    Parameters
    ----------
    case : Case
        Its CPU must be countable in whole numbers.
    held : Held
        A valid plan.
    seed : int
    fast : bool
        Whether to compile the moves where the extra ``fast`` is installed: a hundred times as many,
        but it takes ten to thirty seconds when it is done for the first time.

    Attributes
    ----------
    compiled : bool
        Whether the moves are.
    """

    def __init__(self, case: Case, held: Held, seed: int = 0, *, fast: bool = False) -> None:
        self.case, self.start = case, dict(held)
        self.random = np.random.default_rng(seed)
        steps = moves.compiled() if fast else None
        self.compiled = steps is not None
        self.worth = -inf
        self.asked, self.state = _asked(case), _state(case)
        if steps is None:  # lists are faster then
            self.asked = arrays.Asked(*(one.tolist() for one in self.asked))
            self.state = arrays.State(*(one.tolist() for one in self.state))
        self.steps = steps or moves.steps
        self._regions: dict[int, Regions] = {}
        for i, (machine, units) in held.items():
            arrays.put(self.asked, self.state, i, machine, units)
        self.state.worth[0] += sum(
            self.asked.accepted[k] for k in {case.jobs[i].wish for i in held}
        )

    def run(
        self, steps: int, stop: float = inf, aim: Aim | None = None, crew: Crew | None = None
    ) -> dict[int, tuple[int, int]]:
        """Return the best plan, which is no worse than the one to start from.

        It ends after so many steps, at an instant of the monotonic clock, or at an aim. If the
        moves are compiled, several threads may take them.
        """
        state = self.state
        state.worth[1] = state.worth[0]
        with ThreadPoolExecutor() as pool:
            self._walk(steps, stop, aim or Aim(), crew or Crew(), pool)
        plan = self._plan()
        return max(self.start, plan, key=lambda held: key_of(self.case, held))

    def _walk(self, steps: int, stop: float, aim: Aim, crew: Crew, pool: Executor) -> None:
        begun, count = time.monotonic(), 0
        while self.case.wishes and count < steps:
            done = count / steps
            if stop < inf:
                now = time.monotonic()
                if now >= stop:
                    break
                done = max(done, (now - begun) / (stop - begun))
            warmth = _WARM * (_COLD / _WARM) ** done / len(self.case.wishes)
            if self.compiled and crew.threads > 1:
                count += self._together(pool, crew.threads, warmth, steps - count)
            else:
                count += self._moved(self.state, self.random, warmth, steps - count)
            if self._reaches(aim):
                break

    def _moved(
        self, state: arrays.State, random: np.random.Generator, warmth: float, many: int
    ) -> int:
        """Take so many steps, or as many as there are draws for, and return how many."""
        # a step draws for every piece around once, for wishes and hosts twice, for jobs thrice
        wishes, jobs = len(self.case.wishes), len(self.case.jobs)
        most = 20 + 2 * (wishes + len(self.asked.hosts)) + 3 * jobs + len(self.asked.low)
        draws = random.random(most + _DRAWS[self.compiled])
        some = draws if self.compiled else draws.tolist()
        return self.steps(self.asked, state, warmth, some, most, many)

    def _together(self, pool: Executor, threads: int, warmth: float, many: int) -> int:
        """Take steps in several threads at once, each in a region of its own."""
        if threads not in self._regions:
            self._regions[threads] = Regions(self.case, near(self.case), threads)
        regions = self._regions[threads].cut(self.random.random())
        if len(regions) < 2 or many < len(regions):
            return self._moved(self.state, self.random, warmth, many)
        parts = parted(self.state, regions)
        calls = [
            partial(self._moved, part, random, warmth, many // len(parts))
            for part, random in zip(parts, self.random.spawn(len(parts)), strict=True)
        ]
        running = [pool.submit(call) for call in calls[1:]]
        count = calls[0]() + sum(one.result() for one in running)
        merge(self.state, regions, parts)
        return count

    def _plan(self) -> dict[int, tuple[int, int]]:
        state = self.state
        pairs = enumerate(zip(state.best_machine, state.best_units, strict=True))
        return {i: (int(machine), int(units)) for i, (machine, units) in pairs if machine >= 0}

    def _reaches(self, aim: Aim) -> bool:
        """Tell whether an aim is reached, here or elsewhere."""
        worth = float(self.state.worth[1])
        if aim.enough and worth > self.worth and worth >= self._worth(aim.enough) - _CARE:
            self.worth = worth  # what is looked at once is not looked at again
            if key_of(self.case, self._plan()) >= aim.enough:
                aim.reached.set()
        return aim.reached.is_set()

    def _worth(self, levels: Sequence[Fraction]) -> float:
        """Return what first levels are worth, as moves count it."""
        total, unit = 0.0, 1.0
        for level, value in zip(self.case.levels, levels, strict=False):
            least, most = offset(self.case, level), trivial(self.case, level)
            if most > least:
                total += unit * float((value - least) / (most - least))
            unit *= _LEVEL
        return total


def _state(case: Case) -> arrays.State:
    jobs, wishes = len(case.jobs), len(case.wishes)
    pieces = max(wishes, sum(len(job.pieces) for job in case.jobs))

    def whole(count: int, value: int = 0) -> Any:
        return np.full(count, value, np.int64)

    return arrays.State(
        free=np.array(case.free, np.int64),
        machine=whole(jobs, -1),
        units=whole(jobs),
        worth=np.zeros(2),
        best_machine=whole(jobs, -1),
        best_units=whole(jobs),
        old_machine=whole(jobs),
        old_units=whole(jobs),
        centres=np.arange(wishes),
        around=whole(wishes),
        gone=whole(wishes),
        involved=whole(len(case.free)),
        waiting=whole(wishes),
        moved=whole(jobs),
        wanted=whole(pieces),
        keys=np.zeros(pieces),
    )


def _asked(case: Case) -> arrays.Asked:
    accepted = [0.0] * len(case.wishes)
    graded, unit = 0.0, 1.0
    for level in case.levels:
        if level == "benefit":
            graded = unit
        elif level != "machines":
            weights = [case.weight(level, k) for k in range(len(case.wishes))]
            for k, weight in enumerate(weights):
                accepted[k] += unit * float(weight / sum(weights))
        unit *= _LEVEL
    if graded:
        graded /= float(trivial(case, "benefit")) or 1.0
    lines = [
        (piece.low, piece.high, graded * float(flat), graded * float(steep))
        for i, job in enumerate(case.jobs)
        for piece in job.pieces
        for flat, steep in (coefficients(case, i, piece),)
    ]
    order = [sorted(wish.jobs, key=lambda i: -case.jobs[i].least) for wish in case.wishes]
    around = near(case)
    hosts = [job.machines for job in case.jobs]

    def whole(numbers: Sequence[int]) -> Any:
        return np.array(numbers, np.int64)

    def firsts(rows: Sequence[Sequence[Any]]) -> Any:
        return whole([0, *accumulate(len(row) for row in rows)])

    def flat(rows: Sequence[Sequence[int]]) -> Any:
        return whole([one for row in rows for one in row])

    return arrays.Asked(
        accepted=np.array(accepted),
        first=firsts(order),
        jobs=flat(order),
        near_first=firsts(around),
        near=flat(around),
        start=whole([job.start for job in case.jobs]),
        end=whole([job.end for job in case.jobs]),
        least=whole([job.least for job in case.jobs]),
        hosts_first=firsts(hosts),
        hosts=flat(hosts),
        lines_first=firsts([job.pieces for job in case.jobs]),
        low=whole([low for low, _, _, _ in lines]),
        high=whole([high for _, high, _, _ in lines]),
        flat=np.array([flat for _, _, flat, _ in lines]),
        steep=np.array([steep for _, _, _, steep in lines]),
    )
