"""Mixed-integer rounding cuts for the capacity rows of the aggregated relaxation.

A capacity row at an instant is ``sum a_j y_j + sum r_i <= b``, where binaries ``y`` choose segments
and ``0 <= r_i <= l_i y_c`` is the increment on segment ``c``.

**Lemma (mixed-integer rounding).** Write ``r_i = l_i y_c - s_i`` for some increments, drop the
others, and ``y_j = 1 - z_j`` for some binaries: ``sum a'_j y'_j - sum s_i <= b'`` remains, ``y'``
integer and ``y', s >= 0``. Let ``d > 0`` and ``m`` be what ``b'`` is more than a multiple of ``d``.
With ``a'_j = q_j d + p_j``, ``0 <= p_j < d``, every assignment satisfies
``sum (q_j (d - m) + max(0, p_j - m)) y'_j - sum s_i <= floor(b' / d) (d - m)``. *Proof.*
Nemhauser and Wolsey, Math. Program. 46, 1990; the choice of increments, complemented binaries and
``d``: Marchand and Wolsey, Operations Research 49, 2001.

Examples
--------
>>> row = [(0, Fraction(3)), (1, Fraction(3))]
>>> separator = MirSeparator([(row, Fraction(5))], {})  # two of size 3 do not fit into 5
>>> separator([1.0, 2 / 3])
[(((0, Fraction(1, 1)), (1, Fraction(1, 1))), None, Fraction(1, 1))]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from dlopt.backends.linear_program import Row

MAX_ROUNDS = 6
"""Rounds of separation; chosen by hand: each of them enlarges the linear program."""
MAX_CUTS_PER_ROUND = 100
"""Cuts that are added in a round, the most violated ones; chosen by hand."""
MIN_VIOLATION = 1e-4
"""Cuts with a smaller scaled violation (about the distance of the point) are not added."""
MAX_DIVISORS = 12
"""Values of `d` that are tried of a row, those of the most fractional binaries first."""
FRACTIONALITY_TOLERANCE = 1e-6
"""Binaries this near to an integer are not fractional, as in HiGHS."""


@dataclass(frozen=True, slots=True)
class SubstitutedRow:
    """A row with some increments written as ``r = l y - s``, the others dropped.

    Parameters
    ----------
    coefficients : dict of int to Fraction
        Of binaries.
    slacks : list of (int, int, Fraction, Fraction)
        Increments that are substituted: increment, its binary, its length, its coefficient.
    side : Fraction
    """

    coefficients: dict[int, Fraction]
    slacks: list[tuple[int, int, Fraction, Fraction]]
    side: Fraction


class MirSeparator:
    """Separates points, for `dlopt.backends.branch_and_bound.BranchAndBound`.

    Parameters
    ----------
    rows : iterable of (terms, side)
        ``terms <= side``, every coefficient of an increment positive.
    increments : mapping of int to (int, Fraction)
        Of each increment, the binary of its segment and the segment's length.
    """

    def __init__(
        self,
        rows: Iterable[tuple[Sequence[tuple[int, Fraction]], Fraction]],
        increments: Mapping[int, tuple[int, Fraction]],
    ) -> None:
        self.rows, self.increments, self.rounds = list(rows), increments, 0

    def __call__(self, point: Sequence[float]) -> list[Row]:
        """Return the cuts that a point violates most."""
        if not point or self.rounds >= MAX_ROUNDS:
            return []
        self.rounds += 1
        cuts: list[tuple[float, Row]] = []
        for terms, side in self.rows:
            cut = self._best_cut(terms, side, point)
            if cut is not None:
                cuts.append(cut)
        cuts.sort(key=lambda cut: -cut[0])
        return [row for _, row in cuts[:MAX_CUTS_PER_ROUND]]

    def _best_cut(
        self, terms: Sequence[tuple[int, Fraction]], side: Fraction, point: Sequence[float]
    ) -> tuple[float, Row] | None:
        """Return the cut of a row that a point violates most, and by how much."""
        row = self._substitute(terms, side, point)
        activity = sum(float(a) * point[j] for j, a in row.coefficients.items())
        activity -= _weighted_slacks(row, point)
        if activity < float(row.side) * (1 - 1e-3):
            return None  # far from tight
        complemented = {j for j in row.coefficients if point[j] > 0.5}
        reduced = row.side - sum((row.coefficients[j] for j in complemented), Fraction(0))
        fractional = sorted(
            (abs(point[j] - 0.5), j)
            for j in row.coefficients
            if FRACTIONALITY_TOLERANCE < point[j] < 1 - FRACTIONALITY_TOLERANCE
        )
        sizes = dict.fromkeys(row.coefficients[j] for _, j in fractional if row.coefficients[j])
        best, best_violation = None, MIN_VIOLATION
        for size in list(sizes)[:MAX_DIVISORS]:
            for divisor in (size, size / 2, size / 4):
                violation = self._violation(row, complemented, reduced, divisor, point)
                if violation > best_violation:
                    best, best_violation = divisor, violation
        if best is None:
            return None
        return best_violation, _mir_cut(row, complemented, reduced, best)

    def _substitute(
        self, terms: Sequence[tuple[int, Fraction]], side: Fraction, point: Sequence[float]
    ) -> SubstitutedRow:
        """Substitute the increments that are more than half of their variable upper bound."""
        coefficients: dict[int, Fraction] = defaultdict(Fraction)
        slacks = []
        for j, a in terms:
            if j not in self.increments:
                coefficients[j] += a
                continue
            binary, length = self.increments[j]
            if point[j] > float(length) * point[binary] / 2:
                coefficients[binary] += a * length
                slacks.append((j, binary, length, a))
        return SubstitutedRow(dict(coefficients), slacks, side)

    def _violation(
        self,
        row: SubstitutedRow,
        complemented: set[int],
        reduced: Fraction,
        divisor: Fraction,
        point: Sequence[float],
    ) -> float:
        """Return how far a point violates the cut of a divisor, in floats."""
        step = float(divisor)
        remainder = float(reduced % divisor)
        room = step - remainder
        if room < 1e-3 * step or remainder < 1e-3 * step:
            return 0.0
        total = 0.0
        for j, a in row.coefficients.items():
            sign, value = (-1, 1 - point[j]) if j in complemented else (1, point[j])
            if value > FRACTIONALITY_TOLERANCE:
                times, rest = divmod(sign * float(a), step)
                total += (times * room + max(0.0, rest - remainder)) * value
        total -= _weighted_slacks(row, point)
        excess = total - float(reduced // divisor) * room
        return excess / (room * sqrt(1 + len(row.coefficients)))


def _weighted_slacks(row: SubstitutedRow, point: Sequence[float]) -> float:
    """Return the slacks of the substituted increments, times their coefficients."""
    total = 0.0
    for increment, binary, length, a in row.slacks:
        total += float(a) * (float(length) * point[binary] - point[increment])
    return total


def _mir_cut(
    row: SubstitutedRow, complemented: set[int], reduced: Fraction, divisor: Fraction
) -> Row:
    """Return the cut of the lemma, in fractions."""
    remainder = reduced % divisor
    room = divisor - remainder
    side = (reduced // divisor) * room
    terms: dict[int, Fraction] = defaultdict(Fraction)
    for j, a in row.coefficients.items():
        sign = -1 if j in complemented else 1
        times, rest = divmod(sign * a, divisor)
        factor = times * room + max(Fraction(0), rest - remainder)
        terms[j] += sign * factor
        side -= factor if j in complemented else 0
    for increment, binary, length, a in row.slacks:
        terms[increment] += a
        terms[binary] -= a * length
    return tuple((j, a) for j, a in terms.items() if a), None, Fraction(side)
