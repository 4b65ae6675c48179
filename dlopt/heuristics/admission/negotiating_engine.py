"""What a book of divisible tasks says beyond a rejection: what would be accepted, and why not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from dlopt.arithmetic import Number, converted
from dlopt.books import Conflict, ConflictPart, Offer
from dlopt.books.verb_results import ranked
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.fast.planner import FastPlanner
from dlopt.heuristics.admission.irreducible_conflict import (
    EXACT_SHARE,
    MAX_PLANNED_TASKS,
    MAX_SUMMED_TASKS,
    find_conflict,
)
from dlopt.heuristics.admission.offers import TaskOffers
from dlopt.heuristics.admission.records import QueuedTask, Rejection
from dlopt.heuristics.admission.replanning_engine import ReplanningEngine
from dlopt.heuristics.admission.stream_facts import StreamFacts
from dlopt.problems.admission.data import Task


class NegotiatingEngine(ReplanningEngine):
    """An engine that makes counter-offers to a rejected task, and names what stands in its way."""

    _max_planned_tasks = MAX_PLANNED_TASKS
    """How many tasks are planned at the most in search of what stands in the way."""

    def offer(self, task: Task, *, k: int = 3) -> tuple[Offer[Task], ...]:
        """Return up to k alternatives to a task that would be rejected; changes nothing.

        Parameters
        ----------
        task : Task
            As for `submit`; also one that was rejected, unless it arrives in the past by now.
        k : int, default 3
            How many, at the most; there are three dimensions.

        Returns
        -------
        tuple of Offer
            By their concessions, the smallest first: the earliest ``deadline``, the largest
            ``load``, and the shortest ``wait``, after which the same task with the same relative
            deadline is accepted if nothing else is submitted until then. A dimension in which
            nothing is accepted, or nothing was found, is left out. Empty if the task would be
            accepted, or if all are left out; `ask` tells which.

        Raises
        ------
        InvalidInstanceError
            As `submit`, or if `k` is no positive integer.
        NotApplicableError
            If the algorithm promises nothing, has bid prices, or is a printed one that breaks
            promises.

        Notes
        -----
        Each is accepted by the algorithm's own test. The search goes from one breakpoint of that
        test to the next, of which there may be as many as there are tasks times nodes; where they
        are too many, it goes on by bisection. It is by bisection alone, and not ``least``, for
        edf-iit-1, the algorithms with ``iit`` on all nodes, ``fast-edf-iit-minimal``, and where
        engines are made with `compiled`. Complexity: a decision for each step.

        Examples
        --------
        >>> from dlopt import Admission
        >>> from dlopt.problems.cluster import Cluster
        >>> head = Admission(Cluster(2, tau=1, chi=1))
        >>> head.submit(Task("a", arrival=0, load=1, deadline=2)).accepted
        True
        >>> for offer in head.offer(Task("b", arrival=0, load=1, deadline=2)):
        ...     print(offer.dimension, offer.value, offer.submission.arrival, offer.least)
        deadline 5/2 0 True
        wait 1/2 1/2 True
        load 1/2 0 True
        """
        with self._lock:
            check_offer_count(k)
            known = self._known_decision(task)
            if known is not None and known.accepted:
                return ()
            new = self._arriving_task(task)
            self._require_promises()
            self._require_no_prices()
            planner = self._deciding_planner(new.arrival)

            def accepts(submission: Task) -> bool:
                before = self._known_decision(submission)
                if before is not None:
                    return before.accepted
                offered = self._arriving_task(submission)
                return _refusal(planner, offered) is None

            if accepts(task):
                return ()
            due = self._cast(task.deadline)
            offers = TaskOffers(planner, task, new, due, self._rank, self._idle_at(), accepts)
            return ranked(tuple(offers.all()), k)

    def why(self, task: Task) -> Conflict | None:
        """Return what stands in the way of a task; None if it would be accepted.

        Parameters
        ----------
        task : Task
            As for `offer`.

        Returns
        -------
        Conflict or None
            Its parts are promised tasks; nodes that were removed, have failed, or were not ready
            from the beginning; and the channel, if it was not. Without a task, what it has sent is
            broken off now, and the others are planned again; without a node or the channel, that
            is in service and ready from now on. Where several conflicts explain the rejection, it
            is one of nodes and channel rather than of tasks, and of large tasks rather than small.

        Raises
        ------
        InvalidInstanceError, NotApplicableError
            As `offer`; or if the algorithm cannot plan again on a busy cluster.

        Notes
        -----
        Complexity: O(k log(n / k)) plans for `k` of `n` parts; of ``fast-edf-iit`` and
        ``fast-edf-iit-linear``, for a task that arrives now, so many sums of loads. Where `k` is
        large, as when a thousand small tasks fill the time before a deadline, the search is broken
        off after some seconds, and the parts suffice, but need not be necessary
        (`Conflict.irreducible`).

        Source: Junker 2004, see `dlopt.books.irreducible_conflict`.

        Examples
        --------
        >>> from dlopt import Admission
        >>> from dlopt.problems.cluster import Cluster
        >>> head = Admission(Cluster(2, tau=1, chi=1))
        >>> head.submit(Task("a", arrival=0, load=1, deadline=2)).accepted
        True
        >>> print(head.why(Task("b", arrival=0, load=1, deadline=2)))
        1/2 of the load of task b would miss its deadline; in the way: task a
        >>> head.resources(fail=[0])
        Consequences(broken=(), moved=(), least=True)
        >>> print(head.why(Task("b", arrival=0, load=2, deadline=3)))
        3/2 of the load of task b would miss its deadline; in the way: node 0
        """
        with self._lock:
            known = self._known_decision(task)
            if known is not None and known.accepted:
                return None
            new = self._arriving_task(task)
            self._require_promises()
            self._require_no_prices()
            refused = _refusal(self._deciding_planner(new.arrival), new)
            if refused is None:
                return None
            facts, last = self._present_facts(), max(refused.task.key, new.key)
            parts = self._parts_of(facts)
            later = {ConflictPart("task", one.id) for one in facts.waiting if one.key > last}
            likely = [part for part in parts if part not in later]

            def rejects(kept: Sequence[ConflictPart]) -> bool:
                return self._rejects(self._facts_with(facts, kept), new)

            sums = self._rejected_by_sums(facts, new) is not None
            limit = MAX_SUMMED_TASKS if sums else self._max_planned_tasks
            limit //= EXACT_SHARE if self._is_exact else 1
            reason = self._decision_on(task.id, new.arrival, refused).reason or ""
            return find_conflict(reason, parts, likely, rejects, limit)

    def _parts_of(self, facts: StreamFacts) -> list[ConflictPart]:
        """Return all that may stand in the way of a submission, the preferred parts first."""
        nodes = range(self._node_count)
        unready = (node for node in nodes if facts.ready.get(node, self.now + 1) > self.now)
        parts = [ConflictPart("node", str(node)) for node in unready]
        if facts.channel > self.now:
            parts.append(ConflictPart("channel"))
        loads: dict[str, Number] = {task.id: task.load for task in facts.waiting}
        for chunk in facts.chunks:
            loads[chunk.task] = loads.get(chunk.task, 0) + chunk.load
        largest = sorted(loads, key=lambda name: loads[name], reverse=True)
        return parts + [ConflictPart("task", name) for name in largest]

    def _rejects(self, facts: StreamFacts, new: QueuedTask) -> bool:
        """Tell whether a task would be rejected after some facts, or they could not be planned."""
        by_sums = self._rejected_by_sums(facts, new)
        if by_sums is not None:
            return by_sums
        found = self._plan(facts)
        return isinstance(found, Rejection) or _refusal(found.planner, new) is not None

    def _rejected_by_sums(self, facts: StreamFacts, new: QueuedTask) -> bool | None:
        """Tell the same from sums of loads alone, or return None."""
        planner = self._plan_nothing(facts).planner
        if not isinstance(planner, FastPlanner):
            return None
        return planner.rejects_sum(facts.waiting, new)

    def _facts_with(self, facts: StreamFacts, kept: Iterable[ConflictPart]) -> StreamFacts:
        """Return the facts as if, of all that may stand in the way, some parts alone were there."""
        now, nodes = self.now, range(self._node_count)
        names: dict[str, set[str]] = {"task": set(), "node": set(), "channel": set()}
        for part in kept:
            names[part.kind].add(part.id)
        busy = set(map(int, names["node"]))
        ready = {
            node: facts.ready.get(node, now) if node in busy else now
            for node in nodes
            if node not in busy or node in facts.ready
        }
        channel = facts.channel if names["channel"] else now
        return replace(facts.only(names["task"]), ready=ready, channel=channel)

    def _deciding_planner(self, at: Number) -> Any:
        """Return the planner that decides on a submission at an instant."""
        renewed = self._renewed_planning(at)
        return self.planner if renewed is None else renewed.planner

    def _idle_at(self) -> Number:
        """Return an instant by which all that is promised is over, and all nodes are ready."""
        deadlines = (task.deadline for task in self._queued.values())
        ends = (chunk.computation_end for chunk in self._sent)
        ready = self._in_service.values()
        return max((self.now, self._channel_ready, *deadlines, *ends, *ready))

    def _require_promises(self) -> None:
        """Raise an error if the algorithm promises nothing, or does not keep what it promises."""
        if not self._promises:
            raise NotApplicableError(f"{self.algorithm.name} promises no deadline")
        self._require_sound()

    def _require_no_prices(self) -> None:
        """Raise an error if the algorithm has bid prices, as one that makes no offers to tasks."""
        if self._prices is not None:
            text = "makes no counter-offers to tasks: its prices change with every arrival"
            raise NotApplicableError(f"{self.algorithm.name} {text}")


def check_offer_count(k: int) -> None:
    """Raise an error if a number of offers is no positive integer."""
    number = converted(k)
    if type(number) is not int or number < 1:
        raise InvalidInstanceError([Fault("k", k, "must be a positive integer")])


def _refusal(planner: Any, new: QueuedTask) -> Rejection | None:
    """Return who would miss if a task were accepted."""
    refused: Rejection | None = planner.decider(new.arrival).would_reject(new)
    return refused
