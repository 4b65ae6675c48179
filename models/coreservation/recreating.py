"""A search that takes requests away and puts them back one by one, thousands of times.

Some requests that overlap are taken away, and others there give back what they have beyond their
least. Then requests are placed with their least shares, those worth most for their CPU first, and
shares are raised, again those worth most first; all of it with some noise. What comes of it is
kept if it is no worse, or a little worse at the beginning (ruin and recreate: Schrimpf et al.,
Journal of Computational Physics 159, 2000; annealing: Kirkpatrick, Gelatt and Vecchi, Science 220,
1983). Worths are floats here; what counts is compared exactly in the end.
"""

from __future__ import annotations

import random
import time
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from math import exp, inf

from dlopt.models.coreservation.case import Case
from dlopt.models.coreservation.worth import Held, coefficients, key_of, trivial

_MOST = 8
"""Requests to take away, at the most."""
_RELAXED, _BEST_FIT, _LEAST_FIRST, _OTHERS = 0.7, 0.5, 0.5, 0.3
"""How often others give back; the fullest machine is taken; least shares give the order; a request
that was rejected before is tried."""
_NOISE = (0.0, 0.3, 0.6)
_WARM, _COLD = 4e-3, 4e-5
"""How much worse is kept, by what a request is worth: at the beginning, and in the end."""
_LEVEL = 1e-3
"""What a level counts for, by the one before."""


