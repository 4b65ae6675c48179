"""The state and the decisions that the engines of `admission` and `multistage` share."""

from __future__ import annotations

from collections.abc import Container, KeysView, Sequence
from dataclasses import dataclass
from typing import Protocol

from dlopt.arithmetic import Number, NumberField, exact, is_exact, shown, simplest
from dlopt.books import ExpiryQueue
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.bid_prices import BidPrices
from dlopt.heuristics.admission.records import QueuedTask, Rejection
from dlopt.heuristics.admission.sent_chunks import SentChunks
from dlopt.heuristics.guarded import Guarded
from dlopt.heuristics.resubmitted import Decided, Submitted, resubmission_faults
from dlopt.problems.admission.data import Decision, Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import NonNegative, Record


class PromiseError(NotApplicableError):
    """An algorithm finds no plan that keeps the promises that a state comes with."""


class NamedAlgorithm(Protocol):
    """An algorithm."""

    @property
    def name(self) -> str:
        """Its name."""


@dataclass(frozen=True, slots=True)
class _InitialState(Record):
    now: NonNegative = 0
    ready_times: tuple[NonNegative, ...] = ()
    channel_ready: NonNegative = 0


class OnlineEngine(Guarded):
    """The state of an engine and its decisions, without a planner. Subclasses set `algorithm`.

    Parameters
    ----------
    cluster : Cluster
    now : Number
    ready_times : sequence of Number, shape (nodes,)
        When each node becomes free; if empty, at once.
    channel_ready : Number
        When the head node can send again.
    exact_numbers : bool or None
        Compute in fractions, or in floats; by default in fractions if no number above is a float.

    Attributes
    ----------
    now : Number
        The clock: the latest instant of `advance` or of what was accepted.
    """

    algorithm: NamedAlgorithm
    _promises = True
    """Whether an accepted task is promised its deadline."""
    _prices: BidPrices | None = None
    """Bid prices, if the algorithm has them; they stay when a planner is replaced by another."""

    def __init__(
        self,
        cluster: Cluster,
        now: Number,
        ready_times: Sequence[Number],
        channel_ready: Number,
        exact_numbers: bool | None,
    ) -> None:
        state = _InitialState(now, ready_times, channel_ready)  # type: ignore[arg-type]
        ready = state.ready_times or (state.now,) * cluster.nodes
        if len(ready) != cluster.nodes:
            rule = f"must have one entry for each of the {cluster.nodes} nodes"
            raise InvalidInstanceError([Fault("ready_times", len(ready), rule)])
        if exact_numbers not in (None, True, False):
            raise NotApplicableError("exact_numbers must be True, False or None")
        if exact_numbers is None:
            exact_numbers = cluster.exact and is_exact((state.now, state.channel_ready, *ready))
        cast: NumberField = exact if exact_numbers else float
        self.cluster = cluster
        self.now: Number = cast(state.now)
        self._is_exact, self._cast = exact_numbers, cast
        # One object an instant: equal ones are then recognised without arithmetic.
        instants = {instant: cast(instant) for instant in set(ready)}
        self._ready = [instants[instant] for instant in ready]
        self._channel_ready: Number = cast(state.channel_ready)
        self._decisions: dict[str, Decision] = {}
        self._contents: dict[str, Task] = {}  # as they were submitted last
        self._queued: dict[str, QueuedTask] = {}  # those that are accepted
        self._cancelled = ExpiryQueue()  # and their deadlines
        self._submissions = 0
        self._in_service: dict[int, Number] = dict(enumerate(self._ready))
        self._node_count = cluster.nodes
        self._failed: set[int] = set()
        self._nodes: tuple[int, ...] | None = None  # of the planner; None if they are all
        self._sent = SentChunks()  # by former planners, or taken from this one
        self._rejections = ExpiryQueue()  # rejected tasks, until they are archived
        self._numbers: dict[str, int] = {}  # of the decisions, ascending
        self._ended: set[str] = set()  # tasks that ended early: no planner plans them
        self._outdated = False  # whether the plan ignores some of the time that is free

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The last decision on each task, in the order in which they were made."""
        with self._lock:
            return tuple(self._decisions.values())

    @property
    def decision_count(self) -> int:
        """How many decisions are not archived."""
        return len(self._decisions)

    @property
    def node_count(self) -> int:
        """How many nodes have numbers: also those that failed or were removed."""
        return self._node_count

    @property
    def promised_tasks(self) -> KeysView[str]:
        """A view of the identities of the accepted tasks that are not archived."""
        return self._queued.keys()

    def _instant(self, name: str, instant: Number) -> Number:
        """Return an instant that is not before now, or raise its fault."""
        try:
            found: Number = self._cast(_InitialState(instant).now)
        except InvalidInstanceError as error:
            faults = [Fault(name, fault.value, fault.rule) for fault in error.faults]
            raise InvalidInstanceError(faults) from None
        if found < self.now:
            rule = f"must not lie before {shown(simplest(self.now), 15)}"
            raise InvalidInstanceError([Fault(name, instant, rule)])
        return found

    def _arriving_task(self, task: object, *, asked: bool = False) -> QueuedTask:
        """Return an arriving task as the planner sees it, or raise its faults.

        One that is only asked about may have been submitted before.
        """
        if not isinstance(task, Task):
            raise NotApplicableError(f"a task is needed, not a {type(task).__name__}")
        before = None if asked else self._decisions.get(task.id)
        faults = self._submission_faults(task, before, self._cancelled)
        if task.remaining is not None:
            faults.append(Fault("remaining", task.remaining, "is for tasks of a state only"))
        if faults:
            raise InvalidInstanceError(faults)
        return self._to_queued_task(task, task.load)

    def _submission_faults(
        self, new: Submitted, before: Decided | None, cancelled: Container[str]
    ) -> list[Fault]:
        """Return what is wrong with the arrival and the identity of a task or a reservation."""
        faults, arrival = [], self._cast(new.arrival)
        if arrival < self.now:
            rule = f"must not lie before now, {shown(simplest(self.now), 15)}"
            faults.append(Fault("arrival", new.arrival, rule))
        if not new.id:
            faults.append(Fault("id", new.id, "must not be empty"))
        if new.id in cancelled:
            faults.append(Fault("id", new.id, "was accepted before, and taken back"))
        return [*faults, *resubmission_faults(new, arrival, before)]

    def _to_queued_task(self, task: Task, load: Number) -> QueuedTask:
        cast = self._cast
        arrival = cast(task.arrival)
        deadline = arrival + cast(task.deadline)
        key = self._rank(deadline), self._submissions
        return QueuedTask(key, task.id, arrival, cast(load), deadline, cast(task.weight))

    def _rank(self, deadline: Number) -> Number:
        """Return what the next task is planned in the order of."""
        return deadline

    def _known_decision(self, task: object) -> Decision | None:
        """Return the decision on a task that was submitted before with the same content."""
        if isinstance(task, Task):
            known = self._contents.get(task.id)
            if known is not None and known == task:
                return self._decisions[task.id]
        return None

    def _decision_on(self, task: str, at: Number, refused: Rejection | None) -> Decision:
        """Return a decision at an instant, which is not recorded."""
        if refused is None:
            return Decision(task, True, simplest(at), promised=self._promises)
        by, of = refused.miss
        return Decision(task, False, simplest(at), missed=refused.task.id, by=simplest(by), of=of)

    def _record_decision(self, decision: Decision) -> Decision:
        if decision.accepted:
            self._rejections.pop(decision.task, None)
        else:
            self._rejections[decision.task] = decision.at
        self._numbers[decision.task] = self._submissions
        self._decisions.pop(decision.task, None)  # the last decision is listed where it was made
        self._decisions[decision.task] = decision
        self._submissions += 1
        return decision
