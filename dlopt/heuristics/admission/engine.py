"""The online engine: one cluster, one algorithm, tasks submitted as they arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dlopt.arithmetic import Number, NumberField, exact, is_exact, shown, simplest
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.deadlines import earliest
from dlopt.heuristics.admission.planner_factory import Policy, make_planner, parse
from dlopt.heuristics.admission.queue import PlannedQueue
from dlopt.heuristics.admission.records import PlannedTask, QueuedTask
from dlopt.heuristics.guarded import Guarded
from dlopt.heuristics.resubmitted import resubmission_faults
from dlopt.problems.admission.data import Decision, Instance, Solution, Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import NonNegative, Record


class PromiseError(NotApplicableError):
    """An algorithm finds no plan that keeps the promises that a state comes with."""


@dataclass(frozen=True, slots=True)
class _InitialState(Record):
    now: NonNegative = 0
    ready_times: tuple[NonNegative, ...] = ()
    channel_ready: NonNegative = 0


class Admission(Guarded):
    """Decides on divisible tasks one by one, and keeps a plan for those it accepted.

    Parameters
    ----------
    cluster : Cluster
        Of identical nodes.
    algorithm : str or Policy, default "edf-iit-2"
        See :func:`dlopt.heuristics.admission.planner_factory.parse`.
    now : Number, default 0
    ready_times : sequence of Number, shape (nodes,), optional
        When each node becomes free; by default at once.
    channel_ready : Number, default 0
        When the head node can send again.
    exact_numbers : bool, optional
        Compute in fractions, or in floats; by default in fractions if no number above is a float.
    reference : bool, default False
        Use the reference implementation, which is slower. Its decisions are equal in exact
        numbers, and in floats except within rounding of a deadline.
    compiled : bool, default False
        Use compiled code (extra ``fast``) for the waiting tasks, in floats; decisions are equal
        but for rounding. Only FAST-EDF-IIT has such code.

    Attributes
    ----------
    now : Number
        The clock: the latest instant of an accepted task or of `advance`.
    planner : Planner
        What plans the accepted tasks; only the methods of this class may change it.

    Raises
    ------
    NotApplicableError
        If the nodes differ, or the algorithm does not exist.

    Notes
    -----
    Several threads may use one: a call waits until those before it have ended. Copies and pickles
    go on by themselves.

    Guarantee, of every algorithm that is not literal: a promised deadline is met, for the plan
    that `plan` returns is valid at all times, and an accepted task changes it only into another
    valid plan. A task is committed whole once its first transmission starts before `now`; until
    then it may be planned again. Complexity of a decision with `n` tasks after the new one:
    O(n g), where `g` is the number of different ready times that a task meets, small whatever
    the number of nodes.

    Source: Mamat 2011, figure 4.1; the modules of this package say how its open points are decided.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> head = Admission(Cluster(2, tau=1, chi=1), "edf-iit-2")
    >>> head.submit(Task("a", arrival=0, load=1, deadline=2)).accepted
    True
    >>> print(head.submit(Task("b", arrival=0, load=1, deadline=2)).reason)
    1/2 of the load of task b would miss its deadline
    >>> [chunk.node for chunk in head.plan().chunks]
    [0]
    """

    def __init__(
        self,
        cluster: Cluster,
        algorithm: str | Policy = "edf-iit-2",
        *,
        now: Number = 0,
        ready_times: Sequence[Number] = (),
        channel_ready: Number = 0,
        exact_numbers: bool | None = None,
        reference: bool = False,
        compiled: bool = False,
    ) -> None:
        if not isinstance(cluster, Cluster):
            raise NotApplicableError(f"a cluster is needed, not a {type(cluster).__name__}")
        if not cluster.identical:
            raise NotApplicableError("admission algorithms need identical nodes")
        policy = parse(algorithm)
        state = _InitialState(now, ready_times, channel_ready)  # type: ignore[arg-type]
        now, channel_ready = state.now, state.channel_ready
        ready = state.ready_times or (now,) * cluster.nodes
        if len(ready) != cluster.nodes:
            rule = f"must have one entry for each of the {cluster.nodes} nodes"
            raise InvalidInstanceError([Fault("ready_times", len(ready), rule)])
        if exact_numbers is None:
            exact_numbers = cluster.exact and is_exact((now, channel_ready, *ready))
        if compiled and exact_numbers:
            raise NotApplicableError("compiled code is for floats: exact_numbers must be False")
        cast: NumberField = exact if exact_numbers else float
        self.cluster = cluster
        self.algorithm = policy
        self.now: Number = cast(now)
        self._cast = cast
        self._costs = tuple(
            cast(cost)
            for cost in (cluster.tau_of(0), cluster.chi_of(0), cluster.theta_cm, cluster.theta_cp)
        )
        # One object an instant: equal ones are then recognised without arithmetic.
        instants = {instant: cast(instant) for instant in set(ready)}
        self._ready = [instants[instant] for instant in ready]
        self.planner = make_planner(
            policy,
            self._costs,
            self._ready,
            cast(channel_ready),
            self.now,
            reference=reference,
            compiled=compiled,
        )
        self._decisions: dict[str, Decision] = {}
        self._submissions = 0

    @classmethod
    def of(
        cls, instance: Instance, algorithm: str | Policy = "edf-iit-2", *, reference: bool = False
    ) -> Admission:
        """Start from the state of an instance: its tasks from before ``now`` are planned.

        Raises
        ------
        PromiseError
            If the algorithm cannot plan these.
        """
        engine = cls(
            instance.cluster,
            algorithm,
            now=instance.now,
            ready_times=instance.free_times,
            channel_ready=instance.channel_free,
            exact_numbers=instance.exact,
            reference=reference,
        )
        remaining, promised, control = (
            instance.remaining,
            instance.promised,
            engine.algorithm.control,
        )
        waiting = []
        for task in instance.tasks:
            if task.id in promised:
                if remaining[task.id] > 0:
                    waiting.append(engine._to_queued_task(task, remaining[task.id]))
                engine._record_decision(task.id, True, engine._cast(task.arrival), promised=control)
        refused = engine.planner.load_promised(waiting, engine.now)
        if refused is not None:
            name = engine.algorithm.name
            raise PromiseError(f"{name} finds no plan that keeps the promise to {refused.task.id}")
        return engine

    @property
    def waiting(self) -> tuple[str, ...]:
        """Identities of the tasks that are not committed yet, in the order of the plan."""
        with self._lock:
            return tuple(task.id for task in self.planner.tasks)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The last decision on each identity, in the order in which they were made."""
        with self._lock:
            return tuple(self._decisions.values())

    def submit(self, task: Task) -> Decision:
        """Decide on a task that arrives.

        Parameters
        ----------
        task : Task
            Its arrival must not lie before `now`. Tasks of one instant are decided in the order
            in which they are submitted, before anything is sent at that instant. It may have the
            identity of a task that was rejected, not after its own arrival; then it takes the
            place of that task.

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
        >>> from dlopt.problems.admission import Task
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
            new = self._arriving_task(task)
            refused = self.planner.try_admit(new)
            if refused is not None:
                by, of = refused.miss
                rest = {"missed": refused.task.id, "by": simplest(by), "of": of}
                return self._record_decision(task.id, False, new.arrival, **rest)
            self.now = new.arrival
            return self._record_decision(
                task.id, True, new.arrival, promised=self.algorithm.control
            )

    def earliest_deadline(self, task: Task) -> Number | None:
        """Return the earliest deadline with which a task would be accepted; changes nothing.

        It is what the head node can offer to a client whose task it rejects.

        Parameters
        ----------
        task : Task
            As for `submit`, or one that was rejected; its own deadline does not matter.

        Returns
        -------
        Number or None
            Relative to the arrival. With any earlier one the task is rejected; with a later one it
            may be rejected again, for it may then have another position in the order, or fewer
            nodes. None if it would be rejected with every deadline, as it may be under MWF and
            MCDF, which do not order by deadlines.

        Raises
        ------
        InvalidInstanceError
            As `submit` does.
        NotApplicableError
            If the algorithm promises nothing, or is a printed one that breaks promises.

        Notes
        -----
        Exact in exact numbers (``fast-edf-iit-minimal``, whose test has no earliest one where the
        task would be sent until its deadline, answers a billionth later then). In floats late by
        256 units in the last place of the absolute deadline at the most, and
        ``fast-edf-iit-simulated`` by what it forgives as rounding. Complexity: a decision for each
        deadline at which one of the comparisons changes that lies before the answer: for each place
        in the order, at the most as many as there are nodes. FAST-EDF-IIT is asked once.

        Examples
        --------
        >>> from dlopt.problems.admission import Task
        >>> from dlopt.problems.cluster import Cluster
        >>> head = Admission(Cluster(2, tau=1, chi=1), "edf-iit-2")
        >>> head.submit(Task("a", arrival=0, load=1, deadline=2)).accepted
        True
        >>> task = Task("b", arrival=0, load=1, deadline=2)
        >>> head.submit(task).accepted, head.earliest_deadline(task)
        (False, Fraction(5, 2))
        """
        with self._lock:
            new = self._arriving_task(task, asked=True)
            if not self.algorithm.control:
                raise NotApplicableError(f"{self.algorithm.name} promises no deadline")
            if self.algorithm.literal:
                raise NotApplicableError(f"{self.algorithm.name} does not keep what it promises")
            found = earliest(self.planner.decider(new.arrival), new)
            return None if found is None else simplest(found)

    def advance(self, now: Number) -> None:
        """Advance the clock: what was to be sent before `now` has been sent.

        Raises
        ------
        InvalidInstanceError
            If `now` lies before the engine's clock.
        """
        with self._lock:
            instant = self._cast(_InitialState(now).now)
            if instant < self.now:
                rule = f"must not lie before {shown(simplest(self.now), 15)}"
                raise InvalidInstanceError([Fault("now", now, rule)])
            self.planner.advance(instant)
            self.now = instant

    def plan(self) -> Solution:
        """Return all decisions, and the chunks of all accepted tasks, sent or only planned.

        It is a plan for the tasks as they were submitted last: of one that was rejected and
        submitted again, the first content is forgotten.
        """
        with self._lock:
            return Solution(self.decisions, self.planner.chunks())

    def placements(self) -> tuple[PlannedTask, ...]:
        """Return the placement of each accepted task, sent or only planned, without its chunks.

        Raises
        ------
        NotApplicableError
            If the algorithm plans nothing.
        """
        with self._lock:
            if not isinstance(self.planner, PlannedQueue):
                raise NotApplicableError(f"{self.algorithm.name} has no placements of tasks")
            return self.planner.placements()

    def _arriving_task(self, task: object, *, asked: bool = False) -> QueuedTask:
        """Return an arriving task as the planner sees it, or raise its faults.

        One that is only asked about may have been submitted before.
        """
        if not isinstance(task, Task):
            raise NotApplicableError(f"a task is needed, not a {type(task).__name__}")
        new = self._to_queued_task(task, task.load)
        faults = []
        if new.arrival < self.now:
            rule = f"must not lie before now, {shown(simplest(self.now), 15)}"
            faults.append(Fault("arrival", task.arrival, rule))
        if not task.id:
            faults.append(Fault("id", task.id, "must not be empty"))
        if not asked:
            faults += resubmission_faults(task, new.arrival, self._decisions.get(task.id))
        if task.remaining is not None:
            faults.append(Fault("remaining", task.remaining, "is for tasks of a state only"))
        if faults:
            raise InvalidInstanceError(faults)
        return new

    def _to_queued_task(self, task: Task, load: Number) -> QueuedTask:
        cast = self._cast
        arrival = cast(task.arrival)
        deadline = arrival + cast(task.deadline)
        number = self._submissions
        key = (number if self.algorithm.order == "fifo" else deadline, number)
        return QueuedTask(key, task.id, arrival, cast(load), deadline)

    def _record_decision(self, task: str, accepted: bool, at: Number, **rest: Any) -> Decision:
        decision = Decision(task, accepted, simplest(at), **rest)
        self._decisions.pop(task, None)  # the last decision is listed where it was made
        self._decisions[task] = decision
        self._submissions += 1
        return decision
