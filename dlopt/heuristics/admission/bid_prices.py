"""Bid prices of the channel and the nodes: the dual values of their time.

The tasks that arrived last are taken as the forecast of those to come. For each resource, the
fluid program of these tasks is

    maximise sum_i w_i x_i  subject to  sum_i a_i x_i <= C  and  0 <= x_i <= 1,

where ``w_i`` is the weight of task `i`, ``a_i`` is the time that it takes of the resource on an
idle cluster, and ``C`` is the
capacity that is left for tasks to come: the span of the forecast, times `TARGET_UTILIZATION`, less
the part of the next `BidPrices.horizon` that is promised already, to tasks and to reservations. An
optimal solution accepts the tasks that take least for their weights, and the optimal dual value of
its constraint is ``w_k / a_k``, where `k` is the task that is accepted in part. This is the bid
price: a task `i` whose time costs more than its weight, ``a_i > w_i a_k / w_k``, is rejected.

The program has one constraint, so that its dual is found by one pass over the sorted times, without
a solver. It is solved again at every arrival: the prices follow the load and the state.

References: Talluri and van Ryzin, The Theory and Practice of Revenue Management, 2004, chapter 3;
Agrawal, Wang and Ye, A dynamic near-optimal algorithm for online linear programming, Operations
Research 62, 2014.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from fractions import Fraction
from typing import NamedTuple

from dlopt.arithmetic import Number

FORECAST_TASKS = 500
"""Arrivals that the forecast is made of. Measured (docs/better.md): with fewer the prices are
noisy, with more they follow a change of the load later."""
LEAST_FORECAST = 10
"""Arrivals before which no price is known, and none rejects a task. Chosen by hand: the papers'
streams have hundreds."""
TARGET_UTILIZATION = Fraction(7, 5)
"""Work of the tasks that would be accepted on an idle cluster, per capacity. More than 1, for the
admission test rejects some of them, and the capacity that is promised is subtracted. Measured on
figures 4.6 to 4.12 of Mamat 2011 (docs/better.md)."""
HORIZON = Fraction(4, 5)
"""Time in which what is promised is completed and the tasks to come are served, in mean relative
deadlines of the forecast. Measured like `TARGET_UTILIZATION`. What is promised later, as to a
reservation, or to a task that takes much longer than most, leaves tasks to come their time."""


class ResourceTimes(NamedTuple):
    """Time of each resource, as of a task or of what is promised."""

    channel: Number
    nodes: Number
    """Node time, divided by the number of nodes."""


class ForecastTask(NamedTuple):
    """A task that arrived."""

    arrival: Number
    deadline: Number
    """Relative."""
    times: ResourceTimes
    weight: Number = 1

    @property
    def per_weight(self) -> tuple[tuple[Number, Number], ...]:
        """Of each resource, the time for a unit of weight, and the time."""
        return tuple((self.weighted(time), time) for time in self.times)

    def weighted(self, time: Number) -> Number:
        """Return a time for a unit of weight."""
        return time if self.weight == 1 else time / self.weight


class BidPrices:
    """The prices of channel and nodes after the tasks that arrived so far.

    Notes
    -----
    Complexity: O(`FORECAST_TASKS`) additions and comparisons a decision, whatever the number of
    tasks so far.

    Examples
    --------
    Five tasks a time unit, each of which takes the channel half a unit or more. After them, and
    while nothing is promised, only small tasks pay the price:

    >>> prices = BidPrices()
    >>> for number in range(50):
    ...     times = ResourceTimes(Fraction(1 + number % 5, 2), 0)
    ...     prices.observe(ForecastTask(Fraction(number, 5), 2, times))
    >>> idle = ResourceTimes(0, 0)
    >>> prices.excess(ResourceTimes(Fraction(3, 2), 0), idle, 10)
    Fraction(1, 2)
    >>> prices.excess(ResourceTimes(1, 0), idle, 10) is None
    True
    """

    def __init__(self) -> None:
        self._forecast: deque[ForecastTask] = deque()
        self._horizon: Number | None = None
        self._sorted: tuple[list[tuple[Number, Number]], ...] = ([], [])  # see `per_weight`

    @property
    def forecast(self) -> tuple[ForecastTask, ...]:
        """The tasks that arrived last, in the order in which they were observed."""
        return tuple(self._forecast)

    def observe(self, task: ForecastTask) -> None:
        """Add a task that arrived, accepted or not, and remove the oldest of too many."""
        self._forecast.append(task)
        self._horizon = None
        for times, time in zip(self._sorted, task.per_weight, strict=True):
            insort(times, time)
        if len(self._forecast) > FORECAST_TASKS:
            oldest = self._forecast.popleft()
            for times, time in zip(self._sorted, oldest.per_weight, strict=True):
                del times[bisect_left(times, time)]

    @property
    def horizon(self) -> Number:
        """The time from now on in which promises count; 0 while there are no prices.

        That is so before `LEAST_FORECAST` tasks have arrived, and if none of them has any time.
        """
        if self._horizon is None:
            count = len(self._forecast)
            known = count >= LEAST_FORECAST
            deadlines = sum(task.deadline for task in self._forecast) if known else 0
            self._horizon = HORIZON * deadlines / count if deadlines else 0
        return self._horizon

    def excess(
        self, required: ResourceTimes, promised: ResourceTimes, now: Number, weight: Number = 1
    ) -> Number | None:
        """Return by how much a task takes more time than the prices allow, or None.

        Parameters
        ----------
        required : ResourceTimes
            By which the plan grows if the task is accepted.
        promised : ResourceTimes
            Of what is promised and not done: of what has begun, that within the `horizon`, and all
            of what waits. Of more than fills it, what fills it counts.
        now : Number
        weight : Number, default 1
            Of the task.

        Returns
        -------
        Number or None
            Of the resource of which it takes most too much.
        """
        horizon = self.horizon
        if not horizon:
            return None
        span = max(now - self._forecast[0].arrival, horizon / HORIZON)
        over = []
        for times, time, busy in zip(self._sorted, required, promised, strict=True):
            capacity = span * (TARGET_UTILIZATION - min(busy, horizon) / horizon)
            critical = critical_time(times, capacity)
            if critical is not None and time > critical * weight:
                over.append(time - critical * weight)
        return max(over, default=None)


def critical_time(times: list[tuple[Number, Number]], capacity: Number) -> Number | None:
    """Return what the task that the fluid program accepts in part takes for a unit of weight.

    Its reciprocal is the optimal dual value of the capacity.

    Parameters
    ----------
    times : list of tuple of (Number, Number)
        What each task takes of the resource for a unit of its weight, ascending, and in all.
    capacity : Number

    Returns
    -------
    Number or None
        None if the program accepts all tasks.

    Examples
    --------
    >>> times = [(1, 1), (2, 4), (3, 3), (4, 4)]  # the weight of the second is 2
    >>> critical_time(times, 4), critical_time(times, 5), critical_time(times, 12)
    (2, 3, None)
    """
    total: Number = 0
    for per_weight, time in times:
        total += time
        if total > capacity:
            return per_weight
    return None
