"""Certificates without the rows and bounds that their proof does not use."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dlopt.certificates import BoundCertificate


def without_unused_rows(certificate: BoundCertificate) -> BoundCertificate:
    """Return the certificate without rows and bounds of columns that no leaf uses.

    What is left bounds the minimum as well, if each row may be left out. All rows have names.

    Examples
    --------
    >>> from dlopt.certificates import Leaf
    >>> one, unit = Fraction(1), (Fraction(0), Fraction(1))
    >>> certificate = BoundCertificate(
    ...     names=("x",), costs=(one,), rows=(((0, one),), ((0, -one),)),
    ...     row_bounds=((-one, None), (-one, None)), column_bounds=(unit,), binaries=(),
    ...     cuts=0, step=None, bound=-one, leaves=(Leaf((), ((1, -one),), False),),
    ...     row_names=("a", "b"),
    ... )
    >>> shorter = without_unused_rows(certificate)
    >>> shorter.row_names, shorter.column_bounds == ((None, None),)
    (('b',), True)
    """
    rows = sorted({r for leaf in certificate.leaves for r, _ in leaf.multipliers})
    numbers, used = {r: number for number, r in enumerate(rows)}, set[tuple[int, int]]()
    for leaf in certificate.leaves:
        left = [Fraction(0)] * len(certificate.costs) if leaf.refuted else list(certificate.costs)
        for r, multiplier in leaf.multipliers:
            for j, a in certificate.rows[r]:
                left[j] -= multiplier * a
        used |= {(j, rest < 0) for j, rest in enumerate(left) if rest}
    return replace(
        certificate,
        rows=tuple(certificate.rows[r] for r in rows),
        row_bounds=tuple(certificate.row_bounds[r] for r in rows),
        row_names=tuple(certificate.row_names[r] for r in rows),
        column_bounds=tuple(
            (low if (j, 0) in used else None, high if (j, 1) in used else None)
            for j, (low, high) in enumerate(certificate.column_bounds)
        ),
        cuts=sum(r >= len(certificate.rows) - certificate.cuts for r in rows),
        leaves=tuple(
            replace(one, multipliers=tuple((numbers[r], a) for r, a in one.multipliers))
            for one in certificate.leaves
        ),
    )
