"""How much of a single task can be done by a deadline, if its load flows: a linear program.

Instants at which a reservation begins or ends, or a node becomes free, divide time into intervals
of length ``L_k``. ``P_gk`` is for how long the nodes of kind `g` are free from the beginning of
interval `k` until the deadline, in sum; ``S_gk`` is what they receive from then on. All of it must
be computed by the deadline, and a node receives or computes:

maximise    sum_g S_g0
subject to  S_gk <= P_gk / (tau_g + chi_g)                    what is received is computed
            S_gk >= S_g,k+1                                   nothing is sent back
            sum_g tau_g (S_gk - S_g,k+1) <= L_k               one port, while it is free

A node receives in intervals in which it and the channel are free; in others ``S_gk = S_g,k+1``,
and the columns are one. That no more is computed in an interval than was received by its end
needs no rows: whatever keeps the first row, for every `k`, can be computed in time (the condition
of Hall for jobs with releases and a common deadline). Set-up costs are left out, which relaxes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import NamedTuple

from dlopt.backends import exact_lp
from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import LinearProgram
from dlopt.backends.safe_dual_bound import SafeDualBound
from dlopt.models.admission.fixed_sequence_lp import takes_port
from dlopt.models.multistage.stages import Timetable
from dlopt.result import Status

_MOST_EXACT = 1_500
"""Columns of a program whose basis is solved again in fractions; of larger ones the multipliers
prove a bound that is off by the solver's rounding."""

Terms = dict[int, Fraction]
ZERO = Fraction(0)


class Supported(NamedTuple):
    """The maximum by a deadline, and how it grows at the most: a line above all of the interval.

    Parameters
    ----------
    load : Fraction
    slope : Fraction
        For later deadlines within the same interval, by the multipliers of this maximum.
    exact : bool
        Whether `load` is the maximum, not only a bound of it.
    """

    load: Fraction
    slope: Fraction
    exact: bool


@dataclass(frozen=True, slots=True)
class _Kind:
    """Nodes that cost the same and are free in the same intervals."""

    tau: Fraction
    unit: Fraction
    count: int
    free: tuple[bool, ...]


