"""Between LANs: bids for a task, and how far the bids of a LAN are believed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dlopt.simulation.grid.entities import Job
from dlopt.simulation.grid.internal import InternalScheduler
from dlopt.simulation.grid.monitor import Meter
from dlopt.simulation.grid.policy import Policy


class Credibility:
    """How long the tasks of other LANs take against their estimates (ALC), for one LAN.

    Parameters
    ----------
    policy : Policy
    number : callable

    Examples
    --------
    Estimates that are four times too short; held against what it has corrected itself, it learns
    the root of that.

    >>> from dlopt.simulation.grid.policy import variant
    >>> for name in ("corrected", "corrected+eq3-corrected"):
    ...     table = Credibility(variant(name), float)
    ...     for _ in range(3000):
    ...         table.learn(0, actual=40.0, held_against=table.held_against(0, 10.0))
    ...     print(round(table.of(0), 3))
    4.0
    2.0
    """

    def __init__(self, policy: Policy, number: Callable[[Any], Any]) -> None:
        self._reading = policy.credibility if policy.scheduler == "two-level" else "none"
        self._one, self._memory = number(1), number(policy.memory)
        self._known: dict[int, Any] = {}

    def of(self, lan: int) -> Any:
        """Return by what the estimates of a LAN are multiplied."""
        return self._known.get(lan, self._one)

    def held_against(self, lan: int, estimate: Any) -> Any:
        """Return what the actual response will be held against, when a LAN is chosen."""
        return estimate * self.of(lan) if self._reading == "corrected" else estimate

    def learn(self, lan: int, actual: Any, held_against: Any) -> None:
        """Take in how long a task took."""
        if self._reading != "none" and held_against > 0 and actual > 0:
            new = actual / held_against
            self._known[lan] = self.of(lan) * self._memory + new * (1 - self._memory)


class Wan(Protocol):
    """What external schedulers need of the grid."""

    policy: Policy
    meter: Meter
    number: Callable[[Any], Any]
    message: Any
    seed: int

    @property
    def now(self) -> Any:
        """The time."""
        ...

    @property
    def lans(self) -> Sequence[InternalScheduler]:
        """The schedulers of all LANs."""
        ...

    def later(self, delay: Any, act: Callable[..., None], *given: Any) -> None:
        """Do something after a while."""

    def wan(self, source: int, target: int, data: Any) -> Any:
        """Return how long data takes from a LAN to another."""

    @property
    def hops(self) -> Callable[[int, int], int]:
        """How many links it crosses from a LAN to another."""
        ...

    def fail(self, job: Job, reason: str) -> None:
        """Give up a job."""


class ExternalScheduler:
    """The external scheduler of a LAN: it asks for bids and sends its tasks to the best."""

    def __init__(self, index: int, grid: Wan) -> None:
        self.index, self.grid = index, grid
        self.credibility = Credibility(grid.policy, grid.number)

    def arrive(self, job: Job) -> None:
        """Take a task: ask the bidders, or send it off if there is but one."""
        grid = self.grid
        asked = [lan for lan in self._bidders(job) if grid.lans[lan].can_run(job)]
        if not asked:  # whoever is not in the sample may be able
            asked = [lan.index for lan in grid.lans if lan.can_run(job)]
        if not asked:
            grid.fail(job, "no LAN has nodes for all of its subtasks")
            return
        start = grid.number(grid.policy.external_time)
        if len(asked) == 1:
            grid.later(start, self._send, job, asked[0], None)
            return
        bids: dict[int, Any] = {}
        for lan in asked:
            way = grid.wan(self.index, lan, grid.message)
            grid.meter.external(self.index, grid.message * grid.hops(self.index, lan), grid.now)
            delay = start + way + grid.number(grid.policy.internal_time)
            grid.later(delay, self._ask, job, lan, bids, len(asked))

    def returned(self, job: Job) -> None:
        """Learn from how long a task took."""
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

    def _ask(self, job: Job, lan: int, bids: dict[int, Any], count: int) -> None:
        """Let a LAN bid; its reply travels back."""
        grid = self.grid
        bid = grid.lans[lan].bid(job)
        grid.meter.external(lan, grid.message * grid.hops(lan, self.index), grid.now)
        grid.later(grid.wan(lan, self.index, grid.message), self._reply, job, lan, bid, bids, count)

    def _reply(self, job: Job, lan: int, bid: Any, bids: dict[int, Any], count: int) -> None:
        bids[lan] = bid
        if len(bids) == count:
            self._choose(job, bids)

    def _choose(self, job: Job, bids: dict[int, Any]) -> None:
        """Send a task to where it should be back first; at home nothing is transferred."""
        best, least = None, None
        for lan, bid in sorted(bids.items(), key=lambda item: (item[0] != self.index, item[0])):
            estimate = self._transfers(job, lan) + (0 if bid is None else bid)
            response = (bid is None, estimate * self.credibility.of(lan))
            if least is None or response < least:
                best, least = lan, response
        assert best is not None
        bid = bids[best]  # None: no node is alive anywhere, and it waits for one
        self._send(job, best, None if bid is None else bid + self._transfers(job, best))

    def _transfers(self, job: Job, lan: int) -> Any:
        grid = self.grid
        return grid.wan(self.index, lan, job.input) + grid.wan(lan, self.index, job.output)

    def _send(self, job: Job, lan: int, estimate: Any) -> None:
        grid = self.grid
        job.lan, job.decided = lan, grid.now
        if estimate is not None:
            job.estimate = self.credibility.held_against(lan, estimate)
        grid.meter.external(self.index, job.input * grid.hops(self.index, lan), grid.now)
        grid.meter.received(lan, grid.now)
        if grid.policy.bid_load == "near-future" and lan != self.index:  # at home it is at once
            grid.meter.external(self.index, grid.message * grid.hops(self.index, lan), grid.now)
            grid.later(grid.wan(self.index, lan, grid.message), grid.lans[lan].award, job)
        grid.later(grid.wan(self.index, lan, job.input), grid.lans[lan].accept, job)
