"""Fewer machines, one at a time: what all machines accept is searched on one machine fewer.

A search of the number of machines seldom finds a schedule that empties a machine, for it gains
nothing before the last part has left. On one machine fewer the same search counts the requests that
do not fit yet, each of which is a step; and where all machines are interchangeable, a proof that
they do not all fit is a bound of the number of machines.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "abc")
>>> machines = tuple(Machine(f"m{j}", 6) for j in range(3))
>>> scaled = ScaledInstance.from_instance(Instance(machines, requests), "rejections-then-machines")
>>> reduced = ReducedInstance.of(scaled, {0: (0, 3), 1: (1, 3), 2: (2, 3)})
>>> reduced.scaled.free, reduced.hint
(((2, 2, 2), (2, 2, 2)), {0: (0, 3), 1: (1, 3)})
>>> reduced.on_all_machines({0: (0, 3), 1: (0, 3), 2: (1, 3)})
{0: (0, 3), 1: (0, 3), 2: (1, 3)}
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.branch_and_price.search import BranchAndPrice
from dlopt.models.coreservation.full_model_bound import full_model_bound
from dlopt.models.coreservation.objective import Assignment, value_of_empty
from dlopt.models.coreservation.portfolio_state import (
    MAX_MEDIUM_CHOICES,
    PortfolioState,
    UpperBound,
)
from dlopt.models.coreservation.scaled_instance import ScaledInstance

FULL_MODEL_TIME_SHARE = 0.1
"""For the full model of one machine fewer, if it is small; all shares are of the time that is left.

Chosen by hand, as the others: each is the fastest for some instances of temporal bin packing.
"""
FIRST_PRIMAL_TIME_SHARE = 0.15
"""For the primal heuristics, which find what is easy to find soon."""
BRANCH_AND_PRICE_TIME_SHARE = 0.4
"""For branch and price, without which there is no bound but that of a single instant."""
LAST_PRIMAL_TIME_SHARE = 0.7
"""For the primal heuristics with more time; the rest is for the full model on all machines."""


@dataclass(frozen=True, slots=True)
class ReducedInstance:
    """An instance with one machine fewer than a schedule uses.

    Parameters
    ----------
    scaled : ScaledInstance
        Its objective is the level before the number of machines.
    hint : dict
        What the schedule has on the machines that are left.
    machines : tuple of int
        The machines that are left, by their numbers in the whole instance.
    """

    scaled: ScaledInstance
    hint: dict[int, tuple[int, int]]
    machines: tuple[int, ...]

    @classmethod
    def of(cls, scaled: ScaledInstance, assignment: Assignment) -> ReducedInstance | None:
        """Leave out a machine, or return None where some part would have none.

        The machines that are left have the most free capacity of all.
        """
        used = {machine for machine, _ in assignment.values()}
        order = sorted(range(len(scaled.free)), key=lambda j: (-sum(scaled.free[j]), j not in used))
        kept = tuple(sorted(order[: len(used) - 1]))
        number = {j: n for n, j in enumerate(kept)}
        parts = tuple(
            replace(part, machines=tuple(number[j] for j in part.machines if j in number))
            for part in scaled.parts
        )
        if not all(part.machines for part in parts):
            return None
        free = tuple(scaled.free[j] for j in kept)
        reduced = replace(scaled, objective=scaled.levels[0], parts=parts, free=free)
        left_out = {parts[i].request for i, (j, _) in assignment.items() if j not in number}
        hint = {
            i: (number[j], units)
            for i, (j, units) in assignment.items()
            if parts[i].request not in left_out
        }
        return cls(reduced, hint, kept)

    def on_all_machines(self, assignment: Assignment) -> dict[int, tuple[int, int]]:
        """Return an assignment with the numbers of the machines in the whole instance."""
        return {i: (self.machines[j], units) for i, (j, units) in assignment.items()}


def reduce_machines(state: PortfolioState, level: str, share: float) -> UpperBound | None:
    """Search schedules on one machine fewer, as long as there are any, and bound the machines.

    Parameters
    ----------
    state : PortfolioState
        Its first level is proven, its second one is the number of machines.
    level : str
    share : float
        Of the remaining time.

    Raises
    ------
    TimeoutError
        If no time is left.
    """
    budget = Budget(state.budget.left(share))
    bound = None
    while bound is None and not state.is_closed(state.open_bounds):
        used = state.value
        reduced = ReducedInstance.of(state.scaled, state.result.incumbent)
        if reduced is not None:
            bound = _FewerMachines(state, reduced, budget).run()
        if state.value == used:
            break
    return bound


class _FewerMachines:
    """The search of a schedule on one machine fewer that accepts as much."""

    def __init__(self, state: PortfolioState, reduced: ReducedInstance, budget: Budget) -> None:
        self.state, self.reduced = state, reduced
        (self.level, self.optimum), *_ = state.fixed_levels
        self.inner = PortfolioState(reduced.scaled, budget, state.seed, state.options)
        self.inner.result.incumbent = reduced.hint

    def run(self) -> UpperBound | None:
        """Search until there is a schedule, or a bound where all machines are interchangeable."""
        steps = (
            (self._solve_full_model, FULL_MODEL_TIME_SHARE),
            (self._improve, FIRST_PRIMAL_TIME_SHARE),
            (self._solve_by_branch_and_price, BRANCH_AND_PRICE_TIME_SHARE),
            (self._improve, LAST_PRIMAL_TIME_SHARE),
        )
        for step, share in steps:
            bound = None
            with suppress(TimeoutError):
                bound = step(share)
            if self._is_found():
                self.state.update_incumbent(
                    self.reduced.on_all_machines(self.inner.result.incumbent)
                )
                return None
            if bound is not None and bound.value < self.optimum:
                if not _are_interchangeable(self.state.scaled):
                    return None
                proof = f"on one machine fewer less is accepted: {bound.proof}"
                return bound._replace(value=self.state.value, proof=proof)
        return None

    def _solve_full_model(self, share: float) -> UpperBound | None:
        if not self.state.options.full_model or self.inner.choices > MAX_MEDIUM_CHOICES:
            return None
        return full_model_bound(self.inner, self.level, share)

    def _improve(self, share: float) -> None:
        heuristics, incumbent = self.inner.heuristics, self.inner.result.incumbent
        with heuristics.in_background(incumbent, share):
            heuristics.run(incumbent, share, [self.optimum], self._is_found)

    def _solve_by_branch_and_price(self, share: float) -> UpperBound:
        """Generate columns at the root; branch where there is a limit to end it."""
        inner, empty = self.inner, value_of_empty(self.inner.scaled, self.level)
        limits = inner.budget.left(share)
        if limits.time_s is None:
            limits = replace(limits, work=1)
        outcome = BranchAndPrice(
            inner.scaled,
            self.level,
            inner.result.incumbent,
            Budget(limits),
            inner.seed,
            cutoff=self.optimum - 1 - empty,
        ).run()
        inner.update_incumbent(outcome.assignment)
        trusted = outcome.relies_on_solver
        return UpperBound(outcome.bound + empty, "branch-and-price", relies_on_solver=trusted)

    def _is_found(self) -> bool:
        return self.inner.value >= self.optimum


def _are_interchangeable(scaled: ScaledInstance) -> bool:
    """Tell whether every machine may run the same parts in the same free capacity."""
    ((machines, _), *others) = scaled.identical_machines()
    return not others and len(machines) == len(scaled.free)
