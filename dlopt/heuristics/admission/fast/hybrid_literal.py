"""HYBRID as printed: a switch assumes that what one side promised the other can keep.

Algorithm 10 adds up how long the nodes are busy, takes that for work and asks how long all nodes
would take for it; Algorithm 11 lets the tasks that wait run one after the other from then on, on
all nodes, and AC-FAST goes on with the completions and slacks that result. Neither asks whether a
slack is negative, and the channel is taken for free.

What is open is read in favour of the algorithm: Algorithm 11 leaves the least slack undefined, here
it is computed from the slacks; no running task has a completion, here the work of Algorithm 10 is
the predecessor of a task that comes first; a task that is rejected changes nothing, so that the
switch is made with the first that is accepted.

Source: Mamat 2011, section 6.3, Algorithms 9-11.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dlopt.heuristics.admission.deadlines import Decider
from dlopt.heuristics.admission.dispatching_rules import Lost, Refused, State, Waiting
from dlopt.heuristics.admission.fast.algorithm_names import Fast
from dlopt.heuristics.admission.fast.dispatcher import Dispatcher
from dlopt.heuristics.admission.fast.hybrid import HybridCore
from dlopt.heuristics.admission.fast.literal import AsPrinted, Estimate
from dlopt.heuristics.admission.fast.planner import FastCore
from dlopt.heuristics.admission.fast.supply_bound import Outlook

_SWITCHED = Fast("chunk")
"""Whose predecessor of a task that comes first is the one of which a part was sent last."""


class Switched(AsPrinted):
    """AC-FAST after a switch; it calls no `adjust` (Algorithm 9, line 7, and the text).

    Parameters
    ----------
    state : State
        Of the cluster at the switch, with the tasks that wait.
    now : Number
    outlook : Outlook
        For execution times.

    Examples
    --------
    >>> from fractions import Fraction
    >>> zero, one = Fraction(0), Fraction(1)
    >>> outlook = Outlook(one, one, nodes=2)
    >>> state = State([zero, 3 * one], zero, [Waiting((9, 0), "a", zero, one, 9 * one)])
    >>> lane = Switched(state, zero, outlook)
    >>> str(lane.running.completion), str(lane.entries[0].completion)
    ('4', '16/3')
    """

    def __init__(self, state: State, now: Any, outlook: Outlook) -> None:
        super().__init__("chunk", "idle", False, outlook)
        busy = sum((max(instant - now, 0) for instant in state.ready), now - now)
        nothing = Waiting((now, -1), "", now, now - now, now)
        delay = outlook.execution_time(busy / outlook.chi)
        self.running = Estimate(nothing, now - now, delay, now)
        self.memory = self.memory._replace(chunk=self.running)
        start = self.running.completion
        for task in sorted(state.tasks):
            time = outlook.execution_time(task.load)
            self.entries.append(Estimate(task, task.load, time, start))
            start += time
        self.renew_least_slacks()

    def _idle_time(self, now: Any, cluster: Dispatcher) -> Any:
        return now - now


class LiteralHybridCore(HybridCore):
    """A queue with a plan, or one without, as Algorithm 9 switches between them.

    Parameters
    ----------
    algorithm, costs, ready, channel, now, plain, compiled
        See `HybridCore`.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._lost: list[Lost] = []
        super().__init__(*arguments, **options)

    def offer(self, new: Waiting) -> Refused | None:
        """Accept a task that arrives now, or return which task would miss; then nothing changes."""
        before = self._core
        refused = super().offer(new)
        if self._core is not before and isinstance(before, FastCore):
            self._lost += before.cluster.lost
        return refused

    def decider(self, now: Any) -> Decider:
        """Return what decides at an instant: a new side, to be asked, where they switch."""
        fast = self._core.count(now) >= self.algorithm.threshold
        if fast == self.fast:
            return self._core
        state = self._core.state(now)
        other = self._made(fast, state.ready, state.channel, now, state.tasks)
        refused = None if fast else other.restore(state.tasks, now)
        return other if refused is None else Unplanned(refused)

    def lost(self) -> list[Lost]:
        """Return what accepted tasks have left at their deadlines, and what is dropped."""
        return [*self._lost, *self._core.lost()]

    def _made_fast(
        self, ready: Sequence[Any], channel: Any, now: Any, tasks: Sequence[Waiting]
    ) -> FastCore:
        outlook = Outlook(self._costs[0], self._costs[1], len(ready))
        lane = Switched(State(list(ready), channel, list(tasks)), now, outlook)
        return FastCore(_SWITCHED, self._costs, ready, channel, now, controller=lane)


class Unplanned:
    """EDF-IIT-2 finds no plan for the tasks that wait, let alone with a new one.

    Parameters
    ----------
    refused : Refused
    """

    def __init__(self, refused: Refused) -> None:
        self.refused = refused

    def refusal(self, new: Waiting) -> Refused:
        """Return which task would miss."""
        return self.refused

    def offer(self, new: Waiting) -> Refused:
        """Return which task would miss."""
        return self.refused

    def deadlines(self, new: Waiting) -> Iterator[Any]:
        """Yield nothing."""
        yield from ()
