"""Local search over the schedule of GDS as a registered method.

Examples
--------
GDS places "b" first, as late as possible, and then has no room for "a".

>>> from dlopt.heuristics.bag.gds_methods import gds
>>> from dlopt.problems.bag import Machine, Task
>>> dues = (5, 6, 6)
>>> tasks = tuple(Task(name, 2, absolute_deadline=due) for name, due in zip("abc", dues))
>>> instance = Instance(tasks, (Machine("m"),))
>>> gds(instance).value, gds_local_search(instance).value
((0, 2), (0, 3))
"""

from __future__ import annotations

import time
from dataclasses import replace
from math import inf

from dlopt.heuristics.bag.gds import GdsScheduler
from dlopt.heuristics.bag.gds_local_search import GdsLocalSearch
from dlopt.heuristics.bag.instance_arrays import InstanceArrays
from dlopt.heuristics.bag.mapping_method import to_result
from dlopt.problems.bag.data import Instance, Solution
from dlopt.problems.bag.goals import default_objective
from dlopt.result import NO_LIMITS, Limits, Result, StoppedBy

_TIME_SHARE = 0.9
"""Share of the time limit after which no site begins a new schedule."""


def gds_local_search(
    instance: Instance, *, objective: str | None = None, limits: Limits = NO_LIMITS, seed: int = 0
) -> Result[Solution]:
    """Improve the schedule of GDS site by site, with the information that GDS uses.

    Maximise the number of critical tasks on time, then that of all tasks (or another objective
    that counts tasks) by rescheduling one site at a time. The site takes its tasks, and those
    unscheduled ones whose tickets have reached it, by earliest deadline. Each is put into idle time
    in front of other tasks, or on the slowest machine on which it is on time; if there is none, it
    may replace a task of less weight, or a longer one of the same weight, which is then ejected.
    The site adopts the schedule if the objective value increases; ejected tasks return to the
    queues of their own sites. Tickets come from the own queue first, then from neighbours, then
    from theirs. If no site improves, one with unscheduled tasks lets a neighbour take scheduled
    ones, and both reschedule. This is iterated until no site or pair of neighbours improves.

    Parameters
    ----------
    limits : Limits
        `work` limits the number of new schedules that sites try; `time_s` the time, GDS included.
    seed : int, default 0
        Of GDS. The search itself makes no random choice.
    instance, objective
        See `dlopt.registry`.

    Returns
    -------
    Result
        ``FEASIBLE``. The objective value is at least that of ``gds`` of the same seed. A site that
        has not improved keeps its schedule of GDS.

    Notes
    -----
    Complexity: O(n m) for a new schedule of a site with `n` tasks and `m` machines, if few
    tasks are ejected. Each improvement takes at most ``s d + e`` new schedules, for `s` sites, `e`
    links and at most `d` links between two sites. There are at most `n` improvements under
    ``accepted``. Source: ours, over Liu, Baskiyar and Li 2007; the ejection of the longest task is
    that of Moore's algorithm (Management Science 15, 1968).
    """
    stop = inf if limits.time_s is None else time.monotonic() + _TIME_SHARE * limits.time_s
    scheduler = GdsScheduler(InstanceArrays(instance), seed=seed)
    scheduler.run()
    goal = objective or default_objective(instance)
    stopped_by = _improve(GdsLocalSearch(scheduler, goal), limits.work, stop)
    return replace(to_result(instance, scheduler.to_solution(), goal), stopped_by=stopped_by)


def reason_against_local_search(instance: Instance) -> str | None:
    """Return why there is nothing to improve, or None: without deadlines all tasks are run."""
    if instance.deadlines:
        return None
    return "it maximises the number of tasks on time, and no task has a deadline"


def _improve(search: GdsLocalSearch, work: int | None, stop: float) -> StoppedBy | None:
    """Improve the schedule until no site can, or a limit is reached; return which one."""
    for _ in search.steps():
        if work is not None and search.trials >= work:
            return "work"
        if time.monotonic() > stop:
            return "time"
    return None
