"""Which promises to break where not all can be kept: as few as possible."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import combinations
from typing import Generic, NamedTuple, TypeVar

Promise = TypeVar("Promise", bound=Hashable)

MAX_TRIALS = 512
"""Trials with fewer broken promises than the first selection has, at the most: enough for all pairs
of 32 promises. Chosen by hand: more take longer, after which fewer may be broken."""


class Selection(NamedTuple, Generic[Promise]):
    """The promises that are kept and those that are not, each in the given order."""

    kept: tuple[Promise, ...]
    broken: tuple[Promise, ...]
    least: bool
    """Whether it is proven that no selection that can be planned breaks fewer."""


def fewest_broken(
    promises: Sequence[Promise],
    first_to_miss: Callable[[Sequence[Promise]], Promise | None],
    *,
    trials: int = MAX_TRIALS,
) -> Selection[Promise]:
    """Keep as many promises as can be planned; among equally many, those made first.

    Parameters
    ----------
    promises : sequence
        In the order in which they were made; they differ from each other.
    first_to_miss : callable
        Plans some of the promises, in their order, and returns the first that cannot be kept; None
        if all are kept. No promise at all can always be kept.
    trials : int
        How often it may be called in search of a selection that breaks fewer.

    Notes
    -----
    First the promises that miss are left out, until the others are kept; then each that was left
    out is tried again. Then selections that break no more are tried, the fewest first and the
    latest promises first, until one is found or the trials are used up; so which of equally many
    are kept is certain only if there are trials enough. Complexity: `trials` calls, and two for
    each promise that misses.

    Examples
    --------
    Three promises of which the first excludes both others:

    >>> def first_to_miss(chosen):
    ...     return chosen[1] if "a" in chosen and len(chosen) > 1 else None
    >>> fewest_broken(["a", "b", "c"], first_to_miss)
    Selection(kept=('b', 'c'), broken=('a',), least=True)
    """
    kept, left_out = list(promises), []
    while (missed := first_to_miss(kept)) is not None:
        kept.remove(missed)
        left_out.append(missed)
    for promise in sorted(left_out, key=promises.index):
        wanted = {*kept, promise}
        chosen = [one for one in promises if one in wanted]
        if first_to_miss(chosen) is None:
            kept = chosen
    fewest = len(promises) - len(kept)
    for count in range(1, fewest + 1):
        for latest in combinations(reversed(promises), count):
            if not trials:
                return _selection(promises, kept, count == fewest)
            trials -= 1
            rest = [promise for promise in promises if promise not in latest]
            if first_to_miss(rest) is None:
                return _selection(promises, rest, True)
    return _selection(promises, kept, True)


def _selection(
    promises: Sequence[Promise], kept: Sequence[Promise], least: bool
) -> Selection[Promise]:
    chosen = set(kept)
    broken = tuple(promise for promise in promises if promise not in chosen)
    return Selection(tuple(kept), broken, least)
