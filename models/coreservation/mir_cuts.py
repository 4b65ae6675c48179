"""Rows of the relaxation, rounded: what whole choices cannot reach is cut off.

A row of the relaxation says that at an instant there is enough: ``sum a_j y_j + sum r_i <= b``,
where ``y`` chooses pieces and ``0 <= r_i <= l_i y_c`` is a rise on the piece ``c``.

**Lemma (mixed-integer rounding).** Write ``r_i = l_i y_c - s_i`` for some rises, drop the others,
and ``y_j = 1 - z_j`` for some choices: ``sum a'_j y'_j - sum s_i <= b'`` is left, ``y'`` whole and
``y', s >= 0``. Let ``d > 0`` and ``m`` be what ``b'`` is more than a multiple of ``d``. With
``a'_j = q_j d + p_j``, ``0 <= p_j < d``, all plans satisfy
``sum (q_j (d - m) + max(0, p_j - m)) y'_j - sum s_i <= floor(b' / d) (d - m)``. *Proof.*
Nemhauser and Wolsey, Math. Program. 46, 1990; which rises, choices and ``d``: Marchand and Wolsey,
Operations Research 49, 2001.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from dlopt.backends.linear_program import Row

_ROUNDS, _MOST = 6, 100
"""Times that points are cut off, and rows each time."""
_LEAST = 1e-4
"""How much of its side a point must violate a row by."""
_SIZES = 12
"""Values of `d` that are tried of a row, those of choices that are most undecided first."""
_OPEN = 1e-6


@dataclass(frozen=True, slots=True)
class _Base:
    """A row in floats, rises written as choices and what is left of them.

    Parameters
    ----------
    whole : dict of int to Fraction
        Of choices.
    left : list of (int, int, Fraction, Fraction)
        Rises that are written so: rise, its choice, its length, its coefficient.
    side : Fraction
    """

    whole: dict[int, Fraction]
    left: list[tuple[int, int, Fraction, Fraction]]
    side: Fraction


class Rounding:
    """Cuts points off, for `dlopt.backends.branch_and_bound.BranchAndBound`.

    Parameters
    ----------
    rows : iterable of (terms, side)
        ``terms <= side``, every coefficient of a rise positive.
    rises : mapping of int to (int, Fraction)
        Of rises, the choice that they need and their length.
    """

    def __init__(
        self,
        rows: Iterable[tuple[Sequence[tuple[int, Fraction]], Fraction]],
        rises: Mapping[int, tuple[int, Fraction]],
    ) -> None:
        self.rows, self.rises, self.rounds = list(rows), rises, 0

    def __call__(self, point: Sequence[float]) -> list[Row]:
        """Return the rows that a point violates most."""
        if not point or self.rounds >= _ROUNDS:
            return []
        self.rounds += 1
        found: list[tuple[float, Row]] = []
        for terms, side in self.rows:
            best = self._rounded(terms, side, point)
            if best is not None:
                found.append(best)
        found.sort(key=lambda one: -one[0])
        return [row for _, row in found[:_MOST]]

    def _rounded(
        self, terms: Sequence[tuple[int, Fraction]], side: Fraction, point: Sequence[float]
    ) -> tuple[float, Row] | None:
        """Return the rounded row that a point violates most, and by how much."""
        base = self._base(terms, side, point)
        spent = sum(float(a) * point[j] for j, a in base.whole.items())
        spent -= _left(base, point)
        if spent < float(base.side) * (1 - 1e-3):
            return None  # far from tight
        turned = {j for j in base.whole if point[j] > 0.5}
        reduced = base.side - sum((base.whole[j] for j in turned), Fraction(0))
        undecided = sorted(
            (abs(point[j] - 0.5), j) for j in base.whole if _OPEN < point[j] < 1 - _OPEN
        )
        sizes = dict.fromkeys(base.whole[j] for _, j in undecided if base.whole[j])
        best, most = None, _LEAST
        for size in list(sizes)[:_SIZES]:
            for divisor in (size, size / 2, size / 4):
                by = self._violation(base, turned, reduced, divisor, point)
                if by > most:
                    best, most = divisor, by
        if best is None:
            return None
        return most, _row(base, turned, reduced, best)

    def _base(
        self, terms: Sequence[tuple[int, Fraction]], side: Fraction, point: Sequence[float]
    ) -> _Base:
        whole: dict[int, Fraction] = defaultdict(Fraction)
        left = []
        for j, a in terms:
            if j not in self.rises:
                whole[j] += a
                continue
            choice, length = self.rises[j]
            if point[j] > float(length) * point[choice] / 2:
                whole[choice] += a * length
                left.append((j, choice, length, a))
        return _Base(dict(whole), left, side)

    def _violation(
        self,
        base: _Base,
        turned: set[int],
        reduced: Fraction,
        size: Fraction,
        point: Sequence[float],
    ) -> float:
        """Return by how much of its side a point violates the row for a divisor, in floats."""
        step = float(size)
        more = float(reduced % size)
        room = step - more
        if room < 1e-3 * step or more < 1e-3 * step:
            return 0.0
        total = 0.0
        for j, a in base.whole.items():
            sign, value = (-1, 1 - point[j]) if j in turned else (1, point[j])
            if value > _OPEN:
                times, rest = divmod(sign * float(a), step)
                total += (times * room + max(0.0, rest - more)) * value
        total -= _left(base, point)
        return (total - float(reduced // size) * room) / (room * sqrt(1 + len(base.whole)))


def _left(base: _Base, point: Sequence[float]) -> float:
    """Return what is left of rises, weighed."""
    total = 0.0
    for rise, choice, length, a in base.left:
        total += float(a) * (float(length) * point[choice] - point[rise])
    return total


def _row(base: _Base, turned: set[int], reduced: Fraction, size: Fraction) -> Row:
    """Return the rounded row, in fractions."""
    more = reduced % size
    room, side = size - more, (reduced // size) * (size - more)
    terms: dict[int, Fraction] = defaultdict(Fraction)
    for j, a in base.whole.items():
        sign = -1 if j in turned else 1
        times, rest = divmod(sign * a, size)
        factor = times * room + max(Fraction(0), rest - more)
        terms[j] += sign * factor
        side -= factor if j in turned else 0
    for rise, choice, length, a in base.left:
        terms[rise] += a
        terms[choice] -= a * length
    return tuple((j, a) for j, a in terms.items() if a), None, Fraction(side)
