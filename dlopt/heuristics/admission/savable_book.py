"""Books of divisible tasks that can be saved and restored."""

from __future__ import annotations

from abc import abstractmethod

from dlopt.arithmetic import Number
from dlopt.books.snapshots import PlainData, read_snapshot
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.no_nodes import NoNodesPlanner
from dlopt.heuristics.admission.planner_factory import Planner, Policy
from dlopt.heuristics.admission.queue import PlannedQueue
from dlopt.heuristics.admission.records import PlannerContent
from dlopt.heuristics.admission.replanning_engine import TaskReplacer
from dlopt.heuristics.admission.savable_stream import SavableStream
from dlopt.heuristics.admission.saved_planners import (
    plain_planner,
    saved_content,
)
from dlopt.heuristics.admission.saved_records import Snapshot
from dlopt.heuristics.admission.snapshot_faults import contradictions, promise_faults
from dlopt.problems.admission.data import Instance


class SavableBook(SavableStream[Snapshot]):
    """A book of divisible tasks that can be saved; its planners are those of `make_planner`."""

    algorithm: Policy
    planner: Planner
    _compiled: bool

    def snapshot(self) -> PlainData:
        """Return the whole state as plain data, for `json.dumps`.

        Exact numbers are written as texts ``"p/q"`` unless they are integers, floats as they are.

        Raises
        ------
        NotApplicableError
            If the algorithm is a printed one, which does not keep what it promises.

        Notes
        -----
        Guarantee: the book and every book that `restore` makes of the snapshot go on equally, in
        floats bit by bit. In floats this book, too, goes on from the numbers of the snapshot: sums
        of loads are added up again, so that its later decisions are those without a snapshot except
        within rounding of a deadline. Complexity: O(n + N) for `n` tasks that are not archived.

        Examples
        --------
        >>> import json
        >>> from dlopt import Admission
        >>> from dlopt.problems.admission import Task
        >>> from dlopt.problems.cluster import Cluster
        >>> head = Admission(Cluster(1, tau=1, chi=1))
        >>> head.submit(Task("a", arrival=0, load=2, deadline=5)).accepted
        True
        >>> text = json.dumps(head.snapshot())
        >>> again = Admission.restore(json.loads(text))
        >>> print(again.submit(Task("b", arrival=1, load=2, deadline=5)).reason)
        1 of the load of task b would miss its deadline
        """
        with self._lock:
            self._require_sound()
            self._take_sent()
            content = self.planner.content()
            if not self._is_exact:  # sums of floats depend on how they came about
                self.planner = self._planner_of(content)
            reset = getattr(self.algorithm, "reset", "idle")
            if reset != "idle":
                raise NotApplicableError(
                    f"{self.algorithm.name} with reset {reset} has no snapshot"
                )
            nodes = self._nodes or range(len(content.ready))
            data = self._plain_stream(Instance.problem)
            data["compiled"] = self._compiled
            data["planner"] = plain_planner(content, nodes)
            for option, name in (("tie_break", "events"), ("threshold", "threshold")):
                if hasattr(self.algorithm, name):
                    data[option] = getattr(self.algorithm, name)
            chosen = frozenset() if self._prices is None else self._prices.on_fewest
            if not chosen.isdisjoint(self._numbers.values()):
                data["on_fewest"] = sorted(chosen.intersection(self._numbers.values()))
            return data | self._plain_forecast()

    @classmethod
    def _read(cls, snapshot: object) -> Snapshot:
        return read_snapshot(snapshot, Instance.problem, Snapshot.from_data, contradictions)

    def _replacer(self, identity: str) -> TaskReplacer | None:
        task = self._queued.get(identity) if isinstance(identity, str) else None
        replacer = self.planner.replacer()
        if task is None or replacer is None or self._outdated:
            return None
        self._take_sent()
        waits = identity not in self._sent and self.planner.waits(task)
        return replacer if waits else None

    def _fill(self, saved: Snapshot) -> None:
        self._fill_stream(saved)
        self._fill_forecast(saved.forecast)
        if self._prices is not None:
            self._prices.on_fewest = frozenset(saved.on_fewest)
        content, nodes = saved_content(saved.planner, self._cast), saved.planner.nodes
        self._nodes = None if nodes == tuple(range(len(nodes))) else nodes
        self.planner = self._planner_of(content)
        found = list(promise_faults(saved, content, self._costs, self.planner, self.now))
        if found:
            raise InvalidInstanceError(found)
        tasks = (stored.task for stored in content.tasks)
        # EDF-IIT-1 keeps nodes busy until what it promised, even if their work ends before.
        algorithm = self.planner.algorithm if isinstance(self.planner, PlannedQueue) else None
        until_promise = algorithm is not None and algorithm.partition == "iit-1"
        ends = () if until_promise else zip(nodes, content.ready, strict=True)
        self._require_promises_kept(tasks, ends, content.channel)
        self._note_ends()

    @abstractmethod
    def _new_planner(
        self, ready: list[Number], channel: Number, *, restored: bool = False
    ) -> Planner:
        """Return a planner with an empty queue, or one that a content is loaded into next."""

    @property
    @abstractmethod
    def _costs(self) -> tuple[Number, ...]:
        """The unit times and set-up times in the numbers that are computed in."""

    def _planner_of(self, content: PlannerContent) -> Planner:
        """Return a planner with a content."""
        planner: Planner = NoNodesPlanner(content.channel)
        if content.ready:
            planner = self._new_planner(list(content.ready), content.channel, restored=True)
        planner.load(content)
        return planner