class FlowModel:
    """The program above.

    Parameters
    ----------
    timetable : Timetable
    """

    def __init__(self, timetable: Timetable) -> None:
        self.timetable, self.stream = timetable, timetable.case.stream
        job = timetable.job
        self.release, self.due = job.release, job.due
        moments = {self.release, self.due, *self.stream.free}
        for one in timetable.case.bookings:
            moments |= {one.start, one.sent, one.end}
        self.instants = sorted(t for t in moments if self.release <= t <= self.due)
        pauses = timetable.pauses()
        count = len(self.instants) - 1
        self.channel = [
            not any(start <= t < end for start, end in pauses) for t in self.instants[:count]
        ]
        self.kinds = self._kinds(count)

    def program(self, due: Fraction, k: int) -> tuple[LinearProgram, list[int], list[Fraction]]:
        """State the program for a deadline in interval `k`.

        Returns
        -------
        tuple
            The program, as a minimisation; the rows whose upper side grows with the deadline, at
            rate 1; and at which rate the upper bound of each column does.
        """
        instants, last = [*self.instants[: k + 1], due], k
        lengths = [b - a for a, b in pairwise(instants)]
        caps: list[tuple[Fraction, Fraction]] = []
        rates: list[Fraction] = []
        costs: list[Fraction] = []
        rows: list[Terms] = []
        sides: list[tuple[Fraction | None, Fraction | None]] = []
        port: dict[int, Terms] = defaultdict(lambda: defaultdict(Fraction))
        for kind in self.kinds:
            later: int | None = None
            left = ZERO
            for k in range(last, -1, -1):
                if not kind.free[k]:
                    continue
                left += lengths[k]
                if not self.channel[k] and kind.tau:
                    continue
                column = len(caps)
                caps.append((ZERO, kind.count * left / kind.unit))
                rates.append(kind.count / kind.unit if kind.free[last] else ZERO)
                costs.append(ZERO)
                port[k][column] += kind.tau
                if later is not None:
                    port[k][later] -= kind.tau
                    rows.append({column: Fraction(1), later: Fraction(-1)})
                    sides.append((ZERO, None))
                later = column
            if later is not None:
                costs[later] = Fraction(-1)
        growing = []
        for k, terms in port.items():
            if any(terms.values()):
                if k == last:
                    growing.append(len(rows))
                rows.append(terms)
                sides.append((None, lengths[k]))
        stated = tuple(tuple(terms.items()) for terms in rows)
        program = LinearProgram(
            len(caps), tuple(costs), stated, tuple(sides), tuple(caps), sense=-1
        )
        return program, growing, rates

    def most(
        self, due: Fraction, k: int | None = None, seed: int = 0, stop: float = inf
    ) -> Supported:
        """Return the maximum by a deadline in interval `k`, the last one by default, or a bound."""
        program, growing, rates = self.program(due, len(self.channel) - 1 if k is None else k)
        if not program.columns:
            return Supported(ZERO, ZERO, True)
        solver = LinearSolver(program, seed, stop)
        found = solver.solve()
        if found.status is Status.OPTIMAL and program.columns <= _MOST_EXACT:
            statuses = exact_lp.basis_from_highs(solver.model)
            proof = exact_lp.certify(program, *statuses)
            if proof is not None:
                reduced = list(program.costs)
                for row, price in zip(program.rows, proof.dual, strict=True):
                    for j, a in row:
                        reduced[j] -= price * a
                slope = sum((proof.dual[r] for r in growing), ZERO)
                slope += sum((rest * rates[j] for j, rest in enumerate(reduced) if rest < 0), ZERO)
                return Supported(proof.value, -slope, True)
        safe = SafeDualBound(program)
        bound = safe.bound(
            safe.quantise(found.multipliers or [0.0] * len(program.rows)), safe.bounds
        )
        return Supported(-bound, ZERO, False)

    def curve(self, seed: int = 0) -> list[tuple[Fraction, Fraction]]:
        """Return the corners of the maximum as a function of the deadline, from the release on."""
        points = [(self.release, ZERO)]
        for k, (start, end) in enumerate(pairwise(self.instants)):
            first, last = self.most(start, k, seed), self.most(end, k, seed)
            if first.exact and last.exact:
                points += _corners(self, k, (start, first), (end, last), seed)
            points.append((end, last.load))
        return _straightened(points)

    def _kinds(self, count: int) -> list[_Kind]:
        holds, stream = self.timetable.holds(), self.stream
        alike: dict[_Kind, int] = defaultdict(int)
        for j in stream.nodes:
            free = [stream.free[j] <= t for t in self.instants[:count]]
            for start, end in holds.get(j, ()):
                for k, t in enumerate(self.instants[:count]):
                    if start <= t < end:
                        free[k] = False
            tau = stream.tau[j] if takes_port(stream, j) else ZERO
            alike[_Kind(tau, stream.unit(j), 1, tuple(free))] += 1
        return [replace(kind, count=number) for kind, number in alike.items()]


def _corners(
    model: FlowModel,
    k: int,
    left: tuple[Fraction, Supported],
    right: tuple[Fraction, Supported],
    seed: int,
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield the corners of the concave function between two points with the lines above it."""
    (start, first), (end, last) = left, right
    for one, at, other in ((first, end - start, last), (last, start - end, first)):
        if one.load + one.slope * at == other.load:
            return
    gained = last.load - last.slope * end - (first.load - first.slope * start)
    meeting = gained / (first.slope - last.slope)
    here = model.most(meeting, k, seed)
    if here.load == first.load + first.slope * (meeting - start):
        yield meeting, here.load
        return
    middle = meeting, here
    yield from _corners(model, k, left, middle, seed)
    yield meeting, here.load
    yield from _corners(model, k, middle, right, seed)


def _straightened(points: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Leave out the points on the line between their neighbours."""
    kept: list[tuple[Fraction, Fraction]] = []
    for point in points:
        while len(kept) > 1:
            (a, low), (b, middle) = kept[-2:]
            if (middle - low) * (point[0] - a) != (point[1] - low) * (b - a):
                break
            kept.pop()
        kept.append(point)
    return kept
