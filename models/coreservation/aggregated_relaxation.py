"""A relaxation: all machines as one, at every instant; who is accepted is branched on.

A plan keeps what is free of all machines together, and of each machine the parts that must be on
it. Of parts larger than some size a machine has only so many, and those larger than a machine are
on larger ones: where a piece of a benefit function crosses such a size it is cut there.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

from dlopt.arithmetic import exact
from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.backends.exact_lp import basis_from_highs, certify
from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import LinearProgram
from dlopt.models.coreservation.mir_cuts import Rounding
from dlopt.models.coreservation.objective import Scale, offset
from dlopt.models.coreservation.requests import Piece
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.models.coreservation.surrogate_cut import row_of, worth_a_row
from dlopt.result import Limits, Status

_CROWDS = (1, 2, 3)
_FINE = Fraction(1, 1 << 80)
_ONE = Fraction(1)
_UNIT = (Fraction(0), _ONE)
_MANY = 12
"""Fewer requests are proven with machines apart."""
_GAIN = Fraction(1, 500)
"""A row over machines one by one is kept if it bounds by so much better: it makes branching slow.
"""
_LEAVES = 50
"""Of branch and bound, solved again in fractions at the most."""
_PROOFS = 2000
"""Subproblems at the most."""


@dataclass(frozen=True, slots=True)
class Bounded:
    """What is proven of a level of the objective.

    Parameters
    ----------
    worth : Fraction or None
        No plan has more of it, where more is better; None if there is no plan.
    accepted : tuple of int
        The wishes that the relaxation accepts, at least half of each, and
    shares : tuple of int
        of all jobs the units that it gives them; both empty if it was not solved.
    subproblems : int
    """

    worth: Fraction | None
    accepted: tuple[int, ...] = ()
    shares: tuple[int, ...] = ()
    subproblems: int = 0


class PooledModel:
    """The relaxation as a program in fractions: x accepts wishes, z chooses pieces, r rises."""

    def __init__(self, case: Case) -> None:
        self.case = case
        largest = max(map(max, case.free))
        self.unit = largest if case.too_fine else 1  # a solver in floats adds no huge numbers
        self.rows: list[tuple[tuple[int, Fraction], ...]] = []
        self.sides: list[tuple[Fraction | None, Fraction | None]] = []
        self.bounds: list[tuple[Fraction, Fraction]] = [_UNIT] * len(case.wishes)
        self.pieces: list[list[tuple[Piece, int, int | None]]] = []
        self.rises: dict[int, tuple[int, Fraction]] = {}
        marks = {max(free) // (k + 1) for free in case.free for k in _CROWDS}
        if len({max(free) for free in case.free}) > 1:
            marks = {largest // (k + 1) for k in _CROWDS} | {max(free) for free in case.free}
        self.add_jobs(sorted(marks))
        self.linked = len(self.rows)
        self.add_instants()

    def add_jobs(self, marks: Sequence[int]) -> None:
        """An accepted part lies on one piece, and rises no more than the piece is long."""
        for job in self.case.jobs:
            cut = [part for piece in job.pieces for part in _cut(piece, marks)]
            own: list[tuple[Piece, int, int | None]] = []
            for piece in cut:
                chosen = job.wish if len(cut) == 1 else self._column(_UNIT)
                rise = None
                if piece.high > piece.low:
                    length = Fraction(piece.high - piece.low, self.unit)
                    rise = self._column((Fraction(0), length))
                    self._at_most([(rise, _ONE), (chosen, -length)], 0)
                    self.rises[rise] = chosen, length
                own.append((piece, chosen, rise))
            if len(cut) > 1:
                terms = [*((chosen, _ONE) for _, chosen, _ in own), (job.wish, -_ONE)]
                self.rows.append(tuple(terms))
                self.sides.append((Fraction(0), Fraction(0)))
            self.pieces.append(own)

    def add_instants(self) -> None:
        """At every instant there is enough for all parts, and for those bound to a machine."""
        case = self.case
        everywhere = range(len(case.free))
        for row in case.rows(range(len(case.jobs)), everywhere):
            self._at_most(self._load(row.jobs), Fraction(sum(row.free), self.unit))
            for size in {max(row.free) // (k + 1) for k in _CROWDS}:
                large = [
                    (chosen, _ONE)
                    for i in row.jobs
                    for piece, chosen, _ in self.pieces[i]
                    if piece.low > size
                ]
                most = sum(free // (size + 1) for free in row.free)
                if len(large) > most:
                    self._at_most(large, most)
            for size in {*row.free} - {max(row.free)}:
                room = sum(free for free in row.free if free > size)
                self._at_most(self._load(row.jobs, size), Fraction(room, self.unit))
        for j in everywhere:
            bound = [i for i, job in enumerate(case.jobs) if job.machines == (j,)]
            for row in case.rows(bound, (j,)):
                self._at_most(self._load(row.jobs), Fraction(row.free[0], self.unit))

    def require(self, level: str, least: Fraction) -> None:
        """Ask for so much of a level at least."""
        self.rows.append(tuple(self.terms(level)))
        self.sides.append((least, None))

    def terms(self, level: str) -> list[tuple[int, Fraction]]:
        """Return a level as columns and coefficients, without constant."""
        case = self.case
        if level != "benefit":
            return [(k, case.weight(level, k)) for k in range(len(case.wishes))]
        found: dict[int, Fraction] = {}
        for job, own in zip(case.jobs, self.pieces, strict=True):
            weight = case.weight(level, job.wish)
            for piece, chosen, rise in own:
                found[chosen] = found.get(chosen, Fraction(0)) + weight * piece.worth
                if rise is not None:
                    found[rise] = weight * piece.slope * self.unit
        return list(found.items())

    def program(self, level: str) -> LinearProgram:
        """Return the program that makes a level large."""
        costs = [Fraction(0)] * len(self.bounds)
        for column, worth in self.terms(level):
            costs[column] = -worth
        return LinearProgram(
            len(self.bounds), tuple(costs), tuple(self.rows), tuple(self.sides), tuple(self.bounds)
        )

    def rounding(self) -> Rounding:
        """Return what cuts points off, by rows that say that there is enough for all parts."""
        pairs = zip(self.rows[self.linked :], self.sides[self.linked :], strict=True)
        return Rounding([(row, high) for row, (_, high) in pairs if high is not None], self.rises)

    def units(self, point: Sequence[float]) -> tuple[int, ...]:
        """Return how much a point of the program gives each job, at the least its least share."""
        shares = []
        for job, own in zip(self.case.jobs, self.pieces, strict=True):
            share = sum(
                piece.low * point[chosen] + (0 if rise is None else point[rise] * self.unit)
                for piece, chosen, rise in own
            )
            shares.append(max(job.least, int(share + 1e-6)))
        return tuple(shares)

    def _load(self, jobs: Sequence[int], above: int = 0) -> list[tuple[int, Fraction]]:
        """Return what jobs take, on pieces that lie above a size."""
        load: dict[int, Fraction] = {}
        for i in jobs:
            for piece, chosen, rise in self.pieces[i]:
                if piece.low <= above:
                    continue
                load[chosen] = load.get(chosen, Fraction(0)) + Fraction(piece.low, self.unit)
                if rise is not None:
                    load[rise] = _ONE
        return list(load.items())

    def _column(self, bounds: tuple[Fraction, Fraction]) -> int:
        self.bounds.append(bounds)
        return len(self.bounds) - 1

    def _at_most(self, terms: Sequence[tuple[int, Fraction]], side: Fraction | int) -> None:
        merged: dict[int, Fraction] = {}
        for column, factor in terms:
            merged[column] = merged.get(column, Fraction(0)) + factor
        self.rows.append(tuple(merged.items()))
        self.sides.append((None, Fraction(side)))


def upper_bound(
    case: Case,
    level: str,
    limits: Limits,
    *,
    known: Fraction | None = None,
    pinned: Sequence[tuple[str, Fraction]] = (),
    most: int = _PROOFS,
    seed: int = 0,
) -> Bounded:
    """Bound a level of the objective, in fractions.

    Parameters
    ----------
    case : Case
        With at least one wish.
    level : str
        Any but ``machines``.
    limits : Limits
        `work` counts subproblems.
    known : Fraction, optional
        So much is attained, such that more is better: to prove that is enough.
    pinned : sequence of (level, Fraction)
        Levels that must be as good as this.
    most : int
        Subproblems at the most.
    seed : int
    """
    stop = inf if limits.time_s is None else time.monotonic() + limits.time_s
    model = PooledModel(case)
    for one, value in pinned:
        model.require(one, value - offset(case, one))
    scale = Scale.of(case, level)
    step = Fraction(1, scale.factor) if scale.exact else _FINE

    def searched() -> BranchAndBound:
        columns = range(len(case.wishes))
        return BranchAndBound(model.program(level), columns, step, model.rounding(), seed, stop)

    search = searched()
    proven: list[Fraction | None] = []  # before the last search, which time may cut short
    if most > 1 and len(case.wishes) > _MANY and worth_a_row(case):
        first = search.minimise(None, 1).bound
        proven.append(first)
        until = inf if limits.time_s is None else time.monotonic() + limits.time_s / 3
        row = row_of(model, level, seed, until)
        if row is not None:
            model.rows.append(row[0])
            model.sides.append((None, row[1]))
            narrowed = searched()
            after = narrowed.minimise(None, 1).bound
            if first is None or after is None or after - first > _GAIN * abs(first):
                search = narrowed
            search.release()
            proven.append(after)
    constant = offset(case, level)
    aim = None if known is None else constant - known
    found = search.minimise(aim, min(limits.work or most, most))
    if found.bound is None:
        return Bounded(None, subproblems=found.subproblems)
    worth = constant - max(bound for bound in (found.bound, *proven) if bound is not None)
    if not scale.exact:
        worth = min(worth + _FINE, constant - sharpened(search, found.bound, stop))
    point = found.point
    if not point:
        search.release()
        if limits.time_s is not None:  # the first program again, for which there was time before
            search.solver.stop = time.monotonic() + limits.time_s
        point = search.solver.solve().point
    if not point:
        return Bounded(worth, subproblems=found.subproblems)
    accepted = tuple(k for k in range(len(case.wishes)) if point[k] > 0.5)
    return Bounded(worth, accepted, model.units(point), found.subproblems)


def sharpened(search: BranchAndBound, known: Fraction, stop: float) -> Fraction:
    """Return what branch and bound has proven, with the linear programs of its leaves exact.

    Multipliers in floats prove a little less than the optimum of a linear program in fractions. The
    leaves that count are solved again to a basis, of which the optimum is computed in fractions.

    Parameters
    ----------
    search : BranchAndBound
        After `minimise`.
    known : Fraction
        The bound that it returned, which holds where no leaf is left.
    stop : float
        Instant of the monotonic clock at which leaves stay as they are.
    """
    leaves = sorted(
        (leaf for leaf in search.leaves if not leaf.infeasible), key=lambda one: one.bound
    )
    certain: Fraction | None = None
    for leaf in leaves[:_LEAVES]:
        rough = leaf.bound - search.step  # which it was rounded up to a multiple of
        if certain is not None and rough >= certain:
            break
        value = _optimum(search, dict(leaf.fixed), stop)
        if value is None:
            return rough if certain is None else min(certain, rough)
        certain = value if certain is None else min(certain, value)
    rest = [leaf.bound - search.step for leaf in leaves[_LEAVES:]]
    return min([*rest, *([] if certain is None else [certain])], default=known)


def _optimum(search: BranchAndBound, fixed: Mapping[int, int], stop: float) -> Fraction | None:
    """Return the optimum of a leaf in fractions, or None if it is not found in time."""
    rows = [search.safe.original_row(r) for r in range(len(search.safe.rows))]
    bounds = [
        (Fraction(fixed[j]),) * 2 if j in fixed else bound
        for j, bound in enumerate(search.safe.bounds)
    ]
    program = replace(
        search.program,
        rows=tuple(terms for terms, _, _ in rows),
        row_bounds=tuple((low, high) for _, low, high in rows),
        column_bounds=tuple(bounds),
    )
    solver = LinearSolver(program, stop=stop)
    solved = solver.solve().status is Status.OPTIMAL
    left = None if stop == inf else max(0.0, stop - time.monotonic())
    statuses = basis_from_highs(solver.model) if solved else ((), ())
    proof = certify(program, *statuses, time_s=left) if solved else None
    return None if proof is None else proof.value


def said_bound(
    case: Case,
    level: str,
    limits: Limits,
    *,
    pinned: Sequence[tuple[str, Fraction]] = (),
    seed: int = 0,
) -> Fraction | None:
    """Bound a level of the objective by the solver's own branch and bound, in floats.

    It bounds better than `upper_bound` does in the same time: parts lie on one piece each, and the
    solver knows more ways to cut points off.

    Parameters
    ----------
    case, level, limits, pinned, seed
        As in `upper_bound`; `work` counts the solver's nodes.

    Returns
    -------
    Fraction or None
        None if the solver had no bound in time.
    """
    stop = inf if limits.time_s is None else time.monotonic() + limits.time_s
    model = PooledModel(case)
    for one, value in pinned:
        model.require(one, value - offset(case, one))
    solver = LinearSolver(model.program(level), seed, stop)
    choices = {chosen for own in model.pieces for _, chosen, _ in own} | {*range(len(case.wishes))}
    bound, _ = solver.solve_integral(sorted(choices), limits)
    return None if bound is None else offset(case, level) - exact(bound)


def _cut(piece: Piece, marks: Sequence[int]) -> list[Piece]:
    """Return a piece as several that end at marks."""
    found, low = [], piece.low
    for mark in (*(m for m in marks if piece.low <= m < piece.high), piece.high):
        worth = piece.worth + piece.slope * (low - piece.low)
        found.append(Piece(low, mark, worth, piece.slope if mark > low else Fraction(0)))
        low = mark + 1
    return found
