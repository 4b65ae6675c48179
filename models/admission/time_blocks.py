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
from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import exact
from dlopt.models.admission.fixed_sequence_lp import UnsizedChunk, schedule_loads
from dlopt.models.admission.scaled_instance import ScaledInstance, ScaledTask
from dlopt.models.common.solver_units import power_of_two
from dlopt.models.common.time_division import Block, IdlePlacement, TimeDivision
from dlopt.problems.admission.data import Chunk, Decision, Solution

Window = tuple[Fraction, Fraction]
ZERO = Fraction(0)

MAX_ROUNDS = 20
"""Rounds in which tasks are placed and those without an idle period return to the others. Chosen by
hand: two or three are usual, and each is linear up to logarithms."""


class TimeBlocks(TimeDivision[ScaledInstance, Solution]):
    """A stream of loads, divided.

    Parameters
    ----------
    scaled : ScaledInstance
        Of the whole stream.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = Task("a", 0, 2, 5), Task("b", 1, 2, 4), Task("c", 1, 1, 10**9), Task("d", 70, 1, 2)
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(1, tau=1, chi=1), tasks))
    >>> divided = TimeBlocks(scaled)
    >>> divided.blocks, [placement.task for placement in divided.placements]
    (((0, 1),), [3, 2])
    """

    def __init__(self, scaled: ScaledInstance) -> None:
        self.scaled = scaled
        self.placements, self.blocks = divide_into_blocks(scaled)
        placed = [placement.task for placement in self.placements]
        self.placed_value, self.placed_plan = scaled.value(placed), self._schedule_placements()

    def scaled_block(self, block: Block) -> ScaledInstance:
        """Return a block in its own units, without the finished tasks of the stream."""
        tasks = unscaled_tasks(self.scaled, block)
        origin = min(task.release for task in tasks)
        time_unit = power_of_two(max(task.due for task in tasks) - origin)
        load_unit = power_of_two(max(task.load for task in tasks))
        return ScaledInstance.in_units(
            self.scaled.instance, tasks, (), Fraction(0), origin, time_unit, load_unit
        )

    def restrict(self, plan: Solution, block: Block) -> Solution:
        """Return what a schedule of the stream does for one block: all else is rejected."""
        ids = self._ids(block)
        decisions = (
            replace(one, accepted=one.accepted and one.task in ids) for one in plan.decisions
        )
        chunks = (chunk for chunk in plan.chunks if chunk.task in ids)
        return Solution(tuple(decisions), tuple(chunks))

    def value(self, plan: Solution, block: Block) -> Fraction:
        """Return the objective value of what a schedule accepts in a block."""
        accepted = {one.task for one in plan.decisions if one.accepted}
        ids = self._ids(block)
        return sum((self.scaled.tasks[ids[name]].weight for name in accepted & ids.keys()), ZERO)

    def max_value(self, block: Block) -> Fraction:
        """Return the objective value of accepting all of a block."""
        return sum((self.scaled.tasks[i].weight for i in block), ZERO)

    def merge(self, plans: Iterable[Solution]) -> Solution:
        """Return the schedule that does what each of some schedules at different times does."""
        accepted: set[str] = set()
        chunks: list[Chunk] = []
        for plan in plans:
            accepted |= {one.task for one in plan.decisions if one.accepted}
            chunks += plan.chunks
        tasks = self.scaled.instance.tasks
        decisions = (Decision(task.id, task.id in accepted, task.arrival) for task in tasks)
        return Solution(tuple(decisions), tuple(chunks))

    def _ids(self, block: Block) -> dict[str, int]:
        """Return the tasks of a block by their names."""
        tasks, originals = self.scaled.tasks, self.scaled.instance.tasks
        return {originals[tasks[i].index].id: i for i in block}

    def _schedule_placements(self) -> Solution:
        """Return the schedule of the tasks that are done in idle periods.

        The finished tasks of the stream are accepted in it.
        """
        scaled = self.scaled
        sequence = [UnsizedChunk(one.task, one.node) for one in self.placements]
        loads = [scaled.tasks[one.task].load for one in self.placements]
        starts = [scaled.unscale_instant(one.start) for one in self.placements]
        plan = schedule_loads(scaled, sequence, loads, [one.task for one in sequence], starts)
        assert plan is not None  # each ends by the deadline that the instance states
        return plan


def unscaled_tasks(scaled: ScaledInstance, tasks: Iterable[int]) -> list[ScaledTask]:
    """Return some tasks in the units of the original instance."""
    return [
        replace(
            scaled.tasks[i],
            release=scaled.unscale_instant(scaled.tasks[i].release),
            due=scaled.unscale_instant(scaled.tasks[i].due),
            load=scaled.tasks[i].load * scaled.load_unit,
        )
        for i in tasks
    ]


