"""Ruin and recreate with simulated annealing, thousands of small moves.

Some requests that overlap are removed, and others there are reduced to their minimum shares. Then
requests are inserted, those of the highest value for their CPU first, and shares are raised, again
those of the highest gain first; all of it with some noise. A request that was rejected may be
inserted before all others, with whatever is in its way evicted: large ones would never fit into
what is left. Now and then single parts are relocated to other machines. A move is accepted if it is
no worse, or by the Metropolis criterion, with a temperature that falls geometrically (ruin and
recreate: Schrimpf et al., Journal of Computational Physics 159, 2000; simulated annealing:
Kirkpatrick, Gelatt and Vecchi, Science 220, 1983). Values are floats here; the result is compared
exactly.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(f"r{k}", 0, k, k + 2, 1, (Part(3),)) for k in range(4))
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 5),), requests), "rejections")
>>> len(RuinAndRecreate(scaled, {}).run(20))
2
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import accumulate
from math import inf
from threading import Event
from typing import Any

import numpy as np

from dlopt.models.coreservation.objective import (
    Assignment,
    objective_key,
    segment_coefficients,
    trivial_bound,
    value_of_empty,
)
from dlopt.models.coreservation.requests import overlapping_requests
from dlopt.models.coreservation.ruin_and_recreate import moves
from dlopt.models.coreservation.ruin_and_recreate import state as arrays
from dlopt.models.coreservation.ruin_and_recreate.insertion import UniformStream
from dlopt.models.coreservation.ruin_and_recreate.time_decomposition import (
    TimeWindows,
    merge_states,
    split_state,
)
from dlopt.models.coreservation.scaled_instance import ScaledInstance

INITIAL_TEMPERATURE = 25e-2
"""Temperature at the beginning, relative to the mean value of a request.

