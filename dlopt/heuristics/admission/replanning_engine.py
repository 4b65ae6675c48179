"""Planning again from what has happened: the engine under a book of divisible tasks.

Whatever happens, the book goes on from *facts*: which nodes are in service, which chunks are sent
or being sent, and which loads of which tasks are still to be planned. A verb changes the facts, and
a new planner plans the loads from there. If it keeps all promises it takes over. If not,

- after something that frees time (a cancellation, an early end, new nodes), the former planner goes
  on: its plan stays valid, and what was freed is used as soon as a plan from the new facts keeps
  all promises. (More time does not help every algorithm: a task may get fewer nodes then, and later
  tasks find other ready times.)
- after something that takes time (a late end, a failure), promises are broken, as few as possible.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from dlopt.arithmetic import ROUNDING, Number
from dlopt.books import Consequences, ExpiryQueue, Selection, fewest_broken
from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.no_nodes import NoNodesPlanner
from dlopt.heuristics.admission.online_engine import OnlineEngine, OnlinePlanner, Planning
from dlopt.heuristics.admission.records import ClusterState, QueuedTask, Rejection
from dlopt.heuristics.admission.sent_chunks import SentChunks
from dlopt.heuristics.admission.stream_facts import StreamFacts
from dlopt.problems.admission.data import Chunk, Decision, Task
from dlopt.problems.cluster import Cluster

MAX_PLANNED_TASKS = 20_000
"""Tasks that are planned, over all trials, in search of a plan that breaks fewer promises. Chosen
by hand: a second or two; with more, fewer promises may be broken."""

Delay: TypeAlias = Callable[[StreamFacts], StreamFacts | Rejection]
"""Sends what is committed later where it must be, or returns who would miss its deadline then."""


class Decider(Protocol):
    """A planner that can be asked for its decision."""

    def would_reject(self, new: QueuedTask) -> Rejection | None:
        """Return who would miss if a task that arrives now were accepted; changes nothing."""


class BookPlanner(OnlinePlanner, Protocol):
    """A planner whose book can take over what it has sent, and go on with another planner."""

    def decider(self, now: Number, /) -> Decider:
        """Return the planner that decides at an instant: itself, or one of its parts."""

    def chunks(self, before: Number | None = None) -> tuple[Chunk, ...]:
        """Return the chunks of all tasks, or of those begun to be sent before an instant."""

    def take_sent(self, now: Number) -> tuple[Chunk, ...]:
        """Return the chunks of what began to be sent before an instant, and forget them."""

    def state(self, now: Number) -> ClusterState:
        """Return the state of the cluster at an instant, with the waiting tasks."""


class TaskReplacer(Protocol):
    """A planner that can replace waiting tasks of which nothing was sent."""

    def replace(self, task: QueuedTask, new: QueuedTask | None) -> Rejection | None:
        """Replace a waiting task by another or by none, or return who would miss then."""


class ReplanningEngine(OnlineEngine):
    """An online engine that can go on with another planner."""

    planner: BookPlanner

    def __init__(
        self,
        cluster: Cluster,
        now: Number,
        ready_times: Sequence[Number],
        channel_ready: Number,
        exact_numbers: bool | None,
    ) -> None:
        super().__init__(cluster, now, ready_times, channel_ready, exact_numbers)
        self._in_service: dict[int, Number] = dict(enumerate(self._ready))
        self._node_count = cluster.nodes
        self._failed: set[int] = set()
        self._nodes: tuple[int, ...] | None = None  # of the planner; None if they are all
        self._sent = SentChunks()  # by former planners, or taken from this one
        self._rejections = ExpiryQueue()  # rejected tasks, until they are archived
        self._numbers: dict[str, int] = {}  # of the decisions, ascending
        self._ended: set[str] = set()  # tasks that ended early: no planner plans them
        self._outdated = False  # whether the plan ignores some of the time that is free

    def _planned_chunks(self) -> Iterator[Chunk]:
        """Yield the chunks of the planner, with the numbers of their nodes."""
        return self._own(self.planner.chunks())

    def _own(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Yield the chunks of promised tasks, with the numbers of their nodes."""
        for chunk in chunks:
            if chunk.task in self._queued and chunk.task not in self._ended:
                yield chunk if self._nodes is None else replace(chunk, node=self._nodes[chunk.node])

    def _facts(self) -> StreamFacts:
        """Return what is known at the present instant; what is sent leaves the planner."""
        self._take_sent()
        return self._facts_after(self._sent)

    def _present_facts(self) -> StreamFacts:
        """Return what is known at the present instant; nothing is changed."""
        return self._facts_after((*self._sent, *self._own(self.planner.chunks(self.now))))

    def _facts_after(self, sent: Iterable[Chunk]) -> StreamFacts:
        """Return what is known after some chunks were sent."""
        now = self.now
        waiting = tuple(
            self._queued[task.id]._replace(load=task.load)
            for task in self.planner.state(now).tasks
            if task.id in self._queued and task.id not in self._ended
        )
        running = tuple(chunk for chunk in sent if chunk.computation_end > now)
        return StreamFacts(self._in_service, self._channel_ready, running, waiting)

    def _take_sent(self) -> None:
        """Take over from the planner what has begun to be sent."""
        self._sent.add(self._own(self.planner.take_sent(self.now)))

    def _waits(self, task: QueuedTask) -> bool:
        """Tell whether the planner has still to send some load of a task, after `take_sent`."""
        return any(waiting.id == task.id for waiting in self.planner.state(self.now).tasks)

    def _replacer(self, identity: str) -> TaskReplacer | None:
        """Return what can replace a task without planning all others again, None if nothing can."""
        return None

    def _plan(self, facts: StreamFacts) -> Planning | Rejection:
        """Return a planner that goes on from facts, or who would miss."""
        found = self._plan_nothing(facts)
        refused = found.planner.load_promised(list(facts.waiting), self.now)
        return found if refused is None else refused

    def _plan_nothing(self, facts: StreamFacts) -> Planning:
        """Return a planner that goes on from facts with an empty queue."""
        free, channel = facts.free_times(self.now), facts.channel_free(self.now)
        planner: Any = NoNodesPlanner(channel)
        if free:
            planner = self._new_planner(list(free.values()), channel)
        return Planning(planner, tuple(free))

    @abstractmethod
    def _new_planner(self, ready: list[Number], channel: Number) -> Any:
        """Return a planner with an empty queue."""

    def _install(self, facts: StreamFacts, found: Planning) -> None:
        """Go on from facts with a planner."""
        self._keep(facts)
        self.planner, self._nodes = found
        self._outdated = False
        for task in facts.waiting:
            if task.id in self._ended:  # a node failed before: what it lost is planned again
                self._ended.remove(task.id)
                sent = (chunk.load for chunk in self._sent if chunk.task == task.id)
                whole = self._queued[task.id]
                load = min(whole.load, sum(sent, task.load))
                self._queued[task.id] = whole._replace(load=load)

    def _keep(self, facts: StreamFacts) -> None:
        """Record which chunks are sent, and which nodes are in service."""
        over = [chunk for chunk in self._sent if chunk.computation_end <= self.now]
        self._sent.replace([*over, *facts.chunks])
        self._in_service = facts.ready

    def _free_time(self, facts: StreamFacts) -> None:
        """Go on from facts that leave more time, with the former plan if no other keeps all."""
        found = self._plan(facts)
        if isinstance(found, Rejection):
            self._keep(facts)
            self._outdated = True
        else:
            self._install(facts, found)

    def _renewed_planning(self, at: Number) -> Planning | None:
        """Return a planner that uses what was freed, if it was not used before and can be.

        A later decision is made with the plan as it is: what it sends until then is not taken back.
        """
        if not self._outdated or at > self.now:
            return None
        found = self._plan(self._facts())
        return None if isinstance(found, Rejection) else found

    def _go_on_with(self, planning: Planning) -> None:
        self._install(self._facts(), planning)

    def _renew(self) -> None:
        planning = self._renewed_planning(self.now)
        if planning is not None:
            self._go_on_with(planning)

    def _take_time(self, facts: StreamFacts, missed: Collection[str] = ()) -> Consequences:
        """Go on from facts that leave less time, and break as few promises as possible.

        The promises to tasks that `missed` their deadlines are broken already. If a task that is
        sent already holds others up, what has not begun of it is planned again.
        """
        released = facts.released(facts.not_begun(self.now), self._queued)
        return self._break_fewest(facts, released, missed)

    def _break_fewest(
        self,
        facts: StreamFacts,
        released: StreamFacts,
        missed: Collection[str],
        delayed: Delay | None = None,
    ) -> Consequences:
        """Go on from facts, or with what is committed released if that breaks fewer promises.

        Parameters
        ----------
        facts, released : StreamFacts
        missed : collection of str
            As of `_take_time`.
        delayed : Delay, optional
            By default what is committed is in nobody's way.
        """
        chosen, selection = facts, self._fewest(facts, delayed)
        if selection.broken and released is not facts:
            other = self._fewest(released, delayed)
            if len(other.broken) < len(selection.broken):
                chosen, selection = released, other
        kept: StreamFacts | Rejection = chosen.without(selection.broken)
        if delayed:
            kept = delayed(kept)
        assert not isinstance(kept, Rejection)  # the selection was planned before
        found = self._plan(kept)
        assert isinstance(found, Planning)
        self._install(kept, found)
        named = self._in_order({*selection.broken, *missed})
        for broken in selection.broken:
            self._cancelled[broken] = self._queued[broken].deadline
        self._forget(selection.broken)
        return Consequences(named, least=selection.least)

    def _fewest(self, facts: StreamFacts, delayed: Delay | None) -> Selection[str]:
        """Return which tasks that wait are kept, and which are broken; see `_break_fewest`."""
        unsent = {task.id for task in facts.waiting}
        if delayed:
            unsent.update(chunk.task for chunk in facts.not_begun(self.now))
        promises = self._in_order(unsent)

        def first_to_miss(kept: Sequence[str]) -> str | None:
            rest: StreamFacts | Rejection = facts.without(set(promises).difference(kept))
            if delayed:
                rest = delayed(rest)
            found = rest if isinstance(rest, Rejection) else self._plan(rest)
            return found.task.id if isinstance(found, Rejection) else None

        trials = MAX_PLANNED_TASKS // max(len(promises), 1)
        return fewest_broken(promises, first_to_miss, trials=trials)

    def _missed(self, task: QueuedTask, before: Number, end: Number) -> tuple[str, ...]:
        """Return the promised task if an end that was in time until now misses its deadline."""
        in_time = not self._is_after(before, task.deadline)
        late = self._promises and in_time and self._is_after(end, task.deadline)
        return (task.id,) if late else ()

    def _is_after(self, instant: Number, other: Number) -> bool:
        """Tell whether an instant is after another, in floats by more than rounding."""
        return instant - other > (0 if self._is_exact else float(ROUNDING) * instant)

    def _in_order(self, identities: Iterable[str]) -> tuple[str, ...]:
        """Return identities in the order of the decisions on them."""
        return tuple(sorted(set(identities), key=self._numbers.__getitem__))

    def _alive(self, identity: str) -> tuple[QueuedTask, StreamFacts]:
        """Return a task that is promised and not over, and the facts."""
        self._require_sound()
        if not isinstance(identity, str):
            raise NotApplicableError(f"an identity is a text, not a {type(identity).__name__}")
        task = self._queued.get(identity)
        if task is None:
            was = "is cancelled already" if identity in self._cancelled else "was never accepted"
            raise NotApplicableError(f"task {identity} {was}")
        facts = self._facts()
        if not facts.chunks_of(identity) and all(one.id != identity for one in facts.waiting):
            raise NotApplicableError(f"task {identity} is over")
        return task, facts

    def _require_sound(self) -> None:
        """Raise an error if the algorithm does not keep what it promises."""
        if self._is_literal:
            raise NotApplicableError(f"{self.algorithm.name} does not keep what it promises")

    @property
    @abstractmethod
    def _is_literal(self) -> bool:
        """Whether the algorithm is a printed one that breaks promises."""

    def _forget(self, identities: Collection[str]) -> None:
        """Forget tasks."""
        for identity in identities:
            for records in (self._decisions, self._contents, self._queued, self._numbers):
                records.pop(identity, None)
            self._rejections.pop(identity, None)
            self._sent.take(identity)
        self._ended.difference_update(identities)

    def _load_promised(self, tasks: Iterable[tuple[Task, Number]]) -> None:
        super()._load_promised(tasks)
        self._note_ends()

    def _note_ends(self) -> None:
        """Let the tasks end now that have neither chunks nor load to be sent."""
        for identity, queued in self._queued.items():
            if identity not in self._sent and not self._waits(queued):
                self._sent.note_end(identity, self.now)

    def _record_decision(self, decision: Decision) -> Decision:
        if decision.accepted:
            self._rejections.pop(decision.task, None)
        else:
            self._rejections[decision.task] = decision.at
        self._numbers[decision.task] = self._submissions
        return super()._record_decision(decision)
