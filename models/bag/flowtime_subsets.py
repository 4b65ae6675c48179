"""The least flowtime where jobs arrive one after another: a search over sets of jobs.

With `e_j` the earliest completion of job `j` alone, on its best machine, the *excess* of a schedule
is ``sum_j (C_j - e_j)``, to which every job adds at least 0. For an excess of `D` at most:

1. For each machine and each set of jobs that it may run, the sequences of the set are compared by
   their end and their excess; a sequence is dropped if another one is no later and no worse, or if
   its excess is above `D` (dynamic programming, as of Bellman 1962).
2. The sets of the machines are combined to sets that are disjoint, two machines at a time, and at
   last to a partition of all jobs (meet in the middle, as of Horowitz and Sahni 1974).

If there is a partition, then the best one is optimal; if there is none, then no schedule has an
excess of `D` or less. `D` grows from the bound that is known until one of both settles the value of
the incumbent. Time and memory grow with the number of sets of a small excess, not with the size of
the numbers: everything is computed in integers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.bag.solutions import Sequences

MAX_JOBS = 62
"""Jobs at most: a set of them is an integer of 64 bits."""
MAX_STATES = 400_000
"""Sequences and sets at most that are kept for one excess. Chosen by hand, for about two seconds
and a hundred megabytes."""
MAX_UNIONS = 5_000_000
"""Unions of sets at most that are kept, of 16 bytes each. Chosen by hand, for memory."""
MAX_PAIRS = 2_000_000_000
"""Pairs of sets at most that are compared for one excess. Chosen by hand, for a few seconds."""
STEPS = 8
"""In how many steps the excess grows to that of the incumbent. Chosen by hand: the number of sets
grows exponentially with it, so that the last step takes most of the time."""

Integers: TypeAlias = NDArray[np.int64]
Run: TypeAlias = tuple[int, int, int, int]
"""Of a job on a machine: its bit, arrival, processing time, earliest completion on any machine."""
State: TypeAlias = tuple[int, ...]
"""Of a sequence: its end, its excess or its sum of completions, and if need be its jobs."""
Layer: TypeAlias = dict[int, list[State]]
"""The undominated sequences of sets of jobs, which are bits."""


@dataclass(frozen=True, slots=True)
class SubsetSearch:
    """What a search over sets of jobs has found.

    Parameters
    ----------
    sequences : tuple of tuple of int, or None
        The best schedule, if it is better than the incumbent.
    bound : Fraction
        In scaled units: no schedule has a smaller objective.
    """

    sequences: Sequences | None
    bound: Fraction


class _TooManySetsError(Exception):
    """There are too many sets, or the time is up."""


def search_subsets(
    scaled: ScaledInstance, incumbent: Sequences, lower: Fraction, stop: float = inf
) -> SubsetSearch:
    """Search for the least sum of completions.

    Parameters
    ----------
    scaled : ScaledInstance
        Of the objective ``flowtime``.
    incumbent : tuple of tuple of int
        A schedule of all jobs.
    lower : Fraction
        A bound of the sum of completions, in scaled units.
    stop : float
        Instant of the monotonic clock at which the search ends.

    Returns
    -------
    SubsetSearch
        Its bound is the least sum of completions, unless a limit was reached.

    Notes
    -----
    Complexity: exponential in the number of jobs, limited by `MAX_STATES` and `MAX_PAIRS`.
    Source: the combination of both steps, and the excess that limits them, are ours.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance, Machine, Task
    >>> tasks = Task("a", 4 * 10**9 + 1), Task("b", 10**9, release=10**9)
    >>> scaled = ScaledInstance.from_instance(Instance(tasks, (Machine("m"),)), "flowtime")
    >>> found = search_subsets(scaled, ((0, 1),), Fraction(0))
    >>> found.sequences, found.bound == 8 * 10**9 + 1
    (((1, 0),), True)
    """
    earliest = [
        min(arrivals[k] + scaled.processing_time(job, k) for k in scaled.eligible_machines[job])
        for job, arrivals in enumerate(scaled.arrivals)
    ]
    least, known = sum(earliest), total_completion(scaled, incumbent)
    proven = max(-(-lower.numerator // lower.denominator), least)
    if len(scaled.jobs) > MAX_JOBS:
        return SubsetSearch(None, Fraction(proven))
    step = -(-(known - proven) // STEPS)
    while proven < known:
        most = min(proven + step, known) - 1
        try:
            sets = _best_partition(scaled, earliest, most - least, stop)
        except _TooManySetsError:
            return SubsetSearch(None, Fraction(proven))
        if sets is not None:
            sequences = tuple(_best_sequence(scaled, k, jobs) for k, jobs in enumerate(sets))
            return SubsetSearch(sequences, Fraction(total_completion(scaled, sequences)))
        proven = most + 1
    return SubsetSearch(None, Fraction(proven))


def total_completion(scaled: ScaledInstance, sequences: Sequences) -> int:
    """Return the sum of the completions of all jobs, in scaled units.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> scaled = ScaledInstance.from_instance(Instance(etc=((3, 4), (2, 2))), "flowtime")
    >>> total_completion(scaled, ((1, 0), ()))
    7
    """
    total = 0
    for machine, sequence in enumerate(sequences):
        clock = 0
        for job in sequence:
            start = max(clock, scaled.arrivals[job][machine])
            clock = start + scaled.processing_time(job, machine)
            total += clock
    return total


def _best_partition(
    scaled: ScaledInstance, earliest: Sequence[int], most: int, stop: float
) -> list[int] | None:
    """Return the set of each machine in the partition of least excess; None if all exceed it."""
    tables: dict[tuple[Run, ...], _Sets] = {}
    groups: list[_Group] = []
    states = 0
    for k in scaled.machines:
        runs = _runs(scaled, k, earliest)
        if runs not in tables:  # equal machines have equal sets
            tables[runs] = _sets_of_machine(runs, most, MAX_STATES - states, stop)
            states += len(tables[runs].jobs)
        groups.append(_Group(tables[runs], machine=k))
    while len(groups) > 2:
        groups.sort(key=lambda group: -len(group.sets.jobs))
        pair = groups.pop(), groups.pop()
        groups.append(_Group(_combined(pair[0].sets, pair[1].sets, most, stop), pair))
    if len(groups) == 1:
        groups.append(_Group(_sorted_sets(np.array([0]), np.array([0])), machine=groups[0].machine))
    every = (1 << len(scaled.jobs)) - 1
    excess, _ = _best_split(groups[0].sets, groups[-1].sets, every)
    if excess > most:
        return None
    sets = [0 for _ in scaled.machines]
    _Group(groups[0].sets, tuple(groups)).divide(every, sets)
    return sets


class _Sets(NamedTuple):
    """Sets of jobs as bits, in order, and the least excess of each: two arrays."""

    jobs: Integers
    excess: Integers


@dataclass(frozen=True, slots=True)
class _Group:
    """The sets that some machines can run: of one machine, or unions of those of two groups."""

    sets: _Sets
    parts: tuple[_Group, ...] = ()
    machine: int = -1

    def divide(self, jobs: int, sets: list[int]) -> None:
        """Divide a set among the machines so that its excess is the least one."""
        if not self.parts:
            sets[self.machine] |= jobs
        else:
            first, second = self.parts
            _, inside = _best_split(first.sets, second.sets, jobs)
            first.divide(inside, sets)
            second.divide(jobs ^ inside, sets)


def _best_split(first: _Sets, second: _Sets, jobs: int) -> tuple[float, int]:
    """Return the least excess of a set divided in two, and the first part; infinite if none is."""
    inside = (first.jobs & ~jobs) == 0
    sets, excess = first.jobs[inside], first.excess[inside]
    rest = jobs ^ sets
    place = np.minimum(np.searchsorted(second.jobs, rest), len(second.jobs) - 1)
    found = second.jobs[place] == rest
    if not found.any():
        return inf, 0
    total = (excess + second.excess[place])[found]
    best = int(total.argmin())
    return int(total[best]), int(sets[found][best])


def _runs(scaled: ScaledInstance, machine: int, earliest: Sequence[int]) -> tuple[Run, ...]:
    """Return the jobs that a machine can run."""
    return tuple(
        (
            1 << job,
            scaled.arrivals[job][machine],
            scaled.processing_time(job, machine),
            earliest[job],
        )
        for job in scaled.eligible_jobs[machine]
    )


def _sets_of_machine(runs: Sequence[Run], most: int, states: int, stop: float) -> _Sets:
    """Return the sets that a machine can run within an excess."""
    table = {0: 0}
    layer: Layer = {0: [(0, 0)]}
    while layer:
        extended: Layer = {}
        for jobs, sequences in layer.items():
            for bit, arrival, duration, earliest in runs:
                if jobs & bit:
                    continue
                for end, excess in sequences:
                    completion = (arrival if arrival > end else end) + duration
                    more = excess + completion - earliest
                    if more <= most:
                        extended.setdefault(jobs | bit, []).append((completion, more))
            if len(extended) > max(states, 0) or time.monotonic() >= stop:
                raise _TooManySetsError
        layer = {jobs: _undominated(sequences) for jobs, sequences in extended.items()}
        states -= sum(map(len, layer.values()))
        table.update((jobs, sequences[-1][1]) for jobs, sequences in layer.items())
    return _sorted_sets(np.array(list(table)), np.array(list(table.values())))


def _sorted_sets(jobs: Integers, excess: Integers) -> _Sets:
    """Return sets in order, each once, with its least excess."""
    order = np.lexsort((excess, jobs))
    jobs, excess = jobs[order], excess[order]
    is_first = np.append(True, jobs[1:] != jobs[:-1])
    return _Sets(jobs[is_first], excess[is_first])


def _undominated(sequences: list[State]) -> list[State]:
    """Return the sequences such that no other one ends no later and is no worse, by their ends."""
    sequences.sort()
    kept = sequences[:1]
    for sequence in sequences:
        if sequence[1] < kept[-1][1]:
            kept.append(sequence)
    return kept


def _combined(first: _Sets, second: _Sets, most: int, stop: float) -> _Sets:
    """Return the unions of two disjoint sets, one of each group, within an excess."""
    order = np.argsort(second.excess, kind="stable")
    sets, excesses = second.jobs[order], second.excess[order]
    ends = np.searchsorted(excesses, most - first.excess, "right")
    if int(ends.sum()) > MAX_PAIRS:
        raise _TooManySetsError
    unions: list[Integers] = []
    values: list[Integers] = []
    found = 0
    for jobs, excess, end in zip(*first, ends, strict=True):
        disjoint = (sets[:end] & jobs) == 0
        unions.append(sets[:end][disjoint] | jobs)
        values.append(excesses[:end][disjoint] + excess)
        found += len(unions[-1])
        if found > MAX_UNIONS or time.monotonic() >= stop:
            raise _TooManySetsError
    return _sorted_sets(np.concatenate(unions), np.concatenate(values))


def _best_sequence(scaled: ScaledInstance, machine: int, jobs: int) -> tuple[int, ...]:
    """Return the sequence of a set on a machine with the least sum of completions."""
    inside = [job for job in scaled.eligible_jobs[machine] if jobs >> job & 1]
    layer: Layer = {0: [(0, 0)]}
    for _ in inside:
        extended: Layer = {}
        for known, partial in layer.items():
            for job in inside:
                if known >> job & 1:
                    continue
                for end, total, *sequence in partial:
                    start = max(end, scaled.arrivals[job][machine])
                    end_of_job = start + scaled.processing_time(job, machine)
                    more = (end_of_job, total + end_of_job, *sequence, job)
                    extended.setdefault(known | 1 << job, []).append(more)
        layer = {known: _undominated(partial) for known, partial in extended.items()}
    return layer[jobs][-1][2:]
