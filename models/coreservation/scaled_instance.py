"""An instance as the models see it: whole numbers of CPU, instants by rank, what can be accepted.

**Lemma (whole shares).** If capacities and the ends of all pieces of benefit functions are whole,
some optimal plan has whole shares. *Proof.* Keep who is accepted, on which machines, and on which
piece of its function each part lies, closed at its upper end (where a jump follows, the upper
value holds, which is no worse). What is left are shares between whole bounds, worth most as a
linear function, with one row an instant and machine. A part is active in consecutive instants: the
rows are an interval matrix, which is totally unimodular, so a vertex is whole.

**Lemma (floats).** Of an instance with a float, `check` accepts shares that fall short of the least
CPU by a factor ``d = FLOATING + ROUNDING``, and machines that are overloaded by ``o``, which is
`FLOATING` times the least CPU asked for and `ROUNDING` times the most. To each such plan there is
one with true shares, the same requests accepted on the same machines, worth no less, which loads
no machine beyond ``(free + o) / (1 - d)``. *Proof.* Raise every share to the least CPU of its
part, and lower it to what the part asks for: its benefit does not fall. What is raised grows by a
factor of ``1 / (1 - d)`` at the most. So cases of such instances have that capacity, rounded down
to whole units; it is what is free itself unless units are finer than the allowance.

Least shares and the ends of pieces are whole, so rounding down loses no choice of machines and
pieces, but less than a unit of what shares rise on their pieces. A plan keeps the capacity again if
each share falls by what was rounded off, or to the low end of its piece: the benefit that this
loses at the most is `Case.allowance`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby, pairwise
from math import gcd, lcm
from operator import itemgetter

from dlopt.arithmetic import FLOATING, ROUNDING, Number, exact
from dlopt.models.coreservation.requests import Job, Piece, Row, Wish
from dlopt.problems.coreservation.benefit_functions import benefit_at
from dlopt.problems.coreservation.data import Instance, Part
from dlopt.problems.coreservation.goals import OBJECTIVES

LARGEST = 1 << 40
"""Whole numbers of CPU beyond this are too large for solvers to add up."""


@dataclass(frozen=True, slots=True)
class Case:
    """An instance under one objective.

    Parameters
    ----------
    instance : Instance
    objective : str
    unit : Fraction
        The CPU that 1 stands for.
    jobs : tuple of Job
    wishes : tuple of Wish
        By start.
    free : tuple of tuple of int, shape (machines, instants)
        What can be reserved of a machine from an instant to the next, in units.
    priorities : Fraction
        The sum of all priorities.
    spare : int, default 0
        By so many units `free` exceeds what can be reserved, because `check` allows it.
    allowance : Fraction, default 0
        By so much the benefit of a plan that `check` accepts may exceed the best one of the case.
    """

    instance: Instance
    objective: str
    unit: Fraction
    jobs: tuple[Job, ...]
    wishes: tuple[Wish, ...]
    free: tuple[tuple[int, ...], ...]
    priorities: Fraction
    spare: int = 0
    allowance: Fraction = Fraction(0)

    @classmethod
    def of(cls, instance: Instance, objective: str = "benefit", *, widened: bool = True) -> Case:
        """Return an instance as the models see it.

        Parameters
        ----------
        instance : Instance
        objective : str
        widened : bool, default True
            Range over all plans that `check` accepts by default; else only over those that keep
            the capacities exactly, which is the same if all numbers are exact.
        """
        return _Reader(instance, objective, widened=widened).case()

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of the objective, the first one first."""
        return OBJECTIVES[self.objective].levels or (self.objective,)

    @property
    def too_fine(self) -> str | None:
        """Why the CPU cannot be counted in whole numbers, or None if it can."""
        largest = max(map(max, self.free))
        if largest <= LARGEST:
            return None
        return (
            f"shares and capacities have no common unit of at least 2^-40 of the largest: counted "
            f"in whole numbers they need {largest.bit_length()} bits (a float stands for the "
            "decimal that it prints; give fewer digits)"
        )

    def rows(self, jobs: Iterable[int], machines: Sequence[int]) -> tuple[Row, ...]:
        """Return the instants at which some jobs may be too much for some machines."""
        return tuple(
            row
            for row in self.crowds(jobs, machines)
            if sum(self.jobs[i].pieces[-1].high for i in row.jobs) > min(row.free)
        )

    def crowds(
        self, jobs: Iterable[int] | None = None, machines: Sequence[int] | None = None
    ) -> tuple[Row, ...]:
        """Return the instants at which most is there: any other has fewer jobs, or more room."""
        jobs = range(len(self.jobs)) if jobs is None else jobs
        machines = range(len(self.free)) if machines is None else machines
        turns: dict[int, list[int]] = {}
        for i in jobs:
            turns.setdefault(self.jobs[i].start, []).append(i)
        found: list[tuple[int, frozenset[int], tuple[int, ...]]] = []
        active: frozenset[int] = frozenset()
        for instant in range(len(self.free[0])):
            active = frozenset(
                [*(i for i in active if self.jobs[i].end > instant), *turns.get(instant, ())]
            )
            free = tuple(self.free[j][instant] for j in machines)
            while found and _implied(found[-1], active, free):
                found.pop()
            if active and not (found and _implied((0, active, free), *found[-1][1:])):
                found.append((instant, active, free))
        return tuple(Row(instant, tuple(sorted(active)), free) for instant, active, free in found)

    def weight(self, level: str, wish: int) -> Fraction:
        """Return what accepting a request counts for; of the benefit, all parts at their best."""
        one = self.wishes[wish]
        if level == "benefit":
            request = self.instance.requests[one.request]
            return one.priority / (len(request.parts) * self.priorities)
        return one.priority if level == "rejected-priority" else Fraction(1)

    def value(self, level: str, accepted: Fraction) -> Fraction:
        """Return the level of the objective, given the weight of what is accepted."""
        if level == "rejections":
            return len(self.instance.requests) - accepted
        return self.priorities - accepted if level == "rejected-priority" else accepted

    def within(
        self, wishes: Sequence[int], free: Sequence[Sequence[int]], fixed: Mapping[int, int]
    ) -> Case:
        """Return the case of some wishes, where so much is free; some jobs fixed to a machine.

        Instants are counted from the first of their windows.
        """
        since = min(self.wishes[k].start for k in wishes)
        until = max(self.wishes[k].end for k in wishes)
        jobs: list[Job] = []
        chosen: list[Wish] = []
        for k in wishes:
            one = self.wishes[k]
            first = len(jobs)
            for i in one.jobs:
                machines = (fixed[i],) if i in fixed else self.jobs[i].machines
                job = self.jobs[i]
                start, end = job.start - since, job.end - since
                jobs.append(Job(len(chosen), job.part, start, end, job.pieces, machines))
            own, start, end = tuple(range(first, len(jobs))), one.start - since, one.end - since
            chosen.append(Wish(one.request, start, end, one.priority, own))
        table = tuple(tuple(own[since:until]) for own in free)
        return replace(self, jobs=tuple(jobs), wishes=tuple(chosen), free=table)

    def spans(self) -> tuple[tuple[int, ...], ...]:
        """Return the wishes in groups: those of different groups share no instant."""
        groups: list[list[int]] = []
        until = -1
        for k, wish in enumerate(self.wishes):
            if wish.start >= until:
                groups.append([])
            groups[-1].append(k)
            until = max(until, wish.end)
        return tuple(map(tuple, groups))


