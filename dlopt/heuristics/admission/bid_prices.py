"""Bid prices of the channel and the nodes: the dual values of their time.

The tasks and reservations that arrived last are taken as the forecast of those to come. For each
resource, the fluid program of these requests is

    maximise sum_i w_i x_i  subject to  sum_i a_i x_i <= C  and  0 <= x_i <= u_i,

where ``w_i`` is the weight of request `i`, ``a_i`` is the time that it takes of the resource on an
idle cluster, and ``C`` is the capacity that is left for requests to come: the span of the forecast,
times `TARGET_UTILIZATION`, less the part of the next `BidPrices.horizon` that is promised already,
to tasks and to reservations. Of a task ``u_i`` is 1. Of a reservation it is the part of the horizon
in which reservations begin that are requested so long before, and not yet: those that begin sooner
are among the promises. An optimal solution accepts the requests that take least for their weights,
and the optimal dual value of its constraint is ``w_k / a_k``, where `k` is the request that is
accepted in part. This is the bid price: a request `i` whose time costs more than its weight,
``a_i > w_i a_k / w_k``, is rejected. Where a reservation begins later, its price is that of the
horizon from its start on.

The program has one constraint, so that its dual is found by one pass over the sorted times, without
a solver. It is solved again at every arrival: the prices follow the load and the state.

The program does not know that requests block each other. While one has the channel for a time
``a``, no other has it, and what cannot wait so long is lost. The requests `i` of the forecast,
which arrived in a span ``T``, can wait for ``s_i``, so that ``(a - s_i) / T`` of each are expected
to be too early. If they had the channel instead, they would block each other, too: with a load of
``rho = sum_i a_i (a - s_i) / (T a)`` the share that one server serves is ``1 / (1 + rho)``, by
Erlang's loss formula. So a request of weight ``w`` is rejected as well if the weight that it blocks
exceeds its own, ``sum_i w_i (a - s_i) / T / (1 + rho) > w``, over the requests that take less for a
unit of weight. Where sizes differ by orders of magnitude, as in logs, this decides: a large job
blocks hundreds of small ones. Where a task is given all nodes, the same holds for them.

By the same estimate a task is given all nodes or the fewest, where both take much the same time
(`BidPrices.blocks_less_on_fewest`).

References: Talluri and van Ryzin, The Theory and Practice of Revenue Management, 2004, chapter 3;
Agrawal, Wang and Ye, A dynamic near-optimal algorithm for online linear programming, Operations
Research 62, 2014. Kleinrock, Queueing Systems 1, 1975, section 3.6 (loss systems).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from dlopt.arithmetic import FLOATING, Number

FORECAST_TASKS = 500
"""Arrivals that the forecast is made of. Measured (docs/better.md): with fewer the prices are
noisy, with more they follow a change of the load later."""
LEAST_FORECAST = 10
"""Arrivals before which no price is known, and none rejects a task. Chosen by hand: the papers'
streams have hundreds."""
TARGET_UTILIZATION = Fraction(7, 5)
"""Least work of the tasks that would be accepted on an idle cluster, per capacity. More than 1, for
the admission test rejects some of them, and the capacity that is promised is subtracted. Measured
on figures 4.6 to 4.12 of Mamat 2011 (docs/better.md)."""
RESERVED_TASKS = 2
"""Tasks of mean time that the horizon has capacity for after all that waits, where tasks that wait
take no more time than others. Measured on figures 4.6 to 4.12 of Mamat 2011 (docs/better.md)."""
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
    """A task that arrived, or a reservation that was requested."""

    arrival: Number
    deadline: Number
    """Relative; of a reservation the length of its window."""
    times: ResourceTimes
    weight: Number = 1
    advance: Number | None = None
    """Of a reservation, the time from its request to its start."""

    @property
    def demands(self) -> tuple[Demand, ...]:
        """What is asked of each resource."""
        weight, advance, slack = self.weight, self.advance or 0, self.slack
        return tuple(
            Demand(per_weight(time, weight), time, advance, slack, weight) for time in self.times
        )

    @property
    def slack(self) -> Number:
        """For how long another can have the resources first, negative if there is no time at all.

        A reservation can be blocked only by what is accepted before it is requested.
        """
        return self.deadline - max(self.times) if self.advance is None else self.advance


class Demand(NamedTuple):
    """What a task or a reservation asks of a resource."""

    per_weight: Number
    """The time for a unit of weight."""
    time: Number
    advance: Number = 0
    """Between request and start; 0 of a task."""
    slack: Number = 0
    """See `ForecastTask.slack`."""
    weight: Number = 1


class BidPrices:
    """The prices of channel and nodes after the tasks and reservations that arrived so far.

    Notes
    -----
    Complexity: O(`FORECAST_TASKS`) additions and comparisons a decision, whatever the number of
    arrivals so far.

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
        self.on_fewest: frozenset[int] = frozenset()
        """Numbers of the tasks that are given the fewest nodes instead of all.

        Of those that waited at the last decision: some of them may be sent since then.
        """
        self._sorted: tuple[list[Demand], ...] = ([], [])  # one list for each resource

    @property
    def forecast(self) -> tuple[ForecastTask, ...]:
        """The requests that arrived last, in the order in which they were observed."""
        return tuple(self._forecast)

    def observe(self, task: ForecastTask) -> None:
        """Add a request that arrived, accepted or not, and remove the oldest of too many."""
        self._forecast.append(task)
        self._horizon = None
        for demands, demand in zip(self._sorted, task.demands, strict=True):
            insort(demands, demand)
        if len(self._forecast) > FORECAST_TASKS:
            oldest = self._forecast.popleft()
            for demands, demand in zip(self._sorted, oldest.demands, strict=True):
                del demands[bisect_left(demands, demand)]

    @property
    def horizon(self) -> Number:
        """The time from now on in which promises count; 0 while there are no prices.

        That is so before `LEAST_FORECAST` requests have arrived, and if none of them has any time.
        """
        if self._horizon is None:
            count = len(self._forecast)
            known = count >= LEAST_FORECAST
            deadlines = sum(task.deadline for task in self._forecast) if known else 0
            self._horizon = HORIZON * deadlines / count if deadlines else 0
        return self._horizon

    @property
    def mean_node_share(self) -> Number:
        """The share of all nodes with which tasks take as long as their deadlines, on average."""
        node_time = sum(task.times.nodes for task in self._forecast)
        deadlines = sum(task.deadline for task in self._forecast)
        return min(node_time / deadlines, Fraction(1)) if deadlines else Fraction(0)

    def blocks_less_on_fewest(self, task: ForecastTask) -> bool:
        """Tell whether a task blocks less weight on the fewest nodes than on all.

        On all nodes it blocks whatever cannot wait until it ends. On the fewest it holds the share
        ``u`` of them until its deadline, and blocks of that what needs more than the others: the
        share ``1 - u``, less what all tasks that take less for their weights ask for.

        Parameters
        ----------
        task : ForecastTask
            One that arrives, with what it takes on all nodes.

        Examples
        --------
        Each unit of time a task arrives that needs an eighth of the nodes, and can wait for 7/8.
        One for which all nodes work for 4 units blocks three of them. If it is due after 8, half
        of the nodes suffice for it, and the others for them:

        >>> prices = BidPrices()
        >>> for number in range(50):
        ...     times = ResourceTimes(0, Fraction(1, 8))
        ...     prices.observe(ForecastTask(Fraction(number), 1, times))
        >>> for deadline in (4, 8):
        ...     task = ForecastTask(Fraction(50), deadline, ResourceTimes(0, 4))
        ...     print(prices.blocks_less_on_fewest(task))
        False
        True
        """
        time, hold, arrived = task.times.nodes, task.deadline, len(self._forecast)
        if not arrived or hold <= time:
            return False
        span = self._span(task.arrival, sum(one.deadline for one in self._forecast) / arrived)
        if not span:
            return False
        demands = self._sorted[1]
        own = per_weight(time, task.weight)
        smaller = sum(one.time for one in demands[: bisect_left(demands, (own,))])
        free = 1 - time / hold - smaller / span
        on_all, load = blocked(demands, time)
        on_fewest, other_load = blocked(demands, hold, free)
        return bool(
            on_fewest * hold / (span * hold + other_load) < on_all * time / (span * time + load)
        )

    def _span(self, now: Number, mean_deadline: Number) -> Number:
        """Return the time in which the forecast arrived, and longer if it is few requests."""
        least = mean_deadline * LEAST_FORECAST / len(self._forecast)
        return max(now - self._forecast[0].arrival, least)

    def excess(
        self,
        required: ResourceTimes,
        promised: ResourceTimes,
        now: Number,
        weight: Number = 1,
        advance: Number = 0,
        *,
        all_nodes: bool = False,
        growth: Number | None = None,
    ) -> Number | None:
        """Return by how much a request takes more time than the prices allow, or None.

        Parameters
        ----------
        required : ResourceTimes
            By which the plan grows if the request is accepted.
        promised : ResourceTimes
            Of what is promised and not done: all of what waits, and for how long what has begun
            delays others, within the `horizon`. Of more than fills it, what fills it counts. For
            a reservation, what is promised within the horizon from its start on.
        now : Number
        weight : Number, default 1
            Of the request.
        advance : Number, default 0
            After which a reservation begins.
        all_nodes : bool, default False
            Whether the request is given all nodes, so that it blocks them as it blocks the channel.
        growth : Number, optional
            Factor by which tasks take more if they have waited for half of their deadlines: the
            less, the more may wait. If it is not given, `TARGET_UTILIZATION` is the target.

        Returns
        -------
        Number or None
            Of the resource of which it takes most too much. In floats, less than `FLOATING` of the
            time is a rounding: tasks whose weights are their loads take equally much.
        """
        horizon = self.horizon
        if not horizon:
            return None
        span, count = self._span(now, horizon / HORIZON), len(self._forecast)
        over: list[Number] = []
        exclusive = (True, all_nodes)
        for demands, time, busy, whole in zip(
            self._sorted, required, promised, exclusive, strict=True
        ):
            target: Number = TARGET_UTILIZATION
            if growth is not None:
                reserved = RESERVED_TASKS * sum(one.time for one in demands) / count
                target = max(target, 1 + (horizon - reserved) / horizon / growth**2)
            capacity = span * (target - min(busy, horizon) / horizon)
            most = [critical_time(demands, capacity, advance, horizon)]
            if whole:
                most.append(critical_block(demands, time, weight, span))
            least = time * (1 - FLOATING) if isinstance(time, float) else time
            over += [
                time - one * weight for one in most if one is not None and least > one * weight
            ]
        return max(over, default=None)


