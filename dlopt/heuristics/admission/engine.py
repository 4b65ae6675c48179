"""The online engine: one cluster, one algorithm, tasks submitted as they arrive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from dlopt.arithmetic import Number, simplest
from dlopt.errors import NotApplicableError, short_text
from dlopt.heuristics.admission.bid_prices import BidPrices
from dlopt.heuristics.admission.deadlines import earliest
from dlopt.heuristics.admission.planner_factory import Planner, Policy, make_planner, parse
from dlopt.heuristics.admission.priced_algorithm import PricedAlgorithm
from dlopt.heuristics.admission.progress_book import ProgressBook
from dlopt.heuristics.admission.queue import PlannedQueue
from dlopt.heuristics.admission.records import PlannedTask
from dlopt.heuristics.admission.savable_book import SavableBook
from dlopt.heuristics.admission.saved_records import Snapshot
from dlopt.heuristics.admission.snapshot_faults import saved_policy
from dlopt.problems.admission.data import Instance, Solution, Task
from dlopt.problems.cluster import Cluster


class Admission(ProgressBook, SavableBook):
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
    compiled : bool, default False
        Use compiled code (extra ``fast``) for the waiting tasks, in floats; decisions are equal
        but for rounding. Only FAST-EDF-IIT has such code.

    Attributes
    ----------
    now : Number
        The clock: the latest instant of an accepted task or of `advance`.

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
        compiled: bool = False,
    ) -> None:
        if not isinstance(cluster, Cluster):
            raise NotApplicableError(f"a cluster is needed, not a {type(cluster).__name__}")
        if not cluster.identical:
            raise NotApplicableError("admission algorithms need identical nodes")
        policy = parse(algorithm)
        super().__init__(cluster, now, ready_times, channel_ready, exact_numbers)
        if compiled and self._is_exact:
            raise NotApplicableError("compiled code is for floats: exact_numbers must be False")
        self.algorithm: Policy = policy
        self._promises = policy.control
        self._prices = BidPrices() if isinstance(policy, PricedAlgorithm) else None
        self._compiled = compiled
        self.planner: Planner = self._new_planner(self._ready, self._channel_ready)

    @classmethod
    def of(cls, instance: Instance, algorithm: str | Policy = "edf-iit-2") -> Self:
        """Start from the state of an instance: its tasks from before ``now`` are planned.

        Raises
        ------
        NotApplicableError
            If it is no instance of `admission`.
        PromiseError
            If the algorithm cannot plan these.
        """
        if not isinstance(instance, Instance):
            raise NotApplicableError(
                f"an instance of admission is needed, got {short_text(instance)}"
            )
        engine = cls(
            instance.cluster,
            algorithm,
            now=instance.now,
            ready_times=instance.free_times,
            channel_ready=instance.channel_free,
            exact_numbers=instance.exact,
        )
        remaining, promised = instance.remaining, instance.promised
        engine._load_promised(
            (task, remaining[task.id]) for task in instance.tasks if task.id in promised
        )
        return engine

    @property
    def waiting(self) -> tuple[str, ...]:
        """Identities of the tasks that are not committed yet, in the order of the plan."""
        with self._lock:
            return tuple(task.id for task in self.planner.tasks)

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
            self._require_promises()
            self._require_no_prices()
            found = earliest(self._deciding_planner(new.arrival).decider(new.arrival), new)
            return None if found is None else simplest(found)

    def plan(self) -> Solution:
        """Return all decisions, and the chunks of all accepted tasks, sent or only planned.

        It is a plan for the tasks as they were submitted last: of one that was rejected and
        submitted again, the first content is forgotten.
        """
        with self._lock:
            return Solution(self.decisions, (*self._sent, *self._planned_chunks()))

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

    @classmethod
    def _with_settings(cls, saved: Snapshot) -> Self:
        return cls(
            saved.cluster,
            saved_policy(saved),
            now=saved.now,
            exact_numbers=saved.exact_numbers,
            compiled=saved.compiled,
        )

    def _new_planner(
        self, ready: list[Number], channel: Number, *, restored: bool = False
    ) -> Planner:
        return make_planner(
            self.algorithm,
            self._costs,
            ready,
            channel,
            self.now,
            compiled=self._compiled,
            restored=restored,
            prices=self._prices,
        )

    @property
    def _costs(self) -> tuple[Number, ...]:
        """The unit times and set-up times in the numbers that are computed in."""
        return tuple(map(self._cast, self.cluster.costs_of(0)))

    @property
    def _is_literal(self) -> bool:
        return self.algorithm.literal

    def _rank(self, deadline: Number) -> Number:
        return self._submissions if self.algorithm.order == "fifo" else deadline
