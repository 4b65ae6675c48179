"""List schedulers of the literature that have no options, as registered methods.

Tasks are appended to their machines: none is inserted into an idle interval.
"""

from __future__ import annotations

from dataclasses import dataclass

from dlopt.heuristics.dag import bil as bil_rule
from dlopt.heuristics.dag import dls as dls_rules
from dlopt.heuristics.dag import fcp_flb, mapping_rules
from dlopt.heuristics.dag import hbmct as hbmct_rule
from dlopt.heuristics.dag.methods import Scheduler, run_scheduler
from dlopt.problems.dag.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result


@dataclass(frozen=True, slots=True)
class RuleMethod:
    """A list scheduler that appends tasks, as a registered method.

    Parameters
    ----------
    scheduler : callable
        Fills a partial schedule.
    """

    scheduler: Scheduler

    def __call__(
        self,
        instance: Instance,
        *,
        objective: str | None = None,
        limits: Limits = NO_LIMITS,
        hint: object = None,
        seed: int = 0,
    ) -> Result[Solution]:
        """Return the schedule.

        Parameters
        ----------
        instance, objective, limits, hint, seed
            See `dlopt.registry`.

        Returns
        -------
        Result
            ``FEASIBLE``; no performance guarantee.
        """
        return run_scheduler(instance, objective, False, self.scheduler)


bil = RuleMethod(bil_rule.bil)
"""Place the ready task of the largest best imaginary makespans where its revised one is least.

Complexity: O(tasks x ready tasks x machines log machines). Source: Oh and Ha 1996.
"""

dls = RuleMethod(dls_rules.dls)
"""Place the pair of ready task and machine of the largest dynamic level.

Complexity: O(tasks x machines), and as often again as a level is outdated. Source: Sih and Lee
1993.
"""

gdl = RuleMethod(dls_rules.gdl)
"""Place the ready task of the largest generalised dynamic level on its preferred machine.

Complexity: O(tasks x ready tasks x machines). Source: Sih and Lee 1993.
"""

fcp = RuleMethod(fcp_flb.fcp)
"""Place ready tasks by b-level on the machine of their last data, or on that idle first.

Complexity: O(edges + tasks x machines). Source: Radulescu and van Gemund 1999 and 2000.
"""

flb = RuleMethod(fcp_flb.flb)
"""Place the ready task that starts first, on the machine of its last data or on that idle first.

Complexity: O(edges + tasks x (machines + log tasks)). Source: Radulescu and van Gemund 1999.
"""

hbmct = RuleMethod(hbmct_rule.hbmct)
"""Balance groups of independent tasks over the machines, one group after another.

Complexity: O(edges + tasks x machines), and O(machines x tasks of the group) for a task that is
tried. Source: Sakellariou and Zhao 2004.
"""

mct = RuleMethod(mapping_rules.mct)
"""Place the tasks in topological order, each where it ends first.

Complexity: O(edges + tasks x machines). Source: minimum completion time of Maheswaran et al. 1999.
"""

min_min = RuleMethod(mapping_rules.min_min)
"""Place the ready task that ends first, where it does.

Complexity: O(tasks x machines), and as often again as an end is outdated. Source: Min-min of Braun
et al. 2001, on ready tasks as in Mandal et al. 2005.
"""

max_min = RuleMethod(mapping_rules.max_min)
"""Place the ready task whose earliest end is last, where it ends first.

Complexity: O(tasks x ready tasks), and O(machines) for an end that is outdated. Source: Max-min of
Braun et al. 2001, on ready tasks as in Mandal et al. 2005.
"""

sufferage = RuleMethod(mapping_rules.sufferage)
"""Place the ready task that loses most on its second-best machine, where it ends first.

Complexity: as `max_min`. Source: Sufferage of Maheswaran et al. 1999, on ready tasks as in Mandal
et al. 2005.
"""
