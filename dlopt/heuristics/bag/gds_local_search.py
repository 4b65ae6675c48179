"""Local search over the schedule of GDS, site by site.

A site reschedules its machines for the tasks that it has and those that tickets offer to it, and
adopts the new schedule if that improves the objective. Tickets come from its own queue, then its
neighbours, then from farther away, for they are forwarded as those of GDS are. A site that still
has unscheduled tasks then offers its scheduled ones to a neighbour, to make room. A site knows its
own machines and the tickets; of the schedules of other sites it knows nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence

from dlopt.heuristics.bag.gds import GdsScheduler
from dlopt.heuristics.bag.machine_sequence import due_date
from dlopt.heuristics.bag.site_schedule import SiteSchedule
from dlopt.problems.bag.data import PRIORITIES, Instance


class GdsLocalSearch:
    """The state of all sites while they improve the schedule of GDS.

    Parameters
    ----------
    scheduler : GdsScheduler
        After its run; its schedule is improved in place.
    objective : str
        ``critical-then-all``, ``accepted`` or ``by-priority``.

    Attributes
    ----------
    unscheduled : list of set of int
        Of each site: its own tasks that run nowhere.
    trials : int
        New schedules that were made, adopted or not; one of two neighbours together is one.
    tickets : int
        Tasks that were offered to another site than their own, or than the one that runs them.

    Examples
    --------
    >>> from dlopt.heuristics.bag.instance_arrays import InstanceArrays
    >>> from dlopt.problems.bag import Machine, Task
    >>> dues = (5, 6, 6)
    >>> tasks = tuple(Task(name, 2, absolute_deadline=due) for name, due in zip("abc", dues))
    >>> scheduler = GdsScheduler(InstanceArrays(Instance(tasks, (Machine("m"),))))
    >>> len(scheduler.run().placements)
    2
    >>> search = GdsLocalSearch(scheduler, "accepted")
    >>> for _ in search.steps():
    ...     print(search.unscheduled)
    [{2}]
    >>> len(scheduler.to_solution().placements), search.trials, search.unscheduled
    (3, 1, [set()])
    """

    def __init__(self, scheduler: GdsScheduler, objective: str) -> None:
        self.scheduler, self._arrays = scheduler, scheduler.arrays
        self._tasks = scheduler.arrays.instance.all_tasks
        self._weights = task_weights(scheduler.arrays.instance, objective)
        self._neighbours = tuple(map(sorted, scheduler.network.bandwidths))
        self._hops = [_hops(self._neighbours, site) for site in scheduler.queues]
        self._refused: set[tuple[object, ...]] = set()
        self.trials = self.tickets = 0
        self.unscheduled: list[set[int]] = [set() for _ in scheduler.queues]
        self._versions = [0] * len(scheduler.queues)
        running = {run.task for runs in scheduler.runs for run in runs}
        self._queue(task for task in range(len(self._tasks)) if task not in running)

    def steps(self) -> Generator[None, None, None]:
        """Improve the schedule until no site or pair of neighbours can; pause before each trial.

        Each improvement increases the sum of the weights of the tasks that are run.
        """
        improved = True
        while improved:
            improved = False
            for reach in range(1 + max(max(hops.values()) for hops in self._hops)):
                while (yield from self._reschedule_all(reach)):
                    improved = True
            for site, neighbours in enumerate(self._neighbours):
                for neighbour in neighbours:
                    improved |= yield from self._relieve(site, neighbour)

    def _reschedule_all(self, reach: int) -> Generator[None, None, bool]:
        """Let each site make a new schedule of its tasks and those offered to it.

        Tickets are forwarded over at most `reach` links. A site adopts the new schedule only if the
        weight of its tasks increases.
        """
        improved = False
        for site, version in enumerate(self._versions):
            offered = self._offers(site, reach)
            if not offered or (site, version, offered) in self._refused:
                continue
            yield
            self._count(task for task in offered if self._tasks[task].site != site)
            hosted = self._hosted(site)
            schedule = self._schedule(site, (*hosted, *offered))
            if schedule.weight > self._weight(hosted):
                self._adopt({site: schedule}, hosted)
                improved = True
            else:
                self._refused.add((site, version, offered))
        return improved

    def _relieve(self, site: int, neighbour: int) -> Generator[None, None, bool]:
        """Let a neighbour take tasks of a site, so that the site has room for its unscheduled ones.

        The neighbour takes those that it can put between its own. Both adopt their new schedules
        only if the weight of all their tasks increases.
        """
        queue = tuple(sorted(self.unscheduled[site]))
        trial = site, neighbour, self._versions[site], self._versions[neighbour], queue
        if not queue or trial in self._refused:
            return False
        yield
        own, others = self._hosted(site), self._hosted(neighbour)
        offered = [task for task in own if self._can_be_on_time(task, neighbour)]
        self._count(offered)
        helper = self._schedule(neighbour, others)
        taken = {task for task in offered if helper.insert(task)}
        if taken:
            relieved = self._schedule(site, [task for task in (*own, *queue) if task not in taken])
            if helper.weight + relieved.weight > self._weight((*own, *others)):
                self._adopt({site: relieved, neighbour: helper}, (*own, *others))
                return True
        self._refused.add(trial)
        return False

    def _offers(self, site: int, reach: int) -> tuple[int, ...]:
        """Return the unscheduled tasks whose tickets reach a site, if they can be on time there."""
        near = (home for home, hops in self._hops[site].items() if hops <= reach)
        tasks = (task for home in near for task in self.unscheduled[home])
        return tuple(sorted(task for task in tasks if self._can_be_on_time(task, site)))

    def _can_be_on_time(self, task: int, site: int) -> bool:
        """Return whether a task could be on time at a site if its machines were idle."""
        durations, due = self._arrays.durations[task], due_date(self._arrays, task)
        arrival = self._arrays.arrivals[task][site]
        times = (durations[machine] for machine in self.scheduler.network.machines[site])
        return any(time is not None and arrival + time <= due for time in times)

    def _schedule(self, site: int, tasks: Iterable[int]) -> SiteSchedule:
        machines = self.scheduler.network.machines[site]
        schedule = SiteSchedule(self._arrays, machines, self._weights)
        schedule.assign(tasks)
        return schedule

    def _hosted(self, site: int) -> list[int]:
        """Return the tasks that a site runs."""
        machines, runs = self.scheduler.network.machines[site], self.scheduler.runs
        return [run.task for machine in machines for run in runs[machine]]

    def _weight(self, tasks: Iterable[int]) -> int:
        return sum(self._weights[task] for task in tasks)

    def _count(self, offered: Iterable[int]) -> None:
        self.trials += 1
        self.tickets += sum(1 for _ in offered)

    def _adopt(self, schedules: Mapping[int, SiteSchedule], before: Iterable[int]) -> None:
        """Replace the schedules of sites; tasks that no longer run return to their own sites."""
        running: set[int] = set()
        for site, schedule in schedules.items():
            self._versions[site] += 1
            running.update(schedule.tasks)
            for machine, sequence in schedule.sequences.items():
                self.scheduler.runs[machine] = sequence.runs()
        for queue in self.unscheduled:
            queue -= running
        self._queue(task for task in before if task not in running)

    def _queue(self, tasks: Iterable[int]) -> None:
        """Put tasks into the queues of their own sites."""
        for task in tasks:
            self.unscheduled[self._tasks[task].site].add(task)


def task_weights(instance: Instance, objective: str) -> tuple[int, ...]:
    """Return weights of tasks whose sums are in the order of an objective.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine, Task
    >>> tasks = tuple(Task(name, 1, priority=name) for name in ("critical", "firm", "soft"))
    >>> instance = Instance(tasks, (Machine("m"),))
    >>> for objective in ("critical-then-all", "by-priority", "accepted"):
    ...     print(task_weights(instance, objective))
    (5, 1, 1)
    (16, 4, 1)
    (1, 1, 1)
    """
    base = len(instance.all_tasks) + 1  # no level has more
    weights: Mapping[str, Mapping[str, int]] = {
        "critical-then-all": {"critical": base + 1},
        "by-priority": {"critical": base**2, "firm": base},
        "accepted": dict.fromkeys(PRIORITIES, 1),
    }
    return tuple(weights[objective].get(task.priority, 1) for task in instance.all_tasks)


def _hops(neighbours: Sequence[Sequence[int]], site: int) -> dict[int, int]:
    """Return over how many links each site is from one."""
    hops, waiting = {site: 0}, deque([site])
    while waiting:
        here = waiting.popleft()
        for there in neighbours[here]:
            if there not in hops:
                hops[there] = hops[here] + 1
                waiting.append(there)
    return hops