def _implied(
    weak: tuple[int, frozenset[int], tuple[int, ...]],
    jobs: frozenset[int],
    free: tuple[int, ...],
) -> bool:
    """Tell whether a row follows from jobs that are active together where so much is free."""
    return weak[1] <= jobs and all(a >= b for a, b in zip(weak[2], free, strict=True))


class _Reader:
    """Makes a case of an instance."""

    def __init__(self, instance: Instance, objective: str, *, widened: bool) -> None:
        self.instance, self.objective = instance, objective
        self.widened = widened and not instance.exact
        levels = OBJECTIVES[objective].levels or (objective,)
        self.graded = "benefit" in levels
        instants = {exact(i) for machine in instance.machines for i, _ in machine.steps}
        windows = [(one.start, one.end) for one in instance.requests]
        windows += [(one.start, one.end) for one in instance.holdings]
        for start, end in windows:
            instants |= {exact(start), exact(end)}
        self.rank = {instant: rank for rank, instant in enumerate(sorted(instants))}

    def case(self) -> Case:
        plain = self._free()
        free = self._allowed(plain) if self.widened else plain
        parts = [
            (k, p, self._lines(part), self._places(request.start, request.end, part, free))
            for k, request in enumerate(self.instance.requests)
            for p, part in enumerate(request.parts)
        ]
        hopeless = {k for k, _, _, places in parts if not places}
        parts = [one for one in parts if one[0] not in hopeless]
        unit = self._unit([lines for _, _, lines, _ in parts], plain)
        most = sum(int(lines[-1][1] / unit) for _, _, lines, _ in parts) + 1
        jobs: list[Job] = []
        wishes: list[Wish] = []
        by_request = {k: list(own) for k, own in groupby(parts, key=itemgetter(0))}
        for k in sorted(
            by_request, key=lambda k: self.rank[exact(self.instance.requests[k].start)]
        ):
            request = self.instance.requests[k]
            start, end = self.rank[exact(request.start)], self.rank[exact(request.end)]
            own = by_request[k]
            first = len(jobs)
            for _, p, lines, places in own:
                room = int(max(min(free[j][start:end]) for j in places) // unit)
                pieces = tuple(
                    Piece(int(low / unit), min(int(high / unit), room), worth, slope * unit)
                    for low, high, worth, slope in lines
                    if low <= room * unit
                )
                jobs.append(Job(len(wishes), p, start, end, pieces, places))
            indices = tuple(range(first, len(jobs)))
            wishes.append(Wish(k, start, end, exact(request.priority), indices))
        case = Case(
            self.instance,
            self.objective,
            unit,
            tuple(jobs),
            tuple(wishes),
            tuple(tuple(min(int(value // unit), most) for value in one) for one in free),
            sum((exact(one.priority) for one in self.instance.requests), Fraction(0)),
        )
        return self._with_allowance(case, plain, free) if self.widened else case

    def _allowed(self, free: list[list[Fraction]]) -> list[list[Fraction]]:
        """Return with how much true shares may load machines, see the lemma on floats."""
        asked = [exact(part.cpu) for one in self.instance.requests for part in one.parts]
        overload = exact(FLOATING) * min(asked) + ROUNDING * max(asked)
        short = 1 - exact(FLOATING) - ROUNDING
        return [[(value + overload) / short for value in one] for one in free]

    def _with_allowance(
        self, case: Case, plain: list[list[Fraction]], free: list[list[Fraction]]
    ) -> Case:
        """Return a case that knows what it allows beyond the capacities, and rounds off."""
        spare, rounded = 0, Fraction(0)
        for own, wide in zip(plain, free, strict=True):
            for value, more in zip(own, wide, strict=True):
                spare = max(spare, int(more // case.unit) - int(value // case.unit))
                rounded = max(rounded, more / case.unit % 1)
        steepest = (
            case.weight("benefit", job.wish) * max(piece.slope for piece in job.pieces)
            for job in case.jobs
        )
        return replace(case, spare=spare, allowance=rounded * sum(steepest, Fraction(0)))

    def _free(self) -> list[list[Fraction]]:
        """Return what is left of each machine from an instant to the next."""
        table = []
        for index, machine in enumerate(self.instance.machines):
            steps = {self.rank[exact(instant)]: exact(value) for instant, value in machine.steps}
            turns = [Fraction(0)] * len(self.rank)
            for held in self.instance.holdings:
                if held.machine == index:
                    turns[self.rank[exact(held.start)]] += exact(held.cpu)
                    turns[self.rank[exact(held.end)]] -= exact(held.cpu)
            free, most, taken = [], Fraction(0), Fraction(0)
            for rank, turn in enumerate(turns):
                most, taken = steps.get(rank, most), taken + turn
                free.append(max(most - taken, Fraction(0)))
            table.append(free)
        return table

    def _places(
        self, start: Number, end: Number, part: Part, free: list[list[Fraction]]
    ) -> tuple[int, ...]:
        """Return the machines on which a part fits while nothing else is there."""
        window = slice(self.rank[exact(start)], self.rank[exact(end)])
        wanted = range(len(free)) if part.machine is None else (part.machine,)
        return tuple(j for j in wanted if min(free[j][window]) >= exact(part.least))

    def _lines(self, part: Part) -> list[tuple[Fraction, Fraction, Fraction, Fraction]]:
        """Return the pieces of a part as (low, high, worth, slope), in CPU."""
        cpu, least = exact(part.cpu), exact(part.least)
        start = benefit_at(part.benefit, least / cpu)
        found = [(least, least, start, Fraction(0))]
        if not self.graded:
            return found
        points = [(exact(share) * cpu, exact(worth)) for share, worth in part.benefit]
        for (left, low), (right, high) in pairwise(points):
            begin = max(left, least)
            if right > begin and high > low:
                slope = (high - low) / (right - left)
                _put(found, (begin, right, low + slope * (begin - left), slope))
            elif right == left > least:
                _put(found, (right, right, high, Fraction(0)))
        return found

    def _unit(
        self,
        parts: list[list[tuple[Fraction, Fraction, Fraction, Fraction]]],
        free: list[list[Fraction]],
    ) -> Fraction:
        """Return the largest CPU of which all that counts is a multiple."""
        lines = [line for part in parts for line in part]
        numbers = {end for low, high, _, _ in lines for end in (low, high)}
        if any(high > low for low, high, _, _ in lines):
            numbers |= {value for one in free for value in one}
        scale = lcm(*{number.denominator for number in numbers})
        common = gcd(*(int(number * scale) for number in numbers))
        return Fraction(common or 1, scale)


def _put(
    found: list[tuple[Fraction, Fraction, Fraction, Fraction]],
    line: tuple[Fraction, Fraction, Fraction, Fraction],
) -> None:
    """Add a piece; one that begins where the last one is a point and worth as much replaces it."""
    low, high, worth, slope = found[-1]
    if low == high == line[0] and worth <= line[2]:
        found.pop()
    elif worth + slope * (high - low) >= line[2] and line[0] == line[1]:
        return  # what is worth as much is there already, for no more CPU
    found.append(line)