Between .05 and .5 it makes no difference, see benchmarks/results/coreservation.md.
"""
FINAL_TEMPERATURE = 1e-3
"""Temperature at the end; between .001 and .004 it makes no difference, see there."""
LEVEL_WEIGHT = 1e-3
"""The weight of a level of the objective, relative to the one before; chosen by hand."""
VALUE_TOLERANCE = 1e-9
"""Values in floats are compared with exact ones up to this."""
DRAWS = 1 << 10
"""Random numbers drawn at once for interpreted moves, besides those of one move."""
COMPILED_DRAWS = 1 << 19
"""The same for compiled moves. Clock and target are looked at once in so many; chosen by hand."""


@dataclass
class Target:
    """When searches end before their time.

    Parameters
    ----------
    levels : tuple of Fraction
        An assignment whose first maximised levels are as good is enough; if there are any.
    reached : Event
        Set by the first search that has one, or by a caller that needs no more.
    """

    levels: tuple[Fraction, ...] = ()
    reached: Event = field(default_factory=Event)


@dataclass
class ThreadTeam:
    """Threads that move in one assignment; more may join while they do.

    Parameters
    ----------
    threads : int
    """

    threads: int = 1


class RuinAndRecreate:
    """Improves an assignment.

    Parameters
    ----------
    scaled : ScaledInstance
        Its capacities must have a common integer unit.
    assignment : Assignment
        A feasible one.
    seed : int
    fast : bool
        Whether to compile the moves where the extra ``fast`` is installed: a hundred times as many,
        but it takes ten to thirty seconds when it is done for the first time.

    Attributes
    ----------
    compiled : bool
        Whether the moves are.
    windows : dict
        By the number of threads that have moved in one assignment, their `TimeWindows`.
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        assignment: Assignment,
        seed: int = 0,
        *,
        fast: bool = False,
    ) -> None:
        self.scaled, self.initial = scaled, dict(assignment)
        self.random = np.random.default_rng(seed)
        run_moves = moves.compile_moves() if fast else None
        self.compiled = run_moves is not None
        self.compared_value = -inf
        self.problem, self.state = _problem_arrays(scaled), _empty_state(scaled)
        if run_moves is None:  # lists are faster then
            self.problem = arrays.ProblemArrays(*(field.tolist() for field in self.problem))
            self.state = arrays.SearchState(*(field.tolist() for field in self.state))
        self.run_moves = run_moves or moves.run_moves
        self.windows: dict[int, TimeWindows] = {}
        for i, (machine, units) in assignment.items():
            arrays.allocate(self.problem, self.state, i, machine, units)
        self.state.value[0] += sum(
            self.problem.request_value[k] for k in {scaled.parts[i].request for i in assignment}
        )

    def run(
        self,
        max_moves: int,
        stop: float = inf,
        target: Target | None = None,
        team: ThreadTeam | None = None,
    ) -> dict[int, tuple[int, int]]:
        """Return the best assignment, which is no worse than the initial one.

        It ends after so many moves, at an instant of the monotonic clock, or at a target. If the
        moves are compiled, several threads may make them.
        """
        state = self.state
        state.value[1] = state.value[0]
        with ThreadPoolExecutor() as pool:
            self._anneal(max_moves, stop, target or Target(), team or ThreadTeam(), pool)
        best = self.incumbent()
        return max(
            self.initial, best, key=lambda assignment: objective_key(self.scaled, assignment)
        )

    def _anneal(
        self, max_moves: int, stop: float, target: Target, team: ThreadTeam, pool: Executor
    ) -> None:
        begun, count = time.monotonic(), 0
        cooling = FINAL_TEMPERATURE / INITIAL_TEMPERATURE
        while self.scaled.requests and count < max_moves:
            progress = count / max_moves
            if stop < inf:
                now = time.monotonic()
                if now >= stop:
                    break
                progress = max(progress, (now - begun) / (stop - begun))
            temperature = INITIAL_TEMPERATURE * cooling**progress / len(self.scaled.requests)
            if self.compiled and team.threads > 1:
                count += self._move_in_windows(pool, team.threads, temperature, max_moves - count)
            else:
                count += self._move(self.state, self.random, temperature, max_moves - count)
            if self.is_reached(target):
                break

    def _move(
        self,
        state: arrays.SearchState,
        random: np.random.Generator,
        temperature: float,
        count: int,
    ) -> int:
        """Make so many moves, or as many as the random numbers suffice for; return how many."""
        # a move draws once for every segment around, twice for requests and machines, thrice for
        # parts
        requests, parts = len(self.scaled.requests), len(self.scaled.parts)
        max_draws = 20 + 2 * (requests + len(self.problem.machines)) + 3 * parts
        max_draws += len(self.problem.low)
        draws = random.random(max_draws + (COMPILED_DRAWS if self.compiled else DRAWS))
        stream = UniformStream(draws, np.zeros(1, np.int64))
        if not self.compiled:
            stream = UniformStream(draws.tolist(), [0])
        return self.run_moves(self.problem, state, temperature, stream, max_draws, count)

    def _move_in_windows(self, pool: Executor, threads: int, temperature: float, count: int) -> int:
        """Make moves in several threads at once, each in time windows of its own."""
        if threads not in self.windows:
            neighbours = overlapping_requests(self.scaled.requests)
            self.windows[threads] = TimeWindows(self.scaled, neighbours, threads)
        windows = self.windows[threads].cut(self.random.random())
        if len(windows) < 2 or count < len(windows):
            return self._move(self.state, self.random, temperature, count)
        states = split_state(self.state, windows)
        calls = [
            partial(self._move, state, random, temperature, count // len(states))
            for state, random in zip(states, self.random.spawn(len(states)), strict=True)
        ]
        running = [pool.submit(call) for call in calls[1:]]
        made = calls[0]() + sum(future.result() for future in running)
        merge_states(self.state, windows, states)
        return made

    def incumbent(self) -> dict[int, tuple[int, int]]:
        """Return the best assignment that the moves have met."""
        state = self.state
        pairs = enumerate(zip(state.best_machine, state.best_units, strict=True))
        return {i: (int(machine), int(units)) for i, (machine, units) in pairs if machine >= 0}

    def is_reached(self, target: Target) -> bool:
        """Tell whether a target is reached, here or elsewhere."""
        value = float(self.state.value[1])
        if (
            target.levels
            and value > self.compared_value
            and value >= self.float_value(target.levels) - VALUE_TOLERANCE
        ):
            self.compared_value = value  # an incumbent is compared exactly once
            if objective_key(self.scaled, self.incumbent()) >= target.levels:
                target.reached.set()
        return target.reached.is_set()

    def float_value(self, levels: Sequence[Fraction]) -> float:
        """Return the weighted value of first levels, as moves compute it."""
        total, weight = 0.0, 1.0
        for level, value in zip(self.scaled.levels, levels, strict=False):
            lowest = value_of_empty(self.scaled, level)
            highest = trivial_bound(self.scaled, level)
            if highest > lowest:
                total += weight * float((value - lowest) / (highest - lowest))
            weight *= LEVEL_WEIGHT
        return total


def _empty_state(scaled: ScaledInstance) -> arrays.SearchState:
    parts, requests = len(scaled.parts), len(scaled.requests)
    buffer = max(requests, sum(len(part.segments) for part in scaled.parts))

    def integers(count: int, value: int = 0) -> Any:
        return np.full(count, value, np.int64)

    return arrays.SearchState(
        free=np.array(scaled.free, np.int64),
        machine=integers(parts, -1),
        units=integers(parts),
        value=np.zeros(2),
        best_machine=integers(parts, -1),
        best_units=integers(parts),
        saved_machine=integers(parts),
        saved_units=integers(parts),
        centres=np.arange(requests),
        neighbourhood=integers(requests),
        removed=integers(requests),
        raisable=integers(len(scaled.free)),
        pending=integers(requests),
        moved=integers(parts),
        raise_candidates=integers(buffer),
        sort_keys=np.zeros(buffer),
    )


def _problem_arrays(scaled: ScaledInstance) -> arrays.ProblemArrays:
    request_value = [0.0] * len(scaled.requests)
    benefit_weight, weight = 0.0, 1.0
    for level in scaled.levels:
        if level == "benefit":
            benefit_weight = weight
        elif level != "machines":
            weights = [scaled.weight(level, k) for k in range(len(scaled.requests))]
            for k, own in enumerate(weights):
                request_value[k] += weight * float(own / sum(weights))
        weight *= LEVEL_WEIGHT
    if benefit_weight:
        benefit_weight /= float(trivial_bound(scaled, "benefit")) or 1.0
    segments = [
        (
            segment.low,
            segment.high,
            benefit_weight * float(intercept),
            benefit_weight * float(slope),
        )
        for i, part in enumerate(scaled.parts)
        for segment in part.segments
        for intercept, slope in (segment_coefficients(scaled, i, segment),)
    ]
    by_size = [
        sorted(request.parts, key=lambda i: -scaled.parts[i].minimum) for request in scaled.requests
    ]
    neighbours = overlapping_requests(scaled.requests)
    machines = [part.machines for part in scaled.parts]

    def integers(numbers: Sequence[int]) -> Any:
        return np.array(numbers, np.int64)

    def starts(rows: Sequence[Sequence[Any]]) -> Any:
        return integers([0, *accumulate(len(row) for row in rows)])

    def flat(rows: Sequence[Sequence[int]]) -> Any:
        return integers([number for row in rows for number in row])

    return arrays.ProblemArrays(
        request_value=np.array(request_value),
        part_start=starts(by_size),
        parts=flat(by_size),
        neighbour_start=starts(neighbours),
        neighbours=flat(neighbours),
        start=integers([part.start for part in scaled.parts]),
        end=integers([part.end for part in scaled.parts]),
        minimum=integers([part.minimum for part in scaled.parts]),
        machine_start=starts(machines),
        machines=flat(machines),
        segment_start=starts([part.segments for part in scaled.parts]),
        low=integers([low for low, _, _, _ in segments]),
        high=integers([high for _, high, _, _ in segments]),
        intercept=np.array([intercept for _, _, intercept, _ in segments]),
        slope=np.array([slope for _, _, _, slope in segments]),
    )
