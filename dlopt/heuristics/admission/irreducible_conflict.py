"""Which promises, nodes and channel stand in the way of a rejected task."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlopt.books import Conflict, ConflictPart, irreducible_conflict

MAX_PLANNED_TASKS = 200_000
"""Tasks that are planned at the most, over all tests, in search of parts that are not necessary.
Chosen by hand: a second or two in floats."""
MAX_SUMMED_TASKS = 30_000_000
"""The same for tests that only sum their loads. Chosen by hand: a few seconds in floats, enough for
three thousand necessary tasks."""
EXACT_SHARE = 8
"""How many times fewer tasks may be planned or summed in fractions, which take longer."""
_TASKS_PER_TEST = 20
"""Tasks that a test counts as, besides those that it plans. Chosen by hand."""


class _SearchLimitError(Exception):
    """The search has planned as many tasks as it may."""


def find_conflict(
    reason: str,
    parts: Sequence[ConflictPart],
    likely: Sequence[ConflictPart],
    rejects: Callable[[Sequence[ConflictPart]], bool],
    limit: int,
) -> Conflict:
    """Return parts with which a submission is rejected, none of which can be left out.

    Parameters
    ----------
    reason : str
        Of the rejection, in words.
    parts : sequence of ConflictPart
        With all of which it is rejected; those that are preferred in an explanation first.
    likely : sequence of ConflictPart
        Some of them, with which it is likely to be rejected as well.
    rejects : callable
        Tells whether it is rejected with some parts alone.
    limit : int
        How many tasks may be planned. Then the fewest parts are returned with which it was
        rejected so far.

    Examples
    --------
    >>> parts = [ConflictPart("task", name) for name in "abc"]
    >>> found = find_conflict("it is late", parts, parts, lambda kept: parts[1] in kept, 1000)
    >>> str(found), found.irreducible
    ('it is late; in the way: task b', True)
    """
    fewest, left = tuple(parts), limit

    def counted(kept: Sequence[ConflictPart]) -> bool:
        nonlocal fewest, left
        if len(kept) == len(parts):
            return True  # what happened
        if left <= 0:
            raise _SearchLimitError
        left -= len(kept) + _TASKS_PER_TEST
        rejected = rejects(kept)
        if rejected and len(kept) < len(fewest):
            fewest = tuple(kept)
        return rejected

    try:
        chosen = likely if counted(likely) else parts
        return Conflict(irreducible_conflict(chosen, counted), reason)
    except _SearchLimitError:
        return Conflict(fewest, reason, irreducible=False)
