"""The core of the engine: a queue of accepted tasks with a plan, in plain numbers.

:class:`dlopt.heuristics.admission.engine.Admission` puts records, identities and decisions around
it; the simulator uses it as it is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, cast

from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission import chunks
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.deadlines import Place, at_places, ranks, while_overtaking
from dlopt.heuristics.admission.dispatching_rules import (
    Lost,
    Placer,
    Planned,
    Refused,
    Span,
    State,
    Waiting,
    by_derivative,
    in_order,
)
from dlopt.heuristics.admission.edf_iit_1 import Estimated
from dlopt.heuristics.admission.edf_iit_2 import Inserted
from dlopt.heuristics.admission.mcdf import overtaking
from dlopt.heuristics.admission.opr_epr import Together
from dlopt.heuristics.admission.ready_times import Nodes
from dlopt.heuristics.admission.reference_planner import (
    PlainInserted,
    PlainNodes,
    PlainTogether,
    plain_by_derivative,
    plain_overtaking,
)
from dlopt.problems.admission.data import Chunk

STRIDE = 32
"""A copy of the nodes is kept for every so many tasks in the queue."""


class Queue:
    """Accepted tasks that have not been sent yet, each with its place; and those sent.

    Parameters
    ----------
    algorithm : Algorithm
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``, all in one field.
    ready : sequence of Number, shape (nodes,)
        When each node becomes free.
    channel : Number
        When the channel becomes free.
    plain : bool, default False
        Plan the straightforward way: see `dlopt.heuristics.admission.reference_planner`.

    Attributes
    ----------
    waiting : list of Planned
        In the order of the plan, which is that of their starts.
    sent : list of Planned
        In the order in which they were sent.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        costs: tuple[Any, ...],
        ready: Sequence[Any],
        channel: Any,
        *,
        plain: bool = False,
    ) -> None:
        if plain and algorithm.partition == "iit-1":
            raise NotApplicableError(f"{algorithm.name} has no plain twin")
        self.algorithm = algorithm
        self._costs, self._ready, self._channel = costs, tuple(ready), channel
        self.waiting: list[Planned] = []
        self.sent: list[Planned] = []
        inserted = algorithm.partition == "iit"
        fast: Any = Inserted if inserted else Together
        if algorithm.partition == "iit-1":
            fast = Estimated
        self.placer: Placer = fast(algorithm, costs, len(ready))
        """What says which node gets what."""
        self._planner: Any = self.placer
        self._base: Any = Nodes(ready, channel)
        self._by_derivative: Any = by_derivative
        self._overtaking: Any = overtaking
        if plain:
            twin = PlainInserted if inserted else PlainTogether
            self._planner = twin(algorithm, costs, len(ready))
            self._base = PlainNodes(ready, channel)
            self._by_derivative, self._overtaking = plain_by_derivative, plain_overtaking
        self._derived = algorithm.order == "mwf"
        self._whole = plain or algorithm.order == "mcdf"
        self._marks: list[tuple[int, Any]] = []
        self._gone = 0

    def __len__(self) -> int:
        return len(self.waiting)

    @property
    def tasks(self) -> list[Waiting]:
        """The tasks that wait, in the order of the plan."""
        return [planned.task for planned in self.waiting]

    def count(self, now: Any) -> int:
        """Return how many tasks wait at an instant, if no other one is accepted."""
        return len(self.waiting) - self._begun(now)

    def placements(self, before: Any = None) -> tuple[Planned, ...]:
        """Return where tasks were put: all, or those begun to be sent before an instant."""
        count = None if before is None else self._begun(before)
        return (*self.sent, *self.waiting[:count])

    def served(self, before: Any = None) -> Iterator[Span]:
        """Yield each accepted task, or each that begins to be sent before an instant."""
        for task, place in self.placements(before):
            yield Span(task, place.start, place.end)

    def lost(self) -> list[Lost]:
        """Return nothing: all that is planned is sent."""
        return []

    def chunks(self, before: Any = None) -> tuple[Chunk, ...]:
        """Return the chunks of `served`, in the order of transmission."""
        return chunks.chunks(self.placer, self._costs, self._ready, self.placements(before))

    def state(self, now: Any) -> State:
        """Return what the cluster is at an instant, and what waits."""
        sent = self.placements(now)
        ready = chunks.free_after(self._ready, sent)
        channel = max((place.sent for _, place in sent), default=self._channel)
        tasks = [planned.task for planned in self.waiting[self._begun(now) :]]
        return State(ready, max(channel, self._channel), tasks)

    def offer(self, new: Waiting) -> Refused | None:
        """Accept a task that arrives now, or return which task would miss; then nothing changes.

        The tasks before the first that changes its place in the order keep their places: what was
        planned for them at an earlier instant is what would be planned now.
        """
        found = self._replanned(new)
        if isinstance(found, Refused):
            return found
        at, plan, marks = found
        begun = self._begun(new.arrival)
        self.waiting[at:] = plan
        self._marks = [mark for mark in self._marks if mark[0] < at + self._gone] + marks
        self._commit(begun)
        return None

    def decider(self, now: Any) -> Queue:
        """Return the queue itself, which is what decides."""
        return self

    def refusal(self, new: Waiting) -> Refused | None:
        """Return which task would miss if one that arrives now were accepted; nothing changes."""
        found = self._replanned(new)
        return found if isinstance(found, Refused) else None

    def deadlines(self, new: Waiting) -> Iterator[Any]:
        """Yield the deadlines of which the earliest that is accepted, if any, is one; ascending."""
        if self.algorithm.order != "mcdf":
            return at_places(self.placer, self._places(new), new.load)
        begun, channel = self._begun(new.arrival), self.algorithm.channel
        rest = [planned.task for planned in self.waiting[begun:]]
        nodes = self._nodes_before(begun)
        return while_overtaking(cast(Together, self.placer), nodes, new, rest, channel)

    def _replanned(
        self, new: Waiting
    ) -> tuple[int, list[Planned], list[tuple[int, Any]]] | Refused:
        """Plan with a new task: return how many tasks keep their places, the others, and marks."""
        begun = at = self._begun(new.arrival)
        if not self._whole and not self._derived:
            at = max(begun, bisect_right(self.waiting, new.key, key=_key))
            behind = [new, *(planned.task for planned in self.waiting[at:])]
        else:
            rest = (planned.task for planned in self.waiting[begun:])
            ordered = self._ordered([new, *rest], new.arrival)
            if isinstance(ordered, Refused):
                return ordered
            same = 0 if self._whole else self._in_place(ordered, begun)
            behind, at = ordered[same:], begun + same
        marks: list[tuple[int, Any]] = []
        plan = self._planned(self._before(at), behind, new.arrival, at + self._gone, marks)
        return plan if isinstance(plan, Refused) else (at, plan, marks)

    def restore(self, tasks: list[Waiting], now: Any) -> Refused | None:
        """Plan tasks that were promised before, into an empty queue."""
        ordered = self._ordered(tasks, now)
        if isinstance(ordered, Refused):
            return ordered
        plan = self._planned(self._base.copy(), ordered, now, 0, [])
        if isinstance(plan, Refused):
            return plan
        self.waiting = plan
        return None

    def advance(self, now: Any) -> None:
        """Send what was to be sent before an instant."""
        self._commit(self._begun(now))

    def _begun(self, instant: Any) -> int:
        """Return how many tasks have been sent, or begun to be, before an instant."""
        return bisect_left(self.waiting, instant, key=_start)

    def _ordered(self, tasks: list[Waiting], now: Any) -> list[Waiting] | Refused:
        tasks = sorted(tasks)
        found: list[Waiting] | Refused = tasks
        if self._derived:
            found = self._by_derivative(self._planner, tasks, now)
        return found

    def _in_place(self, ordered: list[Waiting], begun: int) -> int:
        """Return how many tasks, of those that have not begun, come first in an order as before."""
        same = 0
        for task, planned in zip(ordered, islice(self.waiting, begun, None), strict=False):
            if task is not planned.task:
                break
            same += 1
        return same

    def _places(self, new: Waiting) -> Iterator[Place]:
        """Yield the places that a new task may have in the order, by its deadline."""
        now, channel = new.arrival, self.algorithm.channel
        begun, size = self._begun(now), len(self.waiting)

        def place(nodes: Nodes, low: Any, high: Any | None) -> Place:
            return Place(nodes, max(now, nodes.channel) if channel else now, max(low, now), high)

        if self.algorithm.order == "fifo":
            yield place(self._nodes_before(size), now, None)
        elif not self._derived:
            dates = [planned.task.deadline for planned in self.waiting[begun:]]
            for before, (low, high) in enumerate(pairwise((now, *dates, None))):
                yield place(self._nodes_before(begun + before), low, high)
        else:
            yield from self._derived_places(new, begun, place)

    def _derived_places(
        self, new: Waiting, begun: int, place: Callable[[Nodes, Any, Any | None], Place]
    ) -> Iterator[Place]:
        """Yield the places that a new task may have under MWF."""
        placer = cast(Together, self.placer)
        tasks = by_derivative(placer, [one.task for one in self.waiting[begun:]], new.arrival)
        assert not isinstance(tasks, Refused)  # each is planned
        for before, low, high in ranks(placer, new, tasks):
            nodes = self._nodes_before(begun)
            plan = in_order(placer, nodes, tasks[:before], new.arrival, self.algorithm.channel)
            if not isinstance(plan, Refused):
                yield place(nodes, low, high)

    def _nodes_before(self, at: int) -> Nodes:
        """Return the nodes as the first `at` tasks leave them, however the queue plans."""
        nodes = self._before(at)
        return nodes if isinstance(nodes, Nodes) else Nodes(nodes.times, nodes.channel)

    def _before(self, at: int) -> Any:
        """Return the nodes as the first `at` tasks of the queue leave them."""
        mark = bisect_right(self._marks, at + self._gone, key=_position)
        first, nodes = 0, self._base
        if mark:
            position, nodes = self._marks[mark - 1]
            first = position - self._gone
        nodes = nodes.copy()
        for planned in self.waiting[first:at]:
            nodes.hold(planned.placement)
        return nodes

    def _planned(
        self, nodes: Any, tasks: list[Waiting], now: Any, count: int, marks: list[tuple[int, Any]]
    ) -> list[Planned] | Refused:
        """Plan tasks, the first of which has `count` before it, and mark the nodes at times."""
        channel, planner = self.algorithm.channel, self._planner
        if self.algorithm.order == "mcdf":
            plan: list[Planned] | Refused
            plan = self._overtaking(planner, nodes, tasks, now, channel)
            return plan
        if self._whole:
            return in_order(planner, nodes, tasks, now, channel)

        def mark(state: Any) -> None:
            nonlocal count
            if count % STRIDE == 0:
                marks.append((count, state.copy()))
            count += 1

        return in_order(planner, nodes, tasks, now, channel, mark)

    def _commit(self, count: int) -> None:
        if count:
            for planned in self.waiting[:count]:
                self._base.hold(planned.placement)
            self.sent += self.waiting[:count]
            del self.waiting[:count]
            self._gone += count
            self._marks = [mark for mark in self._marks if mark[0] > self._gone]


def _key(planned: Planned) -> Any:
    return planned.task.key


def _start(planned: Planned) -> Any:
    return planned.placement.start


def _position(mark: tuple[int, Any]) -> int:
    return mark[0]
