"""The irreducible conflict that explains a rejection, by divide and conquer.

Source: Junker, QuickXplain: preferred explanations and relaxations for over-constrained problems,
AAAI 2004. Its proof needs a test for which fewer parts never reject more; the tests of admission
algorithms are not always like that, so the parts that remain are tried once more, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Part = TypeVar("Part")


def irreducible_conflict(
    parts: Sequence[Part], rejects: Callable[[Sequence[Part]], bool]
) -> tuple[Part, ...]:
    """Return a part of the parts with which a test rejects, and without any one of them does not.

    Parameters
    ----------
    parts : sequence
        With all of which the test rejects. Where conflicts differ, one of early parts is preferred.
    rejects : callable
        Tells whether the test rejects with some of the parts, in their order.

    Returns
    -------
    tuple
        Empty if the test rejects without any part.

    Notes
    -----
    Complexity, for n parts of which k are returned: O(k log(n / k)) tests if fewer parts never
    reject more. Else O(n) tests more, and up to k for each part that turns out not to be necessary.

    Examples
    --------
    >>> irreducible_conflict([1, 2, 3, 4, 5], lambda chosen: sum(chosen) > 9)
    (1, 2, 3, 4)
    """
    if rejects(()):
        return ()
    parts = tuple(parts)
    order = {id(part): index for index, part in enumerate(parts)}
    found = _necessary((), False, parts, rejects)
    found = tuple(sorted(found, key=lambda part: order[id(part)]))
    if rejects(found):
        return _without_redundant(found, rejects)
    return _without_redundant(_without_blocks(parts, rejects), rejects)


def _necessary(
    background: tuple[Part, ...],
    changed: bool,
    parts: tuple[Part, ...],
    rejects: Callable[[Sequence[Part]], bool],
) -> tuple[Part, ...]:
    """Return which of the parts are necessary in addition to the background."""
    if changed and rejects(background):
        return ()
    if len(parts) == 1:
        return parts
    half = len(parts) // 2
    first, second = parts[:half], parts[half:]
    of_second = _necessary(background + first, bool(first), second, rejects)
    of_first = _necessary(background + of_second, bool(of_second), first, rejects)
    return of_first + of_second


def _without_blocks(
    found: tuple[Part, ...], rejects: Callable[[Sequence[Part]], bool]
) -> tuple[Part, ...]:
    """Return the parts without blocks of them that are not necessary, large blocks first."""
    size = len(found) // 2
    while size > 1:
        index = 0
        while index < len(found):
            fewer = found[:index] + found[index + size :]
            if rejects(fewer):
                found = fewer
            else:
                index += size
        size //= 2
    return found


def _without_redundant(
    found: tuple[Part, ...], rejects: Callable[[Sequence[Part]], bool]
) -> tuple[Part, ...]:
    """Return the parts without those that are not necessary, until each of them is."""
    index = 0
    while index < len(found):
        fewer = found[:index] + found[index + 1 :]
        if rejects(fewer):
            found, index = fewer, 0
        else:
            index += 1
    return found
