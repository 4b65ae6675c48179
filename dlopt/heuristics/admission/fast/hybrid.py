"""HYBRID: plan while few tasks wait, and admit without a plan while many do.

As printed (Mamat 2011, Algorithms 9-11) a switch may break promises: what was planned need not pass
the fast test, which looks at no plan, and `slack_min` of those that wait is not computed anew. Here
a switch happens only where the other side can keep all promises: with EDF-IIT-2 by a plan for what
is left of the tasks that wait, with FAST-EDF-IIT by its test. Otherwise the decision stays with the
side that made the promises, until a later arrival.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.deadlines import Decider
from dlopt.heuristics.admission.dispatching_rules import Lost, Refused, Span, State, Waiting
from dlopt.heuristics.admission.fast.algorithm_names import Fast, Hybrid
from dlopt.heuristics.admission.fast.planner import FastCore
from dlopt.heuristics.admission.queue import Queue
from dlopt.problems.admission.data import Chunk

_PLANNED = Algorithm.parse("edf-iit-2")


class HybridCore:
    """A queue with a plan, or one without, and what they have sent in turn.

    Parameters
    ----------
    algorithm : Hybrid
    costs, ready, channel, now, plain, compiled
        See `FastCore`.

    Notes
    -----
    Complexity of a decision: that of the side that makes it; where the other side should make it,
    an attempt to hand over: O(n g), or O(n log n).
    """

    def __init__(
        self,
        algorithm: Hybrid,
        costs: tuple[Any, ...],
        ready: Sequence[Any],
        channel: Any,
        now: Any,
        *,
        plain: bool = False,
        compiled: bool = False,
    ) -> None:
        self.algorithm = algorithm
        self._costs, self._plain, self._compiled = costs, plain, compiled
        self._core: Queue | FastCore = self._made(algorithm.threshold == 0, ready, channel, now)
        self._chunks: list[Chunk] = []
        self._served: dict[int, Span] = {}

    @property
    def fast(self) -> bool:
        """Whether tasks are admitted without a plan now."""
        return isinstance(self._core, FastCore)

    def __len__(self) -> int:
        return len(self._core)

    @property
    def tasks(self) -> list[Waiting]:
        """The tasks of which something waits."""
        return self._core.tasks

    def count(self, now: Any) -> int:
        """Return how many tasks wait at an instant, if no other one is accepted."""
        return self._core.count(now)

    def offer(self, new: Waiting) -> Refused | None:
        """Accept a task that arrives now, or return which task would miss; then nothing changes."""
        now = new.arrival
        decider = self.decider(now)
        refused = decider.offer(new)
        if refused is None and decider is not self._core:
            assert isinstance(decider, Queue | FastCore)
            self._chunks += self._core.chunks(now)
            self._served = self._all_served(now)
            self._core = decider
        return refused

    def decider(self, now: Any) -> Decider:
        """Return which side decides at an instant: a new one, to be asked, where they switch."""
        fast = self._core.count(now) >= self.algorithm.threshold
        if fast == self.fast:
            return self._core
        state = self._core.state(now)
        other = self._made(fast, state.ready, state.channel, now)
        return self._core if other.restore(state.tasks, now) is not None else other

    def restore(self, tasks: list[Waiting], now: Any) -> Refused | None:
        """Take in tasks that were promised before, into an empty queue."""
        return self._core.restore(tasks, now)

    def advance(self, now: Any) -> None:
        """Send what was to be sent before an instant."""
        self._core.advance(now)

    def served(self, before: Any = None) -> Iterator[Span]:
        """Yield each accepted task, or what is sent of it before an instant."""
        yield from self._all_served(before).values()

    def lost(self) -> list[Lost]:
        """Return nothing: both sides keep their promises."""
        return []

    def chunks(self, before: Any = None) -> tuple[Chunk, ...]:
        """Return the chunks of `served`, in the order of transmission."""
        return (*self._chunks, *self._core.chunks(before))

    def state(self, now: Any) -> State:
        """Return what the cluster is at an instant, and what waits."""
        return self._core.state(now)

    def _made(
        self,
        fast: bool,
        ready: Sequence[Any],
        channel: Any,
        now: Any,
        tasks: Sequence[Waiting] = (),
    ) -> Queue | FastCore:
        if not fast:
            return Queue(_PLANNED, self._costs, ready, channel, plain=self._plain)
        return self._made_fast(ready, channel, now, tasks)

    def _made_fast(
        self, ready: Sequence[Any], channel: Any, now: Any, tasks: Sequence[Waiting]
    ) -> FastCore:
        """Return a side without a plan; `tasks` are restored later."""
        return FastCore(
            Fast(),
            self._costs,
            ready,
            channel,
            now,
            plain=self._plain,
            compiled=self._compiled,
        )

    def _all_served(self, before: Any) -> dict[int, Span]:
        served = dict(self._served)
        for task, start, end in self._core.served(before):
            number = task.key[1]
            known = served.get(number)
            first, last = (start, end) if known is None else (known.start, known.end)
            served[number] = Span(task, first, max(last, end))
        return served
