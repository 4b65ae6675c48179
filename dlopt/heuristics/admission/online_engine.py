"""A clock and decisions on tasks: what the engines of `admission` and `multistage` share."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from dlopt.arithmetic import Number, NumberField, exact, is_exact, shown, simplest
from dlopt.books import ExpiryQueue
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.records import QueuedTask, Rejection
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


class OnlinePlanner(Protocol):
    """The planner of an algorithm, which decides on tasks as they arrive."""

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return who would miss; then the state is unchanged."""

    def load_promised(self, tasks: list[QueuedTask], now: Number) -> Rejection | None:
        """Load tasks that were promised before, into an empty queue."""

    def advance(self, now: Number) -> None:
        """Advance the clock: what was to be sent before an instant has been sent."""


class Planning(NamedTuple):
    """A planner that goes on from facts, and which node each of its nodes is."""

    planner: Any
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _InitialState(Record):
    now: NonNegative = 0
    ready_times: tuple[NonNegative, ...] = ()
    channel_ready: NonNegative = 0


class OnlineEngine(Guarded):
    """Decides on divisible tasks one by one. Subclasses set `algorithm` and `planner`.

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
    planner : OnlinePlanner
        What plans the accepted tasks; only the methods of this class may change it.
    """

    algorithm: NamedAlgorithm
    planner: OnlinePlanner
    _promises = True
    """Whether an accepted task is promised its deadline."""

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

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The last decision on each task, in the order in which they were made."""
        with self._lock:
            return tuple(self._decisions.values())

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
        return QueuedTask(key, task.id, arrival, cast(load), deadline)

    def _rank(self, deadline: Number) -> Number:
        """Return what the next task is planned in the order of."""
        return deadline

    def _renewed_planning(self, at: Number) -> Planning | None:
        """Return another planner that decides at an instant, None if there is none; see books."""
        return None

    def _go_on_with(self, planning: Planning) -> None:
        """Replace the planner."""

    def _renew(self) -> None:
        """Replace the planner by one that uses what was freed; see books."""

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
        self._decisions.pop(decision.task, None)  # the last decision is listed where it was made
        self._decisions[decision.task] = decision
        self._submissions += 1
        return decision
