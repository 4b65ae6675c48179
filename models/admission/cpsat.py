"""Sequences of chunks from CP-SAT, with discretised loads and times. Its answers bound nothing.

Loads are counted in quanta, times in ticks. Chunk ``a = (task i, node j, number)`` is an optional
interval on the port and one on its node; ``z_i`` accepts task `i`:

maximise    sum_i weight_i z_i
subject to  sum_a x_a = ceil(load_i / quantum) z_i,  x_a >= 1 if `a` is present, else 0
            r_a <= s_a,  s_a + d_a <= due_i                  in the chunk's window
            no overlap of the transmissions of present chunks on the port
            no overlap of the present chunks of each node
            chunks of a task on a node are present, and start, in the order of their numbers
            x, s integer,   z and presences in {0, 1}

Durations are rounded up and windows are rounded inwards, so that what is feasible here is feasible;
the converse is false (three nodes, chi = 4, tasks ``(0,5,14), (5,6,30), (5,3,16), (10,6,16)``:
with quanta of 1/3 and 1/6 three tasks fit, though all four do). What CP-SAT calls optimal is
therefore no bound, and deadlines may be relaxed by some time: what it finds is a sequence, and
`fixed_sequence_lp` decides whether that is feasible.

Source: ours.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import ceil, floor, lcm
from typing import Any, NamedTuple

from dlopt.backends import cpsat
from dlopt.models.admission.fixed_sequence_lp import UnsizedChunk, uses_port
from dlopt.models.admission.scaled_instance import ScaledInstance, rational_gcd
from dlopt.result import Limits

COARSE_QUANTA = 24
"""Load quanta of the average task in the coarse discretisation. Chosen by hand: more of them round
less, fewer give a smaller domain to search."""

MAX_HORIZON_TICKS = 2**24
"""Ticks of the horizon, at most. Chosen by hand: more of them round less, fewer keep the integers
of CP-SAT small."""

REFINEMENT = 5
"""Quanta of the fine discretisation in one of the coarse one. Chosen by hand: it trades less
rounding for a larger domain."""


class DiscretisedSolution(NamedTuple):
    """The tasks that CP-SAT accepts, and its sequence of their chunks."""

    accepted: tuple[int, ...]
    sequence: tuple[UnsizedChunk, ...]


class _ChunkVariables(NamedTuple):
    chunk: UnsizedChunk
    number: int
    load: Any
    start: Any
    present: Any


class DiscretisedModel:
    """The program above.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node.
    quantum : Fraction
        Of load.
    relaxation : int
        Load quanta on the slowest node by whose time deadlines may be missed, at most twofold.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = (Task("a", 0, 2, 14), Task("b", 0, 10, 15))
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(2, tau=1, chi=1), tasks))
    >>> model = DiscretisedModel(scaled, 1, load_quanta(scaled)[0]).maximise_weight(Fraction(1))
    >>> model.solve(Limits(), seed=0, effort=2.0).accepted
    (0, 1)
    """

    def __init__(
        self, scaled: ScaledInstance, installments: int, quantum: Fraction, relaxation: int = 0
    ) -> None:
        self.scaled, self.installments, self.quantum = scaled, installments, quantum
        self.tick = _tick_length(scaled, quantum)
        horizon = max(self._ticks(task.due) for task in scaled.tasks)
        slowest = max(self._ticks(scaled.unit_time(node) * quantum) for node in scaled.nodes)
        self.due_relaxation = min(relaxation * slowest, horizon)
        self.model = cpsat.new_model()
        self.accepted = [self.model.new_bool_var(f"z_{i}") for i in range(len(scaled.tasks))]
        self.chunks: list[_ChunkVariables] = []
        self.port_intervals: list[Any] = []
        self.node_intervals: dict[int, list[Any]] = defaultdict(list)

    def maximise_weight(
        self, at_least: Fraction, at_most: Fraction | None = None
    ) -> DiscretisedModel:
        """State the program above, for objective values in a range."""
        self.add_chunks()
        self.add_loads()
        self.add_no_overlap()
        self.add_symmetry_breaking()
        tasks = self.scaled.tasks
        total = sum((task.weight for task in tasks), Fraction(0))
        unit = max(self.scaled.value_granularity, total / MAX_HORIZON_TICKS)
        value = sum(
            round(task.weight / unit) * z for task, z in zip(tasks, self.accepted, strict=True)
        )
        largest = total if at_most is None else at_most
        self.model.add_linear_constraint(value, round(at_least / unit), round(largest / unit))
        if at_least < largest:
            self.model.maximize(value)
        return self

    def add_chunks(self) -> None:
        """Let each chunk occupy the port while it is sent, and its node until it is computed."""
        scaled = self.scaled
        for i in range(len(scaled.tasks)):
            for j in scaled.nodes:
                for number in range(self.installments if self._max_quanta(i, j) else 0):
                    self._add_chunk(UnsizedChunk(i, j), number)

    def _add_chunk(self, chunk: UnsizedChunk, number: int) -> None:
        scaled, model, (i, j) = self.scaled, self.model, chunk
        name = f"{i}_{j}_{number}"
        load = model.new_int_var(0, self._max_quanta(i, j), f"x_{name}")
        start = model.new_int_var(self._release(i, j), self._due(i), f"s_{name}")
        present = model.new_bool_var(f"p_{name}")
        # Sending and computing are rounded one by one, so that both sums are rounded up.
        send = self._ticks(scaled.tau[j] * self.quantum) * load + self._ticks(scaled.theta_cm)
        occupy = send + self._ticks(scaled.chi[j] * self.quantum) * load
        occupy += self._ticks(scaled.theta_cp)
        for size, intervals, is_used in (
            (send, self.port_intervals, uses_port(scaled, j)),
            (occupy, self.node_intervals[j], True),
        ):
            if is_used:
                end = model.new_int_var(self._release(i, j), self._due(i), "")
                intervals.append(model.new_optional_interval_var(start, size, end, present, ""))
        model.add(load >= 1).only_enforce_if(present)
        model.add(load == 0).only_enforce_if(~present)
        model.add_implication(present, self.accepted[i])
        self.chunks.append(_ChunkVariables(chunk, number, load, start, present))

    def add_loads(self) -> None:
        """Send the whole load of an accepted task; accept mandatory tasks."""
        for i, task in enumerate(self.scaled.tasks):
            loads = sum(variables.load for variables in self.chunks if variables.chunk.task == i)
            self.model.add(loads == ceil(task.load / self.quantum) * self.accepted[i])
            if task.mandatory:
                self.model.add(self.accepted[i] == 1)

    def add_no_overlap(self) -> None:
        """Let the port and each node process one chunk at a time."""
        for intervals in (self.port_intervals, *self.node_intervals.values()):
            self.model.add_no_overlap(intervals)

    def add_symmetry_breaking(self) -> None:
        """Number the identical chunks of a task on a node in the order of their starts."""
        for a, b in zip(self.chunks, self.chunks[1:], strict=False):
            if a.chunk == b.chunk:
                self.model.add_implication(b.present, a.present)
                self.model.add(a.start <= b.start)

    def solve(self, limits: Limits, seed: int, effort: float) -> DiscretisedSolution | None:
        """Return the solution of CP-SAT, None if it finds none."""
        outcome = cpsat.optimise(self.model, limits, seed=seed, effort=effort)
        value_of = outcome.value_of
        if value_of is None:
            return None
        present = [variables for variables in self.chunks if value_of(variables.present)]
        present.sort(key=lambda variables: (value_of(variables.start), variables.number))
        accepted = (i for i, z in enumerate(self.accepted) if value_of(z))
        sequence = tuple(variables.chunk for variables in present)
        return DiscretisedSolution(tuple(accepted), sequence)

    def _max_quanta(self, i: int, j: int) -> int:
        """Return how many quanta of a task one chunk on a node can do."""
        scaled, quantum = self.scaled, self.quantum
        unit_time = self._ticks(scaled.tau[j] * quantum) + self._ticks(scaled.chi[j] * quantum)
        setups = self._ticks(scaled.theta_cm) + self._ticks(scaled.theta_cp)
        time = self._due(i) - self._release(i, j) - setups
        return max(0, min(ceil(scaled.tasks[i].load / quantum), time // unit_time))

    def _release(self, i: int, j: int) -> int:
        return self._ticks(self.scaled.earliest_start(self.scaled.tasks[i], j))

    def _due(self, i: int) -> int:
        return floor(self.scaled.tasks[i].due / self.tick) + self.due_relaxation

    def _ticks(self, time: Fraction) -> int:
        """Return a time in ticks, rounded up."""
        return ceil(time / self.tick)


def load_quanta(scaled: ScaledInstance) -> tuple[Fraction, Fraction]:
    """Return two quanta of load, a coarse one and a fine one.

    The average task has about `COARSE_QUANTA` of the first and five times as many of the second.
    All loads are multiples of both if they have a common measure that is not too small.
    """
    loads = [task.load for task in scaled.tasks]
    average = sum(loads, Fraction(0)) / len(loads)
    measure = rational_gcd(loads)
    coarse = measure / max(1, round(measure * COARSE_QUANTA / average))
    if average / coarse > 4 * COARSE_QUANTA:
        coarse = average / COARSE_QUANTA
    return coarse, coarse / REFINEMENT


def _tick_length(scaled: ScaledInstance, quantum: Fraction) -> Fraction:
    """Return the length of a tick, of which all times are multiples, unless it is too short."""
    times = [scaled.theta_cm, scaled.theta_cp, *scaled.free]
    times += [cost * quantum for cost in (*scaled.tau, *scaled.chi)]
    times += [instant for task in scaled.tasks for instant in (task.release, task.due)]
    tick = Fraction(1, lcm(*(time.denominator for time in times)))
    horizon = max(task.due for task in scaled.tasks)
    return max(tick, horizon / MAX_HORIZON_TICKS)
