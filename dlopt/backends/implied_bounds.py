"""Bounds of variables that the rows of a linear program imply where it states none."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dlopt.backends.linear_program import Bounds, LinearProgram

_Pair = list[Fraction | None]


def implied_bounds(program: LinearProgram) -> Bounds:
    """Return the bounds of the variables, each missing one as the rows imply it, if they do.

    A row ``a.x <= high`` implies that ``a_j x_j`` is at most `high` less the least that its other
    terms can be; rows that read on from such a bound are asked again. A bound that the program
    states is left as it is.

    Parameters
    ----------
    program : LinearProgram

    Returns
    -------
    tuple of (Fraction or None, Fraction or None)
        Lower and upper bound of each variable.

    Notes
    -----
    Every row is read once at first, and once more for each of its variables that gets a bound.

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
    rows: Iterable[int] = sorted({at for found in rows_of.values() for at in found})
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
    found = []
    terms = [(j, a) for j, a in program.rows[at] if a]
    for side in (0, 1):
        limit = program.row_bounds[at][side]
        if limit is None:
            continue
        # Of a <= row the least of each term counts, of a >= row the most.
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
                found.append((j, end, (rest + (parts[place] or 0)) / a))
    return found
