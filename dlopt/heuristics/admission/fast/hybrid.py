"""HYBRID: plan while few tasks wait, and admit without a plan while many do.

As printed (Mamat 2011, Algorithms 9-11) a switch may break promises: planned tasks need not pass
the fast test, which ignores the plan, and `slack_min` of the waiting tasks is not computed again.
Here a switch happens only if the other side can keep all promises: EDF-IIT-2 by a plan for the
rests of the waiting tasks, FAST-EDF-IIT by its test. Otherwise the side that made the promises goes
on deciding, until a later arrival.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.deadlines import AdmissionDecider
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm, HybridAlgorithm
from dlopt.heuristics.admission.fast.planner import FastPlanner
from dlopt.heuristics.admission.queue import PlannedQueue
from dlopt.heuristics.admission.records import (
    ClusterState,
    PlannerContent,
    QueuedTask,
    Rejection,
    ServedTask,
    UnfinishedTask,
)
from dlopt.problems.admission.data import Chunk

_EDF_IIT_2 = Algorithm.parse("edf-iit-2")


class HybridPlanner:
    """A planner with a plan, or one without, alternating; and what both have sent.

    Parameters
    ----------
    algorithm : HybridAlgorithm
    costs, ready, channel, now, compiled
        See `FastPlanner`.

    Notes
    -----
    Complexity of a decision: that of the side that makes it; where the other side should make it,
    an attempt to switch: O(n g), or O(n log n).

    Examples
    --------
    With one waiting task, the fast side decides on the next:

    >>> from fractions import Fraction
    >>> zero, one = Fraction(0), Fraction(1)
    >>> costs = (one, one, zero, zero)
    >>> planner = HybridPlanner(HybridAlgorithm(1), costs, [zero, zero], zero, zero)
    >>> for number, name in enumerate("ab"):
    ...     _ = planner.try_admit(QueuedTask((9, number), name, zero, one, 9 * one))
    ...     planner.fast
    False
    True
    """

    def __init__(
        self,
        algorithm: HybridAlgorithm,
        costs: tuple[Number, ...],
        ready: Sequence[Number],
        channel: Number,
        now: Number,
        *,
        compiled: bool = False,
    ) -> None:
        self.algorithm = algorithm
        self._costs, self._compiled = costs, compiled
        self._now = now
        self.active_planner: PlannedQueue | FastPlanner = self._make_planner(
            algorithm.threshold == 0, ready, channel, now
        )
        self._chunks: list[Chunk] = []
        self._served: dict[int, ServedTask] = {}

    @property
    def fast(self) -> bool:
        """Whether tasks are admitted without a plan now."""
        return isinstance(self.active_planner, FastPlanner)

    def __len__(self) -> int:
        return len(self.active_planner)

    @property
    def piecewise_affine(self) -> bool:
        """Whether the planner can be asked with affine numbers."""
        return not self._compiled

    def roll_back(self) -> None:
        """Undo what was sent tentatively."""
        self.active_planner.roll_back()

    @property
    def tasks(self) -> list[QueuedTask]:
        """The tasks of which some load waits."""
        return self.active_planner.tasks

    def count(self, now: Number) -> int:
        """Return how many tasks wait at an instant if no other is accepted."""
        return self.active_planner.count(now)

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return who would miss; then the state is unchanged."""
        now = new.arrival
        decider = self.decider(now)
        refused = decider.try_admit(new)
        if refused is None and decider is not self.active_planner:
            assert isinstance(decider, PlannedQueue | FastPlanner)
            self._chunks += self.active_planner.chunks(now)
            self._served = self._all_served(now)
            self.active_planner = decider
        return refused

    def decider(self, now: Number) -> AdmissionDecider:
        """Return the side that decides at an instant: a new one where they switch."""
        fast = self.active_planner.count(now) >= self.algorithm.threshold
        if fast == self.fast:
            return self.active_planner
        state = self.active_planner.state(now)
        other = self._make_planner(fast, state.ready, state.channel, now)
        return self.active_planner if other.load_promised(state.tasks, now) is not None else other

    def load_promised(self, tasks: list[QueuedTask], now: Number) -> Rejection | None:
        """Load tasks that were promised before, into an empty queue."""
        return self.active_planner.load_promised(tasks, now)

    def advance(self, now: Number) -> None:
        """Advance the clock: what was to be sent before an instant has been sent."""
        self.active_planner.advance(now)

    def served(self, before: Number | None = None) -> Iterator[ServedTask]:
        """Yield each accepted task, or what is sent of it before an instant."""
        yield from self._all_served(before).values()

    def unfinished(self) -> list[UnfinishedTask]:
        """Return nothing: both sides keep their promises."""
        return []

    def chunks(self, before: Number | None = None) -> tuple[Chunk, ...]:
        """Return the chunks of `served`, in the order of transmission."""
        return (*self._chunks, *self.active_planner.chunks(before))

    def take_sent(self, now: Number) -> tuple[Chunk, ...]:
        """Return the chunks of what began to be sent before an instant, and forget them."""
        taken = (*self._chunks, *self.active_planner.take_sent(now))
        self._chunks, self._served = [], {}
        return taken

    def waits(self, task: QueuedTask) -> bool:
        """Tell whether some load of a task is still to be sent."""
        return self.active_planner.waits(task)

    def replacer(self) -> FastPlanner | None:
        """Return the side that can replace a waiting task by another, if it decides."""
        return self.active_planner.replacer()

    def content(self) -> PlannerContent:
        """Return all that later decisions depend on, after `take_sent`."""
        return self.active_planner.content()

    def load(self, content: PlannerContent) -> None:
        """Load the waiting tasks of a content, into a planner made for its nodes and channel."""
        if content.fast != self.fast:
            self.active_planner = self._make_planner(
                content.fast, content.ready, content.channel, self._now
            )
        self.active_planner.load(content)

    def state(self, now: Number) -> ClusterState:
        """Return the state of the cluster at an instant, with the waiting tasks."""
        return self.active_planner.state(now)

    def _make_planner(
        self,
        fast: bool,
        ready: Sequence[Number],
        channel: Number,
        now: Number,
        tasks: Sequence[QueuedTask] = (),
    ) -> PlannedQueue | FastPlanner:
        if not fast:
            return PlannedQueue(_EDF_IIT_2, self._costs, ready, channel)
        return self._make_fast_planner(ready, channel, now, tasks)

    def _make_fast_planner(
        self, ready: Sequence[Number], channel: Number, now: Number, tasks: Sequence[QueuedTask]
    ) -> FastPlanner:
        """Return a side without a plan; `tasks` are restored later."""
        return FastPlanner(
            FastAlgorithm(), self._costs, ready, channel, now, compiled=self._compiled
        )

    def _all_served(self, before: Number | None) -> dict[int, ServedTask]:
        served = dict(self._served)
        for task, start, end in self.active_planner.served(before):
            number = task.key[1]
            known = served.get(number)
            first, last = (start, end) if known is None else (known.start, known.end)
            served[number] = ServedTask(task, first, max(last, end))
        return served
