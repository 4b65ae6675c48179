"""A cluster that executes what a book plans, at true costs, and tells the book what happens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from dlopt.arithmetic import FLOATING, Number, NumberField, exact
from dlopt.books import Consequences
from dlopt.heuristics.admission.progress_book import ProgressBook
from dlopt.problems.admission import (
    BrokenPromise,
    Chunk,
    Decision,
    Dropped,
    Executed,
    Instance,
    Scenario,
    Task,
)
from dlopt.problems.admission.trace import BreakCause
from dlopt.problems.cluster import Cluster
from dlopt.simulation.engine import EventLoop, Rank

CHUNKS_TO_ARCHIVE = 256
"""After so many further chunks the book forgets what is over. Chosen by hand: less often makes each
of its answers slower, more often costs more than it saves."""


AS_ESTIMATED: tuple[Number, Number] = (1, 1)
"""Factors of the true costs, of transmission and computation, of a task that has none stated."""


@dataclass(slots=True, eq=False)
class ChunkRun:
    """A chunk that has begun.

    Parameters
    ----------
    planned : Chunk
        As the book planned it.
    received, computed : Number
        When its transmission and its computation truly end.
    expected : Number
        When its computation would end if it took as long as estimated.
    lost, broken_off : Number, optional
        When its node failed with it, or the book gave its task up.
    over : bool
    reported : Number, optional
        The end that was last reported to the book.
    """

    planned: Chunk
    received: Number
    computed: Number
    expected: Number
    lost: Number | None = None
    broken_off: Number | None = None
    over: bool = False
    reported: Number | None = None

    @property
    def start(self) -> float:
        """When its transmission began."""
        return float(self.planned.transmission_start)

    @property
    def is_cut_short(self) -> bool:
        """Whether it was lost or broken off."""
        return self.lost is not None or self.broken_off is not None

    @property
    def left(self) -> float:
        """When it left its node."""
        if self.lost is not None:
            return float(self.lost)
        return float(self.computed if self.broken_off is None else self.broken_off)

    def executed(self) -> Executed:
        """Return the chunk as traces have it."""
        chunk = self.planned
        return Executed(
            chunk.task,
            chunk.node,
            chunk.load,
            chunk.transmission_start,
            self.received,
            self.received,
            self.computed,
            self.lost,
            self.broken_off,
        )


class ExecutedInstance(Protocol):
    """What is executed: tasks, and the cluster that they arrive at."""

    @property
    def cluster(self) -> Cluster:
        """The cluster."""

    @property
    def tasks(self) -> Sequence[Task]:
        """The tasks."""

    @property
    def now(self) -> Number:
        """When the execution begins."""

    @property
    def exact(self) -> bool:
        """Whether it is executed in exact numbers."""


class StreamExecution:
    """Runs a stream of tasks through a book until nothing is left to do.

    Parameters
    ----------
    book : ProgressBook
        With the tasks that were promised before; it is used up.
    instance : ExecutedInstance
    scenario : Scenario
        True costs and failures, of tasks and nodes that exist.
    promised : mapping of str to Number
        What is to be planned of each task that was promised before, as `promised_loads` returns it.
    has_deadlines : bool, default True
        Whether the book promises deadlines.

    Attributes
    ----------
    decisions : list of Decision
        On the tasks that arrive, in their order.
    chunks : list of ChunkRun
        In the order in which they begin.
    dropped : list of Dropped
    broken : list of BrokenPromise
    queues : list of int
        At each arrival, the number of accepted tasks of which nothing has been sent.

    Notes
    -----
    The book knows estimates. That a transmission or a computation takes less it learns when that
    ends; that one takes more, when it should have ended, and it then learns, too, when it will end.
    A node that fails loses what it has; the book learns it at once, and may send it again. If the
    book gives a task up, what runs of it is broken off.
    """

    def __init__(
        self,
        book: ProgressBook,
        instance: ExecutedInstance,
        scenario: Scenario,
        promised: Mapping[str, Number],
        *,
        has_deadlines: bool = True,
    ) -> None:
        self._book, self._has_deadlines = book, has_deadlines
        self._cast: NumberField = exact if instance.exact else float
        self._costs: tuple[Number, ...] = tuple(map(self._cast, instance.cluster.costs_of(0)))
        self._factors: dict[str, tuple[Number, Number]] = {
            factor.task: (self._cast(factor.tau), self._cast(factor.chi))
            for factor in scenario.factors
        }
        self.decisions: list[Decision] = []
        self.chunks: list[ChunkRun] = []
        self.dropped: list[Dropped] = []
        self.broken: list[BrokenPromise] = []
        self.queues: list[int] = []
        self._todo: dict[str, Number] = {
            name: self._cast(load) for name, load in promised.items() if load > 0
        }
        """Of each accepted task, the load that is neither computed nor dropped."""
        self._loads = {task.id: self._cast(task.load) for task in instance.tasks}
        self._unsent = set(self._todo)
        self._named: set[str] = set()  # whose promises are broken
        self._running: dict[int, ChunkRun] = {}  # by node
        self._upcoming: list[Chunk] = []  # the next one last
        self._started: Number | None = None  # when the last chunk began
        self._plans = 0  # how often the plan was read
        self._outdated = True  # whether something has happened since
        self._archived = 0  # how many chunks had begun when the book last forgot what was over
        self._loop: EventLoop[Number] = EventLoop(self._cast(instance.now))
        for task in instance.tasks:
            if task.id not in promised:
                self._loop.at(self._cast(task.arrival), Rank.ARRIVAL, self._arrive, task)
        for instant, (fail, repair) in self._changes_of_nodes(scenario).items():
            self._loop.at(instant, Rank.FAILURE, self._change_nodes, fail, repair)
        self._loop.at(self._loop.now, Rank.END, lambda: None)  # what is promised can start

    def run(self) -> None:
        """Run until every accepted task is done or dropped."""
        self._loop.run(self._read_plan)
        for name, load in list(self._todo.items()):
            self._drop(name, load)

    def _changes_of_nodes(
        self, scenario: Scenario
    ) -> dict[Number, tuple[tuple[int, ...], tuple[int, ...]]]:
        """Return which nodes fail and which are repaired at each instant from now on."""
        now = self._loop.now
        fails: dict[Number, set[int]] = defaultdict(set)
        repairs: dict[Number, set[int]] = defaultdict(set)
        for failure in scenario.failures:
            begin = self._cast(failure.begin)
            until = None if failure.until is None else self._cast(failure.until)
            if until is not None and until <= now:
                continue
            fails[max(begin, now)].add(failure.node)
            if until is not None:
                repairs[until].add(failure.node)
        # A node that fails as it is repaired stays down.
        return {
            instant: (
                tuple(sorted(fails[instant] - repairs[instant])),
                tuple(sorted(repairs[instant] - fails[instant])),
            )
            for instant in sorted({*fails, *repairs})
        }

    # --- what the book plans, and what becomes of it ---------------------------------------------

    def _read_plan(self) -> None:
        """Ask the book, after all that happens at an instant, what it sends before the next."""
        if self._outdated:
            self._outdated = False
            self._upcoming = []
            self._plans += 1
        if self._upcoming:
            return
        self._book.advance(self._loop.now)
        if len(self.chunks) - self._archived >= CHUNKS_TO_ARCHIVE:
            self._archived = len(self.chunks)
            self._book.archive()
        until = self._loop.next_time
        self._upcoming = [
            chunk
            for chunk in reversed(self._book.upcoming_chunks(until))
            if self._started is None or chunk.transmission_start > self._started
        ]
        self._await_start()

    def _await_start(self) -> None:
        if self._upcoming:
            start = self._upcoming[-1].transmission_start
            self._loop.at(start, Rank.START, self._start, self._plans)

    def _start(self, plan: int) -> None:
        """Begin the next chunk, unless the plan has changed since, or is about to be read again."""
        if plan != self._plans or self._outdated:
            return
        if self._report_what_is_in_the_way(self._upcoming[-1]):
            return
        chunk = self._upcoming.pop()
        run = self._run_of(chunk)
        self.chunks.append(run)
        self._running[chunk.node] = run
        self._unsent.discard(chunk.task)
        self._started = start = chunk.transmission_start
        if chunk.transmission_end != run.received:
            early = run.received < chunk.transmission_end
            known = min(run.received, chunk.transmission_end)
            if known > start:
                rank = Rank.END if early else Rank.OVERRUN
                self._loop.at(known, rank, self._report, run, run.expected)
        if run.computed > run.expected > start:
            self._loop.at(run.expected, Rank.OVERRUN, self._report, run, run.computed)
        self._loop.at(run.computed, Rank.END, self._finish, run)
        self._await_start()

    def _report_what_is_in_the_way(self, chunk: Chunk) -> bool:
        """Tell the book of what holds the node or the channel of the next chunk, if anything does.

        In floats, a chunk may be planned to start a little before the one before it should end; it
        is late then if it will not.
        """
        start = chunk.transmission_start
        before = self._running.get(chunk.node)
        if before is not None and before.computed > before.expected >= start:
            self._report(before, before.computed)
        last = self.chunks[-1] if self.chunks else None
        if last is not None and last.received > last.planned.transmission_end > start:
            self._report(last, last.expected)
        return self._outdated

    def _run_of(self, chunk: Chunk) -> ChunkRun:
        """Return how a chunk truly fares, and how it would by the estimate once it is received."""
        tau, chi, theta_cm, theta_cp = self._costs
        of_tau, of_chi = self._factors.get(chunk.task, AS_ESTIMATED)
        received, estimate = chunk.transmission_end, chunk.computation_end - chunk.computation_start
        expected = chunk.computation_end
        if of_tau != 1:
            sent = chunk.transmission_start + theta_cm + chunk.load * tau * of_tau
            received = min(sent, received) if of_tau < 1 else max(sent, received)
            if min(sent, chunk.transmission_end) <= chunk.transmission_start:
                received = chunk.transmission_end  # in floats it takes no time
            expected = received + estimate
        computed = expected
        if of_chi != 1:
            end = received + theta_cp + chunk.load * chi * of_chi
            computed = min(end, expected) if of_chi < 1 else max(end, expected)
        return ChunkRun(chunk, received, computed, expected)

    def _report(self, run: ChunkRun, computed: Number) -> None:
        """Tell the book what is known of a chunk that does not end as it was to."""
        if run.over or run.reported == computed:
            return
        run.reported = computed
        chunk, book = run.planned, self._informed_book()
        done = book.progress(chunk.task, chunk.node, received=run.received, computed=computed)
        self._record(done, "overrun")

    def _finish(self, run: ChunkRun) -> None:
        if run.over:
            return
        if run.computed < run.expected and run.computed > run.planned.transmission_start:
            self._report(run, run.computed)
        self._end(run)
        name = run.planned.task
        self._todo[name] -= run.planned.load
        if self._todo[name] <= (0 if self._cast is exact else FLOATING * self._loads[name]):
            del self._todo[name]

    def _end(self, run: ChunkRun) -> None:
        run.over = True
        if self._running.get(run.planned.node) is run:
            del self._running[run.planned.node]

    # --- what the book does not foresee ----------------------------------------------------------

    def _arrive(self, task: Task) -> None:
        self.queues.append(len(self._unsent))
        decision = self._informed_book().submit(task)
        self.decisions.append(decision)
        if decision.accepted:
            self._todo[task.id] = self._loads[task.id]
            self._unsent.add(task.id)

    def _change_nodes(self, fail: Sequence[int], repair: Sequence[int]) -> None:
        now = self._loop.now
        for node in fail:
            run = self._running.get(node)
            if run is not None:
                run.lost = now
                self._end(run)
        if fail or repair:
            done = self._informed_book().resources(fail=fail, repair=repair)
            self._record(done, "failure")

    def _informed_book(self) -> ProgressBook:
        """Return the book at the present instant, to report something to it."""
        self._outdated = True
        self._book.advance(self._loop.now)
        return self._book

    def _record(self, done: Consequences, cause: BreakCause) -> None:
        """Record what a report did to the promises."""
        self._break(done.broken, cause)

    def _break(self, names: Collection[str], cause: BreakCause) -> None:
        """Record which promises are broken, and break off what the book has given up."""
        if not names:
            return
        kept = {decision.task: decision for decision in self._book.decisions}
        for name in names:
            if self._has_deadlines and name not in self._named:
                self._named.add(name)
                self.broken.append(BrokenPromise(name, self._loop.now, cause))
            if name not in kept and name in self._todo:
                self._drop(name, self._todo[name])

    def _drop(self, name: str, load: Number) -> None:
        """Give up what is left of a task."""
        now = self._loop.now
        for run in list(self._running.values()):
            if run.planned.task == name:
                run.broken_off = now
                self._end(run)
        del self._todo[name]
        self._unsent.discard(name)
        self.dropped.append(Dropped(name, load, now))


def promised_loads(instance: Instance) -> dict[str, Number]:
    """Return what is to be planned of each task that an instance has promised, in their order."""
    remaining, promised = instance.remaining, instance.promised
    return {task.id: remaining[task.id] for task in instance.tasks if task.id in promised}
