"""Makes the planner of an algorithm, by its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

from dlopt.aliases import current_method
from dlopt.arithmetic import Number
from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.bid_prices import BidPrices
from dlopt.heuristics.admission.deadlines import AdmissionDecider
from dlopt.heuristics.admission.fast.algorithm_names import (
    HYBRIDS,
    NAMES,
    FastAlgorithm,
    HybridAlgorithm,
)
from dlopt.heuristics.admission.fast.hybrid import HybridPlanner
from dlopt.heuristics.admission.fast.hybrid_literal import LiteralHybridPlanner
from dlopt.heuristics.admission.fast.planner import FastPlanner
from dlopt.heuristics.admission.node_choosing_queue import NodeChoosingQueue
from dlopt.heuristics.admission.priced_algorithm import PRICED, PricedAlgorithm
from dlopt.heuristics.admission.priced_queue import PricedQueue
from dlopt.heuristics.admission.queue import PlannedQueue
from dlopt.heuristics.admission.records import (
    PlannerContent,
    QueuedTask,
    ServedTask,
    UnfinishedTask,
)
from dlopt.heuristics.admission.replanning_engine import BookPlanner, TaskReplacer

Policy: TypeAlias = Algorithm | FastAlgorithm | HybridAlgorithm | PricedAlgorithm
"""An algorithm of chapter 4, one of chapter 6, or one with bid prices."""

NEEDS_IDLE_START = "its test assumes an idle cluster at the start, and the cluster is busy"
"""Why some algorithms of chapter 6 do not apply to a busy cluster."""


class Planner(BookPlanner, Protocol):
    """The planner of an algorithm: the tasks that it accepted, sent and will send."""

    def __len__(self) -> int:
        """Return how many tasks wait."""

    @property
    def tasks(self) -> list[QueuedTask]:
        """The tasks that wait."""

    def count(self, now: Number) -> int:
        """Return how many tasks wait at an instant if no other is accepted."""

    def decider(self, now: Number) -> AdmissionDecider:
        """Return the planner that decides at an instant: itself, or one of its parts."""

    def served(self, before: Number | None = None) -> Iterator[ServedTask]:
        """Yield each accepted task, or those begun to be sent before an instant."""

    def unfinished(self) -> list[UnfinishedTask]:
        """Return the loads of accepted tasks that are left at their deadlines, and dropped."""

    def replacer(self) -> TaskReplacer | None:
        """Return what can replace a waiting task without planning all others again, if it can."""

    def content(self) -> PlannerContent:
        """Return all that later decisions depend on, after `take_sent`."""

    def load(self, content: PlannerContent) -> None:
        """Load the waiting tasks of a content, into a planner made for its nodes and channel."""


def parse(name: object) -> Policy:
    """Return the algorithm of a name.

    Parameters
    ----------
    name : str
        One that `Algorithm.parse` reads; ``fast-edf-iit``, ``fast-edf-iit-minimal``, ``-linear``
        or ``-simulated``; ``fast-mwf-iit``, ``fast-mwf-iit-linear`` or ``-simulated``;
        ``fast-edf-iit:literal-waiting``, ``-edf``, ``-dispatched`` or ``-chunk``;
        ``hybrid`` or ``hybrid:literal``; ``priced``, or ``priced-`` and a name that
        `Algorithm.parse` reads.

    Raises
    ------
    NotApplicableError
        If it is no such name.

    Examples
    --------
    >>> parse("fast-edf-iit-linear").name, parse("edf-opr-mn").name
    ('fast-edf-iit-linear', 'edf-opr-mn')
    """
    if isinstance(name, Policy):
        return name
    if isinstance(name, str):
        name = current_method("admission", name)
    hybrid = HybridAlgorithm.parse(name)
    if hybrid is not None:
        return hybrid
    fast = FastAlgorithm.parse(name) if isinstance(name, str) else None
    if fast is not None:
        return fast
    priced = PricedAlgorithm.parse(name) if isinstance(name, str) else None
    if priced is not None:
        return priced
    try:
        return Algorithm.parse(name)  # type: ignore[arg-type]
    except NotApplicableError as error:
        raise NotApplicableError(
            f"{error}; {', '.join((*NAMES, *HYBRIDS.values(), PRICED))}"
        ) from error


def make_planner(
    policy: Policy,
    costs: tuple[Number, ...],
    ready: Sequence[Number],
    channel: Number,
    now: Number,
    *,
    compiled: bool = False,
    restored: bool = False,
    prices: BidPrices | None = None,
) -> Planner:
    """Return the planner of an algorithm, with an empty queue.

    Parameters
    ----------
    policy : Policy
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``, all of one number type.
    ready : sequence of Number, shape (nodes,)
        When each node becomes free.
    channel : Number
        When the channel becomes free.
    now : Number
    compiled : bool, default False
        Use compiled code, where there is some.
    restored : bool, default False
        The content of an earlier planner is loaded next, which may have started on an idle cluster.
    prices : BidPrices, optional
        Those of an earlier planner, for an algorithm that is priced.

    Raises
    ------
    NotApplicableError
        If the algorithm is not for such a cluster.
    """
    if isinstance(policy, PricedAlgorithm):
        base = policy.chosen(costs, len(ready))
        prices = BidPrices() if prices is None else prices
        if base is None:
            return NodeChoosingQueue(prices, costs, ready, channel)
        return PricedQueue(prices, base, costs, ready, channel)
    if isinstance(policy, Algorithm):
        return PlannedQueue(policy, costs, ready, channel)
    reason = reason_against(costs)
    busy = channel > now or any(instant > now for instant in ready)
    if isinstance(policy, FastAlgorithm) and policy.from_idle and busy and not restored:
        reason = reason or NEEDS_IDLE_START
    if reason is not None:
        raise NotApplicableError(f"{policy.name} does not apply: {reason}")
    kind: Any = FastPlanner
    if isinstance(policy, HybridAlgorithm):
        kind = LiteralHybridPlanner if policy.literal else HybridPlanner
        if policy.literal and not costs[1]:
            raise NotApplicableError(f"{policy.name} divides by the unit processing time, 0")
    return kind(policy, costs, ready, channel, now, compiled=compiled)  # type: ignore[no-any-return]


def reason_against(costs: tuple[Number, ...]) -> str | None:
    """Return why the algorithms of chapter 6 are not for a cluster with such costs, or None."""
    tau, chi, theta_cm, theta_cp = costs
    if theta_cm or theta_cp:
        return "its formulas have no set-up costs"
    return "sending and computing cost nothing" if not (tau or chi) else None
