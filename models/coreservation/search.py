"""The exact search: a portfolio of bounds and primal heuristics, level by level.

Each level of the lexicographic objective is proven, given the optimal values of those before, or
bounded when the time is up. The steps of the portfolio are in `upper_bounds`, their common state is
in `portfolio_state`, the primal heuristics are in `primal_heuristics`; requests whose windows do
not interact are searched separately.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 5),), requests), "rejections")
>>> result = solve_by_components(scaled, {}, Limits(), 0)
>>> result.bounds, result.proven_levels, result.proof
([Fraction(-1, 1)], 1, 'exact')
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction

from dlopt.backends.time_budget import Budget
from dlopt.models.common.lexicographic import SearchResult
from dlopt.models.common.portfolio import run_steps
from dlopt.models.coreservation.construction import raise_shares
from dlopt.models.coreservation.objective import Assignment, trivial_bound, value_of_empty
from dlopt.models.coreservation.portfolio_state import (
    TRIVIAL,
    AssignmentResult,
    PortfolioState,
    SearchOptions,
    UpperBound,
)
from dlopt.models.coreservation.requests import time_components
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.upper_bounds import STEPS, improve
from dlopt.result import Limits


class PortfolioSearch:
    """One search over requests whose windows interact.

    Parameters
    ----------
    scaled : ScaledInstance
    budget : Budget
    seed : int
    **options
        Fields of `SearchOptions`.
    """

    def __init__(
        self, scaled: ScaledInstance, budget: Budget, seed: int = 0, **options: object
    ) -> None:
        self.scaled = scaled
        self.options = SearchOptions(**options)  # type: ignore[arg-type]
        self.state = PortfolioState(scaled, budget, seed, self.options)

    def run(self, hint: Assignment) -> AssignmentResult:
        """Search until all levels are proven, or time is up."""
        state = self.state
        state.result.incumbent = raise_shares(self.scaled, hint)
        state.prove_levels(self._search_level)
        return state.result

    def _search_level(self, level: str, bounds: list[UpperBound]) -> None:
        """Run the portfolio on a level, until its gap is closed or time is up."""
        state = self.state
        if "machines" in self.scaled.levels:
            state.update_incumbent(state.machine_bound.assignment)
        shares = (s.share for s in STEPS if s.run is improve and s.applies(state, level))
        incumbent, share = state.result.incumbent, next(shares, 0)
        with state.heuristics.in_background(incumbent, share) if share else nullcontext():
            run_steps(STEPS, state, level, bounds, state.is_closed)


def solve_by_components(
    scaled: ScaledInstance,
    hint: Assignment,
    limits: Limits,
    seed: int,
    *,
    watch: Callable[[Callable[[], AssignmentResult]], object] | None = None,
    **options: object,
) -> AssignmentResult:
    """Search the components whose windows interact one by one, and put the proofs together.

    Each has a share of the remaining time in proportion to its parts; those that it stops are
    searched once more in what the others leave. Where capacities have no common integer unit the
    full model is the MILP, and there are no primal heuristics. `watch` is given a function that
    returns what is known so far, which other threads may call.
    """
    if scaled.scaling_failure is not None:
        options = {"formulation": "milp", "primal_heuristics": False} | options
    watch = watch or (lambda known: None)
    if "machines" in scaled.levels or not scaled.requests:
        search = PortfolioSearch(scaled, Budget(limits), seed, **options)
        watch(search.state.snapshot)
        return search.run(hint)
    budget = Budget(limits)
    components = [
        _Component.of(scaled, members, hint) for members in time_components(scaled.requests)
    ]
    results = [component.without_search() for component in components]

    def search_in_turn(indices: Sequence[int]) -> list[int]:
        """Search components, and return those that their share of the time has stopped."""
        stopped = []
        for k, n in enumerate(indices):
            component = components[n]
            remaining = sum(len(components[later].parts) for later in indices[k:])
            left = budget.left_or_minimum(len(component.parts) / remaining)
            own = Budget(left)
            search = PortfolioSearch(component.scaled, own, seed, **options)

            def known(n: int = n, search: PortfolioSearch = search) -> AssignmentResult:
                found = [*results[:n], search.state.snapshot(), *results[n + 1 :]]
                return _put_together(scaled, components, found)

            watch(known)
            results[n] = _more_proven(results[n], search.run(results[n].incumbent))
            is_open = results[n].proven_levels < len(scaled.levels)
            if is_open and own.is_spent:
                stopped.append(n)
        return stopped

    stopped = search_in_turn(range(len(components)))
    if stopped and not budget.is_spent:
        search_in_turn(stopped)  # with the time that the others did not need
    return _put_together(scaled, components, results)


def _more_proven(before: AssignmentResult, after: AssignmentResult) -> AssignmentResult:
    """Return the proofs of the search that proves more levels, with the later, better schedule."""
    if before.proven_levels <= after.proven_levels and _is_no_looser(after, before):
        return after
    before.incumbent = after.incumbent
    return before


def _is_no_looser(after: AssignmentResult, before: AssignmentResult) -> bool:
    """Tell whether a search proves more levels, or bounds the first open one no more loosely."""
    level = before.proven_levels
    return after.proven_levels > level or after.bounds[level:] <= before.bounds[level:]


@dataclass(frozen=True, slots=True)
class _Component:
    """Requests that interact, as an instance of their own.

    Parameters
    ----------
    scaled : ScaledInstance
    parts : list of int
        Its parts, by their positions in the whole instance.
    hint : dict
        Of its own parts.
    """

    scaled: ScaledInstance
    parts: list[int]
    hint: dict[int, tuple[int, int]]

    @classmethod
    def of(cls, scaled: ScaledInstance, members: Sequence[int], hint: Assignment) -> _Component:
        parts = [i for k in members for i in scaled.requests[k].parts]
        own_hint = {q: hint[i] for q, i in enumerate(parts) if i in hint}
        return cls(scaled.subinstance(members, scaled.free, {}), parts, own_hint)

    def without_search(self) -> AssignmentResult:
        """Return what is known before it is searched: the hint and a trivial bound."""
        bound = trivial_bound(self.scaled, self.scaled.levels[0])
        return SearchResult(raise_shares(self.scaled, self.hint), [bound], [TRIVIAL])


def _put_together(
    scaled: ScaledInstance, components: Sequence[_Component], results: Sequence[AssignmentResult]
) -> AssignmentResult:
    """Return the result of the whole instance from those of its components."""
    total: AssignmentResult = SearchResult({})
    for component, result in zip(components, results, strict=True):
        total.incumbent |= {component.parts[q]: at for q, at in result.incumbent.items()}
        total.relies_on_solver |= result.relies_on_solver
        total.skipped_reason = total.skipped_reason or result.skipped_reason
    total.proven_levels = min(result.proven_levels for result in results)
    for n, level in enumerate(scaled.levels[: total.proven_levels + 1]):
        counted_twice = value_of_empty(scaled, level) * (len(results) - 1)
        bounds = sum((result.bounds[n] for result in results), Fraction(0))
        total.bounds.append(bounds - counted_twice)
    total.proofs = list(dict.fromkeys(proof for result in results for proof in result.proofs))
    return total