def per_weight(time: Number, weight: Number) -> Number:
    """Return a time for a unit of weight."""
    return time if weight == 1 else time / weight


def critical_time(
    demands: Iterable[Demand], capacity: Number, advance: Number = 0, horizon: Number = 0
) -> Number | None:
    """Return what the request that the fluid program accepts in part takes for a unit of weight.

    Its reciprocal is the optimal dual value of the capacity.

    Parameters
    ----------
    demands : iterable of Demand
        Of the forecast, ascending.
    capacity : Number
    advance : Number, default 0
        After which what is asked for now begins.
    horizon : Number, optional
        From then on, positive where there are reservations. Those that are requested earlier, for
        the same time, are still to come only in the last part of it.

    Returns
    -------
    Number or None
        None if the program accepts all requests.

    Examples
    --------
    >>> demands = [Demand(1, 1), Demand(2, 4), Demand(3, 3)]  # the weight of the second is 2
    >>> critical_time(demands, 4), critical_time(demands, 5), critical_time(demands, 8)
    (2, 3, None)
    """
    total: Number = 0
    for weighted, time, ahead, _, _ in demands:
        if ahead > advance:
            time *= max(horizon - (ahead - advance), 0) / horizon
        total += time
        if total > capacity:
            return weighted
    return None


def blocked(demands: Iterable[Demand], hold: Number, free: Number = 0) -> tuple[Number, Number]:
    """Return the weight, and the load, of what is too early while a part of a resource is in use.

    Both are for a forecast that arrives in a unit of time.

    Parameters
    ----------
    demands : iterable of Demand
    hold : Number
        For which it is in use.
    free : Number, default 0
        The share of it that is left. What needs no more is not blocked.
    """
    lost: Number = 0
    load: Number = 0
    for _, needed, _, slack, value in demands:
        if needed and 0 <= slack < hold and needed > free * (slack + needed):
            early = hold - slack
            lost += value * early
            load += needed * early
    return lost, load


def critical_block(
    demands: Sequence[Demand], time: Number, weight: Number, span: Number
) -> Number | None:
    """Return the time for a unit of weight above which a request blocks more than its weight.

    Parameters
    ----------
    demands : sequence of Demand
        Of the forecast, ascending.
    time : Number
        For which the request has the resource, and no other has it.
    weight : Number
        Of the request.
    span : Number
        In which the forecast arrived.

    Returns
    -------
    Number or None
        None if it blocks nothing that takes less for a unit of weight.

    Examples
    --------
    In each time unit a request of one quarter arrives, which can wait for one. In 6 units 5 of them
    are too early, of which one server would serve 4.14. So long may take a request of weight 5, but
    none of weight 4:

    >>> demands = [Demand(Fraction(1, 4), Fraction(1, 4), 0, 1, 1)] * 100
    >>> [6 > critical_block(demands, 6, weight, 100) * weight for weight in (4, 5)]
    [True, False]
    """
    own = (per_weight(time, weight),)
    lost, load = blocked(demands[: bisect_left(demands, own)], time)
    return (span * time + load) / lost if lost else None
