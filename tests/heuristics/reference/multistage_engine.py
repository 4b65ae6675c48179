"""Engines of `multistage` that plan everything again: the reference for `MultiStage`."""

from __future__ import annotations

from dlopt.arithmetic import exact, is_less
from dlopt.heuristics.admission.replanning_engine import Planning
from dlopt.heuristics.multistage.busy_intervals import BusyIntervals
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.heuristics.multistage.priced_queue import PricedMultiStageQueue
from dlopt.heuristics.multistage.queue import MultiStageQueue
from dlopt.problems.multistage.data import Reservation
from tests.heuristics.reference.multistage_planner import (
    ReferenceBusyIntervals,
    ReferenceTaskPlanner,
)


class PlansAllAgain:
    """A queue that plans all waiting tasks for every decision, with a planner of its own."""

    def __init__(self, costs, ready, channel, now, **options):
        super().__init__(costs, ready, channel, now, **options)
        self._planner = ReferenceTaskPlanner(*costs)

    def _start_from(self, fixed):
        if isinstance(fixed, BusyIntervals):
            pairs = [list(zip(flat[::2], flat[1::2], strict=True)) for flat in fixed.nodes]
            channel = list(zip(fixed.channel[::2], fixed.channel[1::2], strict=True))
            fixed = ReferenceBusyIntervals(channel, pairs)
        self.committed_state = fixed
        self.states = [fixed.copy()]

    def excess(self, refused, new):
        """Return 0: any smaller load may be accepted."""
        return 0 * new.load

    def load_plans(self, plans):
        """Load tasks with their plans, in their order, into an empty queue."""
        for planned in plans:
            state = self.states[-1].copy()
            state.allocate(planned.plan)
            self.waiting.append(planned)
            self.states.append(state)

    def _replaced_from(self, new):
        begun = self._started_count(new.arrival)
        return begun, begun

    def _concerned_from(self, begun, request):
        return begun


class ReferenceQueue(PlansAllAgain, MultiStageQueue):
    """The reference for `MultiStageQueue`."""


class ReferencePricedQueue(PlansAllAgain, PricedMultiStageQueue):
    """The reference for `PricedMultiStageQueue`."""


class ReferenceMultiStage(MultiStage):
    """An engine whose planners are references; it has no snapshots."""

    def _new_planner(self, ready, channel):
        return self._around(BusyIntervals.of(ready, channel, self.now))

    def _plan_nothing(self, facts):
        fixed = facts.fixed_intervals(self.now)
        return Planning(self._around(fixed.state), fixed.nodes)

    def _around(self, fixed):
        if self._prices is None:
            return ReferenceQueue.around(self._costs, fixed)
        queue = ReferencePricedQueue.around(self._costs, fixed)
        queue.prices = self._prices
        return queue


def multistage(reference):
    """Return the class of engines, or that of references."""
    return ReferenceMultiStage if reference else MultiStage


def reference_decisions(algorithm, instance):
    """Return the reference that has decided on all that arrives, in its order."""
    engine = ReferenceMultiStage.of(instance, algorithm)
    arriving = [*instance.reservations, *instance.tasks]
    for one in sorted(arriving, key=lambda one: exact(one.arrival)):
        if not is_less(one.arrival, instance.now):
            decide = engine.reserve if isinstance(one, Reservation) else engine.submit
            decide(one)
    return engine
