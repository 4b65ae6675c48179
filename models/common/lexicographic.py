"""Lexicographic optimisation with a proof of every level: incumbent, bounds, and when a gap closes.

The levels of an objective are optimised one after another, each among the solutions that keep the
values of the levels before it. A level is *proven* when the incumbent's value meets its tightest
bound, up to a tolerance; *closed* when the gap is as small as was asked for, so that the search of
this level may end. The first level that is not proven ends the search, as nothing can be proven of
the next ones: they have their trivial bounds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Generic, NamedTuple, TypeVar

from dlopt.arithmetic import exact
from dlopt.errors import SolverError
from dlopt.result import Proof

CLOSED_GAP = Fraction(1, 10**7)
"""Relative gap at which a level is closed where numbers are floats: a tenth of the gap at which
their values and bounds count as equal."""
ROUNDED_GAP = 1e-8
"""Relative gap at which CP-SAT may stop where times are rounded: to prove the last, rounded digits
takes a search for each."""

Level = TypeVar("Level", bound=str)
Incumbent = TypeVar("Incumbent")
LevelValue = TypeVar("LevelValue", int, Fraction)
Source = TypeVar("Source")


class Bound(NamedTuple, Generic[LevelValue]):
    """A bound of a level.

    Parameters
    ----------
    value : int or Fraction
    proof : str
        Where it comes from.
    uncertified : bool
        Whether it is a solver's dual bound in floats: it is dropped if a schedule exceeds it.
    relies_on_solver : bool
        Whether a solver is trusted; else it is proven in integers or fractions.
    """

    value: LevelValue
    proof: str
    uncertified: bool = False
    relies_on_solver: bool = False


@dataclass
class SearchResult(Generic[Incumbent, LevelValue]):
    """The incumbent, and what is proven of its levels.

    Attributes
    ----------
    incumbent : schedule
    bounds : list of int or Fraction
        Of the levels that are proven, and of the first one that is not.
    proofs : list of str
        Where the bounds come from.
    proven_levels : int
    relies_on_solver : bool
        Whether one of the bounds is a claim of a solver.
    skipped_reason : str or None
        Why the whole program was not built.
    """

    incumbent: Incumbent
    bounds: list[LevelValue] = field(default_factory=list)
    proofs: list[str] = field(default_factory=list)
    proven_levels: int = 0
    relies_on_solver: bool = False
    skipped_reason: str | None = None

    @property
    def proof(self) -> Proof:
        """What kind of proof the bounds have."""
        return "solver" if self.relies_on_solver else "exact"

    def bounds_of_all_levels(self, trivial: Iterable[LevelValue]) -> list[LevelValue]:
        """Return a bound of every level, given the trivial ones: these where nothing is known."""
        return self.bounds + list(trivial)[len(self.bounds) :]


class _RunningStep(NamedTuple, Generic[Incumbent, LevelValue]):
    """What can be read of a step while it runs.

    Parameters
    ----------
    level : int
        The level that it is about.
    read : callable
        Returns a solution and a bound of the level, or None.
    """

    level: int
    read: Callable[[], tuple[Incumbent | None, Bound[LevelValue] | None]]


class LexicographicSearch(ABC, Generic[Level, Incumbent, LevelValue]):
    """The incumbent of a lexicographic objective, and the loop that proves its levels.

    Parameters
    ----------
    levels : tuple of str
    incumbent : schedule
    gap : float
        The relative gap of the value at which a level is closed.

    Attributes
    ----------
    sense : int
        1 if levels are maximised, -1 if they are minimised.
    result : SearchResult

    Examples
    --------
    >>> class LargestPair(LexicographicSearch[str, tuple[int, int], int]):
    ...     def objective_key(self, incumbent):
    ...         return incumbent
    ...
    ...     def trivial_bound(self, level):
    ...         return Bound(9, "digits")
    >>> search = LargestPair(("first", "second"), (7, 3))
    >>> search.prove_levels(lambda level, bounds: search.update_incumbent((9, 5)))
    >>> search.result.incumbent, search.result.bounds, search.result.proven_levels
    ((9, 5), [9, 9], 1)
    """

    sense: ClassVar[int] = 1

    def __init__(self, levels: tuple[Level, ...], incumbent: Incumbent, gap: float = 0) -> None:
        self.levels, self.gap = levels, exact(gap)
        self.result: SearchResult[Incumbent, LevelValue] = SearchResult(incumbent)
        # What belongs together is set together, as `snapshot` may come at any time.
        self._open: tuple[int, list[Bound[LevelValue]]] = 0, []
        self._running: _RunningStep[Incumbent, LevelValue] | None = None

    @abstractmethod
    def objective_key(self, incumbent: Incumbent) -> tuple[LevelValue, ...]:
        """Return the values of all levels."""

    @abstractmethod
    def trivial_bound(self, level: Level) -> Bound[LevelValue]:
        """Return a bound of a level that needs no search."""

    def tolerance(self, bound: LevelValue) -> Fraction:
        """Return the difference up to which a bound and the value agree: 0 in exact numbers."""
        return Fraction(0)

    def prove_levels(self, search_level: Callable[[Level, list[Bound[LevelValue]]], None]) -> None:
        """Search the levels one after another, until one is not proven.

        Parameters
        ----------
        search_level : callable
            Improves the incumbent and adds bounds to the list, in which the trivial one is first;
            `TimeoutError` ends it.

        Raises
        ------
        SolverError
            If the incumbent exceeds a bound.
        """
        result = self.result
        for n, level in enumerate(self.levels):
            bounds = [self.trivial_bound(level)]
            self._open = n, bounds
            with suppress(TimeoutError):
                search_level(level, bounds)
            tightest = self.tightest(bounds)
            if -self._gap(tightest) > self.tolerance(tightest.value):
                raise SolverError(
                    f"a schedule has the value {self.value}, but the bound is {tightest.value}: "
                    f"{tightest.proof}"
                )
            result.bounds.append(tightest.value)
            result.proofs.append(tightest.proof)
            result.relies_on_solver |= tightest.relies_on_solver
            if not self.is_proven(bounds):
                break
            result.proven_levels += 1

    @contextmanager
    def watching(
        self, read: Callable[[Source], tuple[Incumbent | None, Bound[LevelValue] | None]]
    ) -> Iterator[Callable[[Source], None]]:
        """Let `snapshot` see what a step of the search knows while it runs.

        Parameters
        ----------
        read : callable
            Returns a solution, and a bound of the level that is searched, from what was reported
            last; called from another thread.

        Yields
        ------
        callable
            To report to: outcomes of a solver, or once the object that runs.
        """
        last: deque[Source] = deque(maxlen=1)
        self._running = _RunningStep(
            self._open[0], lambda: read(last[-1]) if last else (None, None)
        )
        try:
            yield last.append
        finally:
            self._running = None

    def snapshot(self) -> SearchResult[Incumbent, LevelValue]:
        """Return what is known now; may be asked from another thread in the middle of the search.

        The level that is searched then counts as not proven.
        """
        opened, running = self._open, self._running
        level, bounds = opened[0], list(opened[1])
        known, state = self.result, copy(self)
        state.result = result = SearchResult(
            known.incumbent,
            known.bounds[:level],
            known.proofs[:level],
            level,
            known.relies_on_solver,
            known.skipped_reason,
        )
        if running is not None and running.level == level:
            candidate, bound = running.read()
            state.update_incumbent(candidate)
            if bound is not None:
                bounds.append(bound)
        if bounds:
            tightest = state.tightest(bounds)
            result.bounds.append(tightest.value)
            result.proofs.append(tightest.proof)
            result.relies_on_solver |= tightest.relies_on_solver
        return result

    def update_incumbent(self, candidate: Incumbent | None) -> None:
        """Make a solution the incumbent if it is lexicographically better; None is ignored."""
        if candidate is not None:
            new, best = map(self.objective_key, (candidate, self.result.incumbent))
            if [self.sense * value for value in new] > [self.sense * value for value in best]:
                self.result.incumbent = candidate

    @property
    def open_bounds(self) -> list[Bound[LevelValue]]:
        """The bounds known of the level that is searched."""
        return self._open[1]

    @property
    def value(self) -> LevelValue:
        """The incumbent's value of the level that is searched."""
        return self.objective_key(self.result.incumbent)[self.result.proven_levels]

    @property
    def fixed_levels(self) -> list[tuple[Level, LevelValue]]:
        """The levels proven so far, with their optimal values."""
        levels = self.levels[: self.result.proven_levels]
        return list(zip(levels, self.objective_key(self.result.incumbent), strict=False))

    def tightest(self, bounds: Sequence[Bound[LevelValue]]) -> Bound[LevelValue]:
        """Return the tightest bound, of those that the incumbent does not refute."""
        valid = (bound for bound in bounds if not bound.uncertified or self._gap(bound) >= 0)
        return min(valid, key=lambda bound: (self.sense * bound.value, bound.relies_on_solver))

    def is_proven(self, bounds: Sequence[Bound[LevelValue]]) -> bool:
        """Tell whether the incumbent meets the tightest bound of the level that is searched."""
        tightest = self.tightest(bounds)
        return self._gap(tightest) <= self.tolerance(tightest.value)

    def is_closed(self, bounds: Sequence[Bound[LevelValue]]) -> bool:
        """Tell whether the gap of the level is as small as was asked for."""
        gap = self._gap(self.tightest(bounds))
        return self.is_proven(bounds) or gap <= self.gap * abs(self.value)

    def _gap(self, bound: Bound[LevelValue]) -> LevelValue:
        return self.sense * (bound.value - self.value)
