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
from typing import Any, NamedTuple, Protocol, TypeAlias

from dlopt.arithmetic import ROUNDING, Number
from dlopt.books import Consequences, Selection, fewest_broken
from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.no_nodes import NoNodesPlanner
from dlopt.heuristics.admission.online_engine import OnlineEngine, PromiseError
from dlopt.heuristics.admission.records import ClusterState, QueuedTask, Rejection
from dlopt.heuristics.admission.stream_facts import StreamFacts
from dlopt.problems.admission.data import Chunk, Decision, Task

MAX_PLANNED_TASKS = 20_000
"""Tasks that are planned, over all trials, in search of a plan that breaks fewer promises. Chosen
by hand: a second or two; with more, fewer promises may be broken."""

Delay: TypeAlias = Callable[[StreamFacts], StreamFacts | Rejection]
"""Sends what is committed later where it must be, or returns who would miss its deadline then."""


class Decider(Protocol):
    """A planner that can be asked for its decision."""

    def would_reject(self, new: QueuedTask) -> Rejection | None:
        """Return who would miss if a task that arrives now were accepted; changes nothing."""


class BookPlanner(Protocol):
    """A planner whose book can take over what it has sent, and go on with another planner."""

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return who would miss; then the state is unchanged."""

    def load_promised(self, tasks: list[QueuedTask], now: Number) -> Rejection | None:
        """Load tasks that were promised before, into an empty queue."""

    def advance(self, now: Number) -> None:
        """Advance the clock: what was to be sent before an instant has been sent."""

    def decider(self, now: Number, /) -> Decider:
        """Return the planner that decides at an instant: itself, or one of its parts."""

    def chunks(self, before: Number | None = None) -> tuple[Chunk, ...]:
        """Return the chunks of all tasks, or of those begun to be sent before an instant."""

    def take_sent(self, now: Number) -> tuple[Chunk, ...]:
        """Return the chunks of what began to be sent before an instant, and forget them."""

    def waits(self, task: QueuedTask) -> bool:
        """Tell whether some load of a task is still to be sent, after `take_sent`."""

    def state(self, now: Number) -> ClusterState:
        """Return the state of the cluster at an instant, with the waiting tasks."""


class Planning(NamedTuple):
    """A planner that goes on from facts, and which node each of its nodes is."""

    planner: Any
    nodes: tuple[int, ...]


class TaskReplacer(Protocol):
    """A planner that can replace waiting tasks of which nothing was sent."""

    def replace(self, task: QueuedTask, new: QueuedTask | None) -> Rejection | None:
        """Replace a waiting task by another or by none, or return who would miss then."""


class ReplanningEngine(OnlineEngine):
    """Decides on divisible tasks one by one, and can go on with another planner.

    Attributes
    ----------
    planner : BookPlanner
        What plans the accepted tasks. Subclasses set it.
    """

    planner: BookPlanner

    def submit(self, task: Task) -> Decision:
        """Decide on a task that arrives.

        Parameters
        ----------
        task : Task
            Its arrival must not lie before `now`. What arrives at one instant is decided in the
            order of the calls, before anything is sent at that instant. The same task again gets
            the same decision, and changes nothing. Another one may have the identity of a task
            that was rejected, not after its own arrival; then it takes the place of that task.

        Returns
        -------
        Decision
            If it is a rejection, its `reason` says which task would miss and by how much.

        Raises
        ------
        InvalidInstanceError
            If the task arrives in the past or before its own rejection, or its identity was
            accepted before. As after a rejection, plan and clock are what they were.

        Notes
        -----
        Source of the rule for rejected tasks: Min 2001, section 4.4, on reservations.

        Examples
        --------
        >>> from dlopt import Admission
        >>> from dlopt.problems.cluster import Cluster
        >>> head = Admission(Cluster(1, tau=1, chi=1))
        >>> head.submit(Task("a", arrival=0, load=3, deadline=5)).accepted
        False
        >>> head.submit(Task("a", arrival=1, load=2, deadline=5)).accepted
        True
        >>> [(decision.task, decision.at) for decision in head.decisions]
        [('a', 1)]
        """
        with self._lock:
            known = self._known_decision(task)
            if known is not None:
                return known
            new = self._arriving_task(task)
            renewed = self._renewed_planning(new.arrival)
            planner = self.planner if renewed is None else renewed.planner
            refused = planner.try_admit(new)
            if refused is None:
                if renewed is not None:
                    self._go_on_with(renewed)
                self.now = new.arrival
                self._queued[task.id] = new
            self._contents[task.id] = task
            return self._record_decision(self._decision_on(task.id, new.arrival, refused))

    def advance(self, now: Number) -> None:
        """Advance the clock: what was to be sent before `now` has been sent.

        Raises
        ------
        InvalidInstanceError
            If `now` lies before the engine's clock.
        """
        with self._lock:
            instant = self._instant("now", now)
            self.planner.advance(instant)
            self.now = instant
            self._renew()

    def _load_promised(self, tasks: Iterable[tuple[Task, Number]]) -> None:
        """Plan the tasks that were accepted before, of which so much load remains."""
        waiting = []
        for task, load in tasks:
            queued = self._queued[task.id] = self._to_queued_task(task, load)
            if load > 0:
                waiting.append(queued)
            self._contents[task.id] = task
            self._record_decision(self._decision_on(task.id, queued.arrival, None))
        refused = self.planner.load_promised(waiting, self.now)
        if refused is not None:
            name = self.algorithm.name
            raise PromiseError(f"{name} finds no plan that keeps the promise to {refused.task.id}")
        self._note_ends()

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
        rest = chosen.without(selection.broken)
        kept = delayed(rest) if delayed else rest
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
            rest = facts.without(set(promises).difference(kept))
            after = delayed(rest) if delayed else rest
            found = after if isinstance(after, Rejection) else self._plan(after)
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

    def _note_ends(self) -> None:
        """Let the tasks end now that have neither chunks nor load to be sent."""
        for identity, queued in self._queued.items():
            if identity not in self._sent and not self.planner.waits(queued):
                self._sent.note_end(identity, self.now)
