"""HYBRID as printed: a switch assumes that each side can keep the promises of the other.

Algorithm 10 adds up how long the nodes are busy, converts that to work and computes how long all
nodes would take for it; Algorithm 11 lets the waiting tasks run one after the other from then on,
on all nodes, and AC-FAST goes on with the completions and slacks that result. Neither checks
whether a slack is negative, and the channel is assumed to be free.

What is open is read in favour of the algorithm: Algorithm 11 leaves the least slack undefined, here
it is computed from the slacks; no running task has a completion, here the work of Algorithm 10 is
the predecessor of a task that comes first; a task that is rejected changes nothing, so that the
switch is made with the first that is accepted.

Source: Mamat 2011, section 6.3, Algorithms 9-11.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.deadlines import AdmissionDecider
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm
from dlopt.heuristics.admission.fast.dispatcher import Dispatcher
from dlopt.heuristics.admission.fast.hybrid import HybridPlanner
from dlopt.heuristics.admission.fast.literal import EstimatedTask, LiteralTest
from dlopt.heuristics.admission.fast.planner import FastPlanner
from dlopt.heuristics.admission.fast.supply_bound import SupplyBound
from dlopt.heuristics.admission.records import ClusterState, QueuedTask, Rejection, UnfinishedTask

_TEST_AFTER_SWITCH = FastAlgorithm("chunk")
"""The reading after a switch: the predecessor of a first task is the one sent from last."""


class SwitchedTest(LiteralTest):
    """AC-FAST after a switch; it calls no `adjust` (Algorithm 9, line 7, and the text).

    Parameters
    ----------
    state : ClusterState
        Of the cluster at the switch, with the tasks that wait.
    now : Number
    supply_bound : SupplyBound
        For execution times.

    Examples
    --------
    >>> from fractions import Fraction
    >>> zero, one = Fraction(0), Fraction(1)
    >>> supply_bound = SupplyBound(one, one, nodes=2)
    >>> state = ClusterState([zero, 3 * one], zero, [QueuedTask((9, 0), "a", zero, one, 9 * one)])
    >>> test = SwitchedTest(state, zero, supply_bound)
    >>> str(test.running.completion), str(test.entries[0].completion)
    ('4', '16/3')
    """

    def __init__(self, state: ClusterState, now: Number, supply_bound: SupplyBound) -> None:
        super().__init__("chunk", "idle", False, supply_bound)
        busy = sum((max(instant - now, 0) for instant in state.ready), now - now)
        nothing = QueuedTask((now, -1), "", now, now - now, now)
        delay = supply_bound.execution_time(busy / supply_bound.chi)
        self.running = EstimatedTask(nothing, now - now, delay, now)
        self.sent_history = self.sent_history._replace(chunk=self.running)
        start = self.running.completion
        for task in sorted(state.tasks):
            time = supply_bound.execution_time(task.load)
            self.entries.append(EstimatedTask(task, task.load, time, start))
            start += time
        self.renew_least_slacks()

    def _idle_time(self, now: Number, cluster: Dispatcher) -> Number:
        return now - now


class LiteralHybridPlanner(HybridPlanner):
    """A planner with a plan, or one without, as Algorithm 9 switches between them.

    Parameters
    ----------
    algorithm, costs, ready, channel, now, compiled
        See `HybridPlanner`.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._unfinished: list[UnfinishedTask] = []
        super().__init__(*arguments, **options)

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return who would miss; then the state is unchanged."""
        before = self.active_planner
        refused = super().try_admit(new)
        if self.active_planner is not before and isinstance(before, FastPlanner):
            self._unfinished += before.cluster.unfinished
        return refused

    def decider(self, now: Number) -> AdmissionDecider:
        """Return the side that decides at an instant: a new one where they switch."""
        fast = self.active_planner.count(now) >= self.algorithm.threshold
        if fast == self.fast:
            return self.active_planner
        state = self.active_planner.state(now)
        other = self._make_planner(fast, state.ready, state.channel, now, state.tasks)
        refused = None if fast else other.load_promised(state.tasks, now)
        return other if refused is None else RejectAll(refused)

    def unfinished(self) -> list[UnfinishedTask]:
        """Return the loads of accepted tasks that are left at their deadlines, and dropped."""
        return [*self._unfinished, *self.active_planner.unfinished()]

    def _make_fast_planner(
        self, ready: Sequence[Number], channel: Number, now: Number, tasks: Sequence[QueuedTask]
    ) -> FastPlanner:
        supply_bound = SupplyBound(self._costs[0], self._costs[1], len(ready))
        test = SwitchedTest(ClusterState(list(ready), channel, list(tasks)), now, supply_bound)
        return FastPlanner(
            _TEST_AFTER_SWITCH, self._costs, ready, channel, now, admission_test=test
        )


class RejectAll:
    """Rejects every task: EDF-IIT-2 finds no plan for the waiting tasks alone.

    Parameters
    ----------
    refused : Rejection
    """

    def __init__(self, refused: Rejection) -> None:
        self.refused = refused

    def would_reject(self, new: QueuedTask) -> Rejection:
        """Return which task would miss."""
        return self.refused

    def try_admit(self, new: QueuedTask) -> Rejection:
        """Return which task would miss."""
        return self.refused

    def deadlines(self, new: QueuedTask) -> Iterator[Number]:
        """Yield nothing."""
        yield from ()
