"""Local search over the order in which tasks are scheduled (`local-search`).

Online algorithms decide about a task when it arrives. This method knows all tasks of the stream,
and searches for an order in which many of them are on time. `dlopt.heuristics.admission.task_order`
makes schedules of orders.
"""

from __future__ import annotations

import random
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from heapq import heappop, heappush
from math import exp, inf

from dlopt.arithmetic import Number, exact
from dlopt.heuristics.admission.methods import identical_nodes
from dlopt.heuristics.admission.task_order import (
    ASSIGNMENTS,
    OrderScheduler,
    Position,
    TaskOrder,
)
from dlopt.heuristics.admission.time_origin import dated, from_origin, origin_of
from dlopt.incumbents import offer
from dlopt.problems.admission.claimed_values import claimed_value
from dlopt.problems.admission.data import Instance, Solution
from dlopt.problems.admission.goals import default_objective
from dlopt.result import NO_LIMITS, Limits, Result, Status, StoppedBy

__all__ = ["identical_nodes", "local_search"]

SHARES = tuple(number / 10 for number in range(10, 2, -1))
"""Of the tasks, those of the largest weight for their load, which an initial order has first."""
MAX_PLACEMENTS = 200_000
"""Placements of tasks in all moves together without a limit, about: some seconds."""
TEMPERATURE = 0.4
"""Initial temperature of annealing, in mean weights of a task. Chosen by hand."""
TIE_BREAK = 1e-3
"""Mean weights of a task that accepting the load of all tasks costs: schedules of equal value that
leave more capacity are preferred. Chosen by hand, below the difference of two values."""
ASSIGNMENT_MOVES = 0.25
"""Share of the moves that change on how many nodes a task is placed. Chosen by hand."""
SWAPS = 0.25
"""Share of the other moves that swap two tasks. Chosen by hand."""
FLOAT_TOLERANCE = 2.0**-30
"""Share of its relative deadline by which a task may be late in the search of exact instances,
which computes in floats. The schedule is computed in fractions in the end."""
CANDIDATES = 4
"""Orders of which the schedules are computed in the instance's numbers, at most: the best ones.
That of a better one may be late by the rounding of floats."""
TIME_SHARE = 0.9
"""Share of a time limit for the search, at most; the rest is for the schedule. Chosen by hand."""
FINISHING = {False: 80, True: 110}
"""Evaluations of an order that take as long as the schedule of one and its check, in floats and in
exact numbers. Measured with 1000 tasks on 16 nodes: 73 and 100; the first evaluations vary."""


def local_search(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    seed: int = 0,
) -> Result[Solution]:
    """Search for an order of the tasks in which many are on time, knowing all arrivals in advance.

    A schedule is made from an order of all tasks: each is sent without interruption once those
    before it are sent, partitioned so that all of its nodes end together, on all nodes or on the
    fewest that meet its deadline, and it is rejected if it would be late. A move shifts a task in
    the order, swaps two, or changes on how many nodes one is placed. Moves are accepted as in
    simulated annealing.

    Parameters
    ----------
    instance, objective
        See `dlopt.registry`.
    limits : Limits
        `work` counts moves. By default their number is the cube of that of the tasks, and less from
        22 tasks on. A limit of time only ends the search earlier.
    seed : int, default 0
        Of the random moves.

    Returns
    -------
    Result
        ``FEASIBLE``, or ``UNKNOWN`` if no schedule was found that keeps all promises.

    Notes
    -----
    Guarantee: none; all deadlines are met. Complexity: O(tasks x g) for a move, where `g` is the
    number of different ready times that a task meets. Chunks of different tasks are not
    interleaved on the channel, so that an optimal order need not lead to an optimal schedule.
    Incumbents are offered while it runs.

    Source: ours. The partition is that of EDF-IIT-2, Mamat 2011, section 6.4; annealing that of
    Kirkpatrick, Gelatt and Vecchi 1983.

    Examples
    --------
    The long task arrives first; without it two others are on time:

    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = Task("a", 0, 4, 6), Task("b", 1, 1, 3), Task("c", 2, 1, 3)
    >>> instance = Instance(Cluster(1, tau=1, chi=0.5), tasks)
    >>> from dlopt.heuristics.admission.methods import edf_iit_2
    >>> edf_iit_2(instance).value, local_search(instance).value
    (1, 2)
    """
    goal = objective or default_objective(instance)
    search = _Search(instance, goal, limits, seed)
    offer(instance, goal, "local-search", search.answer)
    search.run()
    return search.answer()


