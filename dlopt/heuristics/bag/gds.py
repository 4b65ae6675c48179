"""GDS: every site schedules its own tasks, shuffles them, and dispatches what is left.

Source: Liu, Baskiyar and Li 2007, Figs. 2-4 and 6. Where the paper leaves a choice: all sites serve
their own tasks first, in the order of the file, and then dispatch in that order; a site that is
asked for a task of another shuffles, too, if the task does not fit at once; machines that have not
changed since they were shuffled are not shuffled again; within a priority Shuffle follows the rank.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from dlopt.heuristics.bag.gds_ranking import SiteNetwork, TaskIntensity
from dlopt.heuristics.bag.idle_intervals import IdleIntervals
from dlopt.heuristics.bag.instance_arrays import InstanceArrays
from dlopt.heuristics.bag.messages import MessageCounts
from dlopt.problems.bag.data import Instance, Placement, Solution


class LiteralVariant(StrEnum):
    """Ways in which the pseudocode goes wrong if it is followed to the letter; the prose is right.

    `EVICT_ALL` and `TRANSMISSION` are ways to carry out figure 4 that no figure prints.
    """

    EVICT_ALL = "evict-all"
    ENDLESS_LOOP = "endless-loop"
    EVERY_SLACK = "every-slack"
    DUPLICATE = "duplicate"
    TRANSMISSION = "transmission"


PRINTED_VARIANTS = (
    LiteralVariant.ENDLESS_LOOP,
    LiteralVariant.EVERY_SLACK,
    LiteralVariant.DUPLICATE,
)
"""Figures 3 and 6 to the letter. Figure 4 leaves the other two open, and does not print them."""


class EndlessLoopError(Exception):
    """The endless loop of figure 3 if it is read to the letter."""


@dataclass(frozen=True, slots=True)
class TaskRun:
    """A task on a machine, in an interval."""

    task: int
    start: Any
    end: Any


class GdsScheduler:
    """The state of all sites.

    Parameters
    ----------
    arrays : InstanceArrays
    seed : int, default 0
        Of the orders in which machines are asked; each site has one for each task.
    shuffles : bool, default True
    variants : iterable of LiteralVariant

    Attributes
    ----------
    runs : list of list of TaskRun
        Of each machine.
    messages : MessageCounts
        What sites have sent to each other so far.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance, Machine, Task
    >>> tasks = (Task("a", 2, absolute_deadline=3), Task("b", 2, absolute_deadline=4))
    >>> gds = GdsScheduler(InstanceArrays(Instance(tasks, (Machine("m"),))))
    >>> gds.schedule(0, [0, 1])
    [1]
    >>> gds.shuffle(0)
    True
    >>> gds.schedule(0, [1])
    []
    >>> [(run.task, run.start) for run in gds.runs[0]]
    [(0, 0), (1, 2)]
    """

    def __init__(
        self,
        arrays: InstanceArrays,
        *,
        seed: int = 0,
        shuffles: bool = True,
        variants: Iterable[LiteralVariant] = (),
    ) -> None:
        self.arrays = arrays
        self.seed = seed
        self.shuffles = shuffles
        self.variants = frozenset(variants)
        self.network = SiteNetwork(arrays)
        ranked = self.network.ranked_tasks()
        self._rank = {task: rank for rank, task in enumerate(ranked)}
        sites = range(len(self.network.machines))
        self.queues: dict[int, list[int]] = {site: [] for site in sites}
        for task in ranked:
            self.queues[arrays.instance.all_tasks[task].site].append(task)
        self._idle = [IdleIntervals(ready) for ready in arrays.ready]
        self._changed_machines: set[int] = set()
        self._sorted_neighbours: dict[tuple[int, TaskIntensity], list[int]] = {}
        self.runs: list[list[TaskRun]] = [[] for _ in arrays.ready]
        self.messages = MessageCounts()

    def run(self) -> Solution:
        """Schedule, shuffle and dispatch all tasks; return the schedule.

        Raises
        ------
        EndlessLoopError
            With the variant of that name only.
        """
        unscheduled = {site: self.serve(site) for site in self.queues}
        for site, tasks in unscheduled.items():
            for task in tasks:
                self.dispatch(site, task)
        return self.to_solution()

    def to_solution(self) -> Solution:
        """Return the schedule so far, machine by machine."""
        task_ids, to_date = self.arrays.task_ids, self.arrays.to_date
        return Solution(
            tuple(
                Placement(task_ids[run.task], machine, to_date(run.start), to_date(run.end))
                for machine, runs in enumerate(self.runs)
                for run in sorted(runs, key=lambda run: run.start)
            )
        )

    def serve(self, site: int) -> list[int]:
        """Place the tasks of a site at home; return those that are left (Fig. 2)."""
        unscheduled = self.schedule(site, self.queues[site])
        if unscheduled and self.shuffles:
            self.shuffle(site)
            unscheduled = self.schedule(site, unscheduled)
        return unscheduled

    def schedule(self, site: int, tasks: Iterable[int]) -> list[int]:
        """Place tasks at a site, as late as they can be; return those that are left (Fig. 3)."""
        return [task for task in tasks if not self._place_at(site, task)]

    def _place_at(self, site: int, task: int) -> bool:
        """Place a task on some machine of a site, if it fits."""
        machines = self._machine_order(site, task)
        if any(self._place_if_fits(machine, task) for machine in machines):
            return True
        at_home = self.arrays.instance.all_tasks[task].site == site
        if at_home and LiteralVariant.ENDLESS_LOOP in self.variants:
            raise EndlessLoopError(
                f"endless loop: task {self.arrays.task_ids[task]} fits no slack of its site, and "
                "is tried again until it does"
            )
        return False

    def _machine_order(self, site: int, task: int) -> list[int]:
        """Return the machines of a site in the random order in which they are tried for a task."""
        machines = list(self.network.machines[site])
        random.Random(f"gds {self.seed} {site} {task}").shuffle(machines)
        return machines

    def _place_if_fits(self, machine: int, task: int) -> bool:
        """Place a task on a machine, as late as possible in its latest slack, if it fits."""
        length = self.arrays.duration(task, machine)
        if length is None:
            return False
        idle = self._idle[machine]
        start, end = self.arrays.earliest_start(task, machine), self._deadline(task)
        if LiteralVariant.EVERY_SLACK in self.variants:
            windows = idle.fitting(start, end, length)
        else:
            windows = [(start, end)]
        for low, high in windows:
            interval = idle.latest(max(low, start), min(high, end), length)
            if interval is None:
                return False
            self._add_run(machine, TaskRun(task, *interval))
            self._changed_machines.add(machine)
        return bool(windows)

    def _add_run(self, machine: int, run: TaskRun) -> None:
        self._idle[machine].occupy(run.start, run.end)
        self.runs[machine].append(run)

    def _deadline(self, task: int) -> Any:
        deadline = self.arrays.deadlines[task]
        return math.inf if deadline is None else deadline

    def shuffle(self, site: int) -> bool:
        """Move tasks to the front on the machines that have changed; return whether any has."""
        changed = [
            machine for machine in self.network.machines[site] if machine in self._changed_machines
        ]
        self._changed_machines -= set(changed)
        for machine in changed:
            self._shuffle_machine(machine)
        return bool(changed)

    def _shuffle_machine(self, machine: int) -> None:
        """Move each task of a machine to its earliest slack, in the order of the rank (Fig. 4).

        Each leaves its interval only for an earlier one, so none is lost and none starts later.
        """
        idle = self._idle[machine]
        runs = sorted(self.runs[machine], key=lambda run: self._rank[run.task])
        self.runs[machine] = []
        evict_all = LiteralVariant.EVICT_ALL in self.variants
        if evict_all:
            for run in runs:
                idle.release(run.start, run.end)
        for run in runs:
            if not evict_all:
                idle.release(run.start, run.end)
            window = self._shuffle_start(run.task, machine), self._deadline(run.task)
            interval = idle.earliest(*window, self.arrays.duration(run.task, machine))
            if not evict_all and (interval is None or interval[0] > run.start):
                self._add_run(machine, run)  # floats: its own interval may be too short by rounding
            elif interval is not None:
                self._add_run(machine, TaskRun(run.task, *interval))

    def _shuffle_start(self, task: int, machine: int) -> Any:
        """Return the earliest start that Shuffle allows a task."""
        if LiteralVariant.TRANSMISSION in self.variants:
            return self.arrays.since_origin(self.arrays.instance.all_tasks[task].release)
        return self.arrays.earliest_start(task, machine)

    def dispatch(self, site: int, task: int) -> bool:
        """Send a ticket from site to site, nearest first, until one accepts the task (Fig. 6).

        Each site sends it to its neighbours in the order that suits the intensity of the task.
        """
        intensity = self.network.intensity(task)
        self._count(searches=1)
        if LiteralVariant.DUPLICATE in self.variants:
            accepted = [
                self._send_ticket(neighbour, task, 1)
                for neighbour in self._neighbours(site, intensity)
            ]
            return any(accepted)
        hops, asking_sites = {site: 0}, deque([site])
        while asking_sites:
            asking = asking_sites.popleft()
            for neighbour in self._neighbours(asking, intensity):
                if neighbour not in hops:
                    hops[neighbour] = hops[asking] + 1
                    if self._send_ticket(neighbour, task, hops[neighbour]):
                        return True
                    asking_sites.append(neighbour)
        return False

    def _send_ticket(self, site: int, task: int, hops: int) -> bool:
        """Send the ticket of a task to a site; if accepted, the task over so many links."""
        accepted = self._accept(site, task)
        self._count(tickets=1, answers=1, tasks=int(accepted), hops=hops * accepted)
        return accepted

    def _count(self, **sent: int) -> None:
        totals = {name: getattr(self.messages, name) + count for name, count in sent.items()}
        self.messages = replace(self.messages, **totals)

    def _accept(self, site: int, task: int) -> bool:
        """Place a task of another site if it fits, at once or after Shuffle."""
        if not self.schedule(site, [task]):
            return True
        return self.shuffles and self.shuffle(site) and not self.schedule(site, [task])

    def _neighbours(self, site: int, intensity: TaskIntensity) -> list[int]:
        if (site, intensity) not in self._sorted_neighbours:
            self._sorted_neighbours[site, intensity] = self.network.neighbours(site, intensity)
        return self._sorted_neighbours[site, intensity]


def count_messages(instance: Instance, *, seed: int = 0, shuffles: bool = True) -> MessageCounts:
    """Return the numbers of messages that sites send to each other while GDS makes its schedule.

    Parameters
    ----------
    instance : Instance
    seed : int, default 0
        As for the methods ``gds`` and ``gds-without-shuffle``, whose schedules these messages make.
    shuffles : bool, default True
        As ``gds`` does, and ``gds-without-shuffle`` does not.

    Returns
    -------
    MessageCounts

    Notes
    -----
    Complexity: that of the method. No search asks a site twice: there are at most ``s - 1`` tickets
    for each task, with `s` sites.
    Source: Liu, Baskiyar and Li 2007, section 5.5 and figure 6, repaired.

    Examples
    --------
    >>> from dlopt.problems.bag import Link, Machine, Site, Task
    >>> sites, machines = (Site("a"), Site("b"), Site("c")), (Machine("m", site=2),)
    >>> links = (Link((0, 1), bandwidth=1), Link((1, 2), bandwidth=1))
    >>> count_messages(Instance((Task("t", 2, absolute_deadline=9),), machines, sites, links))
    MessageCounts(searches=1, tickets=2, answers=2, tasks=1, hops=2)
    """
    scheduler = GdsScheduler(InstanceArrays(instance), seed=seed, shuffles=shuffles)
    scheduler.run()
    return scheduler.messages
