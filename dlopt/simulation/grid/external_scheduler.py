"""External schedulers: LANs bid for a task; bids are corrected by the credibility of the LAN."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dlopt.arithmetic import Number
from dlopt.simulation.grid.execution_state import Job
from dlopt.simulation.grid.internal_scheduler import InternalScheduler
from dlopt.simulation.grid.monitor import PeriodMonitor
from dlopt.simulation.grid.policy import Policy


class Credibility:
    """Ratio of actual to estimated response times of tasks in other LANs (ALC), kept by one LAN.

    Parameters
    ----------
    policy : Policy
    number : callable

    Examples
    --------
    The estimates are four times too short; compared with estimates that it has corrected itself, it
    learns the square root of that.

    >>> from dlopt.simulation.grid.policy import variant
    >>> for name in ("corrected", "corrected+eq3-corrected"):
    ...     table = Credibility(variant(name), float)
    ...     for _ in range(3000):
    ...         table.learn(0, actual=40.0, reference=table.reference_estimate(0, 10.0))
    ...     print(round(table.of(0), 3))
    4.0
    2.0
    """

    def __init__(self, policy: Policy, number: Callable[[Number], Number]) -> None:
        self._reading = policy.credibility if policy.scheduler == "two-level" else "none"
        self._one, self._memory = number(1), number(policy.memory)
        self._known: dict[int, Number] = {}

    def of(self, lan: int) -> Number:
        """Return the factor by which the estimates of a LAN are multiplied."""
        return self._known.get(lan, self._one)

    def reference_estimate(self, lan: int, estimate: Number) -> Number:
        """Return the estimate with which the actual response will be compared."""
        return estimate * self.of(lan) if self._reading == "corrected" else estimate

    def learn(self, lan: int, actual: Number, reference: Number) -> None:
        """Update the credibility of a LAN with the response time of a task."""
        if self._reading != "none" and reference > 0 and actual > 0:
            new = actual / reference
            self._known[lan] = self.of(lan) * self._memory + new * (1 - self._memory)


class WanEnvironment(Protocol):
    """Interface of the grid to its external schedulers."""

    policy: Policy
    meter: PeriodMonitor
    number: Callable[[Number], Number]
    message: Number
    seed: int

    @property
    def now(self) -> Number:
        """The time."""
        ...

    @property
    def lans(self) -> Sequence[InternalScheduler]:
        """The schedulers of all LANs."""
        ...

    def later(self, delay: Number, act: Callable[..., None], *given: Any) -> None:
        """Schedule a call after a delay."""

    def wan(self, source: int, target: int, data: Number) -> Number:
        """Return the transfer time of data between two LANs."""

    @property
    def hops(self) -> Callable[[int, int], int]:
        """The number of links between two LANs."""
        ...

    def fail(self, job: Job, reason: str) -> None:
        """Abandon a job."""


class ExternalScheduler:
    """The external scheduler of a LAN: it asks for bids and sends its tasks to the best bidder."""

    def __init__(self, index: int, grid: WanEnvironment) -> None:
        self.index, self.grid = index, grid
        self.credibility = Credibility(grid.policy, grid.number)

    def arrive(self, job: Job) -> None:
        """Handle the arrival of a task: ask for bids, or send it directly to the only candidate."""
        grid = self.grid
        bidders = [lan for lan in self._bidders(job) if grid.lans[lan].can_run(job)]
        if not bidders:  # LANs outside the sample may have suitable nodes
            bidders = [lan.index for lan in grid.lans if lan.can_run(job)]
        if not bidders:
            grid.fail(job, "no LAN has nodes for all of its subtasks")
            return
        start = grid.number(grid.policy.external_time)
        if len(bidders) == 1:
            grid.later(start, self._send, job, bidders[0], None)
            return
        bids: dict[int, Number | None] = {}
        for lan in bidders:
            transfer = grid.wan(self.index, lan, grid.message)
            grid.meter.external(self.index, grid.message * grid.hops(self.index, lan), grid.now)
            delay = start + transfer + grid.number(grid.policy.internal_time)
            grid.later(delay, self._ask, job, lan, bids, len(bidders))

    def returned(self, job: Job) -> None:
        """Learn from the response time of a completed task."""
        assert job.lan is not None
        if job.estimate is not None:
            self.credibility.learn(job.lan, self.grid.now - job.decided, job.estimate)

    def _bidders(self, job: Job) -> list[int]:
        count, wanted = len(self.grid.lans), self.grid.policy.bidders
        others = [lan for lan in range(count) if lan != self.index]
        if 0 < wanted < count:
            draw = random.Random(f"bidders {self.grid.seed} {job.index}")
            others = draw.sample(others, wanted - 1)
        return [self.index, *others]

    def _ask(self, job: Job, lan: int, bids: dict[int, Number | None], count: int) -> None:
        """Let a LAN compute its bid, and send the reply."""
        grid = self.grid
        bid = grid.lans[lan].bid(job)
        grid.meter.external(lan, grid.message * grid.hops(lan, self.index), grid.now)
        grid.later(grid.wan(lan, self.index, grid.message), self._reply, job, lan, bid, bids, count)

    def _reply(
        self, job: Job, lan: int, bid: Number | None, bids: dict[int, Number | None], count: int
    ) -> None:
        bids[lan] = bid
        if len(bids) == count:
            self._choose(job, bids)

    def _choose(self, job: Job, bids: dict[int, Number | None]) -> None:
        """Send a task to the LAN of least corrected response; at home nothing is transferred."""
        best, least = None, None
        for lan, bid in sorted(bids.items(), key=lambda item: (item[0] != self.index, item[0])):
            estimate = self._transfers(job, lan) + (0 if bid is None else bid)
            response = (bid is None, estimate * self.credibility.of(lan))
            if least is None or response < least:
                best, least = lan, response
        assert best is not None
        bid = bids[best]  # None: no node is available anywhere, and it waits for one
        self._send(job, best, None if bid is None else bid + self._transfers(job, best))

    def _transfers(self, job: Job, lan: int) -> Number:
        grid = self.grid
        return grid.wan(self.index, lan, job.input) + grid.wan(lan, self.index, job.output)

    def _send(self, job: Job, lan: int, estimate: Number | None) -> None:
        grid = self.grid
        job.lan, job.decided = lan, grid.now
        if estimate is not None:
            job.estimate = self.credibility.reference_estimate(lan, estimate)
        grid.meter.external(self.index, job.input * grid.hops(self.index, lan), grid.now)
        grid.meter.received(lan, grid.now)
        if grid.policy.bid_load == "near-future" and lan != self.index:  # at home it is at once
            grid.meter.external(self.index, grid.message * grid.hops(self.index, lan), grid.now)
            grid.later(grid.wan(self.index, lan, grid.message), grid.lans[lan].award, job)
        grid.later(grid.wan(self.index, lan, job.input), grid.lans[lan].accept, job)
