"""Which promises to break where not all can be kept: as few as possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Generic, NamedTuple, TypeVar

Promise = TypeVar("Promise")

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
    plannable: Callable[[Sequence[Promise]], bool],
    *,
    trials: int = MAX_TRIALS,
) -> Selection[Promise]:
    """Keep as many promises as can be planned; among equally many, those made first.

    Parameters
    ----------
    promises : sequence
        In the order in which they were made.
    plannable : callable
        Tells whether a plan keeps some of the promises, in their order. No promise at all is
        always plannable.
    trials : int
        How often `plannable` may be called in search of a selection that breaks fewer.

    Notes
    -----
    First each promise is kept in turn if it can be planned with those kept before. Then selections
    that break fewer are tried, the fewest first and the latest promises first, until one is found
    or the trials are used up. Complexity: n + `trials` calls, for n promises.

    Examples
    --------
    Three promises of which the first excludes both others:

    >>> def plannable(chosen):
    ...     return "a" not in chosen or len(chosen) == 1
    >>> fewest_broken(["a", "b", "c"], plannable)
    Selection(kept=('b', 'c'), broken=('a',), least=True)
    """
    if plannable(promises):
        return Selection(tuple(promises), (), True)
    kept: list[int] = []
    for index in range(len(promises)):
        chosen = [*kept, index]
        if plannable([promises[at] for at in chosen]):
            kept = chosen
    everything = range(len(promises))
    for count in range(1, len(promises) - len(kept)):
        for latest in combinations(reversed(everything), count):
            if not trials:
                return _selection(promises, kept, False)
            trials -= 1
            rest = [index for index in everything if index not in latest]
            if plannable([promises[index] for index in rest]):
                return _selection(promises, rest, True)
    return _selection(promises, kept, True)


def _selection(promises: Sequence[Promise], kept: Sequence[int], least: bool) -> Selection[Promise]:
    chosen = set(kept)
    return Selection(
        tuple(promises[index] for index in kept),
        tuple(promise for index, promise in enumerate(promises) if index not in chosen),
        least,
    )
