"""Engines of `admission` that plan everything again for each task: the reference for `Admission`.

Their decisions are equal in exact numbers, and in floats except within rounding of a deadline.
"""

from __future__ import annotations

from bisect import bisect_left

from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.bid_prices import BidPrices
from dlopt.heuristics.admission.dispatching_rules import plan_in_order
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm, HybridAlgorithm
from dlopt.heuristics.admission.fast.dispatcher import QueueEntry, SortedTaskQueue, queue_key
from dlopt.heuristics.admission.fast.hybrid import HybridPlanner
from dlopt.heuristics.admission.fast.planner import FastPlanner
from dlopt.heuristics.admission.fast.schedulability_tests import rejection_if_overloaded
from dlopt.heuristics.admission.fast.supply_bound import SupplyBound
from dlopt.heuristics.admission.node_choosing_queue import FEWEST_NODES, NodeChoosingQueue
from dlopt.heuristics.admission.planner_factory import make_planner
from dlopt.heuristics.admission.priced_algorithm import PricedAlgorithm
from dlopt.heuristics.admission.priced_queue import PricedQueue
from dlopt.heuristics.admission.queue import PlannedQueue
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import Rejection
from tests.heuristics.reference.admission_planner import (
    ReferenceEdfIit2Planner,
    ReferenceOprEprPlanner,
    ReferenceReadyTimes,
    reference_mwf_order,
    reference_plan_mcdf,
)

PLANNERS = {
    "opr": ReferenceOprEprPlanner,
    "epr": ReferenceOprEprPlanner,
    "iit": ReferenceEdfIit2Planner,
}
"""What plans one task, by how it is partitioned; EDF-IIT-1 has no second implementation."""


class PlansAllAgain:
    """A planned queue that plans all waiting tasks for every decision, with planners of its own."""

    piecewise_affine = False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        *_, costs, ready, channel = arguments
        self.reference_planner = self._reference(self.algorithm, costs, len(ready))
        self.committed_state = ReferenceReadyTimes(ready, channel)
        self._replan_all = True

    def _reference(self, algorithm, costs, nodes):
        return PLANNERS[algorithm.partition](algorithm, costs, nodes)

    def _ordered(self, tasks, now):
        tasks = sorted(tasks)
        if self.algorithm.order == "mwf":
            return reference_mwf_order(self.reference_planner, tasks, now)
        return tasks

    def _nodes_before(self, at):
        state = self.committed_state.copy()
        for planned in self.waiting[:at]:
            state.allocate(planned.placement)
        return ReadyTimes(state.times, state.channel)

    def _plan_tasks(self, nodes, tasks, now, count, checkpoints):
        times = nodes.ready() if isinstance(nodes, ReadyTimes) else nodes.times
        state, planner = ReferenceReadyTimes(times, nodes.channel), self.reference_planner
        plan = reference_plan_mcdf if self.algorithm.order == "mcdf" else plan_in_order
        return plan(planner, state, tasks, now, self.algorithm.channel)


class ReferenceQueue(PlansAllAgain, PlannedQueue):
    """The reference for `PlannedQueue`."""


class ReferencePricedQueue(PlansAllAgain, PricedQueue):
    """The reference for `PricedQueue`."""


class ReferenceNodeChoosingQueue(PlansAllAgain, NodeChoosingQueue):
    """The reference for `NodeChoosingQueue`."""

    def _plan_tasks(self, nodes, tasks, now, count, checkpoints):
        state = ReferenceReadyTimes(nodes.ready(), nodes.channel)
        fewest = self._reference(FEWEST_NODES, self._costs, len(state.times))
        plan = []
        for task in tasks:
            planner = self.reference_planner if self._has_all_nodes(task) else fewest
            found = plan_in_order(planner, state, [task], now, channel=True)
            if isinstance(found, Rejection):
                return found
            plan += found
        return plan


class LinearTest(SortedTaskQueue):
    """R1 or R2, checking every task after the new one: O(n log g) a decision.

    It is the reference for `dlopt.heuristics.admission.fast.schedulability_tests.IndexedTest`.
    With `clipped`, as in R2, nodes that are not ready by a deadline count as nothing.
    """

    def __init__(self, supply_bound, clipped):
        super().__init__()
        self.supply_bound, self.clipped = supply_bound, clipped

    def try_admit(self, new, cluster):
        """Admit a task that arrives now, or return who would miss."""
        refused = self.would_reject(new, cluster)
        if refused is None:
            self.insert(QueueEntry(new, new.load))
        return refused

    def would_reject(self, new, cluster):
        """Return who would miss if a task that arrives now were admitted; changes nothing."""
        at, work = self._place(new, cluster)
        refused = rejection_if_overloaded(self.supply_bound, self.clipped, new, work)
        for entry in self.entries[at:]:
            if refused is not None:
                return refused
            work += entry.remaining
            refused = rejection_if_overloaded(self.supply_bound, self.clipped, entry.task, work)
        return refused

    def deadlines(self, new, cluster, low, high):
        """Yield the instant by which the work up to the new task is certain to be done."""
        _, work = self._place(new, cluster)
        due = max(low, self.supply_bound.instant(work, self.clipped))
        if high is None or due < high:
            yield due

    def _place(self, new, cluster):
        self.supply_bound.evaluate(cluster)
        at = bisect_left(self.entries, new.key, key=queue_key)
        return at, sum((entry.remaining for entry in self.entries[:at]), 0 * new.load) + new.load


class ReferenceHybridPlanner(HybridPlanner):
    """HYBRID with a reference on each side."""

    piecewise_affine = False

    def _make_planner(self, fast, ready, channel, now, tasks=()):
        if fast:
            return self._make_fast_planner(ready, channel, now, tasks)
        return ReferenceQueue(Algorithm.parse("edf-iit-2"), self._costs, ready, channel)

    def _make_fast_planner(self, ready, channel, now, tasks):
        return reference_planner(FastAlgorithm(), self._costs, ready, channel, now)


def reference_planner(policy, costs, ready, channel, now, *, prices=None, restored=False):
    """Return the reference for the planner of an algorithm; the planner itself if there is none."""
    if isinstance(policy, PricedAlgorithm):
        base, prices = policy.chosen(costs, len(ready)), prices or BidPrices()
        if base is None:
            return ReferenceNodeChoosingQueue(prices, costs, ready, channel)
        return ReferencePricedQueue(prices, base, costs, ready, channel)
    if isinstance(policy, Algorithm):
        return ReferenceQueue(policy, costs, ready, channel)
    if isinstance(policy, FastAlgorithm) and policy.test in ("r1", "r2"):
        test = LinearTest(SupplyBound(costs[0], costs[1], len(ready)), policy.test == "r2")
        return FastPlanner(policy, costs, ready, channel, now, admission_test=test)
    if isinstance(policy, HybridAlgorithm) and not policy.literal:
        return ReferenceHybridPlanner(policy, costs, ready, channel, now)
    return make_planner(policy, costs, ready, channel, now, restored=restored)


class ReferenceAdmission(Admission):
    """An engine whose planners are references."""

    def _new_planner(self, ready, channel, *, restored=False):
        options = {"prices": self._prices, "restored": restored}
        return reference_planner(self.algorithm, self._costs, ready, channel, self.now, **options)


def admission(reference):
    """Return the class of engines, or that of references."""
    return ReferenceAdmission if reference else Admission
