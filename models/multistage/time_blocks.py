"""Blocks of a stream of loads and reservations that are solved one by one.

As in `dlopt.models.admission.time_blocks`, with reservations as further members of blocks: their
intervals are ``[start, end]``, in which they occupy nodes, and the channel at the beginning. That
the gaps between reservations limit the chunks of a task changes nothing: a gap that begins outside
the interval of a task limits none of its chunks, and a task that is done in an idle period has one
chunk. A reservation whose interval overlaps no other is a block by itself.

Source: ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import exact
from dlopt.models.admission.scaled_instance import ScaledInstance as ScaledTaskInstance
from dlopt.models.admission.time_blocks import (
    ZERO,
    Window,
    divide_into_blocks,
    scale_instant,
    unscaled_tasks,
)
from dlopt.models.common.solver_units import power_of_two
from dlopt.models.common.time_division import Block, TimeDivision
from dlopt.models.multistage.fixed_sequence_lp import chunk_at, schedule_loads
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.problems.admission.data import Chunk, Decision
from dlopt.problems.multistage.data import Grant, Solution


class TimeBlocks(TimeDivision[ScaledInstance, Solution]):
    """A stream of loads and reservations, divided.

    Parameters
    ----------
    scaled : ScaledInstance
        Of the whole stream.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> wanted = Reservation("r", 0, 1, 3), Reservation("s", 0, 7, 9)
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 1, 4),), wanted)
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> TimeBlocks(scaled).blocks
    ((2,), (0, 1))
    """

    def __init__(self, scaled: ScaledInstance) -> None:
        self.scaled = scaled
        windows = [self._stated_interval(r) for r in range(len(scaled.reservations))]
        self.placements, self.blocks = divide_into_blocks(scaled.tasks_only, windows)
        placed = [placement.task for placement in self.placements]
        self.placed_value, self.placed_plan = scaled.value(placed, ()), self._schedule_placements()

    def scaled_block(self, block: Block) -> ScaledInstance:
        """Return a block in its own units, without the finished tasks of the stream."""
        scaled, whole = self.scaled, self.scaled.tasks_only
        positions, numbers = self._members(block)
        tasks = unscaled_tasks(whole, positions)
        chosen = [scaled.reservations[r] for r in numbers]
        starts = [task.release for task in tasks]
        starts += [whole.unscale_instant(reservation.start) for reservation in chosen]
        ends = [task.due for task in tasks]
        ends += [whole.unscale_instant(reservation.end) for reservation in chosen]
        origin, end = min(starts), max(ends)
        load_unit = power_of_two(max((task.load for task in tasks), default=ZERO))
        tasks_only = ScaledTaskInstance.in_units(
            whole.instance, tasks, (), ZERO, origin, power_of_two(end - origin), load_unit
        )

        def in_block(instant: Fraction) -> Fraction:
            return scale_instant(tasks_only, whole.unscale_instant(instant))

        reservations = (
            replace(
                reservation,
                start=in_block(reservation.start),
                io_end=in_block(reservation.io_end),
                end=in_block(reservation.end),
            )
            for reservation in chosen
        )
        last = scale_instant(tasks_only, end)
        inside = (in_block(start) for start in scaled.reservation_starts)
        return replace(
            scaled,
            tasks_only=tasks_only,
            reservations=tuple(reservations),
            reservation_starts=tuple(start for start in inside if 0 <= start <= last),
            float_slack=scaled.float_slack * whole.time_unit / tasks_only.time_unit,
        )

    def restrict(self, plan: Solution, block: Block) -> Solution:
        """Return what a schedule of the stream does for one block: all else is rejected."""
        ids, wanted = self._ids(block)
        decisions = (
            replace(one, accepted=one.accepted and one.task in ids) for one in plan.decisions
        )
        grants = (
            one if one.reservation in wanted else replace(one, accepted=False, nodes=())
            for one in plan.grants
        )
        chunks = (chunk for chunk in plan.chunks if chunk.task in ids)
        return Solution(tuple(decisions), tuple(grants), tuple(chunks))

    def value(self, plan: Solution, block: Block) -> Fraction:
        """Return the objective value of what a schedule accepts in a block."""
        accepted = {one.task for one in plan.decisions if one.accepted}
        granted = {one.reservation for one in plan.grants if one.accepted}
        ids, wanted = self._ids(block)
        tasks = [ids[name] for name in accepted & ids.keys()]
        return self._value(tasks, [wanted[name] for name in granted & wanted.keys()])

    def max_value(self, block: Block) -> Fraction:
        """Return the objective value of accepting all of a block."""
        return self._value(*self._members(block))

    def merge(self, plans: Iterable[Solution]) -> Solution:
        """Return the schedule that does what each of some schedules at different times does."""
        accepted: set[str] = set()
        nodes: dict[str, tuple[int, ...]] = {}
        chunks: list[Chunk] = []
        for plan in plans:
            accepted |= {one.task for one in plan.decisions if one.accepted}
            nodes |= {one.reservation: one.nodes for one in plan.grants if one.accepted}
            chunks += plan.chunks
        instance = self.scaled.instance
        decisions = (Decision(one.id, one.id in accepted, one.arrival) for one in instance.tasks)
        grants = (
            Grant(one.id, one.id in nodes, one.arrival, nodes.get(one.id, ()))
            for one in instance.reservations
        )
        return Solution(tuple(decisions), tuple(grants), tuple(chunks))

    def _value(self, tasks: Iterable[int], reservations: Iterable[int]) -> Fraction:
        return self.scaled.value(tasks, reservations) - self.scaled.value_of_finished

    def _members(self, block: Block) -> tuple[list[int], list[int]]:
        """Return the tasks and the reservations of a block."""
        first = len(self.scaled.tasks)
        return [i for i in block if i < first], [i - first for i in block if i >= first]

    def _ids(self, block: Block) -> tuple[dict[str, int], dict[str, int]]:
        """Return the tasks and the reservations of a block by their names."""
        scaled, (tasks, reservations) = self.scaled, self._members(block)
        instance = scaled.instance
        return (
            {instance.tasks[scaled.tasks[i].index].id: i for i in tasks},
            {instance.reservations[scaled.reservations[r].index].id: r for r in reservations},
        )

    def _stated_interval(self, r: int) -> Window:
        """Return when a reservation begins and ends as stated: in floats it counts as shorter."""
        stated = self.scaled.instance.reservations[self.scaled.reservations[r].index]
        whole = self.scaled.tasks_only
        return scale_instant(whole, exact(stated.start)), scale_instant(whole, exact(stated.end))

    def _schedule_placements(self) -> Solution:
        """Return the schedule of the tasks that are done in idle periods.

        The finished tasks of the stream are accepted in it.
        """
        tasks = self.scaled.tasks_only.tasks
        sequence = [chunk_at(self.scaled, *one[:3]) for one in self.placements]
        loads = [tasks[one.task].load for one in self.placements]
        starts = [one.start for one in self.placements]
        accepted = [one.task for one in self.placements]
        plan = schedule_loads(self.scaled, sequence, loads, accepted, {}, starts)
        assert plan is not None  # each ends by the deadline that the instance states
        return plan