def scale_instant(scaled: ScaledInstance, instant: Fraction) -> Fraction:
    """Return an instant of the original instance in the units of the model."""
    return (instant - scaled.origin) / scaled.time_unit


def divide_into_blocks(
    scaled: ScaledInstance, reserved: Sequence[Window] = ()
) -> tuple[list[IdlePlacement], tuple[Block, ...]]:
    """Return the tasks that are done in idle periods, as many as are found, and the blocks.

    Candidates for the former are the tasks with the longest intervals: those of at least some power
    of two, for each power. Complexity: ``O(n log n)`` for each power, up to `MAX_ROUNDS` times.

    Parameters
    ----------
    scaled : ScaledInstance
    reserved : sequence of (Fraction, Fraction)
        Further intervals; in blocks they are numbered on from the tasks.
    """
    windows = [*((task.release, task.due) for task in scaled.tasks), *reserved]
    powers = [_exponent(task.due - task.release) for task in scaled.tasks]
    placements: list[IdlePlacement] = []
    for power in sorted(set(powers)):
        candidates = [i for i, own in enumerate(powers) if own >= power]
        found = place_in_idle_periods(scaled, windows, candidates)
        placements = max(placements, found, key=len)
    rest = set(range(len(windows))).difference(placement.task for placement in placements)
    placements.sort(key=lambda placement: placement.start)
    return placements, tuple(sorted(_blocks(windows, rest), key=len))


def place_in_idle_periods(
    scaled: ScaledInstance, windows: Sequence[Window], candidates: Collection[int]
) -> list[IdlePlacement]:
    """Place tasks in periods outside the intervals of all tasks that are not placed.

    Candidates without a place count as others in the next round, which shortens the idle periods.
    """
    for _ in range(MAX_ROUNDS):
        others = set(range(len(windows))).difference(candidates)
        periods = _idle_periods(windows[i] for i in others)
        placements = _place_all(scaled, candidates, periods)
        if len(placements) == len(candidates):
            return placements
        candidates = [placement.task for placement in placements]
    return []


def _blocks(windows: Sequence[Window], members: Iterable[int]) -> list[Block]:
    """Return groups of members, such that the intervals of different groups do not overlap."""
    blocks: list[list[int]] = []
    end = ZERO
    for i in sorted(members, key=lambda i: windows[i]):
        if not blocks or windows[i][0] >= end:
            blocks.append([])
        blocks[-1].append(i)
        end = max(end, windows[i][1])
    return [tuple(sorted(block)) for block in blocks]


def _idle_periods(windows: Iterable[Window]) -> list[tuple[Fraction, Fraction | None]]:
    """Return the periods from 0 on, in order, that intervals leave; the last has no end."""
    periods: list[tuple[Fraction, Fraction | None]] = []
    start = ZERO
    for begin, end in sorted(windows):
        if begin > start:
            periods.append((start, begin))
        start = max(start, end)
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
    ends = [end for _, end in periods if end is not None]
    placements = []
    for i in sorted(tasks, key=lambda i: scaled.tasks[i].due):
        release, deadline = _stated_window(scaled, i)
        for k in range(bisect_right(ends, release), len(periods)):
            earliest = max(starts[k], release)
            if earliest >= deadline:
                break
            finish, start, node = min(
                _earliest_chunk(scaled, i, node, earliest) for node in nodes.values()
            )
            if finish <= min([deadline, *ends[k : k + 1]]):
                placements.append(IdlePlacement(i, node, start))
                starts[k] = finish
                break
    return placements


def _stated_window(scaled: ScaledInstance, i: int) -> Window:
    """Return arrival and deadline as stated; in floats the model may widen its window.

    It is never released before the instant from which something can be sent.
    """
    task, stated = scaled.tasks[i], scaled.instance.tasks[scaled.tasks[i].index]
    arrival = exact(stated.arrival)
    deadline = arrival + exact(stated.deadline)
    return max(task.release, scale_instant(scaled, arrival)), scale_instant(scaled, deadline)


def _earliest_chunk(
    scaled: ScaledInstance, i: int, node: int, earliest: Fraction
) -> tuple[Fraction, Fraction, int]:
    """Return end, start and node of a chunk with all of a task."""
    start = max(earliest, scaled.free[node])
    time = scaled.overhead + scaled.unit_time(node) * scaled.tasks[i].load
    return start + time, start, node


def _exponent(length: Fraction) -> int:
    """Return the binary exponent of a length, 0 for those that are not positive."""
    if length <= 0:
        return 0
    return length.numerator.bit_length() - length.denominator.bit_length()
