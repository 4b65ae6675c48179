"""What machines one by one are less than all of them together, as one row of the relaxation.

The relaxation takes all machines as one. Where machines differ, or parts name theirs, the linear
program with a copy of every part on every machine bounds better, but it is ten times as large. Its
multipliers are enough: weighted by them its rows become one row about parts wherever they are.

**Lemma.** Let ``u >= 0`` weigh the units of a machine from an instant on, and ``g >= 0`` the rule
that so many parts larger than a share of it fit there. A part on machine ``j`` with a share on a
piece from ``low`` to ``high`` costs ``share * U_j + G_j``, with the sums of the weights over its
window, of the rules only those that count the whole piece. Let ``room_j`` be the largest share that
is ever free there. A line that lies, for every machine with room for ``low``, below the cost at
``low`` and at ``min(high, room_j)`` is nowhere above what a part costs. So over all parts that a
plan holds the lines sum up to at most what all that is weighed amounts to. *Proof.* The cost is
linear in the share between both ends, and all shares lie between them; the plan keeps every row
that is weighed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import LinearProgram
from dlopt.models.coreservation.branch_and_price.columns import groups_of
from dlopt.models.coreservation.objective import coefficients
from dlopt.models.coreservation.requests import Piece
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.result import Status

if TYPE_CHECKING:
    from dlopt.models.coreservation.aggregated_relaxation import PooledModel

Terms: TypeAlias = tuple[tuple[int, Fraction], ...]

_CROWDS = (1, 2, 3)
_COPIES = 4000
"""Pieces of parts on machines, at the most: of more the larger program takes too long to gain."""
_FINE = 1 << 24
"""The largest weight is so many units; all weights and lines are whole numbers of them."""
_ONE = Fraction(1)
_UNIT: tuple[Fraction | None, Fraction | None] = (Fraction(0), _ONE)


@dataclass(frozen=True, slots=True)
class _Rule:
    """Units of a machine from an instant on; or how many parts larger than `size` fit there."""

    machine: int
    instant: int
    size: int | None
    most: int

    def counts(self, piece: Piece) -> bool:
        """Tell whether all shares on a piece are larger than the size."""
        return self.size is not None and piece.low > self.size


@dataclass
class _Copied:
    """The linear program with a copy of every part on every machine."""

    costs: list[Fraction]
    bounds: list[tuple[Fraction | None, Fraction | None]]
    rows: list[Terms] = field(default_factory=list)
    sides: list[tuple[Fraction | None, Fraction | None]] = field(default_factory=list)
    rules: dict[int, _Rule] = field(default_factory=dict)

    def column(self, cost: Fraction, high: Fraction) -> int:
        self.costs.append(-cost)
        self.bounds.append((Fraction(0), high))
        return len(self.costs) - 1

    def row(self, terms: Sequence[tuple[int, Fraction]], low: int | None, high: int) -> None:
        self.rows.append(tuple(terms))
        self.sides.append((None if low is None else Fraction(low), Fraction(high)))

    def program(self) -> LinearProgram:
        return LinearProgram(
            len(self.costs),
            tuple(self.costs),
            tuple(self.rows),
            tuple(self.sides),
            tuple(self.bounds),
        )


def worth_a_row(case: Case) -> bool:
    """Tell whether machines differ, or parts name them, in not too many whole numbers."""
    copies = sum(len(job.machines) * len(job.pieces) for job in case.jobs)
    return case.too_fine is None and copies <= _COPIES and len(groups_of(case)) > 1


def row_of(
    model: PooledModel, level: str, seed: int = 0, stop: float = inf
) -> tuple[Terms, Fraction] | None:
    """Return a row that every plan satisfies: terms, and what they sum up to at the most.

    Parameters
    ----------
    model : PooledModel
    level : str
        The row is one by which this level is bounded as by the larger program.
    seed : int
    stop : float
        Instant of the monotonic clock at which it is given up.

    Returns
    -------
    tuple or None
        None if the larger program was not solved, or none of its rows is tight.
    """
    case = model.case
    copied = _copied(model, level)
    found = LinearSolver(copied.program(), seed, stop).solve()
    if found.status is not Status.OPTIMAL:
        return None
    weights = {r: -found.multipliers[r] for r in copied.rules if found.multipliers[r] < 0}
    if not weights:
        return None
    unit = _FINE / max(weights.values())
    whole = {copied.rules[r]: int(weight * unit) for r, weight in weights.items()}
    # rows of parts come first: what a part is worth beyond its cost
    gains = [-float(found.multipliers[i]) * unit for i in range(len(case.jobs))]
    return _row(model, level, whole, gains, unit)


def _copied(model: PooledModel, level: str) -> _Copied:
    case = model.case
    on = level == "benefit"
    weights = [Fraction(0) if on else case.weight(level, k) for k in range(len(case.wishes))]
    copied = _Copied([-weight for weight in weights], [_UNIT] * len(weights))
    placed: list[list[tuple[int, Piece, int, int | None]]] = []
    later: list[tuple[list[tuple[int, Fraction]], int]] = []
    for i, job in enumerate(case.jobs):
        own: list[tuple[int, Piece, int, int | None]] = []
        for j in job.machines:
            room = min(case.free[j][job.start : job.end])
            for piece, _, _ in model.pieces[i]:
                if piece.low > room:
                    continue
                flat, steep = coefficients(case, i, piece) if on else (Fraction(0), Fraction(0))
                chosen, rise, length = copied.column(flat, _ONE), None, min(piece.high, room)
                length -= piece.low
                if length > 0:
                    rise = copied.column(steep, Fraction(length))
                    later.append(([(rise, _ONE), (chosen, -Fraction(length))], 0))
                own.append((j, piece, chosen, rise))
        copied.row([*((chosen, _ONE) for _, _, chosen, _ in own), (job.wish, -_ONE)], 0, 0)
        placed.append(own)
    for terms, high in later:
        copied.row(terms, None, high)
    for j in range(len(case.free)):
        mine = [i for i, job in enumerate(case.jobs) if j in job.machines]
        for row in case.rows(mine, (j,)):
            there = [one for i in row.jobs for one in placed[i] if one[0] == j]
            load = [(chosen, Fraction(piece.low)) for _, piece, chosen, _ in there]
            load += [(rise, _ONE) for _, _, _, rise in there if rise is not None]
            _weigh(copied, _Rule(j, row.instant, None, row.free[0]), load)
            for k in _CROWDS:
                size = row.free[0] // (k + 1)
                large = [(chosen, _ONE) for _, piece, chosen, _ in there if piece.low > size]
                if len(large) > k:
                    _weigh(copied, _Rule(j, row.instant, size, k), large)
    return copied


def _weigh(copied: _Copied, rule: _Rule, terms: Sequence[tuple[int, Fraction]]) -> None:
    copied.rules[len(copied.rows)] = rule
    copied.row(terms, None, rule.most)


def _row(
    model: PooledModel,
    level: str,
    weights: dict[_Rule, int],
    gains: Sequence[float],
    unit: float,
) -> tuple[Terms, Fraction]:
    """Return the row of some weights, by lines that are as steep as what parts are worth."""
    case, instants = model.case, len(model.case.free[0])
    prices: dict[int, list[int]] = defaultdict(lambda: [0] * instants)
    counted: dict[int, list[tuple[_Rule, int]]] = defaultdict(list)
    for rule, weight in weights.items():
        if rule.size is None:
            prices[rule.machine][rule.instant] += weight
        else:
            counted[rule.machine].append((rule, weight))
    sums = {j: [0, *accumulate(own)] for j, own in prices.items()}
    terms: dict[int, int] = defaultdict(int)
    for i, job in enumerate(case.jobs):
        for piece, chosen, rise in model.pieces[i]:
            flat, steep = (Fraction(0),) * 2
            if level == "benefit":
                flat, steep = coefficients(case, i, piece)
            slope = 0 if rise is None else int(float(steep) * unit)
            level_ = int(float(flat) * unit - gains[i])
            above = []
            for j in job.machines:
                room = min(case.free[j][job.start : job.end])
                if piece.low <= room:
                    price = sums[j][job.end] - sums[j][job.start] if j in sums else 0
                    count = sum(
                        weight
                        for rule, weight in counted[j]
                        if job.start <= rule.instant < job.end and rule.counts(piece)
                    )
                    for share in (piece.low, min(piece.high, room)):
                        line = level_ + slope * (share - piece.low)
                        above.append(share * price + count - line)
            terms[chosen] += level_ + min(above, default=-level_)
            if rise is not None:
                terms[rise] += slope
    side = sum(rule.most * weight for rule, weight in weights.items())
    return tuple((column, Fraction(n, _FINE)) for column, n in terms.items() if n), Fraction(
        side, _FINE
    )