class _Search:
    """The search on one instance."""

    def __init__(self, instance: Instance, objective: str, limits: Limits, seed: int) -> None:
        self._stop = self._end = inf
        if limits.time_s is not None:
            self._stop = time.monotonic() + TIME_SHARE * limits.time_s
            self._end = time.monotonic() + limits.time_s
        self._instance, self._objective, self._limits = instance, objective, limits
        self._origin = origin_of(instance)
        self._moved = from_origin(instance, self._origin) if self._origin else instance
        self._weights = _relative_weights(instance, objective)
        tolerance = FLOAT_TOLERANCE if instance.exact else 0
        self._scheduler = OrderScheduler(self._moved, self._weights, float, tolerance)
        self._random = random.Random(seed)
        self._best: list[tuple[float, TaskOrder]] = []
        self.stopped_by: StoppedBy | None = None

    def run(self) -> None:
        """Search from the best initial order until a limit is reached, or all are accepted."""
        begun = []
        for order in self._initial_orders():
            started = time.monotonic()
            begun.append(self._evaluated(order))
            evaluation_s = time.monotonic() - started
            finishing_s = FINISHING[self._instance.exact] * evaluation_s
            self._stop = min(self._stop, self._end - finishing_s)
            if time.monotonic() > self._stop:
                break
        current, positions, score = max(begun, key=lambda found: found[2])
        moves, largest = self._moves(), sum(self._weights)
        for done in range(moves):
            if self._best[-1][0] >= largest:
                return
            if time.monotonic() > self._stop:
                self.stopped_by = "time"
                return
            order, first = self._neighbour(current, positions)
            found = self._evaluated(order, positions[: first + 1])
            temperature = TEMPERATURE * (1 - done / moves)
            rise = found[2] - score
            if rise >= 0 or self._random.random() < exp(rise / temperature):
                current, positions, score = found
        self.stopped_by = None if self._limits.work is None else "work"

    def answer(self) -> Result[Solution]:
        """Return the best schedule so far, in the numbers of the instance."""
        weights = dict(zip((task.id for task in self._instance.tasks), self._weights, strict=True))
        scheduler = self._scheduler
        if self._instance.exact:
            scheduler = OrderScheduler(self._moved, self._weights, exact)
        solution: Solution | None = None
        most: float = -inf
        for best, order in reversed(self._best[-CANDIDATES:]):
            if best <= most or (solution is not None and time.monotonic() > self._stop):
                break
            plan = scheduler.solution(order)
            accepted = [decision.task for decision in plan.decisions if decision.accepted]
            found: float = sum(weights[task] for task in accepted)
            if found > most and self._instance.promised.issubset(accepted):
                solution, most = plan, found
        result = Result[Solution](
            Status.UNKNOWN,
            objective=self._objective,
            plan_class="single",
            stopped_by=self.stopped_by,
            reason="no order was found in which all promised tasks are on time",
        )
        if solution is None:
            return result
        if self._origin:
            solution = dated(self._instance, solution, self._origin)
        value = claimed_value(self._instance, solution, self._objective)
        return replace(result, status=Status.FEASIBLE, solution=solution, value=value, reason=None)

    def _initial_orders(self) -> Iterator[TaskOrder]:
        """Yield orders by deadlines, in which the tasks of least weight for their load come last.

        Where many tasks do not fit, such an order accepts more than one of all tasks.
        """
        tasks, weights = self._scheduler.tasks, self._weights
        by_density = sorted(
            range(len(tasks)), key=lambda i: (-weights[i] / (tasks[i].load or 1), tasks[i].load)
        )
        for share in SHARES:
            first = by_density[: round(share * len(tasks))]
            rest = by_density[len(first) :]
            for assignment in range(len(ASSIGNMENTS)):
                order = (*self._by_deadline(first, assignment), *rest)
                yield TaskOrder(order, (assignment,) * len(tasks))

    def _by_deadline(self, shown: list[int], assignment: int) -> Iterator[int]:
        """Yield tasks as they are sent if the first deadline of those that have arrived is next."""
        tasks, position = self._scheduler.tasks, self._scheduler.initial
        coming = sorted(shown, key=lambda i: tasks[i].arrival, reverse=True)
        arrived: list[tuple[Number, int]] = []
        while coming or arrived:
            instant = position.nodes.channel
            if not arrived:
                instant = max(instant, tasks[coming[-1]].arrival)
            while coming and tasks[coming[-1]].arrival <= instant:
                task = coming.pop()
                heappush(arrived, (tasks[task].deadline, task))
            _, task = heappop(arrived)
            position, _ = self._scheduler.next_position(position, task, assignment)
            yield task

    def _moves(self) -> int:
        if self._limits.work is not None:
            return self._limits.work
        count = len(self._weights)
        return min(count**3, MAX_PLACEMENTS // count)

    def _evaluated(
        self, order: TaskOrder, known: list[Position] | None = None
    ) -> tuple[TaskOrder, list[Position], float]:
        """Return an order with what is known before each of its positions, and its score."""
        positions = [self._scheduler.initial] if known is None else known
        for task in order.tasks[len(positions) - 1 :]:
            after, _ = self._scheduler.next_position(positions[-1], task, order.assignments[task])
            positions.append(after)
        last = positions[-1]
        if not self._best or last.weight > self._best[-1][0]:
            self._best.append((last.weight, order))
        return order, positions, last.weight - TIE_BREAK * last.load

    def _neighbour(self, order: TaskOrder, positions: list[Position]) -> tuple[TaskOrder, int]:
        """Return an order with a random change, and the first position that is changed.

        A task is moved to where the channel is free while the task can be sent.
        """
        draw, tasks = self._random, list(order.tasks)
        place = draw.randrange(len(tasks))
        task = tasks[place]
        if draw.random() < ASSIGNMENT_MOVES:
            assignments = list(order.assignments)
            assignments[task] = (assignments[task] + 1) % len(ASSIGNMENTS)
            return order._replace(assignments=tuple(assignments)), place
        queued = self._scheduler.tasks[task]
        first = bisect_left(positions, queued.arrival, key=_channel_free) - 1
        last = bisect_right(positions, queued.deadline, key=_channel_free)
        other = min(draw.randint(max(first, 0), last), len(tasks) - 1)
        if draw.random() < SWAPS:
            tasks[place], tasks[other] = tasks[other], task
        else:
            tasks.insert(other, tasks.pop(place))
        return order._replace(tasks=tuple(tasks)), min(place, other)


def _channel_free(position: Position) -> Number:
    return position.nodes.channel


def _relative_weights(instance: Instance, objective: str) -> tuple[float, ...]:
    """Return what accepting each task adds to an objective, in means; most for promised ones."""
    field = {"accepted-load": "load", "accepted-weight": "weight"}.get(objective)
    weights = [Fraction(1) if field is None else exact(getattr(t, field)) for t in instance.tasks]
    mean = sum(weights, Fraction(0)) / len(weights) or 1
    promised = instance.promised
    return tuple(
        float(weight / mean) + (task.id in promised) * len(weights)
        for task, weight in zip(instance.tasks, weights, strict=True)
    )
