"""The planner of FAST-EDF-IIT: an admission test and a dispatcher."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from dlopt.arithmetic import Number
from dlopt.errors import MissingExtraError
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.chunks import free_nodes, free_times
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm
from dlopt.heuristics.admission.fast.deadline_tree import DeadlineTree
from dlopt.heuristics.admission.fast.dispatcher import Dispatcher, SentPart, chunks, free_after
from dlopt.heuristics.admission.fast.literal import LiteralTest
from dlopt.heuristics.admission.fast.schedulability_tests import (
    AdmissionTest,
    DeadlineIndex,
    IndexedTest,
    ReplayTest,
)
from dlopt.heuristics.admission.fast.supply_bound import SupplyBound
from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.records import (
    ClusterState,
    PlannerContent,
    QueuedTask,
    QueueKey,
    Rejection,
    ServedTask,
    UnfinishedTask,
)
from dlopt.problems.admission.data import Chunk

_MWF_OPR_MN = Algorithm.parse("mwf-opr-mn")


class FastPlanner:
    """Admits tasks without a plan, and sends them.

    Parameters
    ----------
    algorithm : FastAlgorithm
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``, all in one field; the set-up costs must be 0.
    ready : sequence of Number, shape (nodes,)
        When each node becomes free.
    channel : Number
        When the head becomes free.
    now : Number
    compiled : bool, default False
        Use compiled code for the waiting tasks, in floats. Decisions are the same.
    admission_test : AdmissionTest, optional
        The test, with the tasks that wait already; by default that of the algorithm.

    Raises
    ------
    MissingExtraError
        If there is no compiler to ask.

    Examples
    --------
    >>> from fractions import Fraction
    >>> zero, one = Fraction(0), Fraction(1)
    >>> costs = (one, one, zero, zero)
    >>> planner = FastPlanner(FastAlgorithm(), costs, [zero, zero], zero, zero)
    >>> planner.try_admit(QueuedTask((5, 0), "a", zero, one, 5 * one)) is None
    True
    >>> planner.try_admit(QueuedTask((2, 1), "b", zero, 2 * one, 2 * one)).miss
    DeadlineMiss(by=Fraction(1, 2), of='load')
    """

    def __init__(
        self,
        algorithm: FastAlgorithm,
        costs: tuple[Number, ...],
        ready: Sequence[Number],
        channel: Number,
        now: Number,
        *,
        compiled: bool = False,
        admission_test: AdmissionTest | None = None,
    ) -> None:
        self.algorithm, self._compiled, self._nodes = algorithm, compiled, len(ready)
        self._free = free_nodes(ready)
        self._unsent: dict[int, QueueKey] = {}  # of the tasks of which some load waits
        self._task_planner = (
            OprEprPlanner(_MWF_OPR_MN, costs, len(ready)) if algorithm.order == "mwf" else None
        )
        if admission_test is None:
            admission_test = _make_admission_test(algorithm, costs, len(ready), compiled)
        self.admission_test = admission_test
        self.cluster = Dispatcher(costs, ready, channel, now, self.admission_test)
        self._batch = now
        self._ran_inclusive = False

    def __len__(self) -> int:
        return len(self.admission_test)

    @property
    def piecewise_affine(self) -> bool:
        """Whether the planner can be asked with affine numbers."""
        return self.algorithm.test in ("r1", "r2", "replay") and not self._compiled

    @property
    def proves_earliest(self) -> bool:
        """Whether `deadlines` yields the earliest deadline that is accepted, if there is one."""
        test = self.algorithm.test
        rounds = test == "replay" and isinstance(self.cluster.tau, float)
        return test != "r0" and not rounds

    def excess(self, refused: Rejection, new: QueuedTask) -> Number:
        """Return by how much the load of a new task is too large, at the least."""
        if self.algorithm.order == "mwf" or refused.miss.of != "load":
            return 0
        every_task = self.algorithm.test in ("r1", "r2")  # sums of loads, and no plan
        return refused.miss.by if every_task or refused.task.key == new.key else 0

    @property
    def tasks(self) -> list[QueuedTask]:
        """The tasks of which some load waits, in their order."""
        self.roll_back()
        return [entry.task for entry in self.admission_test]

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return who would miss; then the state is unchanged."""
        now = new.arrival
        self._run_to_arrival(now)
        keyed = self._keyed(new)
        refused = self.admission_test.try_admit(keyed, self.cluster)
        if refused is None:
            self._batch = now
            self._unsent[new.key[1]] = keyed.key
            self._commit()
        return refused

    def decider(self, now: Number) -> FastPlanner:
        """Return the queue itself, which makes the decisions."""
        return self

    def would_reject(self, new: QueuedTask) -> Rejection | None:
        """Return who would miss if a task that arrives now were accepted; changes nothing."""
        self._run_to_arrival(new.arrival)
        return self.admission_test.would_reject(self._keyed(new), self.cluster)

    def rejects_sum(self, tasks: Sequence[QueuedTask], new: QueuedTask) -> bool | None:
        """Tell whether a new task would be rejected after promised ones, all in an empty queue.

        Without loading them, from the sums of their loads; None if these alone do not say it.
        """
        test = self.admission_test
        sums = isinstance(test, IndexedTest) and self.algorithm.order == "edf"
        if not sums or new.arrival > self.cluster.clock:
            return None
        assert isinstance(test, IndexedTest)
        test.supply_bound.evaluate(self.cluster)
        return test.supply_bound.is_exceeded(sorted([*tasks, new]), clipped=test.clipped)

    def deadlines(self, new: QueuedTask) -> Iterator[Number]:
        """Yield candidates for the earliest accepted deadline, ascending."""
        self._run_to_arrival(new.arrival)
        for key, low, high in self._positions(new):
            yield from self.admission_test.deadlines(
                new._replace(key=key), self.cluster, max(low, new.arrival), high
            )

    def load_promised(self, tasks: list[QueuedTask], now: Number) -> Rejection | None:
        """Load tasks that were promised before, into an empty queue."""
        for task in sorted(map(self._keyed, tasks)):
            refused = self.admission_test.try_admit(task._replace(arrival=now), self.cluster)
            if refused is not None:
                return refused
            self._unsent[task.key[1]] = task.key
        return None

    def advance(self, now: Number) -> None:
        """Advance the clock: what was to be sent before an instant has been sent."""
        self._run(now)
        self._commit()

    def count(self, now: Number) -> int:
        """Return how many tasks wait at an instant if no other is accepted."""
        self._run(now)
        return len(self.admission_test)

    def served(self, before: Number | None = None) -> Iterator[ServedTask]:
        """Yield each accepted task, or what is sent of it before an instant."""
        spans: dict[int, ServedTask] = {}
        for task, _, start, _, end, _ in self._sent(before):
            span = spans.get(task.key[1])
            first, last = (start, end) if span is None else (span.start, max(span.end, end))
            spans[task.key[1]] = ServedTask(task, first, last)
        yield from spans.values()

    def unfinished(self) -> list[UnfinishedTask]:
        """Return the loads of accepted tasks that are left at their deadlines, and dropped."""
        self._run(None)
        lost = self.cluster.unfinished.copy()
        self.roll_back()
        return lost

    def chunks(self, before: Number | None = None) -> tuple[Chunk, ...]:
        """Return the chunks of `served`, in the order of transmission."""
        return tuple(chunks(self._free.copy(), self._sent(before)))

    def take_sent(self, now: Number) -> tuple[Chunk, ...]:
        """Return the chunks of what was sent before an instant, and forget them."""
        self.advance(now)
        dropped = self.cluster.unfinished
        sent = self.cluster.take_sent()
        for part in sent:
            if not part.left:
                self._unsent.pop(part.task.key[1], None)
        for lost in dropped:
            self._unsent.pop(lost.task.key[1], None)
        return tuple(chunks(self._free, sent))

    def waits(self, task: QueuedTask) -> bool:
        """Tell whether some load of a task is still to be sent, after `take_sent`."""
        return task.key[1] in self._unsent

    def replacer(self) -> FastPlanner | None:
        """Return the planner itself if its test can replace a waiting task by another.

        In the order of MWF the places of all others depend on what is left of them by now.
        """
        keeps_order = self._task_planner is None
        return self if keeps_order and isinstance(self.admission_test, IndexedTest) else None

    def replace(self, task: QueuedTask, new: QueuedTask | None) -> Rejection | None:
        """Replace a waiting task by another or by none, or return who would miss then.

        Nothing of it was sent, and `take_sent` was called at the present instant.
        """
        assert isinstance(self.admission_test, IndexedTest)  # see `replacer`
        number, cluster = task.key[1], self.cluster
        keyed = None if new is None else self._keyed(new)._replace(arrival=cluster.clock)
        refused = self.admission_test.replace(self._unsent[number], keyed, cluster)
        if refused is None:
            del self._unsent[number]
            if keyed is not None:
                self._unsent[keyed.key[1]] = keyed.key
        return refused

    def content(self) -> PlannerContent:
        """Return all that later decisions depend on, after `take_sent`."""
        return PlannerContent(
            tuple(free_times(self._free)),
            self.cluster.head,
            self.admission_test.content(),
            True,
            self._batch,
            self.admission_test.last_sent,
        )

    def load(self, content: PlannerContent) -> None:
        """Load the waiting tasks of a content, into a planner made for its nodes and channel."""
        self.admission_test.load(content.tasks, content.last_sent)
        self._unsent = {stored.task.key[1]: stored.task.key for stored in content.tasks}
        if content.last_arrival is not None:
            self._batch = content.last_arrival

    def state(self, now: Number) -> ClusterState:
        """Return the state of the cluster at an instant, with the waiting tasks."""
        ready = free_after(self._free, self._sent(now))
        self.count(now)
        tasks = [entry.task._replace(load=entry.remaining) for entry in self.admission_test]
        return ClusterState(ready, self.cluster.head, tasks)

    def _sent(self, before: Number | None) -> list[SentPart]:
        """Return the parts that are sent if no other task is accepted, or until an instant."""
        self._run(before)
        sent = self.cluster.sent.copy()
        self.roll_back()
        return sent

    def _keyed(self, new: QueuedTask) -> QueuedTask:
        """Return a task with its key in the order."""
        if self._task_planner is None:
            return new
        fewest = self._task_planner.fewest(new.load, new.deadline - new.arrival)
        return self._ranked(new, self._nodes if fewest is None else fewest)

    def _ranked(self, new: QueuedTask, fewest: int) -> QueuedTask:
        """Return a task as MWF ranks it."""
        assert self._task_planner is not None
        return new._replace(key=(-self._task_planner.derivative(new.load, fewest), new.key[1]))

    def _positions(self, new: QueuedTask) -> Iterator[tuple[QueueKey, Number, Number | None]]:
        """Yield the keys that a new task may have, each with its interval of deadlines."""
        now, number = new.arrival, new.key[1]
        if self._task_planner is None:
            dates = [entry.task.deadline for entry in self.admission_test]
            for low, high in zip((now, *dates), (*dates, None), strict=True):
                yield (low, number), low, high
            return
        time = self._task_planner.work(new.load).time
        for n in range(self._nodes, 0, -1):
            key = self._ranked(new, n).key
            yield key, now + time(n), now + time(n - 1) if n > 1 else None

    def _run_to_arrival(self, now: Number) -> None:
        """Send what is to be sent before a task that arrives now is decided on."""
        events = self.algorithm.events
        first = events == "dispatch-first" and now > self._batch
        self._run(now, inclusive=first or events == "one-by-one")

    def _run(self, until: Number | None, *, inclusive: bool = False) -> None:
        """Send what is to be sent until an instant, after a rollback of tentative sends."""
        clock = self.cluster.clock
        if until is not None and (until < clock or (until == clock and self._ran_inclusive)):
            self.roll_back()
        self.cluster.run(until, inclusive=inclusive)
        self._ran_inclusive = inclusive

    def _commit(self) -> None:
        self.cluster.commit()
        self._ran_inclusive = False

    def roll_back(self) -> None:
        """Undo what was sent tentatively."""
        self.cluster.roll_back()
        self._ran_inclusive = False


def _make_admission_test(
    algorithm: FastAlgorithm, costs: tuple[Number, ...], nodes: int, compiled: bool
) -> AdmissionTest:
    test, supply_bound = algorithm.test, SupplyBound(costs[0], costs[1], nodes)
    if test == "replay":
        return ReplayTest()
    if test == "r1" or test == "r2":
        return IndexedTest(supply_bound, test == "r2", _blocks() if compiled else DeadlineTree())
    if test == "r0":
        return LiteralTest("chunk", algorithm.reset, True, supply_bound)
    return LiteralTest(test, algorithm.reset, False, supply_bound)


def _blocks() -> DeadlineIndex:
    try:
        from dlopt.heuristics.admission.fast.deadline_blocks_numba import DeadlineBlocks
    except ImportError as error:
        raise MissingExtraError("numba", "fast") from error
    return cast(DeadlineIndex, DeadlineBlocks())
