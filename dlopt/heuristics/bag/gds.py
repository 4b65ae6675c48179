"""GDS: every site schedules its own tasks, shuffles what it has, and sends away what is left.

Source: Liu, Baskiyar and Li 2007, Figs. 2-4 and 6. Where the text is silent: all sites serve their
own tasks first, in the order of the file, and then dispatch in that order; a site that is asked for
a task of another shuffles, too, if the task does not fit at once; machines that have not changed
since they were shuffled are not shuffled again; within a priority Shuffle follows the rank.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from dlopt.heuristics.bag.gds_ranking import Grid, Kind
from dlopt.heuristics.bag.idle_intervals import Slacks
from dlopt.heuristics.bag.instance_arrays import Case
from dlopt.heuristics.bag.messages import Messages
from dlopt.problems.bag.data import Instance, Placement, Solution


class Slip(StrEnum):
    """What goes wrong for a reader of the pseudocode alone; the prose around it is right.

    `EVICT_ALL` and `TRANSMISSION` are ways to carry out figure 4 that no figure prints.
    """

    EVICT_ALL = "evict-all"
    ENDLESS_LOOP = "endless-loop"
    EVERY_SLACK = "every-slack"
    DUPLICATE = "duplicate"
    TRANSMISSION = "transmission"


PRINTED = (Slip.ENDLESS_LOOP, Slip.EVERY_SLACK, Slip.DUPLICATE)
"""Figures 3 and 6 to the letter. Figure 4 leaves the other two open, and does not print them."""


class EndlessLoopError(Exception):
    """What figure 3 runs into if it is read to the letter."""


@dataclass(frozen=True, slots=True)
class Run:
    """A task on a machine, in an interval."""

    task: int
    start: Any
    end: Any


class Gds:
    """The state of all sites.

    Parameters
    ----------
    case : Case
    seed : int, default 0
        Of the orders in which machines are asked; each site has one for each task.
    shuffles : bool, default True
    slips : iterable of Slip

    Attributes
    ----------
    messages : Messages
        What sites have sent to each other so far.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance, Machine, Task
    >>> tasks = (Task("a", 2, absolute_deadline=3), Task("b", 2, absolute_deadline=4))
    >>> gds = Gds(Case(Instance(tasks, (Machine("m"),))))
    >>> gds.schedule(0, [0, 1])
    [1]
    >>> gds.shuffle(0)
    True
    >>> gds.schedule(0, [1])
    []
    >>> [(run.task, run.start) for run in gds.held[0]]
    [(0, 0), (1, 2)]
    """

    def __init__(
        self, case: Case, *, seed: int = 0, shuffles: bool = True, slips: Iterable[Slip] = ()
    ) -> None:
        self.case = case
        self.seed = seed
        self.shuffles = shuffles
        self.slips = frozenset(slips)
        self.grid = Grid(case)
        ranked = self.grid.ranked()
        self._rank = {task: place for place, task in enumerate(ranked)}
        self.queues: dict[int, list[int]] = {site: [] for site in range(len(self.grid.machines))}
        for task in ranked:
            self.queues[case.instance.all_tasks[task].site].append(task)
        self._slacks = [Slacks(ready) for ready in case.ready]
        self._changed: set[int] = set()
        self._beside: dict[tuple[int, Kind], list[int]] = {}
        self.held: list[list[Run]] = [[] for _ in case.ready]
        self.messages = Messages()

    def run(self) -> Solution:
        """Schedule, shuffle and dispatch all tasks; return the plan.

        Raises
        ------
        EndlessLoopError
            With the slip of that name only.
        """
        left = {site: self.serve(site) for site in self.queues}
        for site, tasks in left.items():
            for task in tasks:
                self.dispatch(site, task)
        return self.plan()

    def plan(self) -> Solution:
        """Return what is placed so far, machine by machine."""
        names, stated = self.case.names, self.case.stated
        return Solution(
            tuple(
                Placement(names[run.task], machine, stated(run.start), stated(run.end))
                for machine, runs in enumerate(self.held)
                for run in sorted(runs, key=lambda run: run.start)
            )
        )

    def serve(self, site: int) -> list[int]:
        """Place the tasks of a site at home; return those that are left (Fig. 2)."""
        left = self.schedule(site, self.queues[site])
        if left and self.shuffles:
            self.shuffle(site)
            left = self.schedule(site, left)
        return left

    def schedule(self, site: int, tasks: Iterable[int]) -> list[int]:
        """Place tasks in slacks of a site, as late as they can be; return those left (Fig. 3)."""
        return [task for task in tasks if not self._scheduled(site, task)]

    def _scheduled(self, site: int, task: int) -> bool:
        if any(self._fits(machine, task) for machine in self._order(site, task)):
            return True
        at_home = self.case.instance.all_tasks[task].site == site
        if at_home and Slip.ENDLESS_LOOP in self.slips:
            raise EndlessLoopError(
                f"endless loop: task {self.case.names[task]} fits no slack of its site, and is "
                "tried again until it does"
            )
        return False

    def _order(self, site: int, task: int) -> list[int]:
        """Return the machines of a site in the random order in which a task asks them."""
        machines = list(self.grid.machines[site])
        random.Random(f"gds {self.seed} {site} {task}").shuffle(machines)
        return machines

    def _fits(self, machine: int, task: int) -> bool:
        """Place a task on a machine, as late as possible in its latest slack, if it fits."""
        length = self.case.duration(task, machine)
        if length is None:
            return False
        slacks = self._slacks[machine]
        start, end = self.case.earliest(task, machine), self._due(task)
        if Slip.EVERY_SLACK in self.slips:
            windows = slacks.fitting(start, end, length)
        else:
            windows = [(start, end)]
        for low, high in windows:
            spot = slacks.latest(max(low, start), min(high, end), length)
            if spot is None:
                return False
            self._put(machine, Run(task, *spot))
            self._changed.add(machine)
        return bool(windows)

    def _put(self, machine: int, run: Run) -> None:
        self._slacks[machine].take(run.start, run.end)
        self.held[machine].append(run)

    def _due(self, task: int) -> Any:
        end = self.case.deadlines[task]
        return math.inf if end is None else end

    def shuffle(self, site: int) -> bool:
        """Move tasks to the front on the machines that have changed; return whether any has."""
        changed = [machine for machine in self.grid.machines[site] if machine in self._changed]
        self._changed -= set(changed)
        for machine in changed:
            self._shuffle(machine)
        return bool(changed)

    def _shuffle(self, machine: int) -> None:
        """Move each task of a machine to its earliest slack, in the order of the rank (Fig. 4).

        Each leaves its place only for an earlier one, so none is lost and none starts later.
        """
        slacks = self._slacks[machine]
        runs = sorted(self.held[machine], key=lambda run: self._rank[run.task])
        self.held[machine] = []
        evict_all = Slip.EVICT_ALL in self.slips
        if evict_all:
            for run in runs:
                slacks.give(run.start, run.end)
        for run in runs:
            if not evict_all:
                slacks.give(run.start, run.end)
            window = self._from(run.task, machine), self._due(run.task)
            spot = slacks.earliest(*window, self.case.duration(run.task, machine))
            if not evict_all and (spot is None or spot[0] > run.start):
                self._put(machine, run)  # floats: its own place may be too short by rounding
            elif spot is not None:
                self._put(machine, Run(run.task, *spot))

    def _from(self, task: int, machine: int) -> Any:
        """Return from when on Shuffle lets a task start."""
        if Slip.TRANSMISSION in self.slips:
            return self.case.instant(self.case.instance.all_tasks[task].release)
        return self.case.earliest(task, machine)

    def dispatch(self, site: int, task: int) -> bool:
        """Send a ticket from site to site, nearest first, until one takes the task (Fig. 6).

        Each site sends it to its neighbours in the order that suits the kind of the task.
        """
        kind = self.grid.kind(task)
        self._count(searches=1)
        if Slip.DUPLICATE in self.slips:
            taken = [self._asked(there, task, 1) for there in self._neighbours(site, kind)]
            return any(taken)
        hops, asking = {site: 0}, deque([site])
        while asking:
            here = asking.popleft()
            for there in self._neighbours(here, kind):
                if there not in hops:
                    hops[there] = hops[here] + 1
                    if self._asked(there, task, hops[there]):
                        return True
                    asking.append(there)
        return False

    def _asked(self, site: int, task: int, hops: int) -> bool:
        """Send the ticket of a task to a site, and the task over so many links if it takes it."""
        taken = self._taken(site, task)
        self._count(tickets=1, answers=1, tasks=int(taken), hops=hops * taken)
        return taken

    def _count(self, **sent: int) -> None:
        changes = {name: getattr(self.messages, name) + count for name, count in sent.items()}
        self.messages = replace(self.messages, **changes)

    def _taken(self, site: int, task: int) -> bool:
        """Place a task of another site if it fits, now or after shuffling."""
        if not self.schedule(site, [task]):
            return True
        return self.shuffles and self.shuffle(site) and not self.schedule(site, [task])

    def _neighbours(self, site: int, kind: Kind) -> list[int]:
        if (site, kind) not in self._beside:
            self._beside[site, kind] = self.grid.neighbours(site, kind)
        return self._beside[site, kind]


def count_messages(instance: Instance, *, seed: int = 0, shuffles: bool = True) -> Messages:
    """Return what sites send to each other while GDS makes its plan.

    Parameters
    ----------
    instance : Instance
    seed : int, default 0
        As for the methods ``gds`` and ``gds-without-shuffle``, whose plans these messages make.
    shuffles : bool, default True
        As ``gds`` does, and ``gds-without-shuffle`` does not.

    Returns
    -------
    Messages

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
    Messages(searches=1, tickets=2, answers=2, tasks=1, hops=2)
    """
    engine = Gds(Case(instance), seed=seed, shuffles=shuffles)
    engine.run()
    return engine.messages