class Recreation:
    """Improves a plan.

    Parameters
    ----------
    case : Case
    held : Held
        A valid plan.
    seed : int
    """

    def __init__(self, case: Case, held: Held, seed: int = 0) -> None:
        self.case, self.random, self.start = case, random.Random(seed), dict(held)
        self.free = [list(free) for free in case.free]
        self.windows = [(job.start, job.end) for job in case.jobs]
        self.least = [job.least for job in case.jobs]
        self.accepted = [0.0] * len(case.wishes)
        graded, unit = 0.0, 1.0
        for level in case.levels:
            if level == "benefit":
                graded = unit
            elif level != "machines":
                weights = [case.weight(level, k) for k in range(len(case.wishes))]
                for k, weight in enumerate(weights):
                    self.accepted[k] += unit * float(weight / sum(weights))
            unit *= _LEVEL
        if graded:
            graded /= float(trivial(case, "benefit")) or 1.0
        self.pieces: list[list[tuple[int, int, float, float]]] = []
        for i, job in enumerate(case.jobs):
            pairs = [coefficients(case, i, piece) for piece in job.pieces]
            self.pieces.append(
                [
                    (piece.low, piece.high, graded * float(flat), graded * float(steep))
                    for piece, (flat, steep) in zip(job.pieces, pairs, strict=True)
                ]
            )
        self.starts = [wish.start for wish in case.wishes]
        self.longest = max((wish.end - wish.start for wish in case.wishes), default=0)
        self.held: dict[int, tuple[int, int]] = {}
        self.value = 0.0
        for i, (machine, units) in held.items():
            self._put(i, machine, units)
        self.value += sum(self.accepted[k] for k in {case.jobs[i].wish for i in held})

    def run(self, steps: int, stop: float = inf) -> dict[int, tuple[int, int]]:
        """Return the best plan, after so many steps or at an instant of the monotonic clock.

        It is no worse than the one to start from.
        """
        best, plan = self.value, dict(self.held)
        begun = time.monotonic()
        for step in range(steps if self.case.wishes else 0):
            done = step / steps
            if stop < inf:
                now = time.monotonic()
                if now >= stop:
                    break
                done = max(done, (now - begun) / (stop - begun))
            warmth = _WARM * (_COLD / _WARM) ** done / len(self.case.wishes)
            if self._step(warmth) and self.value > best + 1e-12:
                best, plan = self.value, dict(self.held)
        return max(self.start, plan, key=lambda held: key_of(self.case, held))

    def _step(self, warmth: float) -> bool:
        """Take requests away and put requests back; tell whether the plan has changed."""
        draw, wishes, held = self.random, self.case.wishes, self.held
        near = self._near(draw.randrange(len(wishes)))
        chosen = {near[0], *draw.sample(near, min(len(near), draw.randint(1, _MOST)))}
        around = sorted({k for one in chosen for k in self._near(one)})
        jobs = [i for k in around for i in wishes[k].jobs]
        before, value = {i: held[i] for i in jobs if i in held}, self.value
        touched = self._ruin(chosen, around)
        waiting = [
            k
            for k in around
            if wishes[k].jobs[0] not in held and (k in chosen or draw.random() < _OTHERS)
        ]
        self._recreate(waiting, touched)
        loss = value - self.value
        if loss <= 1e-15 or draw.random() < exp(-loss / warmth):
            return True
        for i in jobs:
            if held.get(i) != before.get(i):
                if i in held:
                    self._take(i)
                if i in before:
                    self._put(i, *before[i])
        self.value = value
        return False

    def _ruin(self, chosen: set[int], around: Iterable[int]) -> list[int]:
        """Take requests away, and perhaps what others have beyond their least; return these."""
        relaxed, touched = self.random.random() < _RELAXED, []
        for k in around:
            own = [i for i in self.case.wishes[k].jobs if i in self.held]
            if k in chosen and own:
                self.value -= self.accepted[k]
                for i in own:
                    self._take(i)
                continue
            touched += own
            for i in own if relaxed else ():
                machine, units = self.held[i]
                if units > self.least[i]:
                    self._take(i)
                    self._put(i, machine, self.least[i])
        return touched

    def _recreate(self, waiting: list[int], touched: list[int]) -> None:
        """Place requests with their least shares, then raise shares."""
        draw, noise = self.random, self.random.choice(_NOISE)
        least_first, best_fit = draw.random() < _LEAST_FIRST, draw.random() < _BEST_FIT

        def density(k: int) -> float:
            jobs = self.case.wishes[k].jobs
            worth = self.accepted[k]
            for i in jobs:
                low, high, flat, steep = self.pieces[i][0 if least_first else -1]
                worth += flat + (0 if least_first else steep * (high - low))
            size = sum(self.least[i] * (self.windows[i][1] - self.windows[i][0]) for i in jobs)
            return -worth / size * (1 - noise * draw.random())

        for k in sorted(waiting, key=density):
            if self._place(k, best_fit, noise):
                touched += self.case.wishes[k].jobs
        self._raise(touched, noise)

    def _place(self, k: int, best_fit: bool, noise: float) -> bool:
        """Place all parts of a request with their least shares, or none; tell which."""
        draw, done = self.random, list[int]()
        for i in sorted(self.case.wishes[k].jobs, key=lambda i: -self.least[i]):
            start, end = self.windows[i]
            chosen, lowest = -1, inf
            for machine in self.case.jobs[i].machines:
                room = min(self.free[machine][start:end]) - self.least[i]
                if room >= 0:
                    key = (room if best_fit else -room) * (1 + noise * draw.random())
                    if key < lowest:
                        chosen, lowest = machine, key
            if chosen < 0:
                for other in done:
                    self._take(other)
                return False
            self._put(i, chosen, self.least[i])
            done.append(i)
        self.value += self.accepted[k]
        return True

    def _raise(self, jobs: Iterable[int], noise: float) -> None:
        """Raise shares, to the ends of pieces or as far as there is room."""
        draw = self.random
        wanted: list[tuple[float, int]] = []
        for i in jobs:
            units = self.held[i][1]
            now = self._worth(i, units)
            length = self.windows[i][1] - self.windows[i][0]
            for low, high, flat, steep in self.pieces[i]:
                gain = flat + steep * (high - low) - now
                if high > units and gain > 0:
                    density = gain / ((high - units) * length)
                    wanted.append((-density * (1 - noise * draw.random()), i))
        for _, i in sorted(wanted):
            machine, units = self.held[i]
            start, end = self.windows[i]
            room = units + min(self.free[machine][start:end])
            best, most = units, self._worth(i, units)
            for low, high, flat, steep in self.pieces[i]:
                if low <= room:
                    reached = min(high, room)
                    worth = flat + steep * (reached - low)
                    if reached > units and worth > most:
                        best, most = reached, worth
            if best > units:
                self._take(i)
                self._put(i, machine, best)

    def _near(self, centre: int) -> Sequence[int]:
        """Return the requests that share an instant with one of them, itself first."""
        one = self.case.wishes[centre]
        first = bisect_right(self.starts, one.start - self.longest - 1)
        last = bisect_right(self.starts, one.end - 1)
        found = (k for k in range(first, last) if self.case.wishes[k].end > one.start)
        return [centre, *(k for k in found if k != centre)]

    def _put(self, i: int, machine: int, units: int) -> None:
        self.held[i] = machine, units
        self._load(i, machine, units)
        self.value += self._worth(i, units)

    def _take(self, i: int) -> None:
        machine, units = self.held.pop(i)
        self._load(i, machine, -units)
        self.value -= self._worth(i, units)

    def _load(self, i: int, machine: int, units: int) -> None:
        (start, end), free = self.windows[i], self.free[machine]
        free[start:end] = [room - units for room in free[start:end]]

    def _worth(self, i: int, units: int) -> float:
        best = 0.0
        for low, high, flat, steep in self.pieces[i]:
            if low <= units:
                best = max(best, flat + steep * (min(units, high) - low))
        return best
