"""Bound propagation: bounds of unbounded variables that the rows of a linear program imply."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dlopt.backends.linear_program import Bounds, LinearProgram

_Pair = list[Fraction | None]


def implied_bounds(program: LinearProgram) -> Bounds:
    """Return the bounds of the variables, with missing ones filled in by bound propagation.

    A row ``a.x <= high`` implies that ``a_j x_j`` is at most `high` less the minimum of its other
    terms (its minimum activity); rows with a variable that has got a bound are propagated again.
    A bound that the program states is not tightened.

    Parameters
    ----------
    program : LinearProgram

    Returns
    -------
    tuple of (Fraction or None, Fraction or None)
        Lower and upper bound of each variable.

    Notes
    -----
    Every row is propagated once, and once more for each of its variables that gets a bound.

    Examples
    --------
    >>> rows = ((0, Fraction(2)), (1, Fraction(1))), ((1, Fraction(3)), (2, Fraction(-1)))
    >>> sides = (None, Fraction(8)), (Fraction(0), None)
    >>> program = LinearProgram(3, (Fraction(0),) * 3, rows, sides, ((Fraction(0), None),) * 3)
    >>> [str(high) for _, high in implied_bounds(program)]
    ['4', '8', '24']
    """
    bounds: list[_Pair] = [list(pair) for pair in program.column_bounds]
    rows_of: dict[int, list[int]] = {j: [] for j, pair in enumerate(bounds) if None in pair}
    for at, terms in enumerate(program.rows):
        for j, _ in terms:
            if j in rows_of:
                rows_of[j].append(at)
    rows: Iterable[int] = sorted({at for indices in rows_of.values() for at in indices})
    while rows:
        best: dict[tuple[int, int], Fraction] = {}
        for at in rows:
            for j, end, limit in _implied(program, at, bounds):
                tighter = min if end else max
                best[j, end] = tighter(limit, best.get((j, end), limit))
        for (j, end), limit in best.items():
            bounds[j][end] = limit
        rows = sorted({at for j, _ in best for at in rows_of[j]})
    return tuple((low, high) for low, high in bounds)


def _implied(
    program: LinearProgram, at: int, bounds: list[_Pair]
) -> list[tuple[int, int, Fraction]]:
    """Return the missing bounds that a row implies: variable, 0 for lower or 1 for upper, bound."""
    implied = []
    terms = [(j, a) for j, a in program.rows[at] if a]
    for side in (0, 1):
        limit = program.row_bounds[at][side]
        if limit is None:
            continue
        # A <= row implies bounds by the minimum of each term, a >= row by the maximum.
        ends = [bounds[j][side if a < 0 else 1 - side] for j, a in terms]
        parts = [None if end is None else a * end for (_, a), end in zip(terms, ends, strict=True)]
        open_terms = [place for place, part in enumerate(parts) if part is None]
        if len(open_terms) > 1:
            continue
        rest = limit - sum((part for part in parts if part is not None), Fraction(0))
        for place in open_terms or range(len(terms)):
            j, a = terms[place]
            end = side if a > 0 else 1 - side
            if bounds[j][end] is None:
                implied.append((j, end, (rest + (parts[place] or 0)) / a))
    return implied
