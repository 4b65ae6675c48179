"""Plans improved by deciding a few machines again, and again, exactly: for sizes beyond proof."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from dlopt.backends.time_budget import Budget
from dlopt.models.bag.cpsat import Program
from dlopt.models.bag.makespan_bound import Weighed
from dlopt.models.bag.scaled_instance import Case
from dlopt.models.bag.solutions import Orders, ends_in_units, in_best_order, kept, key_of
from dlopt.result import Status

_FIRST = 3
"""Machines that are decided together at first."""
_PATIENCE = 4
"""Tries without success after which there are more of them."""
_EFFORT = 0.5
"""Deterministic time of a program."""
_REJECTED = 60
"""Jobs without a machine that a program looks at."""

_WHOLE = 0.999
"""Of a share that is taken for the whole."""


class Neighbourhood:
    """A plan, and the search around it.

    Parameters
    ----------
    case : Case
    orders : tuple of tuple of int
        The plan to begin with.
    budget : Budget
    seed : int
    weighed : Weighed, optional
        A bound of the makespan: it tells which pairs of a job and a machine are of no use.

    Attributes
    ----------
    exhausted : bool
        Whether all machines and jobs were decided together, so that no more is to be gained.
    """

    def __init__(
        self, case: Case, orders: Orders, budget: Budget, seed: int, weighed: Weighed | None
    ) -> None:
        self.case, self.orders, self.budget, self.weighed = case, orders, budget, weighed
        self._used = [k for k in case.machines if case.able[k]]
        self.random, self.seed = Random(seed), seed
        self.size, self.failures = _FIRST, 0
        self.exhausted = False

    def improve(self) -> bool:
        """Decide some machines again; tell whether the plan is better.

        Raises
        ------
        TimeoutError
            If no time is left.
        """
        machines = self._chosen()
        jobs = tuple(job for k in machines for job in self.orders[k]) + self._rejected()
        status, better = self._decide(jobs, self._places(jobs, set(machines)), machines)
        everything = len(jobs) == len(self.case.jobs) and len(machines) == len(self._used)
        self.exhausted = everything and status is Status.OPTIMAL
        if not better:
            self._fail()
        return better

    def settle(self, split: set[int]) -> bool:
        """Decide where some jobs go, all others stay; tell whether the plan is better."""
        where = {job: k for k, order in enumerate(self.orders) for job in order}
        jobs = tuple(sorted(where))
        places = [set(self.case.places[job]) if job in split else {where[job]} for job in jobs]
        return self._decide(jobs, places, list(self.case.machines))[1]

    def _decide(
        self, jobs: tuple[int, ...], places: list[set[int]], machines: list[int]
    ) -> tuple[Status, bool]:
        """Solve a part of the program; take what is better."""
        limits = replace(self.budget.left(), threads=1)
        part = self.case.only(jobs, places)
        place = {job: n for n, job in enumerate(jobs)}
        own = tuple(
            tuple(place[job] for job in order) if k in machines else ()
            for k, order in enumerate(self.orders)
        )
        program = Program(part)
        self._aim(program)
        program.hint(own)
        outcome = program.solve(limits, self.seed, _EFFORT)
        if outcome.value_of is None:
            return outcome.status, False
        found = program.orders(outcome)
        orders = tuple(
            tuple(jobs[n] for n in found[k]) if k in machines else order
            for k, order in enumerate(self.orders)
        )
        orders = kept(self.case, orders)
        better = key_of(self.case, orders) > key_of(self.case, self.orders)
        if better:
            self.orders, self.failures = orders, 0
        return outcome.status, better

    def _chosen(self) -> list[int]:
        """Return machines at random; of a makespan, that which ends last is one of them."""
        used = self._used
        if self.case.kind != "makespan":
            return self.random.sample(used, min(self.size, len(used)))
        ends = ends_in_units(self.case, self.orders)
        last = max(used, key=lambda k: ends[k])
        others = [k for k in used if k != last]
        return [last, *self.random.sample(others, min(self.size - 1, len(others)))]

    def _rejected(self) -> tuple[int, ...]:
        """Return some of the jobs that no machine runs."""
        held = {job for order in self.orders for job in order}
        left = [job for job in range(len(self.case.jobs)) if job not in held]
        return tuple(self.random.sample(left, min(_REJECTED, len(left))))

    def _places(self, jobs: tuple[int, ...], machines: set[int]) -> list[set[int]]:
        """Return where jobs may run: on chosen machines, and where it makes sense."""
        places = [machines.intersection(self.case.places[job]) for job in jobs]
        if self.weighed is None:
            return places
        where = {job: k for k, order in enumerate(self.orders) for job in order}
        last = max(ends_in_units(self.case, self.orders))
        return [
            own & self.weighed.useful(job, last) | {where[job]}
            for job, own in zip(jobs, places, strict=True)
        ]

    def _aim(self, program: Program) -> None:
        """State the objective of a program; of levels, all at once."""
        if self.case.kind == "makespan":
            program.minimise_last_end(0)
        elif self.case.kind == "flowtime":
            program.minimise_ends()
        else:
            program.maximise_counts()

    def _fail(self) -> None:
        self.failures += 1
        if self.failures >= _PATIENCE:
            self.size, self.failures = min(self.size + 1, len(self.case.machines)), 0


def split_jobs(case: Case, weighed: Weighed) -> set[int]:
    """Return the jobs that the relaxation does not put on one machine."""
    most = [0.0] * len(case.jobs)
    for (job, _), share in weighed.shares.items():
        most[job] = max(most[job], share)
    return {job for job, share in enumerate(most) if share < _WHOLE}


def rounded(case: Case, weighed: Weighed) -> Orders:
    """Return a plan: every job where the relaxation puts most of it."""
    sets: list[list[int]] = [[] for _ in case.machines]
    for job, places in enumerate(case.places):
        best = max(places, key=lambda k: weighed.shares.get((job, k), 0.0))
        sets[best].append(job)
    return in_best_order(case, sets)
