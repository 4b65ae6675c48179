"""The program for CP-SAT: which machine runs each job, and when where that matters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dlopt.backends import cpsat
from dlopt.models.bag.scaled_instance import MOST_LISTED, Case
from dlopt.models.bag.solutions import Orders, in_best_order
from dlopt.result import Limits

_WINDOWS = 12
"""Starts and ends of windows that are stated though the intervals imply them."""


def terms_of(case: Case) -> float:
    """Return about how many literals and coefficients the program of a case has.

    Complexity: O(jobs x machines).
    """
    terms = 3.0 * sum(map(len, case.places))
    dues = len({due for due in case.dues if due is not None})
    for k in case.machines:
        jobs = len(case.able[k])
        starts = len({case.arrivals[job][k] for job in case.able[k]})
        if case.kind == "makespan":
            terms += starts * jobs / 2
        elif case.kind == "count":  # windows, half of whose jobs are inside on average
            ends = dues if starts <= 1 else min(dues, _WINDOWS)
            terms += min(starts, _WINDOWS) * ends * jobs / 4
        if case.kind == "flowtime" or starts > 1:
            terms += 4 * jobs
    together = MOST_LISTED / 2
    return terms + sum(together * len(group) * len(case.able[group[0]]) for group in case.alike)


class Program:
    """Choose machines for jobs, so that each machine has an order of its own in time.

    Parameters
    ----------
    case : Case
    symmetric : bool
        Leave machines that are alike interchangeable; by default they are used in order.
    """

    def __init__(self, case: Case, *, symmetric: bool = False) -> None:
        self.case = case
        self.model = cpsat.new_model()
        self.on: list[dict[int, Any]] = []
        self.starts: dict[tuple[int, int], Any] = {}
        self.ends: list[Any] = []
        self.last: Any = None
        self.alike = [] if symmetric else case.alike
        self.add_jobs()
        self.add_machines()
        self.order_machines()

    def add_jobs(self) -> None:
        """A job runs on one machine; if it has a deadline, it may run on none."""
        for job, places in enumerate(self.case.places):
            on = {k: self.model.new_bool_var(f"x{job},{k}") for k in places}
            self.on.append(on)
            if self.case.dues[job] is None:
                self.model.add_exactly_one(on.values())
            else:
                self.model.add_at_most_one(on.values())

    def add_machines(self) -> None:
        """A machine runs one job at a time, each after its arrival and in time."""
        case = self.case
        if case.kind == "makespan":
            self._add_last_end()
            return
        for k in case.machines:
            rows = case.windows(k, None if case.together(k) else _WINDOWS)
            for start, end, jobs in rows if case.kind == "count" else ():
                self.model.add(self._load(jobs, k) <= end - start)
            if case.kind == "flowtime" or not case.together(k):
                self._add_intervals(k)

    def _add_last_end(self) -> None:
        """All machines end by the makespan: what comes at some instant or later, fits after it."""
        case = self.case
        self.last = self.model.new_int_var(0, case.horizon, "C")
        for k in case.machines:
            for start, _, jobs in case.tails(k, case.longest):
                self.model.add(self._load(jobs, k) + start <= self.last)
            for job, (start, _, jobs) in case.late_tails(k):
                self.model.add(self._load(jobs, k) + start * self.on[job][k] <= self.last)

    def _load(self, jobs: Sequence[int], machine: int) -> Any:
        return sum(self.case.length(job, machine) * self.on[job][machine] for job in jobs)

    def _add_intervals(self, machine: int) -> None:
        """Jobs on a machine do not overlap."""
        case, model, intervals = self.case, self.model, []
        for job in case.able[machine]:
            length, due = case.length(job, machine), case.dues[job]
            last = (case.horizon if due is None else due) - length
            start = model.new_int_var(case.arrivals[job][machine], last, f"s{job},{machine}")
            self.starts[job, machine] = start
            intervals.append(
                model.new_optional_fixed_size_interval_var(
                    start, length, self.on[job][machine], f"i{job},{machine}"
                )
            )
        model.add_no_overlap(intervals)

    def order_machines(self) -> None:
        """Of machines that are alike each has an earlier job than the next one."""
        for group in self.alike:
            for before, after in pairwise(group):
                earlier: list[Any] = []
                for job in self.case.able[before]:
                    self.model.add_bool_or([*earlier, self.on[job][after].negated()])
                    earlier.append(self.on[job][before])
                    if len(earlier) > MOST_LISTED:
                        any_of_them = self.model.new_bool_var(f"e{job},{before}")
                        self.model.add_bool_or([*earlier, any_of_them.negated()])
                        earlier = [any_of_them]

    def minimise_last_end(self, least: int) -> None:
        """Make the makespan small; it is known to be no less than `least`."""
        self.model.add(self.last >= least)
        self.model.minimize(self.last)

    def minimise_ends(self) -> None:
        """Make the sum of all ends small; to state a bound of it makes CP-SAT slow."""
        case = self.case
        for job, on in enumerate(self.on):
            end = self.model.new_int_var(0, case.horizon, f"e{job}")
            for k, placed in on.items():
                done = self.starts[job, k] + case.length(job, k)
                self.model.add(end >= done).only_enforce_if(placed)
            self.model.add(end >= sum(self._least_end(job, k) * on[k] for k in on))
            self.ends.append(end)
        self.model.minimize(sum(self.ends))

    def _least_end(self, job: int, machine: int) -> int:
        return self.case.arrivals[job][machine] + self.case.length(job, machine)

    def maximise_count(self, level: str, most: int) -> None:
        """Make a number of jobs large; it is known to be no more than `most`."""
        count = self._count(level)
        self.model.add(count <= most)
        self.model.maximize(count)

    def maximise_counts(self) -> None:
        """Make all levels of numbers of jobs large, the first ones first."""
        total: Any = 0
        for level in self.case.levels:
            total = (len(self.on) + 1) * total + self._count(level)
        self.model.maximize(total)

    def require(self, level: str, count: int) -> None:
        """Ask for plans that are as good on a level of numbers of jobs."""
        self.model.add(self._count(level) >= count)

    def _count(self, level: str) -> Any:
        counted = zip(self.case.weights(level), self.on, strict=True)
        return sum(placed for weight, on in counted if weight for placed in on.values())

    def hint(self, orders: Orders) -> None:
        """Start from a plan; to be called when the objective stands."""
        case = self.case
        orders = self._renamed(orders)
        where: dict[int, int] = {}
        starts: dict[int, int] = {}
        for k, order in enumerate(orders):
            clock = 0
            for job in order:
                starts[job] = max(clock, case.arrivals[job][k])
                clock = starts[job] + case.length(job, k)
                where[job] = k
        for job, on in enumerate(self.on):
            for k, placed in on.items():
                self.model.add_hint(placed, where.get(job) == k)
                if (job, k) in self.starts:
                    here = starts[job] if where.get(job) == k else case.arrivals[job][k]
                    self.model.add_hint(self.starts[job, k], here)
        ends = {job: starts[job] + case.length(job, k) for job, k in where.items()}
        if self.last is not None:
            self.model.add_hint(self.last, max(ends.values()))
        for job, end in enumerate(self.ends):
            self.model.add_hint(end, ends[job])

    def _renamed(self, orders: Orders) -> Orders:
        """Return a plan with machines that are alike renamed: the first job on the first one."""
        renamed = list(orders)
        for group in self.alike:
            mine = sorted(
                (orders[k] for k in group), key=lambda jobs: min(jobs, default=len(self.on))
            )
            for k, jobs in zip(group, mine, strict=True):
                renamed[k] = jobs
        return tuple(renamed)

    def solve(self, limits: Limits, seed: int, effort: float | None = None) -> cpsat.Outcome:
        """Solve the program."""
        return cpsat.optimise(self.model, limits, seed=seed, effort=effort)

    def orders(self, outcome: cpsat.Outcome) -> Orders:
        """Return the plan of an assignment."""
        value_of = outcome.value_of
        assert value_of is not None
        sets: list[list[int]] = [[] for _ in self.case.machines]
        for job, on in enumerate(self.on):
            for k, placed in on.items():
                if value_of(placed):
                    sets[k].append(job)
        found = list(in_best_order(self.case, sets))
        for k, jobs in enumerate(sets):
            if all((job, k) in self.starts for job in jobs):
                found[k] = tuple(sorted(jobs, key=lambda job: value_of(self.starts[job, k])))
        return tuple(found)
