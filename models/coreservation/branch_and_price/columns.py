"""What single machines can hold, one by one.

A pattern is a set of parts that fit on a machine, worth what they are at their best shares there. A
plan is a pattern a machine, such that each part of an accepted request is in one of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dlopt.models.coreservation.objective import Held, Scale, level_of, worth_at
from dlopt.models.coreservation.requests import Wish
from dlopt.models.coreservation.scaled_instance import Case

FINEST = 1 << 46
"""Prices are whole numbers, such that all there is amounts to no more than this.

CP-SAT tells bounds in floats: below 2^53 they are whole, and what parts pay is a few times as much.
"""


@dataclass(frozen=True, slots=True)
class Group:
    """Machines that are alike: one of them alone with all parts that it could hold.

    Parameters
    ----------
    machines : tuple of int
    jobs : tuple of int
        Those that may be there, and
    alone : Case
        the machine with them, each a request by itself.
    """

    machines: tuple[int, ...]
    jobs: tuple[int, ...]
    alone: Case


def groups_of(case: Case) -> tuple[Group, ...]:
    """Return the machines in groups of those that are alike, but for those that hold nothing."""
    alike: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = defaultdict(list)
    for j, free in enumerate(case.free):
        jobs = tuple(i for i, job in enumerate(case.jobs) if j in job.machines)
        if jobs:
            alike[free, jobs].append(j)
    return tuple(
        Group(tuple(machines), jobs, _alone(case, jobs, free))
        for (free, jobs), machines in alike.items()
    )


def _alone(case: Case, jobs: Sequence[int], free: tuple[int, ...]) -> Case:
    """Return a machine alone with some jobs, each a request by itself."""
    own, wishes = [], []
    for n, i in enumerate(jobs):
        job, wish = case.jobs[i], case.wishes[case.jobs[i].wish]
        own.append(replace(job, wish=n, machines=(0,)))
        wishes.append(Wish(wish.request, job.start, job.end, wish.priority, (n,)))
    return replace(case, jobs=tuple(own), wishes=tuple(wishes), free=(free,))


@dataclass(frozen=True, slots=True)
class Branch:
    """Some requests accepted or rejected; some pairs of parts on one machine, or not.

    Parameters
    ----------
    wishes : mapping of int to bool
    pairs : mapping of (int, int) to bool
    """

    wishes: Mapping[int, bool]
    pairs: Mapping[tuple[int, int], bool]

    def allows(self, case: Case, pattern: frozenset[int]) -> bool:
        """Tell whether a pattern may be part of a plan."""
        if any(self.wishes.get(case.jobs[i].wish) is False for i in pattern):
            return False
        return all(
            (pair[0] in pattern and pair[1] in pattern) if one else not pattern.issuperset(pair)
            for pair, one in self.pairs.items()
            if pair[0] in pattern or pair[1] in pattern
        )


class Patterns:
    """The patterns that are known, and what they are worth in whole numbers.

    Parameters
    ----------
    case : Case
    level : str
        Any but ``machines``, with an exact `Scale`.

    Attributes
    ----------
    groups : tuple of Group
    scale : Scale
    step : int
        What plans are worth is a multiple of it.
    total : Fraction
        No plan is worth more.
    worths : list of int
        What a request adds that is accepted, beside its parts.
    known : list of dict
        Of each group what its patterns are worth, and their shares.
    """

    def __init__(self, case: Case, level: str) -> None:
        self.case, self.level = case, level
        self.groups = groups_of(case)
        self.total = Fraction(0)
        for k, wish in enumerate(case.wishes):
            self.total += case.weight(level, k) * (len(wish.jobs) if level == "benefit" else 1)
        scale = Scale.of(case, level)
        self.step = 1
        while scale.factor * self.step * 2 * max(self.total, Fraction(1)) <= FINEST:
            self.step *= 2
        self.scale = replace(scale, factor=scale.factor * self.step)
        self.worths = [0] * len(case.wishes)
        if level != "benefit":
            self.worths = [self.scale.units(case.weight(level, k)) for k in range(len(case.wishes))]
        self.known: list[dict[frozenset[int], tuple[int, Held]]] = [{} for _ in self.groups]

    def add(self, n: int, held: Held) -> bool:
        """Add a pattern of a group, and tell whether it is new."""
        pattern = frozenset(held)
        if pattern in self.known[n]:
            return False
        worth = Fraction(0)
        if self.level == "benefit":
            for i, (_, units) in held.items():
                job = self.case.jobs[i]
                worth += self.case.weight("benefit", job.wish) * worth_at(job.pieces, units)
        self.known[n][pattern] = self.scale.units(worth), held
        return True

    def add_plan(self, held: Held) -> None:
        """Add the patterns of a plan."""
        for n, group in enumerate(self.groups):
            for j in group.machines:
                own = {i: (0, units) for i, (machine, units) in held.items() if machine == j}
                if own:
                    self.add(n, own)

    def value(self, held: Held) -> int:
        """Return what a plan is worth."""
        if self.level == "benefit":
            return self.scale.units(level_of(self.case, "benefit", held))
        return sum(self.worths[k] for k in {self.case.jobs[i].wish for i in held})

    def bound(
        self, most: Sequence[int], prices: Sequence[int], branch: Branch, *, worth: bool = True
    ) -> int:
        """Return what no plan of a subproblem exceeds.

        Parameters
        ----------
        most : sequence of int
            Of each group what the dearest pattern is worth, less what it pays.
        prices : sequence of int
            Of all parts.
        branch : Branch
        worth : bool
            Whether requests are worth what they add, or nothing.
        """
        pairs = zip(most, self.groups, strict=True)
        bound = sum(one * len(group.machines) for one, group in pairs)
        for k, wish in enumerate(self.case.wishes):
            paid = self.worths[k] * worth + sum(prices[i] for i in wish.jobs)
            decided = branch.wishes.get(k)
            bound += max(paid, 0) if decided is None else paid * decided
        return bound
