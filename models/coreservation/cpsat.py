"""The program for CP-SAT: who is accepted, on which machines, with how much CPU."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from dlopt.backends import cpsat
from dlopt.models.coreservation.objective import Held, Scale, coefficients
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.result import Limits

MOST_LISTED = 64
"""Earlier jobs that are told one by one for a later one; more of them are told by one variable."""


def terms_of(case: Case) -> float:
    """Return about how many literals and coefficients the program of a case has."""
    choices = sum(len(job.machines) for job in case.jobs)
    pieces = sum(len(job.pieces) for job in case.jobs)
    alike_ones = sum(map(len, alike(case)))
    return 6.0 * (choices + pieces) + MOST_LISTED / 2 * alike_ones * len(case.jobs)


class PackingModel:
    """Accept wishes, choose machines and pieces for their jobs, and shares on the pieces.

    Parameters
    ----------
    case : Case
    symmetric : bool
        Leave machines that are alike interchangeable; by default they are used in order.
    """

    def __init__(self, case: Case, *, symmetric: bool = False) -> None:
        self.case = case
        self.model = cpsat.new_model()
        self.accepted = [self.model.new_bool_var(f"x{k}") for k in range(len(case.wishes))]
        self.on: list[dict[int, Any]] = []
        self.pieces: list[list[Any]] = []
        self.rises: list[list[Any]] = []
        self.shares: list[Any] = []
        self.used: list[Any] = []
        self.alike = [] if symmetric else alike(case)
        self.add_jobs()
        self.add_machines()
        self.order_machines()

    def add_jobs(self) -> None:
        """All parts of an accepted request have one machine and one piece, others none."""
        for i, job in enumerate(self.case.jobs):
            accepted = self.accepted[job.wish]
            self.on.append(
                {j: self._part_of(accepted, len(job.machines), f"y{i},{j}") for j in job.machines}
            )
            self.pieces.append(
                [
                    self._part_of(accepted, len(job.pieces), f"z{i},{q}")
                    for q in range(len(job.pieces))
                ]
            )
            for choice in (list(self.on[-1].values()), self.pieces[-1]):
                if len(choice) > 1:
                    self.model.add_exactly_one([*choice, accepted.negated()])
            self._add_share(i)

    def _part_of(self, accepted: Any, choices: int, name: str) -> Any:
        return accepted if choices == 1 else self.model.new_bool_var(name)

    def _add_share(self, i: int) -> None:
        """The share of a part is the low end of its piece and what it rises above that."""
        job = self.case.jobs[i]
        rises, terms, least = [], [], job.least
        for q, (piece, chosen) in enumerate(zip(job.pieces, self.pieces[i], strict=True)):
            rise: Any = 0
            if piece.high > piece.low:
                rise = self.model.new_int_var(0, piece.high - piece.low, f"r{i},{q}")
                self.model.add(rise <= (piece.high - piece.low) * chosen)
                terms.append(rise)
            terms.append((piece.low - least) * chosen)
            rises.append(rise)
        self.rises.append(rises)
        if len(job.pieces) == 1 and job.pieces[0].high == least:
            self.shares.append(least)
        else:  # what is beyond the least, whether or not it is accepted
            share = self.model.new_int_var(least, job.pieces[-1].high, f"c{i}")
            self.model.add(share == least + sum(terms))
            self.shares.append(share)

    def add_machines(self) -> None:
        """At every instant the shares on a machine are no more than what is free of it."""
        case = self.case
        for j in range(len(case.free)):
            mine = [i for i, job in enumerate(case.jobs) if j in job.machines]
            rows = case.rows(mine, (j,))
            crowded = {i for row in rows for i in row.jobs}
            if all(len(case.jobs[i].machines) == 1 for i in crowded):
                for row in rows:
                    self.model.add(sum(self._load(row.jobs)) <= row.free[0])
            else:
                self._add_cumulative(j, sorted(crowded))

    def _add_cumulative(self, j: int, jobs: Sequence[int]) -> None:
        """The jobs on a machine, and what is not free of it, are no more than it has."""
        case, model = self.case, self.model
        first = min(case.jobs[i].start for i in jobs)
        last = max(case.jobs[i].end for i in jobs)
        most = max(case.free[j][first:last])
        intervals, demands = [], []
        for i in jobs:
            job = case.jobs[i]
            intervals.append(
                model.new_optional_fixed_size_interval_var(
                    job.start, job.end - job.start, self.on[i][j], f"i{i},{j}"
                )
            )
            demands.append(self.shares[i])
        since = first
        for t in range(first, last):
            if t + 1 == last or case.free[j][t + 1] != case.free[j][since]:
                if case.free[j][since] < most:
                    intervals.append(
                        model.new_fixed_size_interval_var(since, t + 1 - since, f"h{j},{t}")
                    )
                    demands.append(most - case.free[j][since])
                since = t + 1
        model.add_cumulative(intervals, demands, most)

    def add_pooled(self) -> None:
        """What all machines have together is enough for all parts: this alone bounds well."""
        case = self.case
        for row in case.rows(range(len(case.jobs)), range(len(case.free))):
            self.model.add(sum(self._load(row.jobs)) <= sum(row.free))

    def _load(self, jobs: Sequence[int]) -> list[Any]:
        return [
            load
            for i in jobs
            for piece, chosen, rise in zip(
                self.case.jobs[i].pieces, self.pieces[i], self.rises[i], strict=True
            )
            for load in (piece.low * chosen, rise)
        ]

    def order_machines(self) -> None:
        """Of machines that are alike each is used by some job before the next one is."""
        for group in self.alike:
            allowed = [i for i, job in enumerate(self.case.jobs) if group[0] in job.machines]
            for before, after in pairwise(group):
                earlier: list[Any] = []
                for i in allowed:
                    self.model.add_bool_or([*earlier, self.on[i][after].negated()])
                    earlier.append(self.on[i][before])
                    if len(earlier) > MOST_LISTED:
                        any_of_them = self.model.new_bool_var(f"e{i},{before}")
                        self.model.add_bool_or([*earlier, any_of_them.negated()])
                        earlier = [any_of_them]

    def count_machines(self) -> None:
        """A machine is used if any job is on it that needs a unit; of those alike the first ones.

        Jobs that need none can be beside others, or, where no machine of theirs is used, anywhere.
        """
        self.used = [self.model.new_bool_var(f"u{j}") for j in range(len(self.case.free))]
        for job, on in zip(self.case.jobs, self.on, strict=True):
            for j, placed in on.items() if job.least else ():
                self.model.add_implication(placed, self.used[j])
        for group in self.alike:
            for before, after in pairwise(group):
                self.model.add_implication(self.used[after], self.used[before])

    def worth(self, scale: Scale) -> Any:
        """Return a level of the objective in whole numbers, such that more is better."""
        case, level = self.case, scale.level
        if level == "machines":
            self.count_machines()
            return -sum(self.used)
        if level != "benefit":
            return sum(
                scale.units(case.weight(level, k)) * accepted
                for k, accepted in enumerate(self.accepted)
            )
        terms = []
        for i, job in enumerate(case.jobs):
            for q, piece in enumerate(job.pieces):
                flat, steep = (scale.units(number) for number in coefficients(case, i, piece))
                terms.append(flat * self.pieces[i][q])
                if steep:
                    terms.append(steep * self.rises[i][q])
        return sum(terms)

    def hint(self, held: Held) -> None:
        """Start from a plan."""
        if self.alike:
            held = in_order(self.case, held, self.alike)
        wishes = {self.case.jobs[i].wish for i in held}
        for k, accepted in enumerate(self.accepted):
            self.model.add_hint(accepted, k in wishes)
        for i, job in enumerate(self.case.jobs):
            machine, units = held.get(i, (-1, -1))
            chosen = _piece_of(self.case, i, units) if i in held else -1
            if len(job.machines) > 1:
                for j, placed in self.on[i].items():
                    self.model.add_hint(placed, j == machine)
            for q, piece in enumerate(job.pieces):
                if len(job.pieces) > 1:
                    self.model.add_hint(self.pieces[i][q], q == chosen)
                if piece.high > piece.low:
                    rise = min(units, piece.high) - piece.low if q == chosen else 0
                    self.model.add_hint(self.rises[i][q], rise)
        if self.used:
            busy = {machine for machine, _ in held.values()}
            for j, used in enumerate(self.used):
                self.model.add_hint(used, j in busy)

    def solve(self, limits: Limits, seed: int, effort: float | None = None) -> cpsat.Outcome:
        """Solve the program."""
        return cpsat.optimise(self.model, limits, seed=seed, effort=effort)

    def held(self, outcome: cpsat.Outcome) -> dict[int, tuple[int, int]]:
        """Return the plan of an assignment."""
        value_of = outcome.value_of
        assert value_of is not None
        found = {}
        for i, job in enumerate(self.case.jobs):
            if value_of(self.accepted[job.wish]):
                machine = next(j for j, placed in self.on[i].items() if value_of(placed))
                share = self.shares[i]
                found[i] = machine, share if isinstance(share, int) else value_of(share)
        return found


def alike(case: Case) -> list[list[int]]:
    """Return the machines in groups of those that are interchangeable."""
    groups: Mapping[Any, list[int]] = defaultdict(list)
    for j, free in enumerate(case.free):
        allowed = tuple(j in job.machines for job in case.jobs)
        if any(allowed):
            groups[free, allowed].append(j)
    return [group for group in groups.values() if len(group) > 1]


def in_order(case: Case, held: Held, groups: Sequence[Sequence[int]]) -> dict[int, tuple[int, int]]:
    """Return a plan with machines that are alike renamed: the first job on the first one."""
    renamed = {j: j for j in range(len(case.free))}
    for group in groups:
        first = dict.fromkeys(machine for _, (machine, _) in sorted(held.items()))
        busy = [j for j in first if j in group]
        renamed |= zip([*busy, *(j for j in group if j not in first)], group, strict=True)
    return {i: (renamed[machine], units) for i, (machine, units) in held.items()}


def _piece_of(case: Case, i: int, units: int) -> int:
    """Return the piece of a job on which a share is worth most."""
    pieces = case.jobs[i].pieces

    def worth(q: int) -> tuple[Fraction, int]:
        piece = pieces[q]
        if piece.low > units:
            return Fraction(-1), q
        return piece.worth + piece.slope * (min(units, piece.high) - piece.low), -q

    return max(range(len(pieces)), key=worth)
