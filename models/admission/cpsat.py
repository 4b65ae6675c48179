"""Orders of chunks from CP-SAT, on a grid of loads and times.

Loads are counted in quanta, times in ticks: one optional interval on the port and one on the node
for each chunk, none of which overlap. Durations are rounded up, windows inwards, so that what fits
on the grid fits; the converse is false (three nodes, chi = 4, tasks ``(0,5,14), (5,6,30), (5,3,16),
(10,6,16)``: quanta of 1/3 and 1/6 have room for three tasks, though all four fit). So what CP-SAT
calls optimal is no bound, and it may be allowed to be `late`: what it finds is an order, and
`fixed_sequence_lp` decides.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import ceil, floor, lcm
from typing import Any, NamedTuple

from dlopt.backends import cpsat
from dlopt.models.admission.fixed_sequence_lp import Part, takes_port
from dlopt.models.admission.scaled_instance import Case, common_measure
from dlopt.result import Limits

_COARSE = 24
"""Quanta of the average task on the coarse grid."""
_FINEST = 2**24
"""Ticks of the horizon, at the most."""


class Found(NamedTuple):
    """The jobs that CP-SAT accepts, and its order of their chunks."""

    accepted: tuple[int, ...]
    parts: tuple[Part, ...]


class _Interval(NamedTuple):
    part: Part
    number: int
    load: Any
    start: Any
    present: Any


class GridModel:
    """Chunks on a grid.

    Parameters
    ----------
    case : Case
    installments : int
        Chunks that a task may have on a node.
    quantum : Fraction
        Of load.
    late : int
        Quanta of load on the slowest node by which deadlines may be missed, at most twofold.
    """

    def __init__(self, case: Case, installments: int, quantum: Fraction, late: int = 0) -> None:
        self.case, self.installments, self.quantum = case, installments, quantum
        self.tick = _tick(case, quantum)
        most = max(self._up(job.due) for job in case.jobs)
        self.late = min(
            late * max(self._up(case.unit(node) * quantum) for node in case.nodes), most
        )
        self.model = cpsat.new_model()
        self.accepted = [self.model.new_bool_var(f"z_{i}") for i in range(len(case.jobs))]
        self.chunks: list[_Interval] = []
        self.port: list[Any] = []
        self.nodes: dict[int, list[Any]] = defaultdict(list)

    def maximise_weight(self, at_least: Fraction, at_most: Fraction | None = None) -> GridModel:
        """State the model: accept as much as possible, from one worth to another."""
        self.add_chunks()
        self.add_loads()
        self.add_one_at_a_time()
        self.add_alike_chunks()
        jobs = self.case.jobs
        total = sum((job.weight for job in jobs), Fraction(0))
        unit = max(self.case.step, total / _FINEST)
        worth = sum(
            round(job.weight / unit) * z for job, z in zip(jobs, self.accepted, strict=True)
        )
        most = total if at_most is None else at_most
        self.model.add_linear_constraint(worth, round(at_least / unit), round(most / unit))
        if at_least < most:
            self.model.maximize(worth)
        return self

    def add_chunks(self) -> None:
        """Let each chunk hold the port while it is sent, and its node until it is computed."""
        case = self.case
        for i in range(len(case.jobs)):
            for j in case.nodes:
                for number in range(self.installments if self._most(i, j) else 0):
                    self._add_chunk(Part(i, j), number)

    def _add_chunk(self, part: Part, number: int) -> None:
        case, model, (i, j) = self.case, self.model, part
        name = f"{i}_{j}_{number}"
        load = model.new_int_var(0, self._most(i, j), f"x_{name}")
        start = model.new_int_var(self._release(i, j), self._due(i), f"s_{name}")
        present = model.new_bool_var(f"p_{name}")
        # The node is held for sending and computing as they are rounded, one by one.
        send = self._up(case.tau[j] * self.quantum) * load + self._up(case.theta_cm)
        hold = send + self._up(case.chi[j] * self.quantum) * load + self._up(case.theta_cp)
        for size, held, there in (
            (send, self.port, takes_port(case, j)),
            (hold, self.nodes[j], True),
        ):
            if there:
                end = model.new_int_var(self._release(i, j), self._due(i), "")
                held.append(model.new_optional_interval_var(start, size, end, present, ""))
        model.add(load >= 1).only_enforce_if(present)
        model.add(load == 0).only_enforce_if(~present)
        model.add_implication(present, self.accepted[i])
        self.chunks.append(_Interval(part, number, load, start, present))

    def add_loads(self) -> None:
        """Send all of an accepted task; accept what is promised."""
        for i, job in enumerate(self.case.jobs):
            loads = sum(chunk.load for chunk in self.chunks if chunk.part.job == i)
            self.model.add(loads == ceil(job.load / self.quantum) * self.accepted[i])
            if job.must:
                self.model.add(self.accepted[i] == 1)

    def add_one_at_a_time(self) -> None:
        """Let the port and each node do one thing at a time."""
        for intervals in (self.port, *self.nodes.values()):
            self.model.add_no_overlap(intervals)

    def add_alike_chunks(self) -> None:
        """Number the chunks of a task on a node in their order (they are alike)."""
        for a, b in zip(self.chunks, self.chunks[1:], strict=False):
            if a.part == b.part:
                self.model.add_implication(b.present, a.present)
                self.model.add(a.start <= b.start)

    def solve(self, limits: Limits, seed: int, effort: float) -> Found | None:
        """Return what CP-SAT finds, None if nothing."""
        outcome = cpsat.optimise(self.model, limits, seed=seed, effort=effort)
        value_of = outcome.value_of
        if value_of is None:
            return None
        there = [chunk for chunk in self.chunks if value_of(chunk.present)]
        there.sort(key=lambda chunk: (value_of(chunk.start), chunk.number))
        accepted = (i for i, chosen in enumerate(self.accepted) if value_of(chosen))
        return Found(tuple(accepted), tuple(chunk.part for chunk in there))

    def _most(self, i: int, j: int) -> int:
        """Return how many quanta of a job a node can do."""
        hold = self._up(self.case.tau[j] * self.quantum) + self._up(self.case.chi[j] * self.quantum)
        setups = self._up(self.case.theta_cm) + self._up(self.case.theta_cp)
        time = self._due(i) - self._release(i, j) - setups
        return max(0, min(ceil(self.case.jobs[i].load / self.quantum), time // hold))

    def _release(self, i: int, j: int) -> int:
        return self._up(self.case.start(self.case.jobs[i], j))

    def _due(self, i: int) -> int:
        return floor(self.case.jobs[i].due / self.tick) + self.late

    def _up(self, time: Fraction) -> int:
        return ceil(time / self.tick)


def quanta(case: Case) -> tuple[Fraction, Fraction]:
    """Return two quanta of load, a coarse one and a fine one.

    The average task has some `_COARSE` of the first and five times as many of the second. All
    loads are multiples of both if they have a common measure that is not too small.
    """
    loads = [job.load for job in case.jobs]
    average = sum(loads, Fraction(0)) / len(loads)
    measure = common_measure(loads)
    coarse = measure / max(1, round(measure * _COARSE / average))
    if average / coarse > 4 * _COARSE:
        coarse = average / _COARSE
    return coarse, coarse / 5


def _tick(case: Case, quantum: Fraction) -> Fraction:
    """Return the length of a tick, of which all times are multiples, unless it is too fine."""
    times = [case.theta_cm, case.theta_cp, *case.free]
    times += [cost * quantum for cost in (*case.tau, *case.chi)]
    times += [instant for job in case.jobs for instant in (job.release, job.due)]
    tick = Fraction(1, lcm(*(time.denominator for time in times)))
    horizon = max(job.due for job in case.jobs)
    return max(tick, horizon / _FINEST)
