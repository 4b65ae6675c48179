"""List schedulers of the literature that have no options, as registered methods.

Tasks are appended to their machines: none is inserted into an idle interval. Each rule, its
complexity and its source are documented at the function that fills the partial schedule.
"""

from __future__ import annotations

from dataclasses import dataclass

from dlopt.heuristics.dag import bil as bil_rule
from dlopt.heuristics.dag import dls as dls_rules
from dlopt.heuristics.dag import fcp_flb, mapping_rules
from dlopt.heuristics.dag import hbmct as hbmct_rule
from dlopt.heuristics.dag.methods import Scheduler, run_scheduler
from dlopt.problems.dag.data import Instance, Solution
from dlopt.result import Result


@dataclass(frozen=True, slots=True)
class RuleMethod:
    """A list scheduler that appends tasks, as a registered method.

    Parameters
    ----------
    scheduler : callable
        Fills a partial schedule.
    """

    scheduler: Scheduler

    def __call__(self, instance: Instance, *, objective: str | None = None) -> Result[Solution]:
        """Return the schedule.

        Parameters
        ----------
        instance, objective
            See `dlopt.registry`.

        Returns
        -------
        Result
            ``FEASIBLE``; no performance guarantee.
        """
        return run_scheduler(instance, objective, False, self.scheduler)


bil = RuleMethod(bil_rule.bil)
dls = RuleMethod(dls_rules.dls)
gdl = RuleMethod(dls_rules.gdl)
fcp = RuleMethod(fcp_flb.fcp)
flb = RuleMethod(fcp_flb.flb)
hbmct = RuleMethod(hbmct_rule.hbmct)
mct = RuleMethod(mapping_rules.mct)
min_min = RuleMethod(mapping_rules.min_min)
max_min = RuleMethod(mapping_rules.max_min)
sufferage = RuleMethod(mapping_rules.sufferage)
