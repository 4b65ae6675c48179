"""Large neighbourhood search: a few requests are optimised again by CP-SAT, the others stay.

The neighbourhood is the model of `dlopt.models.coreservation.cpsat` over some requests that
interact: maximise all levels as one weighted sum, subject to the capacity that the other requests
leave (Shaw 1998).

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> from dlopt.result import Limits
>>> requests = tuple(Request(f"r{k}", 0, k, k + 2, 1, (Part(3),)) for k in range(4))
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 5),), requests), "rejections")
>>> search = LargeNeighbourhoodSearch(scaled, {}, Budget(Limits()), 0)
>>> search.systematic_pass()
>>> objective_key(scaled, search.assignment)
(Fraction(-2, 1),)
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dlopt.backends import cpsat
from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.cpsat import CpSatModel
from dlopt.models.coreservation.objective import Assignment, ObjectiveScaling, objective_key
from dlopt.models.coreservation.requests import overlapping_requests
from dlopt.models.coreservation.scaled_instance import ScaledInstance

MAX_SCALED_VALUE = 1 << 40
"""The largest value of a level in a neighbourhood; finer coefficients are rounded up.

Chosen by hand: several levels in one sum must stay below 2^63.
"""
FREE_REQUESTS = 6
"""Requests that are optimised again; chosen by hand: more gain more, but take CP-SAT longer."""
FIXED_MACHINE_REQUESTS = 8
"""Requests near them whose shares are optimised but whose machines stay; chosen by hand."""
FIXED_MACHINE_PERIOD = 4
"""Such requests are added in every so-many-th neighbourhood: without them it is solved much faster.
"""
NEIGHBOURHOOD_SECONDS = 0.4
"""Seconds of a neighbourhood under a time limit; chosen by hand: a hard one is given up."""
NEIGHBOURHOOD_EFFORT = 0.4
"""CP-SAT's deterministic time of a neighbourhood where there is no time limit."""


class LargeNeighbourhoodSearch:
    """Improves an assignment by reoptimising a few requests at a time.

    Parameters
    ----------
    scaled : ScaledInstance
    assignment : Assignment
        A feasible one.
    budget : Budget
    seed : int

    Attributes
    ----------
    assignment : dict of int to (int, int)
        The incumbent.
    is_stalled : bool
        Whether CP-SAT was stopped in a neighbourhood that it did not end by its own count. The next
        ones would most likely be like it: they raise TimeoutError.
    """

    def __init__(
        self, scaled: ScaledInstance, assignment: Assignment, budget: Budget, seed: int
    ) -> None:
        self.scaled, self.budget = scaled, budget
        self.random = random.Random(seed)
        self.seed = seed
        self.assignment = dict(assignment)
        self.free = [list(row) for row in scaled.free]
        self._allocate(self.assignment, 1)
        self.overlapping = overlapping_requests(scaled.requests)
        self.rounds = 0
        self.is_stalled = False

    def systematic_pass(self) -> None:
        """Optimise all requests again, group by group, in the order of their windows."""
        count = len(self.scaled.requests)
        for first in range(0, count, FREE_REQUESTS):
            self._require_time()
            self.reoptimise(range(first, min(first + FREE_REQUESTS, count)))

    def random_neighbourhood(self) -> bool:
        """Optimise requests again that overlap one drawn at random; tell whether it improved."""
        self._require_time()
        overlapping = self.overlapping[self.random.randrange(len(self.scaled.requests))]
        return self.reoptimise(
            self.random.sample(overlapping, min(FREE_REQUESTS, len(overlapping)))
        )

    def reoptimise(self, requests: Sequence[int]) -> bool:
        """Optimise some requests again; tell whether the assignment improved.

        In some rounds requests near them are added, whose parts keep their machines.
        """
        scaled = self.scaled
        self.rounds += 1
        max_fixed = 0 if self.rounds % FIXED_MACHINE_PERIOD else FIXED_MACHINE_REQUESTS
        chosen = set(requests)
        near = {k for request in requests for k in self.overlapping[request]} - chosen
        fixed = sorted(k for k in near if scaled.requests[k].parts[0] in self.assignment)
        if len(fixed) > max_fixed:
            fixed = sorted(self.random.sample(fixed, max_fixed))
        members = sorted(chosen) + fixed
        origin = [i for k in members for i in scaled.requests[k].parts]
        before = {n: self.assignment[i] for n, i in enumerate(origin) if i in self.assignment}
        self._allocate({origin[n]: at for n, at in before.items()}, -1)
        machines = {i: self.assignment[i][0] for k in fixed for i in scaled.requests[k].parts}
        neighbourhood = scaled.subinstance(members, self.free, machines)
        after = self._solve(neighbourhood, before)
        improved = objective_key(neighbourhood, after) > objective_key(neighbourhood, before)
        if "machines" in scaled.levels:
            others = {i: at for i, at in self.assignment.items() if i not in set(origin)}
            key = objective_key(scaled, others | {origin[n]: at for n, at in after.items()})
            improved = key > objective_key(scaled, self.assignment)
        if improved:
            for i in origin:
                self.assignment.pop(i, None)
            self.assignment |= {origin[n]: at for n, at in after.items()}
        self._allocate({i: self.assignment[i] for i in origin if i in self.assignment}, 1)
        return improved

    def _require_time(self) -> None:
        """Raise TimeoutError if the time is up, or would be spent on neighbourhoods that stall."""
        if self.is_stalled:
            raise TimeoutError
        self.budget.left()

    def _solve(self, neighbourhood: ScaledInstance, before: Assignment) -> Assignment:
        """Return an assignment of the neighbourhood that is no worse, if it is found in time."""
        model = CpSatModel(neighbourhood, symmetric=True)
        model.add_aggregate_capacity()
        model.model.maximize(_weighted_levels(model, neighbourhood))
        model.hint(before)
        limits, effort = replace(self.budget.limits, work=None), NEIGHBOURHOOD_EFFORT
        if limits.time_s is not None:
            left = max(self.budget.stop - time.monotonic(), 0.01)
            limits = replace(limits, time_s=min(left, NEIGHBOURHOOD_SECONDS))
        begun = time.monotonic()
        outcome = model.solve(limits, self.seed, effort if limits.time_s is None else None)
        if limits.time_s is None:
            self.is_stalled = time.monotonic() - begun >= cpsat.SECONDS_PER_EFFORT * effort
        return before if outcome.value_of is None else model.read_assignment(outcome)

    def _allocate(self, assignment: Assignment, sign: int) -> None:
        """Take an assignment off the free capacity, or give it back if `sign` is -1."""
        for i, (machine, units) in assignment.items():
            row, part = self.free[machine], self.scaled.parts[i]
            for t in range(part.start, part.end):
                row[t] -= sign * units


def _weighted_levels(model: CpSatModel, scaled: ScaledInstance) -> Any:
    """Return all levels as one sum, in which a unit of an earlier one outweighs all later ones."""
    total: Any = 0
    weight = 1
    for level in reversed(scaled.levels):
        scaling = ObjectiveScaling.for_level(scaled, level, MAX_SCALED_VALUE >> 10)
        total = total + weight * model.objective_expression(scaling)
        largest = sum(scaling.to_int(scaled.weight(level, k)) for k in range(len(scaled.requests)))
        weight *= (len(scaled.free) if level == "machines" else largest) + 1
    return total
