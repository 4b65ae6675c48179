"""Subset-row cuts on triples of parts.

Of the columns with two or more of three parts at most one is selected: half the sum of the rows of
these parts, rounded down. With ``lambda_p`` the weight of a column::

    sum_{p : |p and S| >= 2} lambda_p <= 1      triples S of parts

Source: Jepsen, Petersen, Spoorendonk, Pisinger, Operations Research 56, 2008.

Examples
--------
>>> incidence = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], np.int8)  # three pairs of three parts
>>> violated_cuts(incidence, np.array([0.5, 0.5, 0.5]))
[(0, 1, 2)]
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

MAX_CUTS_PER_ROUND = 30
"""Cuts that are separated at once; chosen by hand: more slow the linear program down."""
MIN_CUT_VIOLATION = 1e-2
"""Cuts that are violated by less are not added; chosen by hand: they enlarge the linear program."""
INTEGRALITY_TOLERANCE = 1e-6
"""Values this near to an integer count as one, as in HiGHS."""

SubsetRowCut: TypeAlias = tuple[int, int, int]
"""The three parts of a cut, ascending."""


def violated_cuts(incidence: Any, weights: Any) -> list[SubsetRowCut]:
    """Return the cuts that a point violates most.

    Parameters
    ----------
    incidence : array of int, shape (columns, parts)
        1 where a part is in a column.
    weights : array of float, shape (columns,)
        The point.
    """
    support = np.flatnonzero(weights > INTEGRALITY_TOLERANCE)
    weights, incidence = weights[support], incidence[support]
    together = incidence.T @ (incidence * weights[:, None])
    np.fill_diagonal(together, 0)
    first, second = np.nonzero(np.triu(together))
    pairs = together[first, second][:, None] + together[first] + together[second]
    # an overestimate: a column with all three parts is counted three times
    pair, third = np.nonzero(pairs > 1 + MIN_CUT_VIOLATION)
    triples = np.sort([first[pair], second[pair], third], 0)
    triples = np.unique(triples[:, (triples[:-1] < triples[1:]).all(0)], axis=1)
    excess = weights @ has_two_of_three(incidence, triples) - 1
    worst = np.argsort(-excess, kind="stable")[:MAX_CUTS_PER_ROUND]
    return [(*triples[:, n].tolist(),) for n in worst if excess[n] > MIN_CUT_VIOLATION]


def has_two_of_three(incidence: Any, triples: Any) -> Any:
    """Tell which columns have at least two of three parts."""
    return incidence[:, triples[0]] + incidence[:, triples[1]] + incidence[:, triples[2]] > 1
