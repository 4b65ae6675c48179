"""Bounds of the levels of objectives if every task had a machine of its own."""

from __future__ import annotations

from fractions import Fraction

from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.common.lexicographic import Bound

ALL_ON_TIME = "trivial bound (all tasks that can be on time)"
LONGEST_TASK = "the longest task"
EACH_TASK_ALONE = "each task alone on a machine"


def trivial_bound(scaled: ScaledInstance, level: str) -> Bound[Fraction]:
    """Return the bound of a level if every task had a machine of its own, and its proof."""
    if scaled.objective_kind == "count":
        count = scaled.undated_count(level) + sum(scaled.weights(level))
        return Bound(Fraction(count), ALL_ON_TIME)
    if scaled.objective_kind == "makespan":
        return Bound(-scaled.to_instance_time(scaled.longest_job), LONGEST_TASK)
    ends = [
        min(arrivals[k] + scaled.processing_time(job, k) for k in scaled.eligible_machines[job])
        for job, arrivals in enumerate(scaled.arrivals)
    ]
    return Bound(negated_flowtime(scaled, Fraction(sum(ends))), EACH_TASK_ALONE)


def negated_flowtime(scaled: ScaledInstance, total_completion: Fraction) -> Fraction:
    """Return a flowtime, negated, from a sum of completions in scaled units."""
    return scaled.total_release - scaled.to_instance_time(total_completion)
