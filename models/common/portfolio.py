"""A portfolio of bounding and improving steps as data: which apply, and for how much of the time.

The steps of a level run in their order while its gap is open. Each may take a share of the time
that remains when it starts, so that what it leaves unused is passed on to the next ones: after
steps of shares ``s_1, ..., s_n`` at least ``(1 - s_1) ... (1 - s_n)`` of the time remains, if they
keep to them.

Examples
--------
>>> from dlopt.models.common.lexicographic import LexicographicSearch
>>> class Digits(LexicographicSearch[str, tuple[int, ...], int]):
...     def objective_key(self, incumbent):
...         return incumbent
...
...     def trivial_bound(self, level):
...         return Bound(9, "digits")
>>> shares = []
>>> def bound(search, level, share):
...     shares.append(share)
...     return Bound(7, "seven")
>>> def late(search, level, share):
...     shares.append(share)
...     raise TimeoutError
>>> search = Digits(("only",), (5,))
>>> steps = [
...     Step("first", 1 / 4, bound),
...     Step("never", 1 / 2, bound, lambda search, level: False),
...     Step("late", 1 / 3, late),
...     Step("last", 1, bound),
... ]
>>> search.prove_levels(
...     lambda level, bounds: run_steps(steps, search, level, bounds, search.is_closed)
... )
>>> shares, search.result.bounds
([0.25, 0.3333333333333333, 1], [7])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from dlopt.models.common.lexicographic import Bound, LevelValue

Search = TypeVar("Search")


def _always(search: object, level: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Step(Generic[Search, LevelValue]):
    """A bounding or improving method of a portfolio.

    Parameters
    ----------
    name : str
    share : float
        Share of the remaining time that it may take.
    run : callable
        Given the search, the level and the share: it may improve the incumbent, and returns a bound
        of the level, or None. `TimeoutError` means that there is none in time.
    applies : callable
        Whether it is used, given the search and the level.
    only_if_open : bool
        Whether it is left out where the gap of the level is closed.
    """

    name: str
    share: float
    run: Callable[[Search, str, float], Bound[LevelValue] | None]
    applies: Callable[[Search, str], bool] = _always
    only_if_open: bool = True


def run_steps(
    steps: Sequence[Step[Search, LevelValue]],
    search: Search,
    level: str,
    bounds: list[Bound[LevelValue]],
    is_closed: Callable[[Sequence[Bound[LevelValue]]], bool],
) -> None:
    """Run the steps that apply to a level, and add their bounds, while its gap is open.

    Parameters
    ----------
    steps : sequence of Step
    search : object
        What the steps are given.
    level : str
    bounds : list of Bound
        Those known of the level; of steps that give one it is appended.
    is_closed : callable
        Whether the gap of the level is closed, given its bounds.
    """
    for step in steps:
        if step.only_if_open and is_closed(bounds):
            continue
        if step.applies(search, level):
            with suppress(TimeoutError):
                bound = step.run(search, level, step.share)
                if bound is not None:
                    bounds.append(bound)
