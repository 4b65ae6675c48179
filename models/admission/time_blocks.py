"""Blocks of a stream that are solved one by one, and tasks that are done by themselves between.

A chunk of an accepted task occupies the port and its node between release and due date of the
task, and nothing else couples tasks. Let the intervals ``[release, due]`` of the tasks be divided
into *blocks* such that no interval of one block overlaps one of another by more than an end point.

**Blocks lose nothing.** What a schedule does for the tasks of one block is a schedule of that
block; and schedules of all blocks together are a schedule, since they use port and nodes at
different times. So the maximum is the sum of the maxima, upper bounds of the blocks add up to an
upper bound, and all tasks fit if and only if those of every block do.

**A task with a due date far away** joins what would be blocks without it. It is accepted without
loss if there is an idle period in ``[release, due]``, outside the intervals of all other tasks,
that is long enough to send it as one chunk to one node: take any schedule, remove the task if it is
in there, and do it in the idle period, where port and nodes have nothing else to do. No objective
becomes smaller, as weights are not negative, and the other tasks are accepted or rejected as
before. This is repeated for further tasks with what is left of the idle periods: the maximum is the
weight of these tasks plus the maximum over the others.

Each block is scaled by itself, from its own first release, so that one task far from the others
does not take the digits that a solver in floats needs for them.

Source: ours. The decomposition of single-machine problems into blocks is that of Carlier, "The
one-machine sequencing problem", EJOR 11 (1982) 42-47, section 2, for windows instead of heads.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from dlopt.models.admission.fixed_sequence_lp import UnsizedChunk, schedule_loads
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.common.solver_units import power_of_two
from dlopt.problems.admission.data import Chunk, Decision, Solution

MAX_ROUNDS = 20
"""Rounds in which tasks are placed and those without an idle period return to the others. Chosen by
hand: two or three are usual, and each is linear up to logarithms."""


class IdlePlacement(NamedTuple):
    """A task that is done as one chunk in an idle period: its position, its node and its start."""

    task: int
    node: int
    start: Fraction


@dataclass(frozen=True, slots=True)
class TimeBlocks:
    """A stream, divided.

    Parameters
    ----------
    scaled : ScaledInstance
        Of the whole stream.
    blocks : tuple of tuple of int
        The tasks of each block, by their positions in `scaled`; blocks with few tasks first.
    placements : tuple of IdlePlacement
        The tasks that are done in idle periods, in the order of their starts.
    """

    scaled: ScaledInstance
    blocks: tuple[tuple[int, ...], ...]
    placements: tuple[IdlePlacement, ...]

    @property
    def is_trivial(self) -> bool:
        """Whether nothing is divided."""
        return not self.placements and len(self.blocks) <= 1

    @property
    def placed_weight(self) -> Fraction:
        """The objective value of the tasks that are done in idle periods."""
        tasks = self.scaled.tasks
        return sum((tasks[placement.task].weight for placement in self.placements), Fraction(0))

    def scaled_block(self, block: Sequence[int]) -> ScaledInstance:
        """Return a block in its own units, without the finished tasks of the stream."""
        scaled = self.scaled
        tasks = [
            replace(
                scaled.tasks[i],
                release=scaled.unscale_instant(scaled.tasks[i].release),
                due=scaled.unscale_instant(scaled.tasks[i].due),
                load=scaled.tasks[i].load * scaled.load_unit,
            )
            for i in block
        ]
        origin = min(task.release for task in tasks)
        time_unit = power_of_two(max(task.due for task in tasks) - origin)
        load_unit = power_of_two(max(task.load for task in tasks))
        return ScaledInstance.in_units(
            scaled.instance, tasks, (), Fraction(0), origin, time_unit, load_unit
        )

    def schedule_placements(self) -> Solution:
        """Return the schedule of the tasks that are done in idle periods.

        The finished tasks of the stream are accepted in it.
        """
        scaled = self.scaled
        sequence = [UnsizedChunk(one.task, one.node) for one in self.placements]
        loads = [scaled.tasks[one.task].load for one in self.placements]
        starts = [scaled.unscale_instant(one.start) for one in self.placements]
        accepted = [one.task for one in self.placements]
        schedule = schedule_loads(scaled, sequence, loads, accepted, starts)
        assert schedule is not None  # `place_in_idle_periods` has compared the same instants
        return schedule

    def restrict(self, schedule: Solution, block: Iterable[int]) -> Solution:
        """Return what a schedule of the stream does for one block: all else is rejected."""
        scaled = self.scaled
        ids = {scaled.instance.tasks[scaled.tasks[i].index].id for i in block}
        decisions = (
            replace(one, accepted=one.accepted and one.task in ids) for one in schedule.decisions
        )
        chunks = (chunk for chunk in schedule.chunks if chunk.task in ids)
        return Solution(tuple(decisions), tuple(chunks))


def divide_into_blocks(scaled: ScaledInstance) -> TimeBlocks:
    """Return the blocks of a stream, with as many tasks in idle periods as are found.

    Candidates for these are the tasks with the longest intervals: those of at least some power of
    two, for each power. Complexity: ``O(n log n)`` for each power, up to `MAX_ROUNDS`.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = Task("a", 0, 1, 4), Task("b", 1, 1, 4), Task("c", 1, 1, 10**9), Task("d", 70, 1, 4)
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(1, tau=1, chi=1), tasks))
    >>> divided = divide_into_blocks(scaled)
    >>> divided.blocks, [placement.task for placement in divided.placements]
    (((3,), (0, 1)), (2,))
    """
    lengths = [task.due - task.release for task in scaled.tasks]
    powers = [_exponent(length) for length in lengths]
    placements: list[IdlePlacement] = []
    for power in sorted(set(powers)):
        candidates = [i for i, own in enumerate(powers) if own >= power]
        found = place_in_idle_periods(scaled, candidates)
        placements = max(placements, found, key=len)
    placed = {placement.task for placement in placements}
    rest = [i for i in range(len(scaled.tasks)) if i not in placed]
    blocks = sorted(_blocks(scaled, rest), key=len)
    placements.sort(key=lambda placement: placement.start)
    return TimeBlocks(scaled, tuple(blocks), tuple(placements))


def place_in_idle_periods(
    scaled: ScaledInstance, candidates: Collection[int]
) -> list[IdlePlacement]:
    """Place tasks in periods outside the intervals of all tasks that are not placed.

    Candidates without a place count as others in the next round, which shortens the idle periods.
    """
    for _ in range(MAX_ROUNDS):
        others = set(range(len(scaled.tasks))).difference(candidates)
        placements = _place_all(scaled, candidates, _idle_periods(scaled, others))
        if len(placements) == len(candidates):
            return placements
        candidates = [placement.task for placement in placements]
    return []


def merge_schedules(scaled: ScaledInstance, schedules: Iterable[Solution]) -> Solution:
    """Return the schedule that does what each of some schedules at different times does."""
    accepted: set[str] = set()
    chunks: list[Chunk] = []
    for schedule in schedules:
        accepted |= {decision.task for decision in schedule.decisions if decision.accepted}
        chunks += schedule.chunks
    decisions = (
        Decision(task.id, task.id in accepted, task.arrival) for task in scaled.instance.tasks
    )
    return Solution(tuple(decisions), tuple(chunks))


def _blocks(scaled: ScaledInstance, tasks: Iterable[int]) -> list[tuple[int, ...]]:
    """Return groups of tasks, such that the intervals of different groups do not overlap."""
    blocks: list[list[int]] = []
    end = Fraction(0)
    for i in sorted(tasks, key=lambda i: scaled.tasks[i].release):
        if not blocks or scaled.tasks[i].release >= end:
            blocks.append([])
        blocks[-1].append(i)
        end = max(end, scaled.tasks[i].due)
    return [tuple(sorted(block)) for block in blocks]


def _idle_periods(
    scaled: ScaledInstance, tasks: Iterable[int]
) -> list[tuple[Fraction, Fraction | None]]:
    """Return the periods, in order, that the intervals of some tasks leave; the last has no end."""
    periods: list[tuple[Fraction, Fraction | None]] = []
    start = Fraction(0)
    for i in sorted(tasks, key=lambda i: scaled.tasks[i].release):
        task = scaled.tasks[i]
        if task.release > start:
            periods.append((start, task.release))
        start = max(start, task.due)
    return [*periods, (start, None)]


def _place_all(
    scaled: ScaledInstance,
    tasks: Iterable[int],
    periods: Sequence[tuple[Fraction, Fraction | None]],
) -> list[IdlePlacement]:
    """Place tasks by due date, each as early as it fits into what is left of some period."""
    nodes: dict[Fraction, int] = {}
    for node in sorted(scaled.nodes, key=lambda node: scaled.free[node], reverse=True):
        nodes[scaled.unit_time(node)] = node  # of equal nodes the one that is free first
    starts = [start for start, _ in periods]
    ends = [end for _, end in periods]
    finite = [end for end in ends if end is not None]
    placements = []
    for i in sorted(tasks, key=lambda i: scaled.tasks[i].due):
        task = scaled.tasks[i]
        for k in range(bisect_right(finite, task.release), len(periods)):
            earliest, end = max(starts[k], task.release), ends[k]
            if earliest >= task.due:
                break
            finish, start, node = min(
                (
                    max(earliest, scaled.free[node])
                    + scaled.overhead
                    + scaled.unit_time(node) * task.load,
                    max(earliest, scaled.free[node]),
                    node,
                )
                for node in nodes.values()
            )
            latest = (scaled.latest_end(task) - scaled.origin) / scaled.time_unit
            if finish <= (latest if end is None else min(latest, end)):
                placements.append(IdlePlacement(i, node, start))
                starts[k] = finish
                break
    return placements


def _exponent(length: Fraction) -> int:
    """Return the binary exponent of a length, 0 for those that are not positive."""
    if length <= 0:
        return 0
    return length.numerator.bit_length() - length.denominator.bit_length()
