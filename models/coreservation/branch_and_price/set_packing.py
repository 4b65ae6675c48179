"""The best plan of patterns that are given: branch and cut, every bound in whole numbers.

A linear program takes patterns in part. It has rows over three parts: patterns with two of them or
more are taken once at the most (Jepsen, Petersen, Spoorendonk, Pisinger, Operations Research 56,
2008). Whatever the floats are that it is solved in, its prices rounded to whole numbers prove a
bound, and which patterns no better plan has. Branched on is who is accepted, which group of
machines a part is on, and which two parts are on one machine; tried out first (Applegate, Bixby,
Chvatal, Cook 1995) is what is left open most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import inf
from typing import Any

import numpy as np

from dlopt.backends.highs import LinearSolver, LpSolution
from dlopt.backends.linear_program import LinearProgram
from dlopt.models.coreservation.branch_and_price.columns import Branch, Patterns
from dlopt.models.coreservation.branch_and_price.pricing_knapsack import Chosen
from dlopt.result import Status

_ROUNDS, _ROWS, _BROKEN = 20, 30, 1e-2
"""Of rows; how many come in a round at the most; by how much each must be broken."""
_TRIED, _LEAST = 10, 1e-12
"""Ways to branch that are tried out; what a branch gains is taken for no less."""
_WHOLE = 1e-6
_LARGE = 1 << 60
"""No sum of prices is larger: what patterns are worth less what they pay fits into 64 bits."""

Found = list[list[Chosen]]
"""Patterns, group by group."""
_Triple = tuple[int, int, int]
"""Three parts, in ascending order."""


def program_of(patterns: Patterns, wishes: Mapping[int, bool], found: Found) -> LinearProgram:
    """Return the program that accepts requests, then takes patterns, group by group.

    Patterns have no upper bounds: rows of parts are, and only these have prices.
    """
    case, unit, one = patterns.case, patterns.scale.factor, Fraction(1)
    costs = [Fraction(-worth, unit) for worth in patterns.worths]
    bounds: list[tuple[Fraction | None, Fraction | None]] = [(Fraction(0), one)] * len(costs)
    for k, decided in wishes.items():
        bounds[k] = (Fraction(decided),) * 2
    parts: list[list[tuple[int, Fraction]]] = [[(job.wish, -one)] for job in case.jobs]
    rows: list[tuple[tuple[int, Fraction], ...]] = []
    sides: list[tuple[Fraction | None, Fraction | None]] = []
    for group, own in zip(patterns.groups, found, strict=True):
        first = len(costs)
        for pattern in own:
            for i in pattern.jobs:
                parts[i].append((len(costs), one))
            costs.append(Fraction(-pattern.worth, unit))
            bounds.append((Fraction(0), None))
        rows.append(tuple((column, one) for column in range(first, len(costs))))
        sides.append((None, Fraction(len(group.machines))))
    rows += map(tuple, parts)
    sides += [(Fraction(0), Fraction(0))] * len(parts)
    return LinearProgram(len(costs), tuple(costs), tuple(rows), tuple(sides), tuple(bounds))


class _UnsettledError(Exception):
    """A linear program was not solved in time, or what it says was not proven."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A subproblem: patterns that may be taken, who is decided, triples of parts with rows."""

    open: Any
    wishes: Mapping[int, bool]
    rows: tuple[_Triple, ...] = ()


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to branch: patterns that the first branch leaves out, and the second.

    A wish, if that is what is decided, is accepted in the first and rejected in the second.
    """

    off: tuple[Any, Any]
    wish: int | None = None


class Selection:
    """Branch and cut over patterns.

    Parameters
    ----------
    patterns : Patterns
    branch : Branch
        The subproblem.
    found : list of list of Chosen
        Its patterns, group by group.
    known : int
        What a plan is worth, not less than nothing, a multiple of the step of all plans: looked
        for are better ones.
    stop : float
        Instant of the monotonic clock at which to end.
    seed : int

    Attributes
    ----------
    known : int
        What the best plan is worth.
    taken : list of list of Chosen or None
        The patterns of a better plan, group by group, none of them empty, if one was found. It
        need not accept and reject as the subproblem does.
    """

    def __init__(
        self,
        patterns: Patterns,
        branch: Branch,
        found: Found,
        known: int,
        stop: float,
        seed: int,
    ) -> None:
        self.patterns, self.found, self.known = patterns, found, known
        self.stop, self.seed = stop, seed
        self.taken: Found | None = None
        every, parts = [*chain.from_iterable(found)], len(patterns.case.jobs)
        self.worths = np.array([one.worth for one in every], np.int64)
        self.groups = np.repeat(np.arange(len(found)), [len(own) for own in found])
        self.has = np.zeros((len(every), parts), np.int8)
        for n, one in enumerate(every):
            self.has[n, list(one.jobs)] = 1
        self.nodes = [_Node(np.ones(len(every), np.bool_), branch.wishes)]

    def run(self, most: int | None = None) -> bool:
        """Look for the best plan; tell whether it is proven.

        It is not where time is up, or where floats do not tell a better plan from others.

        Parameters
        ----------
        most : int, optional
            Subproblems at the most.
        """
        while self.nodes and most != 0:
            try:
                self.nodes[-1:] = self._branches(_Relaxation(self, self.nodes[-1]))
            except _UnsettledError:
                return False
            most = None if most is None else most - 1
        return not self.nodes

    def of(self, some: Any) -> Found:
        """Return some of the patterns, group by group."""
        places = iter(some.tolist())
        return [[one for one in own if next(places)] for own in self.found]

    def _branches(self, relaxed: _Relaxation) -> list[_Node]:
        """Return the branches where better plans may be left; take the plans that points are."""
        while relaxed.tighten():
            way = relaxed.best_way()
            if way is not None:
                return relaxed.branches(way)
            self._take(relaxed)
        return []

    def _take(self, relaxed: _Relaxation) -> None:
        """Take the plan that a point is, whoever it accepts, if it is one and a better one."""
        patterns, accepted = self.patterns, relaxed.accepted()
        chosen = relaxed.chosen() & self.has.any(1)
        covered = self.has[chosen].sum(0)
        whole = all(
            covered[i] == (job.wish in accepted) for i, job in enumerate(patterns.case.jobs)
        )
        for n, group in enumerate(patterns.groups):
            whole = whole and chosen[self.groups == n].sum() <= len(group.machines)
        value = self.worths[chosen].sum().item() + sum(patterns.worths[k] for k in accepted)
        if not whole or value <= self.known:
            raise _UnsettledError
        self.known, self.taken = value, self.of(chosen)


class _Relaxation:
    """The linear program of a subproblem.

    Parameters
    ----------
    whole : Selection
    start : _Node

    Attributes
    ----------
    point : array
        Its optimum: requests accepted, patterns taken.
    kept : array of bool
        Those of its patterns that a better plan may have.
    """

    def __init__(self, whole: Selection, start: _Node) -> None:
        self.whole, self.start = whole, start
        self.places = np.flatnonzero(start.open)
        self.has = whole.has[self.places]
        self.worths, self.groups = whole.worths[self.places], whole.groups[self.places]
        self.kept = np.ones(len(self.places), np.bool_)
        self.first = len(whole.patterns.worths)
        program = program_of(whole.patterns, start.wishes, whole.of(start.open))
        self.solver = LinearSolver(program, whole.seed, whole.stop)
        self.costs = np.array([float(cost) for cost in program.costs])
        self.rows: dict[_Triple, Any] = {}
        for triple in start.rows:
            self._add(triple)

    def tighten(self) -> bool:
        """Add rows that points break; tell whether a better plan may be left."""
        for _ in range(_ROUNDS):
            found = self._solved()
            self.kept &= self._possible(found)
            if not self.kept.any():
                return False
            if found.status is not Status.OPTIMAL:
                raise _UnsettledError  # no plan, as far as floats tell
            self.point = np.array(found.point)
            broken = self._broken()
            for triple in broken:
                self._add(triple)
            if not broken:
                break
        return True

    def branches(self, way: _Way) -> list[_Node]:
        """Return both branches, the first one last."""
        return [self._node(way.off[side], self._decided(way, side == 0)) for side in (1, 0)]

    def best_way(self) -> _Way | None:
        """Return the way to branch that bounds best, None if the point is whole."""
        ways = sorted(self._ways(), key=lambda one: one[0])[:_TRIED]
        worth = (self.costs @ self.point).item()
        best, most = None, -1.0
        for _, way in ways:
            gains = [max(self._tried(way, side) - worth, 0) for side in (0, 1)]
            score = max(gains[0], _LEAST) * max(gains[1], _LEAST)
            if score > most:
                best, most = way, score
        return best

    def accepted(self) -> set[int]:
        """Return the requests that the point accepts."""
        return set(np.flatnonzero(self.point[: self.first] > 0.5).tolist())

    def chosen(self) -> Any:
        """Tell which of all patterns the point takes."""
        chosen = np.zeros_like(self.whole.groups, np.bool_)
        chosen[self.places[self.point[self.first :] > 0.5]] = True
        return chosen

    def _solved(self) -> LpSolution:
        found = self.solver.solve()
        if found.status is Status.LIMIT:
            raise _UnsettledError
        return found

    def _node(self, off: Any, wishes: Mapping[int, bool]) -> _Node:
        rest = np.zeros_like(self.start.open)
        rest[self.places[self.kept & ~off]] = True
        return _Node(rest, wishes, tuple(self.rows))

    def _decided(self, way: _Way, accepted: bool) -> Mapping[int, bool]:
        own = {} if way.wish is None else {way.wish: accepted}
        return {**self.start.wishes, **own}

    def _possible(self, found: LpSolution) -> Any:
        """Tell which patterns are not too far below the dearest, given the rows there are.

        Where there is no optimum, prices are those of a ray: what plans are worth is left out, and
        all of them are worth nothing.
        """
        patterns, optimal = self.whole.patterns, found.status is Status.OPTIMAL
        count, parts = len(patterns.groups), len(patterns.case.jobs)
        told = np.zeros(count + parts + len(self.rows))
        told[: len(found.multipliers)] = found.multipliers
        told = np.where(np.isfinite(told), told, 0.0)[count:]
        largest = _LARGE // max(len(told), 1)
        unit = largest / max(np.abs(told).max(initial=0), _LEAST)
        unit = float(patterns.scale.factor) if optimal else unit
        paid = np.rint(-unit * np.clip(told, -largest / unit, largest / unit)).astype(np.int64)
        prices, extra = paid[:parts], np.maximum(paid[parts:], 0)
        left = self.worths * optimal - self.has @ prices
        for row, price in zip(self.rows.values(), extra, strict=True):
            left -= price * row
        most = [left[self.kept & (self.groups == n)].max(initial=0).item() for n in range(count)]
        branch = Branch(self.start.wishes, {})
        bound = patterns.bound(most, prices.tolist(), branch, worth=optimal) + sum(extra.tolist())
        slack = bound - (self.whole.known + patterns.step) * optimal
        return left >= np.array(most, np.int64)[self.groups] - min(slack, 4 * _LARGE)

    def _broken(self) -> list[_Triple]:
        """Return the triples of parts whose rows the point breaks most."""
        point = self.point[self.first :]
        some = np.flatnonzero(point > _WHOLE)
        taken, has = point[some], self.has[some]
        together = has.T @ (has * taken[:, None])
        np.fill_diagonal(together, 0)
        first, second = np.nonzero(np.triu(together))
        pairs = together[first, second][:, None] + together[first] + together[second]
        pair, third = np.nonzero(pairs > 1 + _BROKEN)  # all three at once are counted twice
        triples = np.sort([first[pair], second[pair], third], 0)
        triples = np.unique(triples[:, (triples[:-1] < triples[1:]).all(0)], axis=1)
        excess = taken @ _crowded(has, triples) - 1
        worst = np.argsort(-excess, kind="stable")[:_ROWS]
        found = [(*triples[:, n].tolist(),) for n in worst if excess[n] > _BROKEN]
        return [triple for triple in found if triple not in self.rows]

    def _add(self, triple: _Triple) -> None:
        """Add the row of three parts."""
        row = _crowded(self.has, np.array(triple))
        columns = (self.first + np.flatnonzero(row)).tolist()
        self.rows[triple] = row
        self.solver.add((tuple((column, Fraction(1)) for column in columns), None, Fraction(1)))

    def _ways(self) -> Iterator[tuple[float, _Way]]:
        """Yield what the point leaves open, and how far it is from open to the half.

        Both branches of each leave out patterns, or decide on a request.
        """
        point = self.point[self.first :]
        some = np.flatnonzero(point > _WHOLE)
        taken, has = point[some], self.has[some].astype(float)
        for k, wish in enumerate(self.whole.patterns.case.wishes):
            if _open(self.point[k]):
                rejected = self.has[:, list(wish.jobs)].any(1)
                yield abs(self.point[k] - 0.5), _Way((np.zeros_like(rejected), rejected), k)
        for n in range(len(self.whole.found) - 1):
            here = self.groups == n
            for i, share in enumerate((taken * here[some]) @ has):
                if _open(share):
                    part = self.has[:, i] > 0
                    yield from _apart(share, part & ~here, part & here)
        together = has.T @ (has * taken[:, None])
        for i, j in combinations(range(len(together)), 2):
            if _open(together[i, j]):
                one, other = self.has[:, i] > 0, self.has[:, j] > 0
                yield from _apart(together[i, j], one ^ other, one & other)

    def _tried(self, way: _Way, side: int) -> float:
        """Return the optimum of a branch."""
        columns = (self.first + np.flatnonzero(way.off[side])).tolist()
        self.solver.set_upper(columns, 0.0)
        if way.wish is not None:
            self.solver.set_bounds(way.wish, 1.0 - side, 1.0 - side)
        found = self._solved()
        self.solver.set_upper(columns, inf)
        if way.wish is not None:
            self.solver.set_bounds(way.wish, 0.0, 1.0)
        return (self.costs @ found.point).item() if found.point else inf


def _open(share: float) -> bool:
    return _WHOLE < share < 1 - _WHOLE


def _apart(share: float, off: Any, rest: Any) -> Iterator[tuple[float, _Way]]:
    if off.any():
        yield abs(share - 0.5), _Way((off, rest))


def _crowded(has: Any, triples: Any) -> Any:
    """Tell which patterns have at least two of three parts."""
    return has[:, triples[0]] + has[:, triples[1]] + has[:, triples[2]] > 1
